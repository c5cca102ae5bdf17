"""The map of London in sentences and figures."""

from __future__ import annotations

import math

import pandas as pd

from dpgp_core.arrays import FloatArray
from pages._ui.cloaking import words
from pages._ui.cloaking.results import Result
from pages._ui.left_out import Trio
from pages._ui.look import text
from pages._ui.look.text import Metric

TITLE = "Where does privacy blur the map?"


def lead(ours: Result, errors: Trio | None) -> str:
    """The plain sentences under the question. Errors need the true data, so without them it is about noise."""
    sharp, blurred = extremes(ours)
    where = f"The map is sharpest in **{sharp}** and most blurred in **{blurred}**."
    setting = f"At epsilon = {ours.draw.epsilon:g}"
    if errors is not None:
        return (
            f"{setting} {words.method(ours)} gets {ours.dataset.privacy_unit} wrong by "
            f"**{words.error(errors.ours, text.factor_of)}** (typical error); "
            f"without privacy by {text.factor_of(errors.without)}. {where}"
        )
    half = text.factor_of(words.at_records(ours, _blur(ours)))
    if ours.intervals.noise is None:
        return f"{setting} a typical price is known, with 95 % probability, to within **{half}**. {where}"
    return f"{setting} privacy noise moves a typical price by less than **{half}**. {where}"


def _kind_of(result: Result) -> str:
    """What is left out to know an error: hexagons, or sales."""
    return "hexagons" if "hexagon" in result.dataset.privacy_unit else "sales"


def extremes(result: Result) -> tuple[str, str]:
    """The boroughs that are least and most blurred, by the middle one of their hexagons with sales."""
    by_borough = _by_borough(result)
    return str(by_borough.idxmin()), str(by_borough.idxmax())


_FIVE = 5


def told(result: Result) -> str:
    """The map in words: the boroughs that are sharpest and most blurred, with their values."""
    ordered = list(_by_borough(result).sort_values().items())
    sharp, blurred = (
        ", ".join(f"{name} {_within(value)}" for name, value in some)
        for some in (ordered[:_FIVE], ordered[: -_FIVE - 1 : -1])
    )
    return f"Sharpest: {sharp}. Most blurred: {blurred}."


def _by_borough(result: Result) -> pd.Series[float]:
    """The middle one of each borough's hexagons with sales."""
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
    named = "Where the price is" if ours.intervals.noise is None else "Privacy noise"
    within = "with 95 % probability" if ours.intervals.noise is None else "in 95 of 100 releases"
    many = f"{guarantee.releases} releases" if guarantee.releases > 1 else "one release"
    return [
        *([] if errors is None else words.errors_of(errors, text.factor_of, _kind_of(ours))),
        Metric(named, _within(words.at_records(ours, _blur(ours))), within, uncertain.meaning),
        Metric(
            "Spent",
            f"ε = {text.at_most(guarantee.proven_epsilon)}",
            f"{many}, δ = {text.small(guarantee.budget.delta)}",
        ),
    ]
