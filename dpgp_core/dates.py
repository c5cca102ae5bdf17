"""Inputs that are dates: such a column of X holds whole days since a declared public first day.

A column is one of dates because somebody says so, never because it looks like one. Declared is the order of
day, month and year; between them is any of . / - and a space, the month may have its name, and a time of day may
follow, which is left out. A month, quarter or week without a day counts as its first day. No message holds a cell.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
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
PERIODS = {"week": WEEK, "year": YEAR}  # days
_SHORTEST = 2.0  # days of a period
_SHORTEST_DATE, _LONGEST = 6, 80  # letters of a cell that may be a date
_TIME = (
    r"(?:(?:T|:|,? )\s*[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?\s?(?:[AaPp]\.?[Mm]\.?)?"
    r"\s?(?:Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
)
_DAY, _MONTH, _QUARTER = r"(?P<day>[0-9]{1,2})", r"(?P<month>[0-9]{1,2})", r"Q(?P<quarter>[1-4])"
_LONG_YEAR, _YEAR = r"(?P<year>[0-9]{4})", r"(?P<year>[0-9]{4}|[0-9]{2})"
_NAME = r"(?P<name>[^\W\d_]{3,10})\.?"
_NTH = rf"{_DAY}(?:st|nd|rd|th|er|\.)?"
_MARK, _SAME = r"(?P<mark>[./-] ?| )", r"(?P=mark)"
_WEEKDAY = r"(?:[^\W\d_]{2,10}\.?,? )?"
_OF_DAYS = {
    "year": (
        rf"{_LONG_YEAR}{_MARK}{_MONTH}{_SAME}{_DAY}{_TIME}",
        rf"{_LONG_YEAR}(?P<month>[0-9]{{2}})(?P<day>[0-9]{{2}}){_TIME}",
        rf"{_LONG_YEAR}[/ -]{_NAME}[/ -]{_DAY}{_TIME}",
        rf"{_LONG_YEAR}-?W(?P<week>[0-9]{{2}})-?(?P<weekday>[1-7]){_TIME}",
    ),
    "day": (
        rf"{_WEEKDAY}{_DAY}{_MARK}{_MONTH}{_SAME}{_YEAR}{_TIME}",
        rf"{_WEEKDAY}{_NTH}[/ -]?(?:de )?{_NAME},?[/ -]?(?:de )?{_YEAR}{_TIME}",
    ),
    "month": (
        rf"{_WEEKDAY}{_MONTH}{_MARK}{_DAY}{_SAME}{_YEAR}{_TIME}",
        rf"{_WEEKDAY}{_NAME}[/ -]{_NTH}(?:,? |[/-]){_YEAR}{_TIME}",
    ),
}
_LATER = (rf"{_MONTH}[/-]{_LONG_YEAR}", rf"{_NAME}[/ -]?{_YEAR}", rf"{_QUARTER}[/ -]?{_LONG_YEAR}")
_OF_MONTHS = {
    "year": (
        rf"{_LONG_YEAR}[/-]{_MONTH}",
        rf"{_LONG_YEAR}[/ -]?{_NAME}",
        rf"{_LONG_YEAR}M(?P<month>[0-9]{{1,2}})",
        rf"{_LONG_YEAR}[/ -]?{_QUARTER}",
        rf"{_LONG_YEAR}-?W(?P<week>[0-9]{{2}})",
    ),
    "day": _LATER,
    "month": _LATER,
}
_MONTHS = (
    "january february march april may june july august september october november december",
    "januar februar marz april mai juni juli august september oktober november dezember",
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "januar februar marts april maj juni juli august september oktober november december",
)
_PIVOT = 69  # two digits from here on are of the century before, where no first day is declared


def example(format: Format) -> str:
    """The last day of March 2024 as a table writes it."""
    return written(date(2024, 3, 31), format)


def checked_format(name: str, value: object) -> Format:
    """A way of writing dates; "iso" is one of their names. ValueError for another."""
    return ISO if value == "iso" else checks.one_of(name, value, list(FORMATS))


@dataclass(frozen=True, kw_only=True)
class Dates:
    """An input that is a date, as declared.

    Args:
        first: public first day, in ISO's way of writing; day 0.
        format: the order of day, month and year in the table, and their writing in releases.
        period: after which the outcome may repeat: "week", "year" or a number of days; None for none.

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
                f'period of {self.name!r} must be "week", "year" or a number of days, got {checks.excerpt(self.period)}'
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
        """A cell as days since the first day; None for any other text than a date in the declared order."""
        first = date.fromisoformat(self.first)
        day = parsed(cell, self.format, first)
        return None if day is None else float((day - first).days)

    def day(self, days: float) -> date:
        """The day that is so many days after the first, to the nearest."""
        return date.fromisoformat(self.first) + timedelta(days=math.floor(days + 0.5))

    def text(self, days: float) -> str:
        """The same as it is written in the table."""
        return written(self.day(days), self.format)


