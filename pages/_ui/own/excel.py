"""An Excel workbook's only sheet as comma-separated text. It is a zip of XML by a stranger: measured first."""

from __future__ import annotations

import csv
import io
import math
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Any
from xml.etree.ElementTree import ParseError

from openpyxl import load_workbook

SIGNATURE = b"PK\x03\x04"
MAX_UNPACKED = 100 * 2**20  # bytes; a zip of a few kilobytes can hold any number
MAX_ROWS, MAX_COLUMNS = 200_000, 1_000
_BROKEN = "the file is not an Excel workbook (.xlsx) that can be read; save it again, or as comma-separated UTF-8"


def is_workbook(content: bytes) -> bool:
    """Whether bytes begin as a workbook does."""
    return content.startswith(SIGNATURE)


def as_csv(content: bytes) -> bytes:
    """The workbook's sheet as comma-separated UTF-8: values as stored, never as displayed; no formula is computed.

    Raises:
        ValueError: it is no workbook, holds several sheets, or unpacks to more than is allowed. No cell is repeated.
    """
    _measure(content)
    found = io.StringIO()
    writer = csv.writer(found, lineterminator="\n")
    try:
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
        if len(book.sheetnames) != 1:
            raise ValueError(f"the workbook has {len(book.sheetnames)} sheets; keep the one with the table")
        for row in _rows(book[book.sheetnames[0]]):
            writer.writerow(row)
    except (KeyError, TypeError, AttributeError, IndexError, OSError, zipfile.BadZipFile, ParseError):
        raise ValueError(_BROKEN) from None
    return found.getvalue().encode()


def _measure(content: bytes) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            unpacked = sum(part.file_size for part in archive.infolist())
    except zipfile.BadZipFile:
        raise ValueError(_BROKEN) from None
    if unpacked > MAX_UNPACKED:
        raise ValueError(
            f"the workbook unpacks to {unpacked / 2**20:,.0f} MB, more than {MAX_UNPACKED // 2**20} MB, the limit "
            "here; save the columns you need as comma-separated UTF-8"
        )


def _rows(sheet: Any) -> Iterator[list[str]]:
    """Cells as text, without the empty rows and columns that spreadsheets trail."""
    width = 0
    for number, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
        if number > MAX_ROWS + 1:
            raise ValueError(f"the sheet has more than {MAX_ROWS:,} rows, the limit here; keep a random sample of them")
        texts = [_text(cell) for cell in cells]
        while texts and not texts[-1]:
            texts.pop()
        if not texts:
            continue
        width = width or len(texts)
        if len(texts) > MAX_COLUMNS:
            raise ValueError(f"the sheet has more than {MAX_COLUMNS:,} columns, the limit; keep those needed")
        yield texts + [""] * (width - len(texts))


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return repr(int(cell)) if math.isfinite(cell) and cell == int(cell) and abs(cell) < 2**53 else repr(cell)
    if isinstance(cell, (datetime, date, time)):
        return cell.isoformat()
    return str(cell).strip()
