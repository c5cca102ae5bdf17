import numpy as np
import pytest

from dpgp_core.bayes.bias import Public
from dpgp_core.bayes.models import auto_models, weights_of
from dpgp_core.bayes.plan import stage_multipliers
from dpgp_core.bayes.records import measuring
from dpgp_core.bayes.records.measuring import Setting, measure_exactly, measure_for_teaching, read_stages
from dpgp_core.bayes.records.places import places_of
from dpgp_core.bayes.records.planning import plan_stages
from dpgp_core.bayes.records.readers import ExactMeasure, teaching
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking

GUARANTEE = BayesCloaking(epsilon=1.0, delta=0.01).guarantee


@pytest.fixture
def data(make_dataset):
    return make_dataset()


@pytest.fixture
def setting(data):
    half_range = 2.0 / data.y_scale
    models = auto_models(data.x_box, half_range)[3:5]
    places = places_of(models, data.X, np.array([[2.0], [7.0]]), public=Public(data.x_box, half_range))
    planned = plan_stages(places, weights_of(models), half_range, stage_multipliers(0.5, 3), gap=0.1)
    return Setting(planned, places, weights_of(models), half_range)


def test_both_ways_measure_the_same_but_for_the_noise(setting, data):
    """Mean over draws of one stage, exact and teaching, within 6 standard errors of B q."""
    stage, draws = setting.planned[-1], 200
    low, high = np.full((1, 12), -0.4), np.full((1, 12), 0.7)
    q = (np.clip(data.standardised(), low, high) - 0.15) / 1.1
    exact = ExactMeasure(data)
    real = np.concatenate([exact(stage, low, high) for _ in range(draws)])
    taught = teaching(data, np.random.default_rng(0), draws)(stage, np.repeat(low, draws, 0), np.repeat(high, draws, 0))
    for z in (real, taught):
        error = stage.noise_multiplier / np.sqrt(draws)
        assert np.abs(z.mean(axis=0) - q @ stage.strategy.B.T).max() < 6 * error
        assert np.abs(z.std(axis=0) / stage.noise_multiplier - 1).max() < 6 / np.sqrt(2 * draws)


def test_statistics_hold_what_was_measured_and_nothing_else(setting, data):
    found = measure_exactly(setting, data, GUARANTEE, draws=2)
    for draw, statistics in enumerate(found.statistics):
        for stage, observed in zip(statistics.stages, found.observed, strict=True):
            np.testing.assert_array_equal(stage.z, observed.z[draw])
            low = data.in_data_units(observed.low[draw])
            np.testing.assert_allclose(stage.measurement.low, low, rtol=1e-12, atol=1e-12)
        assert statistics.bounds == data.y_bounds
        assert statistics.guarantee["epsilon"] == 1.0


def test_draws_in_portions_are_all_there(setting, data, monkeypatch):
    monkeypatch.setattr(measuring, "_LARGEST", 1)  # one draw at a time
    found = measure_for_teaching(setting, data, np.random.default_rng(0), 3)
    assert found.prediction.mean.shape == (3, 2)
    assert found.observed[0].z.shape[0] == 3
    assert len(np.unique(found.prediction.mean[:, 0])) == 3


@pytest.mark.parametrize("largest", [1, 500, 10**9])
def test_reading_in_portions_is_reading_at_once(setting, data, monkeypatch, largest):
    found = measure_for_teaching(setting, data, np.random.default_rng(0), 5)
    monkeypatch.setattr(measuring, "_LARGEST", largest)
    again = read_stages(found.observed, setting.places, setting.prior_weights)
    for name in ("means", "variances", "weights"):
        np.testing.assert_allclose(getattr(again, name), getattr(found.prediction, name), rtol=1e-7, atol=1e-10)
