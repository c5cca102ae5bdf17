"""Results to the table of cells behind the map of London, and what the map can show. No streamlit here."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from datasets import hexagons, london_hexes
from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from pages._ui.cloaking.results import Result, Scene
from pages._ui.look.maps import FACTORS, Layer
from pages._ui.look.palette import NOISE_SCALE, PREDICTION_SCALE

_NOISE = "privacy noise [factor]"
_WIDTH = "where the price is [factor]"
_PEOPLE = "spread of prices [%]"
_TOO_MUCH = FACTORS[-1]  # privacy noise by which a price may be anything between the bounds, and beyond
_LOW, _HIGH = 250_000, 1_500_000  # the public bounds [GBP]
_BEYOND = 20.0  # ln of a factor that nobody needs to know
_AS_BOUNDS = 2.45  # an interval of this factor to each side is as wide as the bounds
_KNOWN = (1.1, 1.25, 1.5, 2.0, _AS_BOUNDS)  # marks of its scale
_price = partial(Layer, unit="GBP", low=_LOW, high=_HIGH, scale=PREDICTION_SCALE, log=True)
_share = partial(Layer, low=0, scale=NOISE_SCALE, private=True)
_BLURRED = f"privacy noise can move the price more than {FACTORS[-1]:g} times"
_UNKNOWN = "not known, the price may lie anywhere within the public bounds"
LAYERS = {
    "private": _price(
        "Prices", "published price [GBP]", private=True, spread=_NOISE, most=_TOO_MUCH, grey=_BLURRED,
    ),
    "noise": _share(
        "Privacy noise", _NOISE, "at most this factor up or down, in 95 of 100 releases", high=_TOO_MUCH,
        spread=_NOISE, most=_TOO_MUCH, grey=_BLURRED, marks=FACTORS,
    ),
    "interval": _share(
        "Where the price is", _WIDTH, "at most this factor up or down, with 95 % probability", high=_AS_BOUNDS,
        spread=_WIDTH, most=_AS_BOUNDS, grey=_UNKNOWN, marks=_KNOWN,
    ),
    "people": _share("Spread of prices", _PEOPLE, "% of the price, one standard deviation", high=100.0),
    "fit": _price("Without privacy", "without privacy [GBP] (not private)", private=False),
    "truth": _price("True prices", "true price [GBP] (not private)", private=False),
}  # fmt: skip


def layers(result: Result, overlay: bool) -> dict[str, Layer]:
    """What can be shown of a result: its noise if that is added once, and as overlay only what is not private."""
    offered = {kind: layer for kind, layer in LAYERS.items() if layer.private or overlay}
    if result.intervals.scatter is None:
        del offered["people"]
    else:
        offered["people"] = replace(offered["people"], spread=_WIDTH, most=_AS_BOUNDS, grey=_UNKNOWN)
    if result.intervals.noise is None:
        del offered["noise"]
        offered["private"] = replace(offered["private"], spread=_WIDTH, most=_AS_BOUNDS, grey=_UNKNOWN)
    return offered


def cell_table(result: Result, overlay: bool) -> pd.DataFrame:
    """One row a cell that is shown: public labels, one release, how far it is off; truth only under the overlay.

    Shown are Greater London and one ring around it: prices are published further out, where nobody sells.

    True prices are the medians of ``london_hexes``, and for data of single sales the mean (of ln prices) in each cell.
    """
    outcome, data = result.outcome, result.dataset
    frame = public_cells(outcome.scene)
    truth = np.full(len(frame), np.nan)
    if data.name == london_hexes.NAME:
        truth[: outcome.scene.records] = outcome.scene.truth
    else:
        frame["sales"], truth = _of_sales(data, frame["cell"])
    frame[LAYERS["private"].column] = released_prices(outcome.samples[0], data)
    frame[_WIDTH] = _factor(result.intervals.curve.half)
    if result.intervals.noise is not None:
        frame[_NOISE] = _factor(result.intervals.noise)
    if result.intervals.scatter is not None:
        frame[_PEOPLE] = _percent(result.intervals.scatter)
    if overlay:
        frame[LAYERS["fit"].column] = np.exp(outcome.nonprivate).round(-3)
        frame[LAYERS["truth"].column] = np.exp(truth).round()
    return frame[frame["cell"].isin(london_hexes.greater_london())].reset_index(drop=True)


def note(result: Result, overlay: bool) -> str:
    """What the columns of the table mean."""
    meant = "“Where the price is” counts what few sales leave open, and with it the privacy noise."
    if result.intervals.noise is not None:
        meant = f"“Privacy noise” is what the mechanism adds, in 95 of 100 releases. {meant} So it is wider."
    return meant + (" Columns marked “not private” show true data." if overlay else "")


def public_cells(scene: Scene) -> pd.DataFrame:
    """Name, borough and number of sales of each cell."""
    assert scene.labels is not None
    return scene.labels[["cell", "borough", "sales"]].copy()


def released_prices(values: FloatArray, data: Dataset) -> FloatArray:
    """Prices of released logarithms (P,); cutting them to the public bounds is post-processing."""
    return np.exp(np.clip(values, *data.y_bounds)).round(-3)


def _factor(half: FloatArray) -> FloatArray:
    """By what a price is multiplied where its logarithm grows by half an interval (P,)."""
    factor: FloatArray = np.exp(np.minimum(half, _BEYOND)).round(3)
    return factor


def _percent(half: FloatArray) -> FloatArray:
    """How much a price grows where its logarithm grows by half an interval (P,)."""
    percent: FloatArray = (100 * np.expm1(half)).round(1)
    return percent


def _of_sales(data: Dataset, cells: pd.Series[str]) -> tuple[NDArray[np.int64], FloatArray]:
    """Number of sales and mean of their clipped ln prices in each cell; NaN where there is none."""
    by_cell = hexagons.aggregate(data.X, data.clipped_y).set_index("cell").reindex(cells)
    return by_cell["count"].fillna(0).to_numpy(np.int64), by_cell["mean"].to_numpy(np.float64)
