"""Controls that are bound to the address, so that the address is the state of the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._ui.look import state
from pages._ui.look.offers import DropDown

T = TypeVar("T")
Value = TypeVar("Value", bound=str)
_BOX: ContextVar[DeltaGenerator | None] = ContextVar("box", default=None)  # where controls go, if not to the sidebar


class _Places(NamedTuple):
    """Of the page being made: controls in sight, and the place of those that are not."""

    side: DeltaGenerator
    below: DeltaGenerator


_PLACES: ContextVar[_Places | None] = ContextVar("places", default=None)
_MORE: ContextVar[tuple[DeltaGenerator, str] | None] = ContextVar("more", default=None)  # with its last title


@contextmanager
def into(box: DeltaGenerator) -> Iterator[None]:
    """Controls drawn meanwhile stand there."""
    before = _BOX.set(box)
    try:
        with box:
            yield
    finally:
        _BOX.reset(before)


def begin() -> None:
    """A page begins: what it folds away stands below all that is in sight, whenever it is drawn."""
    _PLACES.set(_Places(st.sidebar.container(), st.sidebar.container()))
    _MORE.set(None)


def side() -> DeltaGenerator:
    """The part of the sidebar that is in sight."""
    places = _PLACES.get()
    return st.sidebar if places is None else places.side


def folded(title: str) -> AbstractContextManager[None]:
    """Controls drawn meanwhile stand folded away in the sidebar, in the one place for more, under a title."""
    more = _MORE.get()
    if more is None:
        places = _PLACES.get()
        below = st.sidebar if places is None else places.below
        more = below.expander("More", icon=":material/tune:"), ""
    if title != more[1]:
        more[0].markdown(f"**{title}**")
        _MORE.set((more[0], title))
    return into(more[0])


def box() -> DeltaGenerator:
    """Where controls go now."""
    return _BOX.get() or side()


def choice(label: str, key: str, options: Sequence[T], default: T, **kwargs: Any) -> T:
    """A discrete slider in the sidebar, bound to ``?key=``."""
    value = box().select_slider(label, options, default, key=key, bind="query-params", **kwargs)
    state.note(key, value, default, offered=options)
    return value


def pick(label: str, offered: DropDown[Value], values: Sequence[Value] | None = None, **kwargs: Any) -> Value:
    """A drop-down (of some of its values, in their order) in the current container; returns the value."""
    titles = [offered.titles[value] for value in (offered.titles if values is None else values)]
    title = st.selectbox(label, titles, key=offered.key, bind="query-params", **kwargs)
    value = offered.value(title)
    state.note(offered.key, title, titles[0], value, titles)
    return value


def segments(label: str, offered: DropDown[Value], values: Sequence[Value] | None = None) -> Value:
    """The same as buttons side by side: each value is one click away."""
    titles = [offered.titles[value] for value in (offered.titles if values is None else values)]
    title = st.segmented_control(
        label, titles, default=titles[0], key=offered.key, bind="query-params", required=True,
        label_visibility="collapsed",
    )  # fmt: skip
    value = offered.value(title)
    state.note(offered.key, title, titles[0], value, titles)
    return value


def switch(label: str, key: str, default: bool = False, **kwargs: Any) -> bool:
    """A toggle in the current container, bound to ``?key=``."""
    value = st.toggle(label, default, key=key, bind="query-params", **kwargs)
    state.note(key, value, default)
    return value
