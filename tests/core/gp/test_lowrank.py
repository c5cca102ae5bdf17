"""Low-rank inference by pivoted factors."""

from concurrent.futures import Executor

import numpy as np
import pytest

from dpgp_core.gp import pivoted
from dpgp_core.gp import regression as inference
from dpgp_core.gp.pivoted import factorise
from dpgp_core.gp.regression import Inference, InferenceChoice, cloaking_matrix, describe
from dpgp_core.kernels import EQ, KERNELS, Matern12
from dpgp_core.linalg import BLOCK, FactoredMatrix
from dpgp_core.mechanisms.gp_prior import exact_sensitivity


def inputs(n, seed=1):
    return np.random.default_rng(seed).uniform(0, 10, (n, 2))


X_TEST = np.array([[1.0, 2.0], [5.0, 5.0]])


def run(n, kernel, **choice):
    C, low = InferenceChoice(**choice).cloaking_matrix(kernel, inputs(n), X_TEST, 0.3)
    return C, describe(low)


@pytest.mark.parametrize(
    ("n", "kernel", "expected"),
    [
        (inference.EXACT_ALWAYS, EQ(lengthscale=5.0), "exact"),
        (inference.EXACT_ALWAYS + 1, EQ(lengthscale=5.0), "lowrank"),
        (inference.EXACT_ALWAYS + 1, Matern12(lengthscale=0.1), "exact"),  # of nearly full rank
    ],
)
def test_auto_depends_on_records_and_spectrum(n, kernel, expected):
    C, how = run(n, kernel)
    assert how.method == expected
    assert isinstance(C, FactoredMatrix) == (expected == "lowrank")
    assert C.shape == (2, n)
    dense = C.dense() if isinstance(C, FactoredMatrix) else C
    exact = cloaking_matrix(kernel, inputs(n), X_TEST, 0.3)
    np.testing.assert_allclose(dense, exact, atol=1e-6 * np.abs(exact).max())


def test_the_record_is_that_of_the_factorisation():
    C, how = run(50, EQ(lengthscale=5.0), inference="lowrank", tolerance=1e-4)
    low = factorise(EQ(lengthscale=5.0), inputs(50), 1e-4)
    assert how == Inference(method="lowrank", rank=low.rank, residual=low.residual) == describe(low)
    assert C.left.shape == (2, how.rank)
    C, how = run(50, EQ(lengthscale=5.0), inference="exact")
    assert how == Inference(method="exact", rank=None, residual=None)
    assert C.shape == (2, 50)


def test_too_many_records_for_both_are_refused(monkeypatch):
    monkeypatch.setattr(inference, "EXACT_ALWAYS", 10)
    monkeypatch.setattr(inference, "LARGEST_EXACT", 100)
    rough = Matern12(lengthscale=0.01)
    with pytest.raises(ValueError, match="exact inference is limited to 100 records, got 101; use inference='auto'"):
        run(101, rough, inference="exact")
    monkeypatch.setattr("dpgp_core.gp.pivoted.LARGEST_RANK", 20)
    sentence = "exact inference is limited to 100 records, and the residual asked for is not reached with 20 pivots"
    with pytest.raises(ValueError, match=sentence):
        run(101, rough)
    assert run(100, rough)[1].method == "exact"


each = pytest.mark.parametrize("kernel", KERNELS, ids=[kernel.__name__ for kernel in KERNELS])


@each
def test_low_rank_agrees_with_exact_inference(kernel):
    k, X, X_test = kernel(variance=1.5, lengthscale=(3.0, 9.0)), inputs(40), inputs(6, seed=2)
    C = inference.cloaking_matrix(k, X, X_test, 0.2, method="lowrank")
    np.testing.assert_allclose(C, cloaking_matrix(k, X, X_test, 0.2), atol=1e-7)


class Elsewhere(Executor):
    """Workers that share no memory, as far as ``factorise`` knows."""

    def map(self, fn, *iterables, **options):
        return map(fn, *iterables)


