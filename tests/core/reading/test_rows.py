"""Bytes as lines, lines as rows, and what may be declared of a table's writing."""

import bz2
import codecs
import gzip
import io
import lzma
import zipfile
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpgp_core.reading import rows as lines
from dpgp_core.reading.look import proposal
from dpgp_core.reading.rows import (
    MOST_ABOVE,
    NotDecoded,
    Table,
    TableRows,
    as_written,
    column_names,
    encoding_of,
    read_lines,
)
from dpgp_core.reading.writing import (
    KEYS,
    MOST_WORDS,
    NUMBERS,
    Writing,
    as_number,
    separator_of,
    ways_of,
)

GOOD = b"age,height\n1,150\n2,160\n"


def read(content, encoding=None, **more):
    return list(read_lines(io.BytesIO(content), encoding, **more))


def zipped(content):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.csv", content)
    return stream.getvalue()


OTHER_KINDS = {
    "zip": (zipped(GOOD), "a zip archive"),
    "empty zip": (b"PK\x05\x06" + bytes(18), "an empty zip archive"),
    "gzip": (gzip.compress(GOOD), "compressed by gzip"),
    "bzip2": (bz2.compress(GOOD), "compressed by bzip2"),
    "xz": (lzma.compress(GOOD), "compressed by xz"),
    "7z": (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    "zstd": (b"\x28\xb5\x2f\xfd", "compressed by zstd"),
    "old spreadsheet": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old spreadsheet"),
    "PDF": (b"%PDF-1.7", "a PDF"),
    "old Feather": (b"FEA1\0\0\0\0", "a Feather file of version 1"),
    "Arrow stream": (b"\xff\xff\xff\xff\xa8\0\0\0", "a stream of Arrow"),
    "RData": (b"RDX3\nX\n\0\0", "a file of R"),
    "rds": (b"X\n\0\0\0\3", "a file of R"),
    "Parquet": (b"PAR1", "a Parquet file"),
    "HTML": (b"\n<!DOCTYPE html>", "HTML or XML"),
    "HTML without more": (b"<TABLE><tr><td>SECRET", "HTML or XML"),
    "XML": (b"\xef\xbb\xbf<?xml version='1.0'?>", "HTML or XML"),
    "JSON": (b'[\n  {"age": 1}]', "JSON"),
    "lines of JSON": (b'{"age": 1}\n', "JSON"),
}


@pytest.mark.parametrize(("content", "kind"), OTHER_KINDS.values(), ids=OTHER_KINDS)
def test_other_kinds_of_file_are_named(content, kind):
    remedy = "unpack it" if "zip" in kind or "compressed" in kind or "archive" in kind else "save it as CSV in UTF-8$"
    with pytest.raises(ValueError, match=f"^the file is {kind}.*, which is not .* here; {remedy}"):
        read(content)


def test_an_archive_bomb_is_not_unpacked():
    stream = io.BytesIO(gzip.compress(bytes(50_000_000), 0))
    with pytest.raises(ValueError, match="compressed by gzip"):
        list(read_lines(stream))
    assert stream.tell() <= 2**16


@pytest.mark.full
@given(st.lists(st.text(st.characters(exclude_characters="\r\n\0", codec="utf-8"), max_size=9), max_size=20), st.data())
def test_all_line_ends_give_the_same_lines(texts, data):
    end = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    encoding = data.draw(st.sampled_from(["utf-8", "utf-16", "utf-32"]))
    content = "".join(f"{text}{end}" for text in ["a,b", *texts]).encode(encoding)
    piece, lines._PIECE = lines._PIECE, 7
    try:
        assert read(content) == [f"{text}\n" for text in ["a,b", *texts]]
    finally:
        lines._PIECE = piece


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16", "shift_jis", "gb18030", "mac-roman"])
def test_a_declared_encoding_is_used(encoding):
    text = "気温,b\n" if encoding in ("shift_jis", "gb18030", "utf-16") else "größe,b\n"
    content = text.encode("utf-16-le" if encoding == "utf-16" else encoding)
    assert read(content, encoding) == [text]


def test_a_byte_order_mark_takes_precedence():
    assert read("é\n".encode("utf-8-sig"), "cp1252") == ["é\n"]
    assert encoding_of(codecs.BOM_UTF16_BE + b"\0a") == ("utf-16-be", codecs.BOM_UTF16_BE)
    assert encoding_of(b"a,b") == ("utf-8", b"")


def test_undecodable_text_is_found_in_later_pieces():
    with pytest.raises(NotDecoded, match=r"^line 50002 of the file is not UTF-8"):
        read(b"a,b\n" + b"1,2\n" * 50_000 + b"\xff\n")
    with pytest.raises(NotDecoded, match=r"^line 2 of the file is not UTF-8 text: it holds NUL characters; declare"):
        read(b"a,b\n1,\0\n")
    with pytest.raises(NotDecoded, match=r"^line 1 of the file is not CP1252 text; declare another encoding"):
        read(b"a,\x81\n", "cp1252")


def test_an_endless_line_is_refused_after_the_limit():
    stream = io.BytesIO(b"1" * (3 * lines.MAX_LINE))
    with pytest.raises(ValueError, match="line 1 is longer than 1000000 letters"):
        list(read_lines(stream))
    assert stream.tell() <= lines.MAX_LINE + 2 * 2**16


def test_too_large_files_are_refused(monkeypatch):
    assert len(read(GOOD, max_bytes=len(GOOD))) == 3
    with pytest.raises(ValueError, match="the file has more than 5 bytes, the limit; keep a random sample"):
        read(GOOD, max_bytes=5)
    monkeypatch.setattr(lines, "_PIECE", 7)  # all pieces together count
    assert len(read(GOOD, max_bytes=len(GOOD))) == 3
    with pytest.raises(ValueError, match=f"the file has more than {len(GOOD) - 1} bytes, the limit"):
        read(GOOD, max_bytes=len(GOOD) - 1)


def test_a_text_stream_is_refused():
    with pytest.raises(ValueError, match=r"open it in binary mode \('rb'\)"):
        list(read_lines(io.StringIO("a,b")))


def rows_of(content, **writing):
    return list(Table(io.BytesIO(content), Writing(**writing)))


def test_rows_have_line_numbers_and_trimmed_fields():
    assert rows_of(b'a,b\n1, "x\ny"\n\n 2 ,z\n') == [(3, ["1", "x\ny"]), (5, ["2", "z"])]
    assert next(row for _, row in TableRows(io.BytesIO(GOOD), Writing())) == ["age", "height"]


def test_surplus_empty_fields_are_dropped():
    assert rows_of(b"a,b\n1,2,,\n3,4\n") == [(2, ["1", "2"]), (3, ["3", "4"])]
    assert rows_of(b"a,b,,\n1,2\n3,4,,x\n") == [(2, ["1", "2", "", ""]), (3, ["3", "4", "", "x"])]


def test_a_spreadsheet_hint_declares_the_separator():
    assert rows_of(b"sep=;\na;b\n1,5;2\n") == [(3, ["1,5", "2"])]
    assert rows_of(b"sep=;\na,b\n1,2\n", separator=",") == [(3, ["1", "2"])]


def test_runs_of_spaces_separate_where_nothing_else_does():
    assert rows_of(b"a   b\n 1  2 \n3 4\n") == [(2, ["1", "2"]), (3, ["3", "4"])]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            b"a,b\n1,2\n3,4,SECRET\n",
            '^line 3 has 3 fields where the header has 2; declare "ignore": .3. if they are no rows, or quote',
        ),
        (b"a,b\n1,2\nSECRET\n4,5\n6\n", '^line 3 has 1 fields where .*: 2 of 4 rows; declare "ignore": .3, 5. if'),
        (b"a,b\n1,2,SECRET\n3,4,5\n", "^line 2 has 3 fields where .*: 2 of 2 rows; declare the separator"),
    ],
)
def test_rows_of_another_width_are_counted(content, said):
    with pytest.raises(ValueError, match=said) as caught:
        rows_of(content)
    assert "SECRET" not in str(caught.value)


