"""Clipping: ends of intervals, the bias of the curve, and which width a stage takes."""

import numpy as np

from dpgp_core.bayes.clipping import bias_features, bias_sd, ends_of

TWO = 2.0


def test_ends_at_the_bounds_clip_nothing():
    low, high, half_width = ends_of(np.array([-2.0, -1.0]), np.array([0.5, 2.0]), np.array([0.0, 0.5]), TWO)
    assert low[0] < -1e5
    assert high[1] > 1e5
    np.testing.assert_allclose(half_width, [0.5, 1.5])
    both = ends_of(np.array([-2.0]), np.array([2.0]), np.zeros(1), TWO)
    np.testing.assert_array_equal(bias_sd(both.half_width, 1.0, TWO), 0)


def test_bias_decreases_with_the_width():
    beta = bias_sd(np.array([0.0, 0.75, 1.5, 3.0]), 1.0, TWO)
    assert (np.diff(beta) < 0).all()
    np.testing.assert_allclose(bias_sd(np.array([1.5]), 4.0, 2 * TWO), 2 * bias_sd(np.array([0.75]), 1.0, TWO))
    X = np.random.default_rng(0).uniform(0, 5, (30, 2))
    psi = bias_features([(0.0, 5.0), (0.0, 5.0)], X)
    np.testing.assert_allclose((psi**2).sum(axis=1), 1, atol=0.01)


def test_bias_reaches_one_sigma_at_the_largest_variance():
    at_once = np.zeros(1)
    np.testing.assert_allclose(bias_sd(at_once, TWO**2, TWO), TWO)
    roomy = bias_sd(at_once, 1.0, 100.0)
    np.testing.assert_allclose(bias_sd(at_once, 1.0, 4.0), roomy, rtol=0.01)
    assert roomy < 0.4
