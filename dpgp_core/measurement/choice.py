"""Private choice among candidates of integer scores: no floating-point number decides.

Both mechanisms are epsilon-DP if one record changes each score by at most Delta and rate = epsilon / (2 Delta).
Real scores are rounded to integers on a public grid first, and Delta is that of the rounded ones: rounding to nearest
adds at most 1 to it, in units of the grid. Running times depend on the scores, and are not covered.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from .discrete import Bits, bernoulli_exp, system_bits, uniform_below


def exponential_mechanism(scores: Sequence[int], rate: Fraction, bits: Bits | None = None) -> int:
    """Index of a candidate, of probability exactly proportional to exp(rate u_r).

    By rejection: a candidate drawn uniformly is kept with probability exp(rate (u_r - max u)).

    Args:
        scores: integers u_r (R,), larger is better; R tries are needed at worst, on average.
        rate: epsilon / (2 Delta) >= 0, rational; ``Fraction(epsilon)`` is exact for a float too.
        bits: source of randomness; default: the operating system's.

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
