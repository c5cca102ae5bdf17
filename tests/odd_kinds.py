"""Tables of odder kinds: read right once what `look` proposes is declared, or refused with a remedy that works."""

from __future__ import annotations

import bz2
import gzip
import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa

from tests import other_programs as programs
from tests.kinds import _AGE, _DATE, _HEIGHT, _SALARY, N, comma, some, table

AGE, HEIGHT = [int(age) for age in _AGE], [float(height) for height in _HEIGHT]
DAY = list(_DATE)
FIRST = date(2024, 3, 1)


@dataclass(frozen=True)
class Odd:
    """A table of an odd kind.

    Attributes:
        content: its bytes.
        y: the outcomes that must be read.
        x: the inputs that must be read: ages, or days since the 1st of March 2024.
        dated: whether the inputs are dates.
        refused: what its refusal must say, if it is refused as it is.
        cured: what becomes of it when the remedy is followed: another file, or declarations.
        declared: what its owner says beside what is proposed.
        by_page: what its owner says on the page instead of a configuration.
    """

    content: bytes = field(repr=False)
    y: Any = tuple(HEIGHT)
    x: Any = tuple(AGE)
    dated: bool = False
    refused: str = ""
    cured: bytes | dict[str, Any] = b""
    declared: dict[str, Any] = field(default_factory=dict)


def heights(values: Any, sep: str = ",", **written: Any) -> bytes:
    return table(f"age{sep}height", AGE, values, sep=sep, **written)


def grouped(mark: str, decimal: str = "") -> list[str]:
    return [f"{value:,}".replace(",", mark) + (f"{decimal}5" if decimal else "") for value in _SALARY]


def lacking(*words: str) -> Odd:
    """Every sixth outcome is one of some words."""
    kept = [at for at in range(N) if at % 6]
    content = heights(some(HEIGHT, list(words)), sep=";")
    return Odd(content, [HEIGHT[at] for at in kept], [AGE[at] for at in kept])


def numbers(write: Callable[[float], str], scale: float = 1.0) -> Odd:
    return Odd(heights([write(height) for height in HEIGHT], ";"), [scale * height for height in HEIGHT])


def dates(write: Callable[[date], str], means: Callable[[date], date] = lambda day: day, **more: Any) -> Odd:
    days = [float((means(day) - FIRST).days) for day in DAY]
    return Odd(table("day;height", [write(day) for day in DAY], HEIGHT, sep=";"), x=days, dated=True, **more)


def workbook(rows: list[list[Any]], *, others: tuple[str, ...] = (), sheet: str = "measured") -> bytes:
    book = openpyxl.Workbook()
    book.active.title = sheet
    for row in rows:
        book.active.append(row)
    for other in others:
        book.create_sheet(other).append(["a note"])
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def merged() -> bytes:
    """A workbook whose title goes over merged cells, with a column that it shows in per cent."""
    book = openpyxl.Workbook()
    for row in (["Heights of 2024, by age"], [], ["age", "share", "height"]):
        book.active.append(row)
    book.active.merge_cells("A1:C1")
    for age, height in zip(AGE, HEIGHT, strict=True):
        book.active.append([age, height / 1000, height])
        book.active.cell(book.active.max_row, 2).number_format = "0.0%"
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def headed() -> bytes:
    """A workbook whose last name is merged over two columns."""
    book = openpyxl.Workbook()
    for row in [ROWS[0], *([*row, "cm"] for row in ROWS[1:])]:
        book.active.append(row)
    book.active.merge_cells("B1:C1")
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def answers(yes: str, no: str) -> Odd:
    """An outcome of two words."""
    said = [float(at % 3 > 0) for at in range(N)]
    content = heights([yes if each else no for each in said], sep=";")
    return Odd(content, said, declared={"y_bounds": None})


def month(day: date) -> date:
    return day.replace(day=1)


def week(day: date) -> date:
    return day - timedelta(days=day.weekday())


PLAIN = heights(HEIGHT)
MARZ = ("", "Jan.", "Februar", "März", "April", "Mai", "Juni")
ROWS = [["age", "height"], *([age, height] for age, height in zip(AGE, HEIGHT, strict=True))]
UNPACK, CONVERT = "unpack it", "save it as CSV in UTF-8"
WIDTH = "60 of 60 rows; declare the separator, name every column in the header, or save it again with semicolons"
COLUMNS = {"age": AGE, "height": HEIGHT}
FRAME = pd.DataFrame(COLUMNS)
DATED = pd.DataFrame({"day": DAY, "height": HEIGHT})
SALARY = {"y": [float(value) for value in _SALARY]}
HALF = {"y": [value + 0.5 for value in _SALARY]}