@each
@pytest.mark.parametrize("tolerance", [0.1, 1e-3, 1e-6])
def test_residual_is_the_trace_left_out(kernel, tolerance):
    k, X = kernel(variance=1.7, lengthscale=(4.0, 7.0)), inputs(150)
    low = factorise(k, X, tolerance)
    V = low.features.values()
    assert V.shape == (150, low.rank)
    expected = 1 - np.trace(V @ V.T) / np.trace(k(X, X))
    assert low.residual == pytest.approx(expected, rel=1e-8, abs=1e-14)
    assert low.residual <= tolerance
    # what is left is a covariance, so the residual bounds every entry of it
    assert np.linalg.eigvalsh(k(X, X) - V @ V.T).min() >= -1e-10


def test_rank_is_near_the_best_possible():
    k, X = EQ(lengthscale=5.0), inputs(300)
    values = np.linalg.eigvalsh(k(X, X))[::-1]
    best = int((np.cumsum(values) < values.sum() * (1 - 1e-8)).sum()) + 1
    assert best <= factorise(k, X, 1e-8).rank <= 1.5 * best


def test_all_pivots_give_the_exact_posterior():
    k, X, X_test = Matern12(lengthscale=2.0), inputs(40), inputs(7, seed=2)
    low = factorise(k, X, 1e-13)
    assert low.rank == 40
    np.testing.assert_allclose(
        low.matrix(X_test, 0.2).dense(), cloaking_matrix(k, X, X_test, 0.2), rtol=1e-8, atol=1e-10
    )
    assert low.sensitivity(0.2) == pytest.approx(exact_sensitivity(k, X, 0.2), rel=1e-8)
    variance = k.diagonal(X_test) - np.sum(cloaking_matrix(k, X, X_test, 0.2) * k(X_test, X), axis=1)
    np.testing.assert_allclose(low.variance(X_test, 0.2), variance, rtol=1e-8)


# ---- more inputs than are looked at for pivots at a time


@pytest.mark.parametrize("n", [3000, 2 * BLOCK + 5])
def test_residual_counts_every_input(n, monkeypatch):
    # one input in a thousand lies far off, in gaps of the evenly spaced candidates
    monkeypatch.setattr(pivoted, "_CANDIDATES", 200)
    monkeypatch.setattr(pivoted, "_SUBSAMPLE", 4000)
    k, X = EQ(lengthscale=4.0), inputs(n)
    X[1::1000] += 50
    low = factorise(k, X, 1e-9)
    left = k.diagonal(X) - (low.features.values() ** 2).sum(axis=1)
    assert left.sum() / n <= 1e-9
    assert left.max() <= 1e-9 * n
    assert any(z[0] > 40 for z in low.features.Z)


def test_rows_are_kept_only_in_this_process():
    k, X = EQ(lengthscale=3.0), inputs(BLOCK + 10)
    here, elsewhere = factorise(k, X, 1e-6), factorise(k, X, 1e-6, executor=Elsewhere())
    V, picked = here.rows.values(), np.array([3, BLOCK + 5, 17])
    assert isinstance(V, np.ndarray)
    assert here.rows[slice(BLOCK)].base is V
    assert elsewhere.rows is elsewhere.features
    np.testing.assert_array_equal(V, np.vstack([elsewhere.rows[slice(BLOCK)].values(), V[BLOCK:]]))
    np.testing.assert_array_equal(here.rows[picked].values(), elsewhere.rows[picked].values())
    np.testing.assert_allclose(here.rows[picked].values(), V[picked], atol=1e-12)
    np.testing.assert_array_equal(here.triangle, elsewhere.triangle)
    assert here.residual == elsewhere.residual


def test_duplicate_inputs_need_no_more_pivots():
    k, X = EQ(lengthscale=2.0), inputs(30)
    assert factorise(k, np.repeat(X, 100, axis=0), 1e-10).rank <= 30
