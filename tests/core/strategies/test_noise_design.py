"""The least noise that hides any record, and its certificate."""

import math

import numpy as np
import pytest
from scipy.stats import ortho_group

from dpgp_core.linalg import FactoredMatrix
from dpgp_core.strategies.noise_design import design_noise
from tests.core.strategies.columns import by_name, random_matrix


def log_pseudodeterminant(design):
    return 2 * np.log(np.linalg.svd(design.factor, compute_uv=False)).sum()


# ---- the optimum, by general conic solvers

ORACLE_SHAPES = [(1, 4), (2, 3), (3, 8), (4, 4), (4, 15), (5, 25), (6, 4)]  # (P, n); the last has P > n


def oracle(C, objective, weights=None):
    """Primal form in the precision Y = M^-1 on the column space: c_j^T Y c_j <= 1."""
    import cvxpy as cp  # half a second of every process that only collects tests

    U = np.linalg.svd(C, full_matrices=False)[0]
    B, r = U.T @ C, U.shape[1]
    Y = cp.Variable((r, r), PSD=True)
    constraints = [cp.sum(cp.multiply(np.outer(b, b), Y)) <= 1 for b in B.T]
    if objective == "logdet":
        problem = cp.Problem(cp.Minimize(-cp.log_det(Y)), constraints)
    else:
        root = U.T * np.sqrt(np.ones(len(C)) if weights is None else weights)
        problem = cp.Problem(cp.Minimize(cp.matrix_frac(root, Y)), constraints)
    return problem.solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("shape", ORACLE_SHAPES, ids=str)
def test_designs_agree_with_cvxpy(shape):
    C, rng = random_matrix(0, *shape), np.random.default_rng(100)
    for weights in (None, rng.uniform(0.05, 3, shape[0])):
        noise = design_noise(C, "trace", weights, gap=1e-6).variance()
        found = noise.sum() if weights is None else weights @ noise
        assert found == pytest.approx(oracle(C, "trace", weights), rel=1e-4)
    found = log_pseudodeterminant(design_noise(C, "logdet", gap=1e-6))
    assert found == pytest.approx(oracle(C, "logdet"), rel=1e-4, abs=1e-4)


# ---- the certificate: noise is made of the lambdas, and weak duality bounds the optimum by any such weights

MADE_OF = pytest.mark.parametrize(
    ("C", "gap"), [(random_matrix(10, *shape, decay=3), gap) for shape in ((6, 50), (12, 6)) for gap in (0.5, 1e-5)]
)


@MADE_OF
def test_trace_noise_is_a_root_within_the_gap(C, gap):
    design = design_noise(C, "trace", gap=gap)
    assert design.lambdas.sum() == pytest.approx(1)
    values, vectors = np.linalg.eigh((C * design.lambdas) @ C.T)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    # eigh leaves values of 1e-16 where the rank is short, whose roots are 1e-8
    np.testing.assert_allclose(design.covariance(), design.rescale * root, atol=1e-6)
    # tr M >= |C diag(mu)^{1/2}|_nuclear^2 for any mu in the simplex
    bound = np.linalg.norm(C * np.sqrt(design.lambdas), "nuc") ** 2
    assert bound * (1 - 1e-12) <= np.trace(design.covariance()) <= bound * (1 + design.gap) * (1 + 1e-9)
    assert design.gap <= gap


@MADE_OF
def test_logdet_noise_is_a_sum_within_the_gap(C, gap):
    design = design_noise(C, "logdet", gap=gap)
    assert design.lambdas.sum() == pytest.approx(design.rank)
    kept = design.project(C)
    np.testing.assert_allclose(design.covariance(), design.rescale * (kept * design.lambdas) @ kept.T, atol=1e-10)
    # log|M| >= log|C diag(lambda) C^T| for any lambda >= 0 with sum r
    bound = 2 * np.log(np.linalg.svd(C * np.sqrt(design.lambdas), compute_uv=False)[: design.rank]).sum()
    assert bound - 1e-9 <= log_pseudodeterminant(design) <= bound + design.rank * math.log1p(design.gap) + 1e-9
    assert design.gap <= gap


# ---- small and degenerate cases by hand


ONE, A = np.array([[1.0], [-2.0], [0.5]]), np.array([3.0, 1.0, 2.0])


@by_name
@pytest.mark.parametrize(
    ("C", "covariance", "tolerance"),
    [
        (np.array([[0.5, -3.0, 2.0]]), [[9.0]], {"rtol": 1e-12}),
        (ONE, ONE @ ONE.T, {"rtol": 1e-12}),
        # c_j = a_j e_j: any feasible M has M_jj >= 1 / (M^-1)_jj >= a_j^2, and M = diag(a^2) attains it
        (np.diag(A), np.diag(A**2), {"atol": 1e-6}),
    ],
    ids=["one test point", "one record", "orthogonal columns"],
)
def test_noise_by_hand(objective, C, covariance, tolerance):
    design = design_noise(C, objective, gap=1e-9)
    np.testing.assert_allclose(design.covariance(), covariance, **tolerance)
    assert design.rank == np.linalg.matrix_rank(C)


@by_name
@pytest.mark.parametrize("C", [np.zeros((3, 4)), FactoredMatrix(np.zeros((3, 2)), np.ones((4, 2)))], ids=type)
def test_nothing_to_hide_needs_no_noise(objective, C):
    design = design_noise(C, objective)
    assert (design.rank, design.gap, design.iterations, design.dropped_energy) == (0, 0.0, 0, 0.0)
    np.testing.assert_array_equal(design.covariance(), np.zeros((3, 3)))
    np.testing.assert_array_equal(design.variance(), np.zeros(3))
    np.testing.assert_array_equal(design.project(np.ones(3)), np.zeros(3))
    np.testing.assert_array_equal(design.lambdas, np.zeros(4))


def test_variance_is_diagonal_and_project_a_projection():
    C = random_matrix(21, 8, 5)
    design = design_noise(C)
    np.testing.assert_allclose(design.variance(), np.diag(design.covariance()), rtol=1e-12)
    np.testing.assert_allclose(design.project(C), C, atol=1e-12)
    once = design.project(np.arange(8.0))
    np.testing.assert_allclose(design.project(once), once, atol=1e-12)


def test_dropped_energy_by_hand():
    U, V = ortho_group.rvs(3, size=2, random_state=np.random.default_rng(4))
    design = design_noise(U @ np.diag([10.0, 1.0, 0.1]) @ V, rank_tolerance=0.05)
    assert design.rank == 2
    assert design.dropped_energy == pytest.approx(0.01 / 101.01)
