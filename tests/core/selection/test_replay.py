"""What each private choice gives away, computed from every number that noise was added to and every choice drawn."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpgp_core.accounting.gaussian import epsilon_of
from dpgp_core.evaluation.cross_validation import k_folds, plan_folds
from dpgp_core.kernels import EQ
from dpgp_core.selection.exponential import choose
from dpgp_core.selection.scores import grid_scores
from tests.core.replay import gaussian_epsilon, pairs_of, pure_epsilon, taped
from tests.core.tables import table


def wave(n=40):
    rng = np.random.default_rng(3)
    x = rng.uniform(-2, 2, n)
    return table(x[:, None], np.sin(2 * x), y_bounds=(-3.0, 3.0), x_box=((-2.0, 2.0),))


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


def test_replay_formulas_are_those_of_gaussian_shifts():
    for mu in (0.1, 1.0, 4.0):
        assert gaussian_epsilon(mu, 1e-3) == pytest.approx(epsilon_of(1 / mu, 1e-3), rel=1e-6)
