"""A sheet of an Excel workbook as comma-separated text: cell by cell, as it unpacks."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cache
from string import ascii_uppercase, digits
from typing import BinaryIO

from . import workbook_parts
from .rows import MAX_BYTES
from .workbook_parts import MAX_UNPACKED, Book, Parts, Refused

SIGNATURE = b"PK\x03\x04"
MAX_ROWS, MAX_COLUMNS = 200_000, 1_000
_LAST_ROW = 2**20  # of a sheet
_BROKEN = "the file is not an Excel workbook (.xlsx) that can be read; save it again, or as comma-separated UTF-8"
_EXACT = 2**53  # whole floats below it are exact integers


def is_workbook(content: bytes) -> bool:
    """Whether bytes begin as a workbook does."""
    return content.startswith(SIGNATURE)


@contextmanager
def _refusing() -> Iterator[None]:
    """What is wrong with a workbook, in one sentence: zipfile, zlib and expat raise a dozen types, some with cells."""
    try:
        yield
    except (Refused, MemoryError):
        raise
    except Exception:
        raise Refused(_BROKEN) from None


@_refusing()
def sheet_names(content: bytes) -> list[str]:
    """Names of a workbook's sheets.

    Raises:
        ValueError: it is no workbook, or holds more than is read. Nothing of it is repeated.
    """
    return workbook_parts.sheet_names(Parts(content))


@_refusing()
def as_csv(content: bytes, most: int, sheet: str | None = None) -> bytes:
    """A workbook's sheet as comma-separated UTF-8: values as stored, never as displayed; no formula is computed.

    Args:
        most: bytes of the text.
        sheet: its name; None for the only one.

    Raises:
        ValueError: it is no workbook, holds several sheets and none is named, or more than is read. No cell is
            repeated.
    """
    parts = Parts(content)
    rows = _Sheet(workbook_parts.book_of(parts, sheet), most)
    parts.parse(rows.book.sheet, rows.start, rows.end, rows.text)
    return rows.csv.getvalue().encode()


def as_table(stream: BinaryIO, sheet: str | None = None) -> BinaryIO:
    """A stream of text as it is; of a workbook, its sheet as comma-separated UTF-8, row by line.

    Args:
        sheet: as declared; None for the only one.

    Raises:
        ValueError: see ``as_csv``; or it is another kind of spreadsheet.
    """
    if not stream.seekable():
        return stream
    at = stream.tell()
    start = stream.read(len(SIGNATURE))
    if start != SIGNATURE:
        stream.seek(at)
        return stream
    content = start + stream.read(MAX_UNPACKED + 1)
    if len(content) > MAX_UNPACKED:
        raise Refused(f"the file is a zip of more than {MAX_UNPACKED // 2**20} MB, the limit; save the table as CSV")
    with _refusing():
        names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    if "content.xml" in names:
        raise Refused(
            "the file is an OpenDocument spreadsheet; save it as an Excel workbook (.xlsx) or as CSV in UTF-8"
        )
    if not any(name.startswith("xl/") for name in names):
        return io.BytesIO(content)  # which is named where its lines are read
    return io.BytesIO(as_csv(content, MAX_BYTES, sheet))


class _Sheet:
    """The rows of a sheet as they are read, without the empty rows and columns that spreadsheets trail.

    A row is a line: empty rows between others are empty lines, and texts of several lines have one.

    Args:
        most: bytes of the text, a letter counted for one.
    """

    def __init__(self, book: Book, most: int) -> None:
        self.book, self.csv = book, io.StringIO()
        self._writer = csv.writer(self.csv, lineterminator="\n")
        self._most, self._rows, self._width = most, 0, 0
        self._at = self._written = 0  # the row that is read; lines so far
        self._row: dict[int, str] = {}
        self._column, self._kind, self._style = -1, "n", 0
        self._pieces: list[str] = []
        self._reading = self._hint = False  # inside of a value; of how to pronounce it

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if name == "v":
            self._reading = True
            return
        if name == "c":
            at = attributes.get("r")
            self._column = self._column + 1 if at is None else _column(at.rstrip(digits))
            self._kind, self._style = attributes.get("t", "n"), int(attributes.get("s", 0))
            self._pieces.clear()
        elif name == "row":
            self._rows += 1
            if self._rows > MAX_ROWS + 1:
                raise Refused(
                    f"the sheet has more than {MAX_ROWS:,} rows, the limit here; keep a random sample of them"
                )
            self._row, self._column = {}, -1
            self._at = int(attributes.get("r", self._at + 1))
            if not self._written < self._at <= _LAST_ROW:
                raise ValueError
        self._reading = name == "t" and not self._hint
        self._hint = self._hint or name == "rPh"

    def end(self, name: str) -> None:
        """It ends."""
        self._reading = False
        if name == "c":
            self._end_cell()
        elif name == "row":
            self._end_row()
        elif name == "rPh":
            self._hint = False

    def text(self, piece: str) -> None:
        """A piece of a value, or of something else."""
        if self._reading:
            self._pieces.append(piece)

    def _end_cell(self) -> None:
        value = self._value("".join(self._pieces))
        if value and self._column >= MAX_COLUMNS:
            raise Refused(f"the sheet has more than {MAX_COLUMNS:,} columns, the limit; keep those needed")
        if value:
            self._row[self._column] = value

    def _end_row(self) -> None:
        if not self._row:
            return
        last = max(self._row) + 1
        self._width = self._width or last
        self.csv.write("\n" * (self._at - 1 - self._written))
        self._written = self._at
        self._writer.writerow([self._row.get(column, "") for column in range(max(last, self._width))])
        if self.csv.tell() > self._most:
            raise Refused(
                f"the sheet has more than {self._most / 2**20:g} MB as text, the limit here. Keep only the columns "
                "that are needed, or use the command line"
            )

    def _value(self, raw: str) -> str:
        """A cell as text. Raises Exception for one that is not of its declared type."""
        if self._kind != "n" or not raw or raw.isspace():
            return self._text(raw.strip())
        if not raw.isascii() or "_" in raw:  # python reads more as a number
            raise ValueError
        number = float(raw)
        if self._style in self.book.dates:
            return _date(number, self.book.since_1904)
        return repr(int(number)) if number == int(number) and abs(number) < _EXACT else repr(number)

    def _text(self, raw: str) -> str:
        if self._kind == "s" and raw:
            raw = self.book.texts[int(raw)]
        if self._kind == "b" and raw:
            return {"1": "true", "0": "false"}[raw]
        return raw.replace("\r\n", " ").replace("\n", " ").replace("\r", " ").strip()


@cache
def _column(letters: str) -> int:
    """From 0: 27 of AB."""
    if not 1 <= len(letters) <= 3:
        raise ValueError
    column = 0
    for letter in letters:
        column = 26 * column + ascii_uppercase.index(letter) + 1
    return column - 1


def _date(days: float, since_1904: bool) -> str:
    """Days since 1900, counted with the 29th of February that there was not, or since 1904; as ISO 8601.

    A whole day is a date alone, and a part of the first day a time of day.
    """
    if 0 < days < 1:
        return (datetime.min + timedelta(seconds=round(86400 * days))).time().isoformat()
    first = datetime(1904, 1, 1) if since_1904 else datetime(1899, 12, 30 if days >= 60 else 31)
    try:
        moment = first + timedelta(seconds=round(86400 * days))
        return moment.date().isoformat() if days == int(days) else moment.isoformat()
    except OverflowError:
        return "#VALUE!"  # as it is displayed
