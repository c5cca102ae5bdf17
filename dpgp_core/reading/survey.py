"""Contents of a table, column by column, in one pass: whether it can be read as somebody will declare it.

For the eyes of who holds the table: none of it is released, and nothing is declared by it.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import BinaryIO, NamedTuple

from ..dates import ORDERS, Format, has_the_form_of_a_date, parsed
from ..levels import OTHER, Levels
from .columns import Fault, counted, is_time, remedy_of
from .rows import Table
from .writing import NUMBERS, USUAL, Words, Writing, as_number, folded, ways_of

_WAYS = frozenset((*NUMBERS, *ORDERS))
_MOSTLY = 0.5  # of the rows: the column is then none of numbers, and the fault is not in its rows
_MOST_TEXTS = 1_000  # different ones that are kept of a column: far more than it can have levels
_USUAL = Words(USUAL, "1234.5").texts
_CODES = frozenset(
    sign * float(code)
    for length in (1, 2, 3, 4)
    for code in ("77" * length, "88" * length, "9" * (length + 1), *("9" * length + digit for digit in "678"))
    for sign in (1, -1)
) | {-1.0, -7.0, -8.0, -9.0, -200.0, -777.0, -888.0, 777.0, 888.0}
"""Numbers that often mean a missing value."""
_APART = 0.2  # of the range of all others, that a code lies beyond these


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
        """Key of a text in ``rows`` and ``lines``."""
        return hashlib.blake2b(text.encode(), digest_size=16, key=self.key).digest()


class Contents(NamedTuple):
    """Of one column.

    Attributes:
        rows: of the table.
        usual: rows that hold nothing, or a word for that which need not be declared, such as NA.
        unread: for each way of writing numbers, rows that hold no number and no such word, and the line of the first.
        undated: the same for each order of dates.
        values: different ones that are not empty.
        times: rows that hold a time of day.
        ends: lines of the first row of the table and of the last.
        codes: numbers that may mean a missing value, and rows that hold them; of the usual way of writing.
        texts: those of its cells.
    """

    rows: int
    usual: int
    unread: Mapping[str, tuple[int, int]]
    undated: Mapping[Format, tuple[int, int]]
    values: int
    times: int
    ends: tuple[int, int]
    codes: Mapping[float, int]
    texts: Texts

    @property
    def ways(self) -> list[str]:
        """Ways of writing in which most of it are numbers, those that read most first."""
        return _readable(self.unread, self.rows - self.usual)

    @property
    def orders(self) -> list[Format]:
        """Orders in which most of it are dates, those that read most first."""
        return _readable(self.undated, self.rows - self.usual)

    @property
    def holds_words(self) -> bool:
        """Whether it holds a few different texts that are neither numbers nor dates."""
        return not (self.ways or self.orders) and 2 <= self.values <= _MOST_TEXTS and self.texts.rows is not None

    def as_numbers(self, name: str, numbers: str = "1234.5", *, or_dates: bool = True) -> str:
        """Fault and remedy if it is to hold numbers written in one way; "" for nothing.

        Args:
            or_dates: whether it may be said to hold dates instead.
        """
        count, line = self.unread[numbers]
        if not count:
            return ""
        if self.ways and self.unread[self.ways[0]][0] < count:
            return f'column {name!r} holds numbers that are written otherwise: say that they are "{self.ways[0]}"'
        if count > _MOSTLY * (self.rows - self.usual):
            if self.orders:
                remedy = "say so, and it is read as dates" if or_dates else "choose a column of numbers"
                return f"column {name!r} holds dates; {remedy}"
            if self.times > count / 2:
                return f"column {name!r} holds times of day; {remedy_of(Fault.TIME, (), 1.0, name)}"
            return (
                f"column {name!r} holds no numbers in {count:,} of {self.rows:,} rows, so it is no column of "
                "numbers; choose another, or say that it holds words"
            )
        return self._counted(name, Fault.TEXT, count, line)

    def as_dates(self, name: str, format: Format) -> str:
        """Fault and remedy if it is to hold dates in one order; "" for nothing."""
        count, line = self.undated[order_of(format)]
        if not count:
            return ""
        if self.orders and self.orders[0] != order_of(format):
            return f"column {name!r} holds dates in another order; say that it is {self.orders[0]}"
        return self._counted(name, Fault.NO_DATE, count, line)

    def _counted(self, name: str, fault: Fault, count: int, line: int) -> str:
        return counted(fault, name, count, self.rows, line, remedy_of(fault, (), count / self.rows, name))

    def as_levels(self, name: str, levels: Levels) -> str:
        """Fault and remedy if it is to hold these levels; "" for nothing."""
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
        outside -= sum(self.texts.rows.get(self.texts.digest(word), 0) for word in USUAL) if self.usual else 0
        if outside <= 0:
            return ""
        first = min(line for text, line in self.texts.lines.items() if text not in declared)
        return (
            f"column {name!r} has none of its levels in {outside:,} of {self.rows:,} rows, first in line {first} of "
            f"the file; name those too, or {remedy}"
        )

    def as_people(self, name: str) -> str:
        """Fault and remedy if it is to say whose row it is; "" for nothing."""
        if not self.values:
            return f"column {name!r} is empty in every row, so it names nobody; choose another"
        if self.values == 1:
            return f"column {name!r} says that all rows are one person's; choose the column that tells people apart"
        return ""


def survey(stream: BinaryIO, columns: Iterable[str], writing: Writing) -> dict[str, Contents]:
    """Columns of a stream with a header line, by name.

    Args:
        columns: their names, from ``column_names``.

    Raises:
        ValueError: a line is no row of such a table; the message names the line, never a cell.
    """
    table, names = Table(stream, writing), list(columns)
    positions, key = table.positions(names), secrets.token_bytes(16)
    cells = [_Cells() for _ in names]
    count = first = last = 0
    for last, row in table:
        count += 1
        first = first or last
        for column, position in zip(cells, positions, strict=True):
            column.take(row[position], last)
    return {name: column.summed(count, (first, last), key) for name, column in zip(names, cells, strict=True)}


def words_of(
    stream: BinaryIO,
    column: str,
    writing: Writing,
    most: int,
    *,
    numbers: str | None = None,
    order: Format | None = None,
) -> list[str]:
    """The different texts of a column but for those that mean that a value is missing, the commonest first.

    Args:
        most: no more are returned.
        numbers: a way of writing these, which are then left out, too; None: they are texts like others.
        order: of dates, which are then left out likewise.
    """
    table = Table(stream, writing)
    [position], missing = table.positions([column]), writing.missing_words.texts
    words = (
        text
        for text, _ in Counter(row[position] for _, row in table).most_common()
        if folded(text) not in missing
        and (numbers is None or as_number(text, numbers) is None)
        and (order is None or parsed(text, order) is None)
    )
    return list(islice(words, most))


def order_of(format: Format) -> Format:
    """The order of a way of writing dates, one of ``ORDERS``."""
    plain = format.replace(".", "/").replace("-", "/")
    return next(order for order in ORDERS if order.replace("-", "/") == plain)


class _Cells:
    """Cells of one column, counted as they come: its different texts, each of which is looked at once, in the end."""

    def __init__(self) -> None:
        self.texts: Counter[str] = Counter()
        self.lines: dict[str, int] = {}

    def take(self, cell: str, line: int) -> None:
        self.texts[cell] += 1
        self.lines.setdefault(cell, line)

    def summed(self, rows: int, ends: tuple[int, int], key: bytes) -> Contents:
        """The contents, of a column in a table of so many rows with these first and last lines."""
        usual = times = 0
        numbers = Counter[float]()
        unread, lines = Counter[str](), dict[str, int]()  # of each way and order
        for cell, count in self.texts.items():  # in the order of their lines
            if folded(cell) in _USUAL:
                usual += count
                continue
            ways = ways_of(cell)
            times += count * (not ways and is_time(cell))
            if ways:
                value = as_number(cell, next(way for way in NUMBERS if way in ways))
                if value is not None:
                    numbers[value] += count
            dated = has_the_form_of_a_date(cell)
            orders = {order for order in ORDERS if parsed(cell, order) is not None} if dated else set()
            for way in _WAYS - ways - orders:
                unread[way] += count
                lines.setdefault(way, self.lines[cell])
        return Contents(
            rows=rows,
            usual=usual,
            unread={way: (unread[way], lines.get(way, 0)) for way in NUMBERS},
            undated={order: (unread[order], lines.get(order, 0)) for order in ORDERS},
            values=len(self.texts.keys() - {""}),
            times=times,
            ends=ends,
            codes=_codes(numbers),
            texts=_digested(self.texts, self.lines, key),
        )


def _readable(missed: Mapping[str, tuple[int, int]], rows: int) -> list[str]:
    """Ways that read most of the rows, the best first; of equally good ones the first to be named."""
    ways = [way for way, (count, _) in missed.items() if count <= _MOSTLY * rows and rows]
    return sorted(ways, key=lambda way: missed[way][0])


def _codes(numbers: Counter[float]) -> dict[float, int]:
    """Numbers that often mean a missing value, and lie apart from all others."""
    values = sorted(numbers)
    codes = {*_codes_at_start(values), *_codes_at_start(values[::-1])}
    return {code: numbers[code] for code in sorted(codes)} if sum(numbers[code] for code in codes) > 1 else {}


def _codes_at_start(values: Sequence[float]) -> Sequence[float]:
    """Codes at the beginning of sorted values, with a gap between them and all others."""
    most = next((at for at, value in enumerate(values) if value not in _CODES), 0)
    for at in range(most, 0, -1):
        if abs(values[at] - values[at - 1]) > _APART * abs(values[-1] - values[at]):
            return values[:at]
    return []


def _digested(texts: Counter[str], lines: dict[str, int], key: bytes) -> Texts:
    kept = Texts(None, {}, key)
    if len(texts) > _MOST_TEXTS:
        return kept
    digests = {text: kept.digest(text) for text in texts}
    rows, first = ({digests[text]: n for text, n in each.items()} for each in (texts, lines))
    return Texts(rows, first, key)
