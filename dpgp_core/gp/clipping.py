"""Moments of clipped Gaussian outputs in closed form, with which a linear filter can use clipped outputs."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from ..arrays import FloatArray

_ROOT_TWO_PI = math.sqrt(2 * math.pi)


class Clipped(NamedTuple):
    """Linear model of a clipped output: clip(y, low, high) = mean + gain (y - m) + rest, for y ~ N(m, v).

    The rest has mean 0 and variance ``extra``. It is uncorrelated with y and with everything that is jointly Gaussian
    with y, because Cov(clip(y), x) = gain Cov(y, x) (Stein's identity).

    Attributes:
        mean: E clip(y), in the unit of y.
        gain: alpha = P(low < y < high), in [0, 1].
        extra: Var clip(y) - alpha^2 v >= 0, in the squared unit of y.
    """

    mean: FloatArray
    gain: FloatArray
    extra: FloatArray


def clipped(mean: FloatArray, variance: FloatArray, low: FloatArray, high: FloatArray) -> Clipped:
    """Return the moments of clip(y, low, high) for y ~ N(mean, variance).

    With a = (low - m) / sd, b = (high - m) / sd, alpha = Phi(b) - Phi(a), and phi and Phi the density and distribution
    function of the standard normal,
    E (clip - m) / sd = a Phi(a) + b Phi(-b) + phi(a) - phi(b), and
    E ((clip - m) / sd)^2 = a^2 Phi(a) + b^2 Phi(-b) + alpha + a phi(a) - b phi(b).

    Args:
        mean: mean m of y. All four arguments broadcast.
        variance: variance of y, > 0.
        low: lower end of the clipping interval, in the unit of the mean.
        high: upper end, above ``low``.

    Source: Johnson, Kotz & Balakrishnan 1994, section 13.10; Stein 1981, lemma 1.
    """
    sd = np.sqrt(variance)
    a, b = (low - mean) / sd, (high - mean) / sd
    below, above, at_a, at_b = _at_ends(a, b)
    gain = np.where(a > 0, ndtr(-a) - above, ndtr(b) - below)  # Phi(b) - Phi(a), from the smaller tails
    first = a * below + b * above + at_a - at_b
    second = a * a * below + b * b * above + gain + a * at_a - b * at_b
    return Clipped(mean + sd * first, gain, variance * np.maximum(second - first * first - gain * gain, 0.0))


def clipped_mean(mean: FloatArray, variance: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return E clip(y, low, high) for y ~ N(mean, variance). Arguments are those of ``clipped``."""
    sd = np.sqrt(variance)
    a, b = (low - mean) / sd, (high - mean) / sd
    below, above, at_a, at_b = _at_ends(a, b)
    return np.asarray(mean + sd * (a * below + b * above + at_a - at_b))


def _at_ends(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return Phi(a), Phi(-b), phi(a) and phi(b)."""
    return ndtr(a), ndtr(-b), np.exp(-0.5 * a * a) / _ROOT_TWO_PI, np.exp(-0.5 * b * b) / _ROOT_TWO_PI


def clipped_moments(f: FloatArray, noise_variance: float, half_range: float) -> tuple[FloatArray, FloatArray]:
    """Return mean h(f) and variance v(f) of clip(f + e, -R, R) with e ~ N(0, noise_variance), both of the shape of f.

    Args:
        f: any shape, in model units, so that 0 is the midpoint of the bounds.
        noise_variance: >= 0.
        half_range: R > 0.
    """
    if not noise_variance:
        return np.clip(f, -half_range, half_range), np.zeros_like(f)
    low, high = (np.full((), side * half_range) for side in (-1, 1))
    of_one = clipped(f, np.full((), noise_variance), low, high)
    return of_one.mean, of_one.extra + of_one.gain**2 * noise_variance
