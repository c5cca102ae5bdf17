"""The first two steps: one person of two groups moves two predictions, and noise covers this; then all people.

Source: Smith et al. 2018.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.arrays import FloatArray
from dpgp_core.gp.regression import cloaking_matrix
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms.gp_prior import exact_sensitivity
from dpgp_core.strategies.noise_design import design_noise
from pages._ui.cloaking import computed, directions, figures, words
from pages._ui.cloaking.results import Result
from pages._ui.hiding import person, steps
from pages._ui.look import layout, settings, text
from pages._ui.look.about import of_inputs, of_theory
from pages._ui.look.controls import HERE, Range
from pages._ui.look.plots import (
    NON_PRIVATE,
    OTHER,
    PRIVATE,
    REFINED,
    SPARSE,
    TRUTH,
    draw_line,
    finish,
    named_lines,
    upright_line,
)
from pages._ui.look.sidebar import ReleaseSettings
from pages._ui.look.text import Metric
from pages._ui.model import Draw
from pages._ui.work import cached

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

TEST_POINTS = np.array([[3.0], [7.0]])
OUTPUTS = np.array([2.5, -2.0])  # values of all people in each group
_GRID = np.linspace(0, 10, 101)[:, None]


@dataclass(frozen=True)
class TwoPointSettings:
    """Inputs of two groups, lengthscale, noise variance, largest change d, group of the person, and people in each
    group.

    With one person in each group, noise that hides a person also hides the curve; with ten it does not.
    """

    x1: float
    x2: float
    lengthscale: float
    noise: float
    d: float
    moved: int = 1
    people: int = 10


@dataclass(frozen=True, eq=False)
class TwoPoints:
    """Two groups of people at two places, and two test points.

    Attributes:
        settings: all settings that determine it.
        X: inputs of the groups (2, 1).
        C: cloaking matrix (2, 2); column j is the change of both predictions per unit change of one person of group j.
        grid_C: the same on a grid (101, 2), for drawing curves.
        prior: covariance of the GP-prior noise per unit multiplier (2, 2), for the largest change.
        cloaking: covariance of the cloaking noise (2, 2).
    """

    settings: TwoPointSettings
    X: FloatArray
    C: FloatArray
    grid_C: FloatArray
    prior: FloatArray
    cloaking: FloatArray


def build(settings: TwoPointSettings) -> TwoPoints:
    """Return the numbers of the picture. This takes microseconds, so nothing is cached."""
    kernel, X = EQ(lengthscale=settings.lengthscale), np.array([[settings.x1], [settings.x2]])
    noise, d, everybody = settings.noise, settings.d, np.repeat(X, settings.people, axis=0)
    C = cloaking_matrix(kernel, everybody, TEST_POINTS, noise)
    return TwoPoints(
        settings=settings,
        X=X,
        C=C[:, :: settings.people],
        grid_C=cloaking_matrix(kernel, everybody, _GRID, noise)[:, :: settings.people],
        prior=(d * exact_sensitivity(kernel, everybody, noise)) ** 2 * kernel(TEST_POINTS, TEST_POINTS),
        cloaking=d**2 * design_noise(C, "trace", gap=1e-8, rank_tolerance=1e-9).covariance(),
    )


def ellipse(covariance: FloatArray) -> FloatArray:
    """Return points z with z^T M^-1 z = 1, shape (2, 121): the moves that noise of covariance M just hides."""
    values, vectors = np.linalg.eigh(covariance)
    angle = np.linspace(0, 2 * np.pi, 121)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    return np.asarray(vectors @ (np.sqrt(np.maximum(values, 0))[:, None] * circle))


def noise_at(points: TwoPoints, draw: Draw) -> FloatArray:
    """Return the half-width (2,) of the interval that contains the cloaking noise of each prediction in 95 of 100
    releases.
    """
    sds = noise_multiplier(draw.epsilon, draw.delta) * np.sqrt(np.diag(points.cloaking))
    return np.asarray(steps.SURE * sds)


def curves_figure(points: TwoPoints, draw: Draw, covered: bool) -> go.Figure:
    """Draw the prediction before and after one person changes by d; ``covered``: with the noise of a budget to each
    side.
    """
    figure, before = go.Figure(), points.settings.people * OUTPUTS  # of each group together
    change = points.settings.d * np.eye(2)[points.settings.moved - 1]
    for sums, y, colour, dash, name in (
        (before, OUTPUTS, NON_PRIVATE, "solid", "before"),
        (before + change, OUTPUTS + change, OTHER, "dash", "after"),
    ):
        draw_line(figure, _GRID[:, 0], points.grid_C @ sums, name, colour, dash)
        figure.add_scatter(
            x=points.X[:, 0],
            y=y,
            mode="markers",
            name=f"people, {name}",
            showlegend=False,
            marker={"color": TRUTH, "symbol": "circle-open" if name == "before" else "circle", "size": 10},
        )
    for index, x in enumerate(TEST_POINTS[:, 0], 1):
        line, name = {"color": TRUTH, "width": 1, "dash": "dot"}, f"prediction {index}"
        upright_line(figure, x, line, name)
    if covered:
        figure.add_scatter(
            x=TEST_POINTS[:, 0],
            y=points.C @ before,
            mode="markers",
            name="published, with noise",
            showlegend=False,
            error_y={"array": noise_at(points, draw), "color": PRIVATE, "thickness": 3},
            marker={"color": PRIVATE, "size": 9},
        )
    figure.update_xaxes(title="input", range=[0, 10])
    figure.update_yaxes(title="output", range=[-4, 5])
    return named_lines(finish(figure, 400))


def plane_figure(points: TwoPoints, covered: bool) -> go.Figure:
    """Draw both predictions against each other: moves of +-d c_1, +-d c_2; ``covered``: with both noise ellipses."""
    figure = go.Figure()
    shapes = (
        (points.prior, TRUTH, "dot", "noise in all directions"),
        (points.cloaking, PRIVATE, "solid", "cloaking noise"),
    )
    for covariance, colour, dash, name in shapes if covered else ():
        x, y = ellipse(covariance)
        draw_line(figure, x, y, name, colour, dash)
    for index, colour in enumerate((REFINED, SPARSE)):  # not the colours of before and after
        move = points.settings.d * points.C[:, index]
        figure.add_scatter(
            x=[-move[0], move[0]],
            y=[-move[1], move[1]],
            mode="lines+markers",
            name=f"one person of group {index + 1} moves",
            line={"color": colour},
            marker={"size": 8},
        )
    reach = 1.15 * float(np.sqrt(np.diag(points.prior)).max())
    figure.update_xaxes(title="change of prediction 1", range=[-reach, reach])
    figure.update_yaxes(title="change of prediction 2", range=[-reach, reach], scaleanchor="x")
    return finish(figure, 400)


_LINES = "What one person of each group can do to both predictions: moves along one line."
_ONE_LINE = "One person moves both predictions along one line."
_ELLIPSES = "Cloaking noise just covers both lines. Noise in all directions hides no more."


def headline(points: TwoPoints) -> str:
    """Return the headline sentences."""
    share = float(np.trace(points.cloaking) / np.trace(points.prior))
    return (
        "One person moves these two predictions along one line only. Noise that covers just such lines has "
        f"**{text.percent(share)}** of the variance of noise in all directions."
    )


def show(step: str, chosen: ReleaseSettings, top: DeltaGenerator) -> None:
    """Draw both pictures of a step, the controls of the two groups, and the same for all people of a data set."""
    covered, draw, container = step == "covered", chosen.draw, st.container()
    with st.expander("Move the two groups", icon=":material/tune:"):
        points = build(_sliders())
    with top:
        layout.headline(headline(points))
    with container:
        _pictures(points, draw, covered)
        layout.metrics(_noises(points, draw) if covered else _moves(points, draw), "two")
        with st.expander("Table of the moves"):
            layout.table(points_table(points), "two_people")
    n = cached.dataset(chosen.model.dataset).n
    if settings.value_of(replace(steps.EVERYBODY, label=f"The same with {n} people")):
        result = computed.run(chosen.model, chosen.design, draw)
        if covered:
            _everybody(result)
        else:
            person.show(result, chosen.overlay)


def _moves(points: TwoPoints, draw: Draw) -> list[Metric]:
    """Return how far the person moves both predictions, and the noise that hides it."""
    moved, d = points.settings.moved, points.settings.d
    first, second = (text.number(abs(d * move)) for move in points.C[:, moved - 1])
    changing = f"changing by {d:g}"
    return [
        Metric(f"One of group {moved} moves prediction 1 by", first, changing),
        Metric("and prediction 2 by", second, changing),
        Metric("Noise of prediction 1", f"±\u00a0{text.number(noise_at(points, draw)[0])}", _at_budget(draw)),
    ]


def _noises(points: TwoPoints, draw: Draw) -> list[Metric]:
    """Return the size of the cloaking noise at a budget, and the variances of both noises."""
    first, second = (f"±\u00a0{text.number(within)}" for within in noise_at(points, draw))
    at_budget, both = _at_budget(draw), "of both predictions together"
    return [
        Metric("Noise of prediction 1", first, at_budget),
        Metric("Noise of prediction 2", second, at_budget),
        Metric("Variance of cloaking noise", text.number(points.cloaking.trace()), both),
        Metric("Variance of noise in all directions", text.number(points.prior.trace()), both),
    ]


def _at_budget(draw: Draw) -> str:
    return f"at ε = {draw.epsilon:g}, in 95 of 100 releases"


def points_table(points: TwoPoints) -> pd.DataFrame:
    """Return a row for each group: how far a change of one person in it moves each prediction."""
    moves = points.settings.d * points.C
    return pd.DataFrame(
        {
            "one person of group": [1, 2],
            "place": points.X[:, 0],
            "moves prediction 1 by": moves[0].round(4),
            "moves prediction 2 by": moves[1].round(4),
        }
    )


def _pictures(points: TwoPoints, draw: Draw, covered: bool) -> None:
    left, right = st.columns(2)
    moved, d = points.settings.moved, points.settings.d
    alt = f"One person of group {moved} changes by {d:g}. The curve moves from solid to dashed."
    if covered:
        alt += f" Orange bars: where each prediction is published, in 95 of 100 releases at ε = {draw.epsilon:g}."
    caption = (
        "Published, in 95 of 100 releases: orange bars." if covered else "One person's change moves the curve a little."
    )
    with left:
        picture = cached.drawn(curves_figure, points, draw, covered)
        steps.chart(picture, "two_curves", of_theory(alt, finding=headline(points)), caption=caption)
    with right:
        plane = cached.drawn(plane_figure, points, covered)
        alt, caption = (_ELLIPSES, "Cloaking noise just covers both lines.") if covered else (_LINES, _ONE_LINE)
        steps.chart(plane, "two_plane", of_theory(alt, finding=headline(points)), caption=caption)


def _everybody(result: Result) -> None:
    """Draw the noise for a data set: its shape, the records that determine it, and its certificate."""
    st.header(f"The same with {result.dataset.n} people")
    st.markdown(words.cloaking_answer(result))
    layout.metrics(words.certificate(result))
    left, right = st.columns(2)
    with left:
        st.subheader("C: who moves which prediction")
        _of_inputs(
            result, figures.cloaking_heat, "C", words.C_ALT, "A column is one person: how far each prediction moves."
        )
    with right:
        st.subheader("M: the privacy noise that hides them")
        _of_inputs(result, figures.noise_heat, "M", words.M_ALT, "Privacy noise at nearby points moves together.")
    directions.show_curves(result)
    st.subheader("λ: few people carry the noise")
    numbers = words.record_table(result)
    _of_inputs(result, figures.stems, "lambda", words.lambda_alt(result), words.LAMBDA_CAPTION, numbers)
    values, how = st.tabs(["Table", "How it is computed"])
    with values:
        name = result.model.dataset
        layout.table(numbers, f"{name}_lambda", "Inputs only: C, λ and M are public.")
    with how:
        layout.steps(words.explain(result))


def _of_inputs(
    result: Result,
    draw: Callable[[Result], go.Figure],
    key: str,
    alt: str,
    caption: str,
    numbers: pd.DataFrame | None = None,
) -> None:
    """Draw a figure that depends on no output."""
    about = of_inputs(result.dataset, alt, finding=alt)
    steps.chart(cached.drawn(draw, result, of=key), key, about, numbers, caption=caption)


def _range(key: str, label: str, low: float, high: float, default: float, step: float) -> Range[float]:
    return Range(key, label, default, low, high, step, section=HERE)


SLIDERS: tuple[tuple[str, Range[Any]], ...] = (  # sliders of the two groups, by their names in ``TwoPointSettings``
    ("x1", _range("x1", "Group 1 at", 0.0, 10.0, 2.5, 0.5)),
    ("x2", _range("x2", "Group 2 at", 0.0, 10.0, 5.0, 0.5)),
    ("lengthscale", _range("two_l", "Lengthscale", 0.5, 5.0, 1.5, 0.5)),
    ("noise", _range("two_noise", "Spread of people (variance)", 0.05, 2.0, 0.1, 0.05)),
    ("d", _range("two_d", "Largest change of one person", 0.5, 3.0, 2.0, 0.5)),
    ("moved", Range("moved", "Group of the person who changes", 1, 1, 2, 1, section=HERE)),
    ("people", Range("two_people", "People in each group", 10, 1, 50, 1, section=HERE)),
)


def _sliders() -> TwoPointSettings:
    """Draw the sliders of the two groups in the page's body, two in a column."""
    columns, values = st.columns(4), {}
    for at, (name, slider) in enumerate(SLIDERS):
        with columns[at // 2]:
            values[name] = settings.value_of(slider)
    return TwoPointSettings(**values)
