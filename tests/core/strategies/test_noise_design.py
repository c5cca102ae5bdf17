import math

import cvxpy as cp
import mpmath
import numpy as np
import pytest
from scipy.linalg import sqrtm
from scipy.stats import ortho_group

from dpgp_core.gp.exact import cloaking_matrix
from dpgp_core.kernels import EQ, Matern32
from dpgp_core.linalg.blocks import BLOCK, FactoredMatrix
from dpgp_core.strategies.noise_design import design_noise

both = pytest.mark.parametrize("objective", ["trace", "logdet"])


def random_matrix(seed, P, n, decay=0.0):
    """Random C (P, n) with singular values falling over ``decay`` decades."""
    rng = np.random.default_rng(seed)
    U, s, Vt = np.linalg.svd(rng.normal(size=(P, n)), full_matrices=False)
    return (U * s * np.logspace(0, -decay, len(s))) @ Vt


def log_pseudodeterminant(design):
    return 2 * np.log(np.linalg.svd(design.factor, compute_uv=False)).sum()


# ---- the optimum, by general conic solvers

ORACLE_SHAPES = [(1, 4), (2, 3), (3, 8), (4, 4), (4, 15), (5, 25), (6, 4)]  # (P, n); the last has P > n


def oracle(C, objective, weights=None):
    """Primal form in the precision Y = M^-1 on the column space: c_j^T Y c_j <= 1."""
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
@pytest.mark.parametrize("seed", range(3))
def test_trace_agrees_with_cvxpy(shape, seed):
    C = random_matrix(seed, *shape)
    found = np.trace(design_noise(C, "trace", gap=1e-6).covariance())
    assert found == pytest.approx(oracle(C, "trace"), rel=1e-4)


