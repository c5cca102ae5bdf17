"""Lines of text out of a stream, within limits: a piece at a time, in the declared encoding, nothing unpacked."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import BinaryIO

MAX_LINE = 1_000_000  # letters; one endless line must not fill the memory
MAX_BYTES = 500_000_000  # of a whole file
_PIECE = 2**16  # bytes read at a time
_END_OF_OLD_FILES = "\x1a"

# How files start that people take for tables. None is unpacked: a small archive can hold an endless file.
_PACKED = {
    b"PK\x03\x04": "a zip archive",
    b"PK\x05\x06": "an empty zip archive",
    b"\x1f\x8b": "compressed by gzip",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ\x00": "compressed by xz",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"\x28\xb5\x2f\xfd": "compressed by zstd",
}
_OTHER_KINDS = {
    b"\xd0\xcf\x11\xe0": "an old spreadsheet (.xls)",
    b"%PDF": "a PDF",
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"SQLite format 3": "a database of SQLite",
    b"\x89HDF": "an HDF5 file",
    b"<stata_dta>": "a file of Stata (.dta)",
    b"$FL2": "a file of SPSS (.sav)",
    b"HEADER RECORD": "a file of SAS (.xpt)",
    b"{\\rtf": "a text with formats (.rtf)",
}
_MARKUP = re.compile(rb"\s*(?:<[?!a-z]|\{\s*[\"}]|\[\s*[\[{])", re.IGNORECASE)  # of which the first line may hold cells
_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}


class NotDecoded(ValueError):
    """Bytes are no text in the encoding that is declared."""


def encoding_of(start: bytes, declared: str | None = None) -> tuple[str, bytes]:
    """The encoding of a file and its byte order mark, which goes before what is declared; b"" for none.

    Args:
        start: the first bytes of a file, four or more if it has them.
        declared: the encoding, or None for UTF-8.
    """
    found = next((mark for mark in _ORDER_MARKS if start.startswith(mark)), b"")
    return (_ORDER_MARKS[found], found) if found else (_ENDED.get(declared or "", declared or "utf-8"), b"")


def read_lines(stream: BinaryIO, encoding: str | None = None, *, max_bytes: int | None = None) -> Iterator[str]:
    """Lines of a stream from where it stands, each with a newline at its end whatever the file ends its lines with.

    Args:
        stream: in binary mode.
        encoding: as declared; None for UTF-8.
        max_bytes: more are refused.

    Raises:
        ValueError: a line is too long, or the stream is no text; the message names the line, never what stands there.
    """
    piece = stream.read(_PIECE)
    if isinstance(piece, str):
        raise ValueError("the file object is in text mode; open it in binary mode ('rb')")
    _refuse_other_kinds(piece)
    name, mark = encoding_of(piece, encoding)
    decoder, text, number, total = codecs.getincrementaldecoder(name)("strict"), "", 1, len(piece)
    piece = piece[len(mark) :]
    while True:
        if max_bytes is not None and total > max_bytes:
            raise ValueError(f"the file has more than {max_bytes} bytes, the limit; keep a random sample of its rows")
        last = not piece
        text += _decoded(decoder, piece, number + text.count("\n"), name)
        if not last and text.endswith("\r"):  # it may be the first half of a line's end
            text, half = text[:-1], "\r"
        else:
            half = ""
        *lines, text = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if last and text == _END_OF_OLD_FILES:
            text = ""
        for line in lines:
            _check_length(line, number)
            yield f"{line}\n"
            number += 1
        text += half
        _check_length(text, number)
        if last:
            if text:
                yield text
            return
        piece = stream.read(_PIECE)
        total += len(piece)


def _decoded(decoder: codecs.IncrementalDecoder, piece: bytes, line: int, name: str) -> str:
    """A piece of the text; the line is the one that it begins in."""
    try:
        text = decoder.decode(piece, final=not piece)
    except UnicodeDecodeError as error:
        line += error.object[: error.start].count(b"\n")
    else:
        if "\0" not in text:
            return text
        line += text[: text.index("\0")].count("\n")
        raise NotDecoded(
            f"line {line} of the file is not {name.upper()} text: it holds NUL characters; declare encoding utf-16 if "
            "it is that, or save it as UTF-8"
        )
    if name == "utf-8":
        remedy = 'declare its encoding, "cp1252" for most files from Windows and "latin-1" for others, or save it as'
    else:
        remedy = "declare another encoding, or save it as"
    raise NotDecoded(f"line {line} of the file is not {name.upper()} text; {remedy} UTF-8")


def _check_length(line: str, number: int) -> None:
    if len(line) > MAX_LINE:
        raise ValueError(f"line {number} is longer than {MAX_LINE} letters, the limit; is the file a CSV?")


def _refuse_other_kinds(start: bytes) -> None:
    packed = next((kind for magic, kind in _PACKED.items() if start.startswith(magic)), None)
    if packed is not None:
        raise ValueError(f"the file is {packed}, which is not unpacked here; unpack it, and name the table inside")
    kind = next((kind for magic, kind in _OTHER_KINDS.items() if start.startswith(magic)), None)
    if kind is None and (found := _MARKUP.match(start.removeprefix(codecs.BOM_UTF8))):
        kind = "HTML or XML" if b"<" in found[0] else "JSON"
    if kind is not None:
        raise ValueError(f"the file is {kind}, which is not converted here; save it as CSV in UTF-8")


_ENDED = {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}  # without a byte order mark, as Windows writes them
