"""Files of other programs: what they declare is used, what is hostile is given up early and repeated nowhere."""

from __future__ import annotations

import datetime
import gzip
import io
import json
import re
import tracemalloc
import zipfile
from decimal import Decimal

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest

from dpgp_core.reading import conversion, kinds
from dpgp_core.reading.conversion import labelled
from dpgp_core.reading.csv_file import read_csv
from dpgp_core.reading.kinds import as_text, name_in, unit_in
from dpgp_core.reading.look import proposal
from dpgp_core.release.command_line import main
from tests import other_programs as programs
from tests.hostile_files import BOMBS, KINDS, SECRET, WRONG, refusal, saved, with_rows, workbook
from tests.odd_kinds import AGE, HEIGHT


def text(content: bytes, sheet: str | None = None) -> str:
    return as_text(io.BytesIO(content), sheet).stream.read().decode().replace('"', "")


# ---- What a file declares


SEXES = {1.0: "man", 2.0: "woman"}
NEVER = {1.0: "never", 2.0: "sometimes", 3.0: "always"}
COLUMNS = {  # values, labels, measure -> columns of text
    "two categories": ([1.0, 2.0, None], SEXES, "unknown", {"q": ["man", "woman", ""]}),
    "categories in an order": (
        [1.0, 3.0],
        NEVER,
        "ordinal",
        {"q": ["never", "always"], "q (code)": ["1", "3"]},
    ),
    "categories without an order": ([1.0, 3.0], NEVER, "nominal", {"q": ["never", "always"]}),
    "a scale whose ends have labels": (
        [1.0, 4.0, 7.0],
        {1.0: "never", 7.0: "always"},
        "unknown",
        {"q": ["1", "4", "7"], "q (label)": ["never", "4", "always"]},
    ),
    "a scale, as the file says": ([1.0, 2.0], SEXES, "scale", {"q": ["1", "2"], "q (label)": ["man", "woman"]}),
    "labels that are numbers": (
        [0.0, 1.0],
        {0.0: "bad", 1.0: "1", 2.0: "good"},
        "unknown",
        {"q": ["0", "1"], "q (label)": ["bad", "1"]},
    ),
    "one label": ([998.0, 1.5], {998.0: "unknown"}, "unknown", {"q": ["998", "1.5"]}),
    "letters": (["f", "m"], {"f": "woman", "m": "man"}, "unknown", {"q": ["woman", "man"]}),
    "a value without a label": ([1.0, 5.0], SEXES, "unknown", {"q": ["man", "5"]}),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_labels_alone_decide_how_a_column_is_written(name):
    values, labels, measure, expected = COLUMNS[name]
    assert labelled("q", values, labels, measure) == expected
    for other in ([None], [7.5], ["x"]):  # nobody's value moves a column
        assert labelled("q", [*values, *other], labels, measure).keys() == expected.keys()


def survey_file(program: str) -> bytes:
    frame = pd.DataFrame(
        {
            "v1": [float(age) for age in AGE],
            "v2": [1.0 + at % 2 for at in range(len(AGE))],
            "v312": [*HEIGHT[:-2], 999.0, 999.0],
        }
    )
    labels = {"v1": "Age [years]", "v2": "Sex", "v312": "Body height (cm)"}
    if program == "stata":
        frame.loc[58:, "v312"] = np.nan
        return programs.stata(frame, column_labels=labels, variable_value_labels={"v2": {1: "man", 2: "woman"}})
    return programs.spss(
        frame,
        column_labels=labels,
        variable_value_labels={"v2": SEXES, "v312": {999.0: "refused"}},
        missing_ranges={"v312": [999.0]},
        compress=program == "zsav",
    )


@pytest.mark.parametrize(
    ("label", "name", "unit"),
    [
        ("Body height (cm)", "body height", "cm"),
        ("Hourly wage in GBP", "hourly wage", "GBP"),
        ("Age, in years", "age", "years"),
        ("BMI [kg/m²]", "BMI", "kg/m²"),
        ("Trust in parliament", "trust in parliament", ""),
        ("Score (wave 2)", "score (wave 2)", ""),
        ("", "", ""),
    ],
)
def test_labels_hold_a_name_and_a_unit(label, name, unit):
    assert (name_in(label), unit_in(label)) == (name, unit)


@pytest.mark.parametrize("program", ["stata", "sav", "zsav"])
def test_what_a_file_declares_needs_no_question(tmp_path, capsys, program):
    """Bounds and box are asked: all else is proposed from the labels and missing values of the file."""
    (tmp_path / "table").write_bytes(survey_file(program))
    assert main(["look", str(tmp_path / "table"), "--x", "v1", "--x", "v2", "--y", "v312"]) == 0
    out, told = capsys.readouterr()
    found = json.loads(out)
    assert found["x_levels"] == [None, ["man", "woman"]]
    assert (found["x_units"], found["y_unit"]) == (["years", ""], "cm")
    assert found["unit"] == "one person's body height"
    assert found["missing"] == []
    assert "v312: labelled 'Body height (cm)'" in told
    given = {"x_box": [[0, 100], None], "y_bounds": [100, 250], "grid": [5, None]}
    del found["not_private"]
    (tmp_path / "config.json").write_text(json.dumps(found | given))
    command = ["release", "--csv", str(tmp_path / "table"), "--config", str(tmp_path / "config.json")]
    assert main([*command, "--out", str(tmp_path / "out.zip")]) == 0
    assert "n = 58 complete rows of 60" in capsys.readouterr().out


def test_only_declared_columns_of_large_surveys_are_read():
    frame = pd.DataFrame({f"v{at}": [float(at), at + 1.0, at + 2.0] for at in range(1500)})
    content = programs.spss(frame)
    with pytest.raises(ValueError, match=r"the file has 1500 columns, more than 1000, the limit; keep .* or name them"):
        text(content)
    for file in (content, programs.parquet(pa.table(frame.to_dict("list")))):
        table = read_csv(io.BytesIO(file), x=["v3"], y="v1400", y_bounds=(0, 2000), x_box=[(0, 10)])
        assert (table.X[:, 0].tolist(), table.y.tolist()) == ([3.0, 4.0, 5.0], [1400.0, 1401.0, 1402.0])


# ---- What is stored


def test_a_workbook_is_what_another_reader_reads():
    book = openpyxl.Workbook()
    days = [datetime.datetime(1900, 1, 1), datetime.datetime(1900, 3, 1, 6), datetime.datetime(2026, 11, 23, 8, 1, 30)]
    book.active.append(["text", "line", "ünï", "2", *range(5)])
    for day in days:
        book.active.append([day, -1.5, 10**15, 0.1 + 0.2, False, None, " spaced ", "<&>", 1e-300])
    ours = [line.split(",") for line in text(saved(book)).splitlines()]
    theirs = list(openpyxl.load_workbook(io.BytesIO(saved(book))).active.iter_rows(values_only=True))
    assert len(ours) == len(theirs)
    for mine, row in zip(ours, theirs, strict=True):
        assert mine == [conversion.text_of(float(value) if type(value) is int else value) for value in row]


def formatted(code: str, *days: object) -> bytes:
    """A row of days, counted from 1904 on."""
    book = openpyxl.Workbook()
    book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    book.active.append(days)
    for cell in book.active[1]:
        cell.number_format = code
    return saved(book)


IN_PIECES = (
    '<si><t>age</t></si><si><r><rPr><b/></rPr><t xml:space="preserve">two </t></r><r><t>pieces</t></r></si>'
    '<si><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></si>'
)
LEFT_OUT = (
    '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="D1" t="s"><v>2</v></c></row>'
    '<row r="3"/><row r="5"><c r="A5" t="str"><f>A1&amp;"x"</f><v>said</v></c><c r="B5"><v>7</v></c>'
    '<c r="C5" t="e"><v>#N/A</v></c></row>'
)
ARROW = pa.table(
    {
        "day": [datetime.date(2024, 3, 1), None],
        "time": pa.array([datetime.datetime(2024, 3, 1, 8, 30), None], pa.timestamp("ns")),
        "zone": pa.array([datetime.datetime(2024, 3, 1, 8, 30), None], pa.timestamp("ns", "Europe/Berlin")),
        "lasts": pa.array([datetime.timedelta(hours=30), None], pa.duration("ns")),
        "price": [Decimal("1.50"), None],
        "word": pa.array(["a, b", None]).dictionary_encode(),
        "yes": [True, None],
        "many": [[1, 2], None],
        "bytes": [b"x", None],
    }
)
ARROW_TEXT = (
    "day,time,zone,lasts,price,word,yes\n"
    "2024-03-01,2024-03-01T08:30:00,2024-03-01T09:30:00+01:00,30:00:00,1.50,a, b,true\n,,,,,,\n"
)
STORED = {
    "cells that are left out": (
        workbook(["age", "a,b", "on"], [1.5, "x\ny", True], [2, None, datetime.date(2026, 1, 2)]),
        "age,a,b,on\n1.5,x y,true\n2,,2026-01-02\n",
    ),
    "days from 1904 on": (formatted("yyyy-mm-dd", datetime.datetime(2026, 1, 2)), "2026-01-02\n"),
    "texts in pieces, rows and cells that are left out": (
        with_rows(LEFT_OUT, IN_PIECES),
        "age,two pieces,,東京\n,,,\n,,,\n,,,\nsaid,7,,\n",
    ),
    "a table that begins further down": (with_rows('<row r="3"><c r="C3"><v>7</v></c></row>'), ",,\n,,\n,,7\n"),
    "days and numbers of Arrow": (programs.arrow(ARROW), ARROW_TEXT),
    "days and numbers of Parquet": (programs.parquet(ARROW), ARROW_TEXT),
}


@pytest.mark.parametrize("name", STORED)
def test_a_file_is_read_as_it_is_stored(name):
    content, expected = STORED[name]
    assert text(content) == expected


def test_which_sheet_is_not_guessed():
    book = openpyxl.Workbook()
    book.active.append(["a"])
    book.create_sheet()
    said = r"the workbook has 2 sheets; declare sheet, .*: 'Sheet', 'Sheet1'"
    with pytest.raises(kinds.SeveralSheets, match=said) as several:
        text(saved(book))
    assert several.value.names == ("Sheet", "Sheet1")
    assert text(saved(book), "Sheet") == "a\n"
    with pytest.raises(ValueError, match="the workbook has no such sheet; choose another"):
        text(saved(book), SECRET)


def test_macros_are_not_handed_on():
    with_macros = programs.zipped({"xl/vbaProject.bin": b"x", "xl/workbook.xml": "<x/>", "xl/media/a.png": b"x"})
    assert zipfile.ZipFile(io.BytesIO(conversion._stored(with_macros))).namelist() == ["xl/workbook.xml"]


def test_cells_are_counted_before_a_workbook_is_opened(monkeypatch):
    monkeypatch.setattr(conversion, "MAX_CELLS", 10)
    content = workbook(*([at] for at in range(11)))
    with pytest.raises(conversion.Refused, match="more than 10 cells, the limit here"):
        conversion._stored(content)
    monkeypatch.setattr(conversion, "MAX_CELLS", 11)
    assert conversion._stored(content)


def test_a_table_is_kept_once_as_text():
    tracemalloc.start()
    try:
        text = conversion._written((["a" * 1000] for _ in range(10_000)), 2**30)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 1.5 * len(text)


def test_a_stream_that_cannot_seek_is_text():
    class Pipe(io.BytesIO):
        def seekable(self):
            return False

    pipe = Pipe(b"a,b\n1,2\n")
    assert as_text(pipe).stream is pipe


# ---- What is refused


@pytest.mark.parametrize("kind", ["xlsx", "dta", "parquet"])
def test_a_package_that_is_missing_is_named(monkeypatch, kind):
    monkeypatch.setattr(kinds, "find_spec", lambda name: None)
    package = {"xlsx": "python-calamine", "dta": "pyreadstat", "parquet": "pyarrow"}[kind]
    with pytest.raises(ValueError, match=f"install it with `pip install {package}`; the extra files"):
        text(KINDS[kind]())


def check(said: str) -> None:
    """A refusal is one sentence, with a remedy, and without a cell."""
    assert re.search(r"; (?:save|copy|keep|declare|unpack|remove|add)", said), said
    assert "\n" not in said
    assert SECRET not in said


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_cut_is_one_sentence(kind):
    content = KINDS[kind]()
    assert refusal(content) == ""
    check(refusal(content[: int(0.7 * len(content))]))


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_content_after_a_valid_start_is_explained(kind):
    check(refusal(WRONG[kind]))


SLOW = ("share a long text", "30,000 columns", "in a million rows", "rows of zeros", "300 MB")


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=[pytest.mark.full] if each.endswith(SLOW) else []) for each in BOMBS]
)
def test_too_much_is_given_up(name):
    make, words = BOMBS[name]
    said = refusal(make())
    assert words in said
    assert bool(words) == bool(said)
    assert SECRET not in said