ODD: dict[str, Odd] = {
    # lines that are no rows
    "title lines": Odd(b"Survey of 2024\nPrinted on 3 March\n\n" + PLAIN),
    "title lines padded with separators": Odd(b"Survey of 2024,,\n,,\n" + table("age,height,note", AGE, HEIGHT, AGE)),
    "comments of a logger": Odd(b"# made by a logger\n# unit: cm\n" + PLAIN),
    "notes below": Odd(PLAIN + b"\nSource: the office\nNote: revised, see text\n"),
    "one note below": Odd(PLAIN + b"Source: the office\n"),
    "titles and notes": Odd(b"Survey\n\n" + PLAIN + b"\nSource: the office"),
    "units below the names": Odd(table("age,height\nyears,cm", AGE, HEIGHT)),
    "a line of dashes below the names": Odd(table("age|height\n---|---", AGE, HEIGHT, sep="|")),
    "a sum at the end": Odd(PLAIN + b"Total,9999.5\n"),
    "an empty line below the names": Odd(table("age,height\n", AGE, HEIGHT)),
    "names repeated": Odd(PLAIN + b"\xef\xbb\xbf" + PLAIN, [*HEIGHT, *HEIGHT], [*AGE, *AGE]),
    "the end of files of old": Odd(PLAIN + b"\x1a"),
    # names
    "names on two lines": Odd(table('age,"height\n[cm]"', AGE, HEIGHT), declared={"y": "height [cm]"}),
    "spaces that do not break in names": Odd(table("\u00a0age, height ", AGE, HEIGHT)),
    "names with letters that nobody sees": Odd(table("\u200bage,height", AGE, HEIGHT)),
    "names in capitals": Odd(
        table("Age,Height", AGE, HEIGHT),
        refused="no column 'age'; its comma-separated columns are: 'Age', 'Height'",
        cured={"x": ["Age"], "y": "Height"},
    ),
    "two columns of the name that is used": Odd(
        table("age,height,height", AGE, HEIGHT, AGE),
        refused="columns 2 and 3 of the file have the same name: 'height'; choose one by its number, as 'height (",
        cured={"y": "height (column 2)"},
    ),
    "rows one longer than the names": Odd(
        table("age,height", range(N), AGE, HEIGHT), refused=WIDTH, cured=table("id,age,height", range(N), AGE, HEIGHT)
    ),
    "no names": Odd(table(f"{AGE[0]},{HEIGHT[0]}", AGE[1:], HEIGHT[1:]), refused="add a header line", cured=PLAIN),
    # separators and quotes
    "carets": Odd(heights(HEIGHT, sep="^")),
    "tildes": Odd(heights(HEIGHT, sep="~")),
    "colons": Odd(heights(HEIGHT, sep=":")),
    "double bars": Odd(heights(HEIGHT, sep="||")),
    "separators at the end of all rows": Odd(heights([f"{height}," for height in HEIGHT])),
    "fixed width": Odd(
        "".join(
            ["  age   height\n", *(f"{age:5d} {height:8.1f}\n" for age, height in zip(AGE, HEIGHT, strict=True))]
        ).encode()
    ),
    "quoted lines within cells": Odd(table("age,note,height", AGE, ['"oak\nelm"'] * N, HEIGHT)),
    "quotes of one stroke": Odd(table("'age','height'", [f"'{age}'" for age in AGE], [f"'{y}'" for y in HEIGHT])),
    "each row quoted whole": Odd(
        "\n".join(['"age,height"', *(f'"{age},{y}"' for age, y in zip(AGE, HEIGHT, strict=True))]).encode()
    ),
    "a quote within text": Odd(table("age,note,height", AGE, ['5" pipe'] * N, HEIGHT)),
    "decimal commas between commas, not quoted": Odd(
        heights(comma(HEIGHT)), refused=WIDTH, cured=heights(comma(HEIGHT), sep=";")
    ),
    "thousands between commas, not quoted": Odd(
        heights(grouped(",")),
        **SALARY,
        declared={"numbers": "1,234.5"},
        refused=WIDTH,
        cured=heights(grouped(","), sep=";"),
    ),
    "quotes escaped by a stroke": Odd(
        table("age,note,height", AGE, ['"a \\" b"'] * N, HEIGHT), refused="save it again", cured=PLAIN
    ),
    # numbers
    "apostrophes": Odd(heights(grouped("'"), sep=";"), **SALARY),
    "typeset apostrophes": Odd(heights(grouped("\u2019"), sep=";"), **SALARY),
    "spaces that do not break": Odd(heights(grouped("\u00a0", ".")), **HALF),
    "narrow spaces": Odd(heights(grouped("\u202f", ","), sep=";"), **HALF),
    "per cent": numbers(lambda y: f"{y} %"),
    "pounds": Odd(heights([f'"£{value:,}"' for value in _SALARY]), **SALARY, declared={"numbers": "1,234.5"}),
    "euros behind": Odd(heights([f"{value},50 €" for value in _SALARY], sep=";"), **HALF),
    "a unit behind": numbers(lambda y: f"{y} cm"),
    "a currency's name before": Odd(heights([f"EUR {value}" for value in _SALARY]), **SALARY),
    "brackets for negative numbers": numbers(lambda y: f"({y})", scale=-1.0),
    "a minus behind": numbers(lambda y: f"{y}-", scale=-1.0),
    "a typeset minus": numbers(lambda y: f"\u2212{y}", scale=-1.0),
    "a plus": numbers(lambda y: f"+{y}"),
    "no digit before the point": Odd(heights([f".{age}" for age in AGE]), [age / 100 for age in AGE]),
    "no digit behind the point": Odd(heights([f"{age}." for age in AGE]), AGE),
    "powers of ten": Odd(heights([f"{age}E+03" for age in AGE]), [1000.0 * age for age in AGE]),
    "powers of ten with commas": Odd(
        heights([f"1,{age}E+4" for age in AGE], sep=";"), [float(f"1.{age}e4") for age in AGE]
    ),
    "text in a spreadsheet": numbers(lambda y: f"'{y}"),
    "formulas of text": Odd(heights([f'="{y}"' for y in HEIGHT])),
    "commas and points in one column": Odd(
        heights([str(y).replace(".", ",") if at % 2 else y for at, y in enumerate(HEIGHT)], sep=";"),
        refused="a number that is written otherwise in 30 of 60 rows, first in line 3 of the file; write all numbers",
        cured=heights(HEIGHT, sep=";"),
    ),
    "times of day": Odd(
        heights([f"{age % 24}:30" for age in AGE]),
        [age % 24 + 0.5 for age in AGE],
        refused='declare "notations": ["times"]',
        cured={"notations": ["times"]},
    ),
    "feet and inches": Odd(
        heights(["5'11\""] * 30 + ["6'2\""] * 30),
        [71.0] * 30 + [74.0] * 30,
        refused='declare "notations": ["feet and inches"]',
        cured={"notations": ["feet and inches"]},
    ),
    "an offset of a billion": Odd(
        table("age,height", [10**12 + age for age in AGE], HEIGHT),
        declared={"x_box": [[10**12, 10**12 + 100]]},
        refused="subtract a public offset such as 1e+12 from the column and from these ends",
        cured=PLAIN,
    ),
    # missing values
    "NULL": lacking("NULL"),
    "points": lacking("."),
    "dashes": lacking("-", "\u2013", "\u2014"),
    "dots": lacking("..", "\u2026"),
    "colons for missing": lacking(":"),
    "errors of a spreadsheet": lacking("#DIV/0!", "#N/A", "#VALUE!"),
    "asterisks": lacking("*", "**"),
    "less than": Odd(heights(some(HEIGHT, ["<140"]), sep=";"), some(HEIGHT, [140.0])),
    "codes": lacking("-9999"),
    "two codes": lacking("-998", "-999"),
    # dates
    "1-Mar-2024": dates(lambda day: f"{day.day}-{day:%b-%Y}"),
    "1 March 2024": dates(lambda day: f"{day.day} {day:%B %Y}"),
    "March 1, 2024": dates(lambda day: f"{day:%B} {day.day}, {day.year}"),
    "Fri, 01 Mar 2024": dates(lambda day: f"{day:%a, %d %b %Y}"),
    "1. März 2024": dates(lambda day: f"{day.day}. {MARZ[day.month]} {day.year}"),
    "2024-Mar-01": dates(lambda day: f"{day:%Y-%b-%d}"),
    "01MAR2024": dates(lambda day: f"{day:%d%b%Y}".upper()),
    "Mar 2024": dates(lambda day: f"{day:%b %Y}", month),
    "Mar-24": dates(lambda day: f"{day:%b-%y}", month),
    "03/2024": dates(lambda day: f"{day:%m/%Y}", month),
    "2024-03": dates(lambda day: f"{day:%Y-%m}", month),
    "2024M03": dates(lambda day: f"{day:%YM%m}", month),
    "2024-W09": dates(lambda day: f"{day:%G-W%V}", week),
    "2024-W09-5": dates(lambda day: f"{day:%G-W%V-%u}"),
    "2024Q1": dates(
        lambda day: f"{day.year}Q{(day.month + 2) // 3}", lambda day: date(day.year, 3 * ((day.month + 2) // 3) - 2, 1)
    ),
    "20240301": dates(lambda day: f"{day:%Y%m%d}"),
    "dates and times": dates(lambda day: f"{day:%d/%m/%Y} 08:30:12"),
    "times with a zone": dates(lambda day: f"{day.isoformat()}T08:30:00.123+02:00"),
    "days since 1900": dates(
        lambda day: str((day - date(1899, 12, 30)).days),
        refused="a number instead of a date in 60 of 60 rows, first in line 2 of the file; declare the column a number",
        cured={"x_box": [[45000, 46000]]},
    ),
    "no date": Odd(
        table("day,height", some([day.isoformat() for day in DAY], ["0000-00-00"]), HEIGHT),
        [y for at, y in enumerate(HEIGHT) if at % 6],
        [float((day - FIRST).days) for at, day in enumerate(DAY) if at % 6],
        dated=True,
    ),
    # encodings and line ends
    "UTF-16 without a mark": Odd(heights(HEIGHT, encoding="utf-16-le")),
    "UTF-16, the other end first": Odd(b"\xfe\xff" + heights(HEIGHT, sep="\t", encoding="utf-16-be")),
    "ends of lines of two kinds": Odd(PLAIN.replace(b"\n", b"\r\n", 20)),
    "old letters in a note": Odd(table("age,height,note", AGE, HEIGHT, ["é"] * N, encoding="cp1252")),
    # as programs export them
    "an index of pandas": Odd(table(",age,height", range(N), AGE, HEIGHT)),
    "numbers of rows of R": Odd(
        table('"","age","height","sex"', [f'"{at}"' for at in range(1, N + 1)], AGE, HEIGHT, ['"f"'] * N)
    ),
    "numbers of rows of R without a name": Odd(
        table('"age" "height"', [f'"{at}"' for at in range(1, N + 1)], AGE, HEIGHT, sep=" "),
        refused="name every column in the header",
        cured=table('"row" "age" "height"', [f'"{at}"' for at in range(1, N + 1)], AGE, HEIGHT, sep=" "),
    ),
    "codes with their labels": answers("1. Yes", "2. No"),
    "codes in brackets with their labels": answers("(1) yes", "(0) no"),
    "WAHR and FALSCH": answers("WAHR", "FALSCH"),
    "zero and one as text": answers('"1"', '"0"'),
    "letters of SAS for missing": lacking(".A", ".B", ".Z"),
    "dates of Stata": dates(lambda day: f"{day:%d%b%Y}".lower()),
    "months of Stata": dates(lambda day: f"{day.year}m{day.month}", month),
    "dates of SAS with times": dates(lambda day: f"{day:%d%b%Y}:08:30:00".upper()),
    "01-Mrz-24": dates(lambda day: f"{day.day:02}-{('', '', '', 'Mrz', 'Apr', 'Mai', 'Jun')[day.month]}-{day:%y}"),
    "1.3.24": dates(lambda day: f"{day.day}.{day.month}.{day:%y}"),
    "times with a zone behind a space": dates(lambda day: f"{day} 23:30:00 +0200"),
    "thin spaces": Odd(heights(grouped("\u2009", ","), sep=";"), **HALF),
    "comments below and between": Odd(
        table("age,height", AGE[:30], HEIGHT[:30])
        + b"# second batch\n"
        + table("#", [f"{age},{height}" for age, height in zip(AGE[30:], HEIGHT[30:], strict=True)])
        + b"# end\n"
    ),
    "tabs around text with commas": Odd(table("age\theight\tnote", AGE, HEIGHT, ["a, b; c"] * N, sep="\t")),
    "UTF-16 with commas": Odd(table("age,height,größe", AGE, HEIGHT, AGE, encoding="utf-16")),
    "ranges of ages": Odd(
        table("age,height", [f"{age // 5 * 5}-{age // 5 * 5 + 4}" for age in AGE], HEIGHT),
        refused="Otherwise write it as numbers",
        cured=table("age,height", [age // 5 * 5 + 2 for age in AGE], HEIGHT),
    ),
    "seconds since 1970": dates(
        lambda day: str((day - date(1970, 1, 1)).days * 86_400),
        refused="a number instead of a date in 60 of 60 rows, first in line 2 of the file; declare the column a number",
        cured={"x_box": [[1.70e9, 1.73e9]]},
    ),
    "a workbook with merged cells and per cent": Odd(merged()),
    # other files
    "a workbook": Odd(workbook(ROWS)),
    "a workbook with a title and notes": Odd(workbook([["Survey"], [], *ROWS, [], ["Source: the office"]])),
    "a workbook of dates": Odd(
        workbook([["day", "height"], *([day, y] for day, y in zip(DAY, HEIGHT, strict=True))]),
        x=[float((day - FIRST).days) for day in DAY],
        dated=True,
    ),
    "a workbook of several sheets": Odd(
        workbook(ROWS, others=("notes", "old")),
        refused="the workbook has 3 sheets; declare sheet, the name of the one with the table: 'measured', 'notes'",
        cured={"sheet": "measured"},
    ),
    "a zipped table": Odd(programs.zipped({"2024/table.csv": PLAIN, "__MACOSX/._table.csv": b"x", "read.me": b"x"})),
    "a table compressed by gzip": Odd(gzip.compress(PLAIN)),
    "a zipped file of Stata": Odd(programs.zipped({"table.dta": programs.stata(FRAME)})),
    "two zipped tables": Odd(
        programs.zipped({"table.csv": PLAIN, "other.csv": PLAIN}),
        refused="the zip holds 2 files that may be tables; keep one of them in it, or unpack it",
        cured=programs.zipped({"table.csv": PLAIN}),
    ),
    "a table compressed by bzip2": Odd(bz2.compress(PLAIN), refused=UNPACK, cured=PLAIN),
    "an OpenDocument spreadsheet": Odd(programs.opendocument(ROWS)),
    "an OpenDocument spreadsheet with formulas that nothing computed": Odd(
        programs.opendocument(ROWS, formula='table:formula="of:=1+1"'),
        refused="The file holds formulas without results: open and save it in a spreadsheet",
        cured=programs.opendocument(ROWS),
    ),
    "a workbook with formulas that nothing computed": Odd(
        workbook([["age", "height"], *([age, f"={height}+0"] for age, height in ROWS[1:])]),
        refused="The file holds formulas without results: open and save it in a spreadsheet",
        cured=workbook(ROWS),
    ),
    "a workbook of old": Odd((programs.FILES / "heights.xls").read_bytes()),
    "a binary workbook": Odd((programs.FILES / "heights.xlsb").read_bytes()),
    "a workbook whose last column has no name": Odd(workbook([ROWS[0], *([*row, "seen"] for row in ROWS[1:])])),
    "a workbook whose last name goes over two columns": Odd(headed()),
    "a workbook with separators in its names": Odd(workbook([["a;b;c", *ROWS[0]], *([1, *row] for row in ROWS[1:])])),
    "a file of Stata": Odd(programs.stata(FRAME)),
    "a file of Stata of old": Odd(programs.stata(FRAME, version=8)),
    "a file of SPSS": Odd(programs.spss(FRAME)),
    "a compressed file of SPSS": Odd(programs.spss(FRAME, compress=True)),
    "a transport file of SAS": Odd(programs.transport(FRAME)),
    "a file of SAS": Odd((programs.FILES / "heights.sas7bdat").read_bytes()),
    "dates in a file of SPSS": Odd(programs.spss(DATED), x=[float((day - FIRST).days) for day in DAY], dated=True),
    "dates in a file of Stata": Odd(programs.stata(DATED), x=[float((day - FIRST).days) for day in DAY], dated=True),
    "a Parquet file": Odd(programs.parquet(pa.table(COLUMNS))),
    "a Parquet file compressed by zstd": Odd(programs.parquet(pa.table(COLUMNS), compression="zstd")),
    "an Arrow file": Odd(programs.arrow(pa.table(COLUMNS))),
    "dates of Arrow": Odd(
        programs.arrow(pa.table({"day": DAY, "height": HEIGHT})),
        x=[float((day - FIRST).days) for day in DAY],
        dated=True,
    ),
    "JSON": Odd(
        json.dumps([{"age": age, "height": y} for age, y in zip(AGE, HEIGHT, strict=True)]).encode(),
        refused=CONVERT,
        cured=PLAIN,
    ),
    "HTML": Odd(b"<html><table><tr><td>63</td><td>160.8</td></tr></table>", refused=CONVERT, cured=PLAIN),
}
assert np.isfinite(HEIGHT).all()
