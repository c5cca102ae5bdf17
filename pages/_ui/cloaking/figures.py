"""Figures of the curve of a release, and the sections of its page."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from scipy.special import ndtr, ndtri

from dpgp_core.arrays import FloatArray
from dpgp_core.linalg import dense_of
from dpgp_core.table import Dataset
from pages._ui.cloaking import computed, words
from pages._ui.cloaking.results import LEVEL, HeldOutErrors, Result
from pages._ui.cloaking.staged import Growth
from pages._ui.look import about as pictured
from pages._ui.look import offers, pictures, settings, text
from pages._ui.look.about import About
from pages._ui.look.controls import HERE, Range
from pages._ui.look.pictures import Public
from pages._ui.look.plots import (
    GUARANTEE,
    HEIGHT,
    NON_PRIVATE,
    OTHER,
    PINNED,
    PRIVATE,
    TRUTH,
    axis,
    band_of,
    centile_lines,
    faded,
    finish,
    input_axis,
    line_of,
    named_lines,
    rows_named_inside,
    upright_line,
)
from pages._ui.look.tables import NOT_PRIVATE
from pages._ui.work import cached

DRAWS, BANDS = "draws", "bands"  # groups of traces in an animation
_PINNED = "pinned (A), its interval thin"
SHORT = {"published curve": "published", _PINNED: "pinned (A)"}  # at the end of a line


def curves(result: Result, overlay: bool, other: bool = False, pinned: Result | None = None) -> go.Figure:
    """Draw simulated releases along the first input, with intervals about the first; ``other`` styles the method
    compared with.

    ``pinned``, a release of the same data, is drawn over them. The intervals of the other releases are hidden until
    ``play`` shows one after another.
    """
    data, scene, intervals = result.dataset, result.scene, result.intervals
    x, grid, level = scene.x, scene.grid, f"({100 * LEVEL:g} %)"
    colour, dash = (OTHER, "dash") if other else (PRIVATE, "solid")
    figure, wide = go.Figure(), intervals.output.of(0)[:, grid]
    first, *others = (intervals.curve.of(draw)[:, grid] for draw in range(len(result.samples)))
    bands = [
        band_of(x, wide[0], wide[1], colour, 0.12, f"range for one more person {level}"),
        band_of(x, first[0], first[1], colour, 0.28, f"average {level}", legendgroup=BANDS),
    ]
    for ends in others:  # fewer points and digits, because there may be many releases
        few, low, high = np.stack([x, *ends])[:, ::2].astype(np.float32)
        bands.append(band_of(few, low, high, colour, 0.28, legendgroup=BANDS) | {"opacity": 0})
    figure.add_traces(bands)
    if overlay:
        add_truth(figure, data, x, result.nonprivate[grid])
    look: dict[str, Any] = {"width": 1.6, "legendgroup": DRAWS}
    figure.add_traces(
        [
            line_of(x, sample, "published curve", colour, dash, showlegend=index == 0, **look)
            for index, sample in enumerate(result.samples[:, grid])
        ]
    )
    if pinned is not None:
        _add_pinned(figure, x, pinned.samples[0, grid], pinned.intervals.curve.of(0)[:, grid])
    return named_lines(on_axes(figure, data, x, wide), SHORT)


def growth(
    chart: Growth, data: Dataset, person: tuple[float, float], plain: Growth | None = None, other: bool = False
) -> go.Figure:
    """Draw centiles of people; ``plain`` are those without privacy, ``other`` styles the method compared with."""
    figure = go.Figure()
    if plain is not None:
        centile_lines(figure, plain.x, plain.lines, NON_PRIVATE, "without privacy", labelled=False)
        figure.update_traces(meta=NOT_PRIVATE)
    name = "beside" if other else "published"
    centile_lines(figure, chart.x, chart.lines, OTHER if other else PRIVATE, name)
    figure.add_scatter(
        x=[person[0]],
        y=[person[1]],
        mode="markers",
        name="the person below",
        marker={"color": GUARANTEE, "size": 12, "symbol": "diamond"},
        cliponaxis=False,
    )
    on_axes(figure, data, chart.x)
    return figure.update_layout(showlegend=False, margin={"t": 20})


def add_truth(figure: go.Figure, data: Dataset, x: FloatArray, nonprivate: FloatArray) -> None:
    """Draw the records, and the curve without privacy noise (P,) at first inputs x (P,). Both are not private."""
    line = {"color": NON_PRIVATE, "width": 2}
    figure.add_scatter(x=x, y=nonprivate, name="without privacy", line=line, meta=NOT_PRIVATE)
    figure.add_scatter(
        x=data.X[:, 0],
        y=data.y,
        name="true data",
        meta=NOT_PRIVATE,
        mode="markers",
        marker={"color": TRUTH, "symbol": "circle-open", "size": 5},
    )


def on_axes(figure: go.Figure, data: Dataset, x: FloatArray, drawn: FloatArray | None = None) -> go.Figure:
    """Set axes that depend only on public values, and finish the figure. If they cut off the values ``drawn``, a note
    says so.
    """
    low, high = data.y_bounds
    bottom, top = low - 0.35 * data.output_range, high + 0.35 * data.output_range
    figure.update_xaxes(title=input_axis(data), range=[x[0], x[-1]])
    figure.update_yaxes(title=axis(data.y_name, data.y_unit), range=[bottom, top])
    if drawn is not None and (drawn.min() < bottom or drawn.max() > top):
        said = f"band continues to {drawn.min():.0f} / {drawn.max():.0f} {data.y_unit}"
        corner = {"x": 1, "xref": "paper", "xanchor": "right", "y": 0, "yref": "paper", "yanchor": "bottom"}
        figure.add_annotation(corner, text=said, showarrow=False, font={"size": 11})
    return finish(figure, HEIGHT)


def _add_pinned(figure: go.Figure, x: FloatArray, curve: FloatArray, ends: FloatArray) -> None:
    """Draw a pinned release with the edges of its interval, because a further band would hide those below."""
    line = {"color": PINNED, "width": 2, "dash": "dashdot"}
    figure.add_scatter(x=x, y=curve, name=_PINNED, mode="lines", legendgroup="pin", line=line)
    gap = [np.nan]
    figure.add_scatter(
        x=np.concatenate([x, gap, x]),
        y=np.concatenate([ends[1], gap, ends[0]]),
        mode="lines",
        name="pinned interval",
        legendgroup="pin",
        showlegend=False,
        hoverinfo="skip",
        line=line | {"width": 1},
    )


def error_distribution(found: HeldOutErrors, unit: str) -> go.Figure:
    """Draw the error of each simulated release: of this setting, of the one next to it, and without privacy."""
    figure = go.Figure()
    beside = "Bayes cloaking" if found.design.in_stages else "method of 2018"
    for errors, name, colour in ((found.ours, "this setting", PRIVATE), (found.beside, beside, OTHER)):
        if errors is not None:
            figure.add_scatter(
                x=errors,
                y=[name] * len(errors),
                name=name,
                mode="markers",
                showlegend=False,
                marker={"color": faded(colour, 0.55), "size": 10},
            )
    upright_line(figure, found.without, {"color": NON_PRIVATE, "width": 2}, "without privacy")
    figure.update_xaxes(title=f"error of one release [{unit}]", rangemode="tozero")
    figure.update_yaxes(range=[len(figure.data) - 0.5, -1.1])  # the names of the first row and of the line are above it
    return rows_named_inside(finish(figure, 240))


def cloaking_heat(result: Result) -> go.Figure:
    """Draw C on the grid, with records in order of their first input."""
    data, scene = result.dataset, result.scene
    order = np.argsort(data.X[:, 0], kind="stable")
    people = f"people, in order of {data.x_names[0]}"
    points = f"test point: {input_axis(data)}"
    C = dense_of(result.fit.C)[scene.grid][::3, order]
    return _heat(C, np.arange(1.0, data.n + 1), scene.x[::3], people, points)


def noise_heat(result: Result) -> go.Figure:
    """Draw the correlation of the privacy noise between grid points."""
    data, x = result.dataset, result.scene.x[::3]
    factor = result.linear_plan.factor[result.scene.grid][::3]
    unit = factor / np.linalg.norm(factor, axis=1, keepdims=True)
    title = input_axis(data)
    return _heat(unit @ unit.T, x, x, title, title)


def _heat(values: FloatArray, x: FloatArray, y: FloatArray, x_title: str, y_title: str) -> go.Figure:
    bound = float(np.quantile(np.abs(values), 0.98))  # one distant record would make all others pale
    figure = go.Figure(go.Heatmap(z=values.round(4), x=x, y=y, colorscale="PuOr_r", zmin=-bound, zmax=bound))
    figure.update_xaxes(title=x_title)
    figure.update_yaxes(title=y_title)
    return finish(figure, 380)


def stems(result: Result) -> go.Figure:
    """Draw the weight of each record in the noise along the first input."""
    data, lambdas = result.dataset, result.noise_design.lambdas
    x, shares = data.X[:, 0], lambdas / lambdas.sum()
    figure = go.Figure()
    figure.add_bar(x=x, y=shares, marker={"color": GUARANTEE, "line": {"color": GUARANTEE, "width": 2}}, width=0.01)
    figure.add_scatter(x=x, y=shares, mode="markers", marker={"color": GUARANTEE, "size": 5})
    figure.update_layout(showlegend=False)
    figure.update_xaxes(title=input_axis(data))
    figure.update_yaxes(title="λ, share of the total", rangemode="tozero")
    return finish(figure, 300)


_ALT = (
    "Growth chart: {what} by {x}, from {source}. The lines are the 3rd, 15th, 50th, 85th and 97th centile. Half of the "
    "people lie below the middle line, 97 in 100 below the highest."
)
_MEASURED = (
    "The spread of people was measured with privacy noise at each {x}, at a share of the same epsilon. The curve is "
    "the mean of {what} cut to the public bounds."
)
_DECLARED = "This method has one declared spread for everybody: its lines are as far apart at every {x}."


def question(data: Dataset) -> str:
    """Return the title, which depends on whether the data are about growth."""
    return f"What does privacy do to a {'growth ' if data.y_name == 'height' else ''}curve?"


def headline(ours: Result, errors: HeldOutErrors | None) -> str:
    """Return the headline sentences. Without the overlay no error may be shown, and they say how uncertain a release
    is.
    """
    setting = f"At epsilon = {ours.draw.epsilon:g}"
    if errors is not None:
        return f"{setting} {words.predicts(ours, errors)}"
    uncertain = words.uncertainty(ours)
    return f"{setting} {uncertain.bound.format(words.size(ours, uncertain.halves[0]))}."


def show(ours: Result, beside: Result | None, overlay: bool) -> None:
    """Draw the chart of this setting and of the release next to it, and a person whom a visitor can move."""
    data = ours.dataset
    st.header("The growth chart")
    chart = computed.growth_of(ours)
    plain = computed.growth_without_privacy(data.name) if overlay else None
    left, right = st.columns(2) if beside is not None else (st.container(), None)
    with left:
        st.subheader(offers.MECHANISM.titles[ours.design.mechanism])
        container = st.container()
        person = _person(chart, data)
    with container:
        _show_growth(ours, "growth", "one release (orange)", person, plain)
    if right is not None and beside is not None:
        with right:
            name = "Bayes cloaking" if beside.design.in_stages else "The method of 2018"
            st.subheader(name)
            _show_growth(beside, "growth_beside", f"{text.in_sentence(name)} (pink)", person, other=True)
    _nearness(ours, person[0], chart, plain)


def _show_growth(
    result: Result,
    key: str,
    source: str,
    person: tuple[float, float],
    plain: Growth | None = None,
    other: bool = False,
) -> None:
    chart, of = computed.growth_of(result), (result.settings, person, plain is None)
    picture = cached.drawn(growth, chart, result.dataset, person, plain, other, of=of)
    public = public_growth(result, chart, person, source, other=other)
    shown = source if plain is None else f"{source} and without privacy (blue)"
    colours = "" if plain is None else " Blue: without privacy."
    caption = f"Half of the people lie below the middle line, 97 in 100 below the highest.{colours}"
    pictures.chart(picture, key, _growth_alt(shown, result), public, caption=caption)


def _growth_alt(source: str, result: Result) -> str:
    names = {"what": result.dataset.y_name, "x": result.dataset.x_names[0]}
    spread = _DECLARED if result.intervals.residual_sd is None else _MEASURED
    return f"{_ALT.format(source=source, **names)} {spread.format(**names)}"


def _person(chart: Growth, data: Dataset) -> tuple[float, float]:
    """Return age and height that a visitor chooses, and show the centile, computed from the release alone."""
    (low, high), (least, most) = data.x_box[0], (math.ceil(data.y_bounds[0]), math.floor(data.y_bounds[1]))
    young, usual = round(low + 0.1 * (high - low)), round((least + most) / 2)
    left, right = st.columns(2)
    label, ends = f"A person's {data.x_names[0]} [{data.x_units[0]}]", (math.ceil(low), math.floor(high))
    # The range of the control is that of the data set
    place = Range(f"growth_x_{data.name}", label, young, *ends, 1, section=HERE)
    value = Range(f"growth_y_{data.name}", f"and {data.y_name} [{data.y_unit}]", usual, least, most, 1, section=HERE)
    with left:
        x = settings.value_of(place)
    with right:
        y = settings.value_of(value)
    below = chart.below(x, y)
    many = "at least 99" if below >= 99 else "at most 1" if below <= 1 else f"about {below:.0f}"
    st.markdown(
        f"According to the release, {data.y_name} is lower for **{many} %** of people of that {data.x_names[0]}."
    )
    return x, y


_STEPS = 20  # tolerances of the slider


def _nearness(result: Result, x: float, chart: Growth, plain: Growth | None) -> None:
    """Draw a slider for a tolerance, and show the probability that the published mean at x is this close to the one
    without privacy.

    If ``plain`` may be shown, also say how much wider the range for one more person is than without privacy.
    """
    data = result.dataset
    most = text.round_step(data.output_range / 4)
    step, label = most / _STEPS, f"Largest acceptable difference [{data.y_unit}]"
    look: Any = {"format": "%.3g", "width": 320, "section": HERE}
    tolerance = settings.value_of(Range(f"within_{data.name}", label, most / 4, step, most, step, **look))
    of = "one without privacy" if result.intervals.noise is not None else "true one"
    chance = min(99.9, 100 * probability_within(result, x, tolerance))
    near = (
        f"At {text.number(x, 3)} {data.x_units[0]} the published mean is within {words.size(result, tolerance)} of the "
        f"{of} with a probability of **{text.number(chance)} %**."
    )
    if plain is not None:
        ratio = text.number(chart.width(x) / plain.width(x))
        wider = "" if ratio == "1" else f"**{ratio} times** "
        near += f" The range from the 3rd to the 97th centile is {wider}as wide as without privacy."
    st.markdown(near)


def probability_within(result: Result, x: float, tolerance: float) -> float:
    """Return the probability from the interval of the privacy noise, or of the curve if the mechanism measures in
    stages.
    """
    scene = result.scene
    half = float(np.interp(x, scene.x, result.intervals.blur[scene.grid]))
    sd = half / float(ndtri((1 + LEVEL) / 2))
    return float(2 * ndtr(tolerance / sd) - 1) if sd > 0 else 1.0


def public_curves(result: Result, *, other: bool = False, kept: Result | None = None) -> Public:
    """Return the publishable form of the curves, with a pinned release over them if there is one."""
    alt = words.curves_alt(result, "pink" if other else "orange", overlay=False)
    if kept is not None:
        other_release = about(kept, "").release.removeprefix("Published: ")
        alt += f" Brown: another release, {other_release} at ε = {kept.draw.epsilon:g}: both together cost more."
    return Public(partial(curves, result, False, other, kept), about(result, alt))


def public_growth(
    result: Result, chart: Growth, person: tuple[float, float], source: str, *, other: bool = False
) -> Public:
    """Return the publishable form of the growth chart. The person on it is chosen by hand."""
    shows = about(result, _growth_alt(source, result))
    return Public(partial(growth, chart, result.dataset, person, None, other), shows)


def about(result: Result, shows: str) -> About:
    """Return the description of a release for its export figure."""
    first, count = result.draw.seed, result.draw.draws
    drawn = f"simulated release {first}" if count == 1 else f"simulated releases {first} to {first + count - 1}"
    made = f"{offers.MECHANISM.titles[result.design.mechanism]}, {drawn}"
    finding = words.finding(result)
    return pictured.of_release(result.dataset, result.guarantee, made, shows, finding=finding)
