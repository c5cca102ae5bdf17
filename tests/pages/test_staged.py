"""Bayes cloaking on the pages that draw a release."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.bayes.models import weights_of
from dpgp_core.bayes.stages import rescaled
from dpgp_core.measurement.noise import NumberedDraws
from dpgp_core.mechanisms import BayesCloaking
from pages._ui.cloaking import computed, results, staged
from pages._ui.cloaking.results import LEVEL
from pages._ui.look import offers
from pages._ui.model import Budget, Design, Draw, Model
from tests.pages.reading import page_text

KUNG = Model("kung", "EQ", 25.0, 0.3)
WORLDS = 60
DRAW = Draw(epsilon=1.0, delta=offers.DELTA, draws=2, seed=3)
BUDGET = Budget("kung", "records", DRAW.epsilon, DRAW.delta)
MECHANISM = BayesCloaking(epsilon=DRAW.epsilon, delta=DRAW.delta)


@pytest.fixture(scope="module")
def result():
    return computed.run(KUNG, Design(), DRAW)


@pytest.fixture(scope="module")
def plan(result):
    return staged.plan_stages(result.dataset, result.outcome.scene, BUDGET)


def test_numbers_read_with_the_automatic_models_are_a_release_of_the_core(result, plan, monkeypatch):
    data, scene = result.dataset, result.outcome.scene
    release = MECHANISM.measure(plan, data, scene.X_test, NumberedDraws(DRAW.seed, 1), 1)
    both = staged.measure(data, scene, plan, results.Draws(BUDGET, DRAW.seed, DRAW.draws))
    assert both.guarantee == result.outcome.guarantee
    numbers = staged.measure(data, scene, plan, results.Draws(BUDGET, DRAW.seed, 1))
    assert numbers.guarantee == release.guarantee
    monkeypatch.setattr(staged, "models", lambda *_: plan.models)
    found = staged.read(data, scene.X_test, plan, numbers, KUNG)
    np.testing.assert_allclose(found.values, release.samples, rtol=1e-7)
    for of in ("outputs", "function"):
        np.testing.assert_allclose(found.interval(LEVEL, of), release.interval(LEVEL, of), rtol=1e-7)


def test_the_page_s_model_reads_among_others_and_the_numbers_stay(result):
    other = computed.run(replace(KUNG, lengthscale=5.0), Design(), DRAW)
    kernels = [model.kernel for model in other.plan.models]
    assert Model("kung", "EQ", 5.0, 0.3).build() in kernels
    automatic = result.plan.models  # untouched, the page's model joins none
    assert len(automatic) == 20
    assert len(kernels) == 9 + len(automatic)  # it and its neighbours
    assert other.plan.stages == result.plan.stages
    assert (other.outcome.samples != result.outcome.samples).any()
    assert other.released == result.released  # reading again spends nothing
    assert computed.run(KUNG, Design(), replace(DRAW, seed=4)).released != result.released


@pytest.mark.full
@pytest.mark.parametrize("other", [None, 0.3, 3.0])
def test_intervals_hold_on_data_from_the_models_that_read_the_numbers(result, plan, other):
    """Each world is of one of the models, drawn by its prior weight; bounds cut a third of the outputs of some.

    So they do where the plan is of another epsilon, its noise scaled to the budget.
    """
    data, scene, rng = result.dataset, result.outcome.scene, np.random.default_rng(5)
    if other is not None:
        theirs = staged.plan_stages(data, scene, replace(BUDGET, epsilon=other))
        plan = replace(theirs, stages=rescaled(theirs.stages, MECHANISM.noise_multiplier))
    points = scene.X_test[scene.records :: 8]
    everywhere, inside = np.vstack([data.X, points]), {"function": [], "outputs": []}
    for seed, index in enumerate(rng.choice(len(result.plan.models), size=WORLDS, p=weights_of(result.plan.models))):
        model = result.plan.models[index]
        root = np.linalg.cholesky(model.kernel(everywhere, everywhere) + 1e-8 * np.eye(len(everywhere)))
        f = root @ rng.standard_normal(len(everywhere))
        y = data.in_data_units(f + np.sqrt(model.noise_variance) * rng.standard_normal(len(f)))
        world = replace(data, y=y[: data.n])
        numbers = staged.measure(world, scene, plan, results.Draws(BUDGET, seed, 1))
        found = staged.read(world, points, plan, numbers, KUNG)
        for of, truth in (("function", data.in_data_units(f)), ("outputs", y)):
            (low, high), at = found.interval(LEVEL, of), truth[data.n :]
            inside[of].append(((low[0] <= at) & (at <= high[0])).mean())
    for of, shares in inside.items():
        # three points, and four standard errors; the worlds are fixed
        error = np.std(shares) / np.sqrt(WORLDS)
        assert abs(np.mean(shares) - LEVEL) <= 0.03 + 4 * error, (of, np.mean(shares))
        assert error < 0.03


def test_curves_open_with_it_and_say_what_was_measured(seen):
    said = page_text(seen("kung_curves", overlay="false"))
    assert "of the published one, in 95 of 100 cases" in said
    assert "20 Gaussian processes made from bounds and box" in said
    assert "noisy weighted sums of the outputs, in 6 stages" in said


@pytest.mark.full
def test_moving_the_lengthscale_spends_nothing_of_it(open_page):
    app = open_page("london_noise_map", mechanism="bayes")
    assert [each for each in app.sidebar.caption if "is free: they only read these numbers" in each.value]
    app.select_slider(key="lengthscale_km").set_value(8).run()
    assert not [each for each in app.sidebar.caption if "separate real releases" in each.value]
    app.select_slider(key="epsilon").set_value(2).run()
    assert [each for each in app.sidebar.caption if "2 separate real releases" in each.value]


def test_a_map_opens_with_noise_that_is_added_once_and_has_no_noise_layer_where_it_is_not(open_page):
    app = open_page("london_noise_map")
    assert app.selectbox(key="mechanism").value == "Refined cloaking"
    assert app.segmented_control(key="map").options[1] == "Privacy noise"
    app = open_page("london_noise_map", mechanism="bayes", map="noise")
    assert app.segmented_control(key="map").value == "Prices"
    assert "Privacy noise" not in app.segmented_control(key="map").options
    assert "map = `noise`" in app.warning[0].value
    table = app.dataframe[0].value
    assert "privacy noise [factor]" not in table
    assert (table["where the price is [factor]"] > 1).all()


@pytest.mark.full
def test_many_records_are_not_measured_in_stages_while_a_page_waits(open_page):
    app = open_page("london_noise_map", map_dataset="london_sales", mechanism="bayes")
    assert app.selectbox(key="mechanism").value == "Refined cloaking"
    assert "mechanism = `bayes`" in app.warning[0].value
