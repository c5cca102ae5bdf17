"""The part of How cloaking works where one person is moved."""

from __future__ import annotations

import streamlit as st

from dpgp_core.data import Dataset
from pages._ui import session
from pages._ui.cloaking.results import Result
from pages._ui.look import frame, pictures, state
from pages._ui.person import figures, words
from pages._ui.person.moved import Choice, move
from pages._ui.work import cached

CHART = "one_person"


def show(result: Result, overlay: bool) -> None:
    """Choose a record, move its output between the bounds; see the fit follow, and the noise that hides it."""
    data, name = result.dataset, result.model.dataset
    st.header("One person")
    if not overlay:
        st.caption("This part shows true data: switch “True data shown” on in the sidebar to see it.")
        return
    frame.overlay_banner()
    found = move(result, controls(data, name))
    of = found.settings
    st.markdown(words.answer(found, data))
    left, right = st.columns([3, 2])
    with left:
        picture = cached.drawn(figures.curves, found, data, of=of)
        pictures.clickable(picture, CHART, words.CURVES_ALT, lambda: _take_click(name))
    with right:
        pictures.chart(cached.drawn(figures.against_noise, found, data, of=of), "move_noise", words.NOISE_ALT)
    frame.metrics(words.metrics(found, data), "person")
    with st.expander("Table of the move"):
        frame.table(words.table(found, data), f"{name}_one_person")


def controls(data: Dataset, name: str) -> Choice:
    """Which record, and where to. They open with the last record at the upper bound, whatever its output is."""
    low, high = data.y_bounds
    left, right = st.columns([1, 3])
    with left:
        rank = int(
            st.number_input(f"Person, by {data.x_names[0]}", 1, data.n, data.n, key=_person(name), bind="query-params")
        )
    label = f"{data.y_name.capitalize()} moved to [{data.y_unit}]"
    with right:
        step = data.output_range / 100
        value = st.slider(label, low, high, high, step, format="%.3g", key=f"moved_to_{name}", bind="query-params")
    state.note(_person(name), rank, data.n)
    state.note(f"moved_to_{name}", value, high)
    return Choice(rank, value)


def _person(name: str) -> str:
    return f"person_{name}"


def _take_click(name: str) -> None:
    """A click on a record chooses it; on anything else, nothing."""
    for point in session.control(CHART)["selection"]["points"]:
        if point["curve_number"] == figures.DATA:
            session.move({_person(name): point["point_index"] + 1})
