"""The map of a release: its layers, the table of its cells, and its sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from datasets import london_hexes
from dpgp_core.arrays import FloatArray
from dpgp_core.table import Dataset
from pages._ui.cloaking import words
from pages._ui.cloaking.results import Result, Scene
from pages._ui.left_out import Trio
from pages._ui.look import settings, text
from pages._ui.look.controls import HERE, Switch, menu
from pages._ui.look.maps import FACTORS, Layer, Unsure
from pages._ui.look.plots import NOISE_SCALE, PREDICTION_SCALE
from pages._ui.look.text import Metric

_NOISE = "privacy noise [factor]"
_WIDTH = "where the price is [factor]"
_PEOPLE = "spread of prices [%]"
_TOO_MUCH = FACTORS[-1]  # privacy noise by which a price may be anything between the bounds, and beyond
_LOW, _HIGH = 250_000, 1_500_000  # the public bounds [GBP]
_BEYOND = 20.0  # ln of the largest factor in the table
_AS_BOUNDS = 2.45  # an interval of this factor to each side is as wide as the bounds
_INTERVAL_MARKS = (1.1, 1.25, 1.5, 2.0, _AS_BOUNDS)  # marks of its scale
_price = partial(Layer, unit="GBP", marks=(_LOW, math.sqrt(_LOW * _HIGH), _HIGH), scale=PREDICTION_SCALE, log=True)
_share = partial(Layer, scale=NOISE_SCALE, private=True)
_BLURRED = Unsure(_NOISE, _TOO_MUCH, f"privacy noise can move the price more than {FACTORS[-1]:g} times")
_UNKNOWN = Unsure(_WIDTH, _AS_BOUNDS, "not known, anywhere within the bounds")
LAYERS = {
    "private": _price("Prices", "published price [GBP]", private=True, hides=_BLURRED),
    "noise": _share(
        "Privacy noise",
        _NOISE,
        "at most this factor up or down, in 95 of 100 releases",
        FACTORS,
        log=True,
        hides=_BLURRED,
    ),
    "interval": _share(
        "Where the price is",
        _WIDTH,
        "at most this factor up or down, with 95 % probability",
        _INTERVAL_MARKS,
        log=True,
        hides=_UNKNOWN,
    ),
    "people": _share("Spread of prices", _PEOPLE, "% of the price, one standard deviation", (0.0, 50.0, 100.0)),
    "fit": _price("Without privacy", "without privacy [GBP] (not private)", private=False),
    "truth": _price("True prices", "true price [GBP] (not private)", private=False),
}


def layers(result: Result, overlay: bool) -> dict[str, Layer]:
    """Layers of a result: of noise only if that is added once, of true data only with the overlay."""
    offered = {kind: layer for kind, layer in LAYERS.items() if layer.private or overlay}
    if result.intervals.scatter is None:
        del offered["people"]
    else:
        offered["people"] = replace(offered["people"], hides=_UNKNOWN)
    if result.intervals.noise is None:
        del offered["noise"]
        offered["private"] = replace(offered["private"], hides=_UNKNOWN)
    return offered


def cell_table(result: Result, overlay: bool) -> pd.DataFrame:
    """One row a cell of the map: public labels, one release, its interval; truth only under the overlay.

    The map is Greater London and one ring around it: prices are published further out, where nobody sells.

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
    return frame[map_rows(outcome.scene)].reset_index(drop=True)


def note(result: Result, overlay: bool) -> str:
    """The meaning of the columns of the table."""
    meaning = "“Where the price is” counts what few sales leave open, and with it the privacy noise."
    if result.intervals.noise is not None:
        meaning = f"“Privacy noise” is what the mechanism adds, in 95 of 100 releases. {meaning} So it is wider."
    return meaning + (" Columns marked “not private” show true data." if overlay else "")


def public_cells(scene: Scene) -> pd.DataFrame:
    """Name, borough and number of sales of each cell."""
    assert scene.labels is not None
    return scene.labels[["cell", "borough", "sales"]].copy()


def map_rows(scene: Scene) -> NDArray[np.bool_]:
    """The rows of a scene on the map (P,): Greater London and one ring around it."""
    return public_cells(scene)["cell"].isin(london_hexes.greater_london()).to_numpy()


def map_cells(scene: Scene) -> pd.DataFrame:
    """Of these the names: cell, borough and sales."""
    return public_cells(scene)[map_rows(scene)].reset_index(drop=True)


def released_prices(values: FloatArray, data: Dataset) -> FloatArray:
    """Prices of released logarithms (P,); cutting them to the public bounds is post-processing."""
    return np.exp(np.clip(values, *data.y_bounds)).round(-3)


