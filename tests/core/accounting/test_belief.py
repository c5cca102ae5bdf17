from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from dpgp_core.accounting.gaussian import log_delta_of
from dpgp_core.accounting.tradeoff import (
    budget_tradeoff,
    chance_beyond,
    gaussian_tradeoff,
    laplace_tradeoff,
    pure_beliefs,
    telling_beliefs,
)

PRIORS = (0.01, 0.1, 0.5, 0.9)


@pytest.mark.parametrize("prior", PRIORS)
def test_odds_change_by_the_factor(prior):
    low, high = pure_beliefs(prior, math.log(3))
    odds = prior / (1 - prior)
    assert low / (1 - low) == pytest.approx(odds / 3, rel=1e-12)
    assert high / (1 - high) == pytest.approx(3 * odds, rel=1e-12)


def test_one_percent_at_epsilon_one():
    low, high = pure_beliefs(0.01, 1)
    assert high == pytest.approx(math.e / (99 + math.e), rel=1e-12)  # 2.67 %
    assert low == pytest.approx(1 / (99 * math.e + 1), rel=1e-12)  # 0.37 %


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_laplace_noise_reaches_the_pure_limit_in_both_directions(prior, epsilon):
    # the largest ratio e^epsilon has mass 1/2 under "in" and e^-epsilon / 2 under "out"; mirrored for the smallest
    limit = pure_beliefs(prior, epsilon)
    mass_high = prior / 2 + (1 - prior) * math.exp(-epsilon) / 2
    mass_low = prior * math.exp(-epsilon) / 2 + (1 - prior) / 2
    f = partial(laplace_tradeoff, epsilon=epsilon)
    assert telling_beliefs(prior, 0.99 * mass_high, f).high == pytest.approx(limit.high, rel=1e-9)
    assert telling_beliefs(prior, 0.99 * mass_low, f).low == pytest.approx(limit.low, rel=1e-6)
    assert telling_beliefs(prior, min(0.999, 1.5 * mass_high), f).high < limit.high * (1 - 1e-6)


@pytest.mark.parametrize("prior", [0.01, 0.5])
@pytest.mark.parametrize("mu", [0.1, 3.0])
@pytest.mark.parametrize("share", [0.001, 0.6])
def test_gaussian_noise_by_integration_over_its_outcomes(prior, mu, share):
    low, high = telling_beliefs(prior, share, partial(gaussian_tradeoff, mu=mu))

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
def test_delta_alone_may_give_the_whole_fact_away_and_no_more_than_its_share(prior):
    f = partial(budget_tradeoff, epsilon=0.5, delta=0.01)
    assert telling_beliefs(prior, 0.9 * prior * 0.01, f).high == 1
    at = telling_beliefs(prior, 0.02, f).high
    # p (e^eps a + delta) + (1 - p) a = q while that is the least miss rate
    a = (0.02 - prior * 0.01) / (prior * math.exp(0.5) + 1 - prior)
    assert at == pytest.approx(prior * (math.exp(0.5) * a + 0.01) / 0.02, rel=1e-9)


def test_beliefs_average_to_the_prior_and_close_in_as_the_share_grows():
    f = partial(gaussian_tradeoff, mu=1.0)
    found = [telling_beliefs(0.2, share, f) for share in (0.001, 0.01, 0.1, 0.5)]
    assert [each.high for each in found] == sorted((each.high for each in found), reverse=True)
    assert [each.low for each in found] == sorted(each.low for each in found)
    half = found[-1]
    assert (half.low + half.high) / 2 == pytest.approx(0.2, rel=1e-9)


@pytest.mark.parametrize(("epsilon", "mu"), [(0.5, 0.3), (1.0, 0.5), (3.0, 2.0)])
def test_the_chance_beyond_epsilon_is_more_than_delta(epsilon, mu):
    away = norm.cdf(-mu / 2 - epsilon / mu)
    delta = math.exp(log_delta_of(1 / mu, epsilon))
    assert chance_beyond(epsilon, mu) - (1 + math.exp(epsilon)) * away == pytest.approx(delta, rel=1e-6)
    assert chance_beyond(epsilon, mu) > delta


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: pure_beliefs(0.0, 1.0), "prior must lie strictly between 0 and 1, got 0.0"),
        (lambda: pure_beliefs(0.5, -1.0), "epsilon must be a finite number above 0"),
        (lambda: telling_beliefs(0.5, 1.0, lambda a: 1 - a), "share must lie strictly between 0 and 1, got 1.0"),
        (lambda: chance_beyond(-1.0, 1.0), "epsilon must be finite and not negative, got -1.0"),
        (lambda: chance_beyond(1.0, 0.0), "mu must be a finite number above 0"),
    ],
)
def test_bad_input_is_named(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_no_noise_that_tells_nothing_moves_a_belief():
    assert np.allclose(telling_beliefs(0.3, 0.1, lambda a: 1 - a), (0.3, 0.3))
