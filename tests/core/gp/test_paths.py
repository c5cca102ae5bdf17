"""Posterior paths, and what clipping does to a normal outcome."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtri
from scipy.stats import norm

from dpgp_core.gp.clipping import clipped, clipped_moments
from dpgp_core.gp.paths import draw_paths, posterior_process
from dpgp_core.gp.regression import posterior
from dpgp_core.kernels import EQ, Matern12

RNG = np.random.default_rng(1)
X, Y = RNG.uniform(0, 5, (8, 2)), RNG.normal(size=8)
NEW = RNG.uniform(-1, 6, (7, 2))
DRAWS = 40_000


def process(kernel=None, eta=0.0):
    return posterior_process(kernel or Matern12(lengthscale=2.0), X, Y, 0.7, 1.5, eta)


def assert_moments(draws, mean, covariance):
    """Moments of draws (N, P) against theory: a false alarm in one call of a million."""
    comparisons = len(mean) * (len(mean) + 3) // 2
    z, variance = -ndtri(1e-6 / (4 * comparisons)), covariance.diagonal()
    assert (np.abs(draws.mean(axis=0) - mean) <= z * np.sqrt(variance / len(draws))).all()
    # var of a sample covariance of Gaussians: (C_ii C_jj + C_ij^2) / N; 1.05 covers its skewness
    spread = np.sqrt((np.outer(variance, variance) + covariance**2) / len(draws))
    away = draws - mean
    assert (np.abs(away.T @ away / len(draws) - covariance) <= 1.05 * z * spread).all()


def test_process_is_the_posterior_with_scaled_covariance():
    kernel = Matern12(lengthscale=2.0)
    mean, covariance = posterior(kernel, X, Y, NEW, 0.49)
    np.testing.assert_allclose(process().mean(NEW), mean, rtol=1e-10)
    np.testing.assert_allclose(process().covariance(NEW, NEW), 1.5**2 * covariance, atol=1e-12)
    noisy = 1.5**2 * covariance + 0.3**2 * kernel(NEW, NEW)
    np.testing.assert_allclose(process(eta=0.3).covariance(NEW, NEW), noisy, atol=1e-12)


@pytest.mark.parametrize("eta", [0.0, 0.6])
@pytest.mark.parametrize("kernel", [Matern12(lengthscale=2.0), EQ(lengthscale=2.0)], ids=["rough", "smooth"])
def test_values_are_a_joint_posterior_sample(kernel, eta):
    law = process(kernel, eta)
    values, factor = draw_paths(law, NEW, DRAWS, np.random.default_rng(2))
    assert_moments(values, law.mean(NEW), law.covariance(NEW, NEW))
    np.testing.assert_allclose(factor @ factor.T, law.covariance(NEW, NEW), atol=1e-8)


def test_a_repeated_point_has_one_value():
    twice = np.vstack([NEW[2], NEW[5], NEW[2], NEW[0], np.zeros(2), -np.zeros(2)])
    values, factor = draw_paths(process(), twice, 3, np.random.default_rng(3))
    np.testing.assert_array_equal(values[:, [0, 4]], values[:, [2, 5]])
    assert len(np.unique(values[0])) == 4
    np.testing.assert_allclose(factor @ factor.T, process().covariance(twice, twice), atol=1e-8)


def test_smooth_paths_are_sampled_on_fine_grids():
    grid = np.linspace(0, 5, 500)[:, None] * np.ones(2)
    values, _ = draw_paths(process(EQ(lengthscale=3.0)), grid, 2, np.random.default_rng(5))
    # jitter is 1e-5 of the scale; a smooth path hardly moves between neighbouring points
    assert np.abs(np.diff(values)).max() < 0.05


CASES = [
    (0.3, 1.7, -1.0, 0.4),
    (5.0, 0.2, -1.0, 1.0),
    (-3.0, 4.0, 0.5, 2.0),
    (0.0, 1.0, -1e-3, 1e-3),
    (0.1, 1.0, -50, 50),
]


def _expected(mean, variance, low, high, function):
    law = norm(mean, np.sqrt(variance))
    inner = quad(lambda y: function(y) * law.pdf(y), low, high, epsabs=1e-13, points=[np.clip(mean, low, high)])[0]
    return function(low) * law.cdf(low) + function(high) * law.sf(high) + inner


@pytest.mark.parametrize("case", CASES)
def test_moments_are_those_of_quadrature(case):
    variance = case[1]
    found = clipped(*(np.array([value]) for value in case))
    k = _expected(*case, lambda y: y)
    second = _expected(*case, lambda y: (y - k) ** 2)
    with_y = _expected_product(*case)  # Cov(clip(y), y) = alpha v
    assert found.mean[0] == pytest.approx(k, abs=1e-9)
    assert found.gain[0] * variance == pytest.approx(with_y, abs=1e-9)
    assert found.extra[0] == pytest.approx(second - with_y**2 / variance, abs=1e-9)


def _expected_product(mean, variance, low, high):
    law, reach = norm(mean, np.sqrt(variance)), 12 * np.sqrt(variance)
    ends = sorted({mean - reach, *np.clip([low, high], mean - reach, mean + reach), mean + reach})
    pieces = [
        quad(lambda y: np.clip(y, low, high) * (y - mean) * law.pdf(y), a, b, epsabs=1e-13)[0]
        for a, b in pairwise(ends)
    ]
    return sum(pieces)


def test_far_from_the_interval_the_output_says_nothing():
    found = clipped(np.array([40.0, -40.0]), np.ones(2), np.full(2, -1.0), np.full(2, 1.0))
    np.testing.assert_allclose(found.mean, [1, -1], atol=1e-12)
    assert (found.gain < 1e-100).all()
    assert (found.extra < 1e-12).all()
    assert (found.extra >= 0).all()


@pytest.mark.parametrize("f", [-3.0, 0.2, 1.4])
def test_clipped_moments_equal_quadrature(f):
    case = (f, 0.4, -1.0, 1.0)
    mean = _expected(*case, lambda y: y)
    found = clipped_moments(np.array([f]), 0.4, 1.0)
    np.testing.assert_allclose(np.concatenate(found), [mean, _expected(*case, lambda y: (y - mean) ** 2)], rtol=1e-9)


def test_without_noise_the_clipped_value_itself_is_seen():
    mean, variance = clipped_moments(np.array([-2.0, 0.5]), 0.0, 1.0)
    np.testing.assert_array_equal(mean, [-1.0, 0.5])
    np.testing.assert_array_equal(variance, 0.0)