def test_only_used_columns_need_unique_names():
    table, twins = Table(io.BytesIO(b",age,note,note,wage\n")), ["note (column 3)", "note (column 4)"]
    assert table.positions(["wage", "age", *twins]) == [4, 1, 2, 3]
    with pytest.raises(ValueError, match="columns 3 and 4 of the file have the same name: 'note'; choose one by its"):
        table.positions(["note"])
    with pytest.raises(ValueError, match="the file has no column 'size'; its comma-separated columns are: '', 'age'"):
        table.positions(["size"])
    assert column_names(io.BytesIO(b",age,note,note,wage\n")) == ["age", *twins, "wage"]


@pytest.mark.parametrize(
    "first", [b"73.91,Ada", b"age,7391", b"nan,height", b"Ada,1e5", b"Ada,1973-09-01", b"1.9.1973,Ada", b"9/1/73,Ada"]
)
def test_a_header_that_may_be_private_is_hidden(first):
    with pytest.raises(ValueError, match=r"holds numbers or dates, so it may be a record\. Add a line of") as caught:
        column_names(io.BytesIO(first + b"\n1,2\n"))
    table = Table(io.BytesIO(first + b"\n1,2\n"))
    with pytest.raises(ValueError, match=r"no column 'size'; .* not shown") as other:
        table.positions(["size"])
    for error in (caught, other):
        assert "Ada" not in str(error.value)
        assert "73" not in str(error.value)


