"""Numeric columns of a CSV stream, line by line, refusing whatever is not plainly a table of numbers.

Uses the standard library's reader, not pandas': pandas fills short rows with missing values,
takes a surplus first column as an index and renames duplicate columns, all without saying so.
"""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterator, Sequence
from textwrap import shorten
from typing import BinaryIO

import numpy as np

from ..arrays import FloatArray
from ..dates import looks_like_a_date
from .cell import ReadAs, as_float, readers_of
from .dialect import COMMA, Dialect

MAX_LINE_BYTES = 1_000_000  # one endless line must not fill the memory
MAX_BYTES = 500_000_000  # of a whole file
MAX_COLUMNS = 1_000
SHOWN_LETTERS = 300  # of the column names, in a message

# How files start that people take for tables. None is unpacked: a small archive can hold an endless file.
_OTHER_KINDS = {
    b"PK\x03\x04": "a zip archive or a spreadsheet (.xlsx, .ods)",
    b"PK\x05\x06": "an empty zip archive",
    b"\x1f\x8b": "compressed by gzip",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ\x00": "compressed by xz",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"\x28\xb5\x2f\xfd": "compressed by zstd",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet (.xls)",
    b"%PDF": "a PDF",
    b"PAR1": "a Parquet file",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}


def read_columns(
    stream: BinaryIO,
    columns: list[str],
    *,
    max_rows: int,
    dialect: Dialect = COMMA,
    person: str | None = None,
    read_as: Sequence[ReadAs] = (),
) -> FloatArray:
    """Read named columns of a UTF-8 stream with a header line; keep nothing else of it.

    Args:
        stream: file object in binary mode, read from where it stands.
        columns: names of the k columns wanted, in the order wanted.
        max_rows: refuse the file at the first row beyond this many.
        dialect: how the table is written.
        person: name of the column that says whose row it is, in any text; None: there is none.
        read_as: of the columns, those that are no numbers, such as ``Dates``; they become numbers as each says.

    Returns:
        The columns as numbers (n, k), 2 <= n <= max_rows; after them a number for each person, if there are people.

    Raises:
        ValueError: the stream is no such table. The message names the column and the line of
            the file (the header is line 1), never the content of a cell.
    """
    rows = read_rows(stream, dialect, max_bytes=MAX_BYTES)
    header = _header(rows)
    *places, whose = _places(header, [*columns, columns[0] if person is None else person], dialect)
    people, readers = dict[str, int](), readers_of(columns, read_as, dialect)
    values = array("d")  # 8 bytes a value, against 32 in a list
    n = 0
    for n, (line, row) in enumerate(rows, start=1):
        if n > max_rows:
            raise ValueError(f"the file has more than {max_rows} rows, the limit; keep a random sample of it")
        if len(row) != len(header):
            raise ValueError(
                f"line {line} has {len(row)} fields where the header has {len(header)}. "
                "Give every line the same number, and quote text that holds the separator"
            )
        values.extend(read(row[place], name, line) for read, name, place in zip(readers, columns, places, strict=True))
        if person is not None:
            values.append(people.setdefault(_name(row[whose], person, line), len(people)))
    if n < 2:
        raise ValueError(f"the file has {n} row{'' if n == 1 else 's'} below its header; it needs at least 2")
    return np.array(values).reshape(n, -1)


def column_names(stream: BinaryIO, dialect: Dialect = COMMA) -> list[str]:
    """Column names in the header line of a stream, read from where it stands; nothing below it is kept.

    Raises:
        ValueError: there is no header line, two names are the same, or the line holds numbers, so that it may be a
            record; it is then not shown.
    """
    header = _header(read_rows(stream, dialect))
    if any(_is_value(title) for title in header):
        raise ValueError(
            "the first line of the file holds numbers or dates, so it may be a record. Add a line of column names"
        )
    _places(header, [], dialect)
    return header


def _name(cell: str, column: str, line: int) -> str:
    """Whose row it is; what holds nothing is nobody's."""
    name = cell.strip()
    if not name:
        raise ValueError(
            f"column {column!r} is empty in line {line} of the file, so nobody knows whose row it is. Name somebody, "
            "or remove that row"
        )
    return name


def _header(rows: Iterator[tuple[int, list[str]]]) -> list[str]:
    _, header = next(rows, (0, []))
    if not header:
        raise ValueError("the file is empty; it needs a header line with column names and at least 2 rows")
    if len(header) > MAX_COLUMNS:
        raise ValueError(
            f"the file has {len(header)} columns, more than {MAX_COLUMNS}, the limit; keep the columns you need"
        )
    return [title.strip() for title in header]


def _places(header: list[str], columns: list[str], dialect: Dialect) -> list[int]:
    repeated = next((title for title in header if title and header.count(title) > 1), None)
    if repeated is not None:
        at = [str(place) for place, title in enumerate(header, start=1) if title == repeated]
        names = _shown([repeated], header)
        raise ValueError(f"columns {' and '.join(at)} of the file have the same name: {names}; rename all but one")
    missing = [column for column in columns if column not in header]
    if missing:
        names = _shown(header, header)
        raise ValueError(f"the file has no column {missing[0]!r}; its {dialect.name} columns are: {names}")
    return [header.index(column) for column in columns]


def _shown(titles: list[str], header: list[str]) -> str:
    # A number in the first line means that it may be a record instead of a header, hence private.
    if any(_is_value(title) for title in header):
        return "not shown, because the first line holds numbers or dates (if it is a record, add a header line)"
    return shorten(", ".join(map(repr, titles)), SHOWN_LETTERS, placeholder=" ...")


def _is_value(text: str) -> bool:
    """Whether a title looks like a cell: a number or a date."""
    return as_float(text.replace(",", ".")) is not None or looks_like_a_date(text)


def read_rows(
    stream: BinaryIO, dialect: Dialect = COMMA, *, max_bytes: int | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, fields) of every line that is not blank; more than ``max_bytes`` are refused."""
    reader = csv.reader(_lines(stream, max_bytes), delimiter=dialect.delimiter, strict=True)
    try:
        yield from ((reader.line_num, row) for row in reader if row)
    except csv.Error:
        problem = f"the file is not valid CSV at line {reader.line_num} (an open quote, or unusual line ends)"
    else:
        return
    raise ValueError(f"{problem}; save it again as {dialect.name} UTF-8")


def _lines(stream: BinaryIO, max_bytes: int | None) -> Iterator[str]:
    total = 0
    for number, line in enumerate(iter(lambda: stream.readline(MAX_LINE_BYTES + 1), b""), start=1):
        if isinstance(line, str):
            raise ValueError("the file object is in text mode; open it in binary mode ('rb')")
        if number == 1:
            _refuse_other_kinds(line)
        if len(line) > MAX_LINE_BYTES:
            raise ValueError(f"line {number} is longer than {MAX_LINE_BYTES} bytes, the limit; is the file a CSV?")
        total += len(line)
        if max_bytes is not None and total > max_bytes:
            raise ValueError(f"the file has more than {max_bytes} bytes, the limit; keep a random sample of its rows")
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            text = "\0"
        if "\0" in text:
            raise ValueError(f"line {number} of the file is not UTF-8 text; save it as comma-separated UTF-8")
        yield text


def _refuse_other_kinds(start: bytes) -> None:
    kind = next((kind for magic, kind in _OTHER_KINDS.items() if start.startswith(magic)), None)
    if kind is not None:
        raise ValueError(f"the file is {kind}, which is not unpacked or converted; save it as comma-separated UTF-8")
