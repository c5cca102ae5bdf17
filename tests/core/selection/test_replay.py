"""What each private choice gives away, computed from every number that noise was added to and every choice drawn."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import brentq

from dpgp_core.accounting.gaussian import epsilon_of
from dpgp_core.evaluation.cross_validation import k_folds, plan_folds
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import SparseVariational
from dpgp_core.selection import hyperparameters
from dpgp_core.selection.exponential import choose
from dpgp_core.selection.hyperparameters import (
    Candidate,
    choose_by_evidence,
    choose_liu_talwar,
    private_mean,
)
from dpgp_core.selection.scores import grid_scores
from tests.core.replay import assert_same, gaussian_epsilon, gaussian_mu, pairs_of, pure_epsilon, taped
from tests.core.tables import table

CANDIDATES = [
    Candidate(kernel=EQ(lengthscale=length), noise_variance=s**2) for length in (0.5, 1.0, 3.0) for s in (0.1, 1.0)
]
DELTA, GAMMA = 0.01, 0.3
SPARSE = SparseVariational(kernel=EQ(), noise_variance=1.0, n_inducing=4, epsilon=1.0, delta=DELTA)
STEPS = 12  # of CoinPress
PER_RUN = 3 + STEPS  # calls: A, the diagonal of B, what is above it; then the mean score


def wave(n=40):
    rng = np.random.default_rng(3)
    x = rng.uniform(-2, 2, n)
    x[4] = x[5] = -1.5  # an inducing input of every kernel: features of full length
    return table(x[:, None], np.sin(2 * x), y_bounds=(-3.0, 3.0), x_box=((-2.0, 2.0),))


FITTED, SCORED = 4, 5  # records of the half that is fitted, and of the one that is scored


def neighbours(record):
    data = wave()
    return [replace(data, y=np.where(np.arange(data.n) == record, y, data.y)) for y in data.y_bounds]


def replayed(choice, pair):
    """The neighbour's tape with the outcomes of the first; what is chosen must be the same then."""
    with taped() as first:
        before = choice(pair[0])
    with taped(first) as second:
        after = choice(pair[1])
    assert before.fit is not None
    assert_same(before, after)
    return second


@pytest.fixture(autouse=True)
def same_public_draws(monkeypatch):
    """The number of runs and their candidates, which depend on no record, are the same for both."""
    monkeypatch.setattr(hyperparameters, "_public", lambda rng: np.random.default_rng(6))


def runs_of(tape):
    """Squared mu of fit and of score, actual and as the noise allows for a change of 2^40, for each run."""
    pairs = list(pairs_of(tape))
    assert len(pairs) % PER_RUN == 0
    for start in range(0, len(pairs), PER_RUN):
        moved = [
            sum((x - other) ** 2 for x, other in zip(before.exact, after.exact, strict=True)) / before.parameter
            for before, after in pairs[start : start + PER_RUN]
        ]
        allowed = math.fsum(2.0**80 / before.parameter for before, _ in pairs[start + 3 : start + PER_RUN])
        yield math.fsum(moved[:3]), math.fsum(moved[3:]), allowed


# ---------------------------------------------------------------------- exponential mechanism


def largest_tilt(tape):
    """Largest change of a difference of two exponents, on which the proof rests."""
    ((before, after),) = pairs_of(tape)
    change = np.array([float(u - v) for u, v in zip(before.exact, after.exact, strict=True)])
    return float(before.parameter) * (change.max() - change.min())


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("mechanism", ["exponential", "permute_and_flip"])
def test_held_out_choices_reveal_their_epsilon(mechanism, epsilon):
    x = np.linspace(0, 5, 8)[:, None]
    plans = [plan_folds(EQ(lengthscale=length), x, k_folds(8, 4), 0.1) for length in (0.3, 2.0)]
    first, second = (plan.residual_map.T @ plan.residual_map for plan in plans)
    H, found = first - second, []
    for j in range(8):
        # the others at worst signs; record j moves from one end to the vertex of the quadratic, or to the other end
        worst = 3.0 * np.sign(H[j] * H[j, j])
        vertex = -3.0 * min(np.abs(np.delete(H[j], j)).sum() / abs(H[j, j]), 1.0)
        tapes = [None]
        for y in (3.0, vertex):
            data = replace(wave(8), X=x / 5, y=np.where(np.arange(8) == j, y, worst))
            with taped(tapes[-1]) as tape:
                scores = grid_scores(plans, data)
                choose(-scores.sse, scores.sensitivity, epsilon, mechanism)
            tapes.append(tape)
        if mechanism == "exponential":
            assert pure_epsilon(tapes[-1]) <= epsilon
        found.append(largest_tilt(tapes[-1]))
    assert max(found) <= epsilon
    assert max(found) >= 0.99 * epsilon


