"""Exact inference: posteriors, predictions, and the factored form."""

import numpy as np
import pytest
from scipy.special import ndtr

from dpgp_core.gp import uncertainty
from dpgp_core.gp.pivoted import factorise
from dpgp_core.gp.regression import InferenceChoice, cloaking_matrix, output_covariance, posterior
from dpgp_core.gp.uncertainty import mixture_half_width, mixture_level, predictive
from dpgp_core.kernels import EQ, KERNELS
from tests.core.gp.test_lowrank import inputs

each = pytest.mark.parametrize("kernel", KERNELS, ids=[kernel.__name__ for kernel in KERNELS])


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    return rng.normal(size=(15, 2)), rng.normal(size=15), rng.normal(size=(6, 2))


@each
def test_cloaking_matrix_is_the_dense_formula(kernel, problem):
    X, _, X_test = problem
    k = kernel(variance=1.5, lengthscale=(0.7, 2.0))
    dense = k(X_test, X) @ np.linalg.inv(k(X, X) + 0.2 * np.eye(15))
    np.testing.assert_allclose(cloaking_matrix(k, X, X_test, 0.2), dense, rtol=1e-9, atol=1e-12)


@each
def test_posterior_is_the_conditional_of_the_joint_gaussian(kernel, problem):
    X, y, X_test = problem
    k = kernel(variance=1.5, lengthscale=0.9)
    both = np.vstack([X, X_test])
    joint = k(both, both) + np.diag([0.2] * 15 + [0.0] * 6)
    # the test block of the joint precision is the inverse conditional covariance; mean = -P_tt^-1 P_ty y
    precision = np.linalg.inv(joint)
    expected_covariance = np.linalg.inv(precision[15:, 15:])
    expected_mean = -expected_covariance @ precision[15:, :15] @ y
    mean, covariance = posterior(k, X, y, X_test, 0.2)
    np.testing.assert_allclose(mean, expected_mean, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(covariance, expected_covariance, rtol=1e-6, atol=1e-9)


def test_sensitivity_is_the_largest_rkhs_norm():
    # f = sum over pivots of a_z k(z, .) with a = L^-T w: its norm, by the kernel matrix of the pivots
    k, X = EQ(lengthscale=2.0), inputs(60)
    low = factorise(k, X, 0.05)
    V = low.features.values()
    w = np.linalg.solve(V.T @ V + 0.3 * np.eye(low.rank), V.T)
    a = np.linalg.solve(low.features.root.T, w)
    norms = np.sqrt(np.sum(a * (k(low.features.Z, low.features.Z) @ a), axis=0))
    assert low.sensitivity(0.3) == pytest.approx(norms.max(), rel=1e-8)
    # and C e_j is that function at the test points
    np.testing.assert_allclose(low.matrix(X, 0.3).dense(), k(X, low.features.Z) @ a, atol=1e-10)


def test_variance_is_the_diagonal_of_the_posterior_covariance():
    k, X, X_test = EQ(lengthscale=2.0), inputs(60), inputs(20, seed=2)
    low = factorise(k, X, 0.05)
    V, V_test = low.features.values(), low.features.at(X_test).values()
    Q = V_test @ V.T
    expected = k(X_test, X_test) - Q @ np.linalg.solve(V @ V.T + 0.3 * np.eye(60), Q.T)
    np.testing.assert_allclose(low.variance(X_test, 0.3), np.diag(expected), rtol=1e-8)


X = np.linspace(0, 10, 15)[:, None]
X_TEST = np.array([[-1.0], [4.2], [30.0]])
KERNEL = EQ(lengthscale=2.0)


def test_simulated_outputs_have_the_models_covariance():
    K = output_covariance(KERNEL, X, 0.3)
    for inference in ("exact", "lowrank"):
        model = predictive(InferenceChoice(inference=inference), KERNEL, X, X_TEST, 0.3)
        y = model.outputs(np.random.default_rng(1), 40_000)
        # 7 standard errors of each of 120 covariances: a false alarm in fewer than one run of 10^9
        error = np.sqrt((np.outer(K.diagonal(), K.diagonal()) + K**2) / len(y))
        assert (np.abs(y.T @ y / len(y) - K) < 7 * error).all()


def test_mixture_half_widths_cover_their_level():
    rng = np.random.default_rng(3)
    shifts, variances = rng.normal(size=(40, 6)), rng.uniform(0.01, 2, size=(40, 6))
    half, sd = mixture_half_width(shifts, variances, 0.95), np.sqrt(variances)
    held = (ndtr((half - shifts) / sd) - ndtr((-half - shifts) / sd)).mean(axis=0)
    np.testing.assert_allclose(held, 0.95, atol=1e-3)
    np.testing.assert_allclose(mixture_level(shifts, variances, half), held, rtol=1e-12)


@pytest.mark.parametrize(
    ("far", "most"), [(0.0, 4.5), (30.0, 22.0)]
)  # bisection alone takes 14; a gap is the worst case
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_mixture_half_widths_take_few_evaluations(level, far, most, monkeypatch):
    evaluated, within = [], uncertainty._within
    monkeypatch.setattr(uncertainty, "_within", lambda *args: evaluated.append(args[2].size) or within(*args))
    rng = np.random.default_rng(4)
    shifts = rng.normal(size=(90, 50)) * rng.uniform(0.1, 3, 50) + far * (rng.uniform(size=(90, 50)) < 0.02)
    variances = rng.uniform(0.01, 2, size=(90, 50))
    half = mixture_half_width(shifts, variances, level)
    assert sum(evaluated) / half.size < most
    assert (mixture_level(shifts, variances, half) >= level).all()
    assert (mixture_level(shifts, variances, half / 1.0006) < level).all()
