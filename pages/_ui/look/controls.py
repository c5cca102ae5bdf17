"""Controls that are bound to the address, so that the address is the state of the page.

What a page draws as its controls, it also reads an address with: see ``reading``. No place says twice what a control is
called, offers and begins with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar, cast
from urllib.parse import quote, urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._ui import session
from pages._ui.look.offers import DropDown
from pages._ui.session import Stand

_LONGEST_KEPT = 1200  # characters as written in a link; a QR code holds 2,900 of all
PIN = "pin"  # a setting to compare with, see ``pin``
_KEPT = ("tour", "lesson", PIN)  # parameters that are no controls


def note(key: str, value: Any, default: Any, written: str | None = None, offered: Iterable[Any] = ()) -> None:
    """A control of this page stands here. Every control that is bound to the address says so once it is drawn."""
    session.STANDS.put(
        session.STANDS.get({}) | {key: Stand(value, default, _written(value, written), tuple(map(str, offered)))}
    )


def _written(value: Any, written: str | None) -> str:
    if written is not None:
        return written
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value).removesuffix(".0")


def is_lesson() -> bool:
    """Whether the page is shown to a room (``?lesson=1``): large type, epsilon in sight, answers closed."""
    return st.query_params.get("lesson") == "1"


def present() -> None:
    """Callback: show the page to a room."""
    st.query_params["lesson"] = "1"


def end_presentation() -> None:
    """Callback: as it was; and no other page is shown so either."""
    if "lesson" in st.query_params:
        del st.query_params["lesson"]
    session.CARRIED.put({key: value for key, value in session.CARRIED.get({}).items() if key != "lesson"})


def begin() -> None:
    """Before a page draws its controls."""
    session.STANDS.put({})


def stands(key: str) -> bool:
    """Whether this page has drawn such a control."""
    return key in session.STANDS.get({})


def address() -> dict[str, str]:
    """Every effective value of this page: at this address a fresh browser shows the same, whatever the defaults."""
    kept = {key: value for key in _KEPT if (value := st.query_params.get(key)) and fits(value)}
    stands: dict[str, Stand] = session.STANDS.get({})
    return kept | {key: stand.written for key, stand in stands.items() if stand.written}


def link() -> str:
    """The whole address of this state, once all controls have been drawn."""
    return f"{st.context.url or ''}?{urlencode(address())}"


def fits(value: str) -> bool:
    """Whether a parameter that is no control leaves room for the others in a link, and in its QR code."""
    return len(quote(value)) <= _LONGEST_KEPT


def reset() -> None:
    """Callback: every control of this page where it stands untouched."""
    session.move({key: stand.default for key, stand in session.STANDS.get({}).items()})


T = TypeVar("T")
Value = TypeVar("Value", bound=str)
_BOX: ContextVar[DeltaGenerator | None] = ContextVar("box", default=None)  # where controls go, if not to the sidebar


class _Places(NamedTuple):
    """Of the page being made: controls in sight, and the place of those that are not."""

    side: DeltaGenerator
    below: DeltaGenerator


_PLACES: ContextVar[_Places | None] = ContextVar("places", default=None)
_MORE: ContextVar[tuple[DeltaGenerator, str] | None] = ContextVar("more", default=None)  # with its last title


class _Nowhere:
    """Where controls would be drawn while an address is read: nothing is seen of them."""

    def __enter__(self) -> _Nowhere:
        return self

    def __exit__(self, *_: object) -> None: ...

    def __getattr__(self, name: str) -> Callable[..., _Nowhere]:
        return lambda *_, **__: self


_ADDRESS: ContextVar[Mapping[str, str] | None] = ContextVar("address", default=None)  # that is read


@contextmanager
def reading(address: Mapping[str, str]) -> Iterator[None]:
    """Controls asked for meanwhile are not drawn, and stand where an address says: what it leaves out, untouched.

    They raise ValueError for what they do not offer.
    """
    before = _ADDRESS.set(address)
    try:
        yield
    finally:
        _ADDRESS.reset(before)


def _read(address: Mapping[str, str], key: str, options: Sequence[T], default: T) -> T:
    raw = address.get(key, _written(default, None))
    for option in options:
        if raw == _written(option, None) or raw == str(option):
            return option
    raise ValueError(f"{key} cannot be what it says")


@contextmanager
def into(box: DeltaGenerator) -> Iterator[None]:
    """Controls drawn meanwhile stand there."""
    before = _BOX.set(box)
    try:
        with box:
            yield
    finally:
        _BOX.reset(before)


def begin_places() -> None:
    """A page begins: what it folds away stands below all that is in sight, whenever it is drawn."""
    _PLACES.set(_Places(st.sidebar.container(), st.sidebar.container()))
    _MORE.set(None)


def side() -> DeltaGenerator:
    """The part of the sidebar that is in sight."""
    if _ADDRESS.get() is not None:
        return cast(DeltaGenerator, _Nowhere())
    places = _PLACES.get()
    return st.sidebar if places is None else places.side


def folded(title: str) -> AbstractContextManager[None]:
    """Controls drawn meanwhile stand folded away in the sidebar, in the one place for more, under a title."""
    if _ADDRESS.get() is not None:
        return nullcontext()
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
    return side() if _ADDRESS.get() is not None else _BOX.get() or side()


def choice(label: str, key: str, options: Sequence[T], default: T, **kwargs: Any) -> T:
    """A discrete slider in the sidebar, bound to ``?key=``."""
    if (address := _ADDRESS.get()) is not None:
        return _read(address, key, options, default)
    value = box().select_slider(label, options, default, key=key, bind="query-params", **kwargs)
    note(key, value, default, offered=options)
    return value


def pick(label: str, offered: DropDown[Value], values: Sequence[Value] | None = None, **kwargs: Any) -> Value:
    """A drop-down (of some of its values, in their order) in the current container; returns the value."""
    if (address := _ADDRESS.get()) is not None:
        among = list(offered.titles if values is None else values)
        return _read(address, offered.key, among, among[0])
    titles = [offered.titles[value] for value in (offered.titles if values is None else values)]
    title = st.selectbox(label, titles, key=offered.key, bind="query-params", **kwargs)
    value = offered.value(title)
    note(offered.key, title, titles[0], value, titles)
    return value


def segments(label: str, offered: DropDown[Value], values: Sequence[Value] | None = None) -> Value:
    """The same as buttons side by side: each value is one click away."""
    if (address := _ADDRESS.get()) is not None:
        among = list(offered.titles if values is None else values)
        return _read(address, offered.key, among, among[0])
    titles = [offered.titles[value] for value in (offered.titles if values is None else values)]
    title = st.segmented_control(
        label, titles, default=titles[0], key=offered.key, bind="query-params", required=True,
        label_visibility="collapsed",
    )  # fmt: skip
    value = offered.value(title)
    note(offered.key, title, titles[0], value, titles)
    return value


def switch(label: str, key: str, default: bool = False, **kwargs: Any) -> bool:
    """A toggle in the current container, bound to ``?key=``."""
    if (address := _ADDRESS.get()) is not None:
        return _read(address, key, (True, False), default)
    value = st.toggle(label, default, key=key, bind="query-params", **kwargs)
    note(key, value, default)
    return value


def whole(label: str, key: str, low: int, high: int, default: int, **kwargs: Any) -> int:
    """A whole number to type or step through, bound to ``?key=``."""
    if (address := _ADDRESS.get()) is not None:
        raw = address.get(key, str(default))
        if not (raw.isascii() and raw.isdecimal() and low <= int(raw[: len(str(high)) + 1]) <= high):
            raise ValueError(f"{key} must be a whole number from {low} to {high}")
        return int(raw)
    number = int(box().number_input(label, low, high, default, key=key, bind="query-params", **kwargs))
    note(key, number, default)
    return number
