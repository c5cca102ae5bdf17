"""Tick marks are few and round, of numbers, whole numbers, years and dates."""

import pytest

from dpgp_core.dates import Dates
from dpgp_core.figures.ticks import MOST, are_years, dates_of, marks

DAY = Dates(name="day", first="2019-03-15")


@pytest.mark.parametrize(
    ("days", "texts"),
    [
        (3, ["2019-03-15", "2019-03-16", "2019-03-17", "2019-03-18"]),
        (45, ["2019-03-15", "2019-03-25", "2019-04-04", "2019-04-14", "2019-04-24"]),
        (140, ["2019-04", "2019-05", "2019-06", "2019-07", "2019-08"]),
        (500, ["2019-07", "2020-01", "2020-07"]),
        (1825, ["2020", "2021", "2022", "2023", "2024"]),
        (5000, ["2020", "2025", "2030"]),
    ],
)
def test_dates_have_first_days_of_months_or_years(days, texts):
    found = marks(0.0, float(days), DAY)
    assert [text for _, text in found] == texts
    assert all(DAY.day(place).isoformat().startswith(text) and 0 <= place <= days for place, text in found)


def test_every_length_of_dates_has_a_few_marks():
    for days in (*range(1, 900, 7), 4000, 40_000, 400_000, 2_900_000):
        assert 1 <= len(marks(0.0, float(days), Dates(name="day", first="0001-03-15"))) <= MOST


def test_numbers_are_round_and_years_and_counts_whole():
    assert marks(0.0, 100.0) == [(each, f"{each:g}") for each in (0.0, 20.0, 40.0, 60.0, 80.0, 100.0)]
    assert marks(1984.0, 1986.0, whole=True) == [(1984.0, "1984"), (1985.0, "1985"), (1986.0, "1986")]
    assert (1984.5, "1984.5") in marks(1984.0, 1986.0)
    assert [text for _, text in marks(1900.0, 2000.0, whole=True)] == ["1900", "1920", "1940", "1960", "1980", "2000"]
    assert are_years("year", "", (1984.0, 1988.0))
    assert are_years("t", "years", (1984.0, 1988.0))
    assert not are_years("age", "years", (0.0, 100.0))
    assert not are_years("price", "", (1000.0, 2000.0))
    assert not are_years("year", "", (0.0, 2000.0))


def test_dates_are_recognised_by_their_unit():
    assert dates_of("days since 2019-03-15") == Dates(name="input", first="2019-03-15")
    assert dates_of("years") is None
    assert dates_of("days since 2019-13-15") is None
