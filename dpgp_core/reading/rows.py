"""Read the rows of a table from a stream, within limits: bytes to lines of text, lines to fields.

The stream is read in pieces, in the declared encoding, and nothing is unpacked. Empty rows are skipped. The module uses
the standard library's reader instead of that of pandas: pandas fills short rows with missing values, takes a surplus
first column as an index and renames duplicate columns, all without a message.
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

MAX_LINE = 1_000_000  # characters; a line without an end must not fill the memory
MAX_BYTES = 500_000_000  # bytes of a file
_PIECE = 2**16  # bytes read at a time
_END_OF_OLD_FILES = "\x1a"

# First bytes of files that people may take for tables. None is unpacked, because a small archive can hold a huge file.
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
    b"FEA1": "a Feather file of version 1",
    b"\xff\xff\xff\xff": "a stream of Arrow",
    b"RDX": "a file of R (.RData)",
    b"X\n\0\0": "a file of R (.rds)",
    b"SQLite format 3": "a database of SQLite",
    b"\x89HDF": "an HDF5 file",
    b"<stata_dta>": "a file of Stata (.dta)",
    b"$FL2": "a file of SPSS (.sav)",
    b"HEADER RECORD": "a file of SAS (.xpt)",
    b"{\\rtf": "a text with formats (.rtf)",
}
_MARKUP = re.compile(rb"\s*(?:<[?!a-z]|\{\s*[\"}]|\[\s*[\[{])", re.IGNORECASE)  # the first line may hold cells
_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}

_ENDED = {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}  # byte orders that Windows uses without a mark


class NotDecoded(ValueError):
    """Raised if bytes are not text in the declared encoding."""


def encoding_of(start: bytes, declared: str | None = None) -> tuple[str, bytes]:
    """Return the encoding of a file and its byte order mark, which takes precedence; b"" if there is no mark.

    Args:
        start: the first bytes of a file, at least four unless the file is shorter.
        declared: declared encoding; None for UTF-8.
    """
    mark = next((each for each in _ORDER_MARKS if start.startswith(each)), b"")
    return (_ORDER_MARKS[mark], mark) if mark else (_ENDED.get(declared or "", declared or "utf-8"), b"")


def read_lines(stream: BinaryIO, encoding: str | None = None, *, max_bytes: int | None = None) -> Iterator[str]:
    """Return the lines of a stream from its position, each ending in a newline whatever the file uses as line end.

    Args:
        stream: file in binary mode.
        encoding: declared encoding; None for UTF-8.
        max_bytes: largest size of the file; None for no limit.

    Raises:
        ValueError: a line or the file is too long, or the stream is not text. The message names the line, never its
            text.
    """
    return chain.from_iterable(_pieces(stream, encoding, max_bytes))


def _pieces(stream: BinaryIO, encoding: str | None, max_bytes: int | None) -> Iterator[Sequence[str]]:
    """Yield the lines of ``read_lines`` in blocks; a loop over single lines is slow for millions of blank lines."""
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
        half = "\r" if not last and text.endswith("\r") else ""  # it may be the first half of a line end
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
    """Return a piece of the text. ``line`` is the number of the line in which it begins."""
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
    """Raise ValueError if one of the lines is too long. ``number`` is the number of the first line."""
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
MOST_ABOVE = 100_000  # empty lines above the names
MOST_LINES = 20  # largest number of lines that a remedy names
SHOWN_LETTERS = 300  # characters of the column names in a message
# Characters without width, which are removed from names
_UNSEEN = str.maketrans(dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff"))
_LONG = 20_000  # characters of a line that is searched for names
_NEAR = 50  # lines below the first that are searched for names
_HINT = re.compile(r'\s*"?sep=(.)"?\s*', re.IGNORECASE)  # a first line that tells spreadsheets the separator

Row = tuple[int, list[str]]
"""The number of a line of the file, and its fields."""


class WrongWidth(ValueError):
    """Raised if rows have more or fewer fields than the header.

    Args:
        sentence: message with the first such line and a remedy.
        lines: numbers of all such lines; () if there are too many.
    """

    def __init__(self, sentence: str, lines: Sequence[int]) -> None:
        super().__init__(sentence, lines)  # both, because another process may rebuild the error from its arguments
        self.lines = lines

    def __str__(self) -> str:
        return str(self.args[0])


class Table:
    """A table: the names in its first line, and an iterator over the rows below, which raises the errors of
    ``read_lines``.

    Attributes:
        titles: titles of the columns, without surrounding spaces; "" for a column without one.
        names: the titles, made different by the number of the column if several are equal; see ``distinct``.
        writing: how the table is written, with the separator that was found.
        lines: number of lines that the names occupy; more than one if a quoted name contains a line end.

    Raises:
        ValueError: there is no first line, or it has too many columns.
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
        """Return the positions of the named columns. Other columns need no name.

        Raises:
            ValueError: a column is missing, or several have its title.
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
            raise ValueError(f"the first line holds no names; they are in line {line}: {no_rows(range(1, line))}")
        if missing is not None:
            raise ValueError(
                f"the file has no column {missing!r}; its {self.writing.separated} columns are: {self.listed}"
            )
        return [self.names.index(column) for column in columns]

    @property
    def listed(self) -> str:
        """Return the names for a message; if they may be a record, return a sentence that says so instead."""
        if may_be_a_record(self.titles) or (len(self.titles) == 1 and re.search(r"\d", self.titles[0])):
            return "not shown, because the first line holds numbers or dates. If it is a record, add a header line"
        if self.lines > 1 and may_be_a_record(part for name in self.titles for part in re.split(r"[\s,;|]+", name)):
            return (
                f"not shown, because they go over {self.lines} lines and hold numbers or dates. If "
                "these are rows, remove the quote that opens in the first line and does not close"
            )
        return cut(", ".join(cut(repr(name)) for name in self.names), SHOWN_LETTERS)

    def __iter__(self) -> Iterator[Row]:
        """Yield rows without empty fields beyond the header.

        Raises:
            WrongWidth: after the last row, if rows had another number of fields.
        """
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
    """Return the names in the header line of a stream; see ``distinct``.

    Raises:
        ValueError: there is no header line, or it holds numbers and may be a record. The message does not show it.
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
    """Return the declared writing, completed with the separator of the first line and the byte order mark."""
    at = stream.tell()
    start = stream.read(4)
    stream.seek(at)
    completed = Table(stream, writing).writing
    stream.seek(at)
    name, mark = encoding_of(start, writing.encoding)
    encoding = name.removesuffix("-le").removesuffix("-be") if mark else writing.encoding
    return replace(completed, encoding=encoding)


