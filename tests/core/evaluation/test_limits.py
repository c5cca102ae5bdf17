"""Least errors: what no mechanism can beat, what sums by hand reach, and simulated worlds."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.bayes.model import Model
from dpgp_core.evaluation.by_hand import local_sums
from dpgp_core.evaluation.limits import information_share, least_error, limits, simulated_error
from dpgp_core.gp.regression import posterior_of_sums
from dpgp_core.kernels import EQ

ONE = np.zeros((1, 1))


@pytest.mark.parametrize("mu", [0.05, 1.0, 4.0])
def test_the_share_is_half_the_triangular_discrimination(mu):
    def density(x):
        p, q = norm.pdf(x, mu / 2), norm.pdf(x, -mu / 2)
        return (p - q) ** 2 / (2 * (p + q))

    assert information_share(mu) == pytest.approx(2 * quad(density, 0, 15)[0], rel=1e-8)


@pytest.mark.parametrize("mu", [0.3, 1.0, 3.0])
def test_randomised_signs_stay_below_the_share(mu):
    """The sign of y - f is published with noise of scale 1 / mu: what is let through of the sign is all of kappa.

    z = sign(y - f) / 2 + N(0, 1 / mu^2) is mu-GDP; its information about f, by the score E((y - f) / s^2 | z), is
    (2 / pi) kappa(mu) / s^2.
    """

    def integrand(z):
        p, q = norm.pdf(z, 0.5, 1 / mu), norm.pdf(z, -0.5, 1 / mu)
        score = np.sqrt(2 / np.pi) * (p - q) / (p + q)
        return score**2 * (p + q) / 2

    information = quad(integrand, -0.5 - 12 / mu, 0.5 + 12 / mu, limit=200)[0]
    assert information == pytest.approx(2 / np.pi * information_share(mu), rel=1e-6)


@pytest.mark.parametrize("n", [1, 6])
def test_equal_records_in_closed_form(n):
    """n records of one f: everything is known of their mean, so information n^2 mu^2 / d^2 about the sum of y.

    risk = v - (n v)^2 / (n^2 v + n s^2 + t) for fixed maps, 1 / (1 / v + n^2 kappa / s^2) for any mechanism.
    """
    v, s2, mu, d = 2.0, 0.5, 0.8, 4.0
    found = limits(EQ(variance=v, lengthscale=1.0), s2, np.zeros((n, 1)), ONE, mu=mu, output_range=d)
    assert found.without_privacy**2 == pytest.approx(v - n * v**2 / (n * v + s2), rel=1e-6)
    assert found.fixed**2 == pytest.approx(v - n**2 * v**2 / (n**2 * v + n * s2 + (d / mu) ** 2), rel=1e-3)
    assert found.any**2 == pytest.approx(1 / (1 / v + n**2 * information_share(mu) / s2), rel=1e-3)


def test_least_error_averages_the_posterior_variances():
    X, X_test = np.linspace(0, 4, 9)[:, None], np.array([[0.3], [2.2], [5.0]])
    models = [
        Model(kernel=EQ(variance=2.0, lengthscale=0.7), noise_variance=0.5, weight=3.0),
        Model(kernel=EQ(variance=1.0, lengthscale=2.0), noise_variance=0.1, weight=1.0),
    ]

    def variance(model):
        K, across = model.kernel(X, X) + model.noise_variance * np.eye(9), model.kernel(X_test, X)
        return np.mean(model.kernel.diagonal(X_test) - np.sum(across * np.linalg.solve(K, across.T).T, axis=1))

    expected = (3 * variance(models[0]) + variance(models[1])) / 4
    assert least_error(models, X, X_test) == pytest.approx(np.sqrt(expected), rel=1e-6)


X = np.random.default_rng(3).uniform(0, 10, (40, 1))
GRID = np.linspace(0, 10, 31)[:, None]
KERNEL, NOISE, RANGE, MU = EQ(lengthscale=2.0), 0.3, 4.0, 0.8
T = (RANGE / MU) ** 2


@pytest.mark.parametrize("places", [[5.0], [1.0, 4.0, 9.0], [4.0, 4.0, 4.5]], ids=str)
def test_local_sums_use_the_whole_budget(places):
    B = local_sums(X, np.array(places)[:, None], 1.5)
    assert B.shape == (len(places), len(X))
    assert (B**2).sum(axis=0).max() == pytest.approx(1)
    assert abs(X[B[0].argmax(), 0] - places[0]) == np.abs(X[:, 0] - places[0]).min()


def test_the_posterior_equals_the_conditional_normal():
    B = local_sums(X, np.array([[2.0], [6.0]]), 1.0)
    joint = np.block([[KERNEL(X, X) + NOISE * np.eye(40), KERNEL(X, GRID)], [KERNEL(GRID, X), KERNEL(GRID, GRID)]])
    A = np.block([[B, np.zeros((2, 31))], [np.zeros((31, 40)), np.eye(31)]])
    seen = A @ joint @ A.T + np.diag([T, T] + [0.0] * 31)
    gain = seen[2:, :2] @ np.linalg.inv(seen[:2, :2])
    found = posterior_of_sums(KERNEL, X, GRID, NOISE, B, T)
    assert found.gain == pytest.approx(gain)
    assert found.deviation**2 == pytest.approx(np.diag(seen[2:, 2:] - gain @ seen[:2, 2:]))
    assert found.error == pytest.approx(np.sqrt((found.deviation**2).mean()))


def test_nothing_measured_leaves_the_prior():
    B = local_sums(X, np.zeros((0, 1)), 1.0)
    found = posterior_of_sums(KERNEL, X, GRID, NOISE, B, T)
    assert found.gain.shape == (31, 0)
    assert found.error == pytest.approx(1)


def test_nobody_falls_below_the_limits_by_hand():
    bound = limits(KERNEL, NOISE, X, GRID, mu=MU, output_range=RANGE)
    rng = np.random.default_rng(4)
    for many in (1, 3, 8, 20):
        B = local_sums(X, rng.uniform(0, 10, (many, 1)), float(rng.uniform(0.3, 3)))
        error = posterior_of_sums(KERNEL, X, GRID, NOISE, B, T).error
        assert bound.any <= bound.fixed <= error


LINE = np.linspace(0, 1, 40)[:, None]
BOX = ((0.0, 1.0),)
SMOOTH, LITTLE, HALF = EQ(variance=1 / 3, lengthscale=0.2), 0.05, 1.0


@cache
def simulated(epsilon, worlds=30, seed=3, half_range=HALF):
    budget = {"epsilon": epsilon, "delta": 0.01}
    return simulated_error(
        SMOOTH, LITTLE, LINE, LINE, **budget, x_box=BOX, half_range=half_range, data_sets=worlds, seed=seed
    )


@pytest.mark.full_for("2.0")
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_no_mechanism_is_below_the_lower_bound(epsilon):
    found, mu = simulated(epsilon), 1 / noise_multiplier(epsilon, 0.01)
    least = limits(SMOOTH, LITTLE, LINE, LINE, mu=mu, output_range=2 * HALF)
    assert found.rmse - 5 * found.standard_error > least.any
    assert found.rmse < np.sqrt(SMOOTH.variance)
