"""The map of a release: its layers, its table of cells, and its sentences."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from datasets import london_hexes
from dpgp_core.arrays import FloatArray
from dpgp_core.table import Dataset
from pages._ui.cloaking import words
from pages._ui.cloaking.results import HeldOutErrors, Result, Scene
from pages._ui.look.controls import HERE, menu
from pages._ui.look.maps import TIMES, Layer, Unsure, times, value_text
from pages._ui.look.plots import NOISE_SCALE, PREDICTION_SCALE
from pages._ui.look.text import Metric
from pages._ui.work import cached

_NOISE, _WIDTH = f"privacy noise [{TIMES}]", f"uncertainty (95 %) [{TIMES}]"
_PEOPLE = "spread of prices [%]"
_LOW, _HIGH = 250_000, 1_500_000  # the public bounds [GBP]
_BEYOND = 20.0  # natural logarithm of the largest factor in the table
_MOST = 10.0  # a price that noise may change by more than this is hidden
_AS_BOUNDS = 2.45  # an interval with this factor to each side is as wide as the bounds
_price = partial(Layer, unit="GBP", marks=(_LOW, math.sqrt(_LOW * _HIGH), _HIGH), scale=PREDICTION_SCALE, log=True)
_share = partial(Layer, scale=NOISE_SCALE, private=True)
_factor = partial(_share, unit=TIMES, marks=(1.1, 1.25, 1.5, 2.0, 4.0, _MOST), log=True)
_BLURRED = Unsure(_NOISE, _MOST, f"too uncertain to show, privacy noise may make the price more than {_MOST:g} {TIMES}")
_UNKNOWN = Unsure(_WIDTH, _AS_BOUNDS, "too uncertain to show, the interval is as wide as the bounds")
LAYERS = {
    "noise": _factor("Privacy noise", _NOISE, hides=_BLURRED),
    "private": _price("Published prices", "published price [GBP]", private=True, hides=_BLURRED),
    "interval": _factor("Uncertainty (95 %)", _WIDTH, hides=_UNKNOWN),
    "people": _share(
        "Spread of prices", _PEOPLE, "% of the price, one standard deviation", (0.0, 50.0, 100.0), hides=_UNKNOWN
    ),
    "fit": _price("Without privacy", "without privacy [GBP] (not private)", private=False),
    "truth": _price("True prices", "true price [GBP] (not private)", private=False),
}


def kinds(in_stages: bool, overlay: bool) -> list[str]:
    """Return the layers on offer: true data only with the overlay, spread of people only if the mechanism measures
    it.
    """
    return [kind for kind, layer in LAYERS.items() if (layer.private or overlay) and (kind != "people" or in_stages)]


def layer_of(kind: str, *tables: pd.DataFrame) -> Layer:
    """Return a layer whose colours cover its values in the tables; for true prices, the range of the published ones.

    Prices are hidden where their interval is too wide to be useful, if the mechanism measures the residual variance;
    otherwise where their privacy noise is too large.
    """
    layer, prices = LAYERS[kind], LAYERS["private"]
    if kind == "private" and _PEOPLE in tables[0]:
        layer = replace(layer, hides=_UNKNOWN)
    scaled = layer if layer.private else prices  # a scale over true prices would reveal the lowest and the highest
    shown = [each.loc[~scaled.unsure(each), scaled.column].to_numpy(float) for each in tables]
    over = scaled.over(np.concatenate(shown))
    return replace(layer, marks=over.marks, stepped=over.stepped)


def cell_table(result: Result, overlay: bool) -> pd.DataFrame:
    """Return a table with a row for each cell: public labels, one release, its noise and interval, and with the overlay
    the truth.

    The map shows Greater London and one ring of cells around it. Prices are also published farther out, where there
    are no sales.

    True prices are the medians of ``london_hexes``; for data of single sales, they are geometric means of the prices
    in each cell.
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
    assert result.intervals.noise is not None
    frame[_NOISE] = _factor_of(result.intervals.noise)
    frame[_WIDTH] = _factor_of(result.intervals.curve.half)
    if result.intervals.residual_sd is not None:
        frame[_PEOPLE] = (100 * np.expm1(result.intervals.residual_sd)).round(1)
    if overlay:
        frame[LAYERS["fit"].column] = np.exp(result.nonprivate).round(-3)
        frame[LAYERS["truth"].column] = np.exp(truth).round()
    return frame[map_rows(scene)].reset_index(drop=True)


