"""What a budget lets somebody learn about one person, and its cost: controls, figures and sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.accounting.losses import GaussianLoss, PureLoss
from dpgp_core.accounting.tradeoff import (
    Beliefs,
    chance_beyond,
    mean_beliefs,
    pure_beliefs,
)
from dpgp_core.arrays import FloatArray
from pages._ui import session
from pages._ui.compare.compute import BINS, INDUCING
from pages._ui.compare.contenders import CONTENDERS, CURVE_EPSILONS, Contest, Scale, contender
from pages._ui.compare.view import DATASET
from pages._ui.look import offers, text
from pages._ui.look.controls import Menu, Slider, menu
from pages._ui.look.plots import (
    GUARANTEE,
    NON_PRIVATE,
    PRIVATE,
    RISK,
    TRUTH,
    End,
    draw_line,
    faded,
    finish,
    named,
    named_lines,
    ticked,
    upright_line,
)
from pages._ui.look.settings import control
from pages._ui.look.sidebar import Promise, delta_fits
from pages._ui.look.tables import NOT_PRIVATE
from pages._ui.model import Draw, usual
from pages._ui.start.promise import Family, tradeoff

LESSONS = (
    ("With ε = 0.1 an attacker learns almost nothing.", {"epsilon": 0.1}),
    ("Many deployments use about ε = 10.", {"epsilon": 10}),
    ("Laplace noise at the same ε gives away more, and promises more: δ is 0.", {"family": "laplace"}),
    ("How much does ε = 1 give away of a fact that is true of 1 % of people?", {"prior": 1}),
)


TELLING = 0.01  # share of the most revealing releases
_REVEALING = "average of the 1 % most revealing releases"
_SHORT = {_REVEALING: "1 % most revealing"}
_OFTEN = 0.1
CLOSE = 1.25  # largest ratio of a recommendation's error to that without privacy
TICKS = (0.1, 0.3, 1, 3, 10, 30, 100)
_HEIGHT = 310
DOTS = 20  # of a picture of dots, at most
_DOTS_HEIGHT, _LEAST_ROWS = 150, 6  # px, and dots that fit above each other
_COLUMNS = 45  # places along an axis where dots are piled
_LEAST = 0.01  # per cent: smaller beliefs are drawn there


@dataclass(frozen=True)
class Moved:
    """Change of a belief by a release.

    Attributes:
        prior: belief before the release.
        limit: beliefs afterwards for likelihood ratios of exp(-epsilon) and exp(epsilon).
        telling: mean belief afterwards over the share ``TELLING`` of releases with the strongest evidence against, and
            for.
        beyond: probability that the likelihood ratio exceeds a limit; None if no kind of noise is assumed.
    """

    prior: float
    limit: Beliefs
    telling: Beliefs
    beyond: float | None


def moved(draw: Draw, prior: float, family: Family) -> Moved:
    """Return the change of a belief by one release with this kind of noise at this budget."""
    beyond = {
        "gaussian": chance_beyond(draw.epsilon, 1 / noise_multiplier(draw.epsilon, draw.delta)),
        "laplace": 0.0,
        "any": None,
    }
    telling = mean_beliefs(prior, TELLING, tradeoff(draw, family))
    return Moved(prior, pure_beliefs(prior, draw.epsilon), telling, beyond[family])


@dataclass(frozen=True, eq=False)
class Cost:
    """Errors of a method on one scale: over ``CURVE_EPSILONS``, and without privacy.

    Attributes:
        errors: expected (E,).
        nonprivate: when nothing is hidden.
        scale: of all of them.
        simulated: of each simulated release (E, D).
        interpolated: values of epsilon whose errors are interpolated from releases at another delta.
    """

    errors: FloatArray
    nonprivate: float
    scale: Scale
    simulated: FloatArray
    interpolated: tuple[float, ...] = ()

    def at(self, epsilon: float) -> float:
        """Return the error at an epsilon of the curve."""
        return float(self.errors[CURVE_EPSILONS.index(epsilon)])

    def least(self) -> float | None:
        """Return the smallest epsilon of the curve whose error is at most ``CLOSE`` times the one without privacy."""
        near = np.flatnonzero(self.errors <= CLOSE * self.nonprivate)
        return CURVE_EPSILONS[near[0]] if len(near) else None

    def with_unit(self, value: float) -> str:
        """Return an error with its unit."""
        return f"{self.scale.written(value)} {self.scale.short}"


def most_after(belief: Moved) -> str:
    """Return the largest belief afterwards in per cent, rounded up, the same on page and brief."""
    return text.at_most(100 * belief.limit.high, 2)


def sentence(draw: Draw, belief: Moved) -> str:
    """Return a sentence about the most that somebody may believe afterwards, in per cent."""
    before, after = text.number(100 * belief.prior), most_after(belief)
    return (
        f"At ε = {draw.epsilon:g}, someone who thought a fact **{before} %** likely can come to think it "
        f"**{after} %** likely, no more{_except(belief)}."
    )


def _except(belief: Moved) -> str:
    """Return how often this limit is exceeded."""
    if belief.beyond is None:
        return ", except in cases of a probability of about δ, for which nothing is promised"
    if belief.beyond == 0:
        return ", in any release"
    if belief.beyond > _OFTEN:
        return f", except in {text.at_most(100 * belief.beyond, 2)} of 100 releases"
    return f", except in 1 release of {text.at_least(1 / belief.beyond, 2)}"


def limits(person: Moved) -> str:
    """Return the two limits of a belief, and how often they are exceeded."""
    before = text.percent(person.prior)
    most, least = most_after(person), text.at_least(100 * person.limit.low, 2)
    return f"a chance of {before} cannot become more than {most} % or less than {least} %{_except(person)}"


def frequencies(belief: Moved) -> str:
    """Return the same in numbers of people."""
    people = 10_000
    accused, before = round(TELLING * people), round(TELLING * people * belief.prior, 2)
    after = TELLING * people * belief.telling.high
    return (
        f"Take {people:,} people, and a fact that is true of {people * belief.prior:,.0f} of them. A release speaks "
        f"most strongly against {accused} of them. Of these it would be true of {before:g} by chance. With the release "
        f"it is true of at most **{text.at_most(after, 2)}**."
    )


def recommended(cost: Cost) -> str:
    """Return the recommendation with its error, in a few words."""
    least = cost.least()
    if least is None:
        return "No ε up to 100 can be recommended."
    return f"Recommended: ε = {least:g} (error {cost.with_unit(cost.at(least))})."


def yours(chosen: Decision, cost: Cost) -> str:
    """Return the present setting with its error."""
    if chosen.epsilon == cost.least():
        return "You have set it."
    return f"You have set ε = {chosen.epsilon:g} (error {cost.with_unit(cost.at(chosen.epsilon))})."


def reason(cost: Cost) -> str:
    """Return the reason for the recommendation."""
    near = f"adds no more than a quarter to the error without privacy, {cost.with_unit(cost.nonprivate)}"
    return f"None of them {near}." if cost.least() is None else f"This is the smallest ε that {near}."


def disclosed(chosen: Decision, cost: Cost) -> str:
    """Return what an attacker may come to believe at the present epsilon, and at the recommended one."""
    said, least = sentence(chosen.draw, chosen.belief), cost.least()
    if least is None or least == chosen.epsilon:
        return said
    after = most_after(moved(replace(chosen.draw, epsilon=least), chosen.prior, chosen.family))
    return f"{said} At the recommended ε = {least:g} it is **{after} %**."


def price(chosen: Decision, cost: Cost, gained: str) -> str:
    """Return a sentence about the error of a method at a budget; ``gained`` is what it predicts."""
    method = MECHANISM.titles[chosen.mechanism].removesuffix(" (ours)")
    error = cost.with_unit(cost.at(chosen.epsilon))
    return f"What {method} publishes predicts {gained} with a typical error of **{error}**."


def headline(chosen: Decision, cost: Cost, gained: str) -> str:
    """Return the headline, which begins with the recommendation as its largest part."""
    return (
        f'<span class="recommended">{recommended(cost)}</span>\n\n{reason(cost)} **{yours(chosen, cost)}** '
        f"{price(chosen, cost, gained)} {disclosed(chosen, cost)}"
    )


def adopt(cost: Cost, epsilon: float) -> None:
    """Draw a button that sets epsilon to the recommended value, unless it is set."""
    least = cost.least()
    if least is not None and least != epsilon:
        values = {"epsilon": offers.whole([least])[0]}
        st.button(f"Set ε = {least:g}", on_click=session.move, args=(values,), icon=":material/check:")


def along(delta: float, prior: float, family: Family) -> tuple[Moved, ...]:
    """Return the change of a belief at every epsilon of ``CURVE_EPSILONS``."""
    return tuple(moved(Draw(epsilon=each, delta=delta), prior, family) for each in CURVE_EPSILONS)


def beliefs_figure(beliefs: tuple[Moved, ...], epsilon: float) -> go.Figure:
    """Draw beliefs afterwards (from ``along``) against epsilon: the limits, and after the most revealing releases."""
    x, figure = np.array(CURVE_EPSILONS), go.Figure()
    draw_line(figure, x, [100 * each.limit.low for each in beliefs], "at least", GUARANTEE)
    most = [100 * each.limit.high for each in beliefs]
    draw_line(figure, x, most, "at most", GUARANTEE, fill="tonexty", fillcolor=faded(GUARANTEE, 0.15))
    draw_line(figure, x, [100 * each.telling.high for each in beliefs], _REVEALING, RISK, "dash")
    draw_line(figure, x, [100 * each.prior for each in beliefs], "before", TRUTH, "dot")
    figure.update_yaxes(title="chance afterwards [%]", type="log", range=[-2, 2], dtick=1)
    ends = [
        End((math.log10(max(line.y[-1], 1e-9)) + 2) / 4, _SHORT.get(line.name, line.name), line.line.color)
        for line in figure.data
    ]
    return named(_against_epsilon(figure, epsilon), ends)


def errors_figure(cost: Cost, epsilon: float) -> go.Figure:
    """Draw error against epsilon, with the one without privacy."""
    x, top = np.array(CURVE_EPSILONS), 4 * cost.nonprivate
    figure = go.Figure()
    draw_line(figure, x, cost.errors, "published", PRIVATE, width=2.5)
    draw_line(figure, x, [cost.nonprivate] * len(x), "without privacy", NON_PRIVATE)
    figure.add_scatter(
        x=[epsilon],
        y=[min(cost.at(epsilon), top)],
        mode="markers",
        marker={"color": PRIVATE, "size": 12},
        showlegend=False,
    )
    figure.update_traces(meta=NOT_PRIVATE)
    figure.update_yaxes(title=f"error [{cost.scale.unit}]", range=[0, top])
    return named_lines(_against_epsilon(figure, epsilon))


def after_each(draw: Draw, prior: float, family: Family) -> FloatArray:
    """Return the mean belief after each twentieth of all releases (``DOTS``,), the strongest evidence against first.

    These are the beliefs in the worst case that the trade-off allows. Their mean is the belief beforehand.
    """
    shares, noise = np.arange(1, DOTS) / DOTS, tradeoff(draw, family)
    true = [share * mean_beliefs(prior, float(share), noise).high for share in shares]  # the most revealing first
    return np.asarray(np.diff([0.0, *true, prior])[::-1] * DOTS)


def belief_dots(beliefs: FloatArray, prior: float) -> go.Figure:
    """Draw the beliefs of ``after_each`` as dots, with the belief beforehand."""
    figure = go.Figure()
    rows = _dots(figure, np.maximum(100 * beliefs, _LEAST), "1 in 20 releases", RISK, log=True)
    upright_line(figure, 100 * prior, {"color": TRUTH, "width": 2, "dash": "dot"})
    figure.update_xaxes(title="chance afterwards [%]", range=[math.log10(_LEAST), 2], **ticked((0.01, 0.1, 1, 10, 100)))
    return _finish_dots(figure, rows)


def error_dots(cost: Cost, epsilon: float) -> go.Figure:
    """Draw the errors of at most ``DOTS`` simulated releases at an epsilon as dots, and the error without privacy."""
    errors = cost.simulated[CURVE_EPSILONS.index(epsilon)]
    if len(errors) > DOTS:
        errors = np.quantile(errors, (np.arange(DOTS) + 0.5) / DOTS)
    figure, top = go.Figure(), max(4 * cost.nonprivate, float(errors.max()))  # as the errors against epsilon, or wider
    rows = _dots(figure, errors, "simulated release", PRIVATE, top=top)
    upright_line(figure, cost.nonprivate, {"color": NON_PRIVATE, "width": 2})
    figure.update_traces(meta=NOT_PRIVATE)
    figure.update_xaxes(title=f"error [{cost.scale.unit}]", range=[0, 1.02 * top])
    return _finish_dots(figure, rows)


def _dots(figure: go.Figure, values: FloatArray, name: str, colour: str, *, log: bool = False, top: float = 1.0) -> int:
    """Draw values as dots, piled where closer than a dot's width; return the height of the highest pile."""
    along = (np.log10(values) - math.log10(_LEAST)) / (2 - math.log10(_LEAST)) if log else values / top
    columns = np.round(np.clip(along, 0, 1) * _COLUMNS).astype(int)
    heights = [int((columns[:at] == column).sum()) + 1 for at, column in enumerate(columns)]
    marker = {"color": colour, "size": 9}
    figure.add_scatter(x=values, y=heights, name=name, mode="markers", marker=marker, showlegend=False)
    return max(heights)


