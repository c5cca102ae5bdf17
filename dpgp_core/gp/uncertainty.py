"""How far the truth lies from what was released, under a declared model: one definition, from public values only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from scipy.special import ndtr

from ..arrays import FloatArray

Of = Literal["outputs", "function"]
_LEAST, _HALVINGS = 1e-4, 14  # of the largest possible; a relative 6e-4 in the end, rounded up
_TOGETHER = 16  # of some hundred shifts


class Uncertainty(Protocol):
    """How far the truth lies from what was released, under a public model; computed from public values only."""

    def interval(self, level: float, of: Of) -> tuple[FloatArray, FloatArray]:
        """Ends (draws, P), (draws, P) of the central interval, in the output's unit."""
        ...


@dataclass(frozen=True, kw_only=True)
class NoInterval:
    """Stands where there is no interval.

    Args:
        reason: why, as the rest of a sentence.
    """

    reason: str

    def interval(self, level: float, of: Of) -> tuple[FloatArray, FloatArray]:
        """There is none.

        Raises:
            ValueError: always, with the reason.
        """
        raise ValueError(f"there is no interval: {self.reason}")


def mixture_half_width(shifts: FloatArray, variances: FloatArray, level: float) -> FloatArray:
    """Half-widths w (P,) with P(|e| <= w) = level for e an equal mixture of N(shift_s, variance_s).

    By bisection of the logarithm; the mixture is taken with its mirror image, so intervals of +-w are central.
    Of equal variances, neighbouring shifts are first put together: a normal of their mean and spread stands for each
    ``_TOGETHER``, which the smoothness of the rest hides.

    Args:
        shifts: (S, P).
        variances: (S, P), or (1, P) if equal.
        level: in (0, 1).
    """
    shifts, variances = _together(shifts, variances)
    sd = np.sqrt(np.maximum(variances, np.finfo(float).tiny))
    # P(|e| > w) <= E e^2 / w^2: no quantile is larger
    high = np.sqrt((shifts**2 + sd**2).mean(axis=0) / (1 - level))
    low = _LEAST * high
    for _ in range(_HALVINGS):
        tried = np.sqrt(low * high)
        below = (ndtr((tried - shifts) / sd) - ndtr((-tried - shifts) / sd)).mean(axis=0) < level
        low, high = np.where(below, tried, low), np.where(below, high, tried)
    return np.asarray(high)


def mixture_level(shifts: FloatArray, variances: FloatArray, distance: FloatArray) -> FloatArray:
    """P(|e| <= distance) (P,), e as in ``mixture_half_width``: the level of the interval that just reaches so far.

    Args:
        shifts: (S, P).
        variances: (S, P), or (1, P) if equal.
        distance: >= 0 (P,).
    """
    shifts, variances = _together(shifts, variances)
    sd = np.sqrt(np.maximum(variances, np.finfo(float).tiny))
    return np.asarray((ndtr((distance - shifts) / sd) - ndtr((-distance - shifts) / sd)).mean(axis=0))


def _together(shifts: FloatArray, variances: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Neighbouring shifts of equal variances as normals of their mean and spread; the sign of a shift is lost."""
    if len(variances) > 1 or len(shifts) % _TOGETHER:
        return shifts, variances
    groups = np.sort(np.abs(shifts), axis=0).reshape(-1, _TOGETHER, shifts.shape[1])
    return groups.mean(axis=1), variances + groups.var(axis=1)
