"""Errors of releases that are simulated, and folds that overlap."""

import numpy as np

from dpgp_core.evaluation.errors import rmse


def expected_rmse(bias, noise_sd):
    """Root of the expected mean squared error: slightly above the expected RMSE of a draw, by Jensen's inequality."""
    return float(np.sqrt(np.mean(bias**2 + noise_sd**2)))


def draw_errors(mean, noise_factor, truth, rng, draws):
    """RMSE of each of ``draws`` releases (draws,), the noise's covariance being L L^T, L the factor (P, k)."""
    return rmse(mean + rng.standard_normal((draws, noise_factor.shape[1])) @ noise_factor.T, truth)


def monte_carlo_folds(n, folds, test_size, rng):
    """Each fold's test records drawn afresh: a record may be tested several times, or never."""
    return tuple(np.sort(rng.choice(n, test_size, replace=False)) for _ in range(folds))
