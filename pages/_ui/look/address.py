"""The address of a page: what of it can be used, and a sentence about what cannot."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from pages._ui import session
from pages._ui.look import settings, text
from pages._ui.look.controls import as_number, is_infinite
from pages._ui.look.settings import Stand
from pages._ui.session import Untold
from pages._ui.work import waiting

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
        key: titles.get(key, {}).get(value, as_number(value))
        for key, value in address.items()
        if key == "tour" or (value.strip() and not is_infinite(value))
    }


def remember() -> None:
    """Keep what was asked for over the rerun at the usable address."""
    session.ASKED.put(asked())


def forget() -> None:
    """Another page begins: nothing is said there of what this one could not use."""
    session.UNTOLD.pop()


@contextlib.contextmanager
def explained() -> Iterator[None]:
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
        sentences = _examined()
        if shown:
            for sentence in sentences:
                notes.warning(sentence)
        if stands:
            session.UNTOLD.put(replace(session.UNTOLD.get(Untold({})), sentences={}))
        session.LAST_ADDRESS.put(asked())


def _examined() -> list[str]:
    """The sentences about whatever has been drawn by now; those about controls that were moved since are dropped."""
    untold = session.UNTOLD.get(Untold({}))
    stands = settings.STANDS.get({})
    drawn = {key: raw for key, raw in untold.unread.items() if key in stands}
    new = {key: told for key, raw in drawn.items() if (told := _explanation(key, raw, stands[key])) is not None}
    kept = {key: told for key, told in untold.sentences.items() if key not in stands or stands[key].shown == told[0]}
    unread = {key: raw for key, raw in untold.unread.items() if key not in drawn}
    session.UNTOLD.put(Untold(unread, kept | new))
    return [sentence for _, sentence in (kept | new).values()]


def _explanation(key: str, raw: str, stand: Stand) -> tuple[Any, str] | None:
    """Where a control stands that did not use what its parameter asked for, and a sentence; None if it did."""
    if st.query_params.get(key) == raw or stand.is_as_asked(raw):
        return None
    used = stand.shown
    return used, text.bad_link_value(key, raw, _reason(raw, stand), "nothing" if used is None else used)


def _reason(raw: str, stand: Stand) -> str:
    if not raw.strip():
        return "it is empty."
    if stand.shown is None:
        return "this control has no such value."
    if is_infinite(raw) and not isinstance(stand.shown, str | bool):
        return "it must be a finite number."
    return stand.control.asked()
