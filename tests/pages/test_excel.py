"""Workbooks as tables: what is stored is read, what is hostile is measured and refused."""

from __future__ import annotations

import datetime
import io
import zipfile

import openpyxl
import pytest

from dpgp_core.reading.csv_rows import read_columns
from pages._ui.own import excel


def workbook(*rows, sheets=1):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for _ in range(sheets - 1):
        book.create_sheet()
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def test_a_sheet_is_read_as_it_is_stored():
    content = workbook(
        ["age", "a,b", "on"], [1.5, "x, y", True], [2, None, datetime.date(2026, 1, 2)], [None, None, None]
    )
    assert excel.is_workbook(content)
    text = excel.as_csv(content).decode()
    assert text == 'age,"a,b",on\n1.5,"x, y",true\n2,,2026-01-02T00:00:00\n'
    found = read_columns(io.BytesIO(excel.as_csv(content)), ["age"], max_rows=10)
    assert found[:, 0].tolist() == [1.5, 2]


def test_a_formula_is_not_computed():
    text = excel.as_csv(workbook(["age"], ["=1+1"], [3])).decode()
    assert "=" not in text
    assert text.splitlines()[0] == "age"


def test_numbers_keep_every_digit():
    numbers = [0.1, 1 / 3, 1e-300, 123456789.123, 2.0**40]
    text = excel.as_csv(workbook(["x"], *([value] for value in numbers))).decode()
    assert [float(line) for line in text.splitlines()[1:]] == numbers


@pytest.mark.parametrize("content", [b"PK\x03\x04 and nothing", b"PK\x03\x04", workbook(["a"])[:-30]])
def test_a_broken_workbook_is_a_sentence(content):
    with pytest.raises(ValueError, match=r"^the file is not an Excel workbook"):
        excel.as_csv(content)


def test_another_zip_is_no_workbook():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("table.csv", "age,height\n1,2\n")
    with pytest.raises(ValueError, match=r"^the file is not an Excel workbook"):
        excel.as_csv(stream.getvalue())


def test_a_bomb_is_not_unpacked():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", bytes(excel.MAX_UNPACKED + 1))
    assert len(stream.getvalue()) < 2**20
    with pytest.raises(ValueError, match=r"the workbook unpacks to 100 MB, more than 100 MB, the limit here"):
        excel.as_csv(stream.getvalue())


def test_which_sheet_is_not_guessed(monkeypatch):
    with pytest.raises(ValueError, match=r"the workbook has 2 sheets; keep the one with the table"):
        excel.as_csv(workbook(["a"], sheets=2))
    monkeypatch.setattr(excel, "MAX_ROWS", 2)
    with pytest.raises(ValueError, match=r"the sheet has more than 2 rows"):
        excel.as_csv(workbook(["a"], [1], [2], [3]))
