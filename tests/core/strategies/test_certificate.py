import numpy as np
import pytest

from dpgp_core.strategies.bayes_solver import minimise_risk
from dpgp_core.strategies.mixture_risk import MixtureRisk
from dpgp_core.strategies.risk_model import RiskModel
from dpgp_core.strategies.strategy import lower_bound

from .conftest import dense, dense_residuals


def some_strategies():
    rng = np.random.default_rng(5)
    strategies = [np.eye(9), np.zeros((2, 9)), np.ones((1, 9))]
    for r in (1, 2, 3, 5, 9, 9):
        B = rng.standard_normal((r, 9))
        strategies.append(B / np.linalg.norm(B, axis=0))
        strategies.append(B / np.linalg.norm(B, axis=0).max())
    return strategies


@pytest.mark.parametrize("t", [1e-3, 0.1, 10.0, 1e4])
def test_no_feasible_strategy_falls_below_the_bound_computed_at_another(mixture, t):
    risk = MixtureRisk(mixture, t)
    best = minimise_risk(risk, 9, 1e-5, None, 2000)
    risks = np.array([risk.at(B).risk for B in [best.B, *some_strategies()]])
    bounds = np.array([lower_bound(risk, risk.at(B)) for B in some_strategies()])
    assert bounds.max() <= risks.min() * (1 + 1e-12)
    assert (bounds >= risk.least * (1 - 1e-12)).all()


@pytest.mark.parametrize("t", [0.01, 1.0, 100.0])
def test_it_is_the_dual_value_of_the_cut_residuals(mixture, t):
    """Y with the singular values cut, in dense algebra: feasible, and of the bound's value at its best multiple."""
    risk = MixtureRisk(mixture, t)
    near = minimise_risk(risk, 9, 1e-2, None, 2000).B + 0.02 * np.random.default_rng(0).standard_normal((1, 9))
    B = near / np.linalg.norm(near, axis=0)
    R, K = [dense_residuals(model, B, t) for model in mixture], [dense(model) for model in mixture]
    H = np.hstack([np.sqrt(model.weight) * r for model, r in zip(mixture, R, strict=True)])
    root = np.sqrt(t * np.linalg.norm(B @ H @ H.T / t, axis=0))[:, None]
    left, s, right = np.linalg.svd(H / root, full_matrices=False)
    assert s[0] > 1.001
    Y = root * (left * np.minimum(s, 1)) @ right
    assert np.linalg.eigvalsh(Y @ Y.T - np.diag(root[:, 0] ** 2)).max() < 1e-9 * root.max() ** 2
    u = v = 0.0
    for model, k, y in zip(mixture, K, np.hsplit(Y, np.cumsum([r.shape[1] for r in R])[:-1]), strict=True):
        u += np.sqrt(model.weight) * np.trace(model.targets.T @ np.linalg.solve(k, y))
        v += np.trace(y.T @ np.linalg.solve(k, y))
    expected = risk.least + u**2 / (v + (root**2).sum() / t)
    assert lower_bound(risk, risk.at(B)) == pytest.approx(expected, rel=1e-7)


def test_cutting_costs_less_than_scaling():
    """An optimal B without its least row: what exceeds 1 is hardly measured, and the bound hardly falls."""
    rng = np.random.default_rng(1)
    root = rng.standard_normal((12, 6)) * 0.3 ** np.arange(6)
    model = RiskModel(noise=np.ones(12), root=root, targets=root, prior_risk=float((root**2).sum()))
    risk = MixtureRisk([model], 0.1)
    best = minimise_risk(risk, 12, 1e-6, None, 2000)
    rows = best.B[:-1] / np.linalg.norm(best.B[:-1], axis=0)
    point = risk.at(rows)
    excess = point.risk - risk.least
    assert point.risk - best.risk < 0.05 * excess
    assert best.risk - lower_bound(risk, point) < 0.5 * excess


def test_a_bound_that_cannot_reach_its_goal_is_not_computed(mixture):
    risk = MixtureRisk(mixture, 1.0)
    assert lower_bound(risk, risk.at(np.ones((1, 9))), goal=1e-9) == -np.inf


def test_where_nothing_is_measured_only_the_risk_of_known_outputs_is_known(mixture):
    risk = MixtureRisk(mixture, 1.0)
    assert lower_bound(risk, risk.at(np.zeros((2, 9)))) == risk.least
