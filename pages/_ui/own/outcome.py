"""What is asked about a table's outcome and people: bounds, given or bought, and whose rows they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpgp_core.accounting.guarantee import MOST_ROWS
from dpgp_core.bounds.buying import SHARE
from dpgp_core.bounds.cells import LEAST_UNIT, MOST_UNIT
from dpgp_core.reading.survey import Contents
from dpgp_core.release import Published
from dpgp_core.release.publishing import bounds_bought
from pages._ui import session
from pages._ui.look.text import plain
from pages._ui.own.slots import key

LABELS = ("y is at least", "y is at most")
BUY = "I do not know the bounds: buy them for a tenth of the budget"
_HELP_BOUNDS = (
    "The release first counts, with noise, how many people lie in 0 to 1, 1 to 2, 2 to 3, 3 to 5, 5 to 10, ... times "
    "the size that you give, and takes bounds from these counts alone. It is part of the same release: nothing is "
    "spent twice."
)
_COST = (
    "All else is then measured with {more:.0f} % more noise. About one person in a hundred lies outside the bounds, "
    "more in small tables, and is moved to the nearer one. Fewer than some two hundred people at ε = 1 are too few: "
    "the page says so before anything is spent. Gains and losses together want a thousand."
)


def bounds_asked(low: DeltaGenerator, high: DeltaGenerator) -> dict[str, Any]:
    """Both bounds, or the smallest size that matters.

    Args:
        low: where the lower bound is asked for.
        high: the upper one.
    """
    if session.control(key("buy_bounds", False)):  # of the choice below
        unit = low.number_input(
            "Smallest y that matters",
            min_value=LEAST_UNIT,
            max_value=MOST_UNIT,
            value=None,
            format="%g",
            key=key("bounds_unit"),
            help="A public guess, for example 0.01 for a wage in pounds, 1 for a count. Whatever is smaller counts as "
            "nothing for the bounds. They can be found up to 10^12 times this size. Where people lie beyond, the "
            "release is of no use and is spent all the same.",
        )
        high.text_input("Bounds of y", "bought with the release", disabled=True, key="own_fixed_bought")
        return {"low": None, "high": None, "bounds_unit": unit, "bought": True}
    lower = low.number_input(
        LABELS[0],
        value=None,
        key=key("low"),
        help="What you knew before you saw the table, for example 0 for a wage. Lower values are moved up to it. A "
        "narrow range needs less noise.",
    )
    upper = high.number_input(
        LABELS[1],
        value=None,
        key=key("high"),
        help="What you knew before, for example 80 for an hour's wage. Higher values are moved down to it.",
    )
    return {"low": lower, "high": upper, "bounds_unit": None, "bought": False}


def offered() -> None:
    """The choice to buy, and what it costs."""
    if st.checkbox(BUY, key=key("buy_bounds", False), help=_HELP_BOUNDS):
        st.caption(_COST.format(more=100 * ((1 - SHARE) ** -0.5 - 1)))


def missing(values: dict[str, Any]) -> dict[str, bool]:
    """What of it is still to declare, by name."""
    if values["bought"]:
        return {"the smallest y that matters": values["bounds_unit"] is None}
    return {"both bounds of y": None in (values["low"], values["high"])}


def declared(values: dict[str, Any]) -> dict[str, Any]:
    """The fields of a specification."""
    ends = None if values["bought"] else (values["low"], values["high"])
    return {"y_bounds": ends, "bounds_unit": values["bounds_unit"]}


def sentence(published: Published) -> str:
    """Which bounds were bought; nothing where they were declared."""
    words = plain(bounds_bought(published))
    return f" {words}" if words else ""


NO, COLUMN, AT_MOST = "no", "column", "at most"
_ANSWERS = {
    NO: "No, every row is another person",
    COLUMN: "Yes, a column says whose row it is",
    AT_MOST: "Yes, but nobody has more than a few rows",
}
_HELP_WHOSE = (
    "The noise hides a person only if it covers all of that person's rows. For example, children who were measured "
    "several times have several rows."
)
_MANY = "The number of people will stand on the card. The number of rows stays hidden where inputs are private."


def whose_asked(columns: Sequence[str], used: Sequence[str], survey: Mapping[str, Contents]) -> dict[str, Any]:
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
        help=_HELP_WHOSE,
    )
    if answer == COLUMN:
        return _column([name for name in columns if name not in used], survey)
    if answer == AT_MOST:
        return _at_most()
    return {"whose": answer == NO, "person": None, "rows_per_person": 1}


def _column(columns: Sequence[str], survey: Mapping[str, Contents]) -> dict[str, Any]:
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