def parsed(cell: str, format: Format, first: date | None = None, *, whole: bool = False) -> date | None:
    """A date in a declared order; None for anything else.

    Args:
        cell: as written in the table; a time of day is left out.
        format: of which the order counts.
        first: a year of two digits is the earliest that is not before this day's; None: from 1969 to 2068.
        whole: whether months, quarters and weeks without a day are none.
    """
    text = cell.strip()
    if not text or len(text) > _LONGEST:
        return None
    for form in _forms(format, whole=whole):
        match = form.fullmatch(text)
        if match is not None:
            return _day_of(match.groupdict(), first)
    return None


@cache
def _forms(format: Format, *, whole: bool) -> tuple[re.Pattern[str], ...]:
    """Ways of writing dates of an order, which its first part decides; the commonest first."""
    first_part = re.split(r"\W", format)[0]
    forms = _OF_DAYS[first_part] + (() if whole else _OF_MONTHS[first_part])
    return tuple(re.compile(form, re.IGNORECASE) for form in forms)


def _day_of(parts: Mapping[str, str], first: date | None) -> date | None:
    """The day that the parts of a date name; None for one that is in no calendar."""
    try:
        if "week" in parts:
            return date.fromisocalendar(int(parts["year"]), int(parts["week"]), int(parts.get("weekday", 1)))
        if "quarter" in parts:
            return date(int(parts["year"]), 3 * int(parts["quarter"]) - 2, 1)
        month = _month(parts["name"]) if "name" in parts else int(parts["month"])
        return date(_full_year(parts["year"], first), month, int(parts.get("day", 1)))
    except ValueError:
        return None


def _month(name: str) -> int:
    """The number of a month by its name or the beginning of it; 0 for any other text."""
    plain = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    return _month_names().get(plain.replace("maerz", "marz"), 0)


@cache
def _month_names() -> dict[str, int]:
    """Months by name, and by every beginning of three letters or more that no other month has."""
    beginnings = dict[str, set[int]]()
    for names in _MONTHS:
        for number, name in enumerate(names.split(), start=1):
            for end in range(3, len(name) + 1):
                beginnings.setdefault(name[:end], set()).add(number)
    months = {beginning: numbers.pop() for beginning, numbers in beginnings.items() if len(numbers) == 1}
    return months | {"mrt": 3, "mrz": 3}


def _full_year(digits: str, first: date | None) -> int:
    if len(digits) == 4:
        return int(digits)
    least = 1900 + _PIVOT if first is None else first.year
    return least + (int(digits) - least) % 100


def written(day: date, format: Format) -> str:
    """A day as text."""
    parts = {"year": f"{day.year:04d}", "month": f"{day.month:02d}", "day": f"{day.day:02d}"}
    return re.sub(r"[a-z]+", lambda part: parts[part[0]], format)


def looks_like_a_date(cell: str, *, whole: bool = False) -> bool:
    """Whether text is a date in one of the orders: only ever used in messages about other faults."""
    return any(parsed(cell, order, whole=whole) is not None for order in ORDERS)


def has_the_form_of_a_date(cell: str) -> bool:
    """Whether text is written as dates are, in whatever calendar."""
    text = cell.strip()
    return _SHORTEST_DATE <= len(text) <= _LONGEST and _any_form().fullmatch(text) is not None


@cache
def _any_form() -> re.Pattern[str]:
    """All forms of dates as one, so that long columns of text are soon looked through."""
    forms = dict.fromkeys(form for forms in (*_OF_DAYS.values(), *_OF_MONTHS.values()) for form in forms)
    apart = [re.sub(r"\(\?P([<=])mark", rf"(?P\1mark{number}", form) for number, form in enumerate(forms)]
    return re.compile("|".join(re.sub(r"\(\?P<(?!mark)\w+>", "(?:", form) for form in apart), re.IGNORECASE)


def declared_day(name: str, value: object) -> date:
    """A declared day in ISO's way of writing; ValueError for anything else."""
    day = parsed(value, ISO) if isinstance(value, str) else None
    if day is None or written(day, ISO) != value:
        raise ValueError(f"{name} must be a date such as 2024-03-01, got {checks.excerpt(value)}")
    return day
