from __future__ import annotations

import math
import time

import numpy as np
import pytest

from dpgp_core import posterior_sensitivity as sensitivities
from dpgp_core.losses import GaussianLoss, total_epsilon
from dpgp_core.posterior_loss import PosteriorLoss
from dpgp_core.posterior_renyi import Settings, path_curves
from dpgp_core.posterior_search import posterior_sampling_r, posterior_sampling_sigma
from dpgp_core.renyi import conversion_penalty, posterior_sampling_epsilon

ONE = "exponential_1d"
GOLDEN = [  # 07_targets.md: n, r, sigma, kappa, delta, L, sensitivity, published, ours; decimals as given there
    (10, 1, 0.5, math.exp(-1), 0.1, 1, ONE, "21.27", "18.80"),
    (10, 1, 2, math.exp(-1), 0.1, 1, ONE, "6.01", "4.07"),
    (10, 2, 0.5, math.exp(-1), 0.1, 1, ONE, "4.21", "2.87"),
    (10, 1, 2, math.exp(-1), 0.05, 1, ONE, "7.06", "5.15"),
    (10, 1, 2, math.exp(-1), 0.05, 10, ONE, "21.9", "18.5"),
    (10, 1, 2, math.exp(-1), 0.05, 100, ONE, "112.8", "103.3"),
    (100, 8.64, 0.049, math.exp(-1 / 0.245), 0.005, 1, ONE, "2.883", "2.225"),
    (400, 8, 0.0375, math.exp(-math.sqrt(2) / 0.135), 400**-1.1, 1, "generic", "9.675", "5.80"),
    (400, 1.3, 0.18, math.exp(-math.sqrt(2) / 0.5), 400**-1.1, 1, "generic", "2094", "1002"),
    (100, 1, 1, math.sqrt(0.1), 1e-4, 1, "generic", "129", "83.6"),
    (100, 2, 1, math.sqrt(0.1), 1e-4, 1, "generic", "12.4", "8.1"),
    (100, 3, 1, math.sqrt(0.1), 1e-4, 1, "generic", "3.93", "2.54"),
    (100, 5, 1, math.sqrt(0.1), 1e-4, 1, "generic", "1.06", ".66"),
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


@pytest.mark.parametrize("sensitivity", ["generic", ONE, "exponential_1d_min"])
@pytest.mark.parametrize(("bound", "eta"), [("proven", 0.0), ("proven", 0.3), ("published", 0.0)])
def test_minimum_over_orders_is_that_of_a_fine_grid(sensitivity, bound, eta):
    n, r, sigma, kappa, delta, L = random_settings(300)
    found = posterior_sampling_epsilon(n, r, sigma, kappa, delta, 2.0, L, eta, sensitivity, bound)
    beta = 1 / (1 + np.exp(-np.linspace(-22, 10, 20_001)))[:, None]
    settings = Settings(n=n, r=r, sigma=sigma, kappa=kappa, M=np.full(300, 2.0), eta=np.full(300, eta))
    conversion = "tight" if bound == "proven" else "classic"
    fine = []
    for curve in path_curves(settings, sensitivity, bound):
        x = beta / curve.tau
        fine.append((L * curve(x) + conversion_penalty(x, delta, conversion)).min(axis=0))
    np.testing.assert_allclose(found, np.maximum(0, np.min(fine, axis=0)), rtol=2e-6, atol=1e-9)


def test_a_hundred_thousand_settings_take_about_a_second():
    n, r, sigma, kappa, delta, L = random_settings(100_000)
    start = time.perf_counter()
    found = posterior_sampling_epsilon(n, r, sigma, kappa, delta, L=L)
    assert time.perf_counter() - start < 3  # 0.3 s on an idle core
    assert found.shape == (100_000,)
    some = [
        posterior_sampling_epsilon(n[i], r[i], sigma[i], kappa[i], delta[i], L=L[i]) for i in range(0, 100_000, 9973)
    ]
    np.testing.assert_allclose(found[::9973], some, rtol=1e-12)
    assert all(isinstance(epsilon, float) for epsilon in some)


def test_arguments_broadcast():
    grid = posterior_sampling_epsilon(10, np.array([[1.0], [2.0]]), np.array([0.5, 1.0, 2.0]), 0.3, 0.1)
    assert grid.shape == (2, 3)
    assert grid[1, 2] == posterior_sampling_epsilon(10, 2.0, 2.0, 0.3, 0.1)


def test_epsilon_falls_with_ridge_scale_noise_and_rises_with_paths():
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


def test_with_additional_noise_epsilon_is_not_monotone_in_the_scale():
    # a larger s then also releases more of the covariance: no inverse in s is offered for eta > 0
    epsilon = posterior_sampling_epsilon(10, 1.0, np.array([0.01, 0.1, 0.3, 1.0, 3.0]), 0.3, 0.01, eta=10.0)
    assert (np.diff(epsilon) > 0).any()


# ---- inverses


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 40.0])
def test_smallest_ridge_and_scale_spend_the_budget_exactly(epsilon):
    r = posterior_sampling_r(epsilon, 100, 0.2, 0.1, 1e-4, L=3)
    spent = posterior_sampling_epsilon(100, r, 0.2, 0.1, 1e-4, L=3)
    assert epsilon * (1 - 1e-6) <= spent <= epsilon
    sigma = posterior_sampling_sigma(epsilon, 100, 1.5 * r, 0.1, 1e-4, L=3)
    spent = posterior_sampling_epsilon(100, 1.5 * r, sigma, 0.1, 1e-4, L=3)
    assert epsilon * (1 - 1e-6) <= spent <= epsilon
    assert sigma < 0.2


