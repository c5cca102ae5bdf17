"""Reasons why cells cannot be read, each with one remedy for all cells that have it. No message holds a cell."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from enum import Enum

from ..dates import ORDERS, looks_like_a_date, parsed
from .notations import notation_of
from .rows import no_rows
from .writing import ANY_DATE, NUMBERS, TwoReadings, entries_of, two_ways, ways_of


class Fault(Enum):
    """Reason why a cell cannot be read, in words for a message."""

    EMPTY = "no value"
    TEXT = "text instead of a number"
    DATE = "a date instead of a number"
    WRITTEN = "a number that is written otherwise"
    CENSORED = "a censored value instead of a number"
    FEET = "feet and inches instead of a number"
    MULTIPLE = "a multiple instead of a number"
    TIME = "a clock time or a duration instead of a number"
    INFINITE = "an infinite value"
    NEITHER = "neither yes nor no"
    LEVEL = "none of its levels"
    NO_DATE = "text instead of a date"
    NUMBER = "a number instead of a date"
    ORDER = "a date in another order"
    CALENDAR = "a date that is in no calendar"
    NOBODY = "no name, so nobody knows whose row it is,"


_FEW = 3  # largest number of runs of lines that may be notes or units
NOTED = {
    "censored": Fault.CENSORED,
    "feet and inches": Fault.FEET,
    "multiples": Fault.MULTIPLE,
    "times": Fault.TIME,
}
"""Fault of a number in a notation that is not declared, by notation."""
_SHORT_YEAR = re.compile(r"[0-9]{2}([./-])[0-9]{1,2}\1[0-9]{1,2}")  # two digits may be a year or a day
_FOUR = "write years that come first with four digits, as 2024-03-31"
_UNIT_BEHIND = re.compile(
    r"(?P<number>[^A-Za-z\u00b5\u03bc\u00b0]{1,40}?)\s?(?P<unit>[^\W\d_\u00b0\u00b5]\S{0,20}|[\u00b0\u00b5]\S{1,20})"
)
_UNIT_BEFORE = re.compile(r"(?P<unit>[A-Z]{3}|[^\W\d_]{1,20}\.?(?=\s))\s?(?P<number>[^A-Za-z]{1,40})")
_MAY_BE_NO_ROWS = {Fault.TEXT, Fault.NO_DATE, Fault.CALENDAR, Fault.LEVEL}
_CORRECT = "declare these cells as missing if they mean that, or correct these rows"
_REMEDIES = {
    Fault.EMPTY: "declare missing, which may be an empty list, and rows without a value are left out",
    Fault.TEXT: _CORRECT,
    Fault.INFINITE: _CORRECT,
    Fault.CENSORED: 'declare "notations": ["censored"], and each counts as its limit: left out, they bias the curve',
    Fault.FEET: 'declare "notations": ["feet and inches"], and it is read in inches: bounds or box are in inches, too',
    Fault.MULTIPLE: 'declare "notations": ["multiples"], and 12k is read as 12,000',
    Fault.TIME: 'declare "notations": ["times"], and 8:30 and 8h30 are read as 8.5 hours',
    Fault.LEVEL: 'declare a level "other", which takes all others, or name these levels too',
    Fault.NO_DATE: _CORRECT,
    Fault.CALENDAR: _CORRECT,
    Fault.NUMBER: "declare the column a number: its box is then two numbers",
    Fault.NOBODY: "declare missing, which may be an empty list, and these rows are left out",
}


def remedy_of(
    fault: Fault,
    cells: Collection[str],
    share: float,
    name: str,
    *,
    lines: Sequence[int] = (),
    others: Collection[str] = (),
    outcome: bool = False,
) -> str:
    """Return one remedy for all cells of a column that have the same fault.

    Args:
        fault: the fault that all these cells have.
        cells: some of the faulty cells.
        share: share of all rows that have the fault.
        name: name of the column.
        lines: line numbers of all faulty cells; () if there are too many.
        others: some cells of the column that can be read.
        outcome: whether the column is the outcome, which has no box.
    """
    short = bool(cells) and all(_SHORT_YEAR.fullmatch(cell) and parsed(f"20{cell}", ORDERS[0]) for cell in cells)
    if fault is Fault.WRITTEN:
        if mark := mark_of((*cells, *others)):
            return remedy_of_two_readings(mark)
        way = next((way for way in NUMBERS if all(way in ways_of(cell) for cell in (*cells, *others))), "")
        return f'declare numbers "{way}"' if way else "write all numbers in one way, and declare it as numbers"
    if fault is Fault.ORDER:
        order = next((order for order in ORDERS if all(parsed(cell, order) for cell in (*cells, *others))), "")
        if not order:
            return "write all dates in one order, and declare it as date_order"
        return f'declare date_order "{order}"{f" if the day comes first, or {_FOUR}" if short else ""}'
    if fault is Fault.CALENDAR and short:
        return _FOUR
    if fault is Fault.DATE and outcome:
        return (
            f'if a date means yes, declare "y_kind": "yes/no" and "yes": [1, "{ANY_DATE}"], "no": [0] with the words '
            "that stand there, or write 1 and 0; if it means a missing value, declare it as missing"
        )
    if fault is Fault.DATE:
        return f"declare {name!r} a date: its box is then two dates"
    if fault is Fault.TEXT and share > 0.5:
        if cells and len({unit_next_to(cell) for cell in cells} - {""}) == 1:
            return "declare its unit as these cells write it, or write the numbers alone"
        return (
            "declare its levels if it holds categories, or yes and no if it is a yes/no outcome. "
            "Otherwise write it as numbers"
        )
    if fault in _MAY_BE_NO_ROWS and share <= 0.5 and 0 < len(entries_of(lines)) <= _FEW:
        return f"{no_rows(lines)} if they are no rows, {_REMEDIES[fault]}"
    return _REMEDIES[fault]


def mark_of(cells: Iterable[str]) -> str:
    """Return the mark in these cells that may separate thousands or a fraction; "" if the cells are unambiguous."""
    readings = TwoReadings()
    for cell in cells:
        readings.take(cell)
    return readings.mark


def remedy_of_two_readings(mark: str) -> str:
    """Return the remedy for numbers that can be read in two ways."""
    thousands, fraction = two_ways(mark)
    return (
        f'declare numbers "{thousands}" if 1{mark}234 means one thousand two hundred and thirty-four, or '
        f'"{fraction}" if it is a little more than 1'
    )


def counted(fault: Fault, name: str, wrong: int, rows: int, line: int, remedy: str) -> str:
    """Return a sentence that says how many rows of a column have a fault, and in which line the first one is."""
    where = f"in line {line} of the file"
    if wrong > 1:
        where = f"in {wrong:,} of {rows:,} rows, first {where}"
    return f"column {name!r} has {fault.value} {where}; {remedy}"


def unit_next_to(cell: str) -> str:
    """Return the word next to the number in a cell; "" if there is no number, or nothing else."""
    match = _UNIT_BEHIND.fullmatch(cell) or _UNIT_BEFORE.fullmatch(cell)
    return match["unit"] if match is not None and ways_of(match["number"]) else ""


def narrowed(fault: Fault, cell: str) -> Fault:
    """Return a more specific fault if text is in fact a date, or a number in a format that is not declared."""
    if fault is not Fault.TEXT:
        return fault
    if looks_like_a_date(cell):
        return Fault.DATE
    if ways_of(cell):
        return Fault.WRITTEN
    return NOTED.get(notation_of(cell)[0], fault)
