import pytest

from dpgp_core.dates import Dates
from dpgp_core.release.figure import MOST, are_years, marks

DAY = Dates(name="day", first="2019-03-15")


def test_numbers_are_round():
    assert marks(0.0, 100.0) == [(0.0, "0"), (20.0, "20"), (40.0, "40"), (60.0, "60"), (80.0, "80"), (100.0, "100")]


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
    assert 1 <= len(found) <= MOST
    assert all(DAY.day(place).isoformat().startswith(text) for place, text in found)
    assert all(0 <= place <= days for place, _ in found)


@pytest.mark.parametrize("days", [*range(1, 900, 7), 4000, 40_000, 400_000, 2_900_000])
def test_every_length_has_a_few_marks(days):
    assert 1 <= len(marks(0.0, float(days), Dates(name="day", first="0001-03-15"))) <= MOST


def test_years_and_counts_have_marks_at_whole_numbers_alone():
    assert marks(1984.0, 1986.0, whole=True) == [(1984.0, "1984"), (1985.0, "1985"), (1986.0, "1986")]
    assert (1984.5, "1984.5") in marks(1984.0, 1986.0)
    assert [text for _, text in marks(1900.0, 2000.0, whole=True)] == ["1900", "1920", "1940", "1960", "1980", "2000"]


@pytest.mark.parametrize(
    ("name", "unit", "side", "years"),
    [
        ("year", "", (1984.0, 1988.0), True),
        ("t", "years", (1984.0, 1988.0), True),
        ("age", "years", (0.0, 100.0), False),
        ("price", "", (1000.0, 2000.0), False),
        ("year", "", (0.0, 2000.0), False),
    ],
)
def test_an_input_of_years_is_known_by_its_name_or_unit_and_its_box(name, unit, side, years):
    assert are_years(name, unit, side) is years
