"""Contents of a table, column by column, in one pass: whether it can be read as somebody will declare it.

For the eyes of who holds the table: none of it is released, and nothing is declared by it.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import BinaryIO, NamedTuple

from ..dates import ORDERS, Format, has_the_form_of_a_date, looks_like_a_date, parsed
from ..levels import OTHER, Levels
from .columns import NOTED, Fault, counted, remedy_of
from .notations import notation_of
from .rows import MOST_LINES, Table
from .writing import NUMBERS, USUAL, TwoReadings, Words, Writing, as_number, folded, ways_of

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
        unread: for each way of writing numbers, rows that hold no number in any notation and no such word, and the line
            of the first.
        noted: for each notation that must be declared, rows that hold it, and the line of the first.
        two_readings: the mark before exactly three digits, where no number says what it means; "" for none.
        undated: the same for each order of dates.
        values: different ones that are not empty.
        ends: lines of the first row of the table and of the last.
        alone: whether each of these holds a text that no other row holds, and that is no number and no date.
        repeats: lines that hold the name of the column again.
        beside_dates: different values that are no dates.
        numbered: whether it numbers the rows: the whole numbers from 0 or 1 without a gap, each once.
        codes: numbers that may mean a missing value, and rows that hold them; of the usual way of writing.
        texts: those of its cells.
    """

    rows: int
    usual: int
    unread: Mapping[str, tuple[int, int]]
    undated: Mapping[Format, tuple[int, int]]
    noted: Mapping[str, tuple[int, int]]
    two_readings: str
    values: int
    ends: tuple[int, int]
    alone: tuple[bool, bool]
    repeats: tuple[int, ...]
    beside_dates: int
    numbered: bool
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
    def dated(self) -> int:
        """Rows that hold a date, in the order that reads most."""
        return self.rows - self.usual - min(count for count, _ in self.undated.values())

    @property
    def holds_words(self) -> bool:
        """Whether it holds a few different texts that are neither numbers nor dates."""
        return not (self.ways or self.orders) and 2 <= self.values <= _MOST_TEXTS and self.texts.rows is not None

    def as_numbers(
        self, name: str, numbers: str = "1234.5", notations: Collection[str] = (), *, or_dates: bool = True
    ) -> str:
        """Fault and remedy if it is to hold numbers written in one way; "" for nothing.

        Args:
            notations: that are declared.
            or_dates: whether it may be said to hold dates instead.
        """
        count, line = self.unread[numbers]
        undeclared = next((each for each in self.noted if each not in notations), "")
        if not count and undeclared:
            return self._counted(name, NOTED[undeclared], *self.noted[undeclared])
        if not count:
            return ""
        if self.two_readings:
            return f"column {name!r} holds numbers that can be read in two ways; say which is meant"
        if self.ways and self.unread[self.ways[0]][0] < count:
            return f'column {name!r} holds numbers that are written otherwise: say that they are "{self.ways[0]}"'
        if count > _MOSTLY * (self.rows - self.usual):
            if self.orders:
                remedy = "say so, and it is read as dates" if or_dates else "choose a column of numbers"
                return f"column {name!r} holds dates; {remedy}"
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
    cells = [_Cells(table.titles[position]) for position in positions]
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
    dates: bool = True,
) -> list[str]:
    """The different texts of a column but for those that mean that a value is missing, the commonest first.

    Args:
        most: no more are returned.
        numbers: a way of writing these, which are then left out in all notations; None: they are texts like others.
        order: of dates, which are then left out likewise.
        dates: whether dates of any order are texts like others.
    """
    table = Table(stream, writing)
    [position], missing = table.positions([column]), writing.missing_words.texts
    words = (
        text
        for text, _ in Counter(row[position] for _, row in table).most_common()
        if folded(text) not in missing
        and (numbers is None or (as_number(text, numbers) is None and numbers not in notation_of(text)[1]))
        and (order is None or parsed(text, order) is None)
        and (dates or not looks_like_a_date(text))
    )
    return list(islice(words, most))


def order_of(format: Format) -> Format:
    """The order of a way of writing dates, one of ``ORDERS``."""
    plain = format.replace(".", "/").replace("-", "/")
    return next(order for order in ORDERS if order.replace("-", "/") == plain)


class _Cells:
    """Cells of one column, counted as they come: its different texts, each of which is looked at once, in the end."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.texts: Counter[str] = Counter()
        self.lines: dict[str, int] = {}
        self.repeats: list[int] = []
        self.last = ""

    def take(self, cell: str, line: int) -> None:
        self.texts[cell] += 1
        self.lines.setdefault(cell, line)
        self.last = cell
        if cell == self.name and len(self.repeats) < MOST_LINES:
            self.repeats.append(line)

    def summed(self, rows: int, ends: tuple[int, int], key: bytes) -> Contents:
        """The contents, of a column in a table of so many rows with these first and last lines."""
        usual = 0
        numbers, readings = Counter[float](), TwoReadings()
        unread, lines = Counter[str](), dict[str, int]()  # of each way and order
        noted, texts, dates = dict[str, tuple[int, int]](), set[str](), 0
        for cell, count in self.texts.items():  # in the order of their lines
            if folded(cell) in _USUAL:
                usual += count
                continue
            ways = ways_of(cell)
            if ways:
                value = as_number(cell, next(way for way in NUMBERS if way in ways))
                if value is not None:
                    numbers[value] += count
                readings.take(cell)
            else:
                name, ways = notation_of(cell)
                if name:
                    before, line = noted.get(name, (0, self.lines[cell]))
                    noted[name] = before + count, line
            dated = has_the_form_of_a_date(cell)
            orders = {order for order in ORDERS if parsed(cell, order) is not None} if dated else set()
            dates += bool(orders)
            if not (ways or orders):
                texts.add(cell)
            for way in _WAYS - ways - orders:
                unread[way] += count
                lines.setdefault(way, self.lines[cell])
        return Contents(
            rows=rows,
            usual=usual,
            unread={way: (unread[way], lines.get(way, 0)) for way in NUMBERS},
            undated={order: (unread[order], lines.get(order, 0)) for order in ORDERS},
            noted=noted,
            two_readings=readings.mark,
            values=len(self.texts.keys() - {""}),
            ends=ends,
            alone=(self._alone(next(iter(self.texts), ""), texts), self._alone(self.last, texts)),
            repeats=tuple(self.repeats),
            beside_dates=sum(folded(text) not in _USUAL for text in self.texts) - dates,
            numbered=_numbered(numbers, rows),
            codes=_codes(numbers),
            texts=_digested(self.texts, self.lines, key),
        )

    def _alone(self, cell: str, texts: Collection[str]) -> bool:
        return cell in texts and self.texts[cell] == 1


def _numbered(numbers: Counter[float], rows: int) -> bool:
    """Whether rows are numbered from 0 or 1 on, each by another number."""
    first = min(numbers, default=math.nan)
    return (
        rows > 2
        and len(numbers) == rows
        and first in (0.0, 1.0)
        and numbers.keys() == {*range(int(first), int(first) + rows)}
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
