"""Results to the table of cells behind the map of London, and what the map can show. No streamlit here."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from datasets import hexagons, london_hexes
from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from pages._ui.cloaking.pipeline import Result, Scene
from pages._ui.look.maps import Layer
from pages._ui.look.palette import NOISE_SCALE, PREDICTION_SCALE

_NOISE = "privacy noise, 95 % [%]"
_price = partial(Layer, unit="GBP", low=250_000, high=1_500_000, scale=PREDICTION_SCALE, log=True)
LAYERS = {
    "noise": Layer("Privacy noise", _NOISE, "% of the price, 95 % interval", 0, 100, NOISE_SCALE, private=True),
    "private": _price("Private prediction", "private draw [GBP]", private=True, noise=_NOISE, most=100.0),
    "fit": _price("Non-private prediction", "fit without noise [GBP] (not private)", private=False),
    "truth": _price("True prices", "true price [GBP] (not private)", private=False),
}


def cell_table(result: Result, overlay: bool) -> pd.DataFrame:
    """One row a cell of the map: public labels, one private draw, its noise; truth only under the overlay.

    True prices are the medians of ``london_hexes``, and for data of single sales the mean (of ln prices) in each cell.
    """
    outcome, data = result.outcome, result.dataset
    frame = public_cells(outcome.scene)
    truth = np.full(len(frame), np.nan)
    if data.name == london_hexes.NAME:
        truth[: outcome.scene.records] = outcome.scene.truth
    else:
        frame["sales"], truth = _of_sales(data, frame["cell"])
    frame[LAYERS["private"].column] = released_prices(outcome.release.samples[0], data)
    frame[LAYERS["noise"].column] = (100 * np.expm1(result.halves.noise)).round(1)
    if overlay:
        frame[LAYERS["fit"].column] = np.exp(outcome.nonprivate).round(-3)
        frame[LAYERS["truth"].column] = np.exp(truth).round()
    return frame


def public_cells(scene: Scene) -> pd.DataFrame:
    """Name, borough and number of sales of each cell."""
    assert scene.labels is not None
    return scene.labels[["cell", "borough", "sales"]].copy()


def released_prices(values: FloatArray, data: Dataset) -> FloatArray:
    """Prices of released logarithms (P,); cutting them to the public bounds is post-processing."""
    return np.exp(np.clip(values, *data.y_bounds)).round(-3)


def _of_sales(data: Dataset, cells: pd.Series[str]) -> tuple[NDArray[np.int64], FloatArray]:
    """Number of sales and mean of their clipped ln prices in each cell; NaN where there is none."""
    by_cell = hexagons.aggregate(data.X, data.clipped_y).set_index("cell").reindex(cells)
    return by_cell["count"].fillna(0).to_numpy(np.int64), by_cell["mean"].to_numpy(np.float64)
