"""The address of a page: what of it can be used, and a sentence about what cannot."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from pages._ui import session
from pages._ui.look import controls, text
from pages._ui.session import Untold
from pages._ui.work import waiting

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LONGEST_WHOLE = 4000  # digits; python turns no longer ones into numbers
Titles = Mapping[str, Mapping[str, str]]  # of drop-downs: parameter -> value -> title


def asked() -> dict[str, str]:
    """What the address asks for; of a repeated parameter its last value."""
    return st.query_params.to_dict()


def repeated() -> bool:
    """Whether a parameter stands in the address more than once."""
    return any(len(st.query_params.get_all(key)) > 1 for key in st.query_params)


def usable(address: dict[str, str], titles: Titles) -> dict[str, str]:
    """The parameters as controls read them: short values (``map=truth``) spelled out, numbers as on the sliders.

    Values that no control can read, and on which some of streamlit's stop with an error, are left out: empty ones and
    infinite numbers.
    """
    return {
        key: titles.get(key, {}).get(value, _as_written(value))
        for key, value in address.items()
        if key == "tour" or (value.strip() and not _is_infinite(value))
    }


def _as_written(value: str) -> str:
    """1e-5 as 1e-05, 2.0, +2 and 02 as 2: how python, and so a slider, writes that number. Anything else stays."""
    plain = value.strip()
    if not _NUMBER.fullmatch(plain):
        return value
    if len(plain) <= _LONGEST_WHOLE and not any(mark in plain for mark in ".eE"):
        return str(int(plain))
    number = float(plain)
    return str(number).removesuffix(".0") if number else "0"


def remember() -> None:
    """Keep what was asked for over the rerun at the usable address."""
    session.ASKED.put(asked())


def forget() -> None:
    """Another page begins: nothing is said there of what this one could not use."""
    session.UNTOLD.pop()


@contextlib.contextmanager
def explained(titles: Titles) -> Iterator[None]:
    """Run a page, then say above it which values of a new address its controls did not use, and what they show.

    A page may end early, be made again at once, or draw a control later: each sentence stays until a page has stood
    with it, or its control is moved.
    """
    notes = st.container()
    wanted = session.ASKED.pop()
    wanted = asked() if wanted is None else wanted
    if wanted != session.LAST_ADDRESS.find():  # else controls were moved since, and the address may lag behind them
        session.UNTOLD.put(Untold(wanted))
    shown = stands = False
    try:
        yield
        shown, stands = True, not waiting.is_made_again()
    except waiting.PageEnds:
        shown = True
    finally:
        sentences = _examined(titles)
        if shown:
            for sentence in sentences:
                notes.warning(sentence)
        if stands:
            session.UNTOLD.put(replace(session.UNTOLD.get(Untold({})), sentences={}))
        session.LAST_ADDRESS.put(asked())


def _examined(titles: Titles) -> list[str]:
    """The sentences about whatever has been drawn by now; those about controls that were moved since are dropped."""
    untold = session.UNTOLD.get(Untold({}))
    drawn = {key: raw for key, raw in untold.unread.items() if controls.stands(key)}
    new = {key: _explanation(key, raw, titles.get(key, {})) for key, raw in drawn.items()}
    sentences = {key: told for key, told in untold.sentences.items() if _used(key) == told[0]}
    sentences |= {key: told for key, told in new.items() if told is not None}
    unread = {key: raw for key, raw in untold.unread.items() if key not in drawn}
    session.UNTOLD.put(Untold(unread, sentences))
    return [sentence for _, sentence in sentences.values()]


def _explanation(key: str, raw: str, titles: Mapping[str, str]) -> tuple[Any, str] | None:
    """Where a control stands that did not use what its parameter asked for, and a sentence; None if it did."""
    if not _is_unused(key, raw, titles):
        return None
    used = _used(key)
    return used, text.bad_link_value(key, raw, _reason(key, raw, used), "nothing" if used is None else used)


def _is_unused(key: str, raw: str, titles: Mapping[str, str]) -> bool:
    """Whether a control that has been drawn stands at another value than its parameter asked for."""
    used, after = _used(key), st.query_params.get(key)
    if used is None or not isinstance(used, (bool, int, float, str)) or after == raw:
        return used is None and after != raw
    return not _same(used, titles.get(raw, raw))


def _used(key: str) -> Any:
    """Where a control stands; of one that is left to the page, what the page takes: None for nothing."""
    used = session.control(key)
    stand = session.STANDS.get({}).get(key)
    if used is not None or stand is None or not stand.written:
        return used
    number = _number(stand.written)
    return stand.written if number is None else number


def _same(used: bool | int | float | str, raw: str) -> bool:
    if isinstance(used, bool):
        return raw.lower() == str(used).lower()
    return raw == used if isinstance(used, str) else _number(raw) == used


def _reason(key: str, raw: str, used: Any) -> str:
    if not raw.strip():
        return "it is empty."
    if used is None:
        return "this control has no such value."
    if isinstance(used, bool):
        return "it must be true or false."
    if _is_infinite(raw) and not isinstance(used, str):
        return "it must be a finite number."
    stand = session.STANDS.get({}).get(key)
    if stand is not None and stand.offered:
        return f"it is not offered here; the choices are {', '.join(stand.offered)}."
    if isinstance(used, str):
        return "it is not offered."
    if isinstance(used, int):
        return "it must be a whole number within the range of this control."
    return "it must be a number within the range of this control."


def _is_infinite(raw: str) -> bool:
    number = _number(raw)
    return number is not None and math.isinf(number)


def _number(raw: str) -> float | None:
    """A text as a number; None if it is none."""
    try:
        return float(raw)
    except ValueError:
        return None
