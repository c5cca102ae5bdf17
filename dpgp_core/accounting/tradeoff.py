"""Guarantees as hypothesis tests: the errors that the best possible attacker must make about one person.

The attacker knows the mechanism and every other record. From a release they must decide between two hypotheses about
one person's record: "in" and "out", or two outputs that are at most d apart.

The trade-off f(a) is the smallest miss rate (type II error) of any test with false-alarm rate (type I error) a. An
event of probability a under "out" therefore has probability at most 1 - f(a) under "in". A belief is the probability p
that an attacker assigns to "in".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit, ndtr, ndtri

from ..arrays import FloatArray
from ..checks import check_positive, check_share
from .gaussian import check_budget


def gaussian_tradeoff(false_alarm: FloatArray, mu: float) -> FloatArray:
    """Return the smallest miss rate at each false-alarm rate a for Gaussian noise: Phi(Phi^-1(1 - a) - mu).

    Args:
        false_alarm: rates a in [0, 1], any shape.

    Raises:
        ValueError: mu is not positive.

    Source: Dong, Roth & Su 2022, eq. 6.
    """
    check_positive("mu", mu)
    return ndtr(-ndtri(false_alarm) - mu)


def budget_tradeoff(false_alarm: FloatArray, epsilon: float, delta: float) -> FloatArray:
    """Return the smallest miss rate at each false-alarm rate a that any (epsilon, delta)-DP release allows.

    max(0, 1 - delta - e^epsilon a, e^-epsilon (1 - delta - a))

    Args:
        false_alarm: rates a in [0, 1], any shape.

    Raises:
        ValueError: epsilon or delta out of range.

    Source: Wasserman & Zhou 2010; Kairouz, Oh & Viswanath 2015.
    """
    check_budget(epsilon, delta)
    steep = 1 - delta - math.exp(min(epsilon, 700.0)) * false_alarm
    flat = math.exp(-epsilon) * (1 - delta - false_alarm)
    return np.maximum(0, np.maximum(steep, flat))


def attacker_success(prior: float, mu: float) -> float:
    """Return the probability that the best attacker guesses correctly from a release with Gaussian noise.

    Without a release it is max(p, 1 - p), with p the prior probability of "in".

    Raises:
        ValueError: prior outside (0, 1), or mu not positive.

    Source: the likelihood-ratio test of N(0, 1) against N(mu, 1) at prior odds p / (1 - p).
    """
    check_share("prior", prior)
    check_positive("mu", mu)
    # The best test decides for "in" above t = mu/2 - log(p/(1-p))/mu.
    threshold = mu / 2 - math.log(prior / (1 - prior)) / mu
    return float(prior * ndtr(mu - threshold) + (1 - prior) * ndtr(threshold))


def laplace_tradeoff(false_alarm: FloatArray, epsilon: float) -> FloatArray:
    """Return the smallest miss rate at each false-alarm rate a for Laplace noise.

    1 - e^epsilon a for a <= e^-epsilon / 2;  e^-epsilon / (4 a) up to a = 1/2;  e^-epsilon (1 - a) beyond

    Args:
        false_alarm: rates a in [0, 1], any shape.
        epsilon: largest shift between neighbours in units of the noise scale, which is the pure budget; > 0.

    Raises:
        ValueError: epsilon is not positive.

    Source: Dong, Roth & Su 2022, proposition A.6; derived below.
    """
    check_positive("epsilon", epsilon)
    # The log-likelihood ratio |x| - |x - epsilon| of Lap(0, 1) and Lap(epsilon, 1) rises with x, so the best test
    # rejects above a threshold t: a = P(Lap(0) > t), and the miss rate is P(Lap(epsilon) <= t) = F(t - epsilon), with
    # the Laplace distribution function F.
    # t <= 0 (a >= 1/2): e^t = 2 (1 - a);  F(t - epsilon) = e^(t - epsilon) / 2 = e^-epsilon (1 - a)
    # 0 < t <= epsilon: e^-t = 2 a;         F(t - epsilon) = e^(t - epsilon) / 2 = e^-epsilon / (4 a)
    # t > epsilon:      e^-t = 2 a;         F(t - epsilon) = 1 - e^(epsilon - t) / 2 = 1 - e^epsilon a
    rate = np.asarray(false_alarm, dtype=float)
    knee = math.exp(-epsilon) / 2
    steep = 1 - math.exp(min(epsilon, 700.0)) * np.minimum(rate, knee)
    bent = math.exp(-epsilon) / (4 * np.clip(rate, knee, 0.5)) if knee > 0 else np.zeros_like(rate)
    flat = math.exp(-epsilon) * (1 - rate)
    return np.where(rate <= knee, steep, np.where(rate <= 0.5, bent, flat))


Tradeoff = Callable[[FloatArray], FloatArray]


class Beliefs(NamedTuple):
    """Lowest and highest belief that a release can lead to."""

    low: float
    high: float


def pure_beliefs(prior: float, epsilon: float) -> Beliefs:
    """Return bounds on the belief after an epsilon-DP release: the odds change by at most a factor e^epsilon.

    p e^-eps / (1 - p + p e^-eps) <= belief <= p e^eps / (1 - p + p e^eps)

    Args:
        epsilon: pure budget, > 0.

    Raises:
        ValueError: prior outside (0, 1), or epsilon not positive.

    Source: Bayes' rule with likelihood ratios in [e^-epsilon, e^epsilon].
    """
    check_share("prior", prior)
    check_positive("epsilon", epsilon)
    odds = logit(prior)
    return Beliefs(float(expit(odds - epsilon)), float(expit(odds + epsilon)))


def mean_beliefs(prior: float, share: float, tradeoff: Tradeoff) -> Beliefs:
    """Return bounds on the mean belief over any set of releases that has probability q.

    The probability is over the prior and the noise. The upper bound is the mean belief over the releases most in favour
    of "in", the lower bound that over the releases most against it. No part of the noise is disregarded: delta is part
    of f.

        high = p (1 - f(a)) / q            at the a that solves p (1 - f(a)) + (1 - p) a = q
        low  = p f(a) / q                  at the a that solves p (1 - f(a)) + (1 - p) a = 1 - q

    Args:
        share: q, in (0, 1).
        tradeoff: f, decreasing and convex from [0, 1] to [0, 1]. It may be a lower bound on the true trade-off; the
            returned bounds are then valid but wider.

    Raises:
        ValueError: prior or share outside (0, 1).

    Source: P(in | E) = p P(E | in) / P(E), and P(E | in) <= 1 - f(P(E | out)) for every event E (Neyman-Pearson;
    Dong, Roth & Su 2022, definition 2.1); the left side of the equation for a rises with a.
    """
    check_share("prior", prior)
    check_share("share", share)
    low = (prior - _accused_rightly(prior, 1 - share, tradeoff)) / share
    return Beliefs(max(0.0, low), min(1.0, _accused_rightly(prior, share, tradeoff) / share))


def _accused_rightly(prior: float, accused: float, tradeoff: Tradeoff) -> float:
    """Return p (1 - f(a)) for the test that decides for "in" with total probability ``accused``."""

    def hit(a: float) -> float:
        return prior * (1 - float(tradeoff(np.array([a]))[0]))

    if hit(0.0) >= accused:  # delta allows so many correct decisions without any false alarm
        return accused
    a = brentq(lambda a: hit(a) + (1 - prior) * a - accused, 0.0, 1.0, xtol=1e-300, rtol=1e-14, maxiter=2000)
    return accused - (1 - prior) * float(a)


def chance_beyond(epsilon: float, mu: float) -> float:
    """Return the probability that a release with Gaussian noise changes the odds by more than a factor e^epsilon.

    Changes in both directions are counted. The probability is the same under "in" and "out":

    Phi(mu / 2 - epsilon / mu) + Phi(-mu / 2 - epsilon / mu)

    The log-likelihood ratio is N(mu^2 / 2, mu^2) under "in" and N(-mu^2 / 2, mu^2) under "out". The probability is
    larger than the delta of (epsilon, delta)-DP, which is the first term minus e^epsilon times the second.

    Args:
        epsilon: logarithm of the factor, >= 0.

    Raises:
        ValueError: epsilon negative or not finite, or mu not positive.

    Source: Balle & Wang 2018, lemma 5 (privacy loss of the Gaussian mechanism).
    """
    if not (math.isfinite(epsilon) and epsilon >= 0):
        raise ValueError(f"epsilon must be finite and not negative, got {epsilon}")
    check_positive("mu", mu)
    return float(ndtr(mu / 2 - epsilon / mu) + ndtr(-mu / 2 - epsilon / mu))
