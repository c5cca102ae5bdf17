"""Declarations proposed from a table for the eyes of its owner: a configuration to check and fill in.

Nothing of it is private. A proposal becomes a declaration when the owner writes it into a configuration.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

from .. import checks
from ..levels import MOST_LEVELS
from .columns import unit_beside
from .rows import (
    NotDecoded,
    Table,
    WrongWidth,
    as_written,
    column_names,
    fields_of,
    may_be_a_record,
    plain_name,
    read_lines,
)
from .survey import Contents, survey, words_of
from .writing import NUMBERS, Writing, entries_of, folded, ways_of

MARK = "not_private"
_MARKED = (
    "proposed by looking at the table, for the eyes of its owner: check every line, and fill in from what you knew "
    "before, above all y_bounds and x_box, which are null"
)
_TRIED = (None, "cp1252", "latin-1", "utf-16")  # UTF-8 first
_TRUE = ("true", "wahr", "vrai", "verdadero", "verdadeiro", "vero", "waar", "sand", "sant")  # of spreadsheets
_FALSE = ("false", "falsch", "faux", "falso", "onwaar", "falsk", "falskt")
_YES = ("yes", "y", "t", "positive", "pos", "ja", "oui", "si", "sí", "sim", "1", "present", "success", *_TRUE)
_NO = ("no", "n", "f", "negative", "neg", "nein", "non", "não", "0", "absent", "failure", *_FALSE)
_LABELLED = re.compile(r"[(\[]?\d{1,3}(?:[)\].:=-]| -)?\s+(?=\D)")  # a code before its label, "1. Yes", as SPSS exports
_MOST_DELTA = 1e-5
_MOST_ANSWERS = 8  # words of an outcome that may be yes and no
_SOME = 50  # texts of a column in which its unit is looked for
_NEAR = 100  # lines in which the line of names is looked for
_MOST_GAPS = 8  # words of a column of numbers or dates that may mean a missing value


class Look(NamedTuple):
    """Declarations that could be made.

    Attributes:
        writing: how the table seems to be written; nothing of words.
        columns: contents of each.
    """

    writing: Writing
    columns: Mapping[str, Contents]


def look(stream: BinaryIO, names: Sequence[str] = ()) -> Look:
    """Read a table once and find its writing and the contents of its columns.

    Args:
        names: of columns that will be used, which decide where there are some.

    Raises:
        ValueError: it is no table.
    """
    problems = list[NotDecoded]()
    for encoding in _TRIED:
        try:
            writing, columns = _surveyed(stream, Writing(encoding=encoding), names)
        except NotDecoded as error:
            problems.append(error)
            stream.seek(0)
            continue
        used = [columns[name] for name in names if name in columns] or list(columns.values())
        return Look(replace(writing, numbers=numbers_of(used), date_order=order_of_dates(used)), columns)
    raise problems[0]


def _surveyed(stream: BinaryIO, declared: Writing, names: Sequence[str]) -> tuple[Writing, dict[str, Contents]]:
    """Contents of the columns, also of a table between lines that are no rows."""
    declared = with_ignored(stream, declared, names) or declared
    writing = as_written(stream, declared)
    header = column_names(stream, writing)
    stream.seek(0)
    columns = survey(stream, header, writing)
    stream.seek(0)
    if lines := lines_within(columns):
        writing = replace(writing, ignore=(*(writing.ignore or ()), *lines))
        columns = survey(stream, list(columns), writing)
        stream.seek(0)
    return writing, columns


def lines_within(columns: Mapping[str, Contents]) -> tuple[int | str, ...]:
    """The first row of a table, if its columns of numbers have text there alone, their units; and the last likewise.

    The last one is a sum where the first column of the table has text there, and numbers elsewhere.
    """
    numbers = [column for column in columns.values() if column.ways]
    units = bool(numbers) and all(_is_text_alone(column, 0) for column in numbers)
    total = bool(numbers) and numbers[0] is next(iter(columns.values())) and _is_text_alone(numbers[0], -1)
    return tuple(entries_of(numbers[0].ends[at] for at, there in ((0, units), (-1, total)) if there))


def _is_text_alone(column: Contents, end: int) -> bool:
    """Whether a column of numbers has text in its first or last row alone."""
    return column.rows > 2 and column.unread[column.ways[0]] == (1, column.ends[end])


def numbers_of(columns: Sequence[Contents]) -> str:
    """The way of writing numbers that reads most of some columns."""
    ways = [each.ways[0] for each in columns if each.ways]
    return max(dict.fromkeys(way for way in ways if way != "1234.5"), key=ways.count, default="1234.5")


def order_of_dates(columns: Sequence[Contents]) -> str | None:
    """The order that reads most of the columns of dates; None without any, or if it is year, month and day."""
    orders = [each.orders[0] for each in columns if each.orders and not each.ways]
    return max(dict.fromkeys(orders), key=orders.count, default=None)


def proposal(stream: BinaryIO, x: Sequence[str] = (), y: str | None = None) -> tuple[dict[str, Any], list[str]]:
    """A configuration that could be declared, and the contents of each column in a line. Not private.

    Args:
        x: names of the inputs; () for one that is proposed, too.
        y: name of the outcome; None likewise.

    Raises:
        ValueError: it is no table, or has no such columns.
    """
    x, y = [plain_name(name) for name in x], None if y is None else plain_name(y)
    asked = [*x, *([] if y is None else [y])]
    first = look(stream, asked)
    for name in asked:
        if name not in first.columns:
            stream.seek(0)
            names = Table(stream, first.writing).listed
            raise ValueError(f"the file has no column {checks.excerpt(name)} of its own; its columns are: {names}")
    y = y or _outcome(first.columns)
    inputs = list(x) or _inputs(first.columns, y)
    table = look(stream, [*inputs, *([] if y is None else [y])])
    stream.seek(0)
    rows = next(iter(first.columns.values())).rows if first.columns else 0
    configuration, gaps, units = _configuration(stream, table, inputs, y, rows)
    lines = [f"{name}: {described(column, table.writing.numbers)}" for name, column in table.columns.items()]
    lines += [
        f"{name}: proposed as missing, as they are no numbers: {', '.join(words)}" for name, words in gaps.items()
    ]
    lines += [f"{name}: numbers in {unit}, proposed as their unit" for name, unit in units.items()]
    if table.writing.ignore:
        lines.append(f"lines {', '.join(map(str, table.writing.ignore))}: proposed to be no rows of the table")
    return configuration, lines


def described(column: Contents, numbers: str = "1234.5") -> str:
    """Likely contents of a column, in words. Not private."""
    if column.ways:
        text = "numbers" if numbers in column.ways or column.ways[0] == "1234.5" else f"numbers, as {column.ways[0]}"
        text += "".join(f"; {code:g} in {rows:,} rows may mean missing" for code, rows in column.codes.items())
    elif column.orders:
        text = f"dates, {' or '.join(column.orders)}"
    elif column.values:
        text = f"{column.values:,} different words" if column.holds_words else "text"
    else:
        text = "nothing"
    return f"{text}; {column.usual:,} of {column.rows:,} rows lack a value" if column.usual else text


def yes_and_no(words: Sequence[str]) -> tuple[str | None, str | None]:
    """Which of some words may mean yes, and which no; None where none does."""

    def first_of(meanings: Sequence[str]) -> str | None:
        return next((word for word in words if folded(_LABELLED.sub("", word, count=1)) in meanings), None)

    yes, no = first_of(_YES), first_of(_NO)
    others = [word for word in words if word not in (yes, no)]
    if len(words) == 2 and len(others) == 1:
        return yes or others[0], no or others[0]
    return yes, no


def usual_delta(rows: int) -> float:
    """A tenth of 1/n or less, and 1e-5 at most."""
    return float(min(_MOST_DELTA, 10.0 ** math.floor(math.log10(0.1 / max(rows, 1)))))


def missing_of(columns: Sequence[Contents]) -> list[str | float] | None:
    """Codes that may mean that a value is missing; None where every row has a value in these columns."""
    codes: list[str | float] = [*dict.fromkeys(code for each in columns for code in each.codes)]
    return codes if codes or any(each.usual for each in columns) else None


def _configuration(
    stream: BinaryIO, table: Look, x: Sequence[str], y: str | None, rows: int
) -> tuple[dict[str, Any], dict[str, list[str]], dict[str, str]]:
    """The configuration; words that may mean that a value is missing, and units beside numbers, by column."""
    used = [*x, *([] if y is None else [y])]
    columns = [table.columns[name] for name in used]
    words, gaps, units = dict[str, list[str]](), dict[str, list[str]](), dict[str, str]()
    numbers = table.writing.numbers
    for name, column in zip(used, columns, strict=True):
        unit, way = ("", "") if column.ways or column.orders else unit_of(words_of(stream, name, table.writing, _SOME))
        stream.seek(0)
        if unit:
            units[name], numbers = unit, way
        elif column.holds_words and column.values <= (MOST_LEVELS if name in x else _MOST_ANSWERS):
            words[name] = words_of(stream, name, table.writing, MOST_LEVELS + 1)
        elif among := _words_among(stream, name, table):
            gaps[name] = among
        stream.seek(0)
    yes, no = yes_and_no(words[y]) if y in words else (None, None)
    two_valued = y is not None and (y in words or _is_zero_or_one(table.columns[y]))
    missing = missing_of(columns)
    if gaps:
        missing = [*(missing or []), *dict.fromkeys(word for among in gaps.values() for word in among)]
    writing = asdict(table.writing) | {"numbers": numbers, "missing": missing, "yes": yes, "no": no}
    levels = [sorted(words[name]) if name in words else None for name in x]
    grid = [None if name in words else 51 if len(x) - len(set(words) & {*x}) == 1 else 20 for name in x]
    return (
        (
            {MARK: _MARKED, "x": list(x), "x_box": None}
            | ({"x_levels": levels} if any(levels) else {})
            | ({"x_units": [units.get(name, "") for name in x]} if {*units} & {*x} else {})
            | ({"y_unit": units[y]} if y in units else {})
            | {"y": y, "y_bounds": None, "y_kind": "yes/no" if two_valued else "number"}
            | {"unit": f"one person's {y}", "grid": grid, "epsilon": 1.0, "delta": usual_delta(rows)}
            | writing
        ),
        gaps,
        units,
    )


def unit_of(cells: Sequence[str]) -> tuple[str, str]:
    """The unit beside the number in each of some cells, and the way of writing these; "" for none."""
    units = {unit_beside(cell) for cell in cells}
    unit = units.pop() if len(units) == 1 else ""
    bare = [cell.removesuffix(unit).removeprefix(unit) for cell in cells]
    way = next((way for way in NUMBERS if all(way in ways_of(cell) for cell in bare)), "") if unit else ""
    return (unit, way) if way else ("", "")


def _words_among(stream: BinaryIO, name: str, table: Look) -> list[str]:
    """Words among the numbers or dates of a column, if they are few."""
    column, numbers = table.columns[name], table.writing.numbers
    if numbers in column.ways:
        among = (
            words_of(stream, name, table.writing, _MOST_GAPS + 1, numbers=numbers) if column.unread[numbers][0] else []
        )
    elif column.orders and column.undated[column.orders[0]][0]:
        among = words_of(stream, name, table.writing, _MOST_GAPS + 1, order=column.orders[0])
    else:
        return []
    return among if len(among) <= _MOST_GAPS else []


def with_ignored(stream: BinaryIO, writing: Writing, names: Sequence[str] = ()) -> Writing | None:
    """Writing of a table with titles above it or notes below; None where there are none.

    Args:
        stream: in binary mode, at the start of the table, and again afterwards.
        names: of columns that must be there.
    """
    if writing.ignore is not None:
        return None
    first: list[list[int]] = [[]] if _starts_with_names(stream, writing, names) else []
    for above in (*first, _lines_above_names(stream, writing, names)):
        below = _of_other_width(stream, writing, above)
        if below is not None:
            ignored = tuple(entries_of([*above, *below]))
            return replace(writing, ignore=ignored) if ignored else None
    return None


def _of_other_width(stream: BinaryIO, writing: Writing, above: Sequence[int]) -> Sequence[int] | None:
    """Lines whose width is not that of the table below some lines; None where it is not a table's."""
    try:
        for _ in Table(stream, replace(writing, ignore=tuple(entries_of(above)) or None)):
            pass
    except WrongWidth as error:
        return error.lines or None
    except ValueError:
        return None
    finally:
        stream.seek(0)
    return ()


