import numpy as np
import pytest

from dpgp_core.gp import regression as inference
from dpgp_core.gp.pivoted import factorise
from dpgp_core.gp.regression import Inference, InferenceChoice, cloaking_matrix, describe
from dpgp_core.kernels import EQ, KERNELS, Matern12
from dpgp_core.linalg import FactoredMatrix


def inputs(n):
    return np.random.default_rng(1).uniform(0, 10, (n, 2))


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
def test_auto_goes_by_the_number_of_records_and_the_spectrum(n, kernel, expected):
    C, how = run(n, kernel)
    assert how.method == expected
    assert isinstance(C, FactoredMatrix) == (expected == "lowrank")
    assert C.shape == (2, n)
    dense = C.dense() if isinstance(C, FactoredMatrix) else C
    exact = cloaking_matrix(kernel, inputs(n), X_TEST, 0.3)
    np.testing.assert_allclose(dense, exact, atol=1e-6 * np.abs(exact).max())


@pytest.mark.parametrize("method", ["exact", "lowrank"])
def test_a_method_asked_for_is_used(method):
    C, how = run(30, EQ(lengthscale=5.0), inference=method)
    assert how.method == method
    assert isinstance(C, FactoredMatrix) == (method == "lowrank")


def test_the_record_is_that_of_the_factorisation():
    C, how = run(50, EQ(lengthscale=5.0), inference="lowrank", tolerance=1e-4)
    low = factorise(EQ(lengthscale=5.0), inputs(50), 1e-4)
    assert how == Inference(method="lowrank", rank=low.rank, residual=low.residual) == describe(low)
    assert C.left.shape == (2, how.rank)
    assert describe(None) == Inference(method="exact", rank=None, residual=None)


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


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ({"inference": "fast"}, "inference must be one of 'auto', 'exact', 'lowrank', got 'fast'"),
        ({"tolerance": 0.0}, r"tolerance must be in \[1e-13, 1\), got 0.0"),
    ],
)
def test_bad_choices_are_named(choice, sentence):
    with pytest.raises(ValueError, match=sentence):
        InferenceChoice(**choice).check_inference()


def test_bad_problems_are_named():
    with pytest.raises(ValueError, match="noise_variance must be a finite number above 0"):
        InferenceChoice().cloaking_matrix(EQ(), inputs(5), X_TEST, 0.0)
    with pytest.raises(ValueError, match="equally many columns"):
        InferenceChoice().cloaking_matrix(EQ(), inputs(5), X_TEST[:, :1], 0.3)


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    return rng.normal(size=(40, 2)), rng.normal(size=(6, 2))


@pytest.mark.parametrize("kernel", KERNELS, ids=[kernel.__name__ for kernel in KERNELS])
def test_low_rank_agrees_with_exact_inference(kernel, problem):
    k = kernel(variance=1.5, lengthscale=(0.7, 2.0))
    C = inference.cloaking_matrix(k, *problem, 0.2, method="lowrank")
    np.testing.assert_allclose(C, cloaking_matrix(k, *problem, 0.2), atol=1e-7)


@pytest.mark.parametrize("tolerance", [0.2, 1e-2, 1e-4])
def test_the_error_falls_with_the_tolerance(problem, tolerance):
    # with E = K_ff - V V^T: each factor of C is off by at most |E| / noise <= tolerance tr(K_ff) / noise
    C = inference.cloaking_matrix(EQ(), *problem, 0.3, method="lowrank", tolerance=tolerance)
    error = np.abs(C - cloaking_matrix(EQ(), *problem, 0.3)).max()
    assert 0 < error <= min(1.0, 2 * np.sqrt(tolerance * 40 / 0.3))
