import bz2
import gzip
import io
import lzma
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpgp_core.reading import csv_rows
from dpgp_core.reading.cell import read_number
from dpgp_core.reading.csv_rows import column_names, read_columns, read_rows

GOOD = b"age,height\n1,150\n2,160\n"


def read(content, columns=("age", "height"), max_rows=10):
    return read_columns(io.BytesIO(content), list(columns), max_rows=max_rows)


def zipped(content):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.csv", content)
    return stream.getvalue()


OTHER_KINDS = {
    "zip": (zipped(GOOD), "a zip archive or a spreadsheet"),
    "empty zip": (b"PK\x05\x06" + bytes(18), "an empty zip archive"),
    "gzip": (gzip.compress(GOOD), "compressed by gzip"),
    "bzip2": (bz2.compress(GOOD), "compressed by bzip2"),
    "xz": (lzma.compress(GOOD), "compressed by xz"),
    "7z": (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    "zstd": (b"\x28\xb5\x2f\xfd", "compressed by zstd"),
    "old spreadsheet": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old spreadsheet"),
    "PDF": (b"%PDF-1.7", "a PDF"),
    "Parquet": (b"PAR1", "a Parquet file"),
    "UTF-16": (GOOD.decode().encode("utf-16"), "UTF-16 text"),
}


@pytest.mark.parametrize(("content", "kind"), OTHER_KINDS.values(), ids=OTHER_KINDS)
def test_other_kinds_of_file_are_named_and_not_unpacked(content, kind):
    for use in (read, lambda data: column_names(io.BytesIO(data))):
        with pytest.raises(ValueError, match=f"^the file is {kind}.*; save it as comma-separated UTF-8$"):
            use(content)


def test_a_bomb_is_not_read_beyond_its_first_line():
    stream = io.BytesIO(gzip.compress(bytes(50_000_000)))
    with pytest.raises(ValueError, match="compressed by gzip"):
        read_columns(stream, ["age"], max_rows=10)
    assert stream.tell() <= csv_rows.MAX_LINE_BYTES + 1


def test_too_many_columns_are_refused_at_once():
    header = ",".join(["age", "height", *map(str, range(100_000))]).encode()
    with pytest.raises(ValueError, match="the file has 100002 columns, more than 1000, the limit"):
        read(header + b"\n")


def test_the_limit_of_columns_itself_is_accepted():
    header = ",".join(["age", "height", *(f"c{k}" for k in range(998))]).encode()
    assert read(header + b"\n" + (b"1" + b",1" * 999 + b"\n") * 2).shape == (2, 2)


def test_too_many_bytes_are_refused(monkeypatch):
    monkeypatch.setattr(csv_rows, "MAX_BYTES", 100)
    assert read(GOOD).shape == (2, 2)
    with pytest.raises(ValueError, match="the file has more than 100 bytes, the limit; keep a random sample"):
        read(GOOD + b"3,150\n" * 20, max_rows=100)


def test_the_limit_of_bytes_is_for_tables_held_in_memory_only(monkeypatch):
    monkeypatch.setattr(csv_rows, "MAX_BYTES", 10)
    assert len(list(read_rows(io.BytesIO(GOOD)))) == 3


def test_column_names():
    assert column_names(io.BytesIO(b'\xef\xbb\xbf age ,"a,b",,note\nsecret')) == ["age", "a,b", "", "note"]


def test_only_the_header_is_read():
    stream = io.BytesIO(GOOD)
    column_names(stream)
    assert stream.tell() == len(b"age,height\n")


@pytest.mark.parametrize(
    "first", [b"73.91,Ada", b"age,7391", b"nan,height", b"Ada,1e5", b"Ada,1973-09-01", b"1.9.1973,Ada"]
)
def test_a_header_that_may_be_a_record_is_not_shown(first):
    with pytest.raises(ValueError, match=r"holds numbers or dates, so it may be a record\. Add a line of") as caught:
        column_names(io.BytesIO(first + b"\n1,2\n"))
    assert "Ada" not in str(caught.value)
    assert "7391" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"age,age\n", b"\xff\xfeage"])
def test_column_names_of_no_table(content):
    with pytest.raises(ValueError, match=r"file is empty|same name|UTF-16"):
        column_names(io.BytesIO(content))


@pytest.mark.parametrize("cell", ["١٢", "１２", "²", "1_000", "1\u00a0000", "\u22121", "0x10", "TRUE"])
def test_what_is_no_plain_number_is_text(cell):
    with pytest.raises(ValueError, match="column 'age' has text instead of a number in line 3"):
        read_number(cell, "age", 3)


@pytest.mark.parametrize(("cell", "value"), [("1e3", 1000), (" -2.5 ", -2.5), ("+1", 1), (".5", 0.5), ("007", 7)])
def test_plain_numbers(cell, value):
    assert read_number(cell, "age", 3) == value


@given(st.binary(max_size=300))
def test_any_bytes_are_a_table_or_a_sentence(content):
    for start in (b"", b"age,height\n", b"age,height\n1,2\n"):
        for use in (read, lambda data: column_names(io.BytesIO(data))):
            try:
                use(start + content)
            except ValueError as error:
                refusal = error
            else:
                continue
            assert type(refusal) is ValueError
            assert refusal.__cause__ is None
            assert "\n" not in str(refusal)
            assert len(str(refusal)) < 600
