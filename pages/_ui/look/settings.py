"""A page's settings: a frozen dataclass whose fields carry their controls, and the one reader of all of them.

The reader draws a page's sidebar, reads pinned settings and lessons from addresses, and lists all controls for links,
explanations and tests. Controls below a figure stand by themselves; the address holds them as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote, urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._ui import session
from pages._ui.look.controls import HERE, SIDE, TOP, Control, as_number
from pages._ui.session import Slot

_LONGEST_KEPT = 1200  # characters as written in a link; a QR code holds 2,900 of all
PIN = "pin"  # a setting to compare with, see ``pin``
_KEPT = ("tour", "lesson", PIN)  # parameters that are no controls

T = TypeVar("T")
S = TypeVar("S", bound="Settings")


class ControlState(NamedTuple):
    """A control with its value."""

    control: Control[Any]
    value: Any

    @property
    def written(self) -> str:
        """In an address."""
        return self.control.written(self.value)

    @property
    def displayed(self) -> Any:
        """As on screen; where it is left to the page, the page's value: None for nothing."""
        return (self.written or None) if self.value is None else self.control.widget_value(self.value)

    def matches(self, raw: str) -> bool:
        """Whether an address asks for this value."""
        try:
            return bool(self.control.read(as_number(raw)) == self.value)
        except ValueError:
            return False


CONTROLS: Slot[dict[str, ControlState]] = Slot("stands")  # of this page
_ADDRESS: ContextVar[Mapping[str, str] | None] = ContextVar("address", default=None)  # being read


def carried(
    control: Control[Any] | Callable[[Any], Control[Any]],
    *,
    when: Callable[[Any], bool] = lambda _: True,
    below: Callable[[Any], None] = lambda _: None,
) -> Any:
    """A field of a page's settings.

    Args:
        control: of the field, or a function that makes it from the settings before it.
        when: of the settings before it, whether it is there; else it is at its default.
        below: draws notes or buttons below it, of the settings up to it.
    """

    def make(earlier: Any) -> Control[Any]:
        return control if isinstance(control, Control) else control(earlier)

    return field(metadata={"control": make, "when": when, "below": below})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The base of all pages' settings: no control."""


def chosen(kind: type[S]) -> S:
    """A page's settings by its controls, which are drawn; or by the address that is being read."""
    earlier = SimpleNamespace()
    for each in fields(kind):
        control = each.metadata["control"](earlier)
        is_there = each.metadata["when"](earlier)
        setattr(earlier, each.name, value_of(control) if is_there else control.default)
        if is_there and _ADDRESS.get() is None:
            with container(control.section):
                each.metadata["below"](earlier)
    return kind(**vars(earlier))


def untouched(kind: type[S]) -> S:
    """A page's settings while no control is moved."""
    with reading({}):
        return chosen(kind)


def every(kind: type[Settings]) -> list[Control[Any]]:
    """All controls that such settings may have, as they are while none is moved."""
    earlier, controls = SimpleNamespace(), []
    for each in fields(kind):
        controls.append(each.metadata["control"](earlier))
        setattr(earlier, each.name, controls[-1].default)
    return controls


def value_of(control: Control[T]) -> T:
    """The value of a control. It is drawn, unless an address is read: controls absent from that are untouched.

    Raises:
        ValueError: the address that is read asks for a value that is not offered.
    """
    if (read := _ADDRESS.get()) is not None:
        return control.read(read[control.key]) if control.key in read else control.default
    with container(control.section):
        value = control.draw()
    CONTROLS.put(CONTROLS.get({}) | {control.key: ControlState(control, value)})
    return value


def current(control: Control[T]) -> T:
    """The value of a control that this page has drawn in its body; its default where it has not."""
    found = CONTROLS.get({}).get(control.key)
    value: T = control.default if found is None else found.value
    return value


@contextmanager
def reading(address: Mapping[str, str]) -> Iterator[None]:
    """In here controls are not drawn, and have their values from an address."""
    before = _ADDRESS.set(address)
    try:
        yield
    finally:
        _ADDRESS.reset(before)


_BELOW, _MORE = "below", "more"
_PLACES: ContextVar[dict[str, DeltaGenerator]] = ContextVar("places")  # of this page, by section


def begin() -> None:
    """A page begins: it has no controls yet, and its folded controls go below all that are in sight."""
    CONTROLS.put({})
    _PLACES.set({name: st.sidebar.container() for name in (TOP, SIDE, _BELOW)})


def container(name: str) -> AbstractContextManager[Any]:
    """Where to draw: a part of the sidebar, the current container, or under a title folded away for more."""
    if name == HERE:
        return nullcontext()  # a container of its own would take half of a row
    places = _PLACES.get()
    if name not in places:
        if _MORE not in places:
            places[_MORE] = places[_BELOW].expander("More", icon=":material/tune:")
        places[name] = places[_MORE].container()
        places[name].markdown(f"**{name}**")
    return places[name]


def is_lesson() -> bool:
    """Whether the page is shown to a room (``?lesson=1``): large type, epsilon in sight, answers closed."""
    return st.query_params.get("lesson") == "1"


def present() -> None:
    """Callback: show the page to a room."""
    st.query_params["lesson"] = "1"


def leave_out(name: str) -> None:
    """Take a parameter out of the address, and out of those carried to other pages."""
    st.query_params.pop(name, None)
    session.CARRIED.put({key: value for key, value in session.CARRIED.get({}).items() if key != name})


def has_control(key: str) -> bool:
    """Whether this page has drawn such a control."""
    return key in CONTROLS.get({})


def compared() -> dict[str, str]:
    """Every effective value of this page that is no matter of looks, to be pinned."""
    return {key: each.written for key, each in CONTROLS.get({}).items() if each.written and not each.control.looks}


def address() -> dict[str, str]:
    """Every effective value of this page: at this address a fresh browser shows the same, whatever the defaults."""
    kept = {key: value for key in _KEPT if (value := st.query_params.get(key)) and fits(value)}
    return kept | {key: each.written for key, each in CONTROLS.get({}).items() if each.written}


def link() -> str:
    """The whole address of this state, once all controls have been drawn."""
    return f"{st.context.url or ''}?{urlencode(address())}"


def fits(value: str) -> bool:
    """Whether a parameter that is no control leaves room for the others in a link, and in its QR code."""
    return len(quote(value)) <= _LONGEST_KEPT


def reset() -> None:
    """Callback: every control of this page at its default."""
    session.move({key: each.control.widget_value(each.control.default) for key, each in CONTROLS.get({}).items()})
