"""Inputs that are dates, and seasons that come again."""

from datetime import date, timedelta

import numpy as np
import pytest

from dpgp_core import dates
from dpgp_core.dates import (
    FORMATS,
    ISO,
    ORDERS,
    Dates,
    example,
    has_the_form_of_a_date,
    looks_like_a_date,
    parsed,
    written,
)
from dpgp_core.kernels import EQ
from dpgp_core.seasons import YEAR, Seasonal, check_periods, check_room, lifted, lifted_box, phase_cells


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("first", ["2016-02-28", "1900-01-01", "0001-01-01"])
def test_every_day_goes_there_and_back(first, format):
    dates = Dates(name="day", first=first, format=format)
    for days in (0, 1, 2, 59, 365, 366, 36525):
        assert dates.days(dates.text(days)) == days
        assert dates.day(days) == date.fromisoformat(first) + timedelta(days=days)


def test_days_are_counted_from_the_first():
    dates = Dates(name="day", first="2020-03-01")
    assert dates.days("2020-02-29") == -1
    assert [dates.text(days) for days in (0.49, 0.51, -0.2)] == ["2020-03-01", "2020-03-02", "2020-03-01"]


@pytest.mark.parametrize(
    ("cell", "format", "found"),
    [
        ("2024-02-29", ISO, date(2024, 2, 29)),
        (" 2024/2/29 ", ISO, date(2024, 2, 29)),
        ("2024.02.29", ISO, date(2024, 2, 29)),
        ("1.3.2024", "day/month/year", date(2024, 3, 1)),
        ("01/03/2024", "day.month.year", date(2024, 3, 1)),
        ("1-3-2024", "month/day/year", date(2024, 1, 3)),
        ("1-Mar-2024", "day/month/year", date(2024, 3, 1)),
        ("1 march 24", "day/month/year", date(2024, 3, 1)),
        ("2022-05-01T08:30:00Z", ISO, date(2022, 5, 1)),
        ("2022-05-01 08:30:00.123+02:00", ISO, date(2022, 5, 1)),
        ("5/1/2022 8:30 PM", "month/day/year", date(2022, 5, 1)),
        ("1.3.69", "day/month/year", date(1969, 3, 1)),
        ("1.3.68", "day/month/year", date(2068, 3, 1)),
        ("2023-02-29", ISO, None),
        ("13/13/2024", "day/month/year", None),
        ("2024-02/29", ISO, None),
        ("20240229", ISO, date(2024, 2, 29)),
        ("2024-W09-4", ISO, date(2024, 2, 29)),
        ("2024-W09", ISO, date(2024, 2, 26)),
        ("2024-03", ISO, date(2024, 3, 1)),
        ("2024 Q2", ISO, date(2024, 4, 1)),
        ("2020-Jan-05", ISO, date(2020, 1, 5)),
        ("2024.03", ISO, None),
        ("2024-W60", ISO, None),
        ("03/2024", "day/month/year", date(2024, 3, 1)),
        ("Mar-24", "month/day/year", date(2024, 3, 1)),
        ("Q1 2020", "day/month/year", date(2020, 1, 1)),
        ("1. März 2024", "day/month/year", date(2024, 3, 1)),
        ("5 de enero de 2020", "day/month/year", date(2020, 1, 5)),
        ("14 juil. 2020", "day/month/year", date(2020, 7, 14)),
        ("1er août 2020", "day/month/year", date(2020, 8, 1)),
        ("Fri, 05 Jan 2020", "day/month/year", date(2020, 1, 5)),
        ("Friday 05/01/2020", "day/month/year", date(2020, 1, 5)),
        ("05JAN2020:08:30:00", "day/month/year", date(2020, 1, 5)),
        ("January 5, 2020", "month/day/year", date(2020, 1, 5)),
        ("Oct 1st, 2020", "month/day/year", date(2020, 10, 1)),
        ("jui 2020", "day/month/year", None),
        ("1 Mar 2024", "month/day/year", None),
        ("9" * 100, ISO, None),
        ("24-02-29", ISO, None),
        ("2024-02-29T", ISO, None),
        ("2024-02-29 noon", ISO, None),
        ("2024-03-01", "day/month/year", None),
        ("３/1/2024", "month/day/year", None),
        ("0000-01-01", ISO, None),
        ("1-foo-2024", "day/month/year", None),
    ],
)
def test_dates_are_read_only_as_declared(cell, format, found):
    assert parsed(cell, format) == found
    assert found is None or parsed(written(found, format), format) == found


