"""Intervals of releases: quantiles of the difference between truth and release under a public model.

Intervals are computed from public values only. ``Predictive`` is the prediction of f at test points given outputs,
under a public model, and samples outputs from this model. It reads no private output.
"""

from __future__ import annotations

import math
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from scipy.linalg import cholesky
from scipy.special import ndtr, ndtri

from ..arrays import FloatArray
from ..kernels import Kernel
from ..linalg import Matrix, dense_of, values_of
from .pivoted import LowRank
from .regression import Inference, InferenceChoice, describe, output_covariance

IntervalTarget = Literal["outputs", "function"]
_LEAST, _STEPS = 1e-4, 1 << 14  # smallest share of the largest possible width, and steps from there of a relative 6e-4
_SECANTS = 8  # evaluations before the search bisects; four suffice unless a mixture is far from normal
_SCORES, _SLOPES = (1e-3, 8.0), (0.2, 5.0)  # ranges in which secants are trusted
_TOGETHER = 16  # number of neighbouring shifts, out of a few hundred, that are merged


class Uncertainty(Protocol):
    """Interface of intervals around a release, computed under a public model from public values only."""

    def interval(self, level: float, of: IntervalTarget) -> tuple[FloatArray, FloatArray]:
        """Return both ends (draws, P) of the central interval, in the unit of the output.

        Args:
            of: whether the interval is of an output or of the function f.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class NoInterval:
    """Stands for the intervals of a release that has none.

    Args:
        reason: reason, as the second half of a sentence.
    """

    reason: str

    def interval(self, level: float, of: IntervalTarget) -> tuple[FloatArray, FloatArray]:
        """Raise ValueError.

        Raises:
            ValueError: always, with the reason.
        """
        raise ValueError(f"there is no interval: {self.reason}")


def mixture_half_width(shifts: FloatArray, variances: FloatArray, level: float) -> FloatArray:
    """Return half-widths w (P,) with P(|e| <= w) = level, for e an equally weighted mixture of N(shift_s, variance_s).

    The result is rounded up to a step of log w. The mixture is combined with its mirror image, so that the intervals
    [-w, w] are central. If all variances are equal, groups of ``_TOGETHER`` neighbouring shifts are first replaced by a
    normal distribution with their mean and variance, which hardly changes the mixture.

    Args:
        shifts: means of the components (S, P).
        variances: variances of the components (S, P), or (1, P) if they are equal.
    """
    shifts, sd = _together(shifts, variances)
    # By Chebyshev's inequality, P(|e| > w) <= E e^2 / w^2, this is an upper bound of the quantile.
    most = np.sqrt((shifts**2 + sd**2).mean(axis=0) / (1 - level))
    growth, wanted = -math.log(_LEAST) / _STEPS, float(ndtri((1 + level) / 2))
    low, high = np.zeros(len(most)), np.full(len(most), float(_STEPS))  # steps below and not below the quantile
    left, turn = np.arange(len(most)), 0  # columns to be searched
    root = np.full(len(most), _STEPS + math.log(wanted * math.sqrt(1 - level)) / growth)  # of a normal distribution
    before: tuple[FloatArray, FloatArray] | None = None
    while len(left):
        under, over = low[left], high[left]
        step = np.ceil(root) if turn < _SECANTS else np.floor((under + over) / 2)
        step = np.clip(np.where(step < over, step, step - 1), under + 1, over - 1)
        within = _within(shifts[:, left], sd[:, left], most[left] * np.exp(growth * (step - _STEPS)))
        low[left], high[left] = np.where(within < level, step, under), np.where(within < level, over, step)
        # For a normal distribution, the logarithm of the score is log w plus a constant.
        miss = np.log(np.clip(ndtri((1 + within) / 2), *_SCORES) / wanted) / growth
        slope = 1.0 if before is None else np.clip((miss - before[1]) / (step - before[0]), *_SLOPES)
        root, wide = step - miss / slope, high[left] - low[left] > 1
        left, root, before, turn = left[wide], root[wide], (step[wide], miss[wide]), turn + 1
    return np.asarray(most * np.exp(growth * (high - _STEPS)))


def mixture_level(shifts: FloatArray, variances: FloatArray, distance: FloatArray) -> FloatArray:
    """Return P(|e| <= distance) (P,): the confidence level of the interval with half-width ``distance``.

    Args:
        shifts: means of the components (S, P), as in ``mixture_half_width``.
        variances: variances of the components (S, P), or (1, P) if they are equal.
        distance: half-widths >= 0 (P,).
    """
    return _within(*_together(shifts, variances), distance)


def _within(shifts: FloatArray, sd: FloatArray, distance: FloatArray) -> FloatArray:
    """Return P(|e| <= distance) (P,)."""
    return np.asarray((ndtr((distance - shifts) / sd) - ndtr((-distance - shifts) / sd)).mean(axis=0))


def _together(shifts: FloatArray, variances: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return means and standard deviations of the components, with neighbouring ones merged if variances are equal.

    Merging uses absolute values, because the mixture is combined with its mirror image.
    """
    if len(variances) == 1 and not len(shifts) % _TOGETHER:
        groups = np.sort(np.abs(shifts), axis=0).reshape(-1, _TOGETHER, shifts.shape[1])
        shifts, variances = groups.mean(axis=1), variances + groups.var(axis=1)
    return shifts, np.sqrt(np.maximum(variances, np.finfo(float).tiny))


