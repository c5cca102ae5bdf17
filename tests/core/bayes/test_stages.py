import math

import numpy as np
import pytest

from dpgp_core.bayes.filter import prior
from dpgp_core.bayes.intervals import mixture_of
from dpgp_core.bayes.models import auto_models, places_of
from dpgp_core.bayes.planning import plan_stages, stage_multipliers
from dpgp_core.bayes.stages import NARROWEST, next_intervals, posterior, run_stages

HALF, N, TESTS = 1.0, 60, 20
S = 1.3
UNIFORM = np.full(12, 1 / 12)


@pytest.fixture(scope="module")
def places():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (N + TESTS, 1))
    return places_of(auto_models([(0.0, 1.0)], HALF), X[:N], X[N:])


@pytest.fixture(scope="module")
def planned(places):
    return plan_stages(places, UNIFORM, HALF, stage_multipliers(S, 5))


def _measure(y, rng, noise=1.0):
    """Draws side by side of outputs y (D, n)."""

    def measure(stage, low, high):
        q = (np.clip(y, low, high) - (low + high) / 2) / (high - low)
        z = q @ stage.strategy.B.T
        return z + noise * stage.noise_multiplier * rng.standard_normal(z.shape)

    return measure


def test_likelihood_ratio_of_the_worst_record_is_the_claim(places, planned):
    """log p(z | y) / p(z | y') of all stages is N(+-mu^2/2, mu^2), mu^2 = sum_i |b_ij|^2 (q_j - q'_j)^2 / s_i^2.

    It is the same for every z, whatever intervals were chosen: exact, not simulated. The worst record's is the claim.
    """
    rng = np.random.default_rng(1)
    y = rng.uniform(-HALF, HALF, N)
    outcome = run_stages(planned, places, UNIFORM, HALF, _measure(y, rng), draws=7)
    squares = np.zeros((7, N))
    for stage in outcome.observed:
        ends = [np.clip(np.full(N, value), stage.low, stage.high) for value in (-1e9, 1e9)]
        change = (ends[1] - ends[0]) / (stage.high - stage.low)
        squares += change**2 * (stage.B**2).sum(axis=0) / stage.noise_multiplier**2
    claim = 1 / S**2
    assert squares.max() <= claim * (1 + 1e-12)
    assert squares.max() >= claim * (1 - 1e-4)  # 2^-20 is lost in rounding B


def test_log_likelihood_ratio_has_the_claimed_law(places, planned):
    """Simulated end to end with two neighbours: mean mu^2 / 2 and variance mu^2 within 6 standard errors."""
    draws, j = 400, 3
    y = np.linspace(-HALF, HALF, N)
    y[j] = -HALF
    neighbour = y.copy()
    neighbour[j] = HALF
    outcome = run_stages(planned, places, UNIFORM, HALF, _measure(y, np.random.default_rng(2)), draws=draws)
    ratio = np.zeros(draws)
    for stage in outcome.observed:
        fits = []
        for outputs in (y, neighbour):
            q = (np.clip(outputs, stage.low, stage.high) - (stage.low + stage.high) / 2) / (stage.high - stage.low)
            fits.append(((stage.z - q @ stage.B.T) ** 2).sum(axis=1) / 2 / stage.noise_multiplier**2)
        ratio += fits[1] - fits[0]
    mu = 1 / S
    assert abs(ratio.mean() - mu**2 / 2) < 6 * mu / math.sqrt(draws)
    assert abs(ratio.var() - mu**2) < 6 * mu**2 * math.sqrt(2 / draws)


def test_next_intervals_depend_on_released_numbers_only(places, planned):
    """Other outputs with the same z give the same intervals and the same posterior, bit by bit."""
    released = run_stages(planned, places, UNIFORM, HALF, _measure(np.zeros(N), np.random.default_rng(4)), draws=2)
    replayed = iter([stage.z for stage in released.observed])
    again = run_stages(planned, places, UNIFORM, HALF, lambda *_: next(replayed), draws=2)
    for first, second in zip(released.observed, again.observed, strict=True):
        np.testing.assert_array_equal(first.low, second.low)
        np.testing.assert_array_equal(first.high, second.high)
    np.testing.assert_array_equal(released.weights, again.weights)


def test_posterior_from_what_was_released_is_the_posterior_of_the_run(places, planned):
    released = run_stages(planned, places, UNIFORM, HALF, _measure(np.zeros(N), np.random.default_rng(4)), draws=2)
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
    places = places_of(auto_models([(0.0, 1.0)], HALF), X[:N], X[N:])
    planned = plan_stages(places, UNIFORM, HALF, stage_multipliers(0.2, 3), gap=0.2)
    f = 0.6 * np.sin(5 * X[:, 0])
    y = f[:N] + 0.1 * rng.standard_normal(N)
    outcome = run_stages(planned, places, UNIFORM, HALF, _measure(y, rng), draws=3)
    mean = mixture_of(places, outcome.states, outcome.weights).mean
    assert np.sqrt(np.mean((mean - f[N:]) ** 2)) < 0.25 * np.sqrt(np.mean(f[N:] ** 2))
