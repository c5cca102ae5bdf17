"""The !Kung page: its question and answer; its growth chart, and where one person stands on that."""

from __future__ import annotations

import math

import streamlit as st

from dpgp_core.data import Dataset
from pages._ui.cloaking import computed, figures, nearness, taken, words
from pages._ui.cloaking.growth import Growth
from pages._ui.cloaking.results import Result
from pages._ui.cloaking.words import Shown
from pages._ui.left_out import Trio
from pages._ui.look import offers, pictures, state
from pages._ui.work import cached

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
    """The title: heights grow, other outcomes have a curve."""
    return f"What does privacy do to a {'growth ' if data.y_name == 'height' else ''}curve?"


def lead(ours: Result, paper: Result, errors: Trio | None, shown: Shown) -> str:
    """The plain sentences under the question."""
    if errors is None:
        return words.without_overlay(ours, paper, shown)
    return (
        f"At epsilon = {ours.draw.epsilon:g} {words.method(ours)} publishes {ours.dataset.privacy_unit} with an error "
        f"of **{words.error(errors.ours, shown)}**. Without privacy it is {shown(errors.without)}, because people "
        f"differ. With the method of 2018 it is {words.error(errors.paper, shown)}."
    )


def show(ours: Result, paper: Result, overlay: bool) -> None:
    """The chart of this setting beside that of the method of 2018, and one person whom a visitor moves."""
    data = ours.dataset
    st.header("The growth chart")
    chart, other = computed.growth_of(ours), computed.growth_of(paper)
    plain = computed.growth_without_privacy(data.name) if overlay else None
    left, right = st.columns(2)
    with left:
        st.subheader(offers.MECHANISM.titles[ours.design.mechanism])
        spot = st.container()
        person = _person(chart, data)
        with spot:
            of = (ours.settings, overlay, person)
            source = "one release (orange)" + (" and without privacy (blue)" if overlay else "")
            picture = cached.drawn(figures.growth, chart, data, person, plain, of=of)
            measured = ours.intervals.scatter is not None
            public = taken.growth(ours, chart, person, _said("one release (orange)", data, measured))
            pictures.chart(picture, "growth", _said(source, data, measured), public)
    with right:
        st.subheader("The method of 2018")
        picture = cached.drawn(figures.growth, other, data, person, None, True, of=(paper.settings, person))
        said = _said("the method of 2018 (purple)", data, measured=False)
        pictures.chart(picture, "growth_paper", said, taken.growth(paper, other, person, said, other=True))
    nearness.show(ours, person[0], overlay)


def _said(source: str, data: Dataset, measured: bool) -> str:
    names = {"what": data.y_name, "x": data.x_names[0]}
    return f"{_ALT.format(source=source, **names)} {(_MEASURED if measured else _DECLARED).format(**names)}"


def _person(chart: Growth, data: Dataset) -> tuple[float, float]:
    """Age and height of anybody, moved by hand, and the centile; from the release alone."""
    (low, high), (least, most) = data.x_box[0], (math.ceil(data.y_bounds[0]), math.floor(data.y_bounds[1]))
    young, usual = round(low + 0.1 * (high - low)), round((least + most) / 2)
    keys = f"growth_x_{data.name}", f"growth_y_{data.name}"  # its range is that of the data set
    left, right = st.columns(2)
    with left:
        x = st.slider(
            f"A person's {data.x_names[0]} [{data.x_units[0]}]", math.ceil(low), math.floor(high), young,
            key=keys[0], bind="query-params",
        )  # fmt: skip
    with right:
        y = st.slider(
            f"and {data.y_name} [{data.y_unit}]", least, most, usual, key=keys[1], bind="query-params"
        )  # fmt: skip
    state.note(keys[0], x, young)
    state.note(keys[1], y, usual)
    below = chart.below(x, y)
    many = "at least 99" if below >= 99 else "at most 1" if below <= 1 else f"about {below:.0f}"
    st.markdown(f"Above **{many} in 100** of that {data.x_names[0]}, as the release has it.")
    return x, y
