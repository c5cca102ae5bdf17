"""Dense helpers, columns in blocks, and singular values of a product."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dpgp_core.gp.pivoted import Features
from dpgp_core.kernels import EQ
from dpgp_core.linalg import (
    BLOCK,
    Columns,
    FactoredMatrix,
    norms,
    spectrum_of,
    sturdy_cholesky,
    values_of,
)
from tests.core.strategies.columns import with_singular_values


def test_a_good_matrix_has_its_cholesky_factor():
    A = np.random.default_rng(0).standard_normal((6, 9))
    np.testing.assert_allclose(sturdy_cholesky(A @ A.T, 1e-3), np.linalg.cholesky(A @ A.T), rtol=1e-12)


@pytest.mark.parametrize("least", [1e-6, 0.3])
def test_indefinite_matrices_get_the_nearest_factor(least):
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


N = 2 * BLOCK + 37  # three blocks, the last one short


def array(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


@pytest.fixture(scope="module")
def features():
    Z = array(1, 5, 2)
    return Features(EQ(), Z, np.linalg.cholesky(EQ()(Z, Z)), array(2, N, 2))


@pytest.fixture(params=["kept", "kept, mapped", "computed when asked"])
def columns(request, features):
    return {
        "kept": Columns(array(3, N, 4)),
        "kept, mapped": Columns(array(3, N, 6), array(4, 4, 6)),
        "computed when asked": Columns(features, array(4, 4, 5)),
    }[request.param]


def test_blocks_are_the_columns_in_order(columns):
    B = columns.values()
    assert columns.shape == B.shape == (4, N)
    assert len(columns.starts()) == 3
    np.testing.assert_allclose(np.hstack(list(columns.over_blocks(Columns.values))), B, atol=1e-11 * np.abs(B).max())


def test_mapped(columns):
    A = array(5, 3, 4)
    np.testing.assert_allclose(columns.mapped(A).values(), A @ columns.values(), atol=1e-12)


def test_norms_by_hand(columns):
    A = array(6, 3, 4)
    np.testing.assert_allclose(norms(columns, A), ((A @ columns.values()) ** 2).sum(axis=0), rtol=1e-10)


def test_triangle_is_a_root_of_the_gram_matrix(columns):
    R = columns.triangle()
    np.testing.assert_array_equal(R, np.triu(R))
    B = columns.values()
    np.testing.assert_allclose(R.T @ R, B @ B.T, rtol=1e-10, atol=1e-9)


def test_triangle_keeps_small_directions():
    # singular values 1 ... 1e-12: their squares would be lost in a Gram matrix
    B = np.logspace(0, -12, 5)[:, None] * np.linalg.qr(array(7, N, 5))[0].T
    np.testing.assert_allclose(np.linalg.svd(Columns(B.T).triangle())[1], np.logspace(0, -12, 5), rtol=1e-3)


def test_threads_give_the_same_numbers(columns):
    A = array(6, 3, 4)
    with ThreadPoolExecutor(3) as threads:
        np.testing.assert_array_equal(norms(columns, A, threads), norms(columns, A))
        np.testing.assert_array_equal(columns.triangle(threads), columns.triangle())


def test_blocks_are_sent_as_their_inputs(features):
    block = Columns(features, array(4, 4, 5))[slice(0, BLOCK)]
    sent = pickle.dumps(block)
    assert len(sent) < 1.1 * 8 * 2 * BLOCK + 2000  # two inputs a column, not five features
    np.testing.assert_array_equal(pickle.loads(sent).values(), block.values())


@pytest.fixture(params=["kept", "computed when asked"])
def factored(request, features):
    left = array(9, 7, 5)
    return FactoredMatrix(left, features.values() if request.param == "kept" else features)


def test_factored_matrix_is_its_product(factored):
    C = factored.dense()
    np.testing.assert_allclose(C, factored.left @ values_of(factored.rows).T, rtol=1e-12)
    assert factored.shape == C.shape
    assert len(factored) == 7
    y, Y, A = array(10, N), array(11, N, 3), array(12, 2, 7)
    np.testing.assert_allclose(factored @ y, C @ y, atol=1e-9)
    np.testing.assert_allclose(factored @ Y, C @ Y, atol=1e-9)
    assert isinstance(A @ factored, FactoredMatrix)
    np.testing.assert_allclose((A @ factored).dense(), A @ C, atol=1e-11)


@pytest.mark.parametrize("decay", [0, 3, 9])
@pytest.mark.parametrize(("P", "n", "r"), [(9, 40, 5), (4, 40, 8), (300, 50, 6), (7, 2 * BLOCK + 9, 6)], ids=str)
@pytest.mark.parametrize("form", ["factored", "dense"])
def test_spectrum_is_the_singular_value_decomposition(P, n, r, decay, form):
    if r > P:
        decay, C = 0, FactoredMatrix(*np.split(np.random.default_rng(1).normal(size=((P + n), r)), [P]))
    else:
        C, _ = with_singular_values(2, P, n, np.logspace(0, -decay, r))
    dense = C.dense()
    tolerance = 10.0 ** -(decay + 1)
    U, s, units, all_s = spectrum_of(C if form == "factored" else dense, tolerance)
    rank = min(P, r)
    expected = np.linalg.svd(dense, compute_uv=False)[:rank]
    np.testing.assert_allclose(s, expected, rtol=1e-4, atol=1e-13)
    np.testing.assert_array_equal(all_s[:rank], s)
    V = units.values()
    np.testing.assert_allclose(U.T @ U, np.eye(rank), atol=1e-10)
    np.testing.assert_allclose((U * s) @ V, dense, atol=1e-12 * expected[0])
    # small directions carry a relative error of eps s_1 / s_r
    np.testing.assert_allclose(V @ V.T, np.eye(rank), atol=1e-4)


def test_nothing_has_rank_zero():
    C = FactoredMatrix(np.zeros((4, 2)), np.ones((6, 2)))
    U, s, units, all_s = spectrum_of(C, 1e-7)
    assert U.shape == (4, 0)
    assert units.shape == (0, 6)
    assert s.shape == (0,)
    assert not all_s.any()
