import numpy as np
import pytest

from dpgp_core.gp.pivoted import factorise
from dpgp_core.kernels import EQ


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
