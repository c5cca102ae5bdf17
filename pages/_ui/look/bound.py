"""Controls that are bound to the address, so that the address is the state of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._ui.look import address, state, text
from pages._ui.look.offers import DropDown

T = TypeVar("T")
Value = TypeVar("Value", bound=str)
Check = Callable[[str], None]
_BOX: ContextVar[DeltaGenerator | None] = ContextVar("box", default=None)  # where controls go, if not to the sidebar


class _Places(NamedTuple):
    """Of the page being made: what is wrong with its link, controls in sight, and the place of those that are not."""

    notes: DeltaGenerator
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
    _PLACES.set(_Places(st.container(), st.sidebar.container(), st.sidebar.container()))
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


def choice(label: str, key: str, options: Sequence[T], default: T, check: Check | None = None, **kwargs: Any) -> T:
    """A discrete slider in the sidebar, bound to ``?key=``; a bad value in the address is explained."""
    explain_bad_link(key, options, default, check)
    value = box().select_slider(label, options, default, key=key, bind="query-params", **kwargs)
    state.note(key, value, default)
    return value


def pick(label: str, offered: DropDown[Value], values: Sequence[Value] | None = None, **kwargs: Any) -> Value:
    """A drop-down (of some of its values, in their order) in the current container; returns the value."""
    titles = [offered.titles[value] for value in (offered.titles if values is None else values)]
    explain_bad_link(offered.key, titles, titles[0], None)
    title = st.selectbox(label, titles, key=offered.key, bind="query-params", **kwargs)
    value = offered.value(title)
    state.note(offered.key, title, titles[0], value)
    return value


def segments(label: str, offered: DropDown[Value], values: Sequence[Value] | None = None) -> Value:
    """The same as buttons side by side: each value is one click away."""
    titles = [offered.titles[value] for value in (offered.titles if values is None else values)]
    explain_bad_link(offered.key, titles, titles[0], None)
    title = st.segmented_control(
        label, titles, default=titles[0], key=offered.key, bind="query-params", required=True,
        label_visibility="collapsed",
    )  # fmt: skip
    value = offered.value(title)
    state.note(offered.key, title, titles[0], value)
    return value


def switch(label: str, key: str, default: bool = False, **kwargs: Any) -> bool:
    """A toggle in the current container, bound to ``?key=``."""
    value = st.toggle(label, default, key=key, bind="query-params", **kwargs)
    state.note(key, value, default)
    return value


def explain_bad_link(key: str, options: Sequence[Any], default: Any, check: Check | None) -> None:
    """Say in a sentence why a value in the address cannot be used; the control falls back to its default."""
    raw = st.query_params.get(key)
    if raw is None or raw in {str(option) for option in options}:
        return
    reason = f"it is not offered here; the choices are {', '.join(str(option) for option in options)}."
    if check is not None:
        try:
            check(raw)
        except ValueError as error:
            reason = f"{error}."
    address.note_explained(key)
    places = _PLACES.get()
    (st if places is None else places.notes).warning(text.bad_link_value(key, raw, reason, default))


def as_number(raw: str) -> float:
    """A value of the address as a number; ValueError says that it must be one."""
    try:
        return float(raw)
    except ValueError:
        raise ValueError("it must be a number") from None