def note(overlay: bool) -> str:
    """Return what the columns of the table mean."""
    meaning = (
        "Privacy noise: how far the published price is from the one that would be published without noise, at most, in "
        "95 of 100 releases. The uncertainty is also larger where there are few sales."
    )
    return meaning + (f" {words.OVERLAY_NOTE}" if overlay else "")


def public_cells(scene: Scene) -> pd.DataFrame:
    """Return name, borough and number of sales of each cell."""
    assert scene.labels is not None
    return scene.labels[["cell", "borough", "sales"]].copy()


def map_rows(scene: Scene) -> NDArray[np.bool_]:
    """Return the rows (P,) of a scene that are on the map: Greater London and one ring around it."""
    shown = cached.value("Loading the data", london_hexes.greater_london, here=True)
    return public_cells(scene)["cell"].isin(shown).to_numpy()


def map_cells(scene: Scene) -> pd.DataFrame:
    """Return cell, borough and number of sales for the rows on the map."""
    return public_cells(scene)[map_rows(scene)].reset_index(drop=True)


def released_prices(values: FloatArray, data: Dataset) -> FloatArray:
    """Return the prices (P,) for released logarithms, clipped to the public bounds, which is post-processing."""
    return np.exp(np.clip(values, *data.y_bounds)).round(-3)


def _factor_of(half: FloatArray) -> FloatArray:
    """Return the factors (P,) by which prices change if their logarithms change by half an interval."""
    return np.asarray(np.exp(np.minimum(half, _BEYOND)).round(3))


TITLE = "Where does privacy blur the map?"


def headline(ours: Result, table: pd.DataFrame, errors: HeldOutErrors | None) -> str:
    """Return the headline sentences. Errors need true data; without the overlay the sentences are about noise."""
    noise = _borough_values(table, LAYERS["noise"])
    ends = f"Privacy noise is smallest in **{noise.idxmin()}** and largest in **{noise.idxmax()}**."
    setting = f"At epsilon = {ours.draw.epsilon:g}"
    if errors is not None:
        return f"{setting} {words.predicts(ours, errors)} {ends}"
    half = words.up_to(words.at_records(ours, ours.intervals.blur))
    return f"{setting} privacy noise makes a typical published price **{half}**, in 95 of 100 releases. {ends}"


_FIVE = 5


def caption(table: pd.DataFrame, layer: Layer) -> str:
    """Return a sentence that says where the values of the layer are lowest and highest."""
    by_borough = _borough_values(table, layer)
    if layer.hides is not None and layer.unsure(table).all():
        return f"Every hexagon is hatched: {layer.hides.meaning}."
    least, most = (value_text(float(value), layer) for value in (by_borough.min(), by_borough.max()))
    return f"Lowest in {by_borough.idxmin()} ({least}), highest in {by_borough.idxmax()} ({most})."


def alt_text(table: pd.DataFrame, layer: Layer) -> str:
    """Return the map in words: the boroughs with the lowest and highest values of the layer, and these values."""
    ordered = list(_borough_values(table, layer).sort_values().items())
    low, high = (
        ", ".join(f"{name} {value_text(float(value), layer)}" for name, value in some)
        for some in (ordered[:_FIVE], ordered[: -_FIVE - 1 : -1])
    )
    return f"Lowest: {low}. Highest: {high}."


def _borough_values(table: pd.DataFrame, layer: Layer) -> pd.Series[float]:
    """Return the values of a layer for each borough, as the median over its hexagons with sales."""
    return table[table["sales"] > 0].groupby("borough")[layer.column].median()


def metrics(ours: Result, errors: HeldOutErrors | None) -> list[Metric]:
    """Return error, error without privacy, privacy noise and budget; errors only with the overlay."""
    guarantee, half = ours.guarantee, math.exp(min(words.at_records(ours, ours.intervals.blur), _BEYOND))
    kind = "hexagons" if "hexagon" in ours.dataset.privacy_unit else "sales"
    many = f"{guarantee.releases} releases" if guarantee.releases > 1 else "one release"
    within = f"{TIMES}, in 95 of 100 releases"
    return [
        *([] if errors is None else words.errors_of(ours, errors, kind)),
        Metric(
            "Privacy noise",
            f"up to {times(half)} times",
            within.removeprefix("times "),
            words.uncertainty(ours).meaning,
        ),
        words.spent("Spent", guarantee, many),
    ]


LAYER = menu("The map shows", "map", {kind: each.title for kind, each in LAYERS.items()}, buttons=True, section=HERE)
