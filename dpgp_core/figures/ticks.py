"""Choose a few round tick marks along an axis of numbers, years or dates."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import MAXYEAR, date, timedelta

from ..dates import ISO, Dates, parsed
from ..levels import Interval

MOST = 5
_MONTHS = (1, 3, 6, *(12 * size * power for power in (1, 10, 100, 1000) for size in (1, 2, 5)))
_DAYS = (1, 2, 5, 10)
_SINCE = re.compile(r"days since (\d{4}-\d{2}-\d{2})")

Mark = tuple[float, str]


def marks(low: float, high: float, dates: Dates | None = None, *, whole: bool = False) -> list[Mark]:
    """Return at most five marks from low to high, with their texts.

    Args:
        low: start of the axis; for dates, in days since the first one.
        high: its end.
        dates: declaration of the dates; None for numbers.
        whole: whether they are whole numbers, as years and counts are.
    """
    if dates is None:
        return [(value, f"{value:.12g}") for value in _numbers(low, high, 1.0 if whole else 0.0)]
    return [(float((day - dates.day(0)).days), text) for day, text in _days(dates.day(low), dates.day(high))]


def dates_of(unit: str) -> Dates | None:
    """Return the dates of an input whose unit names the first day; None for a number."""
    days = _SINCE.fullmatch(unit)
    first = None if days is None else parsed(days[1], ISO)
    return None if first is None else Dates(name="input", first=first.isoformat())


def are_years(name: str, unit: str, side: Interval) -> bool:
    """Return whether an input consists of calendar years, according to its name or unit and its public box."""
    words = f"{name} {unit}".lower()
    return 1000 <= side[0] < side[1] <= 3000 and any(word in words for word in ("year", "jahr", "année", "año"))


def _numbers(low: float, high: float, least: float) -> Iterator[float]:
    """Return multiples of 1, 2 or 5 times a power of ten that are at least ``least`` apart."""
    size = 10.0 ** math.floor(math.log10((high - low) / MOST))
    step = max(least, next(size * each for each in (1, 2, 5, 10, 20) if (high - low) / (size * each) <= MOST))
    return (step * each + 0.0 for each in range(math.ceil(low / step), math.floor(high / step) + 1))


def _days(start: date, end: date) -> list[tuple[date, str]]:
    """Return days at regular intervals, or first days of months, with their texts."""
    length = (end - start).days
    for step in _DAYS:
        if length / step < MOST:
            return [(day, day.isoformat()) for day in (start + timedelta(step * k) for k in range(length // step + 1))]
    for step in _MONTHS:
        months = range(-(-_month(start, up=True) // step) * step, _month(end) + 1, step)
        if 1 <= len(months) <= MOST:
            break
    days = [date(month // 12, month % 12 + 1, 1) for month in months if month // 12 <= MAXYEAR]
    return [(day, f"{day.year:04d}" if step % 12 == 0 else f"{day.year:04d}-{day.month:02d}") for day in days]


def _month(day: date, *, up: bool = False) -> int:
    """Return the number of months from year 0 to a day's month; with ``up``, to the next first day of a month."""
    return 12 * day.year + day.month - 1 + (1 if up and day.day > 1 else 0)
