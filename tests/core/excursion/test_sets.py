"""Excursion sets, their probabilities and their overlap."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from dpgp_core.excursion.sets import (
    PROBABILITY_FLOOR,
    Targets,
    binary_cross_entropy,
    choose_cutoff,
    effective_dimension,
    excursion_probability,
    iou,
    posterior_marginals,
    smoothed,
    vote_share,
)
from dpgp_core.gp.regression import posterior
from dpgp_core.kernels import EQ, Matern12


def test_excursion_probability_is_the_normal_tail():
    mean, variance = np.array([0.3, -1.0, 2.0]), np.array([1.0, 0.25, 4.0])
    expected = norm.sf(0.5, loc=mean, scale=np.sqrt(variance))
    np.testing.assert_allclose(excursion_probability(mean, variance, 0.5), expected, rtol=1e-14)


def test_iou_of_two_empty_sets_is_one():
    assert iou(np.zeros(3, bool), np.zeros(3, bool)) == 1


def test_iou_is_symmetric_bounded_and_matches_python_sets():
    rng = np.random.default_rng(1)
    a, b = rng.random((2, 200, 6)) < 0.4
    np.testing.assert_array_equal(iou(a, b), iou(b, a))
    for row_a, row_b, found in zip(a, b, iou(a, b), strict=True):
        left, right = set(np.flatnonzero(row_a)), set(np.flatnonzero(row_b))
        assert found == (len(left & right) / len(left | right) if left | right else 1)
    assert iou(a[:, None], b).shape == (200, 200)


def test_bce_by_hand():
    found = binary_cross_entropy(np.array([0.9, 0.2, 0.5]), np.array([True, False, True]))
    assert found == pytest.approx(-(math.log(0.9) + math.log(0.8) + math.log(0.5)) / 3, rel=1e-14)


def test_bce_of_a_sure_error_is_the_floor():
    found = binary_cross_entropy(np.array([[0.0], [1.0]]), np.array([True]))
    np.testing.assert_allclose(found, [-math.log(PROBABILITY_FLOOR), PROBABILITY_FLOOR], rtol=1e-6)


def test_cutoff_is_the_best_by_brute_force():
    rng = np.random.default_rng(2)
    truth = rng.random((5, 40)) < 0.5
    p = np.clip(0.7 * truth + rng.normal(0.1, 0.2, truth.shape), 0, 1)
    cutoff = choose_cutoff(p, truth)
    best = max(iou(p >= each, truth).mean() for each in np.linspace(0.01, 0.99, 99))
    assert iou(p >= cutoff, truth).mean() == best


def test_equal_cutoffs_prefer_one_half():
    assert choose_cutoff(np.array([[0.0, 1.0]]), np.array([[False, True]])) == pytest.approx(0.5)


def test_vote_share_counts_paths_at_or_above():
    paths = np.array([[0.0, 1.0], [-1.0, 2.0], [-2.0, 0.0]])
    np.testing.assert_allclose(vote_share(paths, 0.0), [1 / 3, 1])
    assert vote_share(np.zeros((4, 3, 7)), 0.0).shape == (4, 7)


def test_smoothing_keeps_constants_and_spreads_a_spike_evenly():
    np.testing.assert_allclose(smoothed(np.full((2, 3, 49), 4.0), 7), 4.0)
    spike = np.zeros((1, 21 * 21))
    spike[0, 10 * 21 + 10] = 1
    found = smoothed(spike, 21).reshape(21, 21)
    assert found.sum() == pytest.approx(1, abs=1e-9)
    np.testing.assert_allclose(found, found.T)
    # Gaussian of sd 2 pixels: ratio one pixel away exp(-1 / (2 2^2))
    assert found[10, 11] / found[10, 10] == pytest.approx(math.exp(-1 / 8), rel=1e-9)


@pytest.mark.parametrize("ridge", [0.1, 1.0, 30.0])
def test_effective_dimension_is_the_trace(ridge):
    K = Matern12()(np.linspace(0, 3, 15)[:, None], np.linspace(0, 3, 15)[:, None])
    direct = np.trace(K @ np.linalg.inv(K + ridge * np.eye(15)))
    assert effective_dimension(K, ridge) == pytest.approx(direct, rel=1e-12)


KERNEL = Matern12(lengthscale=0.4)


@pytest.fixture(scope="module")
def targets():
    rng = np.random.default_rng(3)
    X = rng.uniform(0, 1, (2, 8, 1))
    grid = np.linspace(0, 1, 6)[:, None]
    return Targets(X=X, y=rng.uniform(-1, 1, (2, 8)), grid=grid, truth=np.ones((2, 6), bool))


@pytest.mark.parametrize("kernel", [KERNEL, EQ(lengthscale=0.3)], ids=["exponential", "eq"])
def test_marginals_agree_with_the_cholesky_posterior(kernel, targets):
    ridges = np.array([0.01, 1.0, 50.0])
    X, y = targets.X[0], targets.y[0]
    mean, variance = posterior_marginals(kernel, X, y, targets.grid, ridges)
    for index, ridge in enumerate(ridges):
        expected, covariance = posterior(kernel, X, y, targets.grid, ridge)
        np.testing.assert_allclose(mean[index], expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(variance[index], covariance.diagonal(), rtol=1e-8, atol=1e-11)


def test_variance_stays_positive_where_rounding_would_not():
    x = np.linspace(0, 1, 30)[:, None]
    _, variance = posterior_marginals(EQ(lengthscale=5.0), x, np.zeros(30), x, np.array([1e-15]))
    assert (variance > 0).all()
