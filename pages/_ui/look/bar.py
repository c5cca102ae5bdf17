"""The slim bar above a page: epsilon once more, where the sidebar is closed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._ui import session
from pages._ui.look import offers, state

_KEY = "epsilon_above"
_TOP: ContextVar[DeltaGenerator | None] = ContextVar("top", default=None)  # above the page


@contextmanager
def bar() -> Iterator[None]:
    """Keep a place above the page that is drawn meanwhile, for epsilon."""
    before = _TOP.set(st.container(horizontal=True, vertical_alignment="center", key="bar"))
    try:
        yield
    finally:
        _TOP.reset(before)


def above() -> DeltaGenerator:
    """The place above the page."""
    return _TOP.get() or st.container()


def repeated_epsilon() -> None:
    """Epsilon once more, as a slim bar above the page: on telephones, whose sidebar is closed, and in lessons."""
    at = session.control("epsilon")
    if at in offers.EPSILONS and state.stands("epsilon"):
        session.move({_KEY: at})
        above().select_slider(offers.EPSILON, offers.EPSILONS, key=_KEY, on_change=_take_bar)


def _take_bar() -> None:
    session.move({"epsilon": session.control(_KEY)})
