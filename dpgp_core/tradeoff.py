"""What a guarantee means for one person: the errors that the best possible attacker must make.

The attacker knows every other record and the mechanism, and must decide between two values of one
person's record ("in" and "out", or two outputs at most d apart) from what was released.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr, ndtri

from .calibration import check_budget
from .data import FloatArray
from .kernels import check_positive


def gaussian_tradeoff(false_alarm: FloatArray, mu: float) -> FloatArray:
    """Smallest miss rate at each false-alarm rate against Gaussian noise: Phi(Phi^-1(1 - a) - mu).

    Args:
        false_alarm: rates a in [0, 1], any shape.
        mu: Gaussian-DP parameter, > 0.

    Raises:
        ValueError: mu is not positive.

    Source: Dong, Roth & Su 2022, eq. 6.
    """
    check_positive("mu", mu)
    return ndtr(-ndtri(false_alarm) - mu)


def budget_tradeoff(false_alarm: FloatArray, epsilon: float, delta: float) -> FloatArray:
    """Smallest miss rate that any (epsilon, delta)-DP release allows at each false-alarm rate a.

    max(0, 1 - delta - e^epsilon a, e^-epsilon (1 - delta - a))

    Args:
        false_alarm: rates a in [0, 1], any shape.
        epsilon: budget, > 0.
        delta: budget, in (0, 1).

    Raises:
        ValueError: epsilon or delta out of range.

    Source: Wasserman & Zhou 2010; Kairouz, Oh & Viswanath 2015.
    """
    check_budget(epsilon, delta)
    steep = 1 - delta - math.exp(min(epsilon, 700.0)) * false_alarm
    flat = math.exp(-epsilon) * (1 - delta - false_alarm)
    return np.maximum(0, np.maximum(steep, flat))


def attacker_success(prior: float, mu: float) -> float:
    """Chance that the best attacker guesses right against Gaussian noise; max(p, 1 - p) without a release.

    Args:
        prior: attacker's prior probability p of "in", in (0, 1).
        mu: Gaussian-DP parameter, > 0.

    Raises:
        ValueError: prior outside (0, 1), or mu not positive.

    Source: the likelihood-ratio test of N(0, 1) against N(mu, 1) at prior odds p / (1 - p).
    """
    if not 0 < prior < 1:
        raise ValueError(f"prior must lie strictly between 0 and 1, got {prior}")
    check_positive("mu", mu)
    # Say "in" above t = mu/2 - log(p/(1-p))/mu
    threshold = mu / 2 - math.log(prior / (1 - prior)) / mu
    return float(prior * ndtr(mu - threshold) + (1 - prior) * ndtr(threshold))
