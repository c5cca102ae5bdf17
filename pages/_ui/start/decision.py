"""What a budget lets others learn about one person, and what it costs: controls, figures and sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dpgp_core.accounting.gaussian import LEAST_DELTA, epsilon_of, noise_multiplier
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.accounting.losses import ApproximateLoss, GaussianLoss, PureLoss
from dpgp_core.accounting.tradeoff import (
    Beliefs,
    Tradeoff,
    attacker_success,
    budget_attacker_success,
    budget_tradeoff,
    chance_beyond,
    gaussian_tradeoff,
    laplace_attacker_success,
    laplace_tradeoff,
    pure_beliefs,
    telling_beliefs,
)
from dpgp_core.arrays import FloatArray
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import Cloaking, LaplaceBinning
from pages._ui.compare.compute import BINS, INDUCING
from pages._ui.compare.contenders import CONTENDERS, CURVE_EPSILONS, Contest, Scale, contender
from pages._ui.compare.view import DATASET
from pages._ui.look import offers, settings, text
from pages._ui.look.controls import HERE, Menu, Slider, menu
from pages._ui.look.plots import GUARANTEE, NON_PRIVATE, PRIVATE, RISK, TRUTH, End, faded, finish, named, ticked
from pages._ui.look.settings import carried
from pages._ui.look.sidebar import Promise, delta_fits
from pages._ui.look.tables import NOT_PRIVATE
from pages._ui.model import Draw, usual

Family = Literal["gaussian", "laplace", "any"]

COMMON_EPSILONS = (0.1, 0.3, 0.5, 1, 2, 3, 5, 10, 20, 50)

WHO = """
The **outcome** (a height, a price) is hidden from everybody who sees the release. It stays hidden from those who know
all other rows, the method and its settings. **Inputs** (an age, a place) are public on most pages: who took part is not
hidden, what they answered is. **Excursion sets** and **Sparse DP-GP** hide inputs too.

Whose outcome is meant has three readings:

- **A row.** Everybody has one row, and epsilon and delta are about that row.
- **A person.** A column says whose each row is. All rows of one person are hidden together, at the price of one.
- **A group of k rows.** Nobody said whose rows they are, and somebody has k of them. Then epsilon is k times as large,
  and delta grows by more than that.
