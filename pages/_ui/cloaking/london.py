"""The map of London in sentences and figures."""

from __future__ import annotations

import math

import pandas as pd

from pages._ui.cloaking import words
from pages._ui.cloaking.results import Result
from pages._ui.look import text
from pages._ui.look.metric import Metric
from pages._ui.model import Draw

TITLE = "Where does privacy blur the map?"


def answer(ours: Result, draw: Draw, overlay: bool) -> str:
    """The plain sentences under the question. Errors need the true data, so without them it is about noise."""
    sharp, blurred = extremes(ours)
    where = f"The map is sharpest in **{sharp}** and most blurred in **{blurred}**."
    if overlay:
        return (
            f"At epsilon = {draw.epsilon:g} a published price is wrong by **{text.factor_of(ours.outcome.mean_rmse)}** "
            f"(typical error); without privacy by {text.factor_of(ours.outcome.nonprivate_rmse)}. {where}"
        )
    half = text.factor_of(words.at_records(ours, _blur(ours).to_numpy()))
    said = "privacy noise moves a typical price by less than" if ours.intervals.noise is not None else MEANT_BY_WIDTH
    return f"At epsilon = {draw.epsilon:g} {said} **{half}**. {where}"


MEANT_BY_WIDTH = "a typical price is known, with 95 % probability, to within"


def extremes(result: Result) -> tuple[str, str]:
    """The boroughs that are least and most blurred, by the middle one of their hexagons with sales."""
    labels = result.outcome.scene.labels
    assert labels is not None
    by_borough = _blur(result).iloc[: result.outcome.scene.records].groupby(labels["borough"]).median()
    return str(by_borough.idxmin()), str(by_borough.idxmax())


def _blur(result: Result) -> pd.Series[float]:
    """Half of the range of the privacy noise; where that is not added once, of the price."""
    noise = result.intervals.noise
    return pd.Series(result.intervals.curve.half if noise is None else noise)


def _within(half: float) -> str:
    return text.factor_of(half) if half > math.log(text.TWICE) else f"± {text.factor_of(half)}"


def metrics(ours: Result, paper: Result, overlay: bool) -> list[Metric]:
    """Error, error without privacy, privacy noise, budget; errors only under the overlay."""
    guarantee, found = ours.outcome.guarantee, words.uncertainty(ours, paper)
    named = "Where the price is" if ours.intervals.noise is None else "Privacy noise"
    within = "with 95 % probability" if ours.intervals.noise is None else "in 95 of 100 releases"
    errors = [
        Metric(
            "Error of a price",
            text.factor_of(ours.outcome.mean_rmse),
            f"method of 2018: {text.factor_of(paper.outcome.mean_rmse)}",
        ),
        Metric("Error without privacy", text.factor_of(ours.outcome.nonprivate_rmse), "not private"),
    ]
    many = f"{guarantee.releases} releases" if guarantee.releases > 1 else "one release"
    return [
        *(errors if overlay else []),
        Metric(named, _within(words.at_records(ours, _blur(ours).to_numpy())), within, found.meaning),
        Metric(
            "Spent",
            f"ε = {text.at_most(guarantee.proven_epsilon)}",
            f"{many}, δ = {text.small(guarantee.budget.delta)}",
        ),
    ]
