"""Inputs that are dates: such a column of X holds whole days since a declared public first day.

A column is one of dates because somebody says so, never because it looks like one. What is declared is the order of
day, month and year; between them stands any of . / and -, and a time of day may follow, which is left out. No message
holds a cell.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from . import checks
from .seasons import WEEK, YEAR

Format = str
"""An order and the mark that is written between its parts: "year-month-day", "day/month/year", "month.day.year"."""
ORDERS: tuple[Format, ...] = ("year-month-day", "day/month/year", "month/day/year")
FORMATS: tuple[Format, ...] = (
    *ORDERS,
    *(re.sub(r"\W", mark, order) for order in ORDERS for mark in "./-" if mark not in order),
)
ISO = ORDERS[0]
_EXAMPLE = {"year": "2024", "month": "03", "day": "31"}
PERIODS = {"week": WEEK, "year": YEAR}  # days
_SHORTEST = 2.0  # days of a period
_TIME = r"(?:[T ]+\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s?(?:[AaPp]\.?[Mm]\.?)?\s?(?:Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?)?"
_YEAR_FIRST = re.compile(rf"(\d{{4}})([./-])(\d{{1,2}})\2(\d{{1,2}}){_TIME}")
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([./-])(\d{{1,2}})\2(\d{{4}}|\d{{2}}){_TIME}")
_NAMED = re.compile(rf"(\d{{1,2}})([./ -])([A-Za-z]{{3,9}})\.?\2(\d{{4}}|\d{{2}}){_TIME}")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_PIVOT = 69  # two digits from here on are of the century before, where no first day is declared


def shown(format: Format) -> str:
    """The last day of March 2024 as a table writes it."""
    return re.sub(r"[a-z]+", lambda part: _EXAMPLE[part[0]], format)


def checked_format(name: str, value: object) -> Format:
    """A way of writing dates; "iso" is one of their names. ValueError for another."""
    return ISO if value == "iso" else checks.one_of(name, value, list(FORMATS))


@dataclass(frozen=True, kw_only=True)
class Dates:
    """An input that is a date, as declared.

    Args:
        name: of the column.
        first: public first day, in ISO's way of writing; day 0.
        format: the order of day, month and year in the table, and how dates are written in what is released.
        period: after which the outcome may come again: "week", "year" or a number of days; None for no such thing.

    Raises:
        ValueError: a declaration is of the wrong kind or out of range.
    """

    name: str
    first: str
    format: Format = ISO
    period: str | float | None = None

    def __post_init__(self) -> None:
        declared_day(f"the first day of {self.name!r}", self.first)
        object.__setattr__(self, "format", checked_format(f"format of {self.name!r}", self.format))
        if isinstance(self.period, str) and self.period not in PERIODS:
            raise ValueError(
                f'period of {self.name!r} must be "week", "year" or a number of days, got {checks.shown(self.period)}'
            )
        if self.period is not None and not isinstance(self.period, str):
            days = checks.number(f"period of {self.name!r}", self.period, _SHORTEST, checks.MOST)
            object.__setattr__(self, "period", days)

    @property
    def period_days(self) -> float | None:
        """The period in days."""
        return PERIODS[self.period] if isinstance(self.period, str) else self.period

    @property
    def unit(self) -> str:
        """Of the column of X."""
        return f"days since {self.first}"

    def days(self, cell: str) -> float | None:
        """A cell as days since the first day; None for what is no date in the declared order."""
        first = date.fromisoformat(self.first)
        day = parsed(cell, self.format, first)
        return None if day is None else float((day - first).days)

    def day(self, days: float) -> date:
        """The day that is so many days after the first, to the nearest."""
        return date.fromisoformat(self.first) + timedelta(days=math.floor(days + 0.5))

    def text(self, days: float) -> str:
        """The same as it is written in the table."""
        return written(self.day(days), self.format)


def parsed(cell: str, format: Format, first: date | None = None) -> date | None:
    """A date in a declared order; None for anything else.

    Args:
        cell: as it stands in the table; a time of day is left out.
        format: of which the order counts.
        first: a year of two digits is the earliest that is not before this day's; None: from 1969 to 2068.
    """
    text = cell.strip()
    if not text.isascii():
        return None
    order = _order(format)
    year_first = order[0] == "year"
    match = (_YEAR_FIRST if year_first else _YEAR_LAST).fullmatch(text)
    if match is None:
        match = _NAMED.fullmatch(text) if order[0] == "day" else None
        if match is None:
            return None
    a, _, b, c = match.groups()
    parts = dict(zip(order, (a, b, c), strict=True))
    try:
        month = int(parts["month"]) if parts["month"].isdigit() else _MONTHS.index(parts["month"][:3].lower()) + 1
        return date(_full_year(parts["year"], first), month, int(parts["day"]))
    except ValueError:  # a day that is in no calendar
        return None


@cache
def _order(format: Format) -> tuple[str, ...]:
    return tuple(re.split(r"\W", format))


def _full_year(digits: str, first: date | None) -> int:
    if len(digits) == 4:
        return int(digits)
    least = 1900 + _PIVOT if first is None else first.year
    return least + (int(digits) - least) % 100


def written(day: date, format: Format) -> str:
    """A day as text."""
    parts = {"year": f"{day.year:04d}", "month": f"{day.month:02d}", "day": f"{day.day:02d}"}
    return re.sub(r"[a-z]+", lambda part: parts[part[0]], format)


def looks_like_a_date(cell: str) -> bool:
    """Whether text is a date in one of the orders: only ever used to say what is wrong with it as something else."""
    return any(parsed(cell, order) is not None for order in ORDERS)


def has_the_form_of_a_date(cell: str) -> bool:
    """Whether text is written as dates are, in whatever calendar."""
    text = cell.strip()
    return text.isascii() and any(form.fullmatch(text) for form in (_YEAR_FIRST, _YEAR_LAST, _NAMED))


def declared_day(name: str, value: object) -> date:
    """A declared day in ISO's way of writing; ValueError for anything else."""
    day = parsed(value, ISO) if isinstance(value, str) else None
    if day is None or written(day, ISO) != value:
        raise ValueError(f"{name} must be a date such as 2024-03-01, got {checks.shown(value)}")
    return day
