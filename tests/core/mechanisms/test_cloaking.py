"""Cloaking, also with inducing inputs."""

from dataclasses import replace

import numpy as np
import pytest

from datasets import london_sales
from dpgp_core.gp.inducing import choose_inducing, inducing_matrix
from dpgp_core.gp.regression import cloaking_matrix, output_covariance
from dpgp_core.kernels import EQ, Matern32
from dpgp_core.linalg import FactoredMatrix, values_of
from dpgp_core.mechanisms import Cloaking, CloakingInducing
from dpgp_core.mechanisms.cloaking import shrink
from dpgp_core.strategies.noise_design import design_noise
from tests.core.mechanisms.cases import X_TEST

MODEL = {"epsilon": 1.0, "delta": 0.01, "kernel": EQ(lengthscale=2.0), "noise_variance": 0.3}
S_PRIME = 1.87787556  # s'(1, 0.01), root of theorem 8 found by mpmath


def test_released_mean_is_the_projected_posterior_mean(make_dataset):
    data = make_dataset()
    mechanism = Cloaking(**MODEL, rank_tolerance=0.1)
    plan = mechanism.plan(data.X, X_TEST)
    full = cloaking_matrix(MODEL["kernel"], data.X, X_TEST, 0.3) @ data.standardised()
    released = mechanism.release(data, X_TEST, np.random.default_rng(1))
    U = np.linalg.qr(plan.factor)[0]
    assert U.shape[1] < 9
    np.testing.assert_allclose(released.mean, data.in_data_units(U @ (U.T @ full)), rtol=1e-10)


# ---- shrinkage


@pytest.mark.parametrize("scale", [0.5, 7.0, 50.0])
def test_shrinkage_is_the_gp_estimate_given_the_release(make_dataset, scale):
    """Of full rank on 5 test points with a rough kernel, where dense formulas are accurate."""
    kernel, data, X_test = Matern32(lengthscale=2.0), make_dataset(), np.linspace(0, 10, 5)[:, None]
    plan = Cloaking(**{**MODEL, "kernel": kernel}).plan(data.X, X_test)
    assert plan.design.rank == 5
    K, K_sf = output_covariance(kernel, data.X, 0.3), kernel(X_test, data.X)
    C, N = plan.weights, scale**2 * plan.factor @ plan.factor.T
    W = K_sf @ C.T @ np.linalg.pinv(C @ K @ C.T + N)  # the GP estimate given the release
    shrunk = shrink(plan, K, scale)
    np.testing.assert_allclose(shrunk.weights, W @ C, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(shrunk.factor @ shrunk.factor.T, W @ plan.factor @ plan.factor.T @ W.T, rtol=1e-7)


def test_shrunk_release_uses_the_noise_in_model_units(make_dataset):
    data = make_dataset()
    model = {**MODEL, "kernel": Matern32(lengthscale=2.0)}
    plain = Cloaking(**model).plan(data.X, X_TEST)
    K = output_covariance(model["kernel"], data.X, 0.3)
    expected = shrink(plain, K, S_PRIME * 4 / 2)  # range 4, y_scale 2
    released = Cloaking(**model, shrinkage=True).release(data, X_TEST, np.random.default_rng(1))
    np.testing.assert_allclose(released.mean, 1 + 2 * expected.weights @ data.standardised(), rtol=1e-8)
    np.testing.assert_allclose(released.noise_factor, S_PRIME * 4 * expected.factor, rtol=1e-6, atol=1e-8)


# ---- low-rank inference


@pytest.mark.parametrize("tolerance", [0.05, 1e-12])
def test_low_rank_shrinkage_uses_its_covariance(make_dataset, tolerance):
    data, X_test = make_dataset(), np.linspace(0, 10, 5)[:, None]
    kernel = Matern32(lengthscale=4.0)
    mechanism = Cloaking(**{**MODEL, "kernel": kernel}, inference="lowrank", tolerance=tolerance)
    plan = mechanism.plan(data.X, X_test)
    V = values_of(plan.strategy.rows)
    dense = replace(plan, strategy=plan.strategy.dense())
    expected = shrink(dense, V @ V.T + 0.3 * np.eye(12), scale=2.0)
    for triangle in (plan.strategy.triangle, None):
        strategy = FactoredMatrix(plan.strategy.left, plan.strategy.rows, triangle)
        found = shrink(replace(plan, strategy=strategy), 0.3, scale=2.0)
        np.testing.assert_allclose(found.weights.dense(), expected.weights, atol=1e-10)
        np.testing.assert_allclose(found.factor, expected.factor, atol=1e-10)


@pytest.mark.full_for("True")
@pytest.mark.parametrize("shrinkage", [False, True])
def test_low_rank_and_exact_releases_agree(shrinkage):
    data = london_sales.load(n=1600)
    X_test = data.X[::40]
    model = {**MODEL, "kernel": EQ(lengthscale=15.0), "rank_tolerance": 1e-5, "shrinkage": shrinkage}
    auto, exact = (Cloaking(**model, inference=name) for name in ("auto", "exact"))
    low_plan = auto.plan(data.X, X_test)
    assert isinstance(low_plan.weights, FactoredMatrix)
    assert low_plan.inference.method == "lowrank"
    found, expected = (m.release(data, X_test, np.random.default_rng(1)) for m in (auto, exact))
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-4)
    # either design is within the gap of the same optimum
    assert (found.noise_sd**2).sum() == pytest.approx((expected.noise_sd**2).sum(), rel=2e-3)


def test_release_is_designed_for_the_sparse_matrix(make_dataset):
    data, Z = make_dataset(), [[1.0], [4.0], [8.0]]
    C = inducing_matrix(MODEL["kernel"], data.X, X_TEST, np.array(Z), 0.3)
    design = design_noise(C, "trace")
    found = CloakingInducing(**MODEL, Z=Z).release(data, X_TEST, np.random.default_rng(1))
    np.testing.assert_allclose(found.mean, data.in_data_units(C @ data.standardised()), rtol=1e-9)
    # 1.8779 = s'(1, 0.01), bounds 4 apart
    np.testing.assert_allclose(found.noise_covariance(), (4 * 1.87787556) ** 2 * design.covariance(), rtol=1e-6)
    assert design.rank == 3


def test_inducing_inputs_are_k_means_of_inputs(make_dataset):
    X = make_dataset().X
    mechanism = CloakingInducing(**MODEL, n_inducing=4, seed=7)
    np.testing.assert_array_equal(mechanism.inducing_inputs(X), choose_inducing(X, 4, np.random.default_rng(7)))
    assert mechanism.plan(X, X_TEST).design.rank <= 4
