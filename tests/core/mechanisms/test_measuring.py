import numpy as np
import pytest

from dpgp_core.linalg import column_norms
from dpgp_core.mechanisms.base import Plan
from dpgp_core.mechanisms.recorded import Intervals, Measured, exact, noiseless, numbered


@pytest.fixture
def stage():
    rng = np.random.default_rng(2)
    B = rng.normal(size=(3, 12))
    return Plan(strategy=B / np.sqrt(column_norms(B).max()), factor=rng.normal(size=(4, 3)))


@pytest.fixture
def intervals():
    low, high = np.linspace(-1, 0, 12)[None], np.linspace(1, 3, 12)[None]
    return Intervals(low=low, high=high, widest=(high - low).max(axis=1, keepdims=True), offset=np.ones((1, 4)))


def test_without_noise_it_is_the_strategy_times_the_places(stage, intervals, make_dataset):
    y = make_dataset().clipped_y
    low, high = intervals.low[0], intervals.high[0]
    q = (np.clip(y, low, high) - (low + high) / 2) / (high - low)
    shrunk = stage.strategy * ((high - low) / (high - low).max())
    np.testing.assert_allclose(noiseless(stage, intervals, y[None])[0], shrunk @ q, rtol=1e-12)


def test_a_real_measurement_of_almost_no_noise_is_the_one_without(stage, intervals, make_dataset):
    data = make_dataset()
    z = exact(data, 2)(stage, 1e-6, intervals)
    assert z.shape == (2, 3)
    # places and strategy are rounded to 2^-20, and the noise is a millionth
    np.testing.assert_allclose(z, np.broadcast_to(noiseless(stage, intervals, data.clipped_y[None]), (2, 3)), atol=1e-4)
    assert (z[0] != z[1]).all()


def test_numbered_draws_have_the_stated_spread_and_come_from_the_generator(stage, intervals, make_dataset):
    data = make_dataset()
    y = data.clipped_y[None]
    z = numbered(y, np.random.default_rng(1), 40_000)(stage, 0.7, intervals) - noiseless(stage, intervals, y)
    # 7 standard errors of each of three means and variances: a false alarm in fewer than one run of 10^10
    assert (np.abs(z.mean(axis=0)) < 7 * 0.7 / 200).all()
    assert (np.abs(z.var(axis=0) / 0.49 - 1) < 7 * np.sqrt(2) / 200).all()
    again = numbered(y, np.random.default_rng(1), 40_000)(stage, 0.7, intervals) - noiseless(stage, intervals, y)
    np.testing.assert_array_equal(again, z)


def test_the_curve_is_offset_plus_the_map_of_z(stage, intervals):
    z = np.array([[1.0, 0.0, -2.0]])
    found = Measured(plan=stage, noise_multiplier=1.0, intervals=intervals, z=z)
    np.testing.assert_allclose(found.curve(z), 1 + intervals.widest * (z @ stage.factor.T))
