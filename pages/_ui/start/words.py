"""Sentences and figures of the start page."""

from __future__ import annotations

from dpgp_core.data import Dataset
from pages._ui.compare.contenders import CONTENDERS, contender
from pages._ui.folds import FOLDS
from pages._ui.look import frame, text
from pages._ui.look.metric import Metric
from pages._ui.model import Draw
from pages._ui.start import decision
from pages._ui.start.brief import Brief
from pages._ui.start.controls import MECHANISM, Decision
from pages._ui.start.decision import Cost, Moved
from pages._ui.start.meaning import Attack

BELIEFS_ALT = (
    "What someone may believe about one person after a release, against ε: without δ it stays between the green lines; "
    "dashed, the mean belief after the hundredth of releases that speak most against a person."
)
_AVERAGED = "none to set: averaged over lengthscales and noise levels, from what is public and what is released"
TABLE_NOTE = "Beliefs follow from ε, δ and the kind of noise. Errors are held out and not private."
CARD_NOTE = "The promise does not depend on the data; the error does, and needs the true data to be known."


def answer(draw: Draw, moved: Moved) -> str:
    """Under the question."""
    return f"At ε = {draw.epsilon:g}, {decision.limits(moved)}. {decision.frequencies(moved)}"


def first(data: Dataset) -> str:
    """What comes before anything else: the data, and the two ideas in a sentence each."""
    return (
        f"**{data.n:,} records**, each {data.privacy_unit}. **Differential privacy**: noise is added so that what is "
        "published looks nearly the same whoever takes part. **Gaussian process**: a curve or map is drawn through "
        "the data with an honest width of doubt."
    )


def errors_alt(data: Dataset, folds: int = FOLDS) -> str:
    """Text alternative of the errors."""
    so_far = f" So far from {folds} of {FOLDS} folds: it will still move." if folds < FOLDS else ""
    return (
        f"Held-out error of one release of {data.y_name} (orange) and without privacy (blue), against ε. "
        f"Not private.{so_far}"
    )


def metrics(draw: Draw, attack: Attack, moved: Moved) -> list[Metric]:
    """The figures of the promise."""
    delta = attack.guarantee.budget.delta
    return [
        Metric("Attacker right, after", text.percent(attack.after), f"before {text.percent(attack.before)}"),
        Metric("A belief may grow to", text.percent(moved.limit.high), f"before {text.percent(moved.prior)}"),
        Metric("Odds may grow by", f"× {text.growth(draw.epsilon)}", f"exp(ε), ε = {draw.epsilon:g}"),
        Metric("and beyond that by", text.small(delta) if delta else "nothing", f"δ = {text.small(delta)}"),
        Metric(
            "Noise ÷ one person's reach",
            "any" if attack.noise is None else f"{text.number(attack.noise)} ×",
            "standard deviations",
        ),
    ]


def brief(chosen: Decision, data: Dataset, moved: Moved, cost: Cost | None, link: str) -> Brief:
    """The one page to print."""
    draw, model = chosen.draw, chosen.contest.model
    guarantee = contender(chosen.contest, chosen.mechanism, draw.epsilon).guarantee
    fixed = f"{model.kernel} kernel, lengthscale {model.lengthscale:g} {data.x_units[0]}"
    advice = f"At ε = {draw.epsilon:g}, {decision.limits(moved)}."
    return Brief(
        title=f"What ε = {draw.epsilon:g} promises and costs: {data.y_name}",
        recommendation=advice if cost is None else decision.recommendation(draw, moved, cost),
        people=decision.frequencies(moved),
        setting=(
            ("Data", f"{data.n:,} records; {data.source}"),
            ("Budget", f"ε = {draw.epsilon:g}, δ = {text.small(draw.delta)}"),
            ("Mechanism", MECHANISM.titles[chosen.mechanism]),
            ("Model", _AVERAGED if CONTENDERS[chosen.mechanism].automatic else fixed),
            ("Belief beforehand", text.percent(moved.prior)),
        ),
        card=frame.guarantee_rows(guarantee.for_unit(data.privacy_unit)),
        link=link,
    )
