import pytest

from dpgp_core.dates import Dates
from dpgp_core.release.handout.ticks import MOST, marks

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
