"""The slim bar above a page: epsilon, or what it follows from, once more where the sidebar is closed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._ui import session
from pages._ui.look import offers, state

_OFFERED = (  # the first that a page has; where epsilon follows from others, the scale of the paths moves it
    ("epsilon", offers.EPSILON, offers.EPSILONS),
    ("sigma", offers.SCALE, offers.SIGMAS),
    ("attack_sigma", offers.SCALE, offers.SIGMAS),
)
_TOP: ContextVar[DeltaGenerator | None] = ContextVar("top", default=None)  # above the page


@contextmanager
def bar() -> Iterator[None]:
    """Keep a place above the page that is drawn meanwhile, for the budget."""
    before = _TOP.set(st.container(horizontal=True, vertical_alignment="center", key="bar"))
    try:
        yield
    finally:
        _TOP.reset(before)


def above() -> DeltaGenerator:
    """The place above the page."""
    return _TOP.get() or st.container()


def repeated() -> None:
    """The budget once more, as a slim bar above the page: on telephones, whose sidebar is closed, and in lessons."""
    for key, label, options in _OFFERED:
        at = session.control(key)
        if at in options and state.stands(key):
            session.move({f"{key}_above": at})
            above().select_slider(label, options, key=f"{key}_above", on_change=_take, args=(key,))
            return


def _take(key: str) -> None:
    session.move({key: session.control(f"{key}_above")})
