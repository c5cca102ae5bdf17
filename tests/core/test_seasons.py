import numpy as np
import pytest

from dpgp_core.kernels import EQ
from dpgp_core.seasons import YEAR, Seasonal, check_periods, check_room, lifted, lifted_box, phase_cells

PERIODS = (None, 7.0)


@pytest.fixture(scope="module")
def kernel():
    trend = EQ(variance=0.5, lengthscale=[3.0, 40.0])
    return Seasonal(trend=trend, periods=PERIODS, wave=0.8, slow=(5.0, 60.0), smooth=0.7)


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).uniform([0, 0], [10, 100], (60, 2))


def test_the_wave_is_mackays_periodic_kernel_times_a_slow_one(kernel, X):
    d = X[:, None] - X[None]
    slow = np.exp(-0.5 * ((d[..., 0] / 5) ** 2 + (d[..., 1] / 60) ** 2))
    wave = np.exp(-2 * np.sin(np.pi * d[..., 1] / 7) ** 2 / 0.7**2)
    np.testing.assert_allclose(kernel(X, X), kernel.trend(X, X) + 0.8 * slow * wave, atol=1e-12)


def test_the_wave_is_an_eq_kernel_of_a_circle(X):
    t = X[:, 1]
    circle = np.column_stack([np.cos(2 * np.pi * t / 7), np.sin(2 * np.pi * t / 7)])
    far = Seasonal(trend=EQ(variance=1e-9), periods=PERIODS, wave=1.0, slow=(1e9, 1e9), smooth=0.7)
    np.testing.assert_allclose(far(X, X), EQ(lengthscale=0.7)(circle, circle), atol=1e-8)


def test_lifted_inputs_give_the_same_covariances(kernel, X):
    up = lifted(X, PERIODS)
    assert up.shape == (60, 3)
    np.testing.assert_allclose(kernel(up, X), kernel(X, X), atol=1e-12)
    np.testing.assert_array_equal(lifted(up, PERIODS), up)
    np.testing.assert_array_equal(lifted(X, ()), X)


def test_covariances_are_positive_definite_and_the_diagonal_is_the_variance(kernel, X):
    K = kernel(X, X)
    assert np.linalg.eigvalsh(K).min() > -1e-10
    np.testing.assert_allclose(K.diagonal(), kernel.diagonal(X))
    assert kernel.variance == pytest.approx(1.3)
    assert kernel.diagonal(X).shape == (60,)


def test_without_a_wave_it_is_the_trend(X):
    trend = EQ(lengthscale=[3.0, 40.0])
    np.testing.assert_array_equal(Seasonal(trend=trend, periods=PERIODS)(X, X), trend(X, X))


def test_whole_days_stand_in_the_middle_of_a_cell_of_a_week():
    phases = lifted(np.arange(14.0)[:, None], (7.0,))[:, 1]
    np.testing.assert_allclose(phases, np.tile(np.arange(7) + 0.5, 2))


def test_the_lifted_box_has_a_side_for_each_period_of_at_most_twelve_cells():
    assert lifted_box([(0.0, 5.0), (0.0, 9.0)], (None, YEAR)) == ((0.0, 5.0), (0.0, 9.0), (0.0, YEAR))
    assert phase_cells((7.0, YEAR, None, 2.0)) == (7, 12, 2)


def test_what_cannot_be_is_refused():
    assert check_periods([None, None], 2) == check_periods(None, 3) == ()
    assert check_periods([None, 7], 2) == (None, 7.0)
    with pytest.raises(ValueError, match="periods must have 2 entries, one per input, got 1"):
        check_periods([7.0], 2)
    with pytest.raises(ValueError, match="each period must be a finite number above 0"):
        check_periods([-1.0], 1)
    with pytest.raises(ValueError, match="comes less than 2 times in a box of width 700"):
        check_room("a year", YEAR, (0.0, 700.0))
    check_room("a year", YEAR, (0.0, 731.0))
    with pytest.raises(ValueError, match="slow must have 2 entries, one per input, got 0"):
        Seasonal(trend=EQ(), periods=PERIODS, wave=1.0)
    with pytest.raises(ValueError, match="smooth"):
        Seasonal(trend=EQ(), periods=PERIODS, smooth=0.0)
