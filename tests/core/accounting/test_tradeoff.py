"""What a promise means to an attacker: trade-off curves, the success of a guess, and how far a belief moves."""

from __future__ import annotations

import math
from functools import partial

import mpmath
import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import norm

from dpgp_core.accounting.gaussian import epsilon_of, log_delta_of
from dpgp_core.accounting.tradeoff import (
    attacker_success,
    budget_tradeoff,
    chance_beyond,
    gaussian_tradeoff,
    laplace_tradeoff,
    mean_beliefs,
    pure_beliefs,
)

RATES = np.linspace(0, 1, 2001)


@pytest.mark.parametrize("mu", [0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("rate", [1e-8, 0.01, 0.3, 0.9])
def test_gaussian_curve_is_the_neyman_pearson_test(mu, rate):
    # reject above t with Q(x > t) = rate for Q = N(0, 1); miss rate = P(x <= t) for P = N(mu, 1)
    with mpmath.workdps(40):
        threshold = mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpmath.mpf(rate))
        expected = mpmath.ncdf(threshold, mu, 1)
    assert gaussian_tradeoff(np.array(rate), mu) == pytest.approx(float(expected), rel=1e-9)


BY_HAND = [
    (partial(gaussian_tradeoff, mu=1.0), [0, 1], [1, 0]),
    # lines 0.9 - 2 a and (0.9 - a) / 2 cross at a = 0.3
    (partial(budget_tradeoff, epsilon=math.log(2), delta=0.1), [0, 0.1, 0.3, 0.5, 0.95, 1], [0.9, 0.7, 0.3, 0.2, 0, 0]),
    (partial(budget_tradeoff, epsilon=5000.0, delta=0.1), [0, 0.5], [0.9, 0]),
    (partial(laplace_tradeoff, epsilon=1.0), [0, 1], [1, 0]),
    (partial(laplace_tradeoff, epsilon=5000.0), [0, 0.5, 1], [1, 0, 0]),
]


@pytest.mark.parametrize(("curve", "rates", "misses"), BY_HAND)
def test_curves_by_hand(curve, rates, misses):
    np.testing.assert_allclose(curve(np.array(rates, dtype=float)), misses, atol=1e-15)


@pytest.mark.parametrize("mu", [0.2, 0.7, 1.5, 4.0])
@pytest.mark.parametrize("delta", [1e-5, 0.01, 0.05])
def test_budgets_support_the_gaussian_curve_from_below(mu, delta):
    epsilon = epsilon_of(1 / mu, delta)
    assert epsilon > 0
    # tangent where the slope of the curve is -e^epsilon, at threshold mu / 2 + epsilon / mu
    rates = np.append(RATES, ndtr(-(mu / 2 + epsilon / mu)))
    margin = gaussian_tradeoff(rates, mu) - budget_tradeoff(rates, epsilon, delta)
    assert margin.min() >= -1e-12
    assert margin[-1] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("prior", [0.02, 0.3, 0.5, 0.8, 0.999])
@pytest.mark.parametrize("mu", [1e-3, 0.1, 1.0, 3.0])
def test_attacker_success_against_every_threshold(prior, mu):
    thresholds = np.linspace(-100, 100, 2_000_001)
    best = (prior * ndtr(mu - thresholds) + (1 - prior) * ndtr(thresholds)).max()
    assert attacker_success(prior, mu) == pytest.approx(best, abs=1e-8)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 50.0])
@pytest.mark.parametrize("threshold", [-30.0, -0.5, 0.0, 0.05, 0.9, 3.0, 55.0])
def test_laplace_curve_is_the_threshold_test(epsilon, threshold):
    alarm = stats.laplace.sf(threshold)
    miss = stats.laplace.cdf(threshold, loc=epsilon)
    assert laplace_tradeoff(np.array(alarm), epsilon) == pytest.approx(miss, rel=1e-9, abs=1e-15)


PRIORS = (0.01, 0.1, 0.5, 0.9)


