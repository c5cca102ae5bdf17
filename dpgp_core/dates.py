"""Inputs that are dates: such a column of X holds whole days since a declared public first day.

A column is one of dates because somebody says so, never because it looks like one. A date is read in the one way of
writing that is declared: 2024-03-01, or 1.3.2024 with the day first. No message holds a cell.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal, get_args

from . import checks
from .seasons import WEEK, YEAR

Format = Literal["iso", "day.month.year"]
FORMATS: tuple[Format, ...] = get_args(Format)
SHOWN = {"iso": "2024-03-01", "day.month.year": "01.03.2024"}
PERIODS = {"week": WEEK, "year": YEAR}  # days
_ISO, _DAY_FIRST = re.compile(r"(\d{4})-(\d{2})-(\d{2})"), re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")
_WITH_TIME = re.compile(r"[T ]\d{1,2}:\d{2}")
_SHORTEST = 2.0  # days of a period


@dataclass(frozen=True, kw_only=True)
class Dates:
    """An input that is a date, as declared.

    Args:
        name: of the column.
        first: public first day, in ISO's way of writing; day 0.
        format: how dates are written, in the table and in what is released.
        period: after which the outcome may come again: "week", "year" or a number of days; None for no such thing.

    Raises:
        ValueError: a declaration is of the wrong kind or out of range.
    """

    name: str
    first: str
    format: Format = "iso"
    period: str | float | None = None

    def __post_init__(self) -> None:
        declared_day(f"the first day of {self.name!r}", self.first)
        checks.one_of(f"format of {self.name!r}", self.format, list(FORMATS))
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

    def read(self, cell: str, column: str, line: int) -> float:
        """A cell as days since the first day; ValueError names column, line and remedy, never the cell."""
        day = parsed(cell, self.format)
        if day is None:
            raise ValueError(undated_sentence(cell, column, line, self.format))
        return float((day - date.fromisoformat(self.first)).days)

    def day(self, days: float) -> date:
        """The day that is so many days after the first, to the nearest."""
        return date.fromisoformat(self.first) + timedelta(days=math.floor(days + 0.5))

    def text(self, days: float) -> str:
        """The same as it is written in the table."""
        return written(self.day(days), self.format)


def parsed(cell: str, format: Format) -> date | None:
    """A date written as declared; None for anything else."""
    text = cell.strip()
    match = (_ISO if format == "iso" else _DAY_FIRST).fullmatch(text) if text.isascii() else None
    if match is None:
        return None
    parts = [int(part) for part in match.groups()]
    try:
        return date(*(parts if format == "iso" else reversed(parts)))
    except ValueError:  # a day that is in no calendar
        return None


def written(day: date, format: Format) -> str:
    """A day as text."""
    return day.isoformat() if format == "iso" else f"{day.day:02d}.{day.month:02d}.{day.year:04d}"


def looks_like_a_date(cell: str) -> bool:
    """Whether text is a date in one of the two ways: only ever used to say what is wrong with it as something else."""
    return any(parsed(cell, format) is not None for format in FORMATS)


def undated_sentence(cell: str, column: str, line: int, format: Format) -> str:
    """What is wrong with a cell that should be a date, where, and the remedy; never what stands there."""
    problem, remedy = _problem(cell, format)
    return f"column {column!r} has {problem} in line {line} of the file; {remedy}"


def _problem(cell: str, format: Format) -> tuple[str, str]:
    text = cell.strip()
    other = next(each for each in FORMATS if each != format)
    how = f"write dates as {SHOWN[format]}"
    if not text:
        return "an empty cell", "correct or remove that row"
    if _WITH_TIME.search(text):
        return "a time of day beside the date", f"keep the date alone: {how}"
    if parsed(text, other) is not None:
        return f"a date written like {SHOWN[other]}", f"declare dates as {other}, or {how}"
    if (_ISO if format == "iso" else _DAY_FIRST).fullmatch(text):
        return "a date that is in no calendar", "correct or remove that row"
    if _number(text):
        return "a number instead of a date", f"declare the column a number, or {how}"
    return "text instead of a date", how


def declared_day(name: str, value: object) -> date:
    """A declared day in ISO's way of writing; ValueError for anything else."""
    day = parsed(value, "iso") if isinstance(value, str) else None
    if day is None:
        raise ValueError(f"{name} must be a date such as {SHOWN['iso']}, got {checks.shown(value)}")
    return day


def _number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True
