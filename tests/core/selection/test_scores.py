"""Sensitivities against true, random and worst-case changes; the published one against its counterexample."""

from __future__ import annotations

import numpy as np
import pytest

from dpgp_core.evaluation.cross_validation import FoldPlan, k_folds, plan_folds
from dpgp_core.kernels import EQ, Matern32
from dpgp_core.selection.scores import (
    difference_sensitivity,
    grid_scores,
    published_sensitivity,
    sse_sensitivity,
)
from tests.core.evaluation.simulated import monte_carlo_folds


def plan_of(rows, folds):
    return FoldPlan(folds=folds, residual_map=np.array(rows, dtype=float), noise_trace=np.zeros(len(folds)))


def nothing(plan):
    """A candidate whose squared error is 0 whatever y is: paired with it, another's error stands alone."""
    return plan_of(np.zeros_like(plan.residual_map), plan.folds)


def sse(plan, y):
    return float(((plan.residual_map @ y) ** 2).sum())


def clipped_sse(plan, y):
    """The same with predictions clipped to the public range, for d = 1."""
    truth = y[np.concatenate(plan.folds)]
    return float(((truth - np.clip(truth - plan.residual_map @ y, -0.5, 0.5)) ** 2).sum())


def counterexample(n):
    """K = 2: record 0 alone at the place where all of fold 2 stand, the rest of fold 1 far from everything."""
    half = n // 2
    X = np.concatenate([[0.0], 1e3 * np.arange(1, half), np.zeros(half)])[:, None]
    return plan_folds(EQ(), X, (np.arange(half), np.arange(half, n)), 1.0)


@pytest.mark.parametrize(("n", "change", "published"), [(80, 20.98, 19.0), (200, 50.99, 34.0), (800, 201.0, 109.0)])
def test_the_published_sensitivity_is_exceeded(n, change, published):
    # targets: "n = 80: true change 20.98 d^2 against a bound of 19 d^2; n = 200: 50.99 against 34"; d = 1
    plan = counterexample(n)
    low = np.full(n, -0.5)
    high = np.where(np.arange(n) == 0, 0.5, low)
    found = sse(plan, high) - sse(plan, low)
    # fold 1 trains on record 0: (n/2) (3/4)^2 - (n/2) (1/4)^2; fold 2 predicts it by -1/2 m / (m + 1), m = n/2
    m = n // 2
    rest = 0.5 * m / (m + 1)
    assert found == pytest.approx(m / 2 + (0.5 + rest) ** 2 - (0.5 - rest) ** 2, rel=1e-9)
    assert found == pytest.approx(change, abs=0.006)
    assert clipped_sse(plan, high) - clipped_sse(plan, low) == pytest.approx(found)  # nothing was clipped
    assert published_sensitivity([plan], 1.0) == pytest.approx(published, abs=0.01)
    assert published_sensitivity([plan], 1.0) < found <= sse_sensitivity([plan], 1.0)
    # the exact one is attained here, but for the records far away
    assert found <= 2 * difference_sensitivity([plan, nothing(plan)], 1.0) <= 1.01 * found


