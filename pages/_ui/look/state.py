"""The state of a page: every control that its address can set, where it stands, and where it would stand untouched."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, urlencode

import streamlit as st

from pages._ui import session
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