def test_a_scale_that_cannot_exist_is_refused_with_the_remedy():
    with pytest.raises(
        ValueError, match=r"no scale s reaches epsilon = 1 at r = 0.5: the covariance alone leaks .* larger r"
    ):
        posterior_sampling_sigma(1.0, 10, 0.5, 0.3, 0.01)


# ---- what the functions of the bound say


def test_core_variance_is_reached_by_equal_points_and_never_passed():
    rng = np.random.default_rng(1)
    for _ in range(200):
        n, q = int(rng.integers(2, 12)), 10 ** rng.uniform(-2, 1)
        x = rng.uniform(0, 2, n)
        K = np.exp(-np.abs(x[:, None] - x))
        v = 1 - K[0, 1:] @ np.linalg.solve(K[1:, 1:] + q * np.eye(n - 1), K[1:, 0])
        assert v <= sensitivities.core_variance(n, math.sqrt(q), math.exp(-2.0)) * (1 + 1e-12)
        k = np.full(n - 1, math.exp(-2.0))
        equal = 1 - k @ np.linalg.solve(np.ones((n - 1, n - 1)) + q * np.eye(n - 1), k)
        assert equal == pytest.approx(sensitivities.core_variance(n, math.sqrt(q), math.exp(-2.0)))


@pytest.mark.parametrize("V", [0.01, 0.2, 1.0])
@pytest.mark.parametrize("r", [0.1, 0.5, 1.0, 8.0])
@pytest.mark.parametrize("n", [1, 2, 50])
def test_suprema_over_the_variance_against_a_grid(V, r, n):
    v, q = np.linspace(0, V, 200_001), r * r
    assert sensitivities.peak(V, r) == pytest.approx((v / (v + q) ** 2).max(), rel=1e-8)
    sup = (np.sqrt(v) / (v + q) + math.sqrt(n - 1) / r * v * np.sqrt(1 - v) / (v + q)).max()
    coupled = sensitivities.coupled_sensitivity(V, r, n, 3.0)
    assert coupled == pytest.approx(6 * sup, rel=1e-8)
    assert coupled >= 6 * sup * (1 - 1e-12)


def rkhs_shift(K, rows, y):
    """|mean of all but the last - mean of all but the one before| in the RKHS of the core's posterior; K + q first."""
    noisy, plain = K, rows
    core = len(y) - 2
    W = np.linalg.solve(noisy[:core, :core], plain[:core, core:])
    G = plain[core:, core:] - plain[:core, core:].T @ W
    residual = y[core:] - W.T @ y[:core]
    q = noisy[0, 0] - plain[0, 0]
    a = residual / (np.diag(G) + q) * [1, -1]
    return math.sqrt(a @ G @ a)


def test_constant_kernel_reaches_its_sensitivity():
    for n, r in ((1, 0.5), (4, 1.0), (30, 6.0)):
        K = np.ones((n + 1, n + 1))
        y = np.concatenate([np.ones(n - 1), [3.0, -3.0]])
        exact = rkhs_shift(K + r * r * np.eye(n + 1), K, y)
        assert sensitivities.constant_sensitivity(r, n, 3.0) == pytest.approx(exact)


