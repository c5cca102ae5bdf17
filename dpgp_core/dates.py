"""Inputs that are dates. A column of X for such an input holds whole days since a declared public first day.

A column is read as dates only if it is declared as such. The declaration states the order of day, month and year. They
may be separated by . / - or a space, and the month may be written as a name. A time of day is ignored. A month, quarter
or week without a day counts as its first day. No message repeats a cell of the table.
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
"""Order and separator of the parts of a date, for example "year-month-day", "day/month/year" or "month.day.year"."""
ORDERS: tuple[Format, ...] = ("year-month-day", "day/month/year", "month/day/year")
FORMATS: tuple[Format, ...] = (
    *ORDERS,
    *(re.sub(r"\W", mark, order) for order in ORDERS for mark in "./-" if mark not in order),
)
ISO = ORDERS[0]
PERIODS = {"week": WEEK, "year": YEAR}  # lengths in days
_SHORTEST = 2.0  # shortest period, in days
_SHORTEST_DATE, _LONGEST = 6, 80  # number of characters of a cell that may be a date
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
_PIVOT = 69  # if no first day is declared, years of two digits are read as 1969 to 2068


def example(format: Format) -> str:
    """Return an example of a date in this format: the last day of March 2024."""
    return written(date(2024, 3, 31), format)


def checked_format(name: str, value: object) -> Format:
    """Return a declared format, with "iso" replaced by the format it stands for; raise ValueError if it is unknown."""
    return ISO if value == "iso" else checks.one_of(name, value, list(FORMATS))


@dataclass(frozen=True, kw_only=True)
class Dates:
    """Declaration of an input that is a date.

    Args:
        name: name of the column.
        first: public first day, in ISO format. It has the number 0.
        format: order of day, month and year in the table, and the way in which releases write dates.
        period: time after which the outcome may repeat: "week", "year" or a number of days; None for no period.

    Raises:
        ValueError: a declaration has the wrong type or is out of range.
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
        """The period in days; None for no period."""
        return PERIODS[self.period] if isinstance(self.period, str) else self.period

    @property
    def unit(self) -> str:
        """Unit of the column of X."""
        return f"days since {self.first}"

    def days(self, cell: str) -> float | None:
        """Return a cell of the table in days since the first day; None if it is not a date in the declared order."""
        first = date.fromisoformat(self.first)
        day = parsed(cell, self.format, first)
        return None if day is None else float((day - first).days)

    def day(self, days: float) -> date:
        """Return the date ``days`` days after the first day, rounded to a whole day."""
        return date.fromisoformat(self.first) + timedelta(days=math.floor(days + 0.5))

    def text(self, days: float) -> str:
        """Return the date ``days`` days after the first day, written in the declared format."""
        return written(self.day(days), self.format)


def parsed(cell: str, format: Format, first: date | None = None, *, whole: bool = False) -> date | None:
    """Read a date in the order of ``format``; return None for any other text.

    Args:
        cell: text of a cell. A time of day is ignored.
        format: declared format. Only its order matters, not its separator.
        first: a year of two digits is read as the first such year that is not before the year of this day; if None, as
            a year from 1969 to 2068.
        whole: if true, months, quarters and weeks without a day are not read as dates.
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
    """Return the patterns of an order, the most common first. The first part of the format determines the order."""
    first_part = re.split(r"\W", format)[0]
    forms = _OF_DAYS[first_part] + (() if whole else _OF_MONTHS[first_part])
    return tuple(re.compile(form, re.IGNORECASE) for form in forms)


def _day_of(parts: Mapping[str, str], first: date | None) -> date | None:
    """Return the day given by the parts of a date; None if there is no such day."""
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
    """Return the number of a month, given its name or an abbreviation of it; 0 for any other text."""
    plain = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    return _month_names().get(plain.replace("maerz", "marz"), 0)


@cache
def _month_names() -> dict[str, int]:
    """Return the number of each month by name, and by each unambiguous prefix of three letters or more."""
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
    """Return a day as text in the given format."""
    parts = {"year": f"{day.year:04d}", "month": f"{day.month:02d}", "day": f"{day.day:02d}"}
    return re.sub(r"[a-z]+", lambda part: parts[part[0]], format)


def looks_like_a_date(cell: str, *, whole: bool = False) -> bool:
    """Whether a cell is a date in one of the orders. This only improves messages; no column is read as dates for it."""
    return any(parsed(cell, order, whole=whole) is not None for order in ORDERS)


def has_the_form_of_a_date(cell: str) -> bool:
    """Whether a cell has the form of a date, whether or not there is such a day."""
    text = cell.strip()
    return _SHORTEST_DATE <= len(text) <= _LONGEST and _any_form().fullmatch(text) is not None


@cache
def _any_form() -> re.Pattern[str]:
    """Return one pattern that matches all forms of dates, which is faster on long columns of text."""
    forms = dict.fromkeys(form for forms in (*_OF_DAYS.values(), *_OF_MONTHS.values()) for form in forms)
    apart = [re.sub(r"\(\?P([<=])mark", rf"(?P\1mark{number}", form) for number, form in enumerate(forms)]
    return re.compile("|".join(re.sub(r"\(\?P<(?!mark)\w+>", "(?:", form) for form in apart), re.IGNORECASE)


def declared_day(name: str, value: object) -> date:
    """Return a day that is declared in ISO format; raise ValueError for anything else."""
    day = parsed(value, ISO) if isinstance(value, str) else None
    if day is None or written(day, ISO) != value:
        raise ValueError(f"{name} must be a date such as 2024-03-01, got {checks.excerpt(value)}")
    return day
