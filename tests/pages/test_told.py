"""A picture is told in words with its values and how they run: on Compare, Lengthscale choice and Explore."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pages._ui.compare.contenders import CONTENDERS
from pages._ui.compare.view import FIRST
from pages._ui.look import text
from tests.pages.reading import numbers, traces


def captions(app):
    return " ".join(each.value for each in app.caption)


def chart(app, name):
    """The traces of the chart that has one of this name."""
    found = (traces(app, at) for at in range(len(app.get("plotly_chart"))))
    return next(each for each in found if name in each)


@pytest.mark.full
def test_compare_tells_each_curve_at_three_budgets(seen):
    app = seen("compare")
    said = captions(app)
    drawn = traces(app)
    for name in FIRST:
        title = CONTENDERS[name].title
        x, y = (numbers(drawn[title][along]) for along in "xy")
        run = ", ".join(text.number(float(y[np.flatnonzero(x == at)[0]])) for at in (0.1, 1, 100))
        assert f"{title} {run}" in said
    assert re.search(r"Without privacy: [\d.]+ cm\.", said)


def test_lengthscale_choice_tells_the_likeliest_and_how_errors_run(seen):
    app = seen("lengthscale_choice")
    said = captions(app)
    assert re.search(r"Most often \[years\]: without privacy noise \d+ in [\d.]+ % \(★ \d+\); at ε 1 \d+ in", said)
    error = chart(app, "this lengthscale")["this lengthscale"]
    x, y = numbers(error["x"]), numbers(error["y"])
    at = int(y.argmin())
    assert f"{text.number(y[0])} cm at {x[0]:g} years, least, {text.number(y[at])} cm, at {x[at]:g}" in said


def test_explore_tells_where_the_curve_begins_goes_and_ends(seen):
    app = seen("explore_release")
    said, curve = captions(app), numbers(traces(app)["average of all models"]["y"])
    found = re.search(r"It is ([\d.]+) at 0 years, ([\d.]+) at [\d.]+ years and ([\d.]+) at 100 years \[cm\]", said)
    told = [float(each) for each in found.groups()]
    np.testing.assert_allclose(told, curve[[0, len(curve) // 3, -1]], atol=0.6)
    assert re.search(r"its range is ± [\d.]+ at [\d.]+ years and [\d.]+ at [\d.]+ years", said)


@pytest.mark.parametrize(
    ("address", "pattern"),
    [
        (
            {"explore_shown": "threshold"},
            r"It is [\d.]+ at 0 years, [\d.]+ at [\d.]+ years and [\d.]+ at 100 years \[%\]",
        ),
        ({"explore_shown": "centiles"}, r"Middle line: [\d.]+ at 0 years.*outermost lines [\d.]+ at"),
        ({"explore_example": "kung_sexes"}, r"women and girls: [\d.]+ at 0 years.*men and boys: [\d.]+ at 0 years"),
        (
            {"explore_example": "kung_sexes", "explore_shown": "difference"},
            r"It is -?[\d.]+ at 0 years, .*its range is ±",
        ),
    ],
    ids=["level", "centiles", "groups", "difference"],
)
def test_explore_tells_every_view(seen, address, pattern):
    app = seen("explore_release", **address)
    assert not app.exception
    assert re.search(pattern, captions(app)), captions(app)
