"""Pydeck maps of London hexagons, with legends. No streamlit here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pydeck as pdk
from plotly.colors import sample_colorscale, unlabel_rgb
from pydeck.bindings.json_tools import default_serialize

from datasets import london_hexes
from dpgp_core.arrays import FloatArray

HEIGHT = 520
_VIEW = {"latitude": 51.49, "longitude": -0.10, "zoom": 8.55}
_STEPS = 64


@dataclass(frozen=True)
class Layer:
    """What a map can show.

    Attributes:
        title: for the control.
        column: of the table of cells, with the values.
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
        return [[*palette[i], 0 if missing else 255] for i, missing in zip(known, np.isnan(share), strict=True)]


class CompactDeck(pdk.Deck):
    """A deck whose JSON is not indented: half the bytes, and no second of pure Python for twenty visitors."""

    def to_json(self) -> str:
        """The JSON that the browser draws."""
        return json.dumps(self, sort_keys=True, default=default_serialize)


def deck(cells: pd.DataFrame, layer: Layer, kind: str, boroughs: bool = True) -> pdk.Deck:
    """The hexagons coloured by one column; no background map, no external request.

    Outlines of boroughs are unions of the hexagons with sales: none where it is private which those are.
    """
    values = cells[layer.column].to_numpy(float)
    named = [name for name in ("borough", "sales") if name in cells]
    rows: list[dict[Any, Any]] = [
        labels | {"value": _shown(value, layer), "fill": fill}
        for labels, value, fill in zip(
            cells[["cell", *named]].to_dict("records"), values, layer.colours(values), strict=True
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
    paths = [{"path": ring} for _, rings in london_hexes.borough_outlines() for ring in rings] if boroughs else []
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
        tooltip={"text": ("{borough}\n{sales} sales\n" if named else "") + layer.title + ": {value}"},
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
