"""Workbooks as tables: what is stored is read, what is hostile is given up early and repeated nowhere."""

from __future__ import annotations

import csv
import datetime
import io
import re
import struct
import zipfile

import openpyxl
import pytest

from dpgp_core.reading import workbook as excel
from dpgp_core.reading import workbook_parts as parts
from pages._ui.own import upload
from tests.pages import own

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
SHEET = "xl/worksheets/sheet1.xml"
STRINGS = "xl/sharedStrings.xml"
SECRET = "zqsecret"


def workbook(*rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    return saved(book)


def saved(book) -> bytes:
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def as_csv(content: bytes) -> str:
    return excel.as_csv(content, upload.MAX_BYTES).decode()


def small() -> dict[str, bytes]:
    """The files of a small workbook."""
    with zipfile.ZipFile(io.BytesIO(workbook(["x"], [1]))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def with_parts(**changed: bytes | str) -> bytes:
    """The small workbook with some of its files replaced."""
    return zipped(small() | changed)


def zipped(files: dict[str, bytes | str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method, compresslevel=1) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def with_rows(rows: str, texts: str | None = None) -> bytes:
    """A workbook whose sheet holds this XML, and shares these texts."""
    changed = {SHEET: f"<worksheet {MAIN}><sheetData>{rows}</sheetData></worksheet>"}
    if texts is not None:
        kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings"
        related = small()["xl/_rels/workbook.xml.rels"].decode()
        shared = f'<Relationship Id="texts" Type="{kind}" Target="sharedStrings.xml"/></Relationships>'
        changed |= {"xl/_rels/workbook.xml.rels": related.replace("</Relationships>", shared)}
        changed |= {STRINGS: f"<sst {MAIN}>{texts}</sst>"}
    return with_parts(**changed)


def test_it_is_what_another_reader_reads():
    book = openpyxl.Workbook()
    days = [datetime.datetime(1900, 1, 1), datetime.datetime(1900, 3, 1, 6), datetime.datetime(2026, 11, 23, 8, 1, 30)]
    formats = ["0.00", '0 "days"', "[Red]0", "yyyy-mm-dd", "[h]:mm", "d. mmm", "General", r"0\d", "#,##0_d", "mm:ss.0"]
    book.active.append(["text", "with\nline", "ünï", "2", *range(6)])
    for day in days:
        book.active.append([day, -1.5, 10**15, 2**60, 0.1 + 0.2, False, None, " spaced ", "<&>"])
    book.active.append([40000.25] * len(formats))
    for cell, code in zip(book.active[book.active.max_row], formats, strict=True):
        cell.number_format = code
    ours = list(csv.reader(io.StringIO(as_csv(saved(book)))))
    theirs = openpyxl.load_workbook(io.BytesIO(saved(book))).active.iter_rows(values_only=True)
    for mine, row in zip(ours, theirs, strict=True):
        for text, value in zip(mine, row, strict=False):
            if isinstance(value, datetime.datetime):
                assert text == value.isoformat().removesuffix("T00:00:00")
            elif isinstance(value, (datetime.timedelta, datetime.time)):
                assert text.startswith("2009-07-06T06")
            elif isinstance(value, bool) or value is None:
                assert text == ("" if value is None else str(value).lower())
            elif isinstance(value, str):
                assert text == value.strip().replace("\n", " ")  # a row is a line
            else:
                assert float(text) == value


def formatted(code: str, *days) -> bytes:
    """A row of days, counted from 1904 on."""
    book = openpyxl.Workbook()
    book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    book.active.append(days)
    for cell in book.active[1]:
        cell.number_format = code
    return saved(book)


def elsewhere() -> bytes:
    """Parts that are named from the root, and elements that have more than is read."""
    kind = "http://purl.oclc.org/ooxml/officeDocument/relationships"
    main = f'<workbook {MAIN} xmlns:r="{kind}"><sheets><sheet name="T" sheetId="7" r:id="rId9"/></sheets></workbook>'
    sheet = (
        f'<worksheet {MAIN} xmlns:mc="m" mc:Ignorable="x14ac"><cols><col min="1" max="2" width="9"/></cols><sheetData>'
        '<row r="1" spans="1:2" x14ac:dyDescent="0.25" xmlns:x14ac="a"><c r="A1" t="inlineStr"><is>'
        '<t xml:space="preserve"> age </t></is></c><c r="B1" t="str"><v>height</v></c></row>'
        '<row r="2" ht="15"><c r="A2"><v>1.5</v></c><c r="B2"><v>2E+2</v></c></row></sheetData>'
        '<mergeCells><mergeCell ref="C1:D1"/></mergeCells><extLst><ext><v>9</v></ext></extLst></worksheet>'
    )
    changed = {
        "_rels/.rels": f'<R><Relationship Id="a" Type="{kind}/officeDocument" Target="/w/book.xml"/></R>',
        "w/_rels/book.xml.rels": f'<R><Relationship Id="rId9" Type="{kind}/worksheet" Target="/s/one.xml"/></R>',
        "w/book.xml": main,
        "s/one.xml": sheet,
    }
    return with_parts(**changed)


def altered(content: bytes, size: int) -> bytes:
    """The zip with another size of the sheet in its list of contents."""
    at = content.rindex(SHEET.encode()) - 46  # the entry of the list: its name is the last part
    return content[: at + 24] + struct.pack("<I", size) + content[at + 28 :]


DIGITS = (0.1, 1 / 3, 1e-300, 123456789.123)
IN_PIECES = (
    "<si><t>age</t></si><si><r><rPr><b/></rPr><t>two </t></r><r><t>pieces</t></r></si>"
    '<si><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></si>'
)
LEFT_OUT = (
    '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="D1" t="s"><v>2</v></c></row>'
    '<row/><row r="9"><c r="A9" t="str"><f>A1&amp;"x"</f><v>said</v></c><c><v>7</v></c><c t="e"><v>#N/A</v></c>'
    '<c t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r></is></c></row>'
)
STORED = {
    "cells that are left out": (
        workbook(["age", "a,b", "on"], [1.5, "x, y", True], [2, None, datetime.date(2026, 1, 2)], [None] * 3),
        'age,"a,b",on\n1.5,"x, y",true\n2,,2026-01-02\n',
    ),
    "days from 1904 on": (formatted("yyyy-mm-dd", datetime.datetime(2026, 1, 2)), "2026-01-02\n"),
    "texts in pieces and how they are pronounced": (
        with_rows(LEFT_OUT, IN_PIECES),
        "age,two pieces,,東京\n\n\n\n\n\n\n\nsaid,7,#N/A,inline\n",
    ),
    "names with a prefix": (
        with_parts(**{SHEET: '<x:worksheet xmlns:x="y"><x:row><x:c><x:v>3</x:v></x:c></x:row></x:worksheet>'}),
        "3\n",
    ),
    "parts elsewhere": (elsewhere(), "age,height\n1.5,200\n"),
    "a formula": (workbook(["age"], ["=1+1"], [3]), "age\n\n3\n"),
    "every digit": (workbook(*([number] for number in DIGITS)), "".join(f"{number!r}\n" for number in DIGITS)),
    "a wrong size in the list of contents": (altered(workbook(["a"]), 2**31), "a\n"),
    "a date that is none": (
        with_rows('<row><c t="d"><v>99999-01-01</v></c><c><v>1</v></c></row>'),
        "99999-01-01,1\n",
    ),
    "days without end": (formatted("yyyy-mm-dd", 1e12, -1e12, 1e7), "#VALUE!,#VALUE!,#VALUE!\n"),
    "a far column that holds nothing": (with_rows('<row><c><v>1</v></c><c r="ALM1"/></row>'), "1\n"),
}


@pytest.mark.parametrize("kind", STORED)
def test_a_sheet_is_read_as_it_is_stored(kind):
    content, text = STORED[kind]
    assert excel.is_workbook(content)
    assert as_csv(content) == text


BROKEN = {
    "no zip": b"PK\x03\x04 and nothing",
    "nothing": b"PK\x03\x04",
    "cut": workbook(["a"])[:-30],
    "no sheet": with_parts(**{"xl/_rels/workbook.xml.rels": "<Relationships/>"}),
    "no relations": with_parts(**{"_rels/.rels": "<Relationships/>"}),
    "no XML": with_rows("<row"),
    "two roots": with_parts(**{SHEET: f"<worksheet {MAIN}/><worksheet/>"}),
    "less than is there": altered(workbook(["a"], *([number] for number in range(999))), 100),
    "another text": with_rows('<row><c t="s"><v>7</v></c></row>', "<si><t>one</t></si>"),
    "a far column": with_rows('<row><c r="ABCD1"><v>7</v></c></row>'),
    "no column": with_rows('<row><c r="1"><v>7</v></c></row>'),
    "a number of words": with_rows(f"<row><c><v>{SECRET}</v></c></row>"),
    "a text's number": with_rows(f'<row><c t="s"><v>{SECRET}</v></c></row>', "<si/>"),
    "true or": with_rows(f'<row><c t="b"><v>{SECRET}</v></c></row>'),
    "endless": with_rows("<row><c><v>1e999</v></c></row>"),
    "no number": with_rows("<row><c><v>nan</v></c></row>"),
    "other digits": with_rows("<row><c><v>٣</v></c></row>"),
    "grouped": with_rows("<row><c><v>1_000</v></c></row>"),
    "another zip": zipped({"table.csv": "age,height\n1,2\n"}),
    "another way to pack": zipped(small(), zipfile.ZIP_LZMA),
    "a style of words": with_rows(f'<row><c s="{SECRET}"><v>1</v></c></row>'),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_workbook_is_one_sentence_whatever_is_wrong_with_it(kind):
    with pytest.raises(ValueError, match=r"^the file is not an Excel workbook \(\.xlsx\) that can be read") as refusal:
        as_csv(BROKEN[kind])
    assert SECRET not in str(refusal.value)
    assert refusal.value.__cause__ is None
    assert refusal.value.__suppress_context__


@pytest.mark.parametrize(
    "cells",
    [(f'<c t="d"><v>{SECRET}</v></c>', '<c t="d"><v>99999-01-01</v></c>'), (f'<c t="n"><v>{SECRET}</v></c>',) * 2],
    ids=["of dates", "of numbers"],
)
def test_the_page_repeats_no_cell_of_a_workbook(open_page, cells):
    content = with_rows("".join(f"<row>{cell}</row>" for cell in ('<c t="str"><v>x</v></c>', *cells)))
    app = own.uploaded(open_page, content, "mine.xlsx")
    assert not app.exception
    words = set(
        re.findall(r"\w+", " ".join((own.said(app), own.captions(app), *(each.value for each in app.markdown))))
    )
    assert not {SECRET, "99999", "literal"} & words


def styles(formats: str) -> bytes:
    """The small workbook, all whose cells have the format 170, with these formats."""
    declared = f"<styleSheet {MAIN}><numFmts>{formats}</numFmts>"
    return with_parts(**{"xl/styles.xml": f'{declared}<cellXfs><xf numFmtId="170"/></cellXfs></styleSheet>'})


LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
TOO_MANY_ROWS = "the sheet has more than 200,000 rows, the limit here; keep a random sample"
GIVEN_UP = {  # what makes the workbook, what is said, and how many bytes are unpacked by then, at most
    "entities": (
        lambda: with_parts(**{SHEET: f"{LAUGHS}<worksheet {MAIN}><sheetData/></worksheet>"}),
        "declares XML entities",
        5_000,
    ),
    "empty rows": (lambda: with_rows("<row/>" * 500_000), TOO_MANY_ROWS, 1_800_000),
    "numbered rows": (lambda: with_rows('<row r="1"/>' * 500_000), TOO_MANY_ROWS, 3_600_000),
    "last rows": (lambda: with_rows('<row r="1048576"></row>' * 500_000), TOO_MANY_ROWS, 6_900_000),
    "empty cells": (lambda: with_rows("<row><c/></row>" * 500_000), TOO_MANY_ROWS, 4_500_000),
    "shared texts": (
        lambda: with_rows("", "<si><t>a</t></si>" * 500_000),
        "more cells, rows or texts than are read here; save the columns",
        4_000_000,
    ),
    "a bomb": (
        lambda: with_rows("", f"<si><t>{'a' * (parts.MAX_UNPACKED + 2**22)}</t></si>"),
        "the workbook unpacks to more than 64 MB, the limit here; save the columns",
        parts.MAX_UNPACKED + 2**17,
    ),
    "cells that share a long text": (
        lambda: with_rows('<row><c t="s"><v>0</v></c></row>' * 10_000, f"<si><t>{'a' * 100_000}</t></si>"),
        "the sheet has more than 5 MB as text, the limit here. Keep only the columns",
        200_000,
    ),
    "formats": (
        lambda: styles('<numFmt numFmtId="170" formatCode="0"/>' * 20_000),
        "more than 5,000 number formats",
        280_000,
    ),
    "a far column": (lambda: with_rows('<row><c r="ALM1"><v>1</v></c></row>'), "more than 1,000 columns", 10_000),
}


@pytest.mark.parametrize("kind", GIVEN_UP)
def test_too_much_is_given_up_while_it_is_read(monkeypatch, kind):
    opened = []

    class Watched(parts.Parts):
        def __init__(self, content):
            super().__init__(content)
            opened.append(self)

    monkeypatch.setattr(excel, "Parts", Watched)
    monkeypatch.setattr(parts, "MAX_ELEMENTS", 2.02 * excel.MAX_ROWS)  # fewer than ship, to be quick
    make, words, unpacked = GIVEN_UP[kind]
    content = make()
    assert len(content) < 2**20
    with pytest.raises(ValueError, match=re.escape(words)):
        as_csv(content)
    assert opened[0].unpacked < unpacked


@pytest.mark.parametrize("code", ["[" * 2**20, "&quot;" * 2**20, "\\" * 2**20], ids=["brackets", "quotes", "strokes"])
def test_a_format_without_end_takes_no_time(code):
    assert as_csv(styles(f'<numFmt numFmtId="170" formatCode="{code}"/>')) == "x\n1\n"


def test_all_that_is_let_through_is_a_few_hundred_thousand_cells():
    """What bounds the seconds that a file can take, of the process that reads it: elements, and bytes."""
    assert parts.MAX_ELEMENTS <= 1_500_000
    assert parts.MAX_UNPACKED <= 64 * 2**20
    columns = 3
    assert excel.MAX_ROWS * (1 + 2 * columns) <= parts.MAX_ELEMENTS  # a table of as many rows as may be


def test_which_sheet_is_not_guessed():
    book = openpyxl.Workbook()
    book.active.append(["a"])
    book.create_sheet()
    with pytest.raises(ValueError, match=r"the workbook has 2 sheets; declare sheet, .*: 'Sheet', 'Sheet1'"):
        as_csv(saved(book))
    assert excel.as_csv(saved(book), 10, "Sheet") == b"a\n"
