"""Exact samplers of the discrete Laplace and the discrete Gaussian, and private choice among integer scores.

Integers and random bits, no floating point. Every probability below is met exactly, because every decision compares
uniform random bits with the binary digits of a rational number until they differ. The time that a sample takes depends
on its size: who can time the release to fractions of a microsecond is not covered.

Source: Canonne, Kamath & Steinke 2020, "The discrete Gaussian for differential privacy", algorithms 1-3.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Sequence
from fractions import Fraction

Bits = Callable[[int], int]
"""Source of randomness: k -> a uniform integer in [0, 2^k); ``secrets.randbits``, ``random.Random(0).getrandbits``."""

_WORD = 64
_BATCH = 512  # words from the operating system at a time


def system_bits() -> Bits:
    """Random bits of the operating system, fetched 512 words at a time; each is used once. The default everywhere."""
    words: list[int] = []

    def bits(k: int) -> int:
        if k > _WORD:
            return bits(k - _WORD) << _WORD | bits(_WORD)
        if not words:
            words.extend(memoryview(secrets.token_bytes(8 * _BATCH)).cast("Q"))
        return words.pop() >> (_WORD - k)

    return bits


def uniform_below(bound: int, bits: Bits) -> int:
    """A uniform integer in [0, bound), by rejection.

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
    """True with probability exactly numerator / denominator, clipped to [0, 1]; denominator > 0.

    A uniform number in [0, 1) and the fraction are compared 64 binary digits at a time until they differ.
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
    """True with probability exactly exp(-gamma).

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
    """Independent integers of probability proportional to exp(-|z| / scale).

    Args:
        scale: rational, > 0.
        size: how many, >= 0.

    Raises:
        ValueError: scale is not positive, or size < 0.

    Source: Canonne, Kamath & Steinke 2020, algorithm 2.
    """
    _check(scale > 0 and size >= 0, "scale", scale, size)
    source = system_bits() if bits is None else bits
    return [_laplace(scale.numerator, scale.denominator, source) for _ in range(size)]


def discrete_gaussian(variance: Fraction | int, size: int, bits: Bits | None = None) -> list[int]:
    """Independent integers of probability proportional to exp(-z^2 / (2 variance)).

    Args:
        variance: rational parameter sigma^2 > 0; the variance of the numbers is less, by a factor
            1 - 8 pi^2 sigma^2 exp(-2 pi^2 sigma^2) to first order: nothing at all for sigma >= 2.
        size: how many, >= 0.

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
    """Index of a candidate, of probability exactly proportional to exp(rate u_r); no floating-point number decides.

    It is epsilon-DP, as is ``permute_and_flip``, if one record changes each score by at most Delta and rate = epsilon /
    (2 Delta). Real scores are rounded to integers on a public grid first, and Delta is that of the rounded ones:
    rounding to nearest adds at most 1 to it, in units of the grid. Running times depend on the scores, and are not
    covered.

    By rejection: a candidate drawn uniformly is kept with probability exp(rate (u_r - max u)).

    Args:
        scores: integers u_r (R,), larger is better; R tries are needed at worst, on average.
        rate: epsilon / (2 Delta) >= 0, rational; ``Fraction(epsilon)`` is exact for a float too.

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
    """Index of the first candidate, in a uniformly random order, whose coin of bias exp(rate (u_r - max u)) succeeds.

    Arguments and errors as for ``exponential_mechanism``; the expected score is never worse.

    Source: McKenna & Sheldon 2020, algorithm 1.
    """
    losses, source = _losses(scores, rate), system_bits() if bits is None else bits
    waiting = list(range(len(losses)))
    while True:  # a best candidate is kept for certain, so the list never runs empty
        chosen = waiting.pop(uniform_below(len(waiting), source))
        if bernoulli_exp(rate * losses[chosen], source):
            return chosen


def _losses(scores: Sequence[int], rate: Fraction) -> list[int]:
    """How far each score is below the best one (R,), >= 0."""
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
    """One integer with sigma^2 = a / b: discrete Laplace of scale t, kept with probability exp(-gamma)."""
    while True:
        z = _laplace(t, 1, bits)
        # gamma = (|z| - sigma^2 / t)^2 / (2 sigma^2) = (|z| t b - a)^2 / (2 a b t^2)
        if _bernoulli_exp((abs(z) * t * b - a) ** 2, 2 * a * b * t * t, bits):
            return z


def _laplace(t: int, s: int, bits: Bits) -> int:
    """One integer with scale t / s: x = u + t v is geometric of ratio exp(-1 / t), and z = +-floor(x / s)."""
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
        if z:  # zero has one sign only
            return -z


def _bernoulli_exp(numerator: int, denominator: int, bits: Bits) -> bool:
    """True with probability exp(-numerator / denominator) >= 0: exp(-1) for each whole, then the rest."""
    whole, rest = divmod(numerator, denominator)
    for _ in range(whole):
        if not _bernoulli_exp_fraction(1, 1, bits):
            return False
    return _bernoulli_exp_fraction(rest, denominator, bits)


def _bernoulli_exp_fraction(numerator: int, denominator: int, bits: Bits) -> bool:
    """The same for gamma in [0, 1]: toss coins of bias gamma / k, k = 1, 2, ... until one fails; is that k odd?

    P(first k coins succeed) = gamma^k / k!, so P(k odd at the first failure) = 1 - gamma + gamma^2 / 2 - ...
    """
    k = 1
    while bernoulli(numerator, denominator * k, bits):
        k += 1
    return k % 2 == 1


def _check(good: bool, name: str, value: Fraction | int, size: int) -> None:
    if not good:
        raise ValueError(f"{name} must be above 0 and size at least 0, got {name} {value} and size {size}")
