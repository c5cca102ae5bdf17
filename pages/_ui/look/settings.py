"""A page's settings: a frozen dataclass whose fields carry their controls, and the functions that read it.

They draw a page's sidebar, read pinned settings and lessons from addresses, and list all controls for links,
explanations and tests. Controls below a figure are not fields; the address contains them as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast
from urllib.parse import quote, urlencode

import streamlit as st

from pages._ui import session
from pages._ui.look.controls import HERE, SIDE, TOP, Control, Menu, as_number
from pages._ui.session import Slot

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

_LONGEST_KEPT = 1200  # characters in a link; a QR code holds 2,900 in all
PIN = "pin"  # a setting to compare with; see ``pin``
_KEPT = ("tour", "lesson", PIN)  # parameters that are not controls

T = TypeVar("T")
S = TypeVar("S", bound="Settings")


class ControlState(NamedTuple):
    """A control with its value."""

    control: Control[Any]
    value: Any

    @property
    def written(self) -> str:
        """Return the value as an address writes it."""
        return self.control.written(self.value)

    @property
    def displayed(self) -> Any:
        """Return the value as on screen; if it is left to the page, the page's own; None for none."""
        return (self.written or None) if self.value is None else self.control.widget_value(self.value)

    def matches(self, raw: str) -> bool:
        """Return whether an address asks for this value."""
        try:
            return bool(self.control.read(as_number(raw)) == self.value)
        except ValueError:
            return False


CONTROLS: Slot[dict[str, ControlState]] = Slot("stands")  # of this page
_ADDRESS: ContextVar[Mapping[str, str] | None] = ContextVar("address", default=None)  # address that is being read


def control(
    control: Control[Any] | Callable[[Any], Control[Any]],
    *,
    when: Callable[[Any], bool] = lambda _: True,
    below: Callable[[Any], None] = lambda _: None,
) -> Any:
    """Return a field of a page's settings with its control.

    Args:
        control: control of the field, or a function that makes it from the settings before it.
        when: function of the settings before it that says whether the control is shown; otherwise the field has its
            default.
        below: function of the settings up to it that draws notes or buttons below the control.
    """

    def make(earlier: Any) -> Control[Any]:
        return control if isinstance(control, Control) else control(earlier)

    return field(metadata={"control": make, "when": when, "below": below})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Base class of all pages' settings, without controls."""


def chosen(kind: type[S]) -> S:
    """Return a page's settings from its controls, which are drawn, or from the address that is being read."""
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
    """Return a page's settings while no control has been moved."""
    with reading({}):
        return chosen(kind)


def every(kind: type[Settings]) -> list[Control[Any]]:
    """Return all controls that such settings may have, while none has been moved."""
    earlier, controls = SimpleNamespace(), []
    for each in fields(kind):
        controls.append(each.metadata["control"](earlier))
        setattr(earlier, each.name, controls[-1].default)
    return controls


def value_of(control: Control[T]) -> T:
    """Return the value of a control, which is drawn unless an address is read; controls absent from it have their
    defaults.

    Raises:
        ValueError: the address asks for a value that is not offered.
    """
    if (read := _ADDRESS.get()) is not None:
        return control.read(read[control.key]) if control.key in read else control.default
    with container(control.section):
        value = control.draw()
    CONTROLS.put(CONTROLS.get({}) | {control.key: ControlState(control, value)})
    return value


def ahead(control: Control[T]) -> T:
    """Return the value of a control in the body before it is drawn: some controls of the sidebar depend on it."""
    address = _ADDRESS.get()
    if address is None and (kept := session.control(control.key)) is not None:
        return cast(T, control.value(kept) if isinstance(control, Menu) else kept)
    raw = (st.query_params if address is None else address).get(control.key)
    try:
        return control.default if raw is None else control.read(raw)
    except ValueError:
        return control.default


def current(control: Control[T]) -> T:
    """Return the value of a control that this page has drawn in its body; its default otherwise."""
    found = CONTROLS.get({}).get(control.key)
    value: T = control.default if found is None else found.value
    return value


@contextmanager
def reading(address: Mapping[str, str]) -> Iterator[None]:
    """Take the values of controls from an address within this block, without drawing them."""
    before = _ADDRESS.set(address)
    try:
        yield
    finally:
        _ADDRESS.reset(before)


_BELOW, _MORE = "below", "more"
_PLACES: ContextVar[dict[str, DeltaGenerator]] = ContextVar("places")  # containers of this page, by section


def begin() -> None:
    """Begin a page without controls, with folded controls below all visible ones."""
    CONTROLS.put({})
    _PLACES.set({name: st.sidebar.container() for name in (TOP, SIDE, _BELOW)})


def container(name: str) -> AbstractContextManager[Any]:
    """Return where to draw: a part of the sidebar, the current container, or a folded section under More."""
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
    """Return whether the page is shown to a room (``?lesson=1``): large type, epsilon in sight, answers closed."""
    return st.query_params.get("lesson") == "1"


def present() -> None:
    """Callback: show the page to a room."""
    st.query_params["lesson"] = "1"


def leave_out(name: str) -> None:
    """Remove a parameter from the address, and from those kept for other pages."""
    st.query_params.pop(name, None)
    session.CARRIED.put({key: value for key, value in session.CARRIED.get({}).items() if key != name})


def has_control(key: str) -> bool:
    """Return whether this page has drawn such a control."""
    return key in CONTROLS.get({})


def compared() -> dict[str, str]:
    """Return every effective value of this page that does not only affect the display, to be pinned."""
    return {
        key: each.written for key, each in CONTROLS.get({}).items() if each.written and not each.control.display_only
    }


def address() -> dict[str, str]:
    """Return every effective value of this page. A fresh browser shows the same at this address, even if defaults
    change.
    """
    kept = {key: value for key in _KEPT if (value := st.query_params.get(key)) and fits(value)}
    return kept | {key: each.written for key, each in CONTROLS.get({}).items() if each.written}


def link() -> str:
    """Return the whole address of this state, once all controls have been drawn."""
    return f"{st.context.url or ''}?{urlencode(address())}"


def fits(value: str) -> bool:
    """Return whether a parameter that is not a control leaves room for the others in a link, and in its QR code."""
    return len(quote(value)) <= _LONGEST_KEPT


def reset() -> None:
    """Callback: set every control of this page to its default."""
    session.move({key: each.control.widget_value(each.control.default) for key, each in CONTROLS.get({}).items()})