def _finish_dots(figure: go.Figure, rows: int) -> go.Figure:
    figure.update_yaxes(visible=False, range=[0, max(rows, _LEAST_ROWS) + 1])
    return finish(figure, _DOTS_HEIGHT).update_layout(margin={"t": 10})


def _against_epsilon(figure: go.Figure, epsilon: float) -> go.Figure:
    upright_line(figure, epsilon, {"color": GUARANTEE, "width": 1.5, "dash": "dot"})
    figure.update_xaxes(title="epsilon (more private to the left)", range=[-1, 2], **ticked(TICKS))
    return finish(figure, _HEIGHT)


FAMILY: Menu[Family] = menu(
    "Kind of privacy noise",
    "family",
    {
        "gaussian": "Gaussian: cloaking, GP prior, sparse DP-GP",
        "laplace": "Laplace: binning (δ = 0)",
        "any": "Any: nothing known but (ε, δ)",
    },
    section="What is released",
)
MECHANISM: Menu[str] = menu(  # those whose guarantee holds at any epsilon, the recommended one first
    "Method",
    "decide_by",
    {name: entry.title for name, entry in CONTENDERS.items() if name not in ("published", "bayes_cells")},
    section="What is released",
)
_PRIOR = Slider(
    "prior",
    "What the attacker believed before (%)",
    1,
    (1, 5, 10, 25, 50, 75, 90),
    help="How likely somebody thinks the fact is, before seeing the release.",
)
_LOSSES = {"gaussian": GaussianLoss, "laplace": PureLoss, "any": object}


