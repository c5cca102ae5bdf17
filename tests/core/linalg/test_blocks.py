import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dpgp_core.gp.pivoted import Features
from dpgp_core.kernels import EQ
from dpgp_core.linalg import BLOCK, Columns, FactoredMatrix, norms, upper, values_of

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


def test_columns_at_indices(columns):
    index = np.array([7, 0, N - 1])
    np.testing.assert_allclose(columns[index].values(), columns.values()[:, index], rtol=1e-12)


def test_mapped_and_first(columns):
    A = array(5, 3, 4)
    np.testing.assert_allclose(columns.mapped(A).values(), A @ columns.values(), atol=1e-12)
    np.testing.assert_allclose(columns.first(2).values(), columns.values()[:2], atol=1e-12)
    np.testing.assert_allclose(columns.mapped(A).first(1).values(), (A @ columns.values())[:1], atol=1e-12)


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


def test_triangle_of_fewer_columns_than_rows():
    B = array(8, 6, 3)
    R = Columns(B.T).triangle()
    assert R.shape == (6, 6)
    np.testing.assert_allclose(R.T @ R, B @ B.T, atol=1e-12)


def test_threads_give_the_same_numbers(columns):
    A = array(6, 3, 4)
    with ThreadPoolExecutor(3) as threads:
        np.testing.assert_array_equal(norms(columns, A, threads), norms(columns, A))
        np.testing.assert_array_equal(columns.triangle(threads), columns.triangle())


def test_a_block_to_be_computed_is_sent_as_its_inputs(features):
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


def test_upper_is_the_triangle_of_qr():
    A = array(13, 9, 4)
    np.testing.assert_allclose(upper(A).T @ upper(A), A.T @ A, atol=1e-12)
    assert upper(A).shape == (4, 4)