def test_one_name_that_may_be_private_is_hidden():
    table = Table(io.BytesIO(b"Ada.7391\nBea.7392\n"))
    with pytest.raises(ValueError, match=r"no column 'size'; .* not shown") as caught:
        table.positions(["size"])
    assert "Ada" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"\n\n", b",,\n", b"  "])
def test_a_file_without_a_header_is_empty(content):
    with pytest.raises(ValueError, match="the file is empty; it needs a header line"):
        Table(io.BytesIO(content))


@pytest.mark.parametrize(
    ("content", "declared", "separator", "encoding"),
    [
        (b"a;b\n", {}, ";", None),
        (b"a;b\n", {"separator": ","}, ",", None),
        ("a\tb\n".encode("utf-16"), {}, "\t", "utf-16"),
        ("a,b\n".encode("utf-8-sig"), {"encoding": "cp1252"}, ",", "utf-8"),
        (b"a,\xe9\n", {"encoding": "cp1252"}, ",", "cp1252"),
    ],
)
def test_the_first_line_completes_the_declaration(content, declared, separator, encoding):
    stream = io.BytesIO(b"before" + content)
    stream.seek(6)
    found = as_written(stream, Writing(**declared))
    assert (found.separator, found.encoding) == (separator, encoding)
    assert stream.tell() == 6


def test_late_rows_have_their_line_numbers():
    assert rows_of(b"a,b\n1,2\n" + b"\n" * 300_000 + b"3,4\n") == [(2, ["1", "2"]), (300_003, ["3", "4"])]
    assert rows_of(b"\n" * MOST_ABOVE + b"a,b\n1,2\n") == [(MOST_ABOVE + 2, ["1", "2"])]
    with pytest.raises(ValueError, match="the first 100,000 lines of the file hold nothing; remove them"):
        rows_of(b"\n" * (MOST_ABOVE + 1) + b"a,b\n1,2\n")


def test_messages_cut_long_column_names():
    names = [letter * 59 for letter in "abcdefghi"] + ["j" * 5_000]
    with pytest.raises(ValueError, match="the file has no column 'age'") as caught:
        Table(io.BytesIO((",".join(names[::-1]) + "\n").encode())).positions(["age"])
    shown = str(caught.value).split("columns are: ")[1]
    assert shown.startswith(f"{repr('j' * 5_000)[:56]} ..., {repr('i' * 59)[:56]} ..., 'hhh")
    assert len(shown) == 300
    with pytest.raises(ValueError, match="no column 'age'; its comma-separated columns are: ") as caught:
        proposal(io.BytesIO(b"b,height\n1,150\n2,160\n".replace(b"b", b"b" * 5_000)), x=["age"])
    assert f"{repr('b' * 5_000)[:56]} ..., 'height'" in str(caught.value)
    assert len(str(caught.value)) < 200


def test_rows_in_a_quoted_header_are_hidden():
    swallowed = b'age,"height\n77,160.4\n63,171.9"\n1,2\n3,4\n'
    said = "columns are: not shown, because they go over 3 lines and hold numbers or dates. If these are rows, remove"
    for asked in (
        lambda: Table(io.BytesIO(swallowed)).positions(["height"]),
        lambda: proposal(io.BytesIO(swallowed), y="height"),
    ):
        with pytest.raises(ValueError, match=said) as caught:
            asked()
        assert "160" not in str(caught.value)
    with pytest.raises(ValueError, match=r"columns are: 'age', 'height \[cm\]'"):
        Table(io.BytesIO(swallowed.replace(b"77,160.4\n63,171.9", b"[cm]"))).positions(["height"])


