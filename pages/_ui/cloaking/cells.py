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
_LOW, _HIGH = 250_000, 1_500_000  # the public bounds [GBP]
_BEYOND = 20.0  # ln of the largest factor in the table
_AS_BOUNDS = 2.45  # an interval of this factor to each side is as wide as the bounds
_price = partial(Layer, unit="GBP", marks=(_LOW, math.sqrt(_LOW * _HIGH), _HIGH), scale=PREDICTION_SCALE, log=True)
_share = partial(Layer, scale=NOISE_SCALE, private=True)
_BLURRED = Unsure(  # by so much noise a price may be anything between the bounds, and beyond
    _NOISE, FACTORS[-1], f"privacy noise can move the price more than {FACTORS[-1]:g} times"
)
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
        (1.1, 1.25, 1.5, 2.0, _AS_BOUNDS),
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
    data, scene = result.dataset, result.scene
    frame = public_cells(scene)
    truth = np.full(len(frame), np.nan)
    if data.name == london_hexes.NAME:
        truth[: scene.records] = scene.truth
    else:
        prices = pd.Series(data.clipped_y).groupby(data.labels["cell"])
        by_cell = prices.agg(["size", "mean"]).reindex(frame["cell"])
        frame["sales"], truth = by_cell["size"].fillna(0).to_numpy(np.int64), by_cell["mean"].to_numpy(np.float64)
    frame[LAYERS["private"].column] = released_prices(result.samples[0], data)
    frame[_WIDTH] = _factor(result.intervals.curve.half)
    if result.intervals.noise is not None:
        frame[_NOISE] = _factor(result.intervals.noise)
    if result.intervals.scatter is not None:
        frame[_PEOPLE] = (100 * np.expm1(result.intervals.scatter)).round(1)
    if overlay:
        frame[LAYERS["fit"].column] = np.exp(result.nonprivate).round(-3)
        frame[LAYERS["truth"].column] = np.exp(truth).round()
    return frame[map_rows(scene)].reset_index(drop=True)


def note(result: Result, overlay: bool) -> str:
    """The meaning of the columns of the table."""
    meaning = "“Where the price is” counts what few sales leave open, and with it the privacy noise."
    if result.intervals.noise is not None:
        meaning = f"“Privacy noise” is what the mechanism adds, in 95 of 100 releases. {meaning} So it is wider."
    return meaning + (f" {words.OVERLAY_NOTE}" if overlay else "")


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


TITLE = "Where does privacy blur the map?"


def lead(ours: Result, errors: Trio | None) -> str:
    """The plain sentences under the question. Errors need the true data, so without them it is about noise."""
    by_borough = _by_borough(ours)
    ends = f"The map is sharpest in **{by_borough.idxmin()}** and most blurred in **{by_borough.idxmax()}**."
    setting = f"At epsilon = {ours.draw.epsilon:g}"
    if errors is not None:
        return (
            f"{setting} {words.method(ours)} gets {ours.dataset.privacy_unit} wrong by "
            f"**{words.error(ours, errors.ours)}** (typical error); "
            f"without privacy by {words.size(ours, errors.without)}. {ends}"
        )
    half = words.size(ours, words.at_records(ours, ours.intervals.blur))
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
    labels, records = result.scene.labels, result.scene.records
    assert labels is not None
    return pd.Series(result.intervals.blur[:records]).groupby(labels["borough"].iloc[:records].to_numpy()).median()


def _within(half: float) -> str:
    return text.factor_of(half) if half > math.log(text.TWICE) else f"± {text.factor_of(half)}"


def metrics(ours: Result, paper: Result, errors: Trio | None) -> list[Metric]:
    """Error, error without privacy, privacy noise, budget; errors only under the overlay."""
    guarantee, half = ours.guarantee, _within(words.at_records(ours, ours.intervals.blur))
    kind = "hexagons" if "hexagon" in ours.dataset.privacy_unit else "sales"
    name, within = "Privacy noise", "in 95 of 100 releases"
    if ours.intervals.noise is None:
        name, within = "Where the price is", "with 95 % probability"
    many = f"{guarantee.releases} releases" if guarantee.releases > 1 else "one release"
    return [
        *([] if errors is None else words.errors_of(ours, errors, kind)),
        Metric(name, half, within, words.uncertainty(ours, paper).meaning),
        words.spent("Spent", guarantee, many),
    ]


LAYER = menu("The map shows", "map", {kind: each.title for kind, each in LAYERS.items()}, buttons=True, section=HERE)
BOTH = Switch("beside", "Method of 2018 beside it", section=HERE, width="content")


def map_view(kinds: Sequence[str]) -> tuple[str, bool]:
    """The layer on the map, and whether the method of 2018 has a map too; chosen above the map."""
    with st.container(horizontal=True, vertical_alignment="center", key="map_row"):
        return settings.value_of(LAYER.among(kinds)), settings.value_of(BOTH)
