import numpy as np
import pytest

from dpgp_core.design_solver import LOGDET, TRACE, Objective, Root, column_norms, optimise

both = pytest.mark.parametrize("objective", [LOGDET, TRACE], ids=["logdet", "trace"])


def columns(seed, r, n):
    return np.random.default_rng(seed).normal(size=(r, n))


def power_of_weighted_gram(B, mu, power):
    """(B diag(mu) B^T)^power by eigendecomposition of the matrix that the solver never forms."""
    values, vectors = np.linalg.eigh((B * mu) @ B.T)
    return (vectors * values**power) @ vectors.T


def g(B, mu, objective):
    return np.einsum("ij,ij->j", B, power_of_weighted_gram(B, mu, -objective.power) @ B)


def value(B, mu, objective):
    """F(mu) of the module's docstring."""
    eigenvalues = np.linalg.eigvalsh((B * mu) @ B.T)
    score = np.log(eigenvalues).sum() if objective is LOGDET else 2 * np.sqrt(eigenvalues).sum()
    return score - mu.sum()


def relative_gap(B, mu, objective):
    shifts = g(B, mu, objective)
    return shifts.max() * mu.sum() / (mu @ shifts) - 1


def test_root_is_a_factor_and_whitens():
    U, _ = np.linalg.qr(columns(1, 4, 4))
    root = Root(U, np.array([9.0, 4.0, 1.0, 0.25]))
    M = U @ np.diag(root.values) @ U.T
    B = columns(2, 4, 6)
    np.testing.assert_allclose(root.factor @ root.factor.T, M, atol=1e-13)
    white = root.whiten(B)
    np.testing.assert_allclose(white.T @ white, B.T @ np.linalg.inv(M) @ B, rtol=1e-10, atol=1e-12)


def test_column_norms_are_squared():
    np.testing.assert_array_equal(column_norms(np.array([[3.0, 0.0], [4.0, 2.0]])), [25.0, 4.0])


@both
@pytest.mark.parametrize(("r", "n"), [(1, 1), (1, 5), (3, 3), (4, 30)])
def test_spectrum_is_that_of_the_weighted_gram_matrix(objective, r, n):
    B, mu = columns(3, r, n), np.random.default_rng(4).uniform(0.1, 1, n)
    root = objective.root(B, mu)
    expected = power_of_weighted_gram(B, mu, objective.power)
    np.testing.assert_allclose(root.factor @ root.factor.T, expected, rtol=1e-10, atol=1e-12)
    assert (np.diff(root.values) <= 0).all()


@both
def test_g_is_the_gradient_of_the_objective(objective):
    B, mu = columns(5, 3, 7), np.random.default_rng(6).uniform(0.1, 1, 7)
    h = 1e-6
    slopes = [(value(B, mu + h * e, objective) - value(B, mu - h * e, objective)) / (2 * h) for e in np.eye(7)]
    np.testing.assert_allclose(slopes, g(B, mu, objective) - 1, atol=1e-7)


@pytest.mark.parametrize(
    ("objective", "accuracy"), [(LOGDET, 1e-6), (TRACE, 0.02)], ids=["logdet exact", "trace to about 1 %"]
)
@pytest.mark.parametrize("decay", [0, 6], ids=["flat spectrum", "spectrum over 6 decades"])
def test_curvature_is_minus_the_derivative_of_g(objective, accuracy, decay):
    B = np.logspace(0, -decay / 2, 4)[:, None] * columns(7, 4, 8)
    mu = np.random.default_rng(8).uniform(0.2, 1, 8)
    root = objective.root(B, mu)
    found = objective.curvature(root.whiten(B), root)
    h = 1e-5
    expected = np.array([(g(B, mu - h * e, objective) - g(B, mu + h * e, objective)) / (2 * h) for e in np.eye(8)])
    assert np.abs(found - expected).max() <= accuracy * np.abs(expected).max()


def test_the_common_base_is_not_an_objective():
    root = LOGDET.root(np.eye(2), np.ones(2))
    with pytest.raises(TypeError, match="use LOGDET or TRACE"):
        Objective(power=1.0).curvature(np.eye(2), root)


@both
@pytest.mark.parametrize(("r", "n"), [(1, 1), (1, 40), (5, 5), (3, 200), (20, 60), (30, 30)])
@pytest.mark.parametrize("gap", [1e-2, 1e-6])
def test_reported_gap_is_reached_and_true(objective, r, n, gap):
    B = columns(9, r, n)
    solution = optimise(B, objective, gap)
    assert solution.gap <= gap
    assert solution.mu.sum() == pytest.approx(1)
    assert (solution.mu >= 0).all()
    assert relative_gap(B, solution.mu, objective) == pytest.approx(solution.gap, abs=1e-9)


@both
def test_gap_bounds_the_distance_to_a_better_solution(objective):
    B = columns(10, 4, 50)
    loose, tight = optimise(B, objective, 0.3), optimise(B, objective, 1e-9)

    def cost(solution):  # of M rescaled to a largest shift of 1: trace, or log-determinant per dimension
        M = power_of_weighted_gram(B, solution.mu, objective.power)
        D2 = g(B, solution.mu, objective).max()
        return np.trace(M) * D2 if objective is TRACE else np.linalg.slogdet(M)[1] / 4 + np.log(D2)

    # relative for the trace, in the logarithm for the determinant
    excess = cost(loose) / cost(tight) - 1 if objective is TRACE else np.expm1(cost(loose) - cost(tight))
    assert 0 <= excess <= loose.gap


@both
def test_cutting_planes_find_what_the_first_guess_leaves_out(objective):
    # long nearly parallel columns attract the pivots, but short ones in between bind
    rng = np.random.default_rng(11)
    angles = rng.uniform(0, 2 * np.pi, 500)
    B = np.vstack([np.cos(angles), np.sin(angles), rng.normal(0, 0.1, 500)]) * rng.uniform(0.9, 1.1, 500)
    solution = optimise(B, objective, 1e-5)
    assert relative_gap(B, solution.mu, objective) <= 1e-5 * (1 + 1e-6)


@both
def test_weights_vanish_away_from_the_largest_shift(objective):
    B = columns(12, 3, 60)
    solution = optimise(B, objective, 1e-8)
    shifts = g(B, solution.mu, objective)
    inner = shifts < 0.9 * shifts.max()
    assert inner.any()
    assert solution.mu[inner].max() < 1e-6


def test_basis_vectors_by_hand():
    # columns a_j e_j: log-det puts equal weights; trace maximises sum a_j sqrt(mu_j), so mu_j ~ a_j^2
    a = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(optimise(np.diag(a), LOGDET, 1e-9).mu, np.full(3, 1 / 3), rtol=1e-6)
    np.testing.assert_allclose(optimise(np.diag(a), TRACE, 1e-9).mu, a**2 / 14, rtol=1e-6)