# ---- What may be declared of a table's writing, and what the first line says.


@pytest.mark.parametrize(
    ("cell", "numbers", "value"),
    [
        ("1,234,567.5", "1,234.5", 1234567.5),
        ("1,23,456", "1,234.5", 123456),
        ("1234567.5", "1,234.5", 1234567.5),
        ("-1.234,50", "1.234,5", -1234.5),
        ("1 234,5", "1 234,5", 1234.5),
        ("1\u202f234\u00a0567,5", "1 234,5", 1234567.5),
        ("1’234.5", "1'234.5", 1234.5),
        ("$1,234", "1,234.5", 1234),
        ("-$5", "1234.5", -5),
        ("12,5 %", "1234,5", 12.5),
        ("\u22125", "1234.5", -5),
        (" 7 ", "1.234,5", 7),
        ("1,5e3", "1234,5", 1500),
        (".5", "1,234.5", 0.5),
        ("12,34", "1,234.5", None),
        ("1.2.3", "1.234,5", None),
        ("1,2,3", "1234,5", None),
        ("1_000", "1,234.5", None),
        ("1_000", "1234.5", None),
        ("(1.234,5)", "1.234,5", -1234.5),
        ("5-", "1234.5", -5),
        ("(-5)", "1234.5", None),
        ("١٢", "1234.5", None),
        ("$", "1234.5", None),
        ("", "1,234.5", None),
        (".", "1,234.5", None),
        ("1 2", "1234.5", None),
    ],
)
def test_numbers_are_read_in_their_declared_format(cell, numbers, value):
    assert as_number(cell, numbers) == value


@given(st.floats(-1e9, 1e9).map(lambda value: round(value, 2)))
def test_every_number_format_round_trips(value):
    for way, (group, decimal) in NUMBERS.items():
        written = f"{value:,.2f}".replace(",", "_").replace(".", decimal).replace("_", group)
        assert as_number(written, way) == value
        assert way in ways_of(written)


@pytest.mark.parametrize(
    ("line", "separator"),
    [
        ("a;b;c", ";"),
        ("a,b", ","),
        ("a\tb c", "\t"),
        ("a|b", "|"),
        ('"a,b";"c,d";e', ";"),
        ("size, in m;age", ";"),
        ("age  height", " "),
        ("'age'", ","),
        ("", ","),
    ],
)
def test_the_first_line_says_what_separates(line, separator):
    assert separator_of(line) == separator


def test_declarations_are_stored_in_one_spelling():
    writing = Writing(separator="semicolon", encoding="Windows-1252", yes="Yes", no=["n", 0], missing=[])
    assert (writing.separator, writing.encoding, writing.yes, writing.no) == (";", "cp1252", ("Yes",), ("n", 0.0))
    assert set(asdict(writing)) == set(KEYS)
    assert Writing(**asdict(writing)) == writing
    assert Writing(date_order="iso").date_order == "year-month-day"
    notes = Writing(ignore=[1, "3-4", "63-"])
    assert [line for line in (*range(1, 9), 62, 63, 10**6) if notes.ignores(line)] == [1, 3, 4, 63, 10**6]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"separator": "."}, "separator must be one of comma .*; got '.'"),
        ({"separator": 3}, "separator must be one of"),
        ({"numbers": "1/2"}, "numbers must be one of 1234.5, 1,234.5"),
        ({"encoding": "rot13"}, "encoding must be one of utf-8"),
        ({"encoding": 8}, "encoding must be one of"),
        ({"missing": {"a": 1}}, "missing must be a list"),
        ({"missing": [True]}, "each entry of missing must be a number"),
        ({"missing": [float("nan")]}, "each entry of missing must be a finite number"),
        ({"missing": ["a\nb"]}, "each entry of missing must be one line"),
        ({"missing": ["a"] * (MOST_WORDS + 1)}, "missing has 51 entries, more than 50"),
        ({"yes": "yes"}, "yes and no must both be declared"),
        ({"yes": "A", "no": "a"}, "no word may mean both"),
        ({"yes": 1, "no": "1.0"}, "no word may mean both"),
        ({"yes": [], "no": ["no"]}, "must each name a word"),
        ({"date_order": "year"}, "date_order must be one of year-month-day, day/month/year"),
    ],
)
def test_invalid_declarations_are_refused_with_the_choices(changes, said):
    with pytest.raises(ValueError, match=said):
        Writing(**changes)
