"""Integral bins and Laplace bins."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from dpgp_core.accounting.guarantee import ONE_OUTPUT
from dpgp_core.accounting.losses import PureLoss
from dpgp_core.gp.grid import k_FF, k_Ff, volumes
from dpgp_core.gp.regression import cloaking_matrix
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import IntegralBinning, LaplaceBinning
from dpgp_core.mechanisms.bins import bin_covariance, fit_white_noise
from tests.core.mechanisms.cases import X_TEST

MODEL = {"epsilon": 1.0, "bins": 5, "kernel_variance": 1.3, "lengthscale": 2.0}


@pytest.mark.parametrize("white_noise", [0.0, 0.4])
def test_predictions_use_means_times_volumes(make_dataset, white_noise):
    data, mechanism = make_dataset(), IntegralBinning(**MODEL, white_noise=white_noise)
    released = mechanism.release(data, X_TEST, np.random.default_rng(1))
    bins = mechanism.plan_for(data, X_TEST)
    same_noise = LaplaceBinning(epsilon=1.0, bins=5).release(data, bins.boxes.mean(axis=2), np.random.default_rng(1))
    size = volumes(bins.boxes)
    integrals = (same_noise.samples[0] - data.midpoint) / data.y_scale * size
    noise = size**2 * (2 * (data.output_range / data.y_scale / bins.counts) ** 2 + white_noise / bins.counts)
    K = k_FF(mechanism.kernel, bins.boxes, bins.boxes) + np.diag(noise)
    expected = k_Ff(mechanism.kernel, bins.boxes, X_TEST).T @ np.linalg.solve(K, integrals)
    np.testing.assert_allclose(released.samples[0], data.in_data_units(expected), rtol=1e-9)


def test_guarantee_is_that_of_the_bins(make_dataset):
    mechanism = IntegralBinning(**MODEL, fit_noise=True)
    bins = LaplaceBinning(epsilon=1.0, bins=5).guarantee
    assert mechanism.guarantee.loss == bins.loss == PureLoss(1.0)
    assert mechanism.guarantee.budget.delta == bins.budget.delta == 0
    assert "post-processing" in mechanism.guarantee.theorem
    assert "parallel composition" in bins.theorem
    assert (bins.protects, bins.neighbours) == ("outputs", ONE_OUTPUT)
    plan = mechanism.plan_for(make_dataset(), X_TEST)
    np.testing.assert_allclose((plan.weights * plan.counts[:, None]).sum(axis=0), 1.0)


def test_narrow_bins_without_noise_are_the_exact_gp(make_dataset):
    data = make_dataset()
    mechanism = IntegralBinning(**{**MODEL, "epsilon": 1e6, "bins": 100_000}, white_noise=0.3)
    released = mechanism.release(data, X_TEST, np.random.default_rng(1))
    C = cloaking_matrix(EQ(variance=1.3, lengthscale=2.0), data.X, X_TEST, 0.3)
    np.testing.assert_allclose(released.mean, data.in_data_units(C @ data.standardised()), atol=1e-4)


def test_empty_bins_are_not_used(make_dataset):
    data = make_dataset(X=np.linspace(0, 4, 12)[:, None])
    mechanism = IntegralBinning(**{**MODEL, "bins": 10})
    assert mechanism.release(data, X_TEST, np.random.default_rng(1)).noise_factor.shape == (9, 5)


def test_huge_epsilon_and_smooth_kernel_are_computed(make_dataset):
    mechanism = IntegralBinning(**{**MODEL, "epsilon": 1e6, "bins": 100, "lengthscale": 500.0})
    assert np.isfinite(mechanism.release(make_dataset(), X_TEST, np.random.default_rng(1)).samples).all()


# ---- fitted white noise


def test_fitted_noise_maximises_the_marginal_likelihood(make_dataset):
    data, mechanism = make_dataset(), IntegralBinning(**MODEL)
    plan = mechanism.plan_for(data, X_TEST)
    K = bin_covariance(mechanism.kernel, plan, 0.1 * np.sqrt(2) / plan.counts)
    rng = np.random.default_rng(3)
    for true in (0.0, 0.05, 2.0):
        value = rng.multivariate_normal(np.zeros(len(K)), K + np.diag(true / plan.counts))
        (found,) = fit_white_noise(K, plan, value[None], 1.3)

        def likelihood(w, value=value):
            return multivariate_normal.logpdf(value, cov=K + np.diag(w / plan.counts))

        best = max(likelihood(w) for w in [0.0, *np.geomspace(1e-7, 1e4, 2000)])
        assert likelihood(found) == pytest.approx(best, abs=0.005)  # steps of 12 %


def test_each_release_has_its_own_fit(make_dataset):
    data, mechanism = make_dataset(), IntegralBinning(**{**MODEL, "epsilon": 3.0}, fit_noise=True)
    several = mechanism.release(data, X_TEST, np.random.default_rng(1), 6)
    plan = mechanism.plan_for(data, X_TEST)
    z = mechanism.measured(plan, data, np.random.default_rng(1), 6)
    K = bin_covariance(mechanism.kernel, plan, mechanism.noise_sds(plan, data) / data.y_scale)
    fitted = fit_white_noise(K, plan, (mechanism.means(plan, data, z) - data.midpoint) / data.y_scale, 1.3)
    assert len(set(fitted)) > 1
    for draw, white in enumerate(fitted):
        fixed = replace(mechanism, fit_noise=False, white_noise=white)
        same = fixed.release(data, X_TEST, np.random.default_rng(1), 6)
        np.testing.assert_allclose(several.samples[draw], same.samples[draw], rtol=1e-9)
        if draw == 0:
            np.testing.assert_allclose(several.mean, same.mean, rtol=1e-9)
            np.testing.assert_allclose(several.noise_factor, same.noise_factor, rtol=1e-9, atol=1e-12)


AGES = np.linspace(0, 10, 21)[:, None]  # the data lie in 0 ... 10


def test_test_points_share_their_bins_value_and_noise(make_dataset):
    data = make_dataset()
    released = LaplaceBinning(epsilon=1.0, bins=5).release(data, AGES, np.random.default_rng(1))
    for x, mean, sd in zip(AGES[:, 0], released.mean, released.noise_sd, strict=True):
        member = np.minimum(data.X[:, 0] // 2, 4) == min(x // 2, 4)
        assert mean == pytest.approx(
            data.clipped_y[member].mean() if member.any() else 1.0, abs=data.output_range * 2.0**-20
        )
        assert sd == pytest.approx(np.sqrt(2) * data.output_range / member.sum() if member.any() else 0.0)
    same = (AGES[:, 0] >= 2) & (AGES[:, 0] < 4)
    assert len(set(released.samples[0, same])) == 1


def test_empty_bins_have_the_public_midpoint(make_dataset):
    for y in (make_dataset().y, np.full(12, 3.0)):
        data = make_dataset(X=np.linspace(0, 4, 12)[:, None], y=y)
        released = LaplaceBinning(epsilon=1.0, bins=10).release(data, np.array([[9.0]]), np.random.default_rng(1), 2)
        np.testing.assert_array_equal(released.samples, [[1.0], [1.0]])
        np.testing.assert_array_equal(released.noise_sd, [0.0])


def test_four_dimensions_and_bins_of_each(make_dataset):
    X = np.random.default_rng(1).uniform(0, 1, (12, 4))
    public = {"x_names": ("a",) * 4, "x_units": ("m",) * 4, "x_box": ((0.0, 1.0),) * 4}
    data = make_dataset(X=X, **public)
    released = LaplaceBinning(epsilon=1e3, bins=[30, 20, 20, 10]).release(data, X, np.random.default_rng(1))
    np.testing.assert_allclose(released.mean, data.clipped_y, atol=data.output_range * 2.0**-20)
    assert (released.noise_sd > 0).all()
