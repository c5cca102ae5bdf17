"""Results to pydeck maps of London hexagons, with legends. No streamlit here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pydeck as pdk
from numpy.typing import NDArray
from plotly.colors import sample_colorscale, unlabel_rgb
from pydeck.bindings.json_tools import default_serialize

from datasets import hexagons, london_hexes
from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from pages._ui.cloaking.pipeline import Result
from pages._ui.look.palette import NOISE_SCALE, PREDICTION_SCALE

HEIGHT = 520
_VIEW = {"latitude": 51.49, "longitude": -0.10, "zoom": 8.55}
_STEPS = 64


@dataclass(frozen=True)
class Layer:
    """What a map can show.

    Attributes:
        title: for the control.
        column: column of ``cell_table`` with the values.
        unit: for the legend.
        low, high: fixed colour range; values outside take the end colours.
        scale: plotly colour scale.
        private: False if it may only appear as an educational overlay.
        log: colours in proportion to the logarithm of the value.
    """

    title: str
    column: str
    unit: str
    low: float
    high: float
    scale: str
    private: bool
    log: bool = False

    def colours(self, values: FloatArray) -> list[list[int]]:
        """[red, green, blue, alpha] per value; transparent where the value is missing."""
        transform = np.log if self.log else np.asarray
        low, high = transform(self.low), transform(self.high)
        share = np.clip((transform(values) - low) / (high - low), 0, 1)
        palette = [[round(c) for c in unlabel_rgb(rgb)] for rgb in sample_colorscale(self.scale, _STEPS)]
        known = np.nan_to_num(share * (_STEPS - 1)).astype(int)
        return [[*palette[i], 0 if missing else 205] for i, missing in zip(known, np.isnan(share), strict=True)]


_PRICES = {"unit": "GBP", "low": 250_000, "high": 1_500_000, "scale": PREDICTION_SCALE, "log": True}
LAYERS = {
    "noise": Layer("Privacy noise", "privacy noise [%]", "% of the price", 0, 100, NOISE_SCALE, private=True),
    "private": Layer("Private prediction", "private draw [GBP]", **_PRICES, private=True),
    "fit": Layer("Non-private prediction", "fit without noise [GBP] (not private)", **_PRICES, private=False),
    "truth": Layer("True prices", "true price [GBP] (not private)", **_PRICES, private=False),
}


def cell_table(result: Result, overlay: bool) -> pd.DataFrame:
    """One row a cell of the map: public labels, one private draw, its noise; truth only under the overlay.

    True prices are the medians of ``london_hexes``, and for data of single sales the mean (of ln prices) in each cell.
    """
    outcome, data = result.outcome, result.dataset
    release, labels = outcome.release, outcome.scene.labels
    assert labels is not None
    frame = labels[["cell", "borough", "sales"]].copy()
    truth = np.full(len(frame), np.nan)
    if data.name == london_hexes.NAME:
        truth[: outcome.scene.records] = outcome.scene.truth
    else:
        frame["sales"], truth = _of_sales(data, frame["cell"])
    # Values are released on the log scale; clipping to the public bounds is post-processing.
    frame[LAYERS["private"].column] = np.exp(np.clip(release.samples[0], *data.y_bounds)).round(-3)
    frame[LAYERS["noise"].column] = (100 * np.expm1(outcome.noise_sd)).round(1)
    if overlay:
        frame[LAYERS["fit"].column] = np.exp(outcome.nonprivate).round(-3)
        frame[LAYERS["truth"].column] = np.exp(truth).round()
    return frame


def _of_sales(data: Dataset, cells: pd.Series[str]) -> tuple[NDArray[np.int64], FloatArray]:
    """Number of sales and mean of their clipped ln prices in each cell; NaN where there is none."""
    by_cell = hexagons.aggregate(data.X, data.clipped_y).set_index("cell").reindex(cells)
    return by_cell["count"].fillna(0).to_numpy(np.int64), by_cell["mean"].to_numpy(np.float64)


class CompactDeck(pdk.Deck):
    """A deck whose JSON is not indented: half the bytes, and no second of pure Python for twenty visitors."""

    def to_json(self) -> str:
        """The JSON that the browser draws."""
        return json.dumps(self, sort_keys=True, default=default_serialize)


def deck(cells: pd.DataFrame, layer: Layer, kind: str) -> pdk.Deck:
    """The hexagons coloured by one column, with borough outlines; no background map, no external request."""
    values = cells[layer.column].to_numpy(float)
    rows: list[dict[str, Any]] = [
        {"cell": cell, "borough": borough, "sales": int(sales), "value": _shown(value, layer), "fill": fill}
        for cell, borough, sales, value, fill in zip(
            cells["cell"], cells["borough"], cells["sales"], values, layer.colours(values), strict=True
        )
    ]
    hexagons = pdk.Layer(
        "H3HexagonLayer",
        rows,
        id=f"hex-{kind}",
        get_hexagon="cell",
        get_fill_color="fill",
        extruded=False,
        stroked=False,
        pickable=True,
        auto_highlight=True,
    )
    paths = [{"path": ring} for _, rings in london_hexes.borough_outlines() for ring in rings]
    # a light line on a dark one shows on every colour of the scales
    lines = ((f"casing-{kind}", [25, 25, 25, 220], 3.0), (f"outline-{kind}", [240, 240, 240, 230], 1.2))
    outlines = [
        pdk.Layer("PathLayer", paths, id=name, get_path="path", get_color=colour, width_min_pixels=width)
        for name, colour, width in lines
    ]
    return CompactDeck(
        layers=[hexagons, *outlines],
        initial_view_state=pdk.ViewState(**_VIEW),
        map_provider=None,
        tooltip={"text": "{borough}\n{sales} sales\n" + layer.title + ": {value}"},
    )


def legend(layer: Layer) -> str:
    """A colour bar with units, as HTML."""
    stops = ", ".join(sample_colorscale(layer.scale, 9))
    middle = np.sqrt(layer.low * layer.high) if layer.log else (layer.low + layer.high) / 2
    ticks = "".join(f"<span>{_shown(value, layer)}</span>" for value in (layer.low, middle, layer.high))
    return (
        f'<div role="img" aria-label="{layer.title}, from {_shown(layer.low, layer)} to {_shown(layer.high, layer)}">'
        f'<div style="font-size:.85rem">{layer.title} [{layer.unit}]</div>'
        f'<div style="height:10px;border-radius:5px;background:linear-gradient(90deg, {stops})"></div>'
        f'<div style="display:flex;justify-content:space-between;font-size:.8rem">{ticks}</div></div>'
    )


def _shown(value: float, layer: Layer) -> str:
    if np.isnan(value):
        return "no sale here"
    if layer.unit == "GBP":
        return f"£{value / 1000:,.0f}k"
    return f"{'≥ ' if value >= layer.high else ''}{min(value, layer.high):.0f} %"
