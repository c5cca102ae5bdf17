import numpy as np
import pytest

from dpgp_core.linalg import column_norms, sturdy_cholesky


def test_norms_are_those_of_columns():
    np.testing.assert_allclose(column_norms(np.array([[3.0, 1.0], [4.0, 2.0]])), [25, 5])


def test_a_good_matrix_has_its_cholesky_factor():
    A = np.random.default_rng(0).standard_normal((6, 9))
    np.testing.assert_allclose(sturdy_cholesky(A @ A.T, 1e-3), np.linalg.cholesky(A @ A.T), rtol=1e-12)


@pytest.mark.parametrize("least", [1e-6, 0.3])
def test_an_indefinite_matrix_has_the_factor_of_the_nearest_one_whose_eigenvalues_are_large_enough(least):
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((5, 5)))[0]
    values = np.array([4.0, 2.0, 1.0, 0.5, -1.0])
    L = sturdy_cholesky((Q * values) @ Q.T, least)
    assert (L.diagonal() > 0).all()
    np.testing.assert_allclose(np.triu(L, 1), 0, atol=1e-12)
    np.testing.assert_allclose(L @ L.T, (Q * np.maximum(values, least)) @ Q.T, atol=1e-9)


def test_what_is_no_number_does_not_stop_it():
    S = np.diag([1.0, 2.0, 3.0])
    S[0, 1] = S[1, 0] = np.nan
    assert np.isfinite(sturdy_cholesky(S, 1e-3)).all()
