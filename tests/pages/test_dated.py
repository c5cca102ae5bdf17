"""Axes of pages in dates."""

from __future__ import annotations

import plotly.graph_objects as go
import pytest

from dpgp_core.dates import Dates
from pages._ui.look.plots import dates_of, mark_dates, unit_of_length


def test_a_unit_says_since_when_days_count():
    assert dates_of("days since 2019-01-01") == Dates(name="input", first="2019-01-01")
    assert [dates_of(unit) for unit in ("days", "", "days since 2019-02-30", "days since when")] == [None] * 4


@pytest.mark.parametrize("along", ["x", "y"])
def test_marks_are_dates_and_a_numbers_axis_stays(along):
    figure = go.Figure()
    mark_dates(figure, "day", None, (0.0, 1825.0), along)
    assert figure.layout == go.Figure().layout
    mark_dates(figure, "day", dates_of("days since 2019-01-01"), (0.0, 1825.0), along)
    axis = figure.layout[f"{along}axis"]
    assert axis.title.text == "day"
    assert axis.ticktext == ("2019", "2020", "2021", "2022", "2023")
    assert axis.tickvals == (0, 365, 731, 1096, 1461)


def test_days_that_no_calendar_has_stay_numbers():
    figure = mark_dates(go.Figure(), "day", dates_of("days since 2019-01-01"), (0.0, 1e12))
    assert figure.layout == go.Figure().layout


def test_a_distance_between_dates_is_in_days():
    assert [unit_of_length(unit) for unit in ("days since 2019-01-01", "cm", "")] == ["days", "cm", ""]
