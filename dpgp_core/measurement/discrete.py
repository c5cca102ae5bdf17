"""Exact samplers of discrete Laplace and discrete Gaussian noise, and private selection among integer scores.

All computations use integers and random bits, and no floating-point numbers. Every probability below is exact, because
every decision compares uniform random bits with the binary digits of a rational number until they differ. The time that
a sample takes depends on its value; attackers who can time a release to fractions of a microsecond are not considered.

Source: Canonne, Kamath & Steinke 2020, "The discrete Gaussian for differential privacy", algorithms 1-3.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Sequence
from fractions import Fraction

Bits = Callable[[int], int]
"""Source of randomness that maps k to a uniform integer in [0, 2^k), for example ``secrets.randbits``."""

_WORD = 64
_BATCH = 512  # number of words that are fetched from the operating system at a time


def system_bits() -> Bits:
    """Return a source of random bits from the operating system, which all measurements use by default.

    Bits are fetched in batches of 512 words, and each is used once.
    """
    words: list[int] = []

    def bits(k: int) -> int:
        if k > _WORD:
            return bits(k - _WORD) << _WORD | bits(_WORD)
        if not words:
            words.extend(memoryview(secrets.token_bytes(8 * _BATCH)).cast("Q"))
        return words.pop() >> (_WORD - k)

    return bits


def uniform_below(bound: int, bits: Bits) -> int:
    """Return a uniform integer in [0, bound), by rejection sampling.

    Raises:
        ValueError: bound < 1.
    """
    if bound < 1:
        raise ValueError(f"bound must be at least 1, got {bound}")
    k = (bound - 1).bit_length()
    while (value := bits(k)) >= bound:
        pass
    return value


def bernoulli(numerator: int, denominator: int, bits: Bits) -> bool:
    """Return True with probability exactly numerator / denominator, clipped to [0, 1]; denominator > 0.

    The binary digits of a uniform number in [0, 1) and of the fraction are compared, 64 at a time, until they differ.
    """
    if not 0 < numerator < denominator:
        return numerator > 0
    while numerator:
        digits, numerator = divmod(numerator << _WORD, denominator)
        drawn = bits(_WORD)
        if drawn != digits:
            return drawn < digits
    return False


def bernoulli_exp(gamma: Fraction | int, bits: Bits) -> bool:
    """Return True with probability exactly exp(-gamma).

    Args:
        gamma: rational, >= 0.

    Raises:
        ValueError: gamma < 0.

    Source: Canonne, Kamath & Steinke 2020, algorithm 1.
    """
    if gamma < 0:
        raise ValueError(f"gamma must be at least 0, got {gamma}")
    return _bernoulli_exp(gamma.numerator, gamma.denominator, bits)


def discrete_laplace(scale: Fraction | int, size: int, bits: Bits | None = None) -> list[int]:
    """Sample independent integers z with probability proportional to exp(-|z| / scale).

    Args:
        scale: rational, > 0.
        size: number of samples, >= 0.

    Raises:
        ValueError: scale is not positive, or size < 0.

    Source: Canonne, Kamath & Steinke 2020, algorithm 2.
    """
    _check(scale > 0 and size >= 0, "scale", scale, size)
    source = system_bits() if bits is None else bits
    return [_laplace(scale.numerator, scale.denominator, source) for _ in range(size)]


def discrete_gaussian(variance: Fraction | int, size: int, bits: Bits | None = None) -> list[int]:
    """Sample independent integers z with probability proportional to exp(-z^2 / (2 variance)).

    Args:
        variance: rational parameter sigma^2 > 0. To first order, the variance of the samples is smaller by the factor
            1 - 8 pi^2 sigma^2 exp(-2 pi^2 sigma^2), which is negligible for sigma >= 2.
        size: number of samples, >= 0.

    Raises:
        ValueError: variance is not positive, or size < 0.

    Source: Canonne, Kamath & Steinke 2020, algorithm 3.
    """
    _check(variance > 0 and size >= 0, "variance", variance, size)
    source = system_bits() if bits is None else bits
    a, b = variance.numerator, variance.denominator
    t = math.isqrt(a // b) + 1  # floor(sigma) + 1
    return [_gaussian(a, b, t, source) for _ in range(size)]


def exponential_mechanism(scores: Sequence[int], rate: Fraction, bits: Bits | None = None) -> int:
    """Return the index r of a candidate, with probability exactly proportional to exp(rate u_r).

    Like ``permute_and_flip``, it is epsilon-DP if one record changes each score by at most Delta and rate = epsilon /
    (2 Delta). Real scores must first be rounded to integers on a public grid, and Delta is the sensitivity of the
    rounded scores: rounding to nearest adds at most 1 to it, in units of the grid. The guarantee does not cover running
    times, which depend on the scores.

    Rejection sampling is used: a uniformly chosen candidate is accepted with probability exp(rate (u_r - max u)).

    Args:
        scores: integers u_r (R,), larger is better. On average, at most R candidates are tried.
        rate: epsilon / (2 Delta) >= 0, rational. ``Fraction(epsilon)`` is the exact value of a float.

    Raises:
        ValueError: no scores, or rate < 0.
        TypeError: a score is not an integer.

    Source: McSherry & Talwar 2007.
    """
    losses, source = _losses(scores, rate), system_bits() if bits is None else bits
    while True:
        chosen = uniform_below(len(losses), source)
        if bernoulli_exp(rate * losses[chosen], source):
            return chosen


def permute_and_flip(scores: Sequence[int], rate: Fraction, bits: Bits | None = None) -> int:
    """Return the index of a candidate by permute-and-flip.

    Candidates are taken in uniformly random order, and the first one is returned for which a coin with probability
    exp(rate (u_r - max u)) comes up heads. Arguments, guarantee and errors are those of ``exponential_mechanism``; the
    expected score is never lower.

    Source: McKenna & Sheldon 2020, algorithm 1.
    """
    losses, source = _losses(scores, rate), system_bits() if bits is None else bits
    waiting = list(range(len(losses)))
    while True:  # the best candidate is accepted with probability 1, so the list never becomes empty
        chosen = waiting.pop(uniform_below(len(waiting), source))
        if bernoulli_exp(rate * losses[chosen], source):
            return chosen


def _losses(scores: Sequence[int], rate: Fraction) -> list[int]:
    """Return the difference (R,) between the best score and each score, >= 0."""
    if len(scores) == 0:
        raise ValueError("scores must hold at least one candidate, got none")
    if rate < 0:
        raise ValueError(f"rate must be at least 0, got {rate}")
    wrong = [score for score in scores if not hasattr(score, "__index__")]
    if wrong:
        raise TypeError(f"scores must be integers, got {wrong[0]!r}; round them to a public grid first")
    best = max(int(score) for score in scores)
    return [best - int(score) for score in scores]


def _gaussian(a: int, b: int, t: int, bits: Bits) -> int:
    """Sample a discrete Gaussian with sigma^2 = a / b, by accepting a discrete Laplace with probability exp(-gamma)."""
    while True:
        z = _laplace(t, 1, bits)
        # gamma = (|z| - sigma^2 / t)^2 / (2 sigma^2) = (|z| t b - a)^2 / (2 a b t^2)
        if _bernoulli_exp((abs(z) * t * b - a) ** 2, 2 * a * b * t * t, bits):
            return z


def _laplace(t: int, s: int, bits: Bits) -> int:
    """Sample a discrete Laplace with scale t / s: z = +-floor(x / s), x = u + t v geometric with ratio exp(-1 / t)."""
    while True:
        u = uniform_below(t, bits)
        if not _bernoulli_exp_fraction(u, t, bits):
            continue
        v = 0
        while _bernoulli_exp_fraction(1, 1, bits):
            v += 1
        z = (u + t * v) // s
        if bits(1):
            return z
        if z:  # otherwise 0 would be twice as likely
            return -z


def _bernoulli_exp(numerator: int, denominator: int, bits: Bits) -> bool:
    """Return True with probability exp(-gamma) = exp(-1)^floor(gamma) exp(-rest), gamma = numerator / denominator."""
    whole, rest = divmod(numerator, denominator)
    for _ in range(whole):
        if not _bernoulli_exp_fraction(1, 1, bits):
            return False
    return _bernoulli_exp_fraction(rest, denominator, bits)


def _bernoulli_exp_fraction(numerator: int, denominator: int, bits: Bits) -> bool:
    """Return True with probability exp(-gamma) for gamma = numerator / denominator in [0, 1].

    Coins with probabilities gamma / k, k = 1, 2, ..., are tossed until one fails; the result is whether this k is odd.
    P(first k coins succeed) = gamma^k / k!, so P(k is odd) = 1 - gamma + gamma^2 / 2 - ... = exp(-gamma).
    """
    k = 1
    while bernoulli(numerator, denominator * k, bits):
        k += 1
    return k % 2 == 1


def _check(good: bool, name: str, value: Fraction | int, size: int) -> None:
    if not good:
        raise ValueError(f"{name} must be above 0 and size at least 0, got {name} {value} and size {size}")
