"""Lines of a file that are no rows of its table: titles, units, notes. Said by the visitor, or offered."""

from __future__ import annotations

import streamlit as st

from pages._ui import session
from pages._ui.look.text import plain
from pages._ui.own.slots import OWN_LINES

_KEY = "own_ignore"
_HELP = (
    "Titles above the names, units below them, notes and sums, for example: 1-3, 63. They are left out as if they were "
    "not there. A sheet's rows count as lines. Published with the release."
)


def said(digest: str) -> tuple[int | str, ...] | None:
    """Lines that are said to be no rows of the file with this digest; None for none.

    The question is there once something was offered.
    """
    known = OWN_LINES.find()
    if known is None or known[0] != digest:
        OWN_LINES.pop()
        session.forget([_KEY])
        return None
    offered = known[1]
    text = st.text_input(
        "Lines that are no rows of the table", key=_KEY, placeholder=offered or "1-3, 63", max_chars=200, help=_HELP
    )
    entries = [entry.strip() for entry in text.split(",") if entry.strip()]
    if not entries and offered:
        st.info(f"Lines {plain(offered)} look like no rows of the table: a title, units or notes.")
        st.button(
            f"Leave out {'line' if offered.isdigit() else 'lines'} {plain(offered)}",
            key="own_say_ignore",
            on_click=_say,
            args=(offered,),
            icon=":material/playlist_remove:",
        )
    return tuple(int(entry) if entry.isdigit() else entry for entry in entries) or None


def offer(digest: str, lines: tuple[int | str, ...]) -> bool:
    """Ask about these lines of a file, or about none in particular; whether that is new."""
    known, asked = OWN_LINES.find(), (digest, ", ".join(map(str, lines)))
    if known is not None and known[0] == digest and (known == asked or not lines):
        return False
    OWN_LINES.put(asked)
    return True


def _say(lines: str) -> None:
    session.move({_KEY: lines})
