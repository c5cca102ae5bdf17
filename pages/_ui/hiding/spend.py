"""Step in which a visitor spends the budget: measurements at chosen ages of !Kung."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.arrays import FloatArray
from dpgp_core.evaluation.by_hand import local_sums, simulate_data_set
from dpgp_core.evaluation.limits import limits, risk_model
from dpgp_core.gp.regression import posterior_of_sums
from dpgp_core.kernels import EQ
from dpgp_core.strategies.bayes import optimal_strategy
from dpgp_core.table import Dataset
from pages._ui import session
from pages._ui.hiding import steps
from pages._ui.look import layout, pictures, text
from pages._ui.look.controls import HERE, Slider, Words
from pages._ui.look.plots import (
    GUARANTEE,
    HEIGHT,
    PRIVATE,
    TRUTH,
    axis,
    band,
    draw_line,
    faded,
    finish,
    fit_axis,
    named_lines,
)
from pages._ui.look.text import Metric
from pages._ui.model import Draw
from pages._ui.work import cached

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

# Lengthscale in years; noise as a share of the prior variance, for the one model of the simulated data
DATASET, LENGTHSCALE, NOISE = "kung", 25.0, 0.3
MOST = 20
_POINTS, GAP = 121, 1e-2


@dataclass(frozen=True)
class Spending:
    """Places of the measurements [years], widths of the sums [years], budget, and number of the simulated data set."""

    positions: tuple[float, ...]
    width: float
    epsilon: float
    delta: float
    seed: int = 1


@dataclass(frozen=True, eq=False)
class Spent:
    """Predictions and errors, in the output's unit. They are public, because the data are simulated.

    Attributes:
        x: grid (P,).
        truth: true curve of the simulated data set (P,).
        by_hand, best: predictions (P,) from the sums placed by hand, and from those of the best plan.
        deviation: standard deviation of the prediction by hand (P,).
        errors: expected errors of both where people are, by hand first.
        rank: how many sums the best plan measures.
        limit: lower limit of the expected error for every mechanism.
        without: expected error without privacy.
    """

    x: FloatArray
    truth: FloatArray
    by_hand: FloatArray
    best: FloatArray
    deviation: FloatArray
    errors: tuple[float, float]
    rank: int
    limit: float
    without: float


def spend(data: Dataset, spending: Spending) -> Spent:
    """Measure one simulated data set twice: by hand, and by the best plan."""
    kernel, scale = EQ(lengthscale=LENGTHSCALE), data.y_scale
    grid = np.linspace(*data.x_box[0], _POINTS)[:, None]
    span, mu = data.output_range / scale, 1 / noise_multiplier(spending.epsilon, spending.delta)
    t = (span / mu) ** 2
    hand = local_sums(data.X, np.array(spending.positions).reshape(-1, 1), spending.width)
    plan = optimal_strategy([risk_model(kernel, NOISE, data.X, data.X)], t, gap=GAP)
    y, f = simulate_data_set(kernel, NOISE, data.X, grid, np.random.default_rng(spending.seed))
    y = np.clip(y, -span / 2, span / 2)
    means, deviations, errors = [], [], []
    for at, B in enumerate((hand, plan.B)):
        on_grid, at_people = (posterior_of_sums(kernel, data.X, X, NOISE, B, t) for X in (grid, data.X))
        z = B @ y + t**0.5 * np.random.default_rng([spending.seed, at]).standard_normal(len(B))
        means.append(data.in_data_units(on_grid.gain @ z))
        deviations.append(scale * on_grid.deviation)
        errors.append(scale * at_people.error)
    bound = limits(kernel, NOISE, data.X, data.X, mu=mu, output_range=span, gap=GAP)
    return Spent(
        x=grid[:, 0],
        truth=data.midpoint + scale * f,
        by_hand=means[0],
        best=means[1],
        deviation=deviations[0],
        errors=(errors[0], errors[1]),
        rank=plan.rank,
        limit=scale * bound.any,
        without=scale * bound.without_privacy,
    )


def read_positions(written: str, low: float, high: float) -> tuple[tuple[float, ...], str]:
    """Return the positions in a text, and a sentence about what is wrong with the rest ("" if nothing is)."""
    kept: list[float] = []
    for word in written.replace(",", " ").split():
        try:
            x = float(word)
        except ValueError:
            x = np.nan
        if not low <= x <= high:
            return tuple(kept), f"write ages from {low:g} to {high:g}, with commas between them, as in 10, 30, 60"
        kept.append(x)
    if len(kept) > MOST:
        return tuple(kept[:MOST]), f"at most {MOST} places are used; take some away"
    return tuple(kept), ""


def toggled(positions: tuple[float, ...], at: float) -> str:
    """Return the text after a click on a position, which adds or removes it."""
    left = [x for x in positions if x != at] if at in positions else [*positions, at]
    return ", ".join(f"{x:g}" for x in sorted(left)[:MOST])


CHART = "by_hand"
WIDTHS = (2, 3, 5, 7, 10, 15, 20, 30)
_WIDTH = Slider(
    "measured_width",
    "Width of each sum [years]",
    7,
    WIDTHS,
    help="How far from its age people are counted in a sum.",
    section=HERE,
)
_KEY, _FIRST = "measured_at", "5, 15, 40"
_APART = 2.5  # years between positions that can be clicked
_ALT = "Each diamond is a sum of the heights of people near that age, with privacy noise."
_CLICK = "Click a cross to measure there, a diamond to remove it."


def show(draw: Draw, top: DeltaGenerator) -> None:
    """Let a visitor place sums; draw the prediction, the best plan and the proven limit."""
    data = cached.dataset(DATASET)
    container = st.container()
    positions, width = _chosen(data)
    spending = Spending(positions, width, draw.epsilon, draw.delta, draw.seed)
    spent = cached.value("Measuring by hand", spend, spending, given=(data,))
    with top:
        layout.headline(headline(spending, spent, data))
        layout.banners(f"drawn from a Gaussian process at the {data.x_names[0]}s of {data.n} people", overlay=False)
    with container:
        picture = cached.drawn(figure, spent, spending, data, of=spending)
        pictures.clickable(picture, CHART, _ALT, _CLICK, lambda: _take(positions))
    layout.metrics(metrics(spent, data), "spend")


def controls(data: Dataset) -> tuple[Words, Slider[int]]:
    """Return the controls for where to measure, and how wide each sum is."""
    label = f"Measure at these {data.x_names[0]}s [{data.x_units[0]}]"
    help_text = f"Up to {MOST}, with commas between them. They share one budget."
    return Words(_KEY, label, _FIRST, 200, help=help_text, section=HERE), _WIDTH


def _chosen(data: Dataset) -> tuple[tuple[float, ...], float]:
    written, width = steps.beside(*controls(data))
    positions, wrong = read_positions(written, *data.x_box[0])
    if wrong:
        st.warning(f"Not all of that is an age: {wrong}.")
    return positions, float(width)


def _take(positions: tuple[float, ...]) -> None:
    at = pictures.clicked(CHART)
    if at:
        session.move({_KEY: toggled(positions, float(at[0]))})


def headline(spending: Spending, spent: Spent, data: Dataset) -> str:
    """Return the headline: the error of the visitor's sums, compared with the best."""
    yours, best = (f"{text.number(error)} {data.y_unit}" for error in spent.errors)
    many = len(spending.positions)
    sums = f"your {many} sum{'s' if many > 1 else ''} leave" + ("s" if many == 1 else "")
    return (
        f"At epsilon = {spending.epsilon:g}, {sums if many else 'nothing measured leaves'} an error of **{yours}** "
        f"where people are. The best plan has **{best}**, with {spent.rank} sums at once. For data like these, no "
        f"method can have less than {text.number(spent.limit)} {data.y_unit}."
    )