def no_rows(lines: Sequence[int]) -> str:
    """Return the remedy for lines that are notes, units or sums instead of rows."""
    return f'declare "ignore": {json.dumps(entries_of(lines))}'


def fields_of(line: str, separator: str) -> list[str]:
    """Return the fields of a single line; [] if it is not a row, or too long to hold names."""
    if len(line) > _LONG:
        return []
    try:
        return next(csv.reader([line.strip("\n")], delimiter=separator, skipinitialspace=True), [])
    except csv.Error:
        return []


def distinct(titles: Sequence[str]) -> list[str]:
    """Return different names for columns. Equal titles become "score (column 2)" and "score (column 3)"."""
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
    """Return a column's name as it is compared: on one line, without quotes and invisible characters."""
    plain = " ".join(name.translate(_UNSEEN).split())
    return plain[1:-1].strip() if len(plain) > 1 and plain[0] == plain[-1] == "'" else plain


class TableRows:
    """Iterator over all lines that are not empty: the number of the line, and its fields without surrounding spaces.

    Attributes:
        writing: how the table is written, with the separator of the first line.
        above: number of lines above the first one that is not empty.
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
        self._quoted = None if may_be_quoted else False  # whether each line is one quoted text that holds all values

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
        """Return the next line that contains all of these names, with any separator; 0 if it is not near."""
        for line, text in enumerate(islice(self._lines, _NEAR), start=self._reader.line_num + 1):
            for mark in SEPARATORS.values():
                if {*names} <= {plain_name(name) for name in fields_of(text, mark)}:
                    return line
        return 0

    def _fields(self, lines: Iterator[str]) -> Any:
        return csv.reader(lines, delimiter=self.writing.separator or ",", skipinitialspace=True, strict=True)

    def _unquoted(self, row: list[str]) -> list[str]:
        """Return the fields of a row. The whole row may be quoted if the line of names is."""
        if self._quoted is None:
            self._quoted = len(row) == 1 and any(mark in row[0] for mark in ",;\t|")
            if self._quoted and not self._declared:  # there is no separator outside quotes
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
    """Return whether one of the titles looks like a number or a date, so that all of them may be private cells."""
    return any(
        as_float(title.replace(",", ".")) is not None or looks_like_a_date(title, whole=True) for title in titles
    )
