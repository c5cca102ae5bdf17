"""Strategies of Bayes cloaking: rows, and the solver that shares noise among them."""

from dataclasses import replace

import numpy as np
import pytest

import datasets
from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.gp.pivoted import factorise
from dpgp_core.kernels import EQ
from dpgp_core.strategies.bayes import grouped, optimal_strategy, risk, risk_without_privacy
from dpgp_core.strategies.bayes_solver import minimise_risk
from dpgp_core.strategies.mixture_risk import MixtureRisk, canonical, safe, unit
from dpgp_core.strategies.risk_model import RiskModel
from dpgp_core.strategies.strategy import Strategy, lower_bound

from .conftest import dense, random_model


def solve_semidefinite_program(models, t):
    """Least excess risk: min sum_m pi_m tr C (K^-1 + X / t)^-1 C^T over X >= 0, diag X <= 1; C = F^T K^-1."""
    cp = pytest.importorskip("cvxpy")
    n = len(models[0].noise)
    X, excess = cp.Variable((n, n), PSD=True), 0
    for model in models:
        P = np.linalg.inv(dense(model))
        excess += model.weight * cp.matrix_frac(P @ model.targets, (P + P.T) / 2 + X / t)
    return cp.Problem(cp.Minimize(excess), [cp.diag(X) <= 1]).solve(solver="CLARABEL")


def bound_at(models, B, t):
    """A risk that no strategy can fall below, computed at B."""
    mixture = MixtureRisk(models, t)
    return lower_bound(mixture, mixture.at(B))


@pytest.mark.parametrize("t", [0.1, 3.0, 50.0])
@pytest.mark.parametrize("single", [True, False])
def test_it_is_the_solution_of_the_semidefinite_program(mixture, single, t):
    models = mixture[:1] if single else mixture
    best, least = solve_semidefinite_program(models, t), risk_without_privacy(models)
    found = optimal_strategy(models, t, gap=1e-6, max_iterations=5000)
    assert found.risk - least == pytest.approx(best, rel=2e-5)
    assert found.gap <= 1e-4
    assert found.bound - least <= best * (1 + 1e-6)
    assert risk(models, found.B, t) == pytest.approx(found.risk, rel=1e-12)
    assert bound_at(models, found.B, t) - least == pytest.approx(best, rel=1e-3)
    assert (np.linalg.norm(found.B, axis=0) <= 1).all()


def test_rotations_of_a_model_do_not_change_its_strategy(mixture):
    """Eigenvectors, by which models are given, have signs that depend on rounding, or rotations if values coincide."""
    rng, model = np.random.default_rng(4), mixture[0]
    root, targets = (
        each @ np.linalg.qr(rng.standard_normal((each.shape[1],) * 2))[0] for each in (model.root, model.targets)
    )
    assert model.signs is None
    turned = replace(model, root=root, targets=targets)
    found, same = (optimal_strategy([each], 1.0, gap=1e-3) for each in (model, turned))
    np.testing.assert_allclose(found.B, same.B, atol=1e-6)
    rows = rng.standard_normal((4, 9))
    rotated = np.linalg.qr(rng.standard_normal((4, 4)))[0] @ rows
    np.testing.assert_allclose(canonical(rotated), canonical(rows), atol=1e-12)
    np.testing.assert_allclose(canonical(rows).T @ canonical(rows), rows.T @ rows, atol=1e-12)


# ---- the bound


def some_strategies():
    rng = np.random.default_rng(5)
    strategies = [np.eye(9), np.zeros((2, 9)), np.ones((1, 9))]
    for r in (1, 2, 3, 5, 9, 9):
        B = rng.standard_normal((r, 9))
        strategies.append(B / np.linalg.norm(B, axis=0))
        strategies.append(B / np.linalg.norm(B, axis=0).max())
    return strategies


@pytest.mark.parametrize("t", [1e-3, 0.1, 10.0, 1e4])
def test_no_strategy_falls_below_the_bound(mixture, t):
    risk = MixtureRisk(mixture, t)
    best = minimise_risk(risk, 9, 1e-5, None, 2000)
    risks = np.array([risk.at(B).risk for B in [best.B, *some_strategies()]])
    bounds = np.array([lower_bound(risk, risk.at(B)) for B in some_strategies()])
    assert bounds.max() <= risks.min() * (1 + 1e-12)
    assert (bounds >= risk.least * (1 - 1e-12)).all()


def test_an_unreachable_bound_is_not_computed(mixture):
    risk = MixtureRisk(mixture, 1.0)
    assert lower_bound(risk, risk.at(np.ones((1, 9))), goal=1e-9) == -np.inf


def test_without_a_measurement_the_bound_is_trivial(mixture):
    risk = MixtureRisk(mixture, 1.0)
    assert lower_bound(risk, risk.at(np.zeros((2, 9)))) == risk.least


