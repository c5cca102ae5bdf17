import math

import numpy as np
import pytest

from dpgp_core.gp.regression import posterior
from dpgp_core.kernels import EQ, KERNELS, Matern12
from dpgp_core.mechanisms import GPPrior
from dpgp_core.mechanisms.gp_prior import exact_sensitivity

BUDGET = {"epsilon": 1.0, "delta": 0.01}
S_PRIME = 1.87787556  # s' for this budget, root of theorem 8 found by mpmath
each = pytest.mark.parametrize("kernel", KERNELS, ids=[kernel.__name__ for kernel in KERNELS])


def inputs(n, seed=1):
    return np.random.default_rng(seed).uniform(0, 10, (n, 1))


@each
@pytest.mark.parametrize("variance", [0.4, 3.0])
def test_exact_sensitivity_is_the_largest_rkhs_norm_of_a_unit_change(kernel, variance):
    k, X = kernel(variance=variance, lengthscale=1.5), inputs(20)
    K_ff = k(X, X)
    norms = []
    for e in np.eye(20):
        alpha = np.linalg.solve(K_ff + 0.2 * np.eye(20), e)  # f moves by sum_i alpha_i k(x_i, .)
        norms.append(math.sqrt(sum(a * b * K_ff[i, j] for i, a in enumerate(alpha) for j, b in enumerate(alpha))))
    assert exact_sensitivity(k, X, 0.2) == pytest.approx(max(norms), rel=1e-10)


def test_exact_sensitivity_is_seen_on_a_fine_grid():
    # for values g of a function of the RKHS at any points, g^T K^-1 g <= |function|^2, with equality
    # in the limit; a rough kernel keeps K well conditioned
    k, X = Matern12(lengthscale=2.0), inputs(6)
    grid = np.sort(np.concatenate([np.linspace(-1, 11, 200), X[:, 0]]))[:, None]
    zero, _ = posterior(k, X, np.zeros(6), grid, 0.2)
    longest = max(
        (g - zero) @ np.linalg.solve(k(grid, grid), g - zero)
        for g in (posterior(k, X, e, grid, 0.2)[0] for e in np.eye(6))
    )
    assert math.sqrt(longest) == pytest.approx(exact_sensitivity(k, X, 0.2), rel=1e-8)


@each
@pytest.mark.parametrize("noise_variance", [0.01, 0.3, 5.0])
@pytest.mark.parametrize("n", [1, 3, 40])
def test_exact_sensitivity_is_below_its_bound(kernel, noise_variance, n):
    # s / (s + sigma^2)^2 <= 1 / (4 sigma^2) for every eigenvalue s of K_ff
    found = exact_sensitivity(kernel(variance=1.7), inputs(n), noise_variance)
    assert found <= 1 / (2 * math.sqrt(noise_variance)) * (1 + 1e-12)


def test_bound_is_reached_where_kernel_and_noise_variance_agree():
    assert exact_sensitivity(EQ(variance=0.25), np.zeros((1, 1)), 0.25) == pytest.approx(1.0)


def test_noise_is_a_scaled_draw_from_the_prior(make_dataset):
    k, data, X_test = EQ(lengthscale=2.0), make_dataset(), np.linspace(0, 10, 6)[:, None]
    mechanism = GPPrior(**BUDGET, kernel=k, noise_variance=0.3)
    Delta = exact_sensitivity(k, data.X, 0.3)
    covariance = mechanism.release(data, X_test, np.random.default_rng(1)).noise_covariance()
    np.testing.assert_allclose(covariance, (S_PRIME * 4 * Delta) ** 2 * k(X_test, X_test), rtol=1e-7, atol=1e-9)


def test_mean_is_the_posterior_mean(make_dataset):
    data, X_test = make_dataset(), np.linspace(0, 10, 6)[:, None]
    mechanism = GPPrior(**BUDGET, kernel=EQ(lengthscale=2.0), noise_variance=0.3)
    mean, _ = posterior(EQ(lengthscale=2.0), data.X, data.standardised(), X_test, 0.3)
    released = mechanism.release(data, X_test, np.random.default_rng(1))
    np.testing.assert_allclose(released.mean, data.in_data_units(mean), rtol=1e-12)


@pytest.mark.parametrize("points", [5, 60, 287], ids="{} test points".format)
def test_every_record_is_masked_at_any_test_points(kung_data, kung_model, points, squared_shift):
    # K_** of the smooth kernel is singular to machine precision from about 15 points on; the mechanism's own
    # jitter keeps it invertible, and the shift stays below 1 without any tolerance worth the name
    X_test = np.linspace(-20, 110, points)[:, None]
    plan = GPPrior(**BUDGET, **kung_model).plan(kung_data.X, X_test)
    largest = squared_shift(plan.factor, plan.weights).max()
    assert largest <= 1 + 1e-9
    assert largest > 0.99 or points != 60  # and not loose


def test_repeated_test_points_get_one_noise_value(make_dataset):
    mechanism = GPPrior(**BUDGET, kernel=EQ(lengthscale=2.0), noise_variance=0.3)
    released = mechanism.release(make_dataset(), np.full((4, 1), 5.0), np.random.default_rng(1))
    noise = released.samples[0] - released.mean
    np.testing.assert_allclose(noise, noise[0], rtol=1e-5)


# ---- low-rank inference


@pytest.mark.parametrize("tolerance", [0.05, 1e-12])
def test_low_rank_noise_masks_every_record(make_dataset, tolerance, squared_shift):
    kernel, data, X_test = Matern12(lengthscale=2.0), make_dataset(), np.linspace(0, 10, 9)[:, None]
    mechanism = GPPrior(**BUDGET, kernel=kernel, noise_variance=0.3, inference="lowrank", tolerance=tolerance)
    plan = mechanism.plan(data.X, X_test)
    shifts = squared_shift(plan.factor, plan.weights.dense())
    assert shifts.max() <= 1 + 1e-9
    assert plan.inference.residual <= tolerance


def test_low_rank_and_exact_agree(kung_data, kung_model):
    X_test = np.linspace(0, 90, 5)[:, None]
    low, exact = (
        GPPrior(**BUDGET, **kung_model, inference=name).plan(kung_data.X, X_test) for name in ("lowrank", "exact")
    )
    np.testing.assert_allclose(low.weights.dense(), exact.weights, atol=1e-6)
    np.testing.assert_allclose(low.factor, exact.factor, rtol=1e-6, atol=1e-9)
