"""What a release can do to someone's belief about one person, from the trade-off function of its noise.

A belief is the probability p that a fact about the person is true ("in"), against "out". The trade-off f(a) is the
least miss rate at false-alarm rate a (``tradeoff``), so an event that has probability a under "out" has at most
1 - f(a) under "in".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit, ndtr

from ..arrays import FloatArray
from ..checks import check_positive
from .tradeoff import check_prior

Tradeoff = Callable[[FloatArray], FloatArray]


class Beliefs(NamedTuple):
    """The lowest and the highest belief that a release can lead to."""

    low: float
    high: float


def pure_beliefs(prior: float, epsilon: float) -> Beliefs:
    """Beliefs after any outcome of an epsilon-DP release: the odds change by at most a factor e^epsilon.

    p e^-eps / (1 - p + p e^-eps) <= belief <= p e^eps / (1 - p + p e^eps)

    Args:
        prior: belief p beforehand, in (0, 1).
        epsilon: pure budget, > 0.

    Raises:
        ValueError: prior outside (0, 1), or epsilon not positive.

    Source: Bayes' rule with likelihood ratios in [e^-epsilon, e^epsilon].
    """
    check_prior(prior)
    check_positive("epsilon", epsilon)
    odds = logit(prior)
    return Beliefs(float(expit(odds - epsilon)), float(expit(odds + epsilon)))


def telling_beliefs(prior: float, share: float, tradeoff: Tradeoff) -> Beliefs:
    """Mean belief after the releases that speak most against a person, and most for, each of a share q of all cases.

    Nobody can name a set of releases that comes up in a share q of all cases (over belief and noise) after which the
    mean belief is beyond these. No share of the noise is left out: delta is part of f.

        high = p (1 - f(a)) / q            at the a that solves p (1 - f(a)) + (1 - p) a = q
        low  = p f(a) / q                  at the a that solves p (1 - f(a)) + (1 - p) a = 1 - q

    Args:
        prior: belief p beforehand, in (0, 1).
        share: q, in (0, 1).
        tradeoff: f, decreasing and convex from [0, 1] to [0, 1]; an upper bound on what is learnt if f is a lower
            bound on misses.

    Raises:
        ValueError: prior or share outside (0, 1).

    Source: P(in | E) = p P(E | in) / P(E), and P(E | in) <= 1 - f(P(E | out)) for every event E (Neyman-Pearson;
    Dong, Roth & Su 2022, definition 2.1); the left side of the equation for a rises with a.
    """
    check_prior(prior)
    if not 0 < share < 1:
        raise ValueError(f"share must lie strictly between 0 and 1, got {share}")
    low = (prior - _found(prior, 1 - share, tradeoff)) / share
    return Beliefs(max(0.0, low), min(1.0, _found(prior, share, tradeoff) / share))


def _found(prior: float, accused: float, tradeoff: Tradeoff) -> float:
    """P (1 - f(a)) at the a where a share ``accused`` of all cases is accused."""

    def hit(a: float) -> float:
        return prior * (1 - float(tradeoff(np.array([a]))[0]))

    if hit(0.0) >= accused:  # accused without a single false alarm: delta's share
        return accused
    a = brentq(lambda a: hit(a) + (1 - prior) * a - accused, 0.0, 1.0, xtol=1e-300, rtol=1e-14, maxiter=2000)
    return accused - (1 - prior) * float(a)


def chance_beyond(epsilon: float, mu: float) -> float:
    """Chance that Gaussian noise moves the odds by more than a factor e^epsilon, either way, true or not.

    Phi(mu / 2 - epsilon / mu) + Phi(-mu / 2 - epsilon / mu)

    The log-likelihood ratio is N(mu^2 / 2, mu^2) under "in" and N(-mu^2 / 2, mu^2) under "out". The chance is larger
    than the delta of (epsilon, delta), which is the first term less e^epsilon times the second.

    Args:
        epsilon: logarithm of the factor, >= 0.
        mu: Gaussian-DP parameter, > 0.

    Raises:
        ValueError: epsilon negative or not finite, or mu not positive.

    Source: Balle & Wang 2018, lemma 5 (privacy loss of the Gaussian mechanism).
    """
    if not (math.isfinite(epsilon) and epsilon >= 0):
        raise ValueError(f"epsilon must be finite and not negative, got {epsilon}")
    check_positive("mu", mu)
    return float(ndtr(mu / 2 - epsilon / mu) + ndtr(-mu / 2 - epsilon / mu))