# ---- what strategies do


def test_groups_are_a_way_not_a_limit(mixture):
    groups = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2])
    free, shared = optimal_strategy(mixture, 1.0, gap=1e-3), optimal_strategy(mixture, 1.0, gap=1e-3, groups=groups)
    assert shared.gap <= 1e-3
    assert shared.bound <= free.risk
    assert free.bound <= shared.risk


def test_many_records_are_grouped_and_few_are_not():
    few, many = (random_model(np.random.default_rng(2), n, 3) for n in (1000, 1300))
    assert grouped([few]) is None
    assert len(np.unique(grouped([many]))) == 600


def test_equal_records_lose_nothing_by_sharing():
    half = random_model(np.random.default_rng(4), 5, 3)
    twice = RiskModel(
        noise=np.tile(half.noise, 2),
        root=np.tile(half.root, (2, 1)),
        targets=np.tile(half.targets, (2, 1)),
        prior_risk=1e3,
    )
    groups = np.tile(np.arange(5), 2)
    sums = RiskModel(noise=2 * half.noise, root=2 * half.root, targets=2 * half.targets, prior_risk=1e3)
    shared = optimal_strategy([sums], 1.0, gap=1e-4)
    assert risk([twice], shared.B[:, groups], 1.0) == pytest.approx(shared.risk, rel=1e-12)
    assert bound_at([twice], shared.B[:, groups], 1.0) == pytest.approx(shared.bound, rel=1e-3)
    assert optimal_strategy([twice], 1.0, gap=1e-4).risk == pytest.approx(shared.risk, rel=1e-4)


def models_on(X, box, lengthscales, noises):
    """EQ models for outputs within +-1, predicted on 40 inputs over the box."""
    rng = np.random.default_rng(0)
    side = box[:, 1] - box[:, 0]
    X_test = box[:, 0] + side * (np.linspace(0, 1, 40)[:, None] if len(box) == 1 else rng.uniform(size=(40, len(box))))
    models = []
    for share in lengthscales:
        kernel = EQ(variance=1 / 3, lengthscale=tuple(share * side))
        V = factorise(kernel, np.vstack([X, X_test]), 1e-6).features.values()
        root, targets = V[: len(X)], V[: len(X)] @ V[len(X) :].T / np.sqrt(40)
        models += [
            RiskModel(noise=np.full(len(X), s**2), root=root, targets=targets, prior_risk=1 / 3, weight=1 / len(noises))
            for s in noises
        ]
    return models


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 20.0])
@pytest.mark.parametrize("name", ["kung", "london_hexes"])
def test_the_gap_is_reached_on_real_inputs(name, epsilon):
    data = datasets.load(name)
    models = models_on(data.X, np.array(data.x_box), (1 / 8, 1 / 2), (0.1, 0.4))
    t = (2 * noise_multiplier(epsilon, 1e-2)) ** 2 * 31 / 16
    found = optimal_strategy(models, t)
    assert found.gap <= 1e-2
    assert found.bound <= found.risk
    assert (np.linalg.norm(found.B, axis=0) <= 1).all()


def test_the_gap_is_reached_with_many_records():
    data = datasets.load("london_sales")
    rows = np.random.default_rng(0).permutation(data.n)[:1500]
    models = models_on(data.X[rows], np.array(data.x_box), (1 / 4,), (0.2,))
    found = optimal_strategy(models, (2 * noise_multiplier(1.0, 1e-2)) ** 2)
    assert found.gap <= 1e-2
    assert found.B.shape == (found.rank, 1500)


def test_targets_that_ask_for_nothing_cost_nothing():
    model = RiskModel(noise=np.ones(3), root=np.ones((3, 1)), targets=np.zeros((3, 1)), prior_risk=1.0)
    found = optimal_strategy([model], 1.0)
    assert (found.risk, found.bound, found.gap) == (1.0, 1.0, 0.0)


def test_avoidable_is_a_share_of_the_risk():
    strategy = Strategy(B=np.zeros((1, 2)), risk=2.0, bound=1.9, gap=0.5, iterations=1)
    np.testing.assert_allclose(strategy.avoidable, 0.05)
    assert replace(strategy, bound=2.1).avoidable == 0.0
    assert replace(strategy, risk=0.0, bound=0.0).avoidable == 0.0


def test_column_norms():
    V = np.random.default_rng(0).standard_normal((3, 50))
    np.testing.assert_allclose(np.linalg.norm(unit(V), axis=0), 1, rtol=1e-14)
    assert (np.linalg.norm(safe(V), axis=0) <= 1).all()
    assert (safe(unit(V)) ** 2).sum(axis=0).max() <= 1
    np.testing.assert_array_equal(safe(V / 100), V / 100)
