"""Count what the columns of a table contain, in one pass, to say whether it can be read as its owner will declare it.

The counts depend on private cells. They are for the owner of the table alone, and nothing is declared by them.
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
from .faults import NOTED, Fault, counted, remedy_of
from .notations import notation_of
from .rows import MOST_LINES, Table
from .writing import NUMBERS, USUAL, TwoReadings, Words, Writing, as_number, folded, ways_of

_WAYS = frozenset((*NUMBERS, *ORDERS))
_MOSTLY = 0.5  # share of unreadable rows beyond which the whole column counts as something else
_MOST_TEXTS = 1_000  # different texts that are kept of a column, far more than its possible categories
_USUAL = Words(USUAL, "1234.5").texts
_CODES = frozenset(
    sign * float(code)
    for length in (1, 2, 3, 4)
    for code in ("77" * length, "88" * length, "9" * (length + 1), *("9" * length + digit for digit in "678"))
    for sign in (1, -1)
) | {-1.0, -7.0, -8.0, -9.0, -200.0, -777.0, -888.0, 777.0, 888.0}
"""Numbers that often mean a missing value."""
_APART = 0.2  # least distance of a code from all other values, as a share of their range


@dataclass(frozen=True)
class Texts:
    """Different values of a column, kept as keyed digests, because freed short texts stay in the memory of Python.

    Attributes:
        rows: number of rows with each value, by digest; None if there are too many values for categories.
        lines: line number of the first row with each value, by digest.
        key: random key of the digests, drawn for this table.
    """

    rows: Mapping[bytes, int] | None = field(repr=False)
    lines: Mapping[bytes, int] = field(repr=False)
    key: bytes = field(repr=False)

    def digest(self, text: str) -> bytes:
        """Return the key of a text in ``rows`` and ``lines``."""
        return hashlib.blake2b(text.encode(), digest_size=16, key=self.key).digest()


class Contents(NamedTuple):
    """Counts of what one column contains.

    Attributes:
        rows: number of rows of the table.
        usual: number of rows that are empty, or hold a word for a missing value that need not be declared, such as NA.
        unread: for each format of numbers, the number of rows that hold neither a number in any notation nor such a
            word, and the line of the first one.
        undated: for each order of dates, the number of rows that hold neither a date nor such a word, and the line of
            the first one.
        noted: for each notation that must be declared, the number of rows that use it, and the line of the first one.
        two_readings: the mark before exactly three digits, if no number says what it means; "" otherwise.
        values: number of different values that are not empty.
        ends: line numbers of the first and of the last row of the table.
        alone: whether the first row, and the last one, hold a text that no other row holds and that is neither a number
            nor a date.
        repeats: lines that repeat the name of the column.
        other_than_dates: number of different values that are not dates.
        numbered: whether the column numbers the rows: whole numbers from 0 or 1 without a gap, each once.
        codes: numbers that may mean a missing value, and how many rows hold each, if numbers are written as 1234.5.
        texts: the different values.
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
    other_than_dates: int
    numbered: bool
    codes: Mapping[float, int]
    texts: Texts

    @property
    def ways(self) -> list[str]:
        """Formats in which most cells of the column are numbers, the most successful one first."""
        return _readable(self.unread, self.rows - self.usual)

    @property
    def orders(self) -> list[Format]:
        """Orders in which most cells of the column are dates, the most successful one first."""
        return _readable(self.undated, self.rows - self.usual)

    @property
    def dated(self) -> int:
        """Number of rows that hold a date, in the order that reads most."""
        return self.rows - self.usual - min(count for count, _ in self.undated.values())

    @property
    def holds_words(self) -> bool:
        """Whether the column holds a few different texts that are neither numbers nor dates."""
        return not (self.ways or self.orders) and 2 <= self.values <= _MOST_TEXTS and self.texts.rows is not None

    def as_numbers(
        self, name: str, numbers: str = "1234.5", notations: Collection[str] = (), *, or_dates: bool = True
    ) -> str:
        """Return the fault and a remedy if the column does not hold numbers in this format; "" if it does.

        Args:
            name: name of the column.
            numbers: format of the numbers.
            notations: declared notations.
            or_dates: whether the remedy may be to declare dates.
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
        """Return the fault and a remedy if the column does not hold dates in this order; "" if it does."""
        count, line = self.undated[order_of(format)]
        if not count:
            return ""
        if self.orders and self.orders[0] != order_of(format):
            return f"column {name!r} holds dates in another order; say that it is {self.orders[0]}"
        return self._counted(name, Fault.NO_DATE, count, line)

    def _counted(self, name: str, fault: Fault, count: int, line: int) -> str:
        return counted(fault, name, count, self.rows, line, remedy_of(fault, (), count / self.rows, name))

    def as_levels(self, name: str, levels: Levels) -> str:
        """Return the fault and a remedy if the column does not hold these categories; "" if it does."""
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
        """Return the fault and a remedy if the column cannot identify people; "" if it can."""
        if not self.values:
            return f"column {name!r} is empty in every row, so it names nobody; choose another"
        if self.values == 1:
            return f"column {name!r} says that all rows are one person's; choose the column that identifies people"
        return ""


def survey(stream: BinaryIO, columns: Iterable[str], writing: Writing) -> dict[str, Contents]:
    """Return the contents of columns of a stream with a header line, by name.

    Args:
        columns: names of the columns, from ``column_names``.

    Raises:
        ValueError: a line is not a row of the table. The message names the line, never a cell.
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
    """Return the different texts of a column, the most frequent first, without those that mean a missing value.

    Args:
        column: name of the column.
        most: largest number of texts.
        numbers: format of numbers, which are then left out in all notations; None to treat numbers as texts.
        order: order of dates, which are then left out; None to treat dates as texts.
        dates: whether dates in other orders are treated as texts.
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
    """Return the order of a date format, one of ``ORDERS``."""
    plain = format.replace(".", "/").replace("-", "/")
    return next(order for order in ORDERS if order.replace("-", "/") == plain)


class _Cells:
    """Counter of the cells of one column. Each different text is examined only once, at the end."""

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
        """Return the contents, given the number of rows, the first and last line, and the key of the digests."""
        usual = 0
        numbers, readings = Counter[float](), TwoReadings()
        unread, lines = Counter[str](), dict[str, int]()  # by format or order
        noted, texts, dates = dict[str, tuple[int, int]](), set[str](), 0
        for cell, count in self.texts.items():  # in order of appearance, so that the first line is right
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
            other_than_dates=sum(folded(text) not in _USUAL for text in self.texts) - dates,
            numbered=_numbered(numbers, rows),
            codes=_codes(numbers),
            texts=_digested(self.texts, self.lines, key),
        )

    def _alone(self, cell: str, texts: Collection[str]) -> bool:
        return cell in texts and self.texts[cell] == 1


def _numbered(numbers: Counter[float], rows: int) -> bool:
    """Return whether the numbers are those of the rows, counted from 0 or 1."""
    first = min(numbers, default=math.nan)
    return (
        rows > 2
        and len(numbers) == rows
        and first in (0.0, 1.0)
        and numbers.keys() == {*range(int(first), int(first) + rows)}
    )


def _readable(missed: Mapping[str, tuple[int, int]], rows: int) -> list[str]:
    """Return the formats that read most of the rows, the best first; among equally good ones, the first in the list."""
    ways = [way for way, (count, _) in missed.items() if count <= _MOSTLY * rows and rows]
    return sorted(ways, key=lambda way: missed[way][0])


def _codes(numbers: Counter[float]) -> dict[float, int]:
    """Return numbers that often mean a missing value and are far from all other numbers."""
    values = sorted(numbers)
    codes = {*_codes_at_start(values), *_codes_at_start(values[::-1])}
    return {code: numbers[code] for code in sorted(codes)} if sum(numbers[code] for code in codes) > 1 else {}


def _codes_at_start(values: Sequence[float]) -> Sequence[float]:
    """Return the codes at the beginning of sorted values that are separated from all others by a gap."""
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
