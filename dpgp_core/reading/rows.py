"""Rows of a table out of a stream, within limits: bytes as lines of text, lines as fields, as many as the header has.

A piece at a time, in the declared encoding, nothing unpacked; empty rows are none.
Uses the standard library's reader, not pandas': pandas fills short rows with missing values,
takes a surplus first column as an index and renames duplicate columns, all without saying so.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, repeat
from typing import Any, BinaryIO

from ..checks import cut
from ..dates import looks_like_a_date
from .writing import AS_USUAL, SEPARATORS, Writing, as_float, entries_of, separator_of

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

_ENDED = {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}  # without a byte order mark, as Windows writes them


class NotDecoded(ValueError):
    """Bytes are no text in the encoding that is declared."""


def encoding_of(start: bytes, declared: str | None = None) -> tuple[str, bytes]:
    """The encoding of a file and its byte order mark, which overrules the declared encoding; b"" for none.

    Args:
        start: the first bytes of a file, four or more if it has them.
        declared: the encoding, or None for UTF-8.
    """
    mark = next((each for each in _ORDER_MARKS if start.startswith(each)), b"")
    return (_ORDER_MARKS[mark], mark) if mark else (_ENDED.get(declared or "", declared or "utf-8"), b"")


def read_lines(stream: BinaryIO, encoding: str | None = None, *, max_bytes: int | None = None) -> Iterator[str]:
    """Lines of a stream from its position, each with a newline at its end whatever the file ends its lines with.

    Args:
        encoding: as declared; None for UTF-8.
        max_bytes: more are refused.

    Raises:
        ValueError: a line is too long, or the stream is no text; the message names the line, never its text.
    """
    return chain.from_iterable(_pieces(stream, encoding, max_bytes))


def _pieces(stream: BinaryIO, encoding: str | None, max_bytes: int | None) -> Iterator[Sequence[str]]:
    """Lines as ``read_lines`` says, some at a time: a loop for each line is slow where millions of them are blank."""
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
        half = "\r" if not last and text.endswith("\r") else ""  # it may be the first half of a line's end
        text = text.removesuffix(half).replace("\r\n", "\n").replace("\r", "\n")
        lines = list(io.StringIO(text, newline="\n"))
        text = lines.pop() if lines and not lines[-1].endswith("\n") else ""
        _check_lengths(lines, number)
        yield lines
        number += len(lines)
        if last and text == _END_OF_OLD_FILES:
            text = ""
        text += half
        _check_lengths([text], number)
        if last:
            yield [text] if text else []
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


def _check_lengths(lines: Sequence[str], number: int) -> None:
    """Refuse lines, of which the first has a number, if one is too long."""
    if max(map(len, lines), default=0) > MAX_LINE:
        at = next((at for at, line in enumerate(lines) if len(line.removesuffix("\n")) > MAX_LINE), None)
        if at is not None:
            raise ValueError(f"line {number + at} is longer than {MAX_LINE} letters, the limit; is the file a CSV?")


def _refuse_other_kinds(start: bytes) -> None:
    packed = next((kind for magic, kind in _PACKED.items() if start.startswith(magic)), None)
    if packed is not None:
        raise ValueError(f"the file is {packed}, which is not unpacked here; unpack it, and name the table inside")
    kind = next((kind for magic, kind in _OTHER_KINDS.items() if start.startswith(magic)), None)
    if kind is None and (markup := _MARKUP.match(start.removeprefix(codecs.BOM_UTF8))):
        kind = "HTML or XML" if b"<" in markup[0] else "JSON"
    if kind is not None:
        raise ValueError(f"the file is {kind}, which is not converted here; save it as CSV in UTF-8")


MAX_COLUMNS = 1_000
MOST_ABOVE = 100_000  # lines above the names, which are read again with every look at these
MOST_LINES = 20  # that a remedy names
SHOWN_LETTERS = 300  # of the column names, in a message
_UNSEEN = str.maketrans(dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff"))  # letters without width, in names
_LONG = 20_000  # letters of a line that is looked at for names
_NEAR = 50  # lines below the first, in which names are looked for
_HINT = re.compile(r'\s*"?sep=(.)"?\s*', re.IGNORECASE)  # a first line that spreadsheets write for each other

Row = tuple[int, list[str]]
"""The number of a line of the file, and its fields."""


class WrongWidth(ValueError):
    """Rows have more or fewer fields than the header.

    Args:
        lines: all of them; () if they are too many.
    """

    def __init__(self, sentence: str, lines: Sequence[int]) -> None:
        super().__init__(sentence, lines)  # both, for whoever reads it in another process
        self.lines = lines

    def __str__(self) -> str:
        return str(self.args[0])


class Table:
    """A table: its first line, of names, and below it rows, which raise as ``read_lines`` does.

    Attributes:
        titles: of the columns, without spaces around them; "" for one that has none.
        names: the same, with the number of its column behind a title that several columns have: see ``distinct``.
        writing: how the table is written, its separator being known.
        lines: that the names go over, more than one where a name in quotes does.

    Raises:
        ValueError: there is no first line, or it names too many columns.
    """

    def __init__(self, stream: BinaryIO, writing: Writing = AS_USUAL) -> None:
        self._rows = TableRows(stream, writing, MAX_BYTES)
        line, names = next(self._rows, (0, list[str]()))
        if not names:
            raise ValueError("the file is empty; it needs a header line with column names and at least 2 rows")
        if len(names) > MAX_COLUMNS:
            raise ValueError(
                f"the file has {len(names)} columns, more than {MAX_COLUMNS}, the limit; keep the columns you need"
            )
        self.titles = [plain_name(name) for name in names]
        self.names = distinct(self.titles)
        self.writing = self._rows.writing
        self.lines = line - self._rows.above

    def positions(self, columns: Sequence[str]) -> list[int]:
        """Positions of columns. No others need a name.

        Raises:
            ValueError: one is not there, or several have its title.
        """
        columns = [plain_name(column) for column in columns]
        twins = next((column for column in columns if column not in self.names and column in self.titles), None)
        if twins is not None:
            at = [str(position) for position, name in enumerate(self.titles, start=1) if name == twins]
            raise ValueError(
                f"columns {' and '.join(at)} of the file have the same name: {twins!r}; choose one by its number, as "
                f"{distinct(self.titles)[self.titles.index(twins)]!r}"
            )
        missing = next((column for column in columns if column not in self.names), None)
        if missing is not None and (line := self._rows.line_of(columns)) > 1:
            raise ValueError(f"the first line holds no names; they stand in line {line}: {no_rows(range(1, line))}")
        if missing is not None:
            raise ValueError(
                f"the file has no column {missing!r}; its {self.writing.separated} columns are: {self.listed}"
            )
        return [self.names.index(column) for column in columns]

    @property
    def listed(self) -> str:
        """The names for a message, which must hold no record."""
        if may_be_a_record(self.titles) or (len(self.titles) == 1 and re.search(r"\d", self.titles[0])):
            return "not shown, because the first line holds numbers or dates. If it is a record, add a header line"
        if self.lines > 1 and may_be_a_record(part for name in self.titles for part in re.split(r"[\s,;|]+", name)):
            return (
                f"not shown, because they go over {self.lines} lines and hold numbers or dates. If "
                "rows stand there, remove the quote that opens in it and does not close"
            )
        return cut(", ".join(cut(repr(name)) for name in self.names), SHOWN_LETTERS)

    def __iter__(self) -> Iterator[Row]:
        """Rows without empty fields beyond the header; ValueError at their end says how many had another width."""
        count = wrong = fields = 0
        lines: list[int] = []
        width = len(self.names)
        least = max((position for position, name in enumerate(self.names, start=1) if name), default=0)
        for line, row in self._rows:
            count += 1
            while len(row) > width and not row[-1]:
                row.pop()
            if least <= len(row) < width:
                row += [""] * (width - len(row))
            if len(row) == width:
                yield line, row
                continue
            wrong += 1
            fields = fields or len(row)
            if len(lines) <= MOST_LINES:
                lines.append(line)
        if wrong:
            others = f", and so have others: {wrong:,} of {count:,} rows" if wrong > 1 else ""
            raise WrongWidth(
                f"line {lines[0]} has {fields} fields where the header has {width}{others}; "
                f"{_of_width_remedy(lines, wrong, count)}",
                lines if wrong <= MOST_LINES and wrong <= count / 2 else (),
            )


def column_names(stream: BinaryIO, writing: Writing = AS_USUAL) -> list[str]:
    """Names in the header line of a stream that can be used: see ``distinct``.

    Raises:
        ValueError: there is no header line, or it holds numbers, so that it may be a record; it is then not shown.
    """
    table = Table(stream, writing)
    names = table.names
    if may_be_a_record(table.titles):
        raise ValueError(
            "the first line of the file holds numbers or dates, so it may be a record. Add a line of column names, or "
            "declare the lines above the names as ignore"
        )
    return [name for name in names if name]


def as_written(stream: BinaryIO, writing: Writing) -> Writing:
    """A table's declared writing, completed by its first line and byte order mark."""
    at = stream.tell()
    start = stream.read(4)
    stream.seek(at)
    completed = Table(stream, writing).writing
    stream.seek(at)
    name, mark = encoding_of(start, writing.encoding)
    encoding = name.removesuffix("-le").removesuffix("-be") if mark else writing.encoding
    return replace(completed, encoding=encoding)


