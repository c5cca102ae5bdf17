"""Sentences and figures of the start page."""

from __future__ import annotations

from dpgp_core.data import Dataset
from pages._ui.compare.contenders import CONTENDERS, contender
from pages._ui.left_out import FOLDS
from pages._ui.look import frame, text
from pages._ui.start import decision
from pages._ui.start.brief import Brief
from pages._ui.start.controls import MECHANISM, Decision
from pages._ui.start.decision import Cost, Moved

QUESTION = "What can anyone learn about one person?"
BELIEFS_ALT = (
    "How likely somebody may think a fact about one person is after a release, for each epsilon. It stays between the "
    "green lines. Dashed: the average after the 1 in 100 releases that reveal most."
)
_AVERAGED = "none to set: averaged over lengthscales and noise levels, from what is public and what is released"
TABLE_NOTE = "Chances follow from epsilon, delta and the kind of noise. It takes the true data to know an error."
CARD_NOTE = "The promise does not depend on the data; the error does, and needs the true data to be known."


def curve_or_map(data: Dataset) -> str:
    """What is published of a data set."""
    return "curve" if len(data.x_box) == 1 else "map"


def errors_alt(data: Dataset, folds: int = FOLDS) -> str:
    """Text alternative of the errors."""
    so_far = f" So far from {folds} of {FOLDS} parts of the people: it will still move." if folds < FOLDS else ""
    return f"Error of a published {curve_or_map(data)} (orange) and without privacy (blue), against epsilon.{so_far}"


def named(data: Dataset) -> str:
    """The outcome as people know it: a price, not its logarithm."""
    return data.y_name.removeprefix("ln ")


def brief(chosen: Decision, data: Dataset, moved: Moved, cost: Cost | None, link: str) -> Brief:
    """The one page to print."""
    draw, model = chosen.draw, chosen.contest.model
    guarantee = contender(chosen.contest, chosen.mechanism, draw.epsilon).guarantee
    fixed = f"{model.kernel} kernel, lengthscale {model.lengthscale:g} {data.x_units[0]}"
    advice = f"At epsilon = {draw.epsilon:g}, {decision.limits(moved)}."
    if cost is not None:
        advice = f"{decision.recommendation(cost)} {decision.price(draw, cost, curve_or_map(data))} {advice}"
    return Brief(
        title=f"What epsilon = {draw.epsilon:g} promises and costs: {named(data)}",
        recommendation=advice,
        people=decision.frequencies(moved),
        setting=(
            ("Data", f"{data.n:,} rows; {data.source}"),
            ("Budget", f"ε = {draw.epsilon:g}, δ = {text.small(draw.delta)}"),
            ("Method", MECHANISM.titles[chosen.mechanism]),
            ("Model", _AVERAGED if CONTENDERS[chosen.mechanism].automatic else fixed),
            ("Chance beforehand", text.percent(moved.prior)),
        ),
        card=frame.guarantee_rows(guarantee.for_unit(data.privacy_unit)),
        link=link,
    )