def random_problem(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 30))
    X = rng.uniform(size=(n, int(rng.integers(1, 3))))
    folds = k_folds(n, 3, rng) if rng.uniform() < 0.5 else monte_carlo_folds(n, 4, n // 3, rng)
    noise_variance = float(10 ** rng.uniform(-3, 1))
    kernels = [EQ(lengthscale=0.05), EQ(lengthscale=0.3), Matern32(lengthscale=2.0)]
    return [plan_folds(kernel, X, folds, noise_variance, gap=0.1) for kernel in kernels], n, rng


def worst_change(difference, n, rng, starts=4, rounds=3):
    """Hill-climb |difference(y) - difference(y')| over y, y' in [-1/2, 1/2]^n that differ in record j."""
    best = 0.0
    for _ in range(starts):
        j, y, other = int(rng.integers(n)), rng.choice([-0.5, 0.0, 0.5], n), float(rng.choice([-0.5, 0.0]))
        value = 0.0
        for _ in range(rounds):
            for k in rng.permutation(n):
                trials = []
                for candidate in (-0.5, -0.2, 0.2, 0.5):
                    trial = y.copy()
                    trial[k] = candidate
                    moved = trial.copy()
                    moved[j] = other
                    trials.append((abs(difference(trial) - difference(moved)), candidate))
                top, chosen = max(trials)
                if top > value:
                    value, y[k] = top, chosen
        best = max(best, value)
    return best


@pytest.mark.parametrize("seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(3, 12))])
def test_clipped_sensitivity_covers_every_change_found(seed):
    plans, n, rng = random_problem(seed)
    bound = sse_sensitivity(plans, 1.0)
    for plan in plans:
        assert worst_change(lambda y, p=plan: clipped_sse(p, y), n, rng) <= bound


def test_clipped_sensitivity_is_attained():
    # two records predict each other with weight 1: both residuals go from 0 to d
    plan = plan_of([[1, -1], [-1, 1]], (np.array([0]), np.array([1])))
    low, high = np.array([-0.5, -0.5]), np.array([0.5, -0.5])
    assert clipped_sse(plan, high) - clipped_sse(plan, low) == 2.0
    assert sse_sensitivity([plan], 1.0) == pytest.approx(2.0)


def test_a_record_counts_as_often_as_tested():
    once, thrice = (plan_of([[1, 0]] * k, (np.array([0]),) * k) for k in (1, 3))
    assert sse_sensitivity([thrice], 1.0) == pytest.approx(3 * sse_sensitivity([once], 1.0)) == pytest.approx(3.0)
    # true: y_0 from 0 to 1/2, three times
    assert 2 * difference_sensitivity([thrice, nothing(thrice)], 1.0) == pytest.approx(0.75)


def worst_neighbours(plans, d):
    """The pair of data sets that moves a difference of SSEs most, built from the proof by brute force over j."""
    best = (0.0, None, None)
    for a, first in enumerate(plans):
        for second in plans[:a]:
            H = first.residual_map.T @ first.residual_map - second.residual_map.T @ second.residual_map
            for j in range(len(H)):
                y = d / 2 * np.sign(H[j])
                ends = []
                vertex = -(H[j] @ y - H[j, j] * y[j]) / H[j, j] if H[j, j] != 0 else 0.0
                for value in (-d / 2, d / 2, np.clip(vertex, -d / 2, d / 2)):
                    moved = y.copy()
                    moved[j] = value
                    ends.append((sse(first, moved) - sse(second, moved), tuple(moved)))
                low, high = min(ends), max(ends)
                if high[0] - low[0] > best[0]:
                    best = (high[0] - low[0], np.array(low[1]), np.array(high[1]))
    return best


@pytest.mark.parametrize("seed", range(12))
def test_exact_sensitivity_is_attained(seed):
    plans, n, rng = random_problem(seed)
    for pair in [plans, [plans[0], nothing(plans[0])], [plans[1], plans[2]]]:
        bound = 2 * difference_sensitivity(pair, 1.0)
        found = worst_change(lambda y, p=pair: sse(p[0], y) - sse(p[1], y), n, rng)
        assert found <= bound
        change, low, high = worst_neighbours(pair, 1.0)
        assert (low != high).sum() == 1
        assert change == pytest.approx(bound, rel=1e-6)
        assert change <= bound


def test_exact_sensitivity_scales_with_d_squared():
    plans, _, _ = random_problem(1)
    assert difference_sensitivity(plans, 3.0) == pytest.approx(9 * difference_sensitivity(plans, 1.0))
    assert sse_sensitivity(plans, 3.0) == pytest.approx(9 * sse_sensitivity(plans, 1.0))
    assert published_sensitivity(plans, 3.0) == pytest.approx(9 * published_sensitivity(plans, 1.0))


def test_what_all_candidates_share_costs_nothing():
    # the same squared error for both: nothing about y could be learnt from the choice
    plan = plan_of([[1, -1], [-1, 1]], (np.array([0]), np.array([1])))
    assert difference_sensitivity([plan, plan], 1.0) < 1e-5
    assert sse_sensitivity([plan, plan], 1.0) == pytest.approx(2.0)


@pytest.fixture(scope="module")
def kung_plans(kung_data):
    folds = k_folds(kung_data.n, 11, np.random.default_rng(0))
    return [plan_folds(EQ(lengthscale=scale), kung_data.X, folds, 0.3) for scale in 3.0 ** np.arange(7)]


@pytest.mark.full
def test_grid_scores(kung_plans, kung_data):
    d, y = kung_data.output_range / kung_data.y_scale, kung_data.standardised()
    plain = grid_scores(kung_plans, kung_data)
    np.testing.assert_allclose(plain.sse, [sse(plan, y) for plan in kung_plans])
    assert plain.sensitivity == difference_sensitivity(kung_plans, d)
    assert (plain.tested, plain.d, plain.y_scale) == (287, d, kung_data.y_scale)
    np.testing.assert_allclose(plain.noise_trace, [plan.noise_trace.sum() for plan in kung_plans])
    # 26 cm corresponds to one model unit; the predictions are in cm
    assert plain.rmse(plain.sse)[3] == pytest.approx(7.01, abs=0.01)
