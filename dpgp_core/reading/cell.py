"""One cell of a table as the number that it stands for, or what is wrong with it. No message holds a cell."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Sequence
from enum import Enum

from ..dates import ORDERS, Dates, has_the_form_of_a_date, looks_like_a_date, parsed
from ..levels import Category
from .writing import NUMBERS, Words, Writing, as_float, as_number, entries_of, folded, ways_of

MOST_LINES = 20  # that a remedy names
_FEW = 3  # runs of lines, that may be notes or units


class Wrong(Enum):
    """Why a cell is not read, in a few words."""

    EMPTY = "no value"
    TEXT = "text instead of a number"
    DATE = "a date instead of a number"
    WRITTEN = "a number that is written otherwise"
    TIME = "a time of day instead of a number"
    INFINITE = "an infinite value"
    NEITHER = "neither yes nor no"
    LEVEL = "none of its levels"
    NO_DATE = "text instead of a date"
    NUMBER = "a number instead of a date"
    ORDER = "a date in another order"
    CALENDAR = "a date that is in no calendar"
    NOBODY = "no name, so nobody knows whose row it is,"


Read = Callable[[str], float | Wrong]
"""A cell without spaces around it: the number that it stands for, or what is wrong with it."""


def reader_of_numbers(writing: Writing, unit: str = "") -> Read:
    """Of a column of numbers, with their declared unit beside them or not."""
    numbers, missing, codes = writing.numbers, writing.missing_words, writing.missing_words.codes

    def read(cell: str) -> float | Wrong:
        value = as_number(cell, numbers)
        if value is None and unit and unit in cell:
            value = as_number(cell.removesuffix(unit).removeprefix(unit), numbers)
        if value is None or not math.isfinite(value):
            return _lacking(cell, missing) or (Wrong.TEXT if value is None or math.isnan(value) else Wrong.INFINITE)
        return Wrong.EMPTY if value in codes else value

    return read


def reader_of_yes_and_no(writing: Writing) -> Read:
    """Of an outcome of yes and no, whose words are declared; what is neither is missing."""
    yes, no, numbers, missing = writing.yes_words, writing.no_words, writing.numbers, writing.missing_words

    def read(cell: str) -> float | Wrong:
        if _stands(cell, yes, numbers):
            return 1.0
        if _stands(cell, no, numbers):
            return 0.0
        return Wrong.EMPTY if _stands(cell, missing, numbers) else Wrong.NEITHER

    return read


def reader_of_dates(dates: Dates, writing: Writing) -> Read:
    """Of a column of dates: whole days since the first."""
    missing, numbers = writing.missing_words, writing.numbers

    def read(cell: str) -> float | Wrong:
        days = dates.days(cell)
        if days is not None:
            return Wrong.EMPTY if folded(cell) in missing.texts else days
        if _stands(cell, missing, numbers):
            return Wrong.EMPTY
        if looks_like_a_date(cell):
            return Wrong.ORDER
        if has_the_form_of_a_date(cell):
            return Wrong.CALENDAR
        return Wrong.NO_DATE if as_number(cell, numbers) is None else Wrong.NUMBER

    return read


def reader_of_levels(category: Category, writing: Writing) -> Read:
    """Of a column that holds levels. A declared level is one, whatever else it might mean."""
    missing, numbers, levels = writing.missing_words, writing.numbers, category.levels

    def read(cell: str) -> float | Wrong:
        if cell not in levels and writing.missing is not None and _stands(cell, missing, numbers):
            return Wrong.EMPTY
        level = category.number_of(cell)
        if level is not None:
            return level
        return _lacking(cell, missing) or Wrong.LEVEL

    return read


def remedy_of(
    wrong: Wrong,
    cells: Collection[str],
    share: float,
    name: str,
    *,
    lines: Sequence[int] = (),
    others: Collection[str] = (),
) -> str:
    """What to do about all cells of a kind at once.

    Args:
        wrong: what is wrong with them.
        cells: some of them.
        share: of all rows.
        name: of the column.
        lines: where they are, all of them; () if they are too many.
        others: cells of the column that are read, some of them.
    """
    if wrong is Wrong.WRITTEN:
        way = next((way for way in NUMBERS if all(way in ways_of(cell) for cell in (*cells, *others))), "")
        return f'declare numbers "{way}"' if way else "write all numbers in one way, and declare it as numbers"
    if wrong is Wrong.ORDER:
        order = next((order for order in ORDERS if all(parsed(cell, order) for cell in (*cells, *others))), "")
        return (
            f'declare date_order "{order}"' if order else "write all dates in one order, and declare it as date_order"
        )
    if wrong is Wrong.DATE:
        return f"declare {name!r} a date: its box is then two dates"
    if wrong is Wrong.TEXT and share > 0.5:
        if cells and len({unit_beside(cell) for cell in cells} - {""}) == 1:
            return "declare its unit as these cells write it, or write the numbers alone"
        return (
            "declare its levels if it says which group somebody is in, or yes and no if it is an outcome of these. "
            "Otherwise write it as numbers"
        )
    if wrong in _MAY_BE_NO_ROWS and share <= 0.5 and 0 < len(entries_of(lines)) <= _FEW:
        return f"{no_rows(lines)} if they are no rows, {_REMEDIES[wrong]}"
    return _REMEDIES[wrong]


def no_rows(lines: Sequence[int]) -> str:
    """What to declare of lines that are notes, units, sums and the like."""
    return f'declare "ignore": {json.dumps(entries_of(lines))}'


def unit_beside(cell: str) -> str:
    """The word beside a number; "" where there is no number, or nothing but it."""
    match = _UNIT_BEHIND.fullmatch(cell) or _UNIT_BEFORE.fullmatch(cell)
    return match["unit"] if match is not None and ways_of(match["number"]) else ""


def read_number(cell: str, column: str, line: int) -> float:
    """One cell of a public file as a finite number; ValueError names column, line and remedy, never the cell."""
    value = as_float(cell)
    if value is not None and math.isfinite(value):
        return value
    if not cell.strip() or (value is not None and math.isnan(value)):
        wrong = Wrong.EMPTY
    else:
        wrong = Wrong.TEXT if value is None else Wrong.INFINITE
    raise ValueError(f"column {column!r} has {wrong.value} in line {line} of the file; fetch the file again")


def is_time(cell: str) -> bool:
    """Whether text is a time of day or a duration."""
    return _TIME.fullmatch(cell) is not None


def what_is_written(wrong: Wrong, cell: str) -> Wrong:
    """The same, looked at more closely: text may be a date, or a number that is written otherwise."""
    if wrong is not Wrong.TEXT:
        return wrong
    if looks_like_a_date(cell):
        return Wrong.DATE
    if is_time(cell):
        return Wrong.TIME
    return Wrong.WRITTEN if ways_of(cell) else wrong


_TIME = re.compile(r"\d{1,3}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[AaPp]\.?[Mm]\.?)?", re.ASCII)
_UNIT_BEHIND = re.compile(
    r"(?P<number>[^A-Za-z\u00b5\u03bc\u00b0]{1,40}?)\s?(?P<unit>[^\W\d_\u00b0\u00b5]\S{0,20}|[\u00b0\u00b5]\S{1,20})"
)
_UNIT_BEFORE = re.compile(r"(?P<unit>[A-Z]{3}|[^\W\d_]{1,20}\.?(?=\s))\s?(?P<number>[^A-Za-z]{1,40})")
_MAY_BE_NO_ROWS = {Wrong.TEXT, Wrong.NO_DATE, Wrong.CALENDAR, Wrong.LEVEL}
_CORRECT = "declare what stands there as missing if it means that, or correct these rows"
_REMEDIES = {
    Wrong.EMPTY: "declare missing, which may be an empty list, and rows without a value are left out",
    Wrong.TEXT: _CORRECT,
    Wrong.INFINITE: _CORRECT,
    Wrong.TIME: "write times as hours, 8.5 for 8:30, as a spreadsheet does with 24 times the time",
    Wrong.LEVEL: 'declare a level "other", which takes all others, or name these levels too',
    Wrong.NO_DATE: _CORRECT,
    Wrong.CALENDAR: _CORRECT,
    Wrong.NUMBER: "declare the column a number: its box is then two numbers",
    Wrong.NOBODY: "declare missing, which may be an empty list, and these rows are left out",
}


def _lacking(cell: str, missing: Words) -> Wrong | None:
    return Wrong.EMPTY if folded(cell) in missing.texts else None


def _stands(cell: str, words: Words, numbers: str) -> bool:
    """Whether a cell is one of these words or codes."""
    return folded(cell) in words.texts or bool(words.codes and as_number(cell, numbers) in words.codes)
