"""Rows of a CSV stream, each with as many fields as the header; empty rows are none.

Uses the standard library's reader, not pandas': pandas fills short rows with missing values,
takes a surplus first column as an index and renames duplicate columns, all without saying so.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from textwrap import shorten
from typing import BinaryIO, NamedTuple

from ..dates import looks_like_a_date
from .lines import encoding_of, read_lines
from .writing import Writing, as_float, separator_of

MAX_COLUMNS = 1_000
SHOWN_LETTERS = 300  # of the column names, in a message
_HINT = re.compile(r'\s*"?sep=(.)"?\s*', re.IGNORECASE)  # a first line that spreadsheets write for each other

Row = tuple[int, list[str]]
"""The number of a line of the file, and its fields."""


class Header(NamedTuple):
    """The first line of a table.

    Attributes:
        names: of the columns, without spaces around them; "" for one that has none.
        writing: how the table is written, its separator being known.
    """

    names: list[str]
    writing: Writing

    def places(self, columns: Sequence[str]) -> list[int]:
        """Where columns stand. No others need a name of their own.

        Raises:
            ValueError: one is not there, or several have its name.
        """
        missing = next((column for column in columns if column not in self.names), None)
        if missing is not None:
            raise ValueError(
                f"the file has no column {missing!r}; its {self.writing.separated} columns are: {self._shown()}"
            )
        repeated = next((column for column in columns if self.names.count(column) > 1), None)
        if repeated is not None:
            at = [str(place) for place, name in enumerate(self.names, start=1) if name == repeated]
            raise ValueError(
                f"columns {' and '.join(at)} of the file have the same name: {repeated!r}; rename all but the one "
                "that is meant"
            )
        return [self.names.index(column) for column in columns]

    @property
    def may_be_a_record(self) -> bool:
        """Whether the line holds numbers or dates, so that it may be private."""
        return any(_is_value(name) for name in self.names)

    def _shown(self) -> str:
        if self.may_be_a_record:
            return "not shown, because the first line holds numbers or dates (if it is a record, add a header line)"
        return shorten(", ".join(map(repr, self.names)), SHOWN_LETTERS, placeholder=" ...")


def column_names(stream: BinaryIO, writing: Writing | None = None) -> list[str]:
    """Names in the header line of a stream that can be used: those that one column alone has.

    Raises:
        ValueError: there is no header line, or it holds numbers, so that it may be a record; it is then not shown.
    """
    header, _ = opened(stream, writing)
    if header.may_be_a_record:
        raise ValueError(
            "the first line of the file holds numbers or dates, so it may be a record. Add a line of column names"
        )
    return [name for name in header.names if name and header.names.count(name) == 1]


def as_written(stream: BinaryIO, writing: Writing) -> Writing:
    """What is declared of a table's writing, with what its first line and byte order mark say instead of nothing."""
    at = stream.tell()
    start = stream.read(4)
    stream.seek(at)
    header, _ = opened(stream, writing)
    stream.seek(at)
    name, mark = encoding_of(start, writing.encoding)
    encoding = name.removesuffix("-le").removesuffix("-be") if mark else writing.encoding
    return replace(header.writing, encoding=encoding)


def opened(
    stream: BinaryIO, writing: Writing | None = None, *, max_bytes: int | None = None
) -> tuple[Header, Iterator[Row]]:
    """The header line of a table, and the rows below it.

    Raises:
        ValueError: there is no header line, or it names too many columns; the rows raise as ``read_rows`` does.
    """
    rows = _Rows(stream, Writing() if writing is None else writing, max_bytes)
    _, names = next(rows, (0, list[str]()))
    if not names:
        raise ValueError("the file is empty; it needs a header line with column names and at least 2 rows")
    if len(names) > MAX_COLUMNS:
        raise ValueError(
            f"the file has {len(names)} columns, more than {MAX_COLUMNS}, the limit; keep the columns you need"
        )
    header = Header(names, rows.writing)
    return header, _of_width(rows, names)


def read_rows(stream: BinaryIO, writing: Writing | None = None, *, max_bytes: int | None = None) -> Iterator[Row]:
    """Yield (line number, fields) of every line that holds something; more than ``max_bytes`` are refused."""
    return _Rows(stream, Writing() if writing is None else writing, max_bytes)


class _Rows:
    """Rows that hold something, without spaces around fields.

    Attributes:
        writing: with the separator that the first line has.
    """

    def __init__(self, stream: BinaryIO, writing: Writing, max_bytes: int | None) -> None:
        lines = read_lines(stream, writing.encoding, max_bytes=max_bytes)
        ahead: list[str] = []
        for line in lines:
            ahead.append(line)
            if (hint := _HINT.fullmatch(line)) and len(ahead) == 1:
                ahead = ["\n"]
                if writing.separator is None and hint[1] in ";,\t|":
                    writing = replace(writing, separator=hint[1])
            elif line.strip():
                break
        if writing.separator is None:
            writing = replace(writing, separator=separator_of(ahead[-1] if ahead else ""))
        self.writing = writing
        self._lines: Iterator[str] = chain(ahead, lines)
        if writing.separator == " ":
            self._lines = (line.strip(" \n") + "\n" for line in self._lines)
        self._reader = csv.reader(self._lines, delimiter=writing.separator or ",", skipinitialspace=True, strict=True)

    def __iter__(self) -> Iterator[Row]:
        return self

    def __next__(self) -> Row:
        try:
            for fields in self._reader:
                row = [field.strip() for field in fields]
                if any(row):
                    return self._reader.line_num, row
        except csv.Error:
            problem = f"the file is not valid CSV at line {self._reader.line_num} (an open quote, or unusual line ends)"
        else:
            raise StopIteration
        raise ValueError(f"{problem}; save it again as {self.writing.separated} UTF-8")


def _of_width(rows: Iterator[Row], names: Sequence[str]) -> Iterator[Row]:
    """The rows, empty fields beyond the header left out. At their end ValueError says how many had another width."""
    count = wrong = first = fields = 0
    width = len(names)
    least = max((place for place, name in enumerate(names, start=1) if name), default=0)
    for line, row in rows:
        count += 1
        while len(row) > width and not row[-1]:
            row.pop()
        if least <= len(row) < width:
            row += [""] * (width - len(row))
        if len(row) == width:
            yield line, row
            continue
        wrong += 1
        if wrong == 1:
            first, fields = line, len(row)
    if wrong:
        raise ValueError(
            f"line {first} has {fields} fields where the header has {width}, and so have others: {wrong:,} of "
            f"{count:,} rows; {_of_width_remedy(wrong, count)}"
            if wrong > 1
            else f"line {first} has {fields} fields where the header has {width}; quote text that holds the "
            "separator, or correct or remove that line"
        )


def _of_width_remedy(wrong: int, count: int) -> str:
    if wrong > count / 2:
        return "declare the separator, give the header a name for every column, or quote numbers with commas"
    return "quote text that holds the separator"


def _is_value(text: str) -> bool:
    """Whether a title looks like a cell: a number or a date."""
    return as_float(text.replace(",", ".")) is not None or looks_like_a_date(text)
