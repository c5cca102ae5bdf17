"""Exact inference: posteriors, predictions, and the factored form."""

import numpy as np
import pytest
from scipy.special import ndtr

from dpgp_core.gp.pivoted import factorise
from dpgp_core.gp.regression import InferenceChoice, cloaking_matrix, output_covariance, posterior
from dpgp_core.gp.uncertainty import mixture_half_width, predictive
from dpgp_core.kernels import EQ, KERNELS, Matern32

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


def test_column_of_the_cloaking_matrix_is_what_one_record_does(problem):
    X, y, X_test = problem
    moved = y + np.eye(15)[4] * 0.7
    before, _ = posterior(EQ(), X, y, X_test, 0.3)
    after, _ = posterior(EQ(), X, moved, X_test, 0.3)
    np.testing.assert_allclose(after - before, 0.7 * cloaking_matrix(EQ(), X, X_test, 0.3)[:, 4], atol=1e-13)


def test_posterior_covariance_does_not_depend_on_outputs(problem):
    X, y, X_test = problem
    _, one = posterior(EQ(), X, y, X_test, 0.3)
    _, other = posterior(EQ(), X, 100 * y, X_test, 0.3)
    np.testing.assert_array_equal(one, other)


def test_one_record_by_hand():
    # k = 2 exp(-1/2) at distance one lengthscale, K = 2 + 0.5
    X, X_test = np.array([[0.0]]), np.array([[3.0]])
    mean, covariance = posterior(EQ(variance=2.0, lengthscale=3.0), X, np.array([5.0]), X_test, 0.5)
    k = 2 * np.exp(-0.5)
    assert mean.item() == pytest.approx(k / 2.5 * 5)
    assert covariance.item() == pytest.approx(2 - k * k / 2.5)


def test_output_covariance_adds_the_noise_on_the_diagonal(problem):
    X, _, _ = problem
    np.testing.assert_allclose(output_covariance(Matern32(), X, 0.25), Matern32()(X, X) + 0.25 * np.eye(15), rtol=1e-15)


def test_repeated_inputs_are_fine(problem):
    _, _, X_test = problem
    X = np.zeros((4, 2))
    # n equal inputs act as one record with noise variance 0.1 / 4 and the mean output
    expected = EQ()(X_test, X[:1]) / (1 + 0.1 / 4) / 4
    np.testing.assert_allclose(cloaking_matrix(EQ(), X, X_test, 0.1), np.tile(expected, 4), rtol=1e-12)


@pytest.mark.parametrize("noise_variance", [0.0, -1.0, np.nan, np.inf])
def test_bad_noise_variance_is_named(problem, noise_variance):
    X, y, X_test = problem
    with pytest.raises(ValueError, match=f"noise_variance must be a finite number above 0, got {noise_variance}"):
        posterior(EQ(), X, y, X_test, noise_variance)


@pytest.mark.parametrize("shape", [(6, 3), (6,)], ids=str)
def test_inputs_of_different_width_are_named(problem, shape):
    X, _, _ = problem
    with pytest.raises(ValueError, match=r"equally many columns, got shapes \(15, 2\) and \(6,"):
        cloaking_matrix(EQ(), X, np.zeros(shape), 0.3)


def inputs(n, dim=2, seed=1):
    return np.random.default_rng(seed).uniform(0, 10, (n, dim))


def test_sensitivity_is_the_largest_rkhs_norm_of_what_is_released():
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


def test_triangle_is_that_of_v_and_solved_adds_the_noise():
    low = factorise(EQ(lengthscale=2.0), inputs(60), 1e-6)
    V = low.features.values()
    np.testing.assert_allclose(low.triangle.T @ low.triangle, V.T @ V, atol=1e-10)
    T = low.solved(0.3)
    np.testing.assert_allclose(T.T @ T, V.T @ V + 0.3 * np.eye(low.rank), atol=1e-10)


X = np.linspace(0, 10, 15)[:, None]
X_TEST = np.array([[-1.0], [4.2], [30.0]])
KERNEL = EQ(lengthscale=2.0)


def test_it_is_the_posterior_of_the_exact_model():
    model = predictive(InferenceChoice(inference="exact"), KERNEL, X, X_TEST, 0.3)
    y = np.sin(X[:, 0])
    mean, covariance = posterior(KERNEL, X, y, X_TEST, 0.3)
    np.testing.assert_allclose(model.C, cloaking_matrix(KERNEL, X, X_TEST, 0.3), atol=1e-10)
    np.testing.assert_allclose(model.C @ y, mean, atol=1e-10)
    np.testing.assert_allclose(model.variance, np.diag(covariance), atol=1e-10)


def test_the_low_rank_form_agrees_with_the_exact_one():
    low = predictive(InferenceChoice(inference="lowrank"), KERNEL, X, X_TEST, 0.3)
    exact = predictive(InferenceChoice(inference="exact"), KERNEL, X, X_TEST, 0.3)
    np.testing.assert_allclose(low.variance, exact.variance, atol=1e-5)
    np.testing.assert_allclose(low.C @ np.ones(15), exact.C @ np.ones(15), atol=1e-5)


def test_outputs_made_up_by_the_model_have_its_covariance():
    K = output_covariance(KERNEL, X, 0.3)
    for inference in ("exact", "lowrank"):
        model = predictive(InferenceChoice(inference=inference), KERNEL, X, X_TEST, 0.3)
        y = model.outputs(np.random.default_rng(1), 40_000)
        # 7 standard errors of each of 120 covariances: a false alarm in fewer than one run of 10^9
        error = np.sqrt((np.outer(K.diagonal(), K.diagonal()) + K**2) / len(y))
        assert (np.abs(y.T @ y / len(y) - K) < 7 * error).all()


def test_the_half_width_of_a_mixture_holds_its_level():
    rng = np.random.default_rng(3)
    shifts, variances = rng.normal(size=(40, 6)), rng.uniform(0.01, 2, size=(40, 6))
    half, sd = mixture_half_width(shifts, variances, 0.95), np.sqrt(variances)
    held = (ndtr((half - shifts) / sd) - ndtr((-half - shifts) / sd)).mean(axis=0)
    np.testing.assert_allclose(held, 0.95, atol=1e-3)
