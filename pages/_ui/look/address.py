"""Read the address of a page: its usable values, and a sentence about every other value."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace

import streamlit as st

from pages._ui import session
from pages._ui.look import settings, text
from pages._ui.look.controls import as_number, is_infinite
from pages._ui.look.settings import ControlState
from pages._ui.session import Unexplained
from pages._ui.work import waiting

Titles = Mapping[str, Mapping[str, str]]  # parameter -> value -> title, for drop-downs


def parameters() -> dict[str, str]:
    """Return the parameters of the address; the last value if one is repeated."""
    return st.query_params.to_dict()


def has_repeated() -> bool:
    """Return whether the address contains a parameter more than once."""
    return any(len(st.query_params.get_all(key)) > 1 for key in st.query_params)


def usable(address: dict[str, str], titles: Titles) -> dict[str, str]:
    """Return the parameters as controls read them: short values (``map=truth``) as titles, numbers as on the sliders.

    Empty values and infinite numbers are left out: no control can read them, and some of streamlit's would raise an
    error.
    """
    return {
        key: titles.get(key, {}).get(value, as_number(value))
        for key, value in address.items()
        if key == "tour" or (value.strip() and not is_infinite(value))
    }


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Run a page, then say above it which values of a new address its controls did not use, and what they show instead.

    A page may end early, be drawn again at once, or draw a control later. Each sentence stays until a complete page has
    shown it, or its control is moved.
    """
    notes = st.container()
    wanted = session.REQUESTED.pop()
    wanted = parameters() if wanted is None else wanted
    # Otherwise controls were moved since, and the address may not have followed yet
    if wanted != session.LAST_ADDRESS.find():
        session.UNEXPLAINED.put(Unexplained(wanted))
    ended = complete = False
    try:
        yield
        ended, complete = True, not waiting.is_made_again()
    except waiting.PageEnds:
        ended = True
    finally:
        sentences = _examined()
        if ended:
            for sentence in sentences:
                notes.warning(sentence)
        if complete:
            session.UNEXPLAINED.put(replace(session.UNEXPLAINED.get(Unexplained({})), sentences={}))
        session.LAST_ADDRESS.put(parameters())


def _examined() -> list[str]:
    """Return the sentences about the controls drawn so far, without those about controls that were moved since."""
    unexplained, controls = session.UNEXPLAINED.get(Unexplained({})), settings.CONTROLS.get({})
    unread = {key: raw for key, raw in unexplained.unread.items() if key not in controls}
    sentences = {
        key: explanation
        for key, explanation in unexplained.sentences.items()
        if key not in controls or controls[key].displayed == explanation[0]
    }
    for key, raw in unexplained.unread.items():
        if key in controls and st.query_params.get(key) != raw and not controls[key].matches(raw):
            used = controls[key].displayed
            shown = "nothing" if used is None else used
            sentences[key] = used, text.bad_link_value(key, raw, _reason(raw, controls[key]), shown)
    session.UNEXPLAINED.put(Unexplained(unread, sentences))
    return [sentence for _, sentence in sentences.values()]


def _reason(raw: str, state: ControlState) -> str:
    if not raw.strip():
        return "it is empty."
    if state.displayed is None:
        return "this control has no such value."
    if is_infinite(raw) and not isinstance(state.displayed, str | bool):
        return "it must be a finite number."
    return state.control.requirement()