@pytest.mark.parametrize("mechanism", ["exponential", "permute_and_flip"])
def test_rounded_scores_keep_their_epsilon(mechanism):
    """Scores are rounded to steps of Delta / 2^20: differences that move by 2 Delta can move by a step more."""
    epsilon, step = 1.0, 2.0**-20
    with taped() as one:
        choose(np.array([0.0, (2**20 - 0.5) * step + 1e-12]), 1.0, epsilon, mechanism)
    with taped(one) as other:
        choose(np.array([(2**20 - 0.5) * step + 1e-12, 0.0]), 1.0, epsilon, mechanism)
    ((before, after),) = pairs_of(other)
    moved = (after.exact[0] - after.exact[1]) - (before.exact[0] - before.exact[1])
    assert moved == 2**21  # rounded away from each other
    # real differences may move by 2^21 steps where these moved by 2^21 - 1: what is rounded by 2^21 + 1
    assert before.parameter * (moved + 1) <= Fraction(epsilon)


# ---------------------------------------------------------------------- one release, chosen from by evidence


def test_a_choice_by_evidence_is_one_release():
    tape = replayed(lambda data: choose_by_evidence(SPARSE, CANDIDATES, data), neighbours(FITTED))
    assert len(tape.calls) == 3
    assert 0.9 <= gaussian_epsilon(gaussian_mu(tape), DELTA) <= 1 + 1e-6


# ---------------------------------------------------------------------- repeated runs


def test_liu_and_talwar_runs_spend_their_budget():
    """t (1 - log t) = delta, d = (gamma t)^2 / 2 of a run, and the whole costs 3 e + 3 sqrt(2 d)."""

    def choice(data):
        return choose_liu_talwar(SPARSE, CANDIDATES, data, gamma=GAMMA)

    t = brentq(lambda t: t * (1 - math.log(t)) - DELTA, 1e-12, 0.5, xtol=1e-16)
    d = (GAMMA * t) ** 2 / 2
    fits, scores, allowed = zip(*runs_of(replayed(choice, neighbours(FITTED))), strict=True)
    assert max(scores) == 0  # a record of the fitted half moves the fit only
    fit = epsilon_of(1 / math.sqrt(max(fits)), d)
    assert 0.85 <= 3 * fit + 3 * math.sqrt(2 * d) <= 1 + 1e-6
    rho = max(allowed) / 2
    score = rho + 2 * math.sqrt(rho * math.log(1 / d))
    assert 3 * score + 3 * math.sqrt(2 * d) == pytest.approx(1, rel=1e-6)
    fits, scores, _ = zip(*runs_of(replayed(choice, neighbours(SCORED))), strict=True)
    assert max(fits) == 0
    assert 0 < max(scores) <= max(allowed) * (1 + 1e-6)


@pytest.mark.parametrize("rho", [0.01, 2.0])
def test_a_private_mean_gives_away_its_rho(rho):
    low, high = (np.array([end, *np.linspace(-2, 2, 400)]) for end in (-1e9, 1e9))  # beyond every interval
    with taped() as one:
        before = private_mean(low, 0.0, 5.0, rho)
    with taped(one) as other:
        assert private_mean(high, 0.0, 5.0, rho) == before
    assert len(other.calls) == STEPS
    assert gaussian_mu(other) ** 2 / 2 == pytest.approx(rho, rel=1e-6)


def test_replay_formulas_are_those_of_gaussian_shifts():
    for mu in (0.1, 1.0, 4.0):
        assert gaussian_epsilon(mu, 1e-3) == pytest.approx(epsilon_of(1 / mu, 1e-3), rel=1e-6)
