"""Convert named columns of a table to numbers, and count the cells that cannot be converted.

All rows are read before an error is raised, so that one remedy covers every faulty row. No message contains a cell.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, NamedTuple

import numpy as np

from ..arrays import FloatArray
from ..dates import Dates, has_the_form_of_a_date, looks_like_a_date
from ..levels import Levels, level_number
from ..table import Column
from .faults import Fault, counted, narrowed, remedy_of, remedy_of_two_readings
from .notations import as_noted
from .rows import MOST_LINES, Table
from .writing import AS_USUAL, TwoReadings, Writing, as_float, as_number, folded

_THOUSAND = 1_000
_LOOKED_AT = 1_000  # cells that are kept of each column


ReadCell = Callable[[str], float | Fault]
"""Function from a cell without surrounding spaces to its number or its fault."""


def reader_of_numbers(writing: Writing, unit: str = "") -> ReadCell:
    """Return a reader for a column of numbers, which may contain their declared unit or use the declared notations."""
    numbers, notations, missing = writing.number_format, writing.notations or (), writing.missing_words

    def read(cell: str) -> float | Fault:
        value = as_number(cell, numbers)
        if value is None and unit and unit in cell:
            value = as_number(cell.removesuffix(unit).removeprefix(unit), numbers)
        if value is None and notations and folded(cell) not in missing.texts:
            value = as_noted(cell, notations, numbers)
        if value is None or not math.isfinite(value):
            if folded(cell) in missing.texts:
                return Fault.EMPTY
            return Fault.TEXT if value is None or math.isnan(value) else Fault.INFINITE
        return Fault.EMPTY if value in missing.codes else value

    return read


def reader_of_yes_and_no(writing: Writing) -> ReadCell:
    """Return a reader for a yes/no outcome whose words are declared. Any other cell counts as missing."""
    yes, no, missing = writing.yes_words, writing.no_words, writing.missing_words

    def read(cell: str) -> float | Fault:
        if cell in yes:
            return 1.0
        if cell in no:
            return 0.0
        return Fault.EMPTY if cell in missing else Fault.NEITHER

    return read


def reader_of_dates(dates: Dates, writing: Writing) -> ReadCell:
    """Return a reader for a column of dates. A date is converted to whole days since the first day of its box."""
    missing = writing.missing_words

    def read(cell: str) -> float | Fault:
        days = dates.days(cell)
        if days is not None:
            return Fault.EMPTY if folded(cell) in missing.texts else days
        if cell in missing:
            return Fault.EMPTY
        if looks_like_a_date(cell):
            return Fault.ORDER
        if has_the_form_of_a_date(cell):
            return Fault.CALENDAR
        return Fault.NO_DATE if as_number(cell, writing.number_format) is None else Fault.NUMBER

    return read


def reader_of_levels(levels: Levels, writing: Writing) -> ReadCell:
    """Return a reader for a categorical column. A declared category comes before any other meaning of a cell."""
    missing = writing.missing_words

    def read(cell: str) -> float | Fault:
        if cell not in levels and writing.missing is not None and cell in missing:
            return Fault.EMPTY
        level = level_number(cell, levels)
        if level is not None:
            return level
        return Fault.EMPTY if folded(cell) in missing.texts else Fault.LEVEL

    return read


def reader_of(column: Column, writing: Writing) -> ReadCell:
    """Return the reader for a column: of dates or categories if these are declared, otherwise of numbers."""
    if column.dates is not None:
        return reader_of_dates(column.dates, writing)
    if column.levels is not None:
        return reader_of_levels(column.levels, writing)
    return reader_of_numbers(writing, column.unit)


def read_number(cell: str, column: str, line: int) -> float:
    """Return a cell of a public file as a finite number.

    Raises:
        ValueError: the cell is no finite number. The message names column, line and remedy, never the cell.
    """
    value = as_float(cell)
    if value is not None and math.isfinite(value):
        return value
    if not cell.strip() or (value is not None and math.isnan(value)):
        fault = Fault.EMPTY
    else:
        fault = Fault.TEXT if value is None else Fault.INFINITE
    raise ValueError(f"column {column!r} has {fault.value} in line {line} of the file; fetch the file again")


class CompleteRows(NamedTuple):
    """The columns as they were read.

    Attributes:
        values: values of complete rows (n, k). If a column identifies people, the last column holds a number for each
            person.
        left_out: number of rows that lack a value in one of the columns; if a column identifies people, number of
            people without any complete row.
        rows: number of rows below the header, complete or not.
        nameless: number of rows without an entry in the column that identifies people.
        neither: number of rows whose outcome is neither a word for yes or no nor one for a missing value. It is
            computed from private values and must not be published.
    """

    values: FloatArray
    left_out: int
    rows: int
    nameless: int = 0
    neither: int = 0


def read_columns(
    stream: BinaryIO,
    columns: Sequence[Column],
    outcome: str,
    unit: str = "",
    *,
    max_rows: int,
    writing: Writing = AS_USUAL,
    person: str | None = None,
) -> CompleteRows:
    """Read the inputs and the outcome from a stream with a header line, and keep nothing else of it.

    Args:
        stream: the table, in binary mode.
        columns: the inputs, in the order of the result.
        outcome: name of the output, which follows the inputs in the result. If words for yes and no are declared, it is
            read as 1 and 0.
        unit: unit of the output; cells may contain it before or after the number.
        max_rows: largest number of complete rows; with ``person``, largest number of people, because the number of
            people is public and their numbers of rows may not be.
        person: name of the column that identifies the person of a row, by any text; None if there is none.

    Returns:
        Complete rows, 2 <= n <= max_rows; with ``person``, 2 to max_rows people.

    Raises:
        ValueError: the stream is not a table with these columns. The message names the column, the number of rows
            concerned, the line of the first one (the header is line 1) and a remedy for all of them, never the content
            of a cell.
    """
    table = Table(stream, writing)
    writing = table.writing
    names = [*(each.name for each in columns), outcome]
    *positions, of_person = table.positions([*names, names[0] if person is None else person])
    readers = [reader_of(each, writing) for each in columns]
    readers.append(reader_of_yes_and_no(writing) if writing.two_valued else reader_of_numbers(writing, unit))
    pairs = list(zip(readers, positions, strict=True))
    leaves_out = writing.missing is not None
    readings = _readings(columns, writing)
    problems = _Problems([*names, person or ""], [leaves_out] * len(columns) + [leaves_out or writing.two_valued])
    complete, count = _Complete(len(names), max_rows, of_people=person is not None), 0
    nameless = 0
    for line, row in table:
        count += 1
        numbers = [read(row[at]) for read, at in pairs]
        floats = [number for number in numbers if isinstance(number, float)]
        for column, each in readings.items():
            if isinstance(numbers[column], float):
                each.take(row[positions[column]])
        if count <= _LOOKED_AT or len(floats) < len(numbers):
            problems.row(count, [row[at] for at in positions], numbers, line)
        whose = None
        if person is not None:
            name = row[of_person]
            if folded(name) in writing.missing_words.texts if leaves_out else not name:
                nameless += 1
                problems.add(len(names), Fault.NOBODY, "", line)
                continue
            whose = complete.number_of(name)
        if len(floats) == len(numbers):
            complete.add(floats, whose)
    problems.refuse(count, leaves_out=leaves_out)
    for column, each in readings.items():
        if each.mark:
            named = {".": "point", ",": "comma"}[each.mark]
            raise ValueError(
                f"column {names[column]!r} has numbers with exactly three digits behind the {named}, and no others "
                f"with a {named}; {remedy_of_two_readings(each.mark)}"
            )
    return complete.all_of(count, nameless, problems.neither)


def _readings(columns: Sequence[Column], writing: Writing) -> dict[int, TwoReadings]:
    """Return, for each column of numbers that might be ambiguous, an object that detects whether it is.

    A column cannot be ambiguous if the format of numbers is declared, or if it is an input whose box ends below 1,000:
    51.503 can then not mean 51,503.
    """
    if writing.numbers is not None:
        return {}
    plain = [
        each.dates is None and each.levels is None and max(map(abs, each.box)) >= _THOUSAND for each in columns
    ] + [not writing.two_valued]
    return {at: TwoReadings() for at, is_plain in enumerate(plain) if is_plain}


class _Complete:
    """Complete rows, at most ``most`` of them. With ``of_people``, each has the number of its person, and the limit is
    on people.
    """

    def __init__(self, width: int, most: int, *, of_people: bool) -> None:
        self._width, self._most, self._of_people = width, most, of_people
        self._values = array("d")  # 8 bytes for each value; a list would need 32
        self._kept = 0
        self._people, self._with_rows = dict[str, int](), set[int]()

    def number_of(self, name: str) -> int:
        """Return the number of a person, who may have no complete row."""
        return self._people.setdefault(name, len(self._people))

    def add(self, row: Sequence[float], whose: int | None) -> None:
        """Keep a row.

        Raises:
            ValueError: there are more rows, or people, than the limit.
        """
        self._kept += 1
        self._values.extend(row)
        if whose is not None:
            self._values.append(whose)
            self._with_rows.add(whose)
        if (len(self._with_rows) if self._of_people else self._kept) > self._most:
            counted = "people" if self._of_people else "rows"
            raise ValueError(f"the file has more than {self._most} {counted}, the limit; keep a random sample of them")

    def all_of(self, count: int, nameless: int, neither: int) -> CompleteRows:
        """Return the rows that were kept out of ``count`` rows.

        Raises:
            ValueError: there are fewer than 2 rows, or fewer than 2 people.
        """
        people, kept = len(self._with_rows), self._kept
        if self._of_people and count and people < 2:
            raise ValueError(f"the file has {people} different people below its header; it needs 2 ... {self._most}")
        if count < 2:
            rows = f"{count} row{'' if count == 1 else 's'}"
            raise ValueError(f"the file has {rows} below its header; it needs at least 2")
        if kept < 2:
            raise ValueError(
                f"{kept} of {count:,} rows have a value in every column that is used; at least 2 are needed: check "
                "what is declared as missing, yes and no"
            )
        left_out = len(self._people) - people if self._of_people else count - kept
        values = np.array(self._values).reshape(kept, self._width + self._of_people)
        return CompleteRows(values, left_out, count, nameless, neither)


@dataclass
class _Problem:
    """Cells of one column that have the same fault: number of rows, first line numbers, and some of the cells."""

    rows: int = 0
    lines: list[int] = field(default_factory=list)
    cells: set[str] = field(default_factory=set, repr=False)


class _Problems:
    """Faults of all columns, by column and reason.

    ``neither`` counts outcomes that are neither yes nor no, which count as missing.
    """

    def __init__(self, names: Sequence[str], may_lack: Sequence[bool]) -> None:
        self._names, self._may_lack = names, may_lack
        self._problems: dict[tuple[int, Fault], _Problem] = {}
        self._read = [set[str]() for _ in names]
        self.neither = 0

    def row(self, count: int, cells: Sequence[str], numbers: Sequence[float | Fault], line: int) -> None:
        """Count the faults of a row. Of the first ``_LOOKED_AT`` rows, keep the cells that can be read, by column."""
        for column, (cell, number) in enumerate(zip(cells, numbers, strict=True)):
            if isinstance(number, Fault):
                self.add(column, number, cell, line)
            elif count <= _LOOKED_AT:
                self._read[column].add(cell)

    def add(self, column: int, fault: Fault, cell: str, line: int) -> None:
        """Count one faulty cell."""
        if fault is Fault.NEITHER:
            self.neither += 1
            return
        if fault is Fault.EMPTY and self._may_lack[column]:
            return
        problem = self._problems.get((column, fault))
        if problem is None or problem.rows < _LOOKED_AT:
            fault = narrowed(fault, cell)
            problem = self._problems.setdefault((column, fault), _Problem())
            problem.cells.add(cell)
        problem.rows += 1
        if len(problem.lines) <= MOST_LINES:
            problem.lines.append(line)

    def refuse(self, rows: int, *, leaves_out: bool) -> None:
        """Raise ValueError for the fault that most rows have, if there is any."""
        problems = [(key, each) for key, each in self._problems.items() if not (key[1] is Fault.NOBODY and leaves_out)]
        if not problems:
            return
        (column, fault), most = max(problems, key=lambda pair: pair[1].rows)
        lines, name = most.lines if most.rows <= MOST_LINES else (), self._names[column]
        share, outcome = most.rows / rows, column == len(self._names) - 2  # the last name is that of people
        remedy = remedy_of(fault, most.cells, share, name, lines=lines, others=self._read[column], outcome=outcome)
        raise ValueError(counted(fault, name, most.rows, rows, most.lines[0], remedy))