_NUGGET = 1e-6  # relative to the variance of the kernel


@dataclass(frozen=True, kw_only=True, eq=False)
class Predictive:
    """Prediction of f at test points given outputs y = f(X) + noise: f ~ N(C y, variance), with y ~ N(0, K).

    All attributes are public and in model units.

    Attributes:
        C: C = K_*f K^-1 (P, n).
        variance: posterior variance of f given the outputs, diag(K_** - C K_f*), shape (P,).
        low: factorisation K_ff ~ V V^T; None if inference is exact.
    """

    kernel: Kernel
    X: FloatArray
    noise_variance: float
    C: Matrix
    variance: FloatArray
    low: LowRank | None

    @property
    def inference(self) -> Inference:
        """Description of how C was computed."""
        return describe(self.low)

    def outputs(self, rng: np.random.Generator, count: int) -> FloatArray:
        """Return samples (count, n) of all outputs from the prior of the model."""
        if self.low is None:
            L = cholesky(output_covariance(self.kernel, self.X, self.noise_variance), lower=True)
            return rng.standard_normal((count, len(self.X))) @ L.T
        V = values_of(self.low.rows)
        f = rng.standard_normal((count, V.shape[1])) @ V.T
        return f + math.sqrt(self.noise_variance) * rng.standard_normal(f.shape)


def predictive(
    choice: InferenceChoice,
    kernel: Kernel,
    X: FloatArray,
    X_test: FloatArray,
    noise_variance: float,
    executor: Executor | None = None,
) -> Predictive:
    """Return the prediction of f at test points X_test (P, D), computed by one factorisation.

    Raises:
        ValueError: n is too large; noise_variance is not positive; X and X_test differ in their columns.
    """
    C, low = choice.cloaking_matrix(kernel, X, X_test, noise_variance, executor)
    if low is None:
        # diag(K_** - C K_f*), without computing the other entries
        variance = kernel.diagonal(X_test) - np.einsum("ij,ij->i", dense_of(C), kernel(X_test, X))
    else:
        variance = low.variance(X_test, noise_variance)
    return Predictive(
        kernel=kernel,
        X=X,
        noise_variance=noise_variance,
        C=C,
        variance=np.maximum(variance, 0),
        low=low,
    )


def curve_predictive(kernel: Kernel, X: FloatArray, X_test: FloatArray) -> Predictive:
    """Return the prediction given noiseless outputs f(X), for X (n, D); a small nugget keeps the covariance regular."""
    nugget = _NUGGET * float(kernel.diagonal(X[:1])[0])
    return predictive(InferenceChoice(inference="exact"), kernel, X, X_test, nugget)
