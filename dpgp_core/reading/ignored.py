"""Find the lines of a file that are not rows of the table: titles, notes, units, sums and repeated names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import BinaryIO

from .rows import NotDecoded, Table, WrongWidth, distinct, fields_of, may_be_a_record, plain_name, read_lines
from .survey import Contents
from .writing import Writing, entries_of

_NEAR = 100  # lines that are searched for the line of names


def lines_within(columns: Mapping[str, Contents]) -> tuple[int | str, ...]:
    """Return the lines within a table that are not rows: repeated names, a first row of units, a last row of sums.

    The first row is not part of the table if every column of numbers has a text there that occurs nowhere else. The
    last row is a sum if the first column of the table holds numbers in all other rows of the table, and such a text in
    this row.
    """
    found = set.intersection(*({*column.repeats} for column in columns.values())) if columns else set[int]()
    numbers = [column for column in columns.values() if column.ways and column.rows > 2]
    if numbers and all(column.alone[0] for column in numbers) and (len(numbers) > 1 or _texts(numbers[0]) == 1):
        found.add(numbers[0].ends[0])
    first = next(iter(columns.values()), None)
    if numbers and numbers[0] is first and first.alone[-1] and _texts(first) == len(found) + 1:
        found.add(first.ends[-1])
    return tuple(entries_of(found))


def _texts(column: Contents) -> int:
    """Return in how many rows a column of numbers holds no number."""
    return column.unread[column.ways[0]][0]


def with_ignored(stream: BinaryIO, writing: Writing, names: Sequence[str] = ()) -> Writing | None:
    """Return the writing of a table with titles above it or notes below it; None if there are no such lines.

    Args:
        stream: in binary mode, at the start of the table, and again afterwards.
        writing: declared writing.
        names: names of columns that the table must have.
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
    """Return the lines below ``above`` that have another number of fields than the table; None if it is not a table."""
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
    """Return whether the first line of a table is its line of names."""
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
    """Return the lines above the line of names; [] if there are none."""
    lines = list(islice(read_lines(stream, writing.encoding), _NEAR))
    stream.seek(0)
    best = (0, 0)  # number of rows of equal width, and the first of them that may hold names
    for mark in [writing.separator] if writing.separator else [",", ";", "\t", "|"]:
        rows = [distinct([plain_name(field) for field in fields_of(line, mark)]) for line in lines]
        [(width, count)] = Counter(len(row) for row in rows if len(row) > 1).most_common(1) or [(0, 0)]
        line = next((at for at, row in enumerate(rows, start=1) if _may_name(row, width, names)), 0)
        best = max(best, (count, line)) if line else best
    return list(range(1, best[1]))


def _may_name(row: Sequence[str], width: int, names: Sequence[str]) -> bool:
    """Return whether a row of a table with this number of columns may be its line of names."""
    filled = [name for name in row if name]
    return len(row) == width > 1 and {*names} <= {*row} and 2 * len(filled) > width and not may_be_a_record(filled)
