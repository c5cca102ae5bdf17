import io

import numpy as np
import pytest

from dpgp_core.dates import Dates
from dpgp_core.reading.csv_file import read_csv
from dpgp_core.table import declared_columns

YEARS = ("2019-01-01", "2023-12-31")
DECLARED = {"y": "visits", "y_bounds": (0, 60)}


def date_inputs(names, box, said=None, *, order=None):
    """The dates among some inputs, and the box."""
    columns = declared_columns(names, box, dates=said, order=order)
    return tuple(each.dates for each in columns if each.dates), tuple(each.box for each in columns)


def test_two_dates_as_a_side_of_the_box_make_an_input_one_of_dates():
    dates, box = date_inputs(("age", "day"), ((0, 90), YEARS))
    assert dates == (Dates(name="day", first="2019-01-01"),)
    assert box == ((0, 90), (0.0, 1825.0))


def test_more_is_said_by_name_and_what_was_found_is_taken_again():
    said = {"day": {"format": "day.month.year", "period": "year"}}
    dates, box = date_inputs(("day",), (YEARS,), said)
    assert dates == (Dates(name="day", first="2019-01-01", format="day.month.year", period="year"),)
    assert date_inputs(("day",), box, dates) == (dates, box)
    assert date_inputs(("day",), (("2018-01-01", "2023-12-31"),), dates)[0][0].period == "year"
    assert date_inputs(("age",), ((0, 90),)) == ((), ((0, 90),))


@pytest.mark.parametrize(
    ("box", "said", "sentence"),
    [
        ((0, 9), {"day": {}}, "x_box of 'day', which is declared a date, must be two dates such as 2024-03-31"),
        (YEARS, {"date": {}}, "dates speak of 'date', which is no input"),
        (YEARS, {"day": {"unit": "days"}}, "dates of 'day' must be an object with format or period"),
        (YEARS, {"day": "iso"}, "dates of 'day' must be an object"),
        (YEARS, {"day": {"format": 3}}, "format of 'day' must be one of year-month-day, day/month/year"),
        (YEARS, {"day": {"period": 1000}}, "comes less than 2 times in a box of width 1825"),
        (YEARS, [1], "dates must be an object that names inputs"),
        (YEARS[::-1], None, r"must be \[first, last\], got \[2023-12-31, 2019-01-01\]; swap or widen them"),
        (("2019-01-01", 5), None, "each end of x_box of 'day' must be a date such as 2024-03-01, got 5"),
        (("2019-01-01", "31.12.2019"), None, "must be a date such as 2024-03-01, got '31.12.2019'"),
        (("2019-01-01",), None, "must be two dates .*, got 1 entries"),
    ],
)
def test_what_cannot_be_is_refused_with_the_remedy(box, said, sentence):
    with pytest.raises(ValueError, match=sentence):
        date_inputs(("day",), (box,), said)


def test_a_table_with_dates_is_read_as_days_and_its_units_say_since_when():
    data = read_csv(io.BytesIO(b"day,visits\n2019-01-01,4\n2020-02-29,5\n"), x=["day"], x_box=[YEARS], **DECLARED)
    np.testing.assert_array_equal(data.X[:, 0], [0, 424])
    assert data.x_box == ((0.0, 1825.0),)
    assert data.x_units == ("days since 2019-01-01",)


def test_the_order_of_dates_is_declared():
    table = b"day;visits\n1.1.2019;4\n29/2/2020 8:30;5\n"
    data = read_csv(io.BytesIO(table), x=["day"], x_box=[YEARS], date_order="day/month/year", **DECLARED)
    np.testing.assert_array_equal(data.X[:, 0], [0, 424])
    with pytest.raises(ValueError, match=r"a date in another order in 2 of 2 rows, .*; declare date_order \"day/month"):
        read_csv(io.BytesIO(table), x=["day"], x_box=[YEARS], **DECLARED)


@pytest.mark.parametrize(
    ("cell", "wrong"),
    [
        ("27.6.2021", "a date in another order"),
        ("2021-06-31", "a date that is in no calendar"),
        ("27621", "a number instead of a date"),
        ("the 27th of June", "text instead of a date"),
    ],
)
def test_a_refused_date_is_not_shown(cell, wrong):
    table = f"day,visits\n2019-01-01,4\n{cell},5\n".encode()
    with pytest.raises(ValueError, match=f"^column 'day' has {wrong}.* in line 3 of the file; ") as caught:
        read_csv(io.BytesIO(table), x=["day"], x_box=[YEARS], **DECLARED)
    assert cell not in str(caught.value)
    assert caught.value.__context__ is None


def test_what_is_said_of_an_input_goes_before_the_order_of_all():
    of_one, _ = date_inputs(("a", "b"), (YEARS, YEARS), {"b": {"format": "month.day.year"}}, order="day/month/year")
    assert [each.format for each in of_one] == ["day/month/year", "month.day.year"]


def test_days_outside_the_box_are_counted_with_the_box_in_dates():
    table = b"day,visits\n2019-01-01,4\n2018-12-31,5\n"
    with pytest.raises(ValueError, match=r"1 of 2 rows have 'day' outside its x_box \(2019-01-01, 2023-12-31\)"):
        read_csv(io.BytesIO(table), x=["day"], x_box=[YEARS], **DECLARED)