def _starts_with_names(stream: BinaryIO, writing: Writing, names: Sequence[str]) -> bool:
    """Whether the first line of a table is its line of names."""
    try:
        first = Table(stream, writing).names
        return not may_be_a_record(first) and {*names} <= {*first} and sum(map(bool, first)) > 1
    except NotDecoded:
        raise
    except ValueError:
        return False
    finally:
        stream.seek(0)


def _lines_above_names(stream: BinaryIO, writing: Writing, names: Sequence[str]) -> list[int]:
    """The lines above the line of names; [] if there is none."""
    lines = list(islice(read_lines(stream, writing.encoding), _NEAR))
    stream.seek(0)
    best = (0, 0)  # rows of equal width, and the first of them that may hold names
    for mark in [writing.separator] if writing.separator else [",", ";", "\t", "|"]:
        rows = [[plain_name(field) for field in fields_of(line, mark)] for line in lines]
        [(width, count)] = Counter(len(row) for row in rows if len(row) > 1).most_common(1) or [(0, 0)]
        line = next((at for at, row in enumerate(rows, start=1) if _may_name(row, width, names)), 0)
        best = max(best, (count, line)) if line else best
    return list(range(1, best[1]))


def _may_name(row: Sequence[str], width: int, names: Sequence[str]) -> bool:
    """Whether a row of a table of some width may be its line of names."""
    filled = [name for name in row if name]
    return len(row) == width > 1 and {*names} <= {*row} and 2 * len(filled) > width and not may_be_a_record(filled)


def _outcome(columns: Mapping[str, Contents]) -> str | None:
    """The last column that may be an outcome: of numbers, or of a few words."""
    usable = [name for name, each in columns.items() if each.ways or (each.holds_words and each.values < MOST_LEVELS)]
    return usable[-1] if usable else None


def _inputs(columns: Mapping[str, Contents], y: str | None) -> list[str]:
    """The first other column of numbers that are not a number for every row, or else of dates."""
    numbers = [name for name, each in columns.items() if name != y and each.ways and each.values < each.rows]
    dates = [name for name, each in columns.items() if name != y and each.orders and not each.ways]
    others = [name for name, each in columns.items() if name != y and each.ways]
    return (dates or numbers or others)[:1]


def _is_zero_or_one(column: Contents) -> bool:
    rows = column.texts.rows
    return rows is not None and column.values == 2 and all(column.texts.digest(each) in rows for each in "01")