def test_two_digit_years_are_the_earliest_possible():
    assert Dates(name="born", first="1930-06-01", format="day/month/year").day(
        Dates(name="born", first="1930-06-01", format="day/month/year").days("1/3/55")
    ) == date(1955, 3, 1)
    assert parsed("1/3/29", "day/month/year", date(1930, 6, 1)) == date(2029, 3, 1)


def test_an_example_has_the_declared_format():
    assert [example(format) for format in ORDERS] == ["2024-03-31", "31/03/2024", "03/31/2024"]


def test_only_complete_dates_look_like_dates():
    assert all(looks_like_a_date(cell) for cell in ("2024-03-01", "1.3.2024", "12/31/24 08:00"))
    assert looks_like_a_date("Jan 2020")
    assert not looks_like_a_date("Jan 2020", whole=True)
    assert not any(looks_like_a_date(cell) for cell in ("1.3", "2024", "", "1,5", "12.5.1", "age", "31/31/2024"))
    assert has_the_form_of_a_date("31/31/2024")


@pytest.mark.parametrize(("period", "days"), [("week", 7.0), ("year", 365.2425), (28, 28.0), (None, None)])
def test_a_period_is_a_word_or_days(period, days):
    assert Dates(name="day", first="2020-01-01", period=period).period_days == days


def test_a_declaration_is_a_key():
    one, same = (Dates(name="day", first="2020-01-01", period=7) for _ in range(2))
    assert {one: 1}[same] == 1


@pytest.mark.parametrize("cell", ["2024-03/01", "2024-13-45", "1 Blursday 2024", "99/99/99 25:61", "2024-W99"])
def test_the_joint_pattern_accepts_every_form(cell):
    forms = [form for order in ORDERS for form in dates._forms(order.split("-")[0].split("/")[0], whole=False)]
    assert has_the_form_of_a_date(cell) == any(form.fullmatch(cell) for form in forms) == (cell != "2024-03/01")


PERIODS = (None, 7.0)


@pytest.fixture(scope="module")
def kernel():
    trend = EQ(variance=0.5, lengthscale=[3.0, 40.0])
    return Seasonal(trend=trend, periods=PERIODS, wave=0.8, slow=(5.0, 60.0), smooth=0.7)


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).uniform([0, 0], [10, 100], (60, 2))


def test_the_periodic_component_follows_mackay(kernel, X):
    d = X[:, None] - X[None]
    slow = np.exp(-0.5 * ((d[..., 0] / 5) ** 2 + (d[..., 1] / 60) ** 2))
    wave = np.exp(-2 * np.sin(np.pi * d[..., 1] / 7) ** 2 / 0.7**2)
    np.testing.assert_allclose(kernel(X, X), kernel.trend(X, X) + 0.8 * slow * wave, atol=1e-12)


def test_lifted_inputs_give_the_same_covariances(kernel, X):
    up = lifted(X, PERIODS)
    assert up.shape == (60, 3)
    np.testing.assert_allclose(kernel(up, X), kernel(X, X), atol=1e-12)
    np.testing.assert_array_equal(lifted(up, PERIODS), up)
    np.testing.assert_array_equal(lifted(X, ()), X)


def test_periodic_covariances_are_positive_definite(kernel, X):
    K = kernel(X, X)
    assert np.linalg.eigvalsh(K).min() > -1e-10
    np.testing.assert_allclose(K.diagonal(), kernel.diagonal(X))
    assert kernel.variance == pytest.approx(1.3)
    assert kernel.diagonal(X).shape == (60,)


def test_whole_days_are_in_the_middle_of_cells():
    phases = lifted(np.arange(14.0)[:, None], (7.0,))[:, 1]
    np.testing.assert_allclose(phases, np.tile(np.arange(7) + 0.5, 2))


def test_periods_have_at_most_twelve_cells():
    assert lifted_box([(0.0, 5.0), (0.0, 9.0)], (None, YEAR)) == ((0.0, 5.0), (0.0, 9.0), (0.0, YEAR))
    assert phase_cells((7.0, YEAR, None, 2.0)) == (7, 12, 2)


def test_periods_must_fit_into_the_box():
    assert check_periods([None, None], 2) == check_periods(None, 3) == ()
    assert check_periods([None, 7], 2) == (None, 7.0)
    check_room("a year", YEAR, (0.0, 731.0))
