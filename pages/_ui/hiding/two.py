"""The first two steps: one person moves two predictions, and noise covers that; then the same with everybody."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._ui.cloaking import computed, design_words, explain, figures, play
from pages._ui.cloaking.results import Result
from pages._ui.hiding import directions, person, steps, two_points
from pages._ui.hiding.two_points import TwoPoints, TwoPointSettings
from pages._ui.look import frame, pictures, state, text
from pages._ui.look.bound import switch
from pages._ui.look.picture import as_it_is
from pages._ui.look.sheet import of_inputs, of_theory
from pages._ui.look.text import Metric
from pages._ui.model import Draw, ReleaseSettings
from pages._ui.work import cached

_BEFORE_AND_AFTER = "Person {moved} changes by {d:g}. The curve moves from solid to dashed."
_BARS = " Orange bars: where each prediction is published, in 95 of 100 releases at ε = {epsilon:g}."
_LINES = "What each person can do to both predictions: moves along one line."
_ELLIPSES = "Cloaking noise just covers both lines. Noise in all directions hides no more."


def lead(points: TwoPoints) -> str:
    """The sentences under the question."""
    return (
        "One person moves these two predictions along one line only. Noise that covers just such lines has "
        f"**{text.percent(1 / two_points.area_ratio(points))}** of the variance of noise in all directions."
    )


def show(step: str, chosen: ReleaseSettings, top: DeltaGenerator) -> None:
    """Both pictures of a step, the two people's controls, and the same with the people of a data set."""
    spot = st.container()
    with st.expander("Move the two people", icon=":material/tune:"):
        pair = _sliders()
    points = two_points.build(pair)
    with top:
        frame.heading(steps.TITLE, lead(points))
    with spot:
        _pictures(step, points, pair, chosen.draw)
        frame.metrics(_metrics(step, points, pair, chosen.draw), "two")
        with st.expander("Table of the moves"):
            frame.table(table(points, pair), "two_people")
    n = cached.dataset(chosen.model.dataset).n
    if switch(f"The same with {n} people", "everybody"):
        result = computed.run(chosen.model, chosen.design, chosen.draw)
        if step == "moves":
            person.show(result, chosen.overlay)
        else:
            _everybody(result)


def _metrics(step: str, points: TwoPoints, pair: TwoPointSettings, draw: Draw) -> list[Metric]:
    """How far the person moves both predictions; of the next step the variances of both noises."""
    if step == "moves":
        move = pair.d * points.C[:, pair.moved - 1]
        changing = f"changing by {pair.d:g}"
        return [
            Metric(f"Person {pair.moved} moves prediction 1 by", text.number(abs(move[0])), changing),
            Metric("and prediction 2 by", text.number(abs(move[1])), changing),
        ]
    variances = pair.d**2 * points.design.covariance().trace(), points.prior.trace()
    at_budget = f"at ε = {draw.epsilon:g}, in 95 of 100 releases"
    within = two_points.noise_at(points, draw.epsilon, draw.delta)
    both = "of both predictions together"
    return [
        Metric("Noise of prediction 1", f"±\u00a0{text.number(within[0])}", at_budget),
        Metric("Noise of prediction 2", f"±\u00a0{text.number(within[1])}", at_budget),
        Metric("Variance of cloaking noise", text.number(variances[0]), both),
        Metric("Variance of noise in all directions", text.number(variances[1]), both),
    ]


def table(points: TwoPoints, pair: TwoPointSettings) -> pd.DataFrame:
    """One row a person: how far a change moves each prediction."""
    moves = pair.d * points.C
    return pd.DataFrame(
        {
            "person": [1, 2],
            "place": points.X[:, 0],
            "moves prediction 1 by": moves[0].round(4),
            "moves prediction 2 by": moves[1].round(4),
        }
    )


def _pictures(step: str, points: TwoPoints, pair: TwoPointSettings, draw: Draw) -> None:
    left, right = st.columns(2)
    covered = step == "covered"
    with left:
        noise = two_points.noise_at(points, draw.epsilon, draw.delta) if covered else None
        curves = cached.drawn(two_points.curves, points, pair.moved - 1, noise, of=(pair, draw, covered))
        said = _BEFORE_AND_AFTER.format(moved=pair.moved, d=pair.d)
        said += _BARS.format(epsilon=draw.epsilon) if covered else ""
        pictures.chart(curves, "two_curves", said, as_it_is(curves, of_theory(said)))
    with right:
        plane = cached.drawn(two_points.plane, points, covered, of=(pair, covered))
        said = _ELLIPSES if covered else _LINES
        pictures.chart(plane, "two_plane", said, as_it_is(plane, of_theory(said)))


def _everybody(result: Result) -> None:
    """The noise for a data set: its shape, who carries it, and what proves it."""
    st.header(f"The same with {result.dataset.n} people")
    st.markdown(design_words.cloaking_answer(result))
    frame.metrics(design_words.certificate(result))
    left, right = st.columns(2)
    with left:
        st.subheader("C: who moves which prediction")
        _of_inputs(result, figures.cloaking_heat, "C", design_words.C_ALT)
    with right:
        st.subheader("M: the privacy noise that hides them")
        _of_inputs(result, figures.noise_heat, "M", design_words.M_ALT)
    st.subheader("The directions of M: where the noise goes")
    found = directions.directions_of(result)
    _of_inputs(result, lambda each: directions.figure(found, each), "directions", directions.said(found, result))
    player, motion = st.container(), cached.drawn(lambda each: directions.moving(found, each), result, of="moving")
    said = directions.moving_said(found, result)
    pictures.chart(motion, "moving", said, as_it_is(motion, of_inputs(result.dataset, said)))
    play.move("moving", motion, player)
    with st.expander("Table of the directions"):
        frame.table(directions.table(found, result), "directions", "From inputs, budget and bounds alone: public.")
    st.subheader("λ: few people carry the noise")
    _of_inputs(result, figures.stems, "lambda", design_words.lambda_alt(result))
    values, how = st.tabs(["Table", "How it is computed"])
    with values:
        name = result.model.dataset
        frame.table(design_words.record_table(result), f"{name}_lambda", "Inputs only: C, λ and M are public.")
    with how:
        frame.steps(explain.explain(result))


def _of_inputs(result: Result, draw: Callable[[Result], go.Figure], key: str, said: str) -> None:
    """A figure that no output enters."""
    drawn = cached.drawn(draw, result, of=key)
    pictures.chart(drawn, key, said, as_it_is(drawn, of_inputs(result.dataset, said)))


def _sliders() -> TwoPointSettings:
    """Of the two people, in the page's body."""

    def slider(label: str, key: str, low: float, high: float, value: float, step: float) -> float:
        chosen = st.slider(label, low, high, value, step, key=key, bind="query-params")
        state.note(key, chosen, value)
        return chosen

    left, middle, right = st.columns(3)
    with left:
        x1 = slider("Person 1 at", "x1", 0.0, 10.0, 2.5, 0.5)
        x2 = slider("Person 2 at", "x2", 0.0, 10.0, 5.0, 0.5)
    with middle:
        lengthscale = slider("Lengthscale", "two_l", 0.5, 5.0, 1.5, 0.5)
        noise = slider("Spread of people (variance)", "two_noise", 0.05, 2.0, 0.1, 0.05)
    with right:
        d = slider("Largest change of one person", "two_d", 0.5, 3.0, 2.0, 0.5)
        moved = st.slider("Which person changes", 1, 2, 1, 1, key="moved", bind="query-params")
    state.note("moved", moved, 1)
    return TwoPointSettings(x1, x2, lengthscale, noise, d, int(moved))
