"""Sentences and figures of the start page."""

from __future__ import annotations

from dpgp_core.data import Dataset
from pages._ui.compare.contenders import CONTENDERS, CURVE_EPSILONS, contender
from pages._ui.left_out import FOLDS
from pages._ui.look import frame, text
from pages._ui.start import decision
from pages._ui.start.brief import Brief
from pages._ui.start.controls import MECHANISM, Decision
from pages._ui.start.decision import Cost, Moved

QUESTION = "What can anyone learn about one person?"
_AVERAGED = "none to set: averaged over lengthscales and noise levels, from what is public and what is released"
TABLE_NOTE = "Chances follow from epsilon, delta and the kind of noise. It takes the true data to know an error."
CARD_NOTE = "The promise does not depend on the data; the error does, and needs the true data to be known."


def beliefs_alt(beliefs: tuple[Moved, ...]) -> str:
    """What the beliefs against epsilon show, with their values."""
    at = {epsilon: found for epsilon, found in zip(CURVE_EPSILONS, beliefs, strict=True) if epsilon in (0.1, 1.0, 10.0)}
    most = ", ".join(f"{decision.most_after(found)} % at epsilon {epsilon:g}" for epsilon, found in at.items())
    return (
        f"How likely a fact that was thought {text.percent(beliefs[0].prior)} likely may be thought afterwards: at "
        f"most {most} (upper line). Dashed: the average after the 1 in 100 releases that reveal most."
    )


def errors_alt(data: Dataset, cost: Cost, folds: int = FOLDS) -> str:
    """What the errors against epsilon show, with their values."""
    so_far = f" So far from {folds} of {FOLDS} parts of the people: it will still move." if folds < FOLDS else ""
    fall = " to ".join(f"{cost.shown(cost.at(epsilon))} at epsilon {epsilon:g}" for epsilon in (0.1, 1.0, 10.0, 100.0))
    curve = "curve" if len(data.x_box) == 1 else "map"
    return f"Error of a published {curve}, from {fall}; without privacy {cost.shown(cost.nonprivate)}.{so_far}"


def method(chosen: Decision) -> str:
    """The title of what is released, as leads name it."""
    return MECHANISM.titles[chosen.mechanism].removesuffix(" (ours)")


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
        said = decision.price(draw, cost, method(chosen), data.privacy_unit)
        advice = f"{decision.recommendation(cost)} {said} {advice}"
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