"""

WHAT = """
Take anything that may be read off a release. One person's answer makes it more probable by a factor of at most
exp(**epsilon**), plus **delta**. Smaller is more private for both, and costs accuracy. With Gaussian noise the factor
fails more often than delta says; “All that is promised” draws what such noise promises in full.
"""

TRADEOFF_ALT = (
    "People missed against people accused wrongly, by an attacker. No attack gets below the red curve. An attack "
    "inside the green region would break the promise. The dotted line is blind guessing."
)

FAMILY_NOTES = {
    "gaussian": "With Gaussian noise that is exact for cloaking. For other methods of this kind it is a limit.",
    "laplace": "With Laplace noise on bins that is exact, and delta is 0. The curve touches its limit.",
    "any": "For posterior paths and private choices only epsilon and delta are proven. So the limit itself is drawn.",
}

LESSONS = (
    ("With epsilon = 0.1 an attacker learns almost nothing.", {"epsilon": 0.1}),
    ("Many deployments use about epsilon = 10.", {"epsilon": 10}),
    ("Laplace noise at the same epsilon gives away more, and promises more: delta is 0.", {"family": "laplace"}),
    ("How much does epsilon = 1 give away of a fact that is true of 1 in 100?", {"prior": 1}),
)


class Attack(NamedTuple):
    """The best attacker against one kind of noise.

    Attributes:
        before: chance of being right without a release.
        after: the same with it.
        noise: its standard deviation over what one record can move; None if no kind of noise is assumed.
        guarantee: the promise of that kind of release.
    """

    before: float
    after: float
    noise: float | None
    guarantee: Guarantee


def best_attack(draw: Draw, prior: float, family: Family = "gaussian") -> Attack:
    """For one release of this family at this budget and an attacker of this prior belief in (0, 1)."""
    before = max(prior, 1 - prior)
    if family == "laplace":
        bins = LaplaceBinning(epsilon=draw.epsilon, bins=10)
        # standard deviation sqrt(2) b of Laplace noise of scale b = reach / epsilon
        after = laplace_attacker_success(prior, draw.epsilon)
        return Attack(before, after, math.sqrt(2) / draw.epsilon, bins.guarantee)
    mechanism = Cloaking(kernel=EQ(), noise_variance=1.0, epsilon=draw.epsilon, delta=draw.delta)
    if family == "any":
        after = budget_attacker_success(prior, draw.epsilon, draw.delta)
        return Attack(before, after, None, _any_release(mechanism.guarantee))
    after = attacker_success(prior, 1 / mechanism.noise_multiplier)
    return Attack(before, after, mechanism.noise_multiplier, mechanism.guarantee)


def _any_release(like: Guarantee) -> Guarantee:
    """What (epsilon, delta) says by itself."""
    loss = ApproximateLoss(like.budget.epsilon, like.budget.delta)
    return replace(
        like,
        loss=loss,
        neighbours="tables that differ in one record, in whatever the mechanism protects of it",
        unit="one record",
        theorem="the definition of (ε, δ)-differential privacy (Dwork et al. 2006)",
    )


def tradeoff_figure(draw: Draw, family: Family) -> go.Figure:
    """Misses against false alarms: blind guessing, the best attack on this noise, the limit of the promise."""
    rate = np.unique(np.concatenate([[0.0], np.geomspace(1e-4, 1, 200), np.linspace(0, 1, 201)]))
    limit = budget_tradeoff(rate, draw.epsilon, LEAST_DELTA if family == "laplace" else draw.delta)
    figure = go.Figure()
    figure.add_scatter(x=rate, y=1 - rate, name="guessing blindly", line={"color": TRUTH, "dash": "dot"})
    if family == "gaussian":
        curve = gaussian_tradeoff(rate, 1 / noise_multiplier(draw.epsilon, draw.delta))
    else:
        curve = laplace_tradeoff(rate, draw.epsilon) if family == "laplace" else limit
    figure.add_scatter(x=rate, y=curve, name="best attack", line={"color": RISK, "width": 2.5})
    figure.add_scatter(
        x=rate,
        y=limit,
        name="limit that epsilon and delta promise",
        line={"color": GUARANTEE, "dash": "dash"},
        fill="tozeroy",
        fillcolor=faded(GUARANTEE, 0.10),
    )
    figure.update_xaxes(title="share of innocent people accused", range=[0, 1])
    figure.update_yaxes(title="share of those present who are missed", range=[0, 1])
    return finish(figure, 420)


def meaning_table(draw: Draw, prior: float, family: Family) -> pd.DataFrame:
    """The same at common values of epsilon, at this delta."""
    rows = []
    for epsilon in COMMON_EPSILONS:
        attack = best_attack(Draw(epsilon=epsilon, delta=draw.delta), prior, family)
        row = {
            "epsilon": epsilon,
            "delta": attack.guarantee.budget.delta,
            "attacker right before [%]": round(100 * attack.before, 2),
            "attacker right after [%]": round(100 * attack.after, 2),
        }
        if attack.noise is not None:
            row["privacy noise, sd, in moves of one person"] = round(attack.noise, 4)
        rows.append(row)
    return pd.DataFrame(rows)


TELLING = 0.01  # share of the people whom a release speaks most against
_OFTEN = 0.1
CLOSE = 1.25  # times the error without privacy: what a recommendation asks for
_TICKS = (0.1, 0.3, 1, 3, 10, 30, 100)
_HEIGHT = 310


@dataclass(frozen=True)
class Moved:
    """What a release can do to one belief.

    Attributes:
        prior: belief beforehand.
        limit: beliefs at a likelihood ratio of exp(epsilon) either way.
        telling: mean belief over the share ``TELLING`` of releases that speak most against a person, and most for.
        beyond: chance that the likelihood ratio passes a limit; None if no kind of noise is assumed.
    """

    prior: float
    limit: Beliefs
    telling: Beliefs
    beyond: float | None


def moved(draw: Draw, prior: float, family: Family) -> Moved:
    """For one release of this family at this budget."""
    mu = 1 / noise_multiplier(draw.epsilon, draw.delta)
    curves: dict[Family, Tradeoff] = {
        "gaussian": partial(gaussian_tradeoff, mu=mu),
        "laplace": partial(laplace_tradeoff, epsilon=draw.epsilon),
        "any": partial(budget_tradeoff, epsilon=draw.epsilon, delta=draw.delta),
    }
    beyond = {"gaussian": chance_beyond(draw.epsilon, mu), "laplace": 0.0, "any": None}[family]
    return Moved(prior, pure_beliefs(prior, draw.epsilon), telling_beliefs(prior, TELLING, curves[family]), beyond)


@dataclass(frozen=True, eq=False)
class Cost:
    """Errors of a method in what is shown (``scale``): over ``CURVE_EPSILONS``, and without privacy."""

    errors: FloatArray
    nonprivate: float
    scale: Scale

    def at(self, epsilon: float) -> float:
        """The error at an epsilon of the curve."""
        return float(self.errors[CURVE_EPSILONS.index(epsilon)])

    def least(self) -> float | None:
        """The least epsilon of the curve whose error is at most ``CLOSE`` times the one without privacy."""
        near = np.flatnonzero(self.errors <= CLOSE * self.nonprivate)
        return CURVE_EPSILONS[near[0]] if len(near) else None

    def shown(self, value: float) -> str:
        """With its unit."""
        return f"{text.number(value)} {self.scale.short}"


def most_after(belief: Moved) -> str:
    """The largest belief afterwards in hundredths, rounded up: page and brief say the same."""
    return text.at_most(100 * belief.limit.high, 2)


def sentence(draw: Draw, belief: Moved) -> str:
    """What somebody may believe afterwards, in hundredths."""
    before, after = text.number(100 * belief.prior), most_after(belief)
    return (
        f"At epsilon = {draw.epsilon:g}, whoever thought a fact **{before} %** likely will think it at most "
        f"**{after} %** likely. {_but(belief)}"
    )


def _but(belief: Moved) -> str:
    """How often that fails."""
    if belief.beyond is None:
        return "But delta leaves room for cases of which nothing is promised."
    if belief.beyond == 0:
        return "That holds in all releases."
    if belief.beyond > _OFTEN:
        return f"That holds in all but {text.at_most(100 * belief.beyond, 2)} of 100 releases."
    return f"That holds in all but 1 of {text.at_least(1 / belief.beyond, 2)} releases."


def limits(person: Moved) -> str:
    """The two limits of a belief, and how often they are passed."""
    before = text.percent(person.prior)
    most, least = most_after(person), text.at_least(100 * person.limit.low, 2)
    said = f"a chance of {before} cannot become more than {most} % or less than {least} %"
    if person.beyond is None:
        return f"{said}, but for delta, of which nothing is promised"
    if person.beyond == 0:
        return f"{said}, ever"
    return f"{said}, but in {text.at_most(100 * person.beyond, 2)} of 100 cases"


def frequencies(belief: Moved) -> str:
    """The same in people."""
    people = 10_000
    accused, before = round(TELLING * people), round(TELLING * people * belief.prior, 2)
    after = TELLING * people * belief.telling.high
    return (
        f"Take {people:,} people, and a fact that is true of {people * belief.prior:,.0f} of them. A release speaks "
        f"most strongly against {accused} of them. Of these it would be true of {before:g} by chance. With the release "
        f"it is true of at most **{text.number(after)}**."
    )


def recommended(cost: Cost) -> str:
    """The recommendation in a few words."""
    least = cost.least()
    return "No epsilon up to 100 can be recommended" if least is None else f"Recommended: epsilon = {least:g}"


def recommendation(cost: Cost) -> str:
    """With its reason."""
    near = "an error at most 25 % above the error without privacy"
    reason = f"None has {near}." if cost.least() is None else f"It is the smallest with {near}."
    return f"**{recommended(cost)}.** {reason}"


def price(draw: Draw, cost: Cost, method: str, gained: str) -> str:
    """The error of a method at the budget that is asked about beside the one without privacy; ``gained`` it is of."""
    now, plain = cost.shown(cost.at(draw.epsilon)), cost.shown(cost.nonprivate)
    return f"{method} then publishes {gained} with an error of **{now}**. Without privacy it is {plain}."


def lead(draw: Draw, belief: Moved, cost: Cost, method: str, gained: str) -> str:
    """All that the page answers, the recommendation first, as the largest thing on it."""
    reason = recommendation(cost).partition("** ")[2]
    return (
        f'<span class="recommended">{recommended(cost)}</span>\n\n{reason} {sentence(draw, belief)} '
        f"{price(draw, cost, method, gained)}"
    )


def along(delta: float, prior: float, family: Family) -> tuple[Moved, ...]:
    """The same at every epsilon of ``CURVE_EPSILONS``."""
    return tuple(moved(Draw(epsilon=each, delta=delta), prior, family) for each in CURVE_EPSILONS)


def beliefs_figure(beliefs: tuple[Moved, ...], epsilon: float) -> go.Figure:
    """Belief afterwards against epsilon, of ``along``: the limits, and after the most telling releases."""
    x = np.array(CURVE_EPSILONS)
    figure = go.Figure()
    low = [100 * each.limit.low for each in beliefs]
    figure.add_scatter(x=x, y=low, line={"color": GUARANTEE}, name="at least", mode="lines")
    figure.add_scatter(
        x=x,
        y=[100 * each.limit.high for each in beliefs],
        line={"color": GUARANTEE},
        fill="tonexty",
        fillcolor=faded(GUARANTEE, 0.15),
        name="at most",
        mode="lines",
    )
    figure.add_scatter(
        x=x,
        y=[100 * each.telling.high for each in beliefs],
        line={"color": RISK, "dash": "dash"},
        name="after the most telling 1 in 100",
        mode="lines",
    )
    figure.add_scatter(
        x=x, y=[100 * each.prior for each in beliefs], line={"color": TRUTH, "dash": "dot"}, name="before", mode="lines"
    )
    figure.update_yaxes(title="chance afterwards [%]", type="log", range=[-2, 2], dtick=1)
    last = beliefs[-1]
    values = (
        (last.limit.high, "at most", GUARANTEE),
        (last.limit.low, "at least", GUARANTEE),
        (last.telling.high, "most telling 1 in 100", RISK),
        (last.prior, "before", TRUTH),
    )
    ends = [End((math.log10(max(100 * value, 1e-9)) + 2) / 4, name, colour) for value, name, colour in values]
    return named(_against_epsilon(figure, epsilon), ends)


def errors_figure(cost: Cost, epsilon: float) -> go.Figure:
    """Error against epsilon, with the one without privacy."""
    x, top = np.array(CURVE_EPSILONS), 4 * cost.nonprivate
    figure = go.Figure()
    figure.add_scatter(x=x, y=cost.errors, line={"color": PRIVATE, "width": 2.5}, name="published", mode="lines")
    figure.add_scatter(
        x=x, y=[cost.nonprivate] * len(x), line={"color": NON_PRIVATE, "width": 2}, name="without privacy", mode="lines"
    )
    figure.add_scatter(
        x=[epsilon],
        y=[min(cost.at(epsilon), top)],
        mode="markers",
        marker={"color": PRIVATE, "size": 12},
        showlegend=False,
    )
    figure.update_traces(meta=NOT_PRIVATE)
    figure.update_yaxes(title=f"error [{cost.scale.unit}]", range=[0, top])
    ends = [End(0.25, "without privacy", NON_PRIVATE), End(float(cost.errors[-1]) / top, "published", PRIVATE)]
    return named(_against_epsilon(figure, epsilon), ends)


def _against_epsilon(figure: go.Figure, epsilon: float) -> go.Figure:
    figure.add_vline(x=epsilon, line={"color": GUARANTEE, "width": 1.5, "dash": "dot"})
    figure.update_xaxes(title="epsilon (more private to the left)", range=[-1, 2], **ticked(_TICKS))
    return finish(figure, _HEIGHT)


FAMILY: Menu[Family] = menu(
    "Kind of privacy noise",
    "family",
    {
        "gaussian": "Gaussian: cloaking, GP prior, sparse DP-GP",
        "laplace": "Laplace: binning (δ = 0)",
        "any": "Any: nothing known but (ε, δ)",
    },
    place="What is released",
)
MECHANISM: Menu[str] = menu(  # those whose promise holds at any epsilon, the recommended one first
    "Method",
    "decide_by",
    {name: entry.title for name, entry in CONTENDERS.items() if name != "published" and not entry.on_request},
    place="What is released",
)
_PRIOR = Slider(
    "prior",
    "Chance beforehand [in 100]",
    1,
    (1, 5, 10, 25, 50, 75, 90),
    help="How likely somebody thinks the fact is, before seeing the release.",
)
_LOSSES = {"gaussian": GaussianLoss, "laplace": PureLoss, "any": object}


def _fitting(chosen: Any) -> Menu[str]:
    """The methods whose noise is of the kind that is chosen."""
    contest = _contest(chosen.dataset, chosen.delta)
    promises = {name: contender(contest, name, 1.0).guarantee.loss for name in MECHANISM.titles}
    return MECHANISM.among([name for name, loss in promises.items() if isinstance(loss, _LOSSES[chosen.family])])


def _contest(dataset: str, delta: float) -> Contest:
    return Contest(usual(dataset), float(delta), BINS, INDUCING)


@dataclass(frozen=True, kw_only=True)
class Decision(Promise):
    """What is decided: budget, the belief asked about, kind of noise; and the release whose error is shown."""

    percent: int = carried(_PRIOR)
    dataset: str = carried(DATASET, beside=delta_fits)
    family: Family = carried(FAMILY)
    mechanism: str = carried(_fitting)
    overlay: bool = carried(offers.OVERLAY)

    @property
    def prior(self) -> float:
        """The belief asked about, in (0, 1)."""
        return self.percent / 100

    @property
    def contest(self) -> Contest:
        """What is released, as Compare opens with it."""
        return _contest(self.dataset, self.delta)


SHARES = (10, 20, 30, 40, 50, 60, 70, 80, 90)
_SPLIT = Slider("split", "Two releases: share of the first [%]", 50, SHARES, place=HERE, width=320)


def halves(draw: Draw, share: float) -> tuple[float, float]:
    """Epsilon of both releases at the same delta, the first with this share of mu^2, which adds up.

    Gaussian noise of multiplier s has mu = 1 / s, and two such releases together have mu^2 = mu_1^2 + mu_2^2.

    Args:
        draw: the budget of both together.
        share: of the first, in (0, 1).
    """
    mu = 1 / noise_multiplier(draw.epsilon, draw.delta)
    first, second = (epsilon_of(1 / (mu * math.sqrt(each)), draw.delta) for each in (share, 1 - share))
    return first, second


def split_sentence(draw: Draw, share: float) -> str:
    """What each may spend, and what dividing epsilon would give away."""
    first, second = (text.at_least(each) for each in halves(draw, share))
    plain = text.number(draw.epsilon * share), text.number(draw.epsilon * (1 - share))
    return (
        f"Two releases that together spend ε = {draw.epsilon:g} at δ = {text.small(draw.delta)}: the first may have "
        f"**ε = {first}**, the second **ε = {second}**, each at the same δ. Dividing ε would leave them {plain[0]} and "
        f"{plain[1]} only: Gaussian noise adds up in squares."
    )


def show(draw: Draw) -> None:
    """A slider for the share, and the two budgets."""
    share = settings.stand(_SPLIT)
    st.markdown(split_sentence(draw, float(share) / 100))
