"""A numbered draw is one draw: it depends on its number and the settings, and on nothing that is shown beside it."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.measurement.noise import Apart
from pages._ui.cloaking import computed, staged
from pages._ui.cloaking.results import Draws
from pages._ui.excursion import compute as excursion
from pages._ui.excursion.compute import View
from pages._ui.explore import statistic as exploring
from pages._ui.explore.statistic import Refit, Teaching
from pages._ui.look import offers
from pages._ui.model import Budget, Design, Draw, usual
from tests.pages.reading import numbers

KUNG = [name for name in offers.MECHANISM.titles if name in offers.mechanisms("kung")]


def shown(name: str, mechanism: str, first: int, count: int):
    draw = Draw(1.0, offers.DELTA, draws=count, seed=first)
    return computed.run(usual(name), Design(mechanism), draw)


@pytest.mark.parametrize("mechanism", KUNG)
def test_a_draw_of_a_curve_is_the_same_beside_any_others(mechanism):
    alone = {number: shown("kung", mechanism, number, 1) for number in (1, 2, 5)}
    for first, count in ((1, 2), (1, 3), (1, 5), (2, 5), (1, 20)):
        together = shown("kung", mechanism, first, count)
        for number, one in alone.items():
            if first <= number < first + count:
                at = number - first
                np.testing.assert_allclose(together.outcome.samples[at], one.outcome.samples[0], atol=1e-6)
                for ends, own in ((together.intervals.curve, one.intervals.curve),):
                    np.testing.assert_allclose(ends.of(at), own.of(0), atol=1e-5)


@pytest.mark.parametrize("mechanism", ["refined", pytest.param("bayes", marks=pytest.mark.full)])
def test_a_draw_of_a_map_is_the_same_beside_any_others(mechanism):
    one, several = shown("london_hexes", mechanism, 1, 1), shown("london_hexes", mechanism, 1, 5)
    np.testing.assert_allclose(several.outcome.samples[0], one.outcome.samples[0], atol=1e-6)


def test_a_growth_chart_is_of_the_first_draw_whatever_is_beside_it():
    one, several = (computed.growth_of(shown("kung", "bayes", 1, count)) for count in (1, 5))
    np.testing.assert_allclose(several.values, one.values, atol=1e-5)


def test_draws_that_do_not_fit_into_memory_together_are_the_same_one_by_one(monkeypatch):
    budget = Budget("kung", "records", 1.0, offers.DELTA)
    data, scene = computed.cached.dataset("kung"), computed.scene("kung")
    plan, draws = computed.plan_of(budget), Draws(budget, 1, 3)
    together = staged.measure(data, scene, plan, draws)
    generator = staged.NumberedDraws

    def refusing(first, count):
        if count > 1:
            raise Apart("too many")
        return generator(first, count)

    monkeypatch.setattr(staged, "NumberedDraws", refusing)
    apart = staged.measure(data, scene, plan, draws)
    assert apart.guarantee.budget == together.guarantee.budget
    assert apart.guarantee.releases == together.guarantee.releases == 3
    for one, other in zip(apart.measured.stages, together.measured.stages, strict=True):
        np.testing.assert_allclose(one.z, other.z, atol=1e-6)


@pytest.mark.parametrize("study", ["curve"])
def test_a_path_is_the_same_beside_any_others(study):
    view = View(study, 0.3, 8.0, 0.05, 1, 0.0, 0.0, 0.3, 1e-4, 1)
    one, three, many = (excursion.explored(replace(view, L=count)).paths for count in (1, 3, 10))
    np.testing.assert_allclose(three[0], one[0], atol=1e-9)
    np.testing.assert_allclose(many[:3], three, atol=1e-9)


def first_published(app):
    drawn = json.loads(app.get("plotly_chart")[0].proto.spec)["data"]
    return numbers(next(trace for trace in drawn if trace.get("name") == "published curve")["y"])


def test_pages_show_it_so(seen):
    curves = [first_published(seen("kung_curves", mechanism="refined", draws=count)) for count in ("1", "2", "3", "5")]
    for curve in curves[1:]:
        np.testing.assert_allclose(curve, curves[0], atol=1e-6)
    table = seen("kung_curves", mechanism="refined", draws="3").dataframe[0].value
    second = seen("kung_curves", mechanism="refined", draw="2").dataframe[0].value
    columns = [[name for name in each if "published curve" in name] for each in (table, second)]
    np.testing.assert_allclose(table[columns[0][1]], second[columns[1][0]], atol=2e-4)


def test_the_page_that_explores_has_the_draw_of_the_page_that_shows_it():
    explored = exploring.teaching(Teaching("kung", 1.0, offers.DELTA, 3))
    shown_there = shown("kung", "bayes", 3, 1)
    data = shown_there.dataset
    stages = zip(explored.statistics.stages, shown_there.numbers.measured.stages, strict=True)
    for stage, seen_there in stages:
        np.testing.assert_allclose(stage.z, seen_there.z[0])
    curve = exploring.refitted(Teaching("kung", 1.0, offers.DELTA, 3), Refit("EQ", 50))
    grid = slice(shown_there.outcome.scene.records, None)
    there = np.interp(
        curve.X_test[:, 0], shown_there.outcome.scene.X_test[grid, 0], shown_there.outcome.samples[0, grid]
    )
    inside = (curve.X_test[:, 0] > 5) & (curve.X_test[:, 0] < 70)
    assert np.abs(curve.curve() - there)[inside].mean() < 3.0  # cm: the same numbers, read with other models
    assert data.y_unit == "cm"


def test_the_likeliest_lengthscale_has_one_probability_on_both_pages(seen):
    chosen = seen("lengthscale_choice", epsilon="1")
    said = next(each.value for each in chosen.caption if "How probable each lengthscale" in each.value)
    length, probability = re.search(r"\)\. ([\d.]+ years) has ([\d.]+ %)", said).groups()
    tile = next(each for each in seen("explore_release", epsilon="1").metric if each.label == "Likeliest lengthscale")
    assert (tile.value, tile.delta) == (length, probability)
