"""Hostile files of every kind that is converted, and a good one of each."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
from collections.abc import Callable

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa

from dpgp_core.reading.kinds import as_text
from dpgp_core.reading.rows import column_names
from dpgp_core.reading.survey import survey
from dpgp_core.reading.writing import AS_USUAL
from tests import other_programs as programs

SECRET = "zqsecret"
MOST = 5 * 2**20  # bytes of text that the page reads
MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
SHEET, STRINGS = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"
COLUMNS = {"age": [20.0 + at % 60 for at in range(300)], "note": [SECRET] * 300}
FRAME = pd.DataFrame(COLUMNS)
KINDS = {  # a good file of each kind
    "xlsx": lambda: workbook(list(COLUMNS), *zip(*COLUMNS.values(), strict=True)),
    "xls": (programs.FILES / "heights.xls").read_bytes,
    "xlsb": (programs.FILES / "heights.xlsb").read_bytes,
    "ods": lambda: programs.opendocument([list(COLUMNS), *map(list, zip(*COLUMNS.values(), strict=True))]),
    "dta": lambda: programs.stata(FRAME),
    "sav": lambda: programs.spss(FRAME),
    "zsav": lambda: programs.spss(FRAME, compress=True),
    "xpt": lambda: programs.transport(FRAME),
    "sas7bdat": (programs.FILES / "heights.sas7bdat").read_bytes,
    "parquet": lambda: programs.parquet(pa.table(COLUMNS)),
    "arrow": lambda: programs.arrow(pa.table(COLUMNS)),
    "csv.gz": lambda: gzip.compress(FRAME.to_csv(index=False).encode()),
    "zip": lambda: programs.zipped({"table.csv": FRAME.to_csv(index=False)}),
}


def workbook(*rows: object) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    return saved(book)


def saved(book: openpyxl.Workbook) -> bytes:
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def small() -> dict[str, bytes]:
    """The files of a small workbook."""
    with zipfile.ZipFile(io.BytesIO(workbook(["x"], [1]))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def with_rows(rows: str, texts: str | None = None) -> bytes:
    """A workbook whose sheet holds this XML, and shares these texts."""
    changed = {SHEET: f"<worksheet {MAIN}><sheetData>{rows}</sheetData></worksheet>"}
    if texts is not None:
        kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings"
        related = small()["xl/_rels/workbook.xml.rels"].decode()
        shared = f'<Relationship Id="texts" Type="{kind}" Target="sharedStrings.xml"/></Relationships>'
        changed |= {"xl/_rels/workbook.xml.rels": related.replace("</Relationships>", shared)}
        changed |= {STRINGS: f"<sst {MAIN}>{texts}</sst>"}
    return programs.zipped(small() | changed)


def misnamed(content: bytes, size: int) -> bytes:
    """A zip whose list of contents has another size of the sheet."""
    at = content.rindex(SHEET.encode()) - 46  # the entry of the list: its name is the last part
    return content[: at + 24] + struct.pack("<I", size) + content[at + 28 :]


def at_offset(content: bytes, at: int, new: bytes) -> bytes:
    return content[:at] + new + content[at + len(new) :]


def parquet_of_one_value(rows: int, value: str) -> bytes:
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), [value])
    return programs.parquet(pa.table({"a": column, "b": column}), compression="zstd")


def arrow_of_zeros(rows: int) -> bytes:
    return programs.arrow(pa.table({"a": pa.array(np.zeros(rows))}), "zstd")


LAUGHING = "<sheetData><row><c t='str'><v>&b;</v></c></row></sheetData>"
LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
FAR = 'table:number-columns-repeated="16384" table:number-rows-repeated="1048576"'
BOMBS: dict[str, tuple[Callable[[], bytes], str]] = {  # what makes the file, and what is said of it
    "xlsx: a cell in the last row and column": (
        lambda: with_rows(
            '<row r="1048576"><c r="XFD1048576"><v>7</v></c></row><row r="1"><c r="A1"><v>7</v></c></row>'
        ),
        "more than 2 GB of memory",
    ),
    "xlsx: a cell in the last column": (
        lambda: with_rows('<row r="1"><c r="A1"><v>7</v></c></row><row r="1000"><c r="XFD1000"><v>7</v></c></row>'),
        "more than 10,000,000 cells",
    ),
    "xlsx: a text of 300 MB": (
        lambda: with_rows("", f"<si><t>{'a' * (300 * 2**20)}</t></si>"),
        "the workbook unpacks to more than 256 MB",
    ),
    "xlsx: cells that share a long text": (
        lambda: with_rows('<row><c t="s"><v>0</v></c></row>' * 10_000, f"<si><t>{'a' * 100_000}</t></si>"),
        "more than 5 MB as text",
    ),
    "xlsx: a wrong size in the list of contents": (
        lambda: misnamed(workbook(["a"], *([number] for number in range(999))), 100),
        "is broken",
    ),
    "xlsx: entities": (
        lambda: programs.zipped(small() | {SHEET: f"{LAUGHS}<worksheet {MAIN}>{LAUGHING}</worksheet>"}),
        "is broken",
    ),
    "ods: a cell that is repeated in all rows and columns": (
        lambda: programs.opendocument([["a"], [1]], repeated=FAR),
        "more than 1000, the limit",
    ),
    "sav: two billion rows, says its head": (
        lambda: at_offset(programs.spss(FRAME), 80, struct.pack("<i", 2**31 - 1)),
        "",  # there are 300
    ),
    "zsav: 30 million rows": (lambda: zsav_of_zeros(), "more than 10,000,000 cells"),
    "dta: 30,000 columns": (
        lambda: programs.stata(pd.DataFrame([[0.0] * 30_000], columns=[f"c{at}" for at in range(30_000)])),
        "more than 1000, the limit",
    ),
    "parquet: 30 million rows of one value": (
        lambda: parquet_of_one_value(15_000_000, "a"),
        "more than 10,000,000 cells",
    ),
    "parquet: a text of 1 MB in a million rows": (
        lambda: parquet_of_one_value(1_000_000, "a" * 2**20),
        "more than 5 MB as text",
    ),
    "arrow: 30 million rows of zeros": (lambda: arrow_of_zeros(30_000_000), "more than 10,000,000 cells"),
    "csv.gz: 100 MB of one letter": (
        lambda: gzip.compress(b"a,b\n" + b"a" * (100 * 2**20), 1),
        "the file unpacks to more than 5 MB",
    ),
    "csv.gz: packed twice": (lambda: gzip.compress(gzip.compress(b"a,b\n1,2\n")), "compressed by gzip, which is not"),
    "zip: 100 MB of one letter": (
        lambda: programs.zipped({"table.csv": b"a" * (100 * 2**20)}),
        "the file unpacks to more than 5 MB",
    ),
    "zip: a wrong size in its list of contents": (
        lambda: patched_sizes(programs.zipped({"table.csv": b"a" * (100 * 2**20)}), 100),
        "a zip that cannot be read",
    ),
    "zip: a zip in a zip": (
        lambda: programs.zipped({"table.csv": programs.zipped({"table.csv": b"a,b\n1,2\n"})}),
        "a zip archive, which is not",
    ),
}


def zsav_of_zeros() -> bytes:
    """A compressed file of SPSS that says that it has 30 million rows."""
    million = pd.DataFrame({"a": [0.0] * 1_000_000})
    return at_offset(programs.spss(million, compress=True), 80, struct.pack("<i", 30_000_000))


def patched_sizes(content: bytes, size: int) -> bytes:
    """A zip of one file whose list of contents has another size of it."""
    at = content.rindex(b"PK\x01\x02")
    return content[: at + 24] + struct.pack("<I", size) + content[at + 28 :]


WRONG = {  # under the right first bytes
    "xlsx": programs.zipped({"xl/workbook.xml": SECRET}),
    "ods": programs.zipped({"content.xml": SECRET}),
    "xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + SECRET.encode() * 200,
    "dta": b"<stata_dta>" + SECRET.encode() * 200,
    "sav": b"$FL2" + SECRET.encode() * 200,
    "zsav": b"$FL3" + SECRET.encode() * 200,
    "xpt": b"HEADER RECORD*******LIBRARY HEADER" + SECRET.encode() * 200,
    "sas7bdat": b"\0" * 12 + b"\xc2\xea\x81\x60" + SECRET.encode() * 200,
    "parquet": b"PAR1" + SECRET.encode() * 200 + b"PAR1",
    "arrow": b"ARROW1\0\0" + SECRET.encode() * 200 + b"ARROW1",
    "csv.gz": b"\x1f\x8b\x08\0" + SECRET.encode() * 20,
    "zip": b"PK\x03\x04" + SECRET.encode() * 20,
}


def refusal(content: bytes) -> str:
    """What is said of a file; "" for one that is read."""
    try:
        stream = as_text(io.BytesIO(content), most=MOST).stream
        names = column_names(stream)
        stream.seek(0)
        survey(stream, names, AS_USUAL)
    except ValueError as error:
        return str(error)
    return ""