def test_limits_are_those_that_are_documented():
    """One file takes no more memory and time than this, whatever it holds."""
    assert kinds.MAX_MEMORY <= 2 * 2**30
    assert kinds.MAX_SECONDS <= 120
    assert (conversion.MAX_CELLS, conversion.MAX_UNPACKED, kinds.MAX_PACKED) == (10_000_000, 256 * 2**20, 200 * 2**20)


def test_gzip_texts_in_several_pieces_are_complete():
    assert text(gzip.compress(b"a,b\n") + gzip.compress(b"1,2\n") + b"\0\0") == "a,b\n1,2\n"


def test_numbers_of_typed_files_are_not_ambiguous():
    """In text, 2.400 may be 2,400; a file that stores a number says which it is."""
    frame = pd.DataFrame({"age": AGE, "metres": [1.755 if at % 2 else 2.0 for at in AGE]})
    for content in (programs.spss(frame), programs.parquet(pa.table(frame.to_dict("list")))):
        found, _ = proposal(as_text(io.BytesIO(content)).stream, ["age"], "metres")
        assert found["numbers"] == "1234.5"
        table = read_csv(io.BytesIO(content), x=["age"], y="metres", y_bounds=(0, 3), x_box=[(0, 100)])
        assert {*table.y} == {1.755, 2.0}


def test_what_a_library_prints_is_no_result(monkeypatch):
    monkeypatch.setattr(
        kinds,
        "_CHILD",
        "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from dpgp_core.reading import conversion as c; "
        "import os; read = c.READERS['workbook']; "
        "c.READERS['workbook'] = lambda *given: os.write(1, b'zqsecret') and read(*given); c.main()",
    )
    assert text(workbook(["a", "b"], [1, 2])) == "a,b\n1,2\n"
