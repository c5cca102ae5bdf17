"""Move one person's output between the bounds: the fit moves along a column of C, which the noise must hide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from dpgp_core.accounting.tradeoff import gaussian_tradeoff
from dpgp_core.arrays import FloatArray
from dpgp_core.linalg import dense_of
from dpgp_core.mechanisms.gaussian import GaussianMechanism
from dpgp_core.table import Dataset
from pages._ui import session
from pages._ui.cloaking.figures import on_axes
from pages._ui.cloaking.results import Result
from pages._ui.hiding import steps
from pages._ui.look import layout, pictures, tables, text
from pages._ui.look.controls import HERE, Number, Range
from pages._ui.look.plots import (
    HEIGHT,
    NON_PRIVATE,
    OTHER,
    PRIVATE,
    TRUTH,
    axis,
    band,
    draw_line,
    faded,
    finish,
    named_lines,
)
from pages._ui.look.text import Metric
from pages._ui.model import Design, Draw, Model, mechanism_of
from pages._ui.work import cached


@dataclass(frozen=True)
class Choice:
    """The record, counted from 1 in order of the first input, and the value to which its output is moved, in the
    output's unit.
    """

    rank: int
    value: float


@dataclass(frozen=True, eq=False)
class Moved:
    """The fit before and after the move. Only ``noise``, ``calibrated`` and ``x`` are public.

    Attributes:
        settings: all settings that determine it.
        x: grid (G,) along the first input.
        at: the record's first input.
        output: its true output, clipped to the bounds.
        before, after, without: the fit (G,) with the true output, with the chosen one, and without the record.
        noise: standard deviation of one release's noise (G,).
        shift: size of the fit's move at all test points, in standard deviations of the noise along the direction in
            which it is most visible.
        calibrated: largest shift that any record can cause at this budget, 1 / s.
    """

    settings: tuple[Model, Design, Draw, Choice]
    x: FloatArray
    at: float
    output: float
    before: FloatArray
    after: FloatArray
    without: FloatArray
    noise: FloatArray
    shift: float
    calibrated: float

    @property
    def moves(self) -> FloatArray:
        """Distance by which the curve moves (G,)."""
        return np.abs(self.after - self.before)


def move(result: Result, choice: Choice) -> Moved:
    """Return the fit and its noise as one record's output is moved. Given C and the design, this takes milliseconds."""
    data, plan, scene = result.dataset, result.linear_plan, result.scene
    mechanism: GaussianMechanism = mechanism_of(*result.settings)
    j = int(np.argsort(data.X[:, 0], kind="stable")[choice.rank - 1])
    column, y = dense_of(plan.weights)[:, j], data.clipped_y
    own = float(dense_of(result.fit.C)[j, j])
    before = data.in_data_units(result.fit.C @ data.standardised())
    predicted = (before[j] - data.midpoint - own * (y[j] - data.midpoint)) / (1 - own) + data.midpoint
    along = scene.grid
    deviation = data.output_range * mechanism.noise_multiplier
    return Moved(
        settings=(*result.settings, choice),
        x=scene.x,
        at=float(data.X[j, 0]),
        output=float(y[j]),
        before=before[along],
        after=(before + column * (choice.value - y[j]))[along],
        without=(before + column * (predicted - y[j]))[along],
        noise=deviation * np.linalg.norm(plan.factor[along], axis=1),
        shift=result.shift_of(j, abs(choice.value - y[j])),
        calibrated=1 / mechanism.noise_multiplier,
    )


CHART = "one_person"


def show(result: Result, overlay: bool) -> None:
    """Let a visitor choose a record and move its output; show how the fit moves, and the noise that hides it."""
    data, name = result.dataset, result.model.dataset
    st.header("One person")
    if not overlay:
        st.caption("This part shows true data: switch “True data shown” on in the sidebar to see it.")
        return
    layout.overlay_banner()
    moved = move(result, controls(data, name))
    of = moved.settings
    st.markdown(answer(moved, data))
    left, right = st.columns([3, 2])
    picture, sizes = (cached.drawn(each, moved, data, of=of) for each in (curves, against_noise))
    numbers = tables.of_figure(picture, sizes, true_data=True)
    with left:
        pictures.clickable(picture, CHART, CURVES_ALT, _CLICK, lambda: _take_click(name), numbers, caption=_BAND)
    with right:
        pictures.chart(sizes, "move_noise", NOISE_ALT, numbers=numbers, caption=_SIZES)
    layout.metrics(metrics(moved, data), "person")
    with st.expander("Table of the move"):
        layout.table(numbers, f"{name}_one_person")


def controls(data: Dataset, name: str) -> Choice:
    """Return the chosen record and value. At first they are the last record and the upper bound, whatever its output
    is.
    """
    low, high = data.y_bounds
    rank = Number(_person(name), f"Person, by {data.x_names[0]}", data.n, 1, data.n, section=HERE)
    label, step = f"{data.y_name.capitalize()} moved to [{data.y_unit}]", data.output_range / 100
    value = Range(f"moved_to_{name}", label, high, low, high, step, format="%.3g", section=HERE)
    return Choice(*steps.beside(rank, value, widths=(1, 3)))