def metrics(spent: Spent, data: Dataset) -> list[Metric]:
    """Return the errors by hand and of the best plan, the proven limit, and the error without privacy."""
    yours, best, limit, without = (
        f"{text.number(error)} {data.y_unit}" for error in (*spent.errors, spent.limit, spent.without)
    )
    return [
        Metric("Error, by hand", yours, "where people are"),
        Metric("Error, best plan", best, f"{spent.rank} sums, all at once"),
        Metric("Proven limit", limit, "of every method", "Stages come nearer to it than sums that are taken at once."),
        Metric("Error without privacy", without, "where people are"),
    ]


def figure(spent: Spent, spending: Spending, data: Dataset) -> go.Figure:
    """Draw the simulated data set, its predictions by hand and by the best plan, and the positions of the sums."""
    figure, reach = go.Figure(), steps.SURE * spent.deviation
    low, high = spent.by_hand - reach, spent.by_hand + reach
    band(figure, spent.x, low, high, PRIVATE, 0.22, "range for the curve, 95 %")
    for y, name, colour, dash in (
        (spent.truth, "true curve", TRUTH, "dot"),
        (spent.best, "best plan", GUARANTEE, "dash"),
        (spent.by_hand, "by hand", PRIVATE, "solid"),
    ):
        draw_line(figure, spent.x, y, name, colour, dash)
    fit_axis(figure, [low, high, spent.truth, spent.best], data.y_bounds)
    foot = figure.layout.yaxis.range[0]
    free = np.arange(data.x_box[0][0], data.x_box[0][1] + _APART / 2, _APART)
    for x, symbol, colour, size in (
        (free, "cross-thin-open", faded(TRUTH, 0.6), 9),
        (np.array(spending.positions), "diamond", PRIVATE, 13),
    ):
        figure.add_scatter(
            x=x,
            y=np.full(len(x), foot),
            mode="markers",
            customdata=x[:, None],
            showlegend=False,
            cliponaxis=False,
            name="measured here" if symbol == "diamond" else "click to measure",
            marker={"symbol": symbol, "color": colour, "size": size},
        )
    figure.update_xaxes(title=axis(data.x_names[0], data.x_units[0]), range=list(data.x_box[0]))
    figure.update_yaxes(title=axis(data.y_name, data.y_unit))
    return named_lines(finish(figure, HEIGHT - 40))
