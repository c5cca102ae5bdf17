"""Named columns of a table as numbers. What is wrong is counted to the end, so that one remedy serves all rows."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, NamedTuple

import numpy as np

from ..arrays import FloatArray
from ..dates import Dates
from ..levels import Category
from .cell import (
    MOST_LINES,
    Read,
    Wrong,
    reader_of_dates,
    reader_of_levels,
    reader_of_numbers,
    reader_of_yes_and_no,
    remedy_of,
    what_is_written,
)
from .csv_rows import opened
from .lines import MAX_BYTES
from .writing import Writing, folded

_LOOKED_AT = 1_000  # cells of a column, of those that are not read


class Columns(NamedTuple):
    """What was read.

    Attributes:
        values: of complete rows (n, k), and a number for each person behind them if there are people.
        left_out: rows that lack a value in one of the columns; or people who have no row without such a gap.
        neither: rows whose outcome is neither of the words for yes and no, nor one for a missing value. Not private.
    """

    values: FloatArray
    left_out: int
    neither: int = 0


@dataclass
class Problem:
    """Cells of one column that are not read for one reason.

    Attributes:
        rows: how many.
        lines: of the first in the file.
        cells: some of them; in no message.
    """

    rows: int = 0
    lines: list[int] = field(default_factory=list)
    cells: set[str] = field(default_factory=set, repr=False)


def readers_of(
    columns: Sequence[str],
    read_as: Mapping[str, Dates | Category],
    writing: Writing,
    two_valued: str | None = None,
    units: Mapping[str, str] | None = None,
) -> list[Read]:
    """How a cell of each column is read: as a number if nothing else is said.

    Args:
        columns: their names.
        read_as: those that are dates or categories, by name.
        writing: how the table is written.
        two_valued: name of an outcome of yes and no.
        units: of columns, by name, which may stand beside their numbers.
    """
    of = units or {}
    return [_reader(name, read_as.get(name), writing, two_valued, of.get(name, "")) for name in columns]


def _reader(name: str, read_as: Dates | Category | None, writing: Writing, two_valued: str | None, unit: str) -> Read:
    if isinstance(read_as, Dates):
        return reader_of_dates(read_as, writing)
    if isinstance(read_as, Category):
        return reader_of_levels(read_as, writing)
    if name == two_valued and writing.two_valued:
        return reader_of_yes_and_no(writing)
    return reader_of_numbers(writing, unit)


def read_columns(
    stream: BinaryIO,
    columns: list[str],
    *,
    max_rows: int,
    writing: Writing | None = None,
    person: str | None = None,
    read_as: Sequence[Dates | Category] = (),
    two_valued: str | None = None,
    units: Mapping[str, str] | None = None,
) -> Columns:
    """Read named columns of a stream with a header line; keep nothing else of it.

    Args:
        stream: file object in binary mode, read from where it stands.
        columns: names of the k columns wanted, in the order wanted.
        max_rows: refuse the file at the first complete row beyond this many, or at the first such person, where rows
            say whose they are: how many rows people have may be private, their number is not.
        writing: how the table is written; None for a plain CSV.
        person: name of the column that says whose row it is, in any text; None: there is none.
        read_as: of the columns, those that are no numbers; they become numbers as each says.
        two_valued: of the columns, an outcome of yes and no: read by the words for these, where they are declared.
        units: of columns, by name, which may stand beside their numbers.

    Returns:
        Complete rows, 2 <= n <= max_rows; people are 2 ... max_rows where there are any.

    Raises:
        ValueError: the stream is no such table. The message names the column, how many rows are concerned, the line
            of the first (the header is line 1) and a remedy for all, never the content of a cell.
    """
    header, rows = opened(stream, writing, max_bytes=MAX_BYTES)
    writing = header.writing
    *places, whose = header.places([*columns, columns[0] if person is None else person])
    readers = readers_of(columns, {each.name: each for each in read_as}, writing, two_valued, units)
    pairs = list(zip(readers, places, strict=True))
    free = {two_valued} if writing.two_valued else set()  # where a gap needs no further declaration
    problems = _Problems(columns, [writing.missing is not None or name in free for name in columns], person)
    people, complete = dict[str, int](), set[int]()
    values = array("d")  # 8 bytes a value, against 32 in a list
    count = kept = 0
    for line, row in rows:
        count += 1
        numbers = [read(row[place]) for read, place in pairs]
        found = [number for number in numbers if isinstance(number, float)]
        if count <= _LOOKED_AT:
            problems.saw([row[place] for place in places], numbers)
        if len(found) < len(numbers):
            for at, wrong in enumerate(numbers):
                if isinstance(wrong, Wrong):
                    problems.found(at, wrong, row[places[at]], line)
        whom = -1
        if person is not None:
            name = row[whose]
            if folded(name) in writing.missing_words.texts if writing.missing is not None else not name:
                problems.found(len(columns), Wrong.NOBODY, "", line)
                continue
            whom = people.setdefault(name, len(people))
        if len(found) < len(numbers):
            continue
        kept += 1
        values.extend(found)
        if person is not None:
            values.append(whom)
            complete.add(whom)
        if (kept if person is None else len(complete)) > max_rows:
            counted = "rows" if person is None else "people"
            raise ValueError(f"the file has more than {max_rows} {counted}, the limit; keep a random sample of them")
    problems.refuse(count, leaves_out=writing.missing is not None)
    if person is not None and count and len(complete) < 2:
        raise ValueError(f"the file has {len(complete)} different people below its header; it needs 2 ... {max_rows}")
    _check_enough(count, kept)
    left_out = count - kept if person is None else len(people) - len(complete)
    return Columns(np.array(values).reshape(kept, -1), left_out, problems.neither)


class _Problems:
    """What is wrong, by column and reason.

    Args:
        columns: names of those that are read.
        may_lack: whether each may lack a value.
        person: the column of people.

    Attributes:
        neither: outcomes that are neither yes nor no, and are missing therefore.
    """

    def __init__(self, columns: Sequence[str], may_lack: Sequence[bool], person: str | None) -> None:
        self._names, self._may_lack = [*columns, person or ""], may_lack
        self._found: dict[tuple[int, Wrong], Problem] = {}
        self._read = [set[str]() for _ in columns]
        self.neither = 0

    def saw(self, cells: Sequence[str], numbers: Sequence[float | Wrong]) -> None:
        """Keep the cells of a row that are read, by column."""
        for read, cell, number in zip(self._read, cells, numbers, strict=True):
            if isinstance(number, float):
                read.add(cell)

    def found(self, column: int, wrong: Wrong, cell: str, line: int) -> None:
        """Count one cell."""
        if wrong is Wrong.NEITHER:
            self.neither += 1
            return
        if wrong is Wrong.EMPTY and self._may_lack[column]:
            return
        known = self._found.get((column, wrong))
        if known is None or known.rows < _LOOKED_AT:
            wrong = what_is_written(wrong, cell)
            known = self._found.setdefault((column, wrong), Problem())
            known.cells.add(cell)
        known.rows += 1
        if len(known.lines) <= MOST_LINES:
            known.lines.append(line)

    def refuse(self, rows: int, *, leaves_out: bool) -> None:
        """Raise ValueError for what concerns most rows, if there is anything."""
        found = [(key, each) for key, each in self._found.items() if not (key[1] is Wrong.NOBODY and leaves_out)]
        if not found:
            return
        (column, wrong), most = max(found, key=lambda pair: pair[1].rows)
        name = self._names[column]
        lines = most.lines if most.rows <= MOST_LINES else ()
        read = self._read[column] if column < len(self._read) else ()
        remedy = remedy_of(wrong, most.cells, most.rows / rows, name, lines=lines, others=read)
        where = f"in line {most.lines[0]} of the file"
        if most.rows > 1:
            where = f"in {most.rows:,} of {rows:,} rows, first {where}"
        sentence = f"column {name!r} has {wrong.value} {where}; {remedy}"
        raise ValueError(sentence)


def _check_enough(rows: int, kept: int) -> None:
    if rows < 2:
        raise ValueError(f"the file has {rows} row{'' if rows == 1 else 's'} below its header; it needs at least 2")
    if kept < 2:
        raise ValueError(
            f"{kept} of {rows:,} rows have a value in every column that is used; at least 2 are needed: check what is "
            "declared as missing, yes and no"
        )