def _factor(half: FloatArray) -> FloatArray:
    """Factor of a price whose logarithm grows by half an interval (P,)."""
    return np.asarray(np.exp(np.minimum(half, _BEYOND)).round(3))


def _percent(half: FloatArray) -> FloatArray:
    """How much a price grows where its logarithm grows by half an interval (P,)."""
    return np.asarray((100 * np.expm1(half)).round(1))


def _of_sales(data: Dataset, cells: pd.Series[str]) -> tuple[NDArray[np.int64], FloatArray]:
    """Number of sales and mean of their clipped ln prices in each cell; NaN where there is none."""
    by_cell = pd.Series(data.clipped_y).groupby(data.labels["cell"]).agg(["size", "mean"]).reindex(cells)
    return by_cell["size"].fillna(0).to_numpy(np.int64), by_cell["mean"].to_numpy(np.float64)


TITLE = "Where does privacy blur the map?"


def lead(ours: Result, errors: Trio | None) -> str:
    """The plain sentences under the question. Errors need the true data, so without them it is about noise."""
    by_borough = _by_borough(ours)
    ends = f"The map is sharpest in **{by_borough.idxmin()}** and most blurred in **{by_borough.idxmax()}**."
    setting = f"At epsilon = {ours.draw.epsilon:g}"
    if errors is not None:
        return (
            f"{setting} {words.method(ours)} gets {ours.dataset.privacy_unit} wrong by "
            f"**{words.error(errors.ours, text.factor_of)}** (typical error); "
            f"without privacy by {text.factor_of(errors.without)}. {ends}"
        )
    half = text.factor_of(words.at_records(ours, _blur(ours)))
    if ours.intervals.noise is None:
        return f"{setting} a typical price is known, with 95 % probability, to within **{half}**. {ends}"
    return f"{setting} privacy noise moves a typical price by less than **{half}**. {ends}"


_FIVE = 5


def alt_text(result: Result) -> str:
    """The map in words: the boroughs that are sharpest and most blurred, with their values."""
    ordered = list(_by_borough(result).sort_values().items())
    sharp, blurred = (
        ", ".join(f"{name} {_within(value)}" for name, value in some)
        for some in (ordered[:_FIVE], ordered[: -_FIVE - 1 : -1])
    )
    return f"Sharpest: {sharp}. Most blurred: {blurred}."


def _by_borough(result: Result) -> pd.Series[float]:
    """Blur of each borough, the median over its hexagons with sales."""
    labels = result.outcome.scene.labels
    assert labels is not None
    blur = pd.Series(_blur(result)[: result.outcome.scene.records])
    return blur.groupby(labels["borough"].iloc[: len(blur)].to_numpy()).median()


def _blur(result: Result) -> FloatArray:
    """Half of the range of the privacy noise (P,); where that is not added once, of the price."""
    noise = result.intervals.noise
    return result.intervals.curve.half if noise is None else noise


def _within(half: float) -> str:
    return text.factor_of(half) if half > math.log(text.TWICE) else f"± {text.factor_of(half)}"


def metrics(ours: Result, paper: Result, errors: Trio | None) -> list[Metric]:
    """Error, error without privacy, privacy noise, budget; errors only under the overlay."""
    guarantee, uncertain = ours.outcome.guarantee, words.uncertainty(ours, paper)
    kind = "hexagons" if "hexagon" in ours.dataset.privacy_unit else "sales"
    name = "Where the price is" if ours.intervals.noise is None else "Privacy noise"
    within = "with 95 % probability" if ours.intervals.noise is None else "in 95 of 100 releases"
    many = f"{guarantee.releases} releases" if guarantee.releases > 1 else "one release"
    return [
        *([] if errors is None else words.errors_of(errors, text.factor_of, kind)),
        Metric(name, _within(words.at_records(ours, _blur(ours))), within, uncertain.meaning),
        Metric(
            "Spent",
            f"ε = {text.at_most(guarantee.proven_epsilon)}",
            f"{many}, δ = {text.small(guarantee.budget.delta)}",
        ),
    ]


LAYER = menu("The map shows", "map", {kind: each.title for kind, each in LAYERS.items()}, buttons=True, section=HERE)
BOTH = Switch("beside", "Method of 2018 beside it", section=HERE, width="content")


def map_view(kinds: Sequence[str]) -> tuple[str, bool]:
    """The layer on the map, and whether the method of 2018 has a map too; chosen above the map."""
    with st.container(horizontal=True, vertical_alignment="center", key="map_row"):
        return settings.value_of(LAYER.among(kinds)), settings.value_of(BOTH)
