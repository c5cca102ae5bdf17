"""What epsilon does to a belief about one person and to the error of a release: numbers and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpgp_core.accounting.belief import Beliefs, Tradeoff, chance_beyond, pure_beliefs, telling_beliefs
from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.accounting.tradeoff import budget_tradeoff, gaussian_tradeoff, laplace_tradeoff
from dpgp_core.arrays import FloatArray
from pages._ui.compare.contenders import CURVE_EPSILONS
from pages._ui.compare.words import Scale
from pages._ui.look import text
from pages._ui.look.palette import GUARANTEE, NON_PRIVATE, PRIVATE, RISK, TRUTH, faded
from pages._ui.look.plots import finish
from pages._ui.model import Draw
from pages._ui.start.meaning import Family

TELLING = 0.01  # share of the people whom a release speaks most against
CLOSE = 1.25  # times the error without privacy: what a recommendation asks for
_TICKS = (0.1, 0.3, 1, 3, 10, 30, 100)
_HEIGHT = 340


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
    """Held-out errors of a mechanism in what is shown (``scale``): over ``CURVE_EPSILONS``, and without privacy."""

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


def share(value: float) -> str:
    """A belief as a percentage."""
    return text.percent(value)


def limits(found: Moved) -> str:
    """The two limits of a belief, and how often they are passed."""
    said = f"a belief of {share(found.prior)} cannot move above {share(found.limit.high)} or below "
    said += share(found.limit.low)
    if found.beyond is None:
        return f"{said}, but for δ, of which nothing is promised"
    if found.beyond == 0:
        return f"{said}, ever"
    return f"{said}, but for a chance of {text.at_most(found.beyond, 2)} that δ leaves open"


def frequencies(found: Moved) -> str:
    """The same in people."""
    people = 10_000
    accused, before = round(TELLING * people), round(TELLING * people * found.prior, 2)
    after = TELLING * people * found.telling.high
    return (
        f"Of {people:,} people about whom an attacker is {share(found.prior)} sure, it is true of "
        f"{people * found.prior:,.0f}. Among the {accused} whom a release speaks most against it would be true of "
        f"{before:g} without the release, and is true of at most **{text.number(after)}** with it."
    )


def recommendation(draw: Draw, found: Moved, cost: Cost) -> str:
    """One sentence with its reasons."""
    least, now = cost.least(), cost.at(draw.epsilon)
    more = f"{_compared(now / cost.nonprivate)} without privacy ({cost.shown(cost.nonprivate)})"
    here = f"ε = {draw.epsilon:g} gives a held-out error of {cost.shown(now)}, {more}; {limits(found)}."
    if least is None:
        return f"**No ε up to 100 comes within a quarter of the error without privacy.** {here}"
    if least == draw.epsilon:
        return f"**Recommended: ε = {least:g}**, the least here within a quarter of the error without privacy. {here}"
    return (
        f"**Recommended: ε = {least:g}**, the least here within a quarter of the error without privacy, "
        f"{cost.shown(cost.at(least))}. {here}"
    )


def _compared(ratio: float) -> str:
    if ratio > text.TWICE:
        return f"{text.number(ratio)} times that"
    return f"{text.percent(abs(ratio - 1))} {'more' if ratio >= 1 else 'less'} than"


def along(delta: float, prior: float, family: Family) -> tuple[Moved, ...]:
    """The same at every epsilon of ``CURVE_EPSILONS``."""
    return tuple(moved(Draw(epsilon=each, delta=delta), prior, family) for each in CURVE_EPSILONS)


def beliefs_figure(found: tuple[Moved, ...], epsilon: float) -> go.Figure:
    """Belief afterwards against epsilon, of ``along``: the limits, and after the most telling releases."""
    x = np.array(CURVE_EPSILONS)
    figure = go.Figure()
    figure.add_scatter(
        x=x, y=[100 * each.limit.low for each in found], line={"color": GUARANTEE}, showlegend=False, mode="lines"
    )
    figure.add_scatter(
        x=x, y=[100 * each.limit.high for each in found], line={"color": GUARANTEE}, fill="tonexty",
        fillcolor=faded(GUARANTEE, 0.15), name="where ε keeps it", mode="lines",
    )  # fmt: skip
    figure.add_scatter(
        x=x, y=[100 * each.telling.high for each in found], line={"color": RISK, "dash": "dash"},
        name="after the most telling hundredth", mode="lines",
    )  # fmt: skip
    figure.add_scatter(
        x=x, y=[100 * each.prior for each in found], line={"color": TRUTH, "dash": "dot"}, name="before", mode="lines"
    )
    figure.update_yaxes(title="belief afterwards [%]", type="log", range=[-2, 2], dtick=1)
    return _against_epsilon(figure, epsilon)


def errors_figure(cost: Cost, epsilon: float) -> go.Figure:
    """Held-out error against epsilon, with the one without privacy."""
    x, top = np.array(CURVE_EPSILONS), 4 * cost.nonprivate
    figure = go.Figure()
    figure.add_scatter(x=x, y=cost.errors, line={"color": PRIVATE, "width": 2.5}, name="private release", mode="lines")
    figure.add_scatter(
        x=x, y=[cost.nonprivate] * len(x), line={"color": NON_PRIVATE, "width": 2}, name="without privacy", mode="lines"
    )
    figure.add_scatter(
        x=[epsilon], y=[min(cost.at(epsilon), top)], mode="markers", marker={"color": PRIVATE, "size": 12},
        showlegend=False,
    )  # fmt: skip
    figure.update_yaxes(title=f"held-out error [{cost.scale.unit}]", range=[0, top])
    return _against_epsilon(figure, epsilon)


def _against_epsilon(figure: go.Figure, epsilon: float) -> go.Figure:
    figure.add_vline(x=epsilon, line={"color": GUARANTEE, "width": 1.5, "dash": "dot"})
    figure.update_xaxes(
        type="log", range=[-1, 2], tickvals=_TICKS, ticktext=[f"{tick:g}" for tick in _TICKS],
        title="ε (more private to the left)",
    )  # fmt: skip
    return finish(figure, _HEIGHT)


def table(found: tuple[Moved, ...], cost: Cost | None) -> pd.DataFrame:
    """Beliefs of ``along`` and errors against epsilon."""
    columns: dict[str, object] = {
        "epsilon": CURVE_EPSILONS,
        "belief before [%]": [100 * each.prior for each in found],
        "lowest belief after [%]": [round(100 * each.limit.low, 4) for each in found],
        "highest belief after [%]": [round(100 * each.limit.high, 4) for each in found],
        "after the most telling hundredth [%]": [round(100 * each.telling.high, 4) for each in found],
    }
    if cost is not None:
        columns[f"held-out error [{cost.scale.unit}] (not private)"] = cost.errors.round(3)
    return pd.DataFrame(columns)
