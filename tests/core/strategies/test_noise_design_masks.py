"""Privacy of designed noise: no projected column is longer than 1 in its metric."""

import mpmath
import numpy as np
import pytest

from dpgp_core.gp.regression import cloaking_matrix
from dpgp_core.kernels import EQ, Matern32
from dpgp_core.linalg import BLOCK, FactoredMatrix
from dpgp_core.strategies.noise_design import design_noise
from tests.core.strategies.columns import GOALS, by_name, random_matrix, with_singular_values

TOLERANCES = [0.5, 0.1, 1e-3, 1e-5, 1e-7]


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
def test_uneven_records_reach_the_requested_gap(seed, weighted):
    # many records near 0 and few far off: some singular directions hang on one column of tiny weight;
    # a solver that drops such columns from its working set cycles, or stops with a singular matrix
    rng = np.random.default_rng(seed)
    X, X_test = np.exp(rng.normal(size=(200, 1))), np.linspace(-2, 12, 30)[:, None]
    weights = (rng.random(30) < 0.3) + 1e-9 if weighted else None
    for kernel in (EQ(lengthscale=0.5), EQ(), Matern32()):
        design = design_noise(cloaking_matrix(kernel, X, X_test, 0.1), "trace", weights)
        assert design.gap <= 1e-3, kernel


@by_name
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


SPECTRA = {"flat": (0, 1e-7), "6 decades": (6, 1e-7), "11 decades": (11, 1e-12), "11 decades, 9 kept": (11, 1e-9)}
UNEVEN = np.array([1, 1e-4, 0, 1, 0.3, 1, 1, 0])


@pytest.mark.parametrize(
    ("objective", "decay", "rank_tolerance", "weights"),
    [
        *(pytest.param(goal, *case, None, id=f"{goal}, {name}") for goal in GOALS for name, case in SPECTRA.items()),
        pytest.param("trace", 6, 1e-7, UNEVEN, id="weighted"),
    ],
)
def test_largest_shift_at_sixty_digits(objective, decay, rank_tolerance, weights):
    C = random_matrix(7, 8, 14, decay)  # without rounding up, its log-det noise over 11 decades is 2e-5 too small
    design = design_noise(C, objective, weights, rank_tolerance=rank_tolerance)
    largest = max(exact_shifts(design, C))
    # rounding up costs at most what the kept condition number makes uncertain
    assert largest <= 1 + 1e-9
    assert largest >= 1 - 1e-14 / rank_tolerance - 1e-9


# ---- matrices that are never formed


FACTORED = [  # (P, n, singular values)
    (8, 60, np.logspace(0, -2, 5)),
    (30, 2 * BLOCK + 50, np.logspace(0, -4, 6)),
    (5, 3000, np.ones(5)),
]


@pytest.mark.parametrize(("objective", "weighted"), [("trace", False), ("trace", True), ("logdet", False)])
@pytest.mark.parametrize("shape", FACTORED, ids=lambda shape: str(shape[:2]))
def test_factored_and_dense_matrices_have_the_same_design(objective, weighted, shape):
    C, dense = with_singular_values(31, *shape)
    weights = np.random.default_rng(32).uniform(0.1, 2, shape[0]) if weighted else None
    one, other = (design_noise(c, objective, weights, gap=1e-7) for c in (C, dense))
    assert one.rank == other.rank == len(shape[2])
    scale = np.abs(other.covariance()).max()
    np.testing.assert_allclose(one.covariance(), other.covariance(), atol=1e-5 * scale)
    assert one.gap <= 1e-7
    assert one.dropped_energy == pytest.approx(other.dropped_energy, abs=1e-12)


@by_name
@pytest.mark.parametrize("shape", FACTORED, ids=lambda shape: str(shape[:2]))
@pytest.mark.parametrize("rank_tolerance", [0.5, 1e-3, 1e-7], ids=str)
def test_every_column_of_a_factored_matrix_is_masked(objective, shape, rank_tolerance, squared_shift):
    C, _ = with_singular_values(33, *shape)
    design = design_noise(C, objective, gap=0.1, rank_tolerance=rank_tolerance)
    released = design.project(C)
    assert isinstance(released, FactoredMatrix)
    shifts = squared_shift(design.factor, released.dense())
    assert 1 - 1e-6 <= shifts.max() <= 1 + 1e-9
    np.testing.assert_allclose(design.basis.T @ design.basis, np.eye(design.rank), atol=1e-10)


# ---- rank about 100 at relative tolerance 1e-10


@pytest.fixture(scope="module")
def deep(hexes):
    C = cloaking_matrix(EQ(lengthscale=15.0), hexes.X, hexes.X, 0.3)
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