def _fitting(chosen: Any) -> Menu[str]:
    """Return the methods with the chosen kind of noise."""
    contest = _contest(chosen.dataset, chosen.delta)
    promises = {name: contender(contest, name, 1.0).guarantee.loss for name in MECHANISM.titles}
    return MECHANISM.among([name for name, loss in promises.items() if isinstance(loss, _LOSSES[chosen.family])])


def _contest(dataset: str, delta: float) -> Contest:
    return Contest(usual(dataset), float(delta), BINS, INDUCING)


@dataclass(frozen=True, kw_only=True)
class Decision(Promise):
    """The decision: budget, the belief in question, kind of noise; and the release of which the error is shown."""

    percent: int = control(_PRIOR)
    dataset: str = control(DATASET, below=delta_fits)
    family: Family = control(FAMILY)
    mechanism: str = control(_fitting)
    overlay: bool = control(offers.OVERLAY)

    @property
    def prior(self) -> float:
        """Belief before the release, in (0, 1)."""
        return self.percent / 100

    @cached_property
    def belief(self) -> Moved:
        """Return the belief in question, and how a release changes it."""
        return moved(self.draw, self.prior, self.family)

    @property
    def contest(self) -> Contest:
        """Settings of the release, as Compare opens with them."""
        return _contest(self.dataset, self.delta)
