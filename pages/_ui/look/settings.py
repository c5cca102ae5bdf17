"""A page's settings: a frozen dataclass whose fields carry their controls, and the one reader of all of them.

The reader draws a page's sidebar, reads pinned settings and lessons from addresses, and says to links, explanations and
tests which controls there are. Controls below a figure stand by themselves; the address knows of them as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import Field, dataclass, field, fields
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
Made = Control[Any] | Callable[[Any], Control[Any]]
"""A control, or what makes it of the settings that stand before it."""


class Stand(NamedTuple):
    """Where one control stands."""

    control: Control[Any]
    value: Any

    @property
    def written(self) -> str:
        """In an address."""
        return self.control.written(self.value)

    @property
    def shown(self) -> Any:
        """As on screen; of one that is left to the page, what the page takes: None for nothing."""
        return (self.written or None) if self.value is None else self.control.shown(self.value)

    def is_as_asked(self, raw: str) -> bool:
        """Whether that is where an address wants it."""
        try:
            return bool(self.control.read(as_number(raw)) == self.value)
        except ValueError:
            return False


STANDS: Slot[dict[str, Stand]] = Slot("stands")  # where the controls of this page stand
_ADDRESS: ContextVar[Mapping[str, str] | None] = ContextVar("address", default=None)  # that is read


def carried(
    control: Made,
    *,
    when: Callable[[Any], bool] = lambda _: True,
    beside: Callable[[Any], None] = lambda _: None,
) -> Any:
    """A field of a page's settings.

    Args:
        control: of the field.
        when: of the settings before it, whether it is there; else it is at its default.
        beside: draws what belongs to it, of the settings up to it.
    """
    return field(metadata={"control": control, "when": when, "beside": beside})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a page's settings begin with: nothing."""


def chosen(kind: type[S]) -> S:
    """A page's settings as its controls stand, which are drawn; or as the address says that is read meanwhile."""
    known = SimpleNamespace()
    for each in fields(kind):
        control = _control(each, known)
        stood = each.metadata["when"](known)
        setattr(known, each.name, stand(control) if stood else control.default)
        if stood and _ADDRESS.get() is None:
            with place(control.place):
                each.metadata["beside"](known)
    return kind(**vars(known))


def untouched(kind: type[S]) -> S:
    """A page's settings while no control is moved."""
    with reading({}):
        return chosen(kind)


def every(kind: type[Settings]) -> list[Control[Any]]:
    """All controls that such settings may have, as they are while none is moved."""
    known, found = SimpleNamespace(), []
    for each in fields(kind):
        found.append(_control(each, known))
        setattr(known, each.name, found[-1].default)
    return found


def _control(each: Field[Any], known: SimpleNamespace) -> Control[Any]:
    made: Made = each.metadata["control"]
    return made if isinstance(made, Control) else made(known)


def stand(control: Control[T]) -> T:
    """Where a control stands. It is drawn, unless an address is read: what that leaves out is untouched.

    Raises:
        ValueError: the address that is read asks for a value that is not offered.
    """
    if (read := _ADDRESS.get()) is not None:
        return control.read(read[control.key]) if control.key in read else control.default
    with place(control.place):
        value = control.draw()
    STANDS.put(STANDS.get({}) | {control.key: Stand(control, value)})
    return value


@contextmanager
def reading(address: Mapping[str, str]) -> Iterator[None]:
    """Controls asked for meanwhile are not drawn, and stand where an address says."""
    before = _ADDRESS.set(address)
    try:
        yield
    finally:
        _ADDRESS.reset(before)


class _Places(NamedTuple):
    """Of the page being made: the parts of its sidebar, from above."""

    top: DeltaGenerator
    side: DeltaGenerator
    below: DeltaGenerator


_PLACES: ContextVar[_Places | None] = ContextVar("places", default=None)
_MORE: ContextVar[tuple[DeltaGenerator, str] | None] = ContextVar("more", default=None)  # with its last title


def begin() -> None:
    """A page begins: it has no controls yet, and what it folds away stands below all that is in sight."""
    STANDS.put({})
    _PLACES.set(_Places(*(st.sidebar.container() for _ in _Places._fields)))
    _MORE.set(None)


def place(name: str) -> AbstractContextManager[Any]:
    """Where to draw: a part of the sidebar, the container of the moment, or under a title folded away for more."""
    places = _PLACES.get()
    if name == HERE:
        return nullcontext()  # a container of its own would take half of a row
    if name in (TOP, SIDE):
        return st.sidebar if places is None else places.top if name == TOP else places.side
    more = _MORE.get()
    if more is None:
        below = st.sidebar if places is None else places.below
        more = below.expander("More", icon=":material/tune:"), ""
    if name != more[1]:
        more[0].markdown(f"**{name}**")
        _MORE.set((more[0], name))
    return more[0]


def is_lesson() -> bool:
    """Whether the page is shown to a room (``?lesson=1``): large type, epsilon in sight, answers closed."""
    return st.query_params.get("lesson") == "1"


def present() -> None:
    """Callback: show the page to a room."""
    st.query_params["lesson"] = "1"


def end_presentation() -> None:
    """Callback: as it was; and no other page is shown so either."""
    leave_out("lesson")


def leave_out(name: str) -> None:
    """Take a parameter out of the address, and out of what is carried to other pages."""
    if name in st.query_params:
        del st.query_params[name]
    session.CARRIED.put({key: value for key, value in session.CARRIED.get({}).items() if key != name})


def stands(key: str) -> bool:
    """Whether this page has drawn such a control."""
    return key in STANDS.get({})


def compared() -> dict[str, str]:
    """Every effective value of this page that is no matter of looks: what is pinned."""
    return {key: each.written for key, each in STANDS.get({}).items() if each.written and not each.control.looks}


def address() -> dict[str, str]:
    """Every effective value of this page: at this address a fresh browser shows the same, whatever the defaults."""
    kept = {key: value for key in _KEPT if (value := st.query_params.get(key)) and fits(value)}
    return kept | {key: each.written for key, each in STANDS.get({}).items() if each.written}


def link() -> str:
    """The whole address of this state, once all controls have been drawn."""
    return f"{st.context.url or ''}?{urlencode(address())}"


def fits(value: str) -> bool:
    """Whether a parameter that is no control leaves room for the others in a link, and in its QR code."""
    return len(quote(value)) <= _LONGEST_KEPT


def reset() -> None:
    """Callback: every control of this page where it stands untouched."""
    session.move({key: each.control.shown(each.control.default) for key, each in STANDS.get({}).items()})
