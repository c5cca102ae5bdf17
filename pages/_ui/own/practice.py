"""Practice tables, one for each kind of outcome. All are public, and most are simulated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache
from typing import Any

import numpy as np

from datasets import kung
from dpgp_core.arrays import FloatArray
from dpgp_core.seasons import YEAR
from dpgp_core.table import Kind

_RECORDS = 2_000  # rows of each simulated table
_AGES = (18.0, 90.0)
_PEOPLE = 1_200  # people in the table with several rows for each


@dataclass(frozen=True, eq=False)
class Practice:
    """A table with a declaration that fits people in general and is not computed from the table.

    Attributes:
        button: label of its button.
        form: declaration, by the names of the form's controls.
    """

    file: str
    button: str
    kind: Kind
    form: dict[str, Any]
    content: Callable[[], bytes] = field(repr=False)


def _simulated(name: str, outcome: Callable[[np.random.Generator, FloatArray], FloatArray], seed: int) -> bytes:
    """Return a table with a column ``age_years`` and an outcome that depends on age, the same on every machine."""
    rng = np.random.default_rng(seed)
    ages = np.round(rng.uniform(*_AGES, _RECORDS), 1)
    rows = (f"{age:.1f},{value:g}\n" for age, value in zip(ages, outcome(rng, ages), strict=True))
    return (f"age_years,{name}\n" + "".join(rows)).encode()


def _wages(rng: np.random.Generator, ages: FloatArray) -> FloatArray:
    typical = 14 + 12 * np.exp(-(((ages - 50) / 22) ** 2))
    return np.round(typical * rng.gamma(4.0, 1 / 4.0, len(ages)), 2)


def _wages_of_people() -> bytes:
    """Return 3,000 rows of 1,200 people in up to four years: identifier, sex, day, age and wage."""
    rng = np.random.default_rng(4)
    rows = rng.permutation(np.repeat([1, 2, 3, 4], _PEOPLE // 4))
    person = np.repeat(np.arange(_PEOPLE), rows)
    woman, ages = rng.uniform(size=_PEOPLE) < 0.5, np.round(rng.uniform(*_AGES, _PEOPLE) - 3.0, 1)
    year = np.concatenate([np.arange(count) for count in rows])
    age = np.maximum(ages[person] + year, _AGES[0])
    wage = _wages(rng, age) * np.where(woman, 0.9, 1.05)[person]
    start = np.datetime64("2020-01-01")
    days = start + (365 * year + rng.integers(0, 365, len(person))).astype("timedelta64[D]")
    lines = (
        f"P{who:04d},{'woman' if woman[who] else 'man'},{day},{old:.1f},{value:.2f}\n"
        for who, day, old, value in zip(person, days, age, wage, strict=True)
    )
    return ("person,sex,asked_on,age_years,wage_an_hour\n" + "".join(lines)).encode()


def _visits(rng: np.random.Generator, ages: FloatArray) -> FloatArray:
    return rng.poisson(1 + 0.0006 * ages**2).astype(float)


def _vaccinated(rng: np.random.Generator, ages: FloatArray) -> FloatArray:
    return (rng.uniform(size=len(ages)) < 0.25 + 0.6 / (1 + np.exp(-(ages - 55) / 9))).astype(float)


def _by_age(y: str, y_unit: str, unit: str, **bounds: float) -> dict[str, Any]:
    low, high = _AGES
    return bounds | {
        "y": y,
        "y_unit": y_unit,
        "unit": unit,
        "whose": "no",
        "x": ["age_years"],
        "x_unit_age_years": "years",
        "box_low_age_years": low,
        "box_high_age_years": high,
        "length_age_years": 20.0,
        "grid_age_years": 37,
        "epsilon": 1.0,
        "delta": 1e-5,
        "total": 2.0,
    }


_FIRST, _DAYS = date(2010, 1, 1), 5_000


def _daily_visits() -> bytes:
    """Return a column ``day`` of ISO dates and ``visits``, counts with a trend and a season; the same on every
    machine.
    """
    rng, t = np.random.default_rng(4), np.arange(float(_DAYS))
    rate = 20 + 3 * np.sin(t / 900) + 8 * np.cos(2 * np.pi * (t - 20) / YEAR)  # largest in late January
    rows = (f"{_FIRST + timedelta(days=day)},{count}\n" for day, count in enumerate(rng.poisson(rate)))
    return ("day,visits\n" + "".join(rows)).encode()


_BY_DAY = {
    "y": "visits",
    "y_unit": "visits",
    "low": 0.0,
    "high": 60.0,
    "unit": "one day's visits",
    "whose": "no",
    "x": ["day"],
    "holds_day": "dates, as 2024-03-31 (year-month-day)",
    "period_day": "year",
    "from_day_day": _FIRST,
    "to_day_day": _FIRST + timedelta(days=_DAYS - 1),
    "grid_day": 250,
    "epsilon": 1.0,
    "delta": 1e-5,
    "total": 2.0,
}

TABLES = (
    Practice(
        "practice.csv",
        "Practise with the !Kung census",
        "number",
        _by_age("height_cm", "cm", "one person's height", low=50.0, high=200.0)
        | {"box_low_age_years": 0.0, "box_high_age_years": 90.0, "grid_age_years": 46, "delta": 1e-4},
        kung.PATH.read_bytes,
    ),
    Practice(
        "simulated_wages.csv",
        "Simulated wages",
        "amount",
        _by_age("wage_an_hour", "€", "one person's wage", low=0.0, high=80.0),
        lambda: _simulated("wage_an_hour", _wages, 1),
    ),
    Practice(
        "simulated_visits.csv",
        "Simulated clinic visits",
        "count",
        _by_age("visits_a_year", "visits", "one person's clinic visits", low=0.0, high=20.0),
        lambda: _simulated("visits_a_year", _visits, 2),
    ),
    Practice(
        "simulated_vaccinated.csv",
        "Simulated vaccinations",
        "yes/no",
        _by_age("vaccinated", "", "whether one person is vaccinated"),
        lambda: _simulated("vaccinated", _vaccinated, 3),
    ),
    Practice(
        "simulated_wages_of_people.csv",
        "Simulated wages by sex, several rows a person",
        "amount",
        _by_age("wage_an_hour", "€", "one person's wages", low=0.0, high=80.0)
        | {"whose": "column", "person": "person"}
        | {"x": ["age_years", "sex"], "holds_sex": "groups", "levels_sex": "woman, man"},
        _wages_of_people,
    ),
    Practice("simulated_daily_visits.csv", "Simulated daily visits", "count", _BY_DAY, _daily_visits),
)


@cache
def contents() -> dict[str, bytes]:
    """Return all tables by file name; they belong to nobody."""
    return {each.file: each.content() for each in TABLES}
