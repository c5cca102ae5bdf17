"""The solvers: steps, curvature, limited memory."""

import numpy as np
import pytest

from dpgp_core.strategies.bayes_solver import LimitedMemory, minimise_risk
from dpgp_core.strategies.mixture_risk import MixtureRisk
from dpgp_core.strategies.solver import TRACE, interior_point
from dpgp_core.strategies.solver import relative_gap as gap_of
from tests.core.strategies.columns import both, columns, g, power_of_weighted_gram


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
def test_interior_point_reaches_its_gap(objective, gap):
    B = columns(15, 4, 30)
    found = interior_point(B, objective, np.full(30, 1 / 30), gap)
    np.testing.assert_allclose(found.g, g(B, found.mu, objective), rtol=1e-8)
    assert gap_of(found.g, found.mu, found.g) <= gap
    assert (found.mu > 0).all()
    M = power_of_weighted_gram(B, found.mu, objective.power)
    np.testing.assert_allclose(found.root.factor @ found.root.factor.T, M, atol=1e-10)
    assert 0 < found.steps < 40


def test_a_loose_gap_needs_fewer_rows(mixture):
    risk = MixtureRisk(mixture, 30.0)
    assert len(minimise_risk(risk, 9, 0.1, None, 2000).B) < len(minimise_risk(risk, 9, 1e-4, None, 2000).B) < 9


def test_without_evaluations_the_gap_is_honest(mixture):
    risk = MixtureRisk(mixture, 0.01)
    best = minimise_risk(risk, 9, 1e-4, None, 2000)
    found = minimise_risk(risk, 9, 1e-4, None, 1)
    assert found.bound <= best.risk < found.risk
    assert found.risk - found.bound > 1e-4 * (found.risk - risk.least)


def test_too_few_rows_report_their_gap(mixture):
    risk = MixtureRisk(mixture, 0.01)
    found = minimise_risk(risk, 1, 1e-3, None, 500)
    assert found.B.shape == (1, 9)
    assert found.risk - found.bound > 1e-2 * (found.risk - risk.least)
    assert found.bound <= minimise_risk(risk, 9, 1e-4, None, 2000).risk


def test_fewer_rows_keep_a_share_of_the_risk(mixture):
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


def test_a_known_curvature_is_inverted():
    """Steps along all axes of a quadratic: the inverse Hessian times the slope is the way to the minimum."""
    curvature, memory = np.array([[1.0, 4.0], [0.5, 2.0]]), LimitedMemory()
    for index in np.ndindex(2, 2):
        s = np.zeros((2, 2))
        s[index] = 0.1
        memory.add(s, curvature * s)
    slope = np.array([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_allclose(memory.applied(slope, lambda q: q), slope / curvature, rtol=1e-12)


def test_steps_in_no_order_give_the_bfgs_inverse():
    """H <- (I - rho s y^T) H (I - rho y s^T) + rho s s^T, oldest first (Nocedal & Wright 2006, equation 7.16)."""
    rng, memory = np.random.default_rng(0), LimitedMemory()
    root, slope = rng.standard_normal((6, 6)), rng.standard_normal(6)
    steps = rng.standard_normal((4, 6))
    slopes = steps @ root @ root.T
    H = np.eye(6) * (steps[-1] @ slopes[-1]) / (slopes[-1] @ slopes[-1])
    for s, y in zip(steps, slopes, strict=True):
        memory.add(s.reshape(2, 3), y.reshape(2, 3))
        V = np.eye(6) - np.outer(y, s) / (s @ y)
        H = V.T @ H @ V + np.outer(s, s) / (s @ y)
    np.testing.assert_allclose(memory.applied(slope.reshape(2, 3), lambda q: q).ravel(), H @ slope, rtol=1e-9)
