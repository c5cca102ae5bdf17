"""Gaussian noise around a linear map, GP prior noise, and what is measured as integers."""

import math

import numpy as np
import pytest

from dpgp_core.accounting.gaussian import epsilon_of, noise_multiplier
from dpgp_core.gp.regression import posterior
from dpgp_core.gp.uncertainty import NoInterval
from dpgp_core.kernels import EQ, KERNELS
from dpgp_core.linalg import column_norms
from dpgp_core.mechanisms import GPPrior
from dpgp_core.mechanisms.base import Plan, Release, within_unit
from dpgp_core.mechanisms.gaussian import ClippedStage, GaussianMechanism, measure_exactly, noiseless
from dpgp_core.mechanisms.gp_prior import exact_sensitivity


def release(factor):
    return Release(
        X_test=np.zeros((4, 1)),
        samples=np.zeros((1, 4)),
        guarantee=None,
        statistics=(),
        uncertainty=NoInterval(reason="made for the tests"),
        noise_factor=factor,
    )


def test_release_reports_the_covariance_of_its_factor():
    L = np.random.default_rng(1).normal(size=(4, 3))
    found = release(L)
    np.testing.assert_allclose(found.noise_covariance(), L @ L.T)
    np.testing.assert_allclose(found.noise_sd, np.sqrt(np.diag(L @ L.T)))


def test_noise_in_stages_has_no_covariance():
    for ask in (lambda found: found.noise_sd, lambda found: found.noise_covariance()):
        with pytest.raises(ValueError, match=r"not added once, so it has no covariance; use interval\(\)"):
            ask(release(None))


def test_long_columns_are_shortened_with_equal_product():
    rng = np.random.default_rng(2)
    B, L = 3 * rng.normal(size=(3, 12)), rng.normal(size=(4, 3))
    strategy, factor = within_unit(B, L)
    np.testing.assert_allclose(factor @ strategy, L @ B)
    assert np.linalg.norm(strategy, axis=0).max() == pytest.approx(1)
    short, same = within_unit(0.01 * B, L)
    np.testing.assert_array_equal(short, 0.01 * B)
    assert same is L


class Plain(GaussianMechanism):
    label = "plain"
    theorem = "made for the tests"

    def plan(self, X, X_test):
        return None


@pytest.fixture
def plan():
    rng = np.random.default_rng(1)
    B = rng.normal(size=(3, 12))
    return Plan(strategy=B / np.linalg.norm(B, axis=0), factor=rng.normal(size=(4, 3)))


def test_a_release_is_its_map_plus_noise(make_dataset, plan):
    data, mechanism = make_dataset(), Plain(epsilon=0.5, delta=0.01)
    release = mechanism.measure(plan, data, np.zeros((4, 1)), np.random.default_rng(3), draws=2)
    q = (np.minimum(np.maximum(data.y, -1), 3) - 1) / 4  # midpoint 1, range 4
    mean = 1 + 4 * plan.factor @ (plan.strategy @ q)
    noise = np.random.default_rng(3).standard_normal((2, 3)) @ plan.factor.T * mechanism.noise_multiplier * 4
    np.testing.assert_allclose(release.mean, mean, rtol=1e-13)
    np.testing.assert_allclose(release.samples, mean + noise, rtol=1e-8)  # the multiplier is rounded up by 1e-9


def test_guarantee_can_be_recomputed_from_itself():
    guarantee = Plain(epsilon=2.0, delta=1e-3).guarantee
    assert guarantee.loss.mu == pytest.approx(1 / noise_multiplier(2.0, 1e-3))
    assert epsilon_of(1 / guarantee.loss.mu, guarantee.budget.delta) == pytest.approx(guarantee.budget.epsilon)
    assert guarantee.established
    assert "Balle & Wang" in guarantee.theorem
    assert Plain(epsilon=2.0, delta=1e-3, unproven=True).guarantee == guarantee


def test_hall_below_one_is_established_and_conservative():
    guarantee = Plain(epsilon=0.5, delta=0.01, calibration="hall").guarantee
    assert guarantee.established
    assert guarantee.proven_epsilon < 0.5
    assert "Hall et al." in guarantee.theorem


def test_halls_formula_above_one_is_not_established():
    guarantee = Plain(epsilon=10, delta=0.01, calibration="hall", unproven=True).guarantee
    assert not guarantee.established
    assert guarantee.proven_epsilon > 10  # too little noise: docs/targets.md
    assert guarantee.loss.mu == pytest.approx(10 / math.sqrt(2 * math.log(200)))


BUDGET = {"epsilon": 1.0, "delta": 0.01}
S_PRIME = 1.87787556  # s' for this budget, root of theorem 8 found by mpmath


def inputs(n, seed=1):
    return np.random.default_rng(seed).uniform(0, 10, (n, 1))


@pytest.mark.parametrize("kernel", KERNELS, ids=[kernel.__name__ for kernel in KERNELS])
@pytest.mark.parametrize("variance", [0.4, 3.0])
def test_exact_sensitivity_is_the_largest_rkhs_norm(kernel, variance):
    k, X = kernel(variance=variance, lengthscale=1.5), inputs(20)
    K_ff = k(X, X)
    norms = []
    for e in np.eye(20):
        alpha = np.linalg.solve(K_ff + 0.2 * np.eye(20), e)  # f moves by sum_i alpha_i k(x_i, .)
        norms.append(math.sqrt(sum(a * b * K_ff[i, j] for i, a in enumerate(alpha) for j, b in enumerate(alpha))))
    assert exact_sensitivity(k, X, 0.2) == pytest.approx(max(norms), rel=1e-10)


def test_noise_is_a_scaled_prior_sample(make_dataset):
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


@pytest.fixture
def stage():
    rng = np.random.default_rng(2)
    B = rng.normal(size=(3, 12))
    plan = Plan(strategy=B / np.sqrt(column_norms(B).max()), factor=rng.normal(size=(4, 3)))
    low, high = np.linspace(-1, 0, 12)[None], np.linspace(1, 3, 12)[None]
    return ClippedStage(plan, 0.7, low, high, (high - low).max(axis=1, keepdims=True), np.ones((1, 4)))


def test_real_measurements_with_little_noise_are_exact(stage, make_dataset):
    data = make_dataset()
    z = measure_exactly(stage._replace(noise_multiplier=1e-6), data, 2)
    assert z.shape == (2, 3)
    # places and strategy are rounded to 2^-20, and the noise is a millionth
    np.testing.assert_allclose(z, np.broadcast_to(noiseless(stage, data.clipped_y[None]), (2, 3)), atol=1e-4)
    assert (z[0] != z[1]).all()
