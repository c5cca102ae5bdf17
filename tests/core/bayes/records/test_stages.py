import math

import numpy as np
import pytest

from dpgp_core.bayes.bias import Public
from dpgp_core.bayes.models import auto_models
from dpgp_core.bayes.plan import stage_multipliers
from dpgp_core.bayes.records.choosing import next_intervals
from dpgp_core.bayes.records.filter import mixture_of, prior
from dpgp_core.bayes.records.places import places_of
from dpgp_core.bayes.records.planning import plan_stages
from dpgp_core.bayes.records.readers import InFloats
from dpgp_core.bayes.records.stages import posterior, run_stages
from dpgp_core.bayes.widths import NARROWEST

from .conftest import BOX, HALF, TESTS, UNIFORM, N, S


def _measure(y, rng, draws=1):
    """Draws side by side of outputs y (n,)."""
    return InFloats(y, lambda rows: rng.standard_normal((draws, rows)))


class Replayed:
    """Gives the same noisy numbers, whatever is measured."""

    def __init__(self, observed):
        self.observed, self.asked = observed, -1

    def __call__(self, *_):
        self.asked += 1
        return self.observed[self.asked].z

    def squares(self, s, g, high):
        return self.observed[self.asked].squares._replace(s=s, g=g, high=high)


def _moved(stage, y, neighbour):
    """How far two tables lie apart in a stage, in units of its noise: means of z (2, D, r + 1)."""
    means = []
    for outputs in (y, neighbour):
        q = (np.clip(outputs, stage.low, stage.high) - (stage.low + stage.high) / 2) / (stage.high - stage.low)
        rows = q @ stage.B.T / stage.noise_multiplier
        of = stage.squares
        if of is not None:
            one = (np.minimum((outputs - of.g) ** 2, of.high) / of.high - 0.5).sum(axis=1) / of.s
            rows = np.hstack([rows, one[:, None]])
        means.append(rows)
    return np.array(means)


def test_no_record_moves_the_stages_further_than_the_claim(places, planned):
    """mu^2 = sum_i |b_ij|^2 (q_j - q'_j)^2 / s_i^2 and the same of squares, whatever intervals were chosen.

    The worst record's is the claim if both were moved by 1. No two outputs do quite that; none move them further.
    """
    rng = np.random.default_rng(1)
    y = rng.uniform(-HALF, HALF, N)
    outcome = run_stages(planned, places, UNIFORM, HALF, _measure(y, rng, 7), draws=7)
    bound = np.zeros(N)
    for stage in outcome.observed:
        bound += (stage.B**2).sum(axis=0) / stage.noise_multiplier**2
        bound += 0.0 if stage.squares is None else 1 / stage.squares.s**2
    claim = 1 / S**2
    assert bound.max() <= claim * (1 + 1e-12)
    assert bound.max() >= claim * (1 - 1e-4)  # 2^-20 is lost in rounding B
    largest = 0.0
    for j in range(0, N, 7):
        pairs = [(a, b) for a in (-HALF, 0.0, HALF) for b in (-HALF, -0.5, 0.5, HALF)]
        for a, b in pairs:
            one, other = y.copy(), y.copy()
            one[j], other[j] = a, b
            apart = sum(
                ((m := _moved(stage, one, other))[0] - m[1]) ** 2 @ np.ones(m.shape[2]) for stage in outcome.observed
            )
            largest = max(largest, float(apart.max()))
    assert 0.5 * claim < largest <= claim * (1 + 1e-12)


def test_log_likelihood_ratio_has_the_claimed_law(places, planned):
    """Simulated end to end with two neighbours: mean mu^2 / 2 and variance mu^2 within 6 standard errors.

    mu is each draw's own distance, in units of the noise, of what the two would have measured.
    """
    draws, j = 400, 3
    y = np.linspace(-HALF, HALF, N)
    y[j] = -HALF
    neighbour = y.copy()
    neighbour[j] = HALF
    outcome = run_stages(planned, places, UNIFORM, HALF, _measure(y, np.random.default_rng(2), draws), draws=draws)
    ratio, square = np.zeros(draws), np.zeros(draws)
    for stage in outcome.observed:
        z = stage.z / stage.noise_multiplier
        if stage.squares is not None:
            z = np.hstack([z, stage.squares.z[:, None] / stage.squares.s])
        mine, theirs = _moved(stage, y, neighbour)
        ratio += (((z - theirs) ** 2 - (z - mine) ** 2) / 2).sum(axis=1)
        square += ((mine - theirs) ** 2).sum(axis=1)
    standard = (ratio - square / 2) / np.sqrt(square)
    assert abs(standard.mean()) < 6 / math.sqrt(draws)
    assert abs(standard.var() - 1) < 6 * math.sqrt(2 / draws)
    assert square.max() <= 1 / S**2 * (1 + 1e-12)


def test_next_intervals_depend_on_released_numbers_only(places, planned):
    """Other outputs with the same z give the same intervals and the same posterior, bit by bit."""
    released = run_stages(planned, places, UNIFORM, HALF, _measure(np.zeros(N), np.random.default_rng(4), 2), draws=2)
    again = run_stages(planned, places, UNIFORM, HALF, Replayed(released.observed), draws=2)
    for first, second in zip(released.observed, again.observed, strict=True):
        np.testing.assert_array_equal(first.low, second.low)
        np.testing.assert_array_equal(first.high, second.high)
    np.testing.assert_array_equal(released.weights, again.weights)


def test_posterior_from_what_was_released_is_the_posterior_of_the_run(places, planned):
    released = run_stages(planned, places, UNIFORM, HALF, _measure(np.zeros(N), np.random.default_rng(4), 2), draws=2)
    again = posterior(released.observed, places, UNIFORM)
    np.testing.assert_array_equal(released.weights, again.weights)
    np.testing.assert_array_equal(released.states[5].mean, again.states[5].mean)


@pytest.mark.parametrize("level", [-3.0, 0.0, 0.9999, 3.0])
def test_intervals_stay_in_the_range_and_are_never_too_narrow(places, level):
    states = [prior(place, 1) for place in places]
    certain = [s._replace(mean=np.full_like(s.mean, level), variance=np.full_like(s.mean, 1e-12)) for s in states]
    low, high = next_intervals(certain, UNIFORM[None], N, HALF, 0.75)
    assert (low >= -HALF).all()
    assert (high <= HALF).all()
    assert (high - low >= 2 * HALF * NARROWEST * (1 - 1e-9)).all()


def test_with_hardly_any_noise_the_curve_is_found():
    rng = np.random.default_rng(6)
    X = rng.uniform(0, 1, (N + TESTS, 1))
    places = places_of(auto_models(BOX, HALF), X[:N], X[N:], public=Public(BOX, HALF))
    planned = plan_stages(places, UNIFORM, HALF, stage_multipliers(0.2, 3), gap=0.2)
    f = 0.6 * np.sin(5 * X[:, 0])
    y = f[:N] + 0.1 * rng.standard_normal(N)
    outcome = run_stages(planned, places, UNIFORM, HALF, _measure(y, rng, 3), draws=3)
    mean = mixture_of(places, outcome.states, outcome.weights).mean
    assert np.sqrt(np.mean((mean - f[N:]) ** 2)) < 0.25 * np.sqrt(np.mean(f[N:] ** 2))
