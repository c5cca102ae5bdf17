"""What Bayes cloaking measures, on How cloaking works: the plan of the mechanism itself, and public."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import datasets
from dpgp_core.mechanisms import BayesCloaking
from pages._ui.cloaking import computed, staged
from pages._ui.hiding import measured
from pages._ui.model import PICTURE_GAP, Budget
from tests.pages.reading import numbers, page_text, traces

PAGE, ROWS, RANKS, SPLIT = "how_cloaking_works", 0, 1, 2  # charts of the page
BUDGET = Budget("kung", "records", 1.0, 1e-5)


@pytest.fixture(scope="module")
def kung():
    return datasets.load("kung")


def described(data, budget=BUDGET):
    return measured.describe(data, staged.plan_stages(data, computed.scene("kung"), budget), budget)


@pytest.fixture(scope="module")
def plan(kung):
    return described(kung)


def test_the_rows_drawn_are_those_that_the_mechanism_plans(open_page, kung, plan):
    app = open_page(PAGE, step="measured", stage="3")
    planned = BayesCloaking(epsilon=1.0, delta=1e-5, gap=PICTURE_GAP).plan(
        kung.X, kung.X, x_box=kung.x_box, half_range=kung.output_range / kung.y_scale / 2
    )
    B = planned.stages[2].planned.B
    assert plan.ranks == tuple(stage.planned.rank for stage in planned.stages)
    assert (B**2).sum(axis=0).max() <= 1
    drawn, order = traces(app, ROWS), np.argsort(kung.X[:, 0], kind="stable")
    for index in range(4):
        row = numbers(drawn[f"number {index + 1}"]["y"])
        assert min(np.abs(row - sign * B[index, order]).max() for sign in (-1, 1)) < 1e-4
        assert row.max() >= -row.min()
    assert f"stage 3, which measures {len(B)} sums of 287 people" in "".join(each.value for each in app.caption)


def test_nothing_depends_on_an_output(kung, plan):
    other = described(replace(kung, y=kung.y[::-1].copy()))
    assert all(np.array_equal(one, two) for one, two in zip(plan.strategies, other.strategies, strict=True))
    assert np.array_equal(plan.expected, other.expected)
    assert plan.unbuyable == other.unbuyable


@pytest.mark.full
def test_more_epsilon_measures_more_and_what_no_budget_buys_stays(kung, plan):
    low, high = (described(kung, replace(BUDGET, epsilon=epsilon)) for epsilon in (0.2, 5.0))
    assert sum(low.ranks) < sum(plan.ranks) < sum(high.ranks)
    assert low.unbuyable == plan.unbuyable == high.unbuyable
    assert low.unmeasured > low.error > 1.2 * plan.error > 1.5 * high.error > 1.5 * plan.unbuyable
    assert np.all(np.diff(plan.expected) < 0)
    for each in (low, plan, high):
        assert each.price**2 + each.unbuyable**2 == pytest.approx(each.error**2)


def test_figures_and_sentences_say_the_same(open_page, plan):
    app = open_page(PAGE, step="measured", more_measured="true")
    shown = page_text(app)
    assert f"**{sum(plan.ranks)} noisy sums** of heights, in {len(plan.ranks)} stages" in shown
    bars = traces(app, RANKS)
    here = list(bars["stage 1"]["x"]).index("1")
    assert [numbers(bars[f"stage {stage}"]["y"])[here] for stage in range(1, len(plan.ranks) + 1)] == list(plan.ranks)
    drawn = traces(app, SPLIT)
    assert numbers(drawn["with privacy"]["y"])[here] == pytest.approx(plan.error, rel=0.01)
    assert numbers(drawn["no budget buys"]["y"]) == pytest.approx(plan.unbuyable)
    metrics = {metric.label: metric.value for metric in app.metric}
    for label, value in (("Expected error of the curve", plan.error), ("No budget buys", plan.unbuyable)):
        assert float(re.match(r"[\d.]+", metrics[label])[0]) == pytest.approx(value, rel=0.05)


def test_an_epsilon_beyond_the_grid_joins_it(open_page):
    app = open_page(PAGE, step="measured", more_measured="true", epsilon="50", dataset="toy_1d")
    assert not app.exception
    assert list(traces(app, RANKS)["stage 1"]["x"])[-1] == "50"
