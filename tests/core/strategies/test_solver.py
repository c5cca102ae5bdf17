import numpy as np
import pytest

from dpgp_core.strategies.solver import LOGDET, TRACE, Objective, Root, interior_point
from dpgp_core.strategies.solver import relative_gap as gap_of
from tests.core.strategies.columns import both, columns, g, power_of_weighted_gram


def value(B, mu, objective):
    """F(mu) of the module's docstring."""
    eigenvalues = np.linalg.eigvalsh((B * mu) @ B.T)
    score = np.log(eigenvalues).sum() if objective is LOGDET else 2 * np.sqrt(eigenvalues).sum()
    return score - mu.sum()


def test_root_is_a_factor_and_whitens():
    U, _ = np.linalg.qr(columns(1, 4, 4))
    root = Root(U, np.array([9.0, 4.0, 1.0, 0.25]))
    M = U @ np.diag(root.values) @ U.T
    B = columns(2, 4, 6)
    np.testing.assert_allclose(root.factor @ root.factor.T, M, atol=1e-13)
    white = root.whiten(B)
    np.testing.assert_allclose(white.T @ white, B.T @ np.linalg.inv(M) @ B, rtol=1e-10, atol=1e-12)


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
    found = np.tril(objective.curvature(root.whiten(B), root))
    h = 1e-5
    expected = np.array([(g(B, mu - h * e, objective) - g(B, mu + h * e, objective)) / (2 * h) for e in np.eye(8)])
    expected = np.tril(expected)
    assert np.abs(found - expected).max() <= accuracy * np.abs(expected).max()


def test_the_common_base_is_not_an_objective():
    root = LOGDET.root(np.eye(2), np.ones(2))
    with pytest.raises(TypeError, match="use LOGDET or TRACE"):
        Objective(power=1.0).curvature(np.eye(2), root)


def test_spectrum_of_a_multiple():
    root = LOGDET.root(columns(2, 3, 5), np.ones(5)).times(4.0)
    np.testing.assert_allclose(root.factor @ root.factor.T, 4 * columns(2, 3, 5) @ columns(2, 3, 5).T, rtol=1e-10)


@pytest.mark.parametrize("n", [300, 520])  # two and three tiles of the curvature
def test_curvature_in_tiles_is_that_of_all_pairs(n):
    B, mu = np.logspace(0, -4, 6)[:, None] * columns(13, 6, n), np.random.default_rng(14).uniform(0.2, 1, n)
    root = TRACE.root(B, mu)
    rows, s = root.whiten(B), root.values
    # sum_ab q_ja q_ka q_jb q_kb / (s_a + s_b), written out
    pairs = (rows[:, None] * rows[None]).reshape(36, n) / np.sqrt(np.add.outer(s, s)).reshape(36, 1)
    expected, found = pairs.T @ pairs, TRACE.curvature(rows, root)
    np.testing.assert_allclose(np.tril(found), np.tril(expected), rtol=0.03, atol=0.02 * expected.max())


@both
@pytest.mark.parametrize("gap", [1e-1, 1e-8])
def test_interior_point_reaches_the_gap_and_says_what_it_found(objective, gap):
    B = columns(15, 4, 30)
    found = interior_point(B, objective, np.full(30, 1 / 30), gap)
    np.testing.assert_allclose(found.g, g(B, found.mu, objective), rtol=1e-8)
    assert gap_of(found.g, found.mu, found.g) <= gap
    assert (found.mu > 0).all()
    M = power_of_weighted_gram(B, found.mu, objective.power)
    np.testing.assert_allclose(found.root.factor @ found.root.factor.T, M, atol=1e-10)
    assert 0 < found.steps < 40
