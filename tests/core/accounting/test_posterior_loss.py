"""The loss of posterior sampling: its curves, proven and published, and its promises."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpgp_core.accounting import posterior_sensitivity as sensitivities
from dpgp_core.accounting.losses import GaussianLoss, compose, conversion_penalty
from dpgp_core.accounting.posterior_paths import PosteriorLoss, path_curves, posterior_sampling_epsilon

ONE = "exponential_1d"
GOLDEN = [  # targets: n, r, sigma, kappa, delta, L, sensitivity, published, ours; decimals as given there
    (10, 1, 0.5, math.exp(-1), 0.1, 1, ONE, "21.27", "18.80"),
    (10, 1, 2, math.exp(-1), 0.1, 1, ONE, "6.01", "4.07"),
    (10, 2, 0.5, math.exp(-1), 0.1, 1, ONE, "4.21", "2.87"),
    (10, 1, 2, math.exp(-1), 0.05, 1, ONE, "7.06", "5.15"),
    (10, 1, 2, math.exp(-1), 0.05, 10, ONE, "21.9", "18.5"),
    (10, 1, 2, math.exp(-1), 0.05, 100, ONE, "112.8", "103.3"),
    (100, 8.64, 0.049, math.exp(-1 / 0.245), 0.005, 1, ONE, "2.883", "2.225"),
    (400, 8, 0.0375, math.exp(-math.sqrt(2) / 0.135), 400**-1.1, 1, "generic", "9.675", "5.03"),
    (400, 1.3, 0.18, math.exp(-math.sqrt(2) / 0.5), 400**-1.1, 1, "generic", "2094", "698"),
    (100, 1, 1, math.sqrt(0.1), 1e-4, 1, "generic", "129", "63.7"),
    (100, 2, 1, math.sqrt(0.1), 1e-4, 1, "generic", "12.4", "7.04"),
    (100, 3, 1, math.sqrt(0.1), 1e-4, 1, "generic", "3.93", "2.29"),
    (100, 5, 1, math.sqrt(0.1), 1e-4, 1, "generic", "1.06", ".61"),
]


def decimals(number):
    return len(number.partition(".")[2])


@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: f"n{row[0]} r{row[1]} s{row[2]} L{row[5]}")
def test_golden_epsilon(row):
    n, r, sigma, kappa, delta, L, sensitivity, published, ours = row
    for bound, golden in (("published", published), ("proven", ours)):
        found = posterior_sampling_epsilon(n, r, sigma, kappa, delta, L=L, sensitivity=sensitivity, bound=bound)
        assert f"{found:.{decimals(golden)}f}" == f"{float(golden):.{decimals(golden)}f}"


def random_settings(size, seed=1):
    rng = np.random.default_rng(seed)
    n, kappa = rng.integers(1, 1000, size).astype(float), rng.uniform(0, 1, size)
    r, sigma = 10 ** rng.uniform(-1.5, 1.5, size), 10 ** rng.uniform(-2.5, 1.5, size)
    return n, r, sigma, kappa, 10 ** rng.uniform(-9, -1, size), 10 ** rng.uniform(0, 2, size).round()


@pytest.mark.full
@pytest.mark.parametrize("sensitivity", ["generic", ONE, "exponential_1d_min"])
@pytest.mark.parametrize(("bound", "eta"), [("proven", 0.0), ("proven", 0.3), ("published", 0.0)])
def test_the_minimum_over_orders_equals_a_grid(sensitivity, bound, eta):
    n, r, sigma, kappa, delta, L = random_settings(300)
    found = posterior_sampling_epsilon(n, r, sigma, kappa, delta, 2.0, L, eta, sensitivity, bound)
    beta = 1 / (1 + np.exp(-np.linspace(-22, 10, 20_001)))[:, None]

    fine, settings = [], (n, r, sigma, kappa, np.full(300, 2.0), np.full(300, eta))
    for curve in path_curves(*settings, sensitivity=sensitivity, bound=bound):
        x = beta / curve.tau
        penalty = conversion_penalty(x, delta) if bound == "proven" else -np.log(delta) / x
        fine.append((L * curve(x) + penalty).min(axis=0))
    np.testing.assert_allclose(found, np.maximum(0, np.min(fine, axis=0)), rtol=2e-6, atol=1e-9)


def test_arguments_broadcast():
    grid = posterior_sampling_epsilon(10, np.array([[1.0], [2.0]]), np.array([0.5, 1.0, 2.0]), 0.3, 0.1)
    assert grid.shape == (2, 3)
    assert grid[1, 2] == pytest.approx(posterior_sampling_epsilon(10, 2.0, 2.0, 0.3, 0.1), rel=1e-9)


def test_epsilon_depends_monotonically_on_each_parameter():
    n, r, sigma, kappa, delta, L = random_settings(500)

    def epsilon(**changes):
        arguments = {"n": n, "r": r, "sigma": sigma, "kappa": kappa, "delta": delta, "L": L, "eta": 0.0} | changes
        return posterior_sampling_epsilon(**arguments)

    slack = 1e-6
    assert (epsilon(r=1.1 * r) <= epsilon() * (1 + slack)).all()
    assert (epsilon(r=1.1 * r, eta=0.2) <= epsilon(eta=0.2) * (1 + slack)).all()
    assert (epsilon(sigma=1.1 * sigma) <= epsilon() * (1 + slack)).all()
    assert (epsilon(eta=0.01) <= epsilon() * (1 + slack)).all()
    assert (epsilon(eta=0.2) <= epsilon(eta=0.1) * (1 + slack)).all()
    assert (epsilon(L=L + 1) >= epsilon() * (1 - slack)).all()
    assert (epsilon() <= epsilon(sigma=sigma / 3) * (1 + slack)).all()


def test_loss_recomputes_epsilon_and_composes_with_itself():
    loss = PosteriorLoss(n=10, r=1.0, sigma=2.0, kappa=math.exp(-1), sensitivity=ONE)
    assert f"{loss.epsilon(0.05):.2f}" == "5.15"
    assert f"{loss.repeated(10).epsilon(0.05):.1f}" == "18.5"
    assert loss.repeated(2).repeated(3) == loss.repeated(6)


def test_curve_is_infinite_from_the_last_order_on():
    loss = PosteriorLoss(n=10, r=2.0, sigma=2.0, kappa=0.3)
    last = 1 + 4.0 / sensitivities.core_variance(10, 2.0, 0.3)
    rdp = loss.rdp(np.array([1.001, last - 1e-6, last, last + 1, 1e5]))
    assert np.isfinite(rdp[:2]).all()
    assert (rdp[2:] == np.inf).all()
    np.testing.assert_allclose(loss.repeated(3).rdp(np.array([1.5, 2.0])), 3 * loss.rdp(np.array([1.5, 2.0])))


def test_ledger_adds_posterior_paths_to_gaussian_releases():
    loss = PosteriorLoss(n=50, r=3.0, sigma=1.0, kappa=0.2, eta=0.1)
    together = compose([loss, GaussianLoss(0.5)], 1e-4)
    assert max(loss.epsilon(1e-4), GaussianLoss(0.5).epsilon(1e-4)) < together
    assert together < loss.epsilon(5e-5) + GaussianLoss(0.5).epsilon(5e-5) + 0.05
    assert compose([loss], 1e-4) == loss.epsilon(1e-4)
    assert compose([loss, loss], 1e-4) == pytest.approx(loss.repeated(2).epsilon(1e-4), rel=1e-3)
