from datetime import date, timedelta

import numpy as np
import pytest

from dpgp_core.dates import FORMATS, Dates, looks_like_a_date, parsed, written

SECRET = "73"


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("first", ["2016-02-28", "1900-01-01", "0001-01-01"])
def test_every_day_goes_there_and_back(first, format):
    dates = Dates(name="day", first=first, format=format)
    for days in (0, 1, 2, 59, 365, 366, 36525):
        assert dates.read(dates.text(days), "day", 2) == days
        assert dates.day(days) == date.fromisoformat(first) + timedelta(days=days)


def test_days_before_the_first_are_negative_and_places_between_days_go_to_the_nearest():
    dates = Dates(name="day", first="2020-03-01")
    assert dates.read("2020-02-29", "day", 2) == -1
    assert [dates.text(days) for days in (0.49, 0.51, -0.2)] == ["2020-03-01", "2020-03-02", "2020-03-01"]


@pytest.mark.parametrize(
    ("cell", "format", "found"),
    [
        ("2024-02-29", "iso", date(2024, 2, 29)),
        (" 2024-02-29 ", "iso", date(2024, 2, 29)),
        ("1.3.2024", "day.month.year", date(2024, 3, 1)),
        ("01.03.2024", "day.month.year", date(2024, 3, 1)),
        ("2023-02-29", "iso", None),
        ("20240229", "iso", None),
        ("2024-W09-4", "iso", None),
        ("2024-2-29", "iso", None),
        ("24-02-29", "iso", None),
        ("2024-02-29T00:00", "iso", None),
        ("2024-03-01", "day.month.year", None),
        ("1.3.24", "day.month.year", None),
        ("3/1/2024", "iso", None),
        ("２０２４-02-29", "iso", None),
        ("0000-01-01", "iso", None),
    ],
)
def test_a_date_is_read_in_the_declared_way_alone(cell, format, found):
    assert parsed(cell, format) == found
    assert found is None or parsed(written(found, format), format) == found


@pytest.mark.parametrize(
    ("cell", "format", "said"),
    [
        ("", "iso", "an empty cell in line 9 of the file; correct or remove that row"),
        ("14.12.1973", "iso", "a date written like 01.03.2024 in line 9 of the file; declare dates as day.month.year"),
        ("1973-12-14", "day.month.year", "a date written like 2024-03-01 in line 9 of the file; declare dates as iso"),
        ("1973-02-30", "iso", "a date that is in no calendar in line 9 of the file; correct or remove that row"),
        ("1973-02-03 07:30", "iso", "a time of day beside the date in line 9 of the file; keep the date alone"),
        ("73", "iso", "a number instead of a date in line 9 of the file; declare the column a number"),
        ("about 1973", "iso", "text instead of a date in line 9 of the file; write dates as 2024-03-01"),
    ],
)
def test_what_is_wrong_with_a_cell_is_said_with_the_remedy_and_without_the_cell(cell, format, said):
    with pytest.raises(ValueError, match=said) as caught:
        Dates(name="day", first="1970-01-01", format=format).read(cell, "day", 9)
    assert "'day'" in str(caught.value)
    assert SECRET not in str(caught.value)
    assert caught.value.__context__ is None


def test_only_the_two_ways_of_writing_look_like_a_date():
    assert looks_like_a_date("2024-03-01")
    assert looks_like_a_date("1.3.2024")
    assert not any(looks_like_a_date(cell) for cell in ("1.3", "2024", "", "1,5", "12.5.1", "age"))


@pytest.mark.parametrize(("period", "days"), [("week", 7.0), ("year", 365.2425), (28, 28.0), (None, None)])
def test_a_period_is_a_word_or_days(period, days):
    assert Dates(name="day", first="2020-01-01", period=period).period_days == days


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"first": "1.1.2020"}, "must be a date such as 2024-03-01, got '1.1.2020'"),
        ({"first": 7}, "must be a date such as"),
        ({"format": "american"}, "format of 'day' must be one of iso, day.month.year"),
        ({"period": "month"}, "period of 'day' must be \"week\", \"year\" or a number of days, got 'month'"),
        ({"period": 0.5}, "period of 'day' must lie in 2"),
        ({"period": True}, "period of 'day' must be a number"),
        ({"period": float("nan")}, "must be a finite number"),
    ],
)
def test_a_declaration_that_cannot_be_is_refused(change, said):
    with pytest.raises(ValueError, match=said):
        Dates(**{"name": "day", "first": "2020-01-01"} | change)


def test_a_declaration_is_a_key():
    one, same = (Dates(name="day", first="2020-01-01", period=7) for _ in range(2))
    assert {one: 1}[same] == 1
    assert np.isclose(Dates(name="day", first="2020-01-01", period="week").period_days, 7)
