"""Bytes as lines: encodings, ends of lines, limits; nothing unpacked and nothing echoed."""

import bz2
import codecs
import gzip
import io
import lzma
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpgp_core.reading import rows as lines
from dpgp_core.reading.rows import NotDecoded, encoding_of, read_lines

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
    "Parquet": (b"PAR1", "a Parquet file"),
    "HTML": (b"\n<!DOCTYPE html>", "HTML or XML"),
    "HTML without more": (b"<TABLE><tr><td>SECRET", "HTML or XML"),
    "XML": (b"\xef\xbb\xbf<?xml version='1.0'?>", "HTML or XML"),
    "JSON": (b'[\n  {"age": 1}]', "JSON"),
    "lines of JSON": (b'{"age": 1}\n', "JSON"),
}


@pytest.mark.parametrize(("content", "kind"), OTHER_KINDS.values(), ids=OTHER_KINDS)
def test_other_kinds_of_file_are_named_and_not_unpacked(content, kind):
    remedy = "unpack it" if "zip" in kind or "compressed" in kind or "archive" in kind else "save it as CSV in UTF-8$"
    with pytest.raises(ValueError, match=f"^the file is {kind}.*, which is not .* here; {remedy}"):
        read(content)


def test_a_bomb_is_not_read_beyond_its_first_piece():
    stream = io.BytesIO(gzip.compress(bytes(50_000_000), 0))
    with pytest.raises(ValueError, match="compressed by gzip"):
        list(read_lines(stream))
    assert stream.tell() <= 2**16


@given(st.lists(st.text(st.characters(exclude_characters="\r\n\0", codec="utf-8"), max_size=9), max_size=20), st.data())
def test_whatever_ends_a_line_the_lines_are_the_same(texts, data):
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


def test_a_mark_of_byte_order_goes_before_what_is_declared():
    assert read("é\n".encode("utf-8-sig"), "cp1252") == ["é\n"]
    assert encoding_of(codecs.BOM_UTF16_BE + b"\0a") == ("utf-16-be", codecs.BOM_UTF16_BE)
    assert encoding_of(b"a,b") == ("utf-8", b"")


@pytest.mark.parametrize("content", [b"a,b\n1,2\n3,\xe9", b"a,b\n1,2\n" + b"3,\xe9" + b"4,5\n" * 30_000])
def test_what_is_no_text_is_named_by_its_line_with_what_to_declare(content):
    with pytest.raises(NotDecoded, match=r'^line 3 of the file is not UTF-8 text; declare its encoding, "cp1252"'):
        read(content)


def test_what_is_no_text_is_named_by_its_line_in_later_pieces_too():
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


def test_too_many_bytes_are_refused_where_there_is_a_limit():
    assert len(read(GOOD, max_bytes=len(GOOD))) == 3
    with pytest.raises(ValueError, match="the file has more than 5 bytes, the limit; keep a random sample"):
        read(GOOD, max_bytes=5)


def test_a_text_stream_is_refused():
    with pytest.raises(ValueError, match=r"open it in binary mode \('rb'\)"):
        list(read_lines(io.StringIO("a,b")))
