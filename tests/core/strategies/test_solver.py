"""The solvers: steps, curvature, limited memory."""

import numpy as np
import pytest

from dpgp_core.strategies.bayes_solver import Curvature, LimitedMemory, minimise_risk
from dpgp_core.strategies.mixture_risk import MixtureRisk
from dpgp_core.strategies.solver import LOGDET, TRACE, Objective, Root, interior_point
from dpgp_core.strategies.solver import relative_gap as gap_of
from tests.core.strategies.columns import both, columns, g, power_of_weighted_gram

from .conftest import dense, dense_residuals, random_model


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


@pytest.mark.parametrize("t", [0.01, 1.0, 100.0])
def test_it_ends_with_a_certified_gap(mixture, t):
    risk = MixtureRisk(mixture, t)
    found = minimise_risk(risk, 9, 1e-4, None, 2000)
    assert found.risk - found.bound <= 1e-4 * (found.risk - risk.least)
    assert found.risk == risk.at(found.B).risk
    assert (np.linalg.norm(found.B, axis=0) <= 1).all()


def test_a_loose_gap_needs_fewer_rows(mixture):
    risk = MixtureRisk(mixture, 30.0)
    assert len(minimise_risk(risk, 9, 0.1, None, 2000).B) < len(minimise_risk(risk, 9, 1e-4, None, 2000).B) < 9


def test_without_evaluations_the_gap_is_honest(mixture):
    risk = MixtureRisk(mixture, 0.01)
    best = minimise_risk(risk, 9, 1e-4, None, 2000)
    found = minimise_risk(risk, 9, 1e-4, None, 1)
    assert found.bound <= best.risk < found.risk
    assert found.risk - found.bound > 1e-4 * (found.risk - risk.least)


def test_an_optimal_start_is_kept(mixture):
    risk = MixtureRisk(mixture, 1.0)
    best = minimise_risk(risk, 9, 1e-5, None, 2000)
    again = minimise_risk(risk, 9, 1e-3, best.B, 2000)
    assert again.used < best.used / 2
    assert again.risk - again.bound <= 1e-3 * (again.risk - risk.least)


def test_too_few_rows_end_with_the_gap_they_have(mixture):
    risk = MixtureRisk(mixture, 0.01)
    found = minimise_risk(risk, 1, 1e-3, None, 500)
    assert found.B.shape == (1, 9)
    assert found.risk - found.bound > 1e-2 * (found.risk - risk.least)
    assert found.bound <= minimise_risk(risk, 9, 1e-4, None, 2000).risk


def test_a_share_of_the_whole_risk_is_kept_by_fewer_rows_too(mixture):
    """Where that share is more than privacy costs, no certificate is waited for, and rows stay that the share needs."""
    risk = MixtureRisk(mixture, 1e-4)
    best = minimise_risk(risk, 9, 1e-4, None, 2000)
    excess = (best.risk - risk.least) / best.risk
    found = minimise_risk(risk, 9, 1e-4, None, 2000, of_risk=3 * excess)
    assert found.used < best.used
    assert len(found.B) > 1
    assert found.risk - found.bound <= 3 * excess * found.risk
    one = minimise_risk(risk, 1, 1e-4, None, 500)
    assert one.risk - one.bound > 30 * excess * one.risk


def dense_terms(model, B, t):
    """nu, and both terms as one matrix over the entries of dB."""
    K = dense(model)
    S = B @ K @ B.T + t * np.eye(len(B))
    R = dense_residuals(model, B, t)
    G = R @ R.T / t
    nu = np.linalg.norm(B @ G, axis=0)
    posterior = K - K @ B.T @ np.linalg.solve(S, B @ K)
    return nu, np.kron(np.eye(len(B)), np.diag(nu)) + np.kron(B @ G @ B.T, posterior / t)


def applied_to_everything(curvature, B):
    return np.column_stack([curvature.solve(e.reshape(B.shape)).ravel() for e in np.eye(B.size)])


@pytest.mark.parametrize("t", [0.05, 5.0])
def test_the_two_terms_are_inverted_exactly_where_roots_rise_above_the_noise_everywhere(t):
    model = random_model(np.random.default_rng(7), 9, 40)
    risk = MixtureRisk([model], t)
    B = minimise_risk(risk, 9, 1e-2, None, 500).B
    nu, terms = dense_terms(model, B, t)
    found = applied_to_everything(Curvature(risk, risk.at(B), nu), B)
    np.testing.assert_allclose(found @ terms, np.eye(B.size), atol=1e-6)


def test_elsewhere_it_is_a_positive_definite_approximation():
    model = random_model(np.random.default_rng(7), 9, 4)
    risk = MixtureRisk([model], 0.05)
    B = minimise_risk(risk, 9, 1e-2, None, 500).B
    nu, terms = dense_terms(model, B, 0.05)
    found = applied_to_everything(Curvature(risk, risk.at(B), nu), B)
    np.testing.assert_allclose(found, found.T, atol=1e-9 * np.abs(found).max())
    ratios = np.linalg.eigvals(found @ terms).real
    plain = np.linalg.eigvals(terms / np.tile(nu, len(B))[:, None]).real  # the multipliers alone
    assert ratios.min() > 0
    assert ratios.max() / ratios.min() < 0.1 * plain.max() / plain.min()


def test_a_known_curvature_is_inverted():
    """Steps along all axes of a quadratic: the inverse Hessian times the slope is the way to the minimum."""
    curvature, memory = np.array([[1.0, 4.0], [0.5, 2.0]]), LimitedMemory()
    for index in np.ndindex(2, 2):
        s = np.zeros((2, 2))
        s[index] = 0.1
        memory.add(s, curvature * s)
    slope = np.array([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_allclose(memory.applied(slope, lambda q: q), slope / curvature, rtol=1e-12)


def test_without_memory_it_is_the_first_guess():
    np.testing.assert_allclose(LimitedMemory().applied(np.ones((2, 3)), lambda q: q * np.arange(3.0)), [[0, 1, 2]] * 2)


@pytest.mark.parametrize("y", [-1.0, 0.0])
def test_downward_curvature_is_not_remembered_and_the_memory_can_be_emptied(y):
    memory = LimitedMemory()
    memory.add(np.ones((1, 1)), np.full((1, 1), y))
    assert len(memory) == 0
    memory.add(np.ones((1, 1)), np.ones((1, 1)))
    assert len(memory) == 1
    memory.clear()
    assert len(memory) == 0
