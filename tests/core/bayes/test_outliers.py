"""Intervals allow for outliers where the squares make them likely, and only there. The curve stays as it is."""

from functools import cache

import numpy as np
import pytest

from benchmarks.outcomes import DELTA, GRID, TAILS, WORLDS, summarised
from benchmarks.shared.curves import Curves
from dpgp_core.bayes.prediction import predict, variance_of_outliers
from dpgp_core.bayes.refit import contrast, posterior_given
from dpgp_core.bayes.residuals import (
    OUTLIERS,
    expected,
    farthest_outliers,
    log_density,
    log_prior,
    may_have_outliers,
    mean_excess,
)
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking

HALF, N = 2.0, 3000
FAR = 0.02  # share of outliers that the squares below show


def after_squares(*thresholds, distance=2 * HALF, s=5.0):
    """Log densities of the cases after exact squares of a share ``FAR`` of outliers, over a core without variance."""
    found = log_prior()
    for A in thresholds:
        square = N * FAR * min(distance / A, 1.0) ** 2
        found = found + log_density(HALF, np.zeros(1), np.array([A]), np.array([float(N)]), s, square - N / 2)
    return found


def shares_of_distances(log_densities):
    """Probability of each distance of outliers over h, largest last, given that there are any."""
    outliers = expected(log_densities, HALF).outliers
    return np.array([outliers[OUTLIERS[:, 1] == d].sum() for d in np.unique(OUTLIERS[:, 1])])


def test_distances_beyond_all_thresholds_are_as_far_as_the_bounds():
    found = after_squares(0.1, 0.2, 0.4)
    assert shares_of_distances(found)[-1] < 0.5
    assert shares_of_distances(farthest_outliers(found))[-1] > 0.99


def test_distances_that_squares_show_are_kept():
    found = farthest_outliers(after_squares(0.1, 0.4, 4.0, distance=1.0))
    assert shares_of_distances(found)[-1] < 0.01


def test_the_farthest_outliers_keep_the_probabilities_of_shares():
    found = after_squares(0.1, 0.4, 1.0)
    moved, before = expected(farthest_outliers(found), HALF), expected(found, HALF)
    for share in np.unique(OUTLIERS[:, 0]):
        of = OUTLIERS[:, 0] == share
        assert moved.outliers[of].sum() == pytest.approx(before.outliers[of].sum() / before.outliers.sum(), abs=1e-4)
    assert mean_excess(moved, HALF) > mean_excess(before, HALF)


def release(name, repeat, n=N):
    """The release of ``python -m benchmarks outcomes --protects inputs`` with this number."""
    world, rng = (WORLDS | TAILS)[name], np.random.default_rng([n, repeat])
    mechanism = BayesCloaking(epsilon=1.0, delta=DELTA, protects="inputs and outputs")
    data = world.table(n, rng)
    made = mechanism.measure(mechanism.plan_for(data, world.grid), data, world.grid, rng, mean=False)
    return made, posterior_given(made.statistics[0], mechanism.models_of_release(made.statistics[0]))


@cache
def rare():
    """A release whose squares make outliers likely, but not so likely that the curve assumes them."""
    return release("rare", 15)


def test_intervals_cover_rare_answers_that_the_curve_misses():
    """Without the cautious posterior, this interval covers the curve nowhere."""
    made, _ = rare()
    low, high = made.interval(0.95, "function")
    truth = TAILS["rare"].truth(GRID)
    assert ((low[0] <= truth) & (truth <= high[0])).mean() > 0.9
    assert (made.samples[0] < truth).all()


def test_intervals_cover_costs_that_grow_with_the_input():
    """With half the field, or without the cautious posterior, this interval covers 0.7 of the curve or less."""
    made, _ = release("costs", 2, 30_000)
    low, high = made.interval(0.95, "function")
    truth = WORLDS["costs"].truth(GRID)
    assert ((low[0] <= truth) & (truth <= high[0])).mean() > 0.9


def test_outliers_do_not_move_the_curve():
    made, read = rare()
    mixture, (filtered, posterior) = made.uncertainty.prediction, read._conditioned
    alone = predict(filtered, posterior, GRID[:, None])
    np.testing.assert_allclose(mixture.mean, alone.mean, rtol=1e-9, atol=1e-12)
    added = variance_of_outliers(filtered, posterior, read.measured.stages, alone, GRID[:, None])
    assert added.min() > 0
    np.testing.assert_allclose(mixture.variance, alone.variance + added, rtol=1e-6)


def test_sampled_curves_vary_as_much_as_intervals():
    _, read = rare()
    found = read.at(GRID[:, None])
    joint = found.joint()
    np.testing.assert_allclose(np.diag(joint.covariance()), joint.widened**2 * found.curve.variance[0], rtol=1e-6)
    twice = np.concatenate([GRID[:20], GRID[20:40]])[:, None]
    joint = read.at(twice).joint()
    assert (contrast(joint).variance[0] >= joint.cautious[:20] + joint.cautious[20:]).all()


@pytest.mark.parametrize("name", ["normal", "counts"])
def test_usual_outcomes_need_no_cautious_posterior(name):
    _, read = release(name, 0)
    filtered, posterior = read._conditioned
    alone = predict(filtered, posterior, GRID[:, None])
    assert not variance_of_outliers(filtered, posterior, read.measured.stages, alone, GRID[:, None]).any()
    assert not may_have_outliers(read._conditioned[1].log_densities)


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "n", "coverage", "in_worst_fifth"),
    [("rare", N, 0.85, 0.6), ("costs_of_some", N, 0.85, 0.8), ("rare", 30_000, 0.88, 0.78)],
)
def test_rare_large_outcomes_are_covered(name, n, coverage, in_worst_fifth):
    """Without the cautious posterior, coverage is 0.70, 0.79 and 0.85."""
    curves, truth = Curves(), TAILS[name].truth(GRID)
    for repeat in range(16):
        curves.add(release(name, repeat, n)[0], truth)
    found = summarised(*curves.deviations, np.zeros(len(GRID)))
    assert found.inside >= coverage
    assert found.least >= in_worst_fifth
