import math

import numpy as np
import pytest
from scipy.special import ndtri

from benchmarks.excursion.paths import hall_mean, hall_paths, posterior_paths
from dpgp_core.excursion.sets import Targets, posterior_marginals
from dpgp_core.gp.regression import posterior
from dpgp_core.kernels import EQ, Matern12

KERNEL = Matern12(lengthscale=0.4)
DRAWS = 40_000
FALSE_ALARM = 1e-6


@pytest.fixture(scope="module")
def targets():
    rng = np.random.default_rng(3)
    X = rng.uniform(0, 1, (2, 8, 1))
    grid = np.linspace(0, 1, 6)[:, None]
    return Targets(X=X, y=rng.uniform(-1, 1, (2, 8)), grid=grid, truth=np.ones((2, 6), bool))


def assert_moments(draws, mean, covariance):
    """Compare the moments of (draws, P) with theory; all comparisons together fail by chance below FALSE_ALARM."""
    P = len(mean)
    comparisons = P + P * (P + 1) // 2
    z = -ndtri(FALSE_ALARM / (4 * comparisons))  # two sides, two calls of this function per test
    variance = covariance.diagonal()
    assert (np.abs(draws.mean(axis=0) - mean) <= z * np.sqrt(variance / len(draws))).all()
    # var of a sample covariance of Gaussians: (C_ii C_jj + C_ij^2) / N; 1.05 covers its skewness
    spread = np.sqrt((np.outer(variance, variance) + covariance**2) / len(draws))
    away = draws - mean
    assert (np.abs(away.T @ away / len(draws) - covariance) <= 1.05 * z * spread).all()


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


def test_posterior_paths_have_the_posterior_mean_and_scaled_covariance(targets):
    ridge, scale = 0.3, 0.7
    paths = posterior_paths(KERNEL, targets, ridge, scale, DRAWS, np.random.default_rng(1))
    assert paths.shape == (2, DRAWS, 6)
    for draws, X, y in zip(paths, targets.X, targets.y, strict=True):
        mean, covariance = posterior(KERNEL, X, y, targets.grid, ridge)
        assert_moments(draws, mean, scale**2 * covariance)


def test_hall_paths_have_the_kernel_sum_and_scaled_prior(targets):
    ridge, noise = 2.0, 1.5
    paths = hall_paths(KERNEL, targets, ridge, noise, DRAWS, np.random.default_rng(2))
    for draws, X, y in zip(paths, targets.X, targets.y, strict=True):
        by_hand = [
            sum(math.exp(-abs(g - x) / 0.4) * v for x, v in zip(X[:, 0], y, strict=True)) for g in targets.grid[:, 0]
        ]
        mean = np.array(by_hand) / ridge
        np.testing.assert_allclose(hall_mean(KERNEL, X, y, targets.grid, ridge), mean, rtol=1e-12)
        assert_moments(draws, mean, (noise / ridge) ** 2 * KERNEL(targets.grid, targets.grid))


def test_posterior_path_tends_to_halls_release_for_a_large_ridge(targets):
    q, c = 1e8, 1.3
    path = posterior_paths(KERNEL, targets, q, c / q, 3, np.random.default_rng(5))
    hall = hall_paths(KERNEL, targets, q, c, 3, np.random.default_rng(5))
    np.testing.assert_allclose(q * path, q * hall, rtol=1e-5, atol=1e-6)


def test_no_scale_gives_the_mean(targets):
    paths = posterior_paths(KERNEL, targets, 0.5, 0.0, 2, np.random.default_rng(1))
    mean, _ = posterior(KERNEL, targets.X[1], targets.y[1], targets.grid, 0.5)
    np.testing.assert_allclose(paths[1], np.tile(mean, (2, 1)))


def test_a_repeated_grid_point_is_factored_with_jitter(targets):
    twice = Targets(X=targets.X, y=targets.y, grid=np.repeat(targets.grid, 2, axis=0), truth=np.ones((2, 12), bool))
    paths = posterior_paths(KERNEL, twice, 0.3, 1.0, 5, np.random.default_rng(1))
    np.testing.assert_allclose(paths[..., ::2], paths[..., 1::2], atol=1e-2)


def test_what_is_no_covariance_is_refused(targets):
    class Broken(Matern12):
        def profile(self, r):
            return np.where(r == 0, 1.0, -5.0)

    with pytest.raises(np.linalg.LinAlgError):
        hall_paths(Broken(), targets, 1.0, 1.0, 1, np.random.default_rng(1))