def _person(name: str) -> str:
    return f"person_{name}"


def _take_click(name: str) -> None:
    """Choose the record that was clicked; ignore other clicks."""
    if rank := pictures.clicked(CHART):
        session.move({_person(name): int(rank[0])})


_BEFORE, _AFTER = "without privacy", "after the move"
_WITHOUT, _PERSON = "without this person", "this person, moved"
_SHORT = {_BEFORE: "before", _WITHOUT: "left out", _AFTER: "moved", _PERSON: ""}


def curves(person: Moved, data: Dataset) -> go.Figure:
    """Draw the curve before and after, without the person, and how far noise moves it; every person can be clicked."""
    choice = person.settings[-1]
    figure = go.Figure()
    moved = steps.SURE * person.noise
    band(
        figure,
        person.x,
        person.before - moved,
        person.before + moved,
        PRIVATE,
        0.22,
        "95 % of releases, point by point",
    )
    order = np.argsort(data.X[:, 0], kind="stable")
    figure.add_scatter(
        x=data.X[order, 0],
        y=data.clipped_y[order],
        customdata=np.arange(1, data.n + 1)[:, None],  # points for clicks
        name="true data",
        mode="markers",
        marker={"color": TRUTH, "symbol": "circle-open", "size": 6},
    )
    for y, name, colour, dash in (
        (person.before, _BEFORE, NON_PRIVATE, "solid"),
        (person.without, _WITHOUT, TRUTH, "dot"),
        (person.after, _AFTER, OTHER, "dash"),
    ):
        draw_line(figure, person.x, y, name, colour, dash)
    figure.add_scatter(
        x=[person.at, person.at],
        y=[person.output, choice.value],
        name=_PERSON,
        mode="lines+markers",
        line={"color": OTHER, "width": 1.5},
        marker={"size": [9, 13], "symbol": ["circle", "diamond"], "color": OTHER},
    )
    return named_lines(on_axes(figure, data, person.x), _SHORT)


def against_noise(moved: Moved, data: Dataset) -> go.Figure:
    """Draw how far the curve moves, and the standard deviation of the noise, along the first input."""
    figure = go.Figure()
    draw_line(
        figure,
        moved.x,
        moved.noise,
        "privacy noise, one standard deviation",
        PRIVATE,
        width=2,
        fill="tozeroy",
        fillcolor=faded(PRIVATE, 0.22),
    )
    draw_line(figure, moved.x, moved.moves, "move of the curve", OTHER, "dash")
    figure.update_xaxes(title=axis(data.x_names[0], data.x_units[0]), range=[moved.x[0], moved.x[-1]])
    figure.update_yaxes(title=axis("size", data.y_unit), rangemode="tozero")
    return finish(figure, HEIGHT)


_BLAMED = 0.05


def answer(moved: Moved, data: Dataset) -> str:
    """Return the headline: the person and the move, the change of the curve, and the noise that hides it."""
    choice, unit, peak = moved.settings[-1], data.y_unit, moved.moves.argmax()
    point = f"{text.number(moved.x[peak], 3)} {data.x_units[0]}".strip()
    caught = 1 - float(gaussian_tradeoff(np.array([_BLAMED]), moved.shift)[0]) if moved.shift > 0 else _BLAMED
    return (
        f"Person {choice.rank}, {data.x_names[0]} {text.number(moved.at, 3)} {data.x_units[0]}, has "
        f"{text.number(moved.output, 3)} {unit}. With {text.number(choice.value, 3)} {unit} instead, the curve moves "
        f"by up to **{text.number(moved.moves[peak])} {unit}** (at {point}). The privacy noise there has a standard "
        f"deviation of **{text.number(moved.noise[peak])} {unit}**. An attacker who knows everybody else may accuse "
        f"{100 * _BLAMED:g} in 100 innocent people. Then {text.at_most(100 * caught)} in 100 of those who moved so are "
        "found."
    )


def metrics(moved: Moved, data: Dataset) -> list[Metric]:
    """Return the move in the output's unit and in units of the noise."""
    unit, peak = data.y_unit, moved.moves.argmax()
    metric = (
        "How far the curve moves, in standard deviations of the noise along the direction where it shows best "
        "(Mahalanobis)."
    )
    return [
        Metric("Largest move of the curve", f"{text.number(moved.moves[peak])} {unit}", "not private"),
        Metric("Privacy noise there", f"{text.number(moved.noise[peak])} {unit}", "one standard deviation"),
        Metric("Shift, in privacy noise", f"{text.at_most(moved.shift)}", "standard deviations", metric),
        Metric("Calibrated to hide", f"{text.at_most(moved.calibrated)}", "1 / s, for anybody", metric),
    ]


CURVES_ALT = (
    "The curve without privacy (blue), after one person is moved (dashed pink), and without that person (dotted). "
    "95 % of releases lie in the orange band, point by point. Not private."
)
_BAND = "Orange: where 95 % of releases lie, point by point."
_SIZES = "Orange: the privacy noise, one standard deviation. Dashed: how far the curve moves."
_CLICK = "Click a person to move."
NOISE_ALT = "How far the curve moves (dashed pink), and the standard deviation of privacy noise (orange)."