@pytest.mark.parametrize("shape", ORACLE_SHAPES, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_logdet_agrees_with_cvxpy(shape, seed):
    C = random_matrix(seed, *shape)
    found = log_pseudodeterminant(design_noise(C, "logdet", gap=1e-6))
    assert found == pytest.approx(oracle(C, "logdet"), rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("shape", ORACLE_SHAPES[1:], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_weighted_trace_agrees_with_cvxpy(shape, seed):
    C = random_matrix(seed, *shape)
    weights = np.random.default_rng(100 + seed).uniform(0.05, 3, shape[0])
    found = weights @ design_noise(C, "trace", weights, gap=1e-6).variance()
    assert found == pytest.approx(oracle(C, "trace", weights), rel=1e-4)


def test_weights_only_matter_up_to_a_factor():
    C, weights = random_matrix(4, 4, 9), np.array([1.0, 0.2, 3.0, 0.5])
    one, other = design_noise(C, "trace", weights), design_noise(C, "trace", 1000 * weights)
    np.testing.assert_allclose(one.covariance(), other.covariance(), rtol=1e-9)


def test_noise_moves_away_from_the_heavy_test_points():
    C = random_matrix(5, 4, 9)
    heavy = design_noise(C, "trace", np.array([100.0, 1.0, 1.0, 1.0])).variance()
    plain = design_noise(C, "trace").variance()
    assert heavy[0] < 0.9 * plain[0]
    assert heavy[1:].sum() > plain[1:].sum()


def test_test_points_of_weight_zero_still_get_finite_noise():
    design = design_noise(random_matrix(6, 3, 9), "trace", np.array([1.0, 0.0, 0.0]))
    assert np.isfinite(design.covariance()).all()


# ---- privacy: no projected column is longer than 1 in the noise's metric

TOLERANCES = [0.5, 0.1, 1e-3, 1e-5, 1e-7, "auto"]


def random_case(rng):
    """One C with the awkward features of practice, and every option of design_noise."""
    P, n = rng.integers(1, rng.choice([4, 13, 60]), 2)
    C = random_matrix(rng.integers(2**32), P, n, decay=rng.choice([0, 2, 9]))
    if rng.random() < 0.3:  # duplicate columns
        C = C[:, rng.integers(0, n, n + 3)]
    if rng.random() < 0.3:  # zero columns
        C = C * (rng.random(C.shape[1]) < 0.7)
    if rng.random() < 0.3:  # records of very different influence
        C = C * np.logspace(0, -rng.uniform(0, 8), C.shape[1])
    if rng.random() < 0.2:  # duplicate test points: rank below both dimensions
        C = C[rng.integers(0, P, P + 2)]
    C = C * 10.0 ** rng.integers(-6, 7)
    options = {
        "objective": str(rng.choice(["trace", "logdet"])),
        "gap": float(rng.choice([1e-5, 1e-3, 0.1, 3.0])),
        "rank_tolerance": TOLERANCES[rng.integers(len(TOLERANCES))],
    }
    if options["objective"] == "trace" and rng.random() < 0.5:
        weights = rng.uniform(size=len(C)) ** rng.choice([1, 8]) * (rng.random(len(C)) < 0.8)
        weights[rng.integers(len(C))] = 1.0
        options["weights"] = weights
    return C, options


@pytest.mark.parametrize("seed", range(20))
def test_largest_shift_is_one_in_50_random_cases(seed, squared_shift):
    rng = np.random.default_rng(seed)
    for case in range(50):
        C, options = random_case(rng)
        design = design_noise(C, **options)
        assert design.factor.shape == (len(C), design.rank), (seed, case)
        if design.rank == 0:
            assert not C.any(), (seed, case)
            continue
        largest = squared_shift(design.factor, design.project(C)).max()
        assert 1 - 1e-6 <= largest <= 1 + 1e-9, (seed, case, options, largest)
        assert design.gap <= options["gap"], (seed, case, options, design.gap)


@pytest.mark.parametrize(
    ("seed", "weighted"),
    [(131, False), (192, False), (0, True), (2, True), (5, True), (14, True)],
    ids=lambda value: {True: "weighted", False: "uniform"}.get(value) if isinstance(value, bool) else None,
)
def test_records_of_uneven_density_reach_the_gap_asked_for(seed, weighted):
    # many records near 0 and few far off: some singular directions hang on one column of tiny weight;
    # a solver that drops such columns from its working set cycles, or stops with a singular matrix
    rng = np.random.default_rng(seed)
    X, X_test = np.exp(rng.normal(size=(200, 1))), np.linspace(-2, 12, 30)[:, None]
    weights = (rng.random(30) < 0.3) + 1e-9 if weighted else None
    for kernel in (EQ(lengthscale=0.5), EQ(), Matern32()):
        design = design_noise(cloaking_matrix(kernel, X, X_test, 0.1), "trace", weights)
        assert design.gap <= 1e-3, kernel


@both
@pytest.mark.parametrize("rank_tolerance", [0.3, 1e-3], ids=str)
def test_columns_outside_the_kept_space_are_masked_too(objective, rank_tolerance, squared_shift):
    C = random_matrix(7, 10, 30, decay=8)
    # a record that mostly moves what the tolerance drops
    C[:, 3] = np.linalg.svd(C)[0][:, -1] * np.linalg.norm(C[:, 3])
    design = design_noise(C, objective, rank_tolerance=rank_tolerance)
    assert design.rank < 10
    shifts = squared_shift(design.factor, design.project(C))
    assert shifts.max() <= 1 + 1e-9
    # whatever is released lies in the span of the noise
    released = design.project(C)
    np.testing.assert_allclose(design.factor @ np.linalg.pinv(design.factor) @ released, released, atol=1e-9)


def exact_shifts(design, C):
    """Squared shifts of U U^T c_j in the metric of L L^T, L = U root, for the floats as stored, at 60 digits."""
    with mpmath.workdps(60):
        LU, pivots = mpmath.mp.LU_decomp(mpmath.matrix(design.root.tolist()))
        reduced = mpmath.matrix(design.basis.T.tolist()) * mpmath.matrix(C.tolist())
        whitened = (mpmath.mp.U_solve(LU, mpmath.mp.L_solve(LU, reduced[:, j], pivots)) for j in range(C.shape[1]))
        return [mpmath.fsum(x**2 for x in white) for white in whitened]


@both
@pytest.mark.parametrize(
    ("decay", "rank_tolerance", "weights"),
    [(0, 1e-7, None), (6, 1e-7, None), (11, 1e-12, None), (11, 1e-9, None), (6, 1e-7, [1, 1e-4, 0, 1, 0.3, 1, 1, 0])],
    ids=["flat", "6 decades", "11 decades", "11 decades, 9 kept", "weighted"],
)
def test_largest_shift_at_sixty_digits(objective, decay, rank_tolerance, weights):
    if weights is not None and objective == "logdet":
        objective = "trace"
    C = random_matrix(7, 8, 14, decay)  # without rounding up, its log-det noise over 11 decades is 2e-5 too small
    weights = None if weights is None else np.array(weights, dtype=float)
    design = design_noise(C, objective, weights, rank_tolerance=rank_tolerance)
    largest = max(exact_shifts(design, C))
    # rounding up costs at most what the kept condition number makes uncertain
    assert largest <= 1 + 1e-9
    assert largest >= 1 - 1e-14 / rank_tolerance - 1e-9


# ---- the certificate


def reduced(C, design):
    """C in coordinates of the kept space."""
    return design.basis.T @ C


@both
@pytest.mark.parametrize("gap", [0.5, 1e-2, 1e-5])
@pytest.mark.parametrize("shape", [(5, 40), (20, 12)], ids=str)
def test_gap_follows_from_the_lambdas(objective, gap, shape):
    C = random_matrix(9, *shape, decay=2)
    design = design_noise(C, objective, gap=gap)
    B = reduced(C, design)
    S = (B * design.lambdas) @ B.T
    M = S if objective == "logdet" else np.real(sqrtm(S))
    shifts = np.einsum("ij,ij->j", B, np.linalg.solve(M, B))
    expected = shifts.max() / (np.trace(M) if objective == "trace" else 1) - 1
    assert design.gap == pytest.approx(expected, abs=1e-8)
    assert design.gap <= gap


@pytest.mark.parametrize("gap", [0.5, 1e-2, 1e-5])
def test_trace_lies_between_the_dual_bound_and_the_certified_gap(gap):
    C = random_matrix(10, 6, 50, decay=3)
    design = design_noise(C, "trace", gap=gap)
    # weak duality: tr M >= |C diag(mu)^{1/2}|_nuclear^2 for any mu in the simplex
    bound = np.linalg.norm(C * np.sqrt(design.lambdas), "nuc") ** 2
    assert bound * (1 - 1e-12) <= np.trace(design.covariance()) <= bound * (1 + design.gap) * (1 + 1e-9)


@pytest.mark.parametrize("gap", [0.5, 1e-2, 1e-5])
def test_logdet_lies_between_the_dual_bound_and_the_certified_gap(gap):
    C = random_matrix(11, 6, 50, decay=3)
    design = design_noise(C, "logdet", gap=gap)
    # weak duality: log|M| >= log|C diag(lambda) C^T| for any lambda >= 0 with sum r
    bound = 2 * np.log(np.linalg.svd(C * np.sqrt(design.lambdas), compute_uv=False)[: design.rank]).sum()
    assert bound - 1e-9 <= log_pseudodeterminant(design) <= bound + design.rank * math.log1p(design.gap) + 1e-9


@both
def test_no_random_mask_is_smaller(objective):
    rng = np.random.default_rng(12)
    C = rng.normal(size=(4, 20))
    best = design_noise(C, objective, gap=1e-6).covariance()

    def cost(M):
        return np.trace(M) if objective == "trace" else np.linalg.slogdet(M)[1]

    for size in np.repeat([1e-3, 0.1, 3.0], 100):
        step = sqrtm(best) @ (np.eye(4) + size * rng.normal(size=(4, 4)))
        M = step @ step.T
        M *= np.einsum("ij,ij->j", C, np.linalg.solve(M, C)).max()
        assert cost(M) >= cost(best) - 1e-5 * abs(cost(best))


# ---- what the optimum must look like


@both
def test_scaling_the_columns_scales_the_covariance(objective):
    C = random_matrix(13, 5, 12)
    one, other = (design_noise(t * C, objective, gap=1e-8).covariance() for t in (1.0, 30.0))
    np.testing.assert_allclose(other, 900 * one, rtol=1e-6)


@both
def test_rotating_the_test_points_rotates_the_covariance(objective):
    C, R = random_matrix(14, 5, 12), ortho_group.rvs(5, random_state=np.random.default_rng(1))
    M, rotated = design_noise(C, objective, gap=1e-9), design_noise(R @ C, objective, gap=1e-9)
    np.testing.assert_allclose(rotated.covariance(), R @ M.covariance() @ R.T, atol=1e-5)


def test_logdet_ignores_any_linear_change_of_the_test_points():
    C, T = random_matrix(15, 4, 12), np.random.default_rng(2).normal(size=(4, 4))
    M, changed = design_noise(C, "logdet", gap=1e-9), design_noise(T @ C, "logdet", gap=1e-9)
    np.testing.assert_allclose(changed.covariance(), T @ M.covariance() @ T.T, rtol=1e-4, atol=1e-5)


@both
def test_order_of_the_records_does_not_matter(objective):
    C, order = random_matrix(16, 4, 15), np.random.default_rng(3).permutation(15)
    M, permuted = design_noise(C, objective, gap=1e-9), design_noise(C[:, order], objective, gap=1e-9)
    np.testing.assert_allclose(permuted.covariance(), M.covariance(), atol=1e-5)
    np.testing.assert_allclose(permuted.lambdas, M.lambdas[order], atol=1e-3)


@both
def test_duplicate_and_zero_columns_change_nothing(objective):
    C = random_matrix(17, 4, 9)
    padded = np.hstack([C, C[:, :3], np.zeros((4, 2)), 0.5 * C])
    M, same = design_noise(C, objective, gap=1e-9), design_noise(padded, objective, gap=1e-9)
    np.testing.assert_allclose(same.covariance(), M.covariance(), atol=1e-5)


@pytest.mark.parametrize("gap", [0.3, 1e-5])
@pytest.mark.parametrize("shape", [(5, 30), (12, 6)], ids=str)
def test_logdet_noise_is_a_weighted_sum_of_the_columns(shape, gap):
    C = random_matrix(18, *shape)
    design = design_noise(C, "logdet", gap=gap)
    assert design.lambdas.sum() == pytest.approx(design.rank)
    kept = design.project(C)
    expected = design.rescale * (kept * design.lambdas) @ kept.T
    np.testing.assert_allclose(design.covariance(), expected, atol=1e-10)


@pytest.mark.parametrize("gap", [0.3, 1e-5])
@pytest.mark.parametrize("shape", [(5, 30), (12, 6)], ids=str)
def test_trace_noise_is_a_square_root(shape, gap):
    C = random_matrix(19, *shape)
    design = design_noise(C, "trace", gap=gap)
    assert design.lambdas.sum() == pytest.approx(1)
    values, vectors = np.linalg.eigh((C * design.lambdas) @ C.T)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    # eigh leaves values of 1e-16 where the rank is short, whose roots are 1e-8
    np.testing.assert_allclose(design.covariance(), design.rescale * root, atol=1e-6)


@both
def test_rescale_is_the_largest_shift_before_rescaling(objective):
    C = random_matrix(20, 4, 12)
    design = design_noise(C, objective, gap=0.5)
    S = (C * design.lambdas) @ C.T
    M = S if objective == "logdet" else np.real(sqrtm(S))
    largest = np.einsum("ij,ij->j", C, np.linalg.solve(M, C)).max()
    assert design.rescale == pytest.approx(largest, rel=1e-9)


@both
def test_each_objective_wins_by_its_own_measure(objective, kung_matrix):
    trace, logdet = (design_noise(kung_matrix, name) for name in ("trace", "logdet"))
    if objective == "trace":
        assert trace.variance().sum() < 0.9 * logdet.variance().sum()
    else:
        assert log_pseudodeterminant(logdet) < log_pseudodeterminant(trace) - 1


# ---- small and degenerate cases by hand


@both
def test_one_test_point(objective):
    C = np.array([[0.5, -3.0, 2.0]])
    np.testing.assert_allclose(design_noise(C, objective).covariance(), [[9.0]], rtol=1e-12)


@both
def test_one_record(objective):
    c = np.array([[1.0], [-2.0], [0.5]])
    design = design_noise(c, objective)
    np.testing.assert_allclose(design.covariance(), c @ c.T, rtol=1e-12)
    assert design.rank == 1


def test_orthogonal_columns():
    # c_j = a_j e_j: any feasible M has M_jj >= 1 / (M^-1)_jj >= a_j^2, and M = diag(a^2) attains it
    a = np.array([3.0, 1.0, 2.0])
    for objective in ("logdet", "trace"):
        design = design_noise(np.diag(a), objective, gap=1e-9)
        np.testing.assert_allclose(design.covariance(), np.diag(a**2), atol=1e-6)


@both
def test_nothing_to_hide_needs_no_noise(objective):
    design = design_noise(np.zeros((3, 4)), objective)
    assert (design.rank, design.gap, design.iterations, design.dropped_energy) == (0, 0.0, 0, 0.0)
    np.testing.assert_array_equal(design.covariance(), np.zeros((3, 3)))
    np.testing.assert_array_equal(design.variance(), np.zeros(3))
    np.testing.assert_array_equal(design.project(np.ones(3)), np.zeros(3))
    np.testing.assert_array_equal(design.lambdas, np.zeros(4))


def test_variance_is_the_diagonal_and_project_is_the_projection():
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


# ---- rank chosen from public quantities


def auto_cost(C, design, multiplier, output_covariance):
    """Prior-expected squared truncation bias + noise, both written out."""
    left_out = C - design.project(C)
    bias = np.trace(left_out @ output_covariance @ left_out.T)
    return bias + multiplier**2 * np.trace(design.covariance())


@both
@pytest.mark.parametrize("multiplier", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("correlated", [False, True], ids=["independent outputs", "correlated outputs"])
def test_auto_rank_is_as_good_as_any_fixed_tolerance(objective, multiplier, correlated):
    rng = np.random.default_rng(22)
    C = random_matrix(23, 12, 30, decay=6)
    root = rng.normal(size=(30, 30)) if correlated else np.eye(30)
    prior = root @ root.T / 12
    options = {"noise_multiplier": multiplier, "output_covariance": prior if correlated else None}
    chosen = auto_cost(C, design_noise(C, objective, rank_tolerance="auto", **options), multiplier, prior)
    fixed = [auto_cost(C, design_noise(C, objective, rank_tolerance=10.0**-k), multiplier, prior) for k in range(1, 8)]
    assert chosen <= 1.1 * min(fixed)  # candidates are compared at gap 0.1


def test_auto_rank_falls_as_the_noise_grows():
    C = random_matrix(24, 12, 30, decay=6)
    ranks = [design_noise(C, rank_tolerance="auto", noise_multiplier=s).rank for s in (1e-3, 1.0, 1e3)]
    assert ranks[0] > ranks[1] >= ranks[2] >= 1


# ---- matrices that are never formed


def factored(seed, P, n, r, decay):
    """A matrix (P, n) of rank r as a product of factors that are far from orthogonal, and densely."""
    return factored_with(seed, P, n, np.logspace(0, -decay, r))


def factored_with(seed, P, n, s):
    """The same with singular values s."""
    rng, r = np.random.default_rng(seed), len(s)
    C = random_matrix(seed, P, n, 0)
    U, _, Vt = np.linalg.svd(C, full_matrices=False)
    mix = rng.normal(size=(r, r))
    left, rows = (U[:, :r] * s) @ np.linalg.inv(mix), Vt[:r].T @ mix.T
    return FactoredMatrix(left, rows), left @ rows.T


FACTORED = [(8, 60, 5, 2), (30, 2 * BLOCK + 50, 6, 4), (5, 3000, 5, 0)]  # (P, n, r, decay)


@pytest.mark.parametrize(("objective", "weighted"), [("trace", False), ("trace", True), ("logdet", False)])
@pytest.mark.parametrize("shape", FACTORED, ids=str)
def test_factored_and_dense_matrices_have_the_same_design(objective, weighted, shape):
    C, dense = factored(31, *shape)
    weights = np.random.default_rng(32).uniform(0.1, 2, shape[0]) if weighted else None
    one, other = (design_noise(c, objective, weights, gap=1e-7) for c in (C, dense))
    assert one.rank == other.rank == shape[2]
    scale = np.abs(other.covariance()).max()
    np.testing.assert_allclose(one.covariance(), other.covariance(), atol=1e-5 * scale)
    assert one.gap <= 1e-7
    assert one.dropped_energy == pytest.approx(other.dropped_energy, abs=1e-12)


@both
@pytest.mark.parametrize("shape", FACTORED, ids=str)
@pytest.mark.parametrize("rank_tolerance", [0.5, 1e-3, 1e-7, "auto"], ids=str)
def test_every_column_of_a_factored_matrix_is_masked(objective, shape, rank_tolerance, squared_shift):
    C, _ = factored(33, *shape)
    design = design_noise(C, objective, gap=0.1, rank_tolerance=rank_tolerance)
    released = design.project(C)
    assert isinstance(released, FactoredMatrix)
    shifts = squared_shift(design.factor, released.dense())
    assert 1 - 1e-6 <= shifts.max() <= 1 + 1e-9
    np.testing.assert_allclose(design.basis.T @ design.basis, np.eye(design.rank), atol=1e-10)


@both
def test_auto_rank_of_a_factored_matrix_is_the_dense_one(objective):
    # One large singular value, twenty in the middle of a decade, one below all tolerances: 1 or 21 are kept, and the
    # costs of the two differ by 9 % or more, so that no rounding decides.
    C, dense = factored_with(34, 22, 400, np.r_[1, np.geomspace(0.05, 0.025, 20), 1e-8])
    root = np.random.default_rng(35).normal(size=(400, 5))
    for options, rank in (({}, 1), ({"output_covariance": root @ root.T}, 21), ({"noise_multiplier": 30.0}, 1)):
        for c in (C, dense):
            assert design_noise(c, objective, rank_tolerance="auto", **options).rank == rank


def test_a_factored_matrix_of_zeros_needs_no_noise():
    design = design_noise(FactoredMatrix(np.zeros((3, 2)), np.ones((9, 2))))
    assert design.rank == 0
    np.testing.assert_array_equal(design.lambdas, np.zeros(9))


def test_a_factored_matrix_that_is_not_finite_is_refused():
    with pytest.raises(ValueError, match=r"C must be a finite matrix \(P, n\)"):
        design_noise(FactoredMatrix(np.full((3, 2), np.nan), np.ones((9, 2))))


# ---- rank about 100 at relative tolerance 1e-10


@pytest.fixture(scope="module")
def deep(hexes_matrix):
    C = hexes_matrix(15.0)
    return C, design_noise(C, "trace", rank_tolerance=1e-10)


def test_deep_rank_meets_its_dual_bound(deep):
    C, design = deep
    assert 90 <= design.rank <= 100  # targets: 95 at 1e-10
    bound = np.linalg.norm(design.project(C) * np.sqrt(design.lambdas), "nuc") ** 2
    assert bound * (1 - 1e-9) <= design.variance().sum() <= 1.01 * bound


@pytest.mark.full
def test_deep_rank_is_private_at_sixty_digits(deep, squared_shift):
    C, design = deep
    shifts = squared_shift(design.root, design.basis.T @ C)
    tightest = np.argsort(shifts)[-3:]
    largest = max(exact_shifts(design, C[:, tightest]))
    assert 1 - 1e-3 <= largest <= 1 + 1e-9


# ---- messages


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"C": np.zeros(3)}, r"C must be a finite matrix \(P, n\) with P, n >= 1, got shape \(3,\)"),
        ({"C": np.zeros((0, 3))}, r"C must be a finite matrix .* got shape \(0, 3\)"),
        ({"C": np.zeros((3, 0))}, r"C must be a finite matrix .* got shape \(3, 0\)"),
        ({"C": np.full((2, 3), np.nan)}, r"C must be a finite matrix .* got shape \(2, 3\)"),
        ({"objective": "entropy"}, "objective must be 'trace' or 'logdet', got 'entropy'"),
        ({"gap": 0.0}, "gap must be above 0, got 0.0; 1e-3 is a good choice"),
        ({"gap": -1.0}, "gap must be above 0, got -1.0; 1e-3 is a good choice"),
        ({"gap": math.nan}, "gap must be above 0, got nan; 1e-3 is a good choice"),
        ({"rank_tolerance": 1.0}, r"rank_tolerance must be 'auto' or in \[1e-12, 1\), got 1.0"),
        ({"rank_tolerance": 1e-13}, r"rank_tolerance must be 'auto' or in \[1e-12, 1\), got 1e-13"),
        ({"rank_tolerance": "best"}, r"rank_tolerance must be 'auto' or in \[1e-12, 1\), got 'best'"),
        ({"rank_tolerance": math.nan}, r"rank_tolerance must be 'auto' or in \[1e-12, 1\), got nan"),
        ({"weights": np.ones(2), "objective": "logdet"}, "weights change nothing for objective 'logdet'"),
        ({"weights": np.ones(3)}, r"weights must be 2 non-negative numbers, not all 0, got shape \(3,\)"),
        ({"weights": np.zeros(2)}, "weights must be 2 non-negative numbers, not all 0"),
        ({"weights": np.array([1.0, -1.0])}, "weights must be 2 non-negative numbers"),
        ({"weights": np.array([1.0, np.nan])}, "weights must be 2 non-negative numbers"),
    ],
)
def test_bad_values_are_named(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        design_noise(**{"C": np.ones((2, 3)), **changes})