@pytest.mark.parametrize("prior", PRIORS)
def test_odds_change_by_the_factor(prior):
    low, high = pure_beliefs(prior, math.log(3))
    odds = prior / (1 - prior)
    assert low / (1 - low) == pytest.approx(odds / 3, rel=1e-12)
    assert high / (1 - high) == pytest.approx(3 * odds, rel=1e-12)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_laplace_noise_reaches_the_pure_limit(prior, epsilon):
    # the largest ratio e^epsilon has mass 1/2 under "in" and e^-epsilon / 2 under "out"; mirrored for the smallest
    limit = pure_beliefs(prior, epsilon)
    mass_high = prior / 2 + (1 - prior) * math.exp(-epsilon) / 2
    mass_low = prior * math.exp(-epsilon) / 2 + (1 - prior) / 2
    f = partial(laplace_tradeoff, epsilon=epsilon)
    assert mean_beliefs(prior, 0.99 * mass_high, f).high == pytest.approx(limit.high, rel=1e-9)
    assert mean_beliefs(prior, 0.99 * mass_low, f).low == pytest.approx(limit.low, rel=1e-6)
    assert mean_beliefs(prior, min(0.999, 1.5 * mass_high), f).high < limit.high * (1 - 1e-6)


@pytest.mark.parametrize("prior", [0.01, 0.5])
@pytest.mark.parametrize("mu", [0.1, 3.0])
@pytest.mark.parametrize("share", [0.001, 0.6])
def test_gaussian_noise_by_integration_over_its_outcomes(prior, mu, share):
    low, high = mean_beliefs(prior, share, partial(gaussian_tradeoff, mu=mu))

    def outcomes(x):
        return prior * norm.pdf(x, mu) + (1 - prior) * norm.pdf(x)

    def mean_belief(start, end):
        total = quad(outcomes, start, end, epsabs=1e-14, limit=200)[0]
        return quad(lambda x: prior * norm.pdf(x, mu), start, end, epsabs=1e-14, limit=200)[0] / total, total

    def cut(tail):  # where that share of all outcomes lies above
        ends = (-12.0, 16.0)
        for _ in range(80):
            middle = sum(ends) / 2
            above = prior * norm.sf(middle, mu) + (1 - prior) * norm.sf(middle)
            ends = (middle, ends[1]) if above > tail else (ends[0], middle)
        return middle

    assert high == pytest.approx(mean_belief(cut(share), 16.0)[0], rel=1e-6)
    assert low == pytest.approx(mean_belief(-12.0, cut(1 - share))[0], rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("prior", PRIORS)
def test_delta_alone_reveals_at_most_its_share(prior):
    f = partial(budget_tradeoff, epsilon=0.5, delta=0.01)
    assert mean_beliefs(prior, 0.9 * prior * 0.01, f).high == 1
    at = mean_beliefs(prior, 0.02, f).high
    # p (e^eps a + delta) + (1 - p) a = q while that is the least miss rate
    a = (0.02 - prior * 0.01) / (prior * math.exp(0.5) + 1 - prior)
    assert at == pytest.approx(prior * (math.exp(0.5) * a + 0.01) / 0.02, rel=1e-9)


@pytest.mark.parametrize(("epsilon", "mu"), [(0.5, 0.3), (1.0, 0.5), (3.0, 2.0)])
def test_the_chance_beyond_epsilon_is_more_than_delta(epsilon, mu):
    away = norm.cdf(-mu / 2 - epsilon / mu)
    delta = math.exp(log_delta_of(1 / mu, epsilon))
    assert chance_beyond(epsilon, mu) - (1 + math.exp(epsilon)) * away == pytest.approx(delta, rel=1e-6)
    assert chance_beyond(epsilon, mu) > delta


def test_uninformative_releases_move_no_belief():
    assert np.allclose(mean_beliefs(0.3, 0.1, lambda a: 1 - a), (0.3, 0.3))