def test_diagonal_kernel_stays_below_its_sensitivity():
    rng, worst = np.random.default_rng(2), 0.0
    for _ in range(2000):
        n, r = int(rng.integers(2, 8)), 10 ** rng.uniform(-0.7, 0.7)
        place = rng.integers(0, 3, n + 1)
        K = (place[:, None] == place).astype(float)
        exact = rkhs_shift(K + r * r * np.eye(n + 1), K, rng.choice([-1.0, 1.0], n + 1))
        V = sensitivities.core_variance(n, r, 0.0)
        worst = max(worst, exact / sensitivities.diagonal_sensitivity(V, r, 1.0))
    assert 0.7 < worst <= 1 + 1e-12


def test_outputs_of_one_rkhs_function_stay_below_its_sensitivity():
    rng, worst = np.random.default_rng(3), 0.0
    for _ in range(2000):
        n, r, side = int(rng.integers(1, 8)), 10 ** rng.uniform(-0.7, 0.7), 10 ** rng.uniform(-1, 1)
        x = rng.uniform(0, side, n + 1)
        K = np.exp(-np.abs(x[:, None] - x))
        a = rng.normal(size=n + 1) * (rng.random(n + 1) < 0.5)
        if not a.any():
            continue
        f = K @ a / math.sqrt(a @ K @ a)  # norm 1
        V = sensitivities.core_variance(n, r, math.exp(-side))
        worst = max(worst, rkhs_shift(K + r * r * np.eye(n + 1), K, f) / sensitivities.rkhs_sensitivity(V, r, 1.0))
    assert 0.7 < worst <= 1 + 1e-12


def test_tight_conversion_is_below_the_classic_one():
    x = np.geomspace(1e-6, 1e6, 100)
    for delta in (1e-9, 1e-3, 0.3):
        assert (conversion_penalty(x, delta) < conversion_penalty(x, delta, "classic")).all()


# ---- the loss


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
    together = total_epsilon([loss, GaussianLoss(0.5)], 1e-4)
    assert max(loss.epsilon(1e-4), GaussianLoss(0.5).epsilon(1e-4)) < together
    assert together < loss.epsilon(5e-5) + GaussianLoss(0.5).epsilon(5e-5) + 0.05
    assert total_epsilon([loss], 1e-4) == loss.epsilon(1e-4)
    assert total_epsilon([loss, loss], 1e-4) == pytest.approx(loss.repeated(2).epsilon(1e-4), rel=1e-3)


def test_curve_with_vanishing_additional_noise_is_the_plain_one():
    orders = np.array([1.1, 1.5, 2.0])
    plain = PosteriorLoss(n=50, r=2.0, sigma=1.0, kappa=0.2, sensitivity=ONE)
    noisy = PosteriorLoss(n=50, r=2.0, sigma=1.0, kappa=0.2, sensitivity=ONE, eta=1e-6)
    np.testing.assert_allclose(noisy.rdp(orders), plain.rdp(orders), rtol=1e-9)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"n": 0}, "n must be a number of records, at least 1; got 0"),
        ({"r": 0.0}, "r must be a finite number above 0; larger is more private; got 0"),
        ({"sigma": -1.0}, "sigma must be above 0; inf leaves only what the covariance leaks; got -1"),
        ({"kappa": 1.5}, r"kappa must be in \[0, 1\]: the least kernel value; got 1.5"),
        ({"M": 0.0}, "M must be a finite number above 0: the bound on outputs; got 0"),
        ({"L": 0}, "L must be a number of paths, at least 1; got 0"),
        ({"eta": float("nan")}, "eta must be a finite number, at least 0; got nan"),
        ({"sensitivity": "2-D"}, "sensitivity must be one of generic, exponential_1d, exponential_1d_min, got '2-D'"),
    ],
)
def test_bad_settings_are_named(changes, sentence):
    arguments = {"n": 10, "r": 1.0, "sigma": 1.0, "kappa": 0.5} | changes
    with pytest.raises(ValueError, match=sentence):
        PosteriorLoss(**arguments)
    with pytest.raises(ValueError, match=sentence):
        posterior_sampling_epsilon(**arguments, delta=0.01)


def test_bad_delta_and_bound_are_named():
    with pytest.raises(ValueError, match=r"delta must be in \[1e-30, 1\): 0 or 1 would promise nothing; got 1"):
        posterior_sampling_epsilon(10, 1.0, 1.0, 0.5, np.array([0.1, 1.0]))
    with pytest.raises(ValueError, match="bound must be 'proven' or 'published', got 'code'"):
        posterior_sampling_epsilon(10, 1.0, 1.0, 0.5, 0.1, bound="code")
