"""Pinned settings: a page's own link, kept in its address as ``pin=page?epsilon=1&...``. They contain no data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from pages._ui.look import settings, text
from pages._ui.look.settings import Settings

PIN = settings.PIN
_NAMES = {"epsilon": "ε", "delta": "δ"}

S = TypeVar("S", bound=Settings)


def pinned(page: str, kind: type[S], dataset: str) -> S | None:
    """Return the pinned settings of this page; None if there are none, or if the page says why they cannot be used.

    Args:
        page: file name of the page.
        kind: class of settings with a ``dataset``.
        dataset: data set on screen.
    """
    raw = st.query_params.get(PIN, "")
    file, _, query = raw.partition("?")
    if not raw or (file != page and "?" in raw):
        return None
    try:
        if file != page or not settings.fits(raw):
            raise ValueError("it is no link of this page")
        with settings.reading(dict(parse_qsl(query))):
            chosen = settings.chosen(kind)
    except ValueError as error:
        st.warning(text.bad_link_value(PIN, raw, f"{error}.", "nothing pinned"))
        return None
    if vars(chosen)["dataset"] != dataset:
        st.info("What is pinned is of other data, so it is not drawn here. Go back to them, or unpin it.")
        return None
    return chosen


def buttons(page: str) -> None:
    """Draw a button that pins the current settings; if some are pinned, also one that removes them."""
    held = PIN in st.query_params
    with st.container(horizontal=True, key="pin_buttons"):
        st.button(
            "Pin this instead" if held else "Pin this, to compare",
            icon=":material/keep:",
            key="pin_this",
            on_click=_pin,
            args=(page,),
            help="Keeps this setting, not its data, in the link; figures then show it next to the new one.",
        )
        if held:
            st.button("Unpin", icon=":material/keep_off:", key="unpin", on_click=settings.leave_out, args=(PIN,))


def _pin(page: str) -> None:
    st.query_params[PIN] = f"{page}?{urlencode(settings.compared())}"


def differences() -> str:
    """Return the controls whose values differ from the pinned ones, in a sentence. Call it after all controls are
    drawn.
    """
    kept, current = dict(parse_qsl(st.query_params.get(PIN, "").partition("?")[2])), settings.compared()
    keys = [key for key in current if key in kept and kept[key] != current[key]]
    whole = current.keys() <= kept.keys()
    if not keys:
        same = "**Pinned (A)** is what you see now (B). Move a control, and both are shown."
        return same if whole else "**Pinned (A)** next to what you see now (B)."
    rest = " All else is the same." if whole else ""
    return f"**Pinned (A)**: {_listed(kept, keys)}; **now (B)**: {_listed(current, keys)}.{rest}"


_NO_CHANGE = 1e-4  # relative difference below which two computed numbers count as equal


def change(a: float, b: float) -> str:
    """Return how much larger or smaller b is than a."""
    if max(a, b) > text.TWICE * min(a, b):
        return f"B is {text.number(b / a)} times A"
    if abs(b - a) <= _NO_CHANGE * abs(a):
        return "the same"
    return f"B is {text.percent(abs(b / a - 1))} {'larger' if b > a else 'smaller'}"


def _listed(address: Mapping[str, str], keys: Iterable[str]) -> str:
    return ", ".join(f"{_NAMES.get(key, key.replace('_', ' '))} = {text.plain(address[key])}" for key in keys)
