"""Tables as people have them, by kind: what is special about each, what is declared, what is clicked on the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np

N = 60
DAYS = ("2024-03-01", "2024-06-30")
AGES = (18.0, 80.0)
_AGE = np.random.default_rng(4).integers(18, 80, N)
_HEIGHT = np.random.default_rng(5).normal(168, 9, N).round(1)
_DATE = [date(2024, 3, 1) + timedelta(days=2 * int(i)) for i in range(N)]


@dataclass(frozen=True)
class Kind:
    """One kind of table.

    Attributes:
        content: its bytes.
        declared: what a configuration needs beside the columns of a clean table.
        clicks: what is asked on the page: values of controls, and labels of buttons that are pressed before them.
        n: complete rows.
        left_out: other rows.
    """

    content: bytes = field(repr=False)
    declared: dict[str, Any] = field(default_factory=dict)
    clicks: tuple[dict[str, Any] | str, ...] = ()
    x: str = "age"
    y: str = "height"
    n: int = N
    left_out: int = 0
    two_valued: bool = False


def table(
    header: str, *columns: Any, sep: str = ",", end: str = "\n", encoding: str = "utf-8", tail: str = ""
) -> bytes:
    rows = [sep.join(str(cell) for cell in row) for row in zip(*columns, strict=True)]
    return (end.join([header, *rows]) + end + tail).encode(encoding)


def some(values: Any, others: list[Any], every: int = 6) -> list[Any]:
    """Every sixth value replaced by one of others in turn."""
    return [others[i // every % len(others)] if i % every == 0 else value for i, value in enumerate(values)]


def by_click(content: bytes, **declared: Any) -> Kind:
    """What a configuration declares is what is chosen on the page."""
    return Kind(content, declared, (declared,))


def dated(write: Callable[[date], str], order: str, **changes: Any) -> Kind:
    """A column of dates; the page offers each order that reads them."""
    content = table("day,height", [write(day) for day in _DATE], _HEIGHT)
    return Kind(content, {"date_order": order}, ({"button": order},), x="day", **changes)


def comma(values: Any) -> list[str]:
    return [str(value).replace(".", ",") for value in values]


_WORDS = np.random.default_rng(6).choice(["yes", "no"], N)
_RESULTS = np.random.default_rng(7).choice(["positive", "negative", "invalid"], N)
_SALARY = [int(1000 * age + 250) for age in _AGE]
_EUROPE = [f"{value + 0.5:,.2f}".translate(str.maketrans(",.", ".,")) for value in _SALARY]

KINDS: dict[str, Kind] = {
    "plain": Kind(table("age,height", _AGE, _HEIGHT)),
    "semicolons and decimal points": Kind(table("id;age;height", range(N), _AGE, _HEIGHT, sep=";")),
    "semicolons and decimal commas": by_click(
        table("id;age;height", range(N), _AGE, comma(_HEIGHT), sep=";"), numbers="1234,5"
    ),
    "tabs": Kind(table("age\theight", _AGE, _HEIGHT, sep="\t")),
    "bars": Kind(table("age|height", _AGE, _HEIGHT, sep="|")),
    "spaces": Kind(table("age   height", [f" {age}" for age in _AGE], _HEIGHT, sep="   ")),
    "a hint for spreadsheets": Kind(b"sep=;\r\n" + table("age;height", _AGE, _HEIGHT, sep=";", end="\r\n")),
    "line ends of old Macintoshes": Kind(table("age,height", _AGE, _HEIGHT, end="\r")),
    "quoted names": Kind(table('"age", "height"', _AGE, _HEIGHT)),
    "Latin-1 in an unused column": Kind(
        table("age,height,Temperature(°C)", _AGE, _HEIGHT, _AGE, encoding="latin-1"),
        {"encoding": "latin-1"},
        ({"encoding": "Latin-1"},),
    ),
    "UTF-16": Kind(table("age,height,°C", _AGE, _HEIGHT, _AGE, encoding="utf-16")),
    "UTF-8 with a mark": Kind(table("age,height,°C", _AGE, _HEIGHT, _AGE, encoding="utf-8-sig")),
    "day/month/year": dated(lambda day: f"{day.day}/{day:%m/%Y}", "day/month/year"),
    "month/day/year": dated(lambda day: f"{day.month}/{day.day}/{day.year} 08:30 PM", "month/day/year"),
    "day.month.year of two digits": dated(lambda day: f"{day:%d.%m.%y}", "day/month/year"),
    "names of months": dated(lambda day: f"{day:%d-%b-%Y}", "day/month/year"),
    "time stamps": dated(lambda day: datetime(day.year, day.month, day.day, 8, 30).isoformat() + "Z", "year-month-day"),
    "yes and no": Kind(
        table("age,height", _AGE, _WORDS), {"yes": "yes", "no": "no"}, ({"yes": "yes"},), two_valued=True
    ),
    "three words": Kind(
        table("age,height", _AGE, _RESULTS),
        {"yes": "positive", "no": "negative"},
        ({"yes": "positive"}, {"no": "negative"}),
        n=int((_RESULTS != "invalid").sum()),
        left_out=int((_RESULTS == "invalid").sum()),
        two_valued=True,
    ),
    "codes of yes and no": Kind(
        table("age,height", _AGE, np.where(_WORDS == "yes", 1, 2)),
        {"yes": 1, "no": 2},
        ({"yes": "1"},),
        two_valued=True,
    ),
    "words for missing": Kind(
        table("age,height", _AGE, some(_HEIGHT, ["N/A", "NA", "", "Unknown", "NaN", "null"])),
        {"missing": []},
        ({"missing": ["an empty cell, NA and the like"]},),
        n=50,
        left_out=10,
    ),
    "another word for missing": Kind(
        table("age,height", some(_AGE, [""], 20), some(_HEIGHT, ["refused"], 30)),
        {"missing": ["Refused"]},
        ({"missing": ["an empty cell, NA and the like", "refused"]},),
        n=56,
        left_out=4,
    ),
    "codes for missing": Kind(
        table("age,height", _AGE, some(_HEIGHT, ["-999", "-999.0"])),
        {"missing": [-999]},
        ({"missing": ["-999"]},),
        n=50,
        left_out=10,
    ),
    "thousands": Kind(
        table("age,height", _AGE, [f'"{value:,}"' for value in _SALARY]),
        {"numbers": "1,234.5"},
        ({"reading": "1,234.5"},),
    ),
    "thousands in Europe": by_click(table("age;height", _AGE, _EUROPE, sep=";"), numbers="1.234,5"),
    "thousands with spaces": by_click(
        table("age;height", _AGE, [f"{value:,},5".replace(",", "\u00a0", 1) for value in _SALARY], sep=";"),
        numbers="1 234,5",
    ),
    "a currency": Kind(table("age,height", _AGE, [f"$ {value}.50" for value in _SALARY])),
    "an empty tail": Kind(
        table("age;height;;", _AGE, _HEIGHT, [""] * N, [""] * N, sep=";", tail=";;;\n" * 20 + "\n\n")
    ),
    "nameless and twin columns": Kind(table(",age,note,note,height", range(N), _AGE, ["x"] * N, ["y"] * N, _HEIGHT)),
}