def no_rows(lines: Sequence[int]) -> str:
    """Remedy for lines that are notes, units, sums and the like."""
    return f'declare "ignore": {json.dumps(entries_of(lines))}'


def fields_of(line: str, separator: str) -> list[str]:
    """The fields of one line by itself; none of one that is no row, or too long for one of names."""
    if len(line) > _LONG:
        return []
    try:
        return next(csv.reader([line.strip("\n")], delimiter=separator, skipinitialspace=True), [])
    except csv.Error:
        return []


def distinct(titles: Sequence[str]) -> list[str]:
    """Names of columns by their titles: where several have one title, as "score (column 2)" and "score (column 3)"."""
    count, taken = Counter(titles), set(titles)
    names = list[str]()
    for number, title in enumerate(titles, start=1):
        name = f"{title} (column {number})" if title and count[title] > 1 else title
        while name in taken and name != title:
            name = f"{name}*"
        taken.add(name)
        names.append(name)
    return names


def plain_name(name: str) -> str:
    """A name of a column as it is compared: on one line, without quotes or letters that nobody sees."""
    plain = " ".join(name.translate(_UNSEEN).split())
    return plain[1:-1].strip() if len(plain) > 1 and plain[0] == plain[-1] == "'" else plain


class TableRows:
    """Line number and fields, without spaces around them, of every line that holds something, however many there are.

    Attributes:
        writing: with the separator that the first line has.
        above: lines above the first that holds something.
    """

    def __init__(self, stream: BinaryIO, writing: Writing, max_bytes: int | None = None) -> None:
        lines = read_lines(stream, writing.encoding, max_bytes=max_bytes)
        if writing.ignore:
            lines = ("\n" if writing.ignores(at) else line for at, line in enumerate(lines, start=1))
        first, above = "", 0
        for line in lines:
            if (hint := _HINT.fullmatch(line)) and not above:
                if writing.separator is None and hint[1] in ";,\t|":
                    writing = replace(writing, separator=hint[1])
            elif not line.isspace():
                first = line
                break
            above += 1
            if above > MOST_ABOVE:
                raise ValueError(f"the first {MOST_ABOVE:,} lines of the file hold nothing; remove them")
        may_be_quoted = first.lstrip().startswith('"')
        self._declared = writing.separator is not None
        if writing.separator is None:
            writing = replace(writing, separator=separator_of(first))
        self.writing = writing
        self.above = above
        self._lines: Iterator[str] = chain(repeat("\n", above), [first], lines)
        if writing.separator == " ":
            self._lines = (line.strip(" \n") + "\n" for line in self._lines)
        self._reader = self._fields(self._lines)
        self._filled = filter(any, self._reader)
        self._quoted = None if may_be_quoted else False  # whether each line is one quoted text that holds the values

    def __iter__(self) -> Iterator[Row]:
        return self

    def __next__(self) -> Row:
        try:
            for fields in self._filled:
                row = [field.strip() for field in fields]
                if any(row):
                    return self._reader.line_num, self._unquoted(row)
        except csv.Error:
            problem = f"the file is not valid CSV at line {self._reader.line_num} (an open quote, or unusual line ends)"
        else:
            raise StopIteration
        raise ValueError(f"{problem}; save it again as {self.writing.separated} UTF-8")

    def line_of(self, names: Sequence[str]) -> int:
        """The next line with all of some names, whatever separates them; 0 if it is not near."""
        for line, text in enumerate(islice(self._lines, _NEAR), start=self._reader.line_num + 1):
            for mark in SEPARATORS.values():
                if {*names} <= {plain_name(name) for name in fields_of(text, mark)}:
                    return line
        return 0

    def _fields(self, lines: Iterator[str]) -> Any:
        return csv.reader(lines, delimiter=self.writing.separator or ",", skipinitialspace=True, strict=True)

    def _unquoted(self, row: list[str]) -> list[str]:
        """The fields of a row, also of one that is quoted whole, as the first line, of names, has it."""
        if self._quoted is None:
            self._quoted = len(row) == 1 and any(mark in row[0] for mark in ",;\t|")
            if self._quoted and not self._declared:  # nothing is between the names outside quotes
                self.writing = replace(self.writing, separator=separator_of(row[0]))
        if not self._quoted or len(row) != 1:
            return row
        return [field.strip() for field in next(self._fields(iter(row)), row)]


def _of_width_remedy(lines: Sequence[int], wrong: int, count: int) -> str:
    if wrong > count / 2:
        return "declare the separator, name every column in the header, or save it again with semicolons between values"
    if wrong > MOST_LINES:
        return "quote text that holds the separator"
    return f"{no_rows(lines)} if they are no rows, or quote text that holds the separator"


def may_be_a_record(titles: Iterable[str]) -> bool:
    """Whether one of some titles looks like a cell, a number or a date, so that all of them may be private."""
    return any(
        as_float(title.replace(",", ".")) is not None or looks_like_a_date(title, whole=True) for title in titles
    )
