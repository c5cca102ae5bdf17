"""What a table holds, column by column, in one pass: whether it can be read as what somebody will say it is.

For the eyes of who holds the table: none of it is released, and nothing is declared by it.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO, NamedTuple

from ..dates import FORMATS, Format, parsed, undated_sentence
from ..levels import OTHER, Levels
from .cell import read_number
from .csv_rows import read_rows
from .dialect import COMMA, Dialect

_MOSTLY = 0.5  # of the rows: a column is then none of numbers, and rows are not what is wrong
_MOST_TEXTS = 1_000  # different ones that are kept of a column: far more than it can have levels


@dataclass(frozen=True)
class Texts:
    """Which different values a column holds: as keyed digests, since a short text that python frees is not overwritten.

    Attributes:
        rows: that hold each of them, by its digest; None where there are too many to be levels.
        lines: of the first such row in the file, by digest.
        key: of the digests, drawn for this table.
    """

    rows: Mapping[bytes, int] | None = field(repr=False)
    lines: Mapping[bytes, int] = field(repr=False)
    key: bytes = field(repr=False)

    def digest(self, text: str) -> bytes:
        """Under which a text is found."""
        return hashlib.blake2b(text.encode(), digest_size=16, key=self.key).digest()


class Column(NamedTuple):
    """One column.

    Attributes:
        rows: of the table.
        unread: rows that hold no number.
        first: what is wrong with the first of them, in a sentence that names the line and no cell; "" if all are read.
        empty: rows that hold nothing.
        line: of the first of these in the file; 0 if there is none.
        values: different ones, but for spaces around them.
        undated: for each way of writing dates, rows that hold no such date, and what is wrong with the first of them.
        texts: what it holds.
    """

    rows: int
    unread: int
    first: str
    empty: int
    line: int
    values: int
    undated: Mapping[Format, tuple[int, str]]
    texts: Texts

    def as_numbers(self, name: str, *, or_dates: bool = True) -> str:
        """What is wrong if it is to hold numbers, and what to do; "" for nothing.

        Args:
            name: of the column.
            or_dates: whether it may be said to hold dates instead.
        """
        if not self.unread:
            return ""
        if self.unread > _MOSTLY * self.rows:
            if min(count for count, _ in self.undated.values()) < _MOSTLY * self.rows:
                remedy = "say so, and it is read as dates" if or_dates else "choose a column of numbers"
                return f"column {name!r} holds dates; {remedy}"
            return (
                f"column {name!r} holds no numbers in {self.unread:,} of {self.rows:,} rows, so it is no column of "
                "numbers; choose another, or write it as numbers in your file"
            )
        more = f" ({self.unread - 1:,} more such rows)" if self.unread > 1 else ""
        return f"{self.first}{more}"

    def as_dates(self, name: str, format: Format) -> str:
        """What is wrong if it is to hold dates, written in one way, and what to do; "" for nothing."""
        count, first = self.undated[format]
        more = f" ({count - 1:,} more such rows)" if count > 1 else ""
        return f"{first}{more}" if count else ""

    def as_levels(self, name: str, levels: Levels) -> str:
        """What is wrong if it is to hold these levels, and what to do; "" for nothing."""
        if OTHER in levels:
            return ""
        remedy = f"declare a level {OTHER!r}, which takes all others"
        if self.texts.rows is None:
            return (
                f"column {name!r} has {self.values:,} different values, and {len(levels)} levels are declared; {remedy}"
            )
        declared = {self.texts.digest(level) for level in levels}
        outside = self.rows - sum(self.texts.rows.get(level, 0) for level in declared)
        if outside == self.rows > 0:
            return (
                f"column {name!r} has none of its levels in any row; write them as the file does, capitals too, or "
                "choose another column"
            )
        if not outside:
            return ""
        first = min(line for text, line in self.texts.lines.items() if text not in declared)
        more = f" ({outside - 1:,} more such rows)" if outside > 1 else ""
        return (
            f"column {name!r} has none of its levels in line {first} of the file{more}; correct that row, or {remedy}"
        )

    def as_people(self, name: str) -> str:
        """What is wrong if it is to say whose row it is, and what to do; "" for nothing."""
        if self.empty == self.rows:
            return f"column {name!r} is empty in every row, so it names nobody; choose another"
        if self.empty:
            return (
                f"column {name!r} is empty in {self.empty:,} of {self.rows:,} rows, first in line {self.line}, so "
                "nobody knows whose they are; name somebody there, or remove those rows"
            )
        if self.values == 1:
            return f"column {name!r} says that all rows are one person's; choose the column that tells people apart"
        return ""


def survey(stream: BinaryIO, columns: Iterable[str], dialect: Dialect = COMMA) -> dict[str, Column]:
    """Every column of a UTF-8 stream with a header line, by its name.

    Args:
        stream: file object in binary mode, read from where it stands.
        columns: all names in its header line, from ``column_names``.
        dialect: how the table is written.

    Raises:
        ValueError: a line is no row of such a table; the message names the line, never a cell.
    """
    names = list(columns)
    rows = read_rows(stream, dialect)
    next(rows, None)
    texts: list[Counter[str]] = [Counter() for _ in names]
    lines: list[dict[str, int]] = [{} for _ in names]
    unread, empty, first, at = [0] * len(names), [0] * len(names), [""] * len(names), [0] * len(names)
    undated = [dict.fromkeys(FORMATS, (0, "")) for _ in names]
    count, drawn = 0, secrets.token_bytes(16)
    for line, row in rows:
        count += 1
        if len(row) != len(names):
            raise ValueError(
                f"line {line} has {len(row)} fields where the header has {len(names)}. Declare how the table is "
                "written, or give every line the same number and quote text that holds the separator"
            )
        for place, cell in enumerate(map(str.strip, row)):
            if not cell:
                empty[place] += 1
                at[place] = at[place] or line
            texts[place][cell] += 1
            lines[place].setdefault(cell, line)
            try:
                read_number(cell, names[place], line, dialect.decimal)
            except ValueError as error:
                unread[place] += 1
                first[place] = first[place] or str(error)
            for format in FORMATS:
                if parsed(cell, format) is None:
                    seen, wrong = undated[place][format]
                    undated[place][format] = seen + 1, wrong or undated_sentence(cell, names[place], line, format)
    return {
        name: Column(
            count, unread[place], first[place], empty[place], at[place], len(texts[place].keys() - {""}),
            undated[place], _kept(texts[place], lines[place], drawn),
        )
        for place, name in enumerate(names)
    }  # fmt: skip


def _kept(texts: Counter[str], lines: dict[str, int], key: bytes) -> Texts:
    kept = Texts(None, {}, key)
    if len(texts) > _MOST_TEXTS:
        return kept
    of = {text: kept.digest(text) for text in texts}
    return Texts({of[text]: n for text, n in texts.items()}, {of[text]: n for text, n in lines.items()}, key)
