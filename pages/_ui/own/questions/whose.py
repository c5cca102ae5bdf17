"""Whose rows a table holds: the question that no release can leave open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dpgp_core.accounting.guarantee import MOST_ROWS
from dpgp_core.reading.survey import Column
from pages._ui.look.text import plain
from pages._ui.own.remembered import key

NO, COLUMN, AT_MOST = "no", "column", "at most"
_ANSWERS = {
    NO: "No, every row is another person",
    COLUMN: "Yes, a column says whose row it is",
    AT_MOST: "Yes, but nobody has more than a few rows",
}
_HELP = (
    "The noise hides a person only if it covers all of that person's rows. For example, children who were measured "
    "several times have several rows."
)
_MANY = "The number of people will stand on the card. The number of rows stays hidden where inputs are private."


def asked(columns: Sequence[str], used: Sequence[str], survey: Mapping[str, Column]) -> dict[str, Any]:
    """The question, and what its answer needs.

    Args:
        columns: names in the header.
        used: those that are the output or inputs.
        survey: what each column holds.

    Returns:
        ``whose``, whether it is answered; ``person``, the column, or None; and ``rows_per_person``.
    """
    answer = st.radio(
        "Can somebody have more than one row?",
        list(_ANSWERS),
        index=None,
        format_func=_ANSWERS.__getitem__,
        horizontal=True,
        key=key("whose"),
        help=_HELP,
    )
    if answer == COLUMN:
        return _column([name for name in columns if name not in used], survey)
    if answer == AT_MOST:
        return _at_most()
    return {"whose": answer == NO, "person": None, "rows_per_person": 1}


def _column(columns: Sequence[str], survey: Mapping[str, Column]) -> dict[str, Any]:
    person = st.selectbox(
        "Whose row it is",
        columns,
        index=None,
        key=key("person"),
        help="A number or name that is the same in all rows of one person, for example a patient number. It is used to "
        "count everybody once, and is never released.",
    )
    problem = person is not None and survey[person].as_people(person)
    if problem:
        st.error(plain(f"{problem}."))
    elif person is not None:
        st.caption(f"{survey[person].values:,} people in {survey[person].rows:,} rows. {_MANY}")
    return {"whose": person is not None and not problem, "person": person, "rows_per_person": 1}


def _at_most() -> dict[str, Any]:
    most = st.number_input(
        "Most rows of one person",
        min_value=2,
        max_value=MOST_ROWS,
        value=None,
        key=key("most_rows"),
        help="For example 4, if everybody was asked in at most four years. The noise is made for so many rows: twice "
        "as many need twice the noise. Who has more rows is hidden less.",
    )
    return {"whose": most is not None, "person": None, "rows_per_person": 1 if most is None else int(most)}
