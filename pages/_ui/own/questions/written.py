"""How the table is written, asked where it is not plain: numbers, what means missing, and the words for yes and no."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import streamlit as st

from dpgp_core.dates import Format
from dpgp_core.reading.survey import Column
from dpgp_core.reading.writing import NUMBERS
from pages._ui import session
from pages._ui.look.text import plain
from pages._ui.own import remembered, upload
from pages._ui.own.remembered import PREFIX, key, standing
from pages._ui.own.upload import Table

USUAL = "an empty cell, NA and the like"
_NUMBERS_HELP = (
    "Declared, never guessed: 1,234 is a thousand to some and little more than one to others. Marks between thousands "
    "may be left out in the table; marks of a currency and of per cent are passed over."
)
_MISSING_HELP = (
    "Rows that hold one of these in a column that is used are left out. What is not chosen counts as an outcome, "
    "for example -999 as the lowest. You may type another word or number. How many rows are complete is published."
)


def numbers(columns: Iterable[Column]) -> str:
    """How numbers are written: asked where a column that is used has numbers that are not plain.

    Args:
        columns: those that are used.
    """
    if not any(each.ways and each.ways[0] != "1234.5" for each in columns) and standing("numbers") in (None, "1234.5"):
        return "1234.5"
    return str(
        st.selectbox("How are numbers written?", list(NUMBERS), key=key("numbers", "1234.5"), help=_NUMBERS_HELP)
    )


def declares_missing() -> bool:
    """Whether something stands declared as missing, in the control further down."""
    return bool(standing("missing"))


def missing(
    names: Sequence[str], held: Table, way: str, free: str | None, formats: Mapping[str, Format]
) -> dict[str, Any]:
    """What means that a value is missing: one question, where a column that is used has such cells.

    Args:
        names: of the columns that are used.
        held: the table.
        way: how numbers are written.
        free: an outcome of yes and no, whose other words are missing anyway.
        formats: how the inputs that are dates are written, by name.

    Returns:
        ``missing``, as a specification has it, and ``gaps_declared``.
    """
    columns = {name: held.survey[name] for name in names if name != free}
    lacking = sum(each.usual for each in columns.values())
    offered = [USUAL] if lacking else []
    for name, each in columns.items():
        offered += [f"{code:g}" for code in each.codes]
        if name in formats and formats[name] in each.orders:
            offered += upload.words(held, name, order=formats[name]) if each.undated[formats[name]][0] else []
        elif way in each.ways and each.unread[way][0]:
            offered += upload.words(held, name, numbers=way)
    chosen = list(standing("missing") or [])
    if not offered and not chosen:
        return {"missing": None, "gaps_declared": True}
    options = list(dict.fromkeys([*offered, *chosen]))
    chosen = st.multiselect(
        "Which of these mean that a value is missing?",
        options,
        key=key("missing", []),
        accept_new_options=True,
        placeholder="Choose, or type a word or a number",
        help=_MISSING_HELP,
    )
    if lacking:
        cells = ", ".join(f"{each.usual:,} of {plain(name)}" for name, each in columns.items() if each.usual)
        st.caption(
            f"Empty cells, NA and the like: {cells}, in {held.rows:,} rows. Rows with one of them can be left out."
        )
    declared = None if not chosen else tuple(word for word in chosen if word != USUAL)
    return {"missing": declared, "gaps_declared": not lacking or bool(chosen)}


def yes_and_no(y: str, held: Table) -> dict[str, Any]:
    """Which words of the outcome mean yes and no, where it is not written 1 and 0.

    Args:
        y: the outcome.
        held: the table.

    Returns:
        ``yes`` and ``no``, both None where they are not asked for; ``words_declared``.
    """
    words = upload.words(held, y)
    if not words or {*words} <= {"0", "1", "0.0", "1.0"}:
        return {"yes": None, "no": None, "words_declared": True}
    left, right = st.columns(2)
    yes = left.selectbox("Yes is written", words, index=None, key=key("yes"), help="What is neither is left out.")
    others = [word for word in words if word != yes]
    if yes is not None and len(others) == 1 and session.control(f"{PREFIX}no") not in others:
        session.move({f"{PREFIX}no": others[0]})
    no = right.selectbox("No is written", others, index=None, key=key("no"))
    both = yes is not None and no is not None
    return {"yes": yes if both else None, "no": no if both else None, "words_declared": both}


def offer_yes_and_no(y: str) -> None:
    """One click to say that an outcome that holds words is one of yes and no."""
    st.info(f"{plain(y)} holds words: is it yes or no?", icon=":material/rule:")
    st.button("Yes, an outcome of yes or no", key="own_say_kind", on_click=_is_yes_or_no, icon=":material/rule:")


def unit_said(name: str, control: str, held: Table, way: str) -> bool | None:
    """Whether the unit beside the numbers of a column is said, offered in one click; None where there is none.

    Args:
        name: of the column.
        control: for its unit.
        held: the table.
        way: how numbers are written.
    """
    unit, written = upload.unit(held, name)
    if not unit:
        return None
    if standing(control) == unit and way == written:
        return True
    st.info(f"{plain(name)} holds numbers with {plain(unit)} beside them: is that their unit?", icon=":material/rule:")
    said = {control: unit, "numbers": written}
    st.button(f"Yes, in {plain(unit)}", key=f"own_say_{control}", on_click=_say, args=(said,), icon=":material/rule:")
    return False


def _say(said: Mapping[str, str]) -> None:
    session.move({f"{PREFIX}{control}": value for control, value in said.items()})
    remembered.keep()


def _is_yes_or_no() -> None:
    session.move({f"{PREFIX}kind": "yes/no"})
    remembered.keep()
