"""Intervals: the distance of truth and release under a declared model, one definition, from public values only.

``Predictive`` is a public model's prediction of f at test points given the outputs, and outputs drawn from it. It reads
no output.
"""

from __future__ import annotations

import math
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from scipy.linalg import cholesky
from scipy.special import ndtr

from ..arrays import FloatArray
from ..kernels import Kernel
from ..linalg import Matrix, dense_of, values_of
from .pivoted import LowRank
from .regression import Inference, InferenceChoice, describe, output_covariance

IntervalTarget = Literal["outputs", "function"]
_LEAST, _HALVINGS = 1e-4, 14  # of the largest possible; a relative 6e-4 in the end, rounded up
_TOGETHER = 16  # of some hundred shifts


class Uncertainty(Protocol):
    """Intervals of the truth about a release, under a public model; computed from public values only."""

    def interval(self, level: float, of: IntervalTarget) -> tuple[FloatArray, FloatArray]:
        """Ends (draws, P), (draws, P) of the central interval, in the output's unit."""
        ...


@dataclass(frozen=True, kw_only=True)
class NoInterval:
    """In place of an interval where there is none.

    Args:
        reason: why, as the rest of a sentence.
    """

    reason: str

    def interval(self, level: float, of: IntervalTarget) -> tuple[FloatArray, FloatArray]:
        """There is none.

        Raises:
            ValueError: always, with the reason.
        """
        raise ValueError(f"there is no interval: {self.reason}")


def mixture_half_width(shifts: FloatArray, variances: FloatArray, level: float) -> FloatArray:
    """Half-widths w (P,) with P(|e| <= w) = level for e an equal mixture of N(shift_s, variance_s).

    By bisection of the logarithm; the mixture is taken with its mirror image, so intervals of +-w are central.
    Of equal variances, neighbouring shifts are first put together: a normal of their mean and spread replaces each
    ``_TOGETHER``, which the smoothness of the rest hides.

    Args:
        shifts: (S, P).
        variances: (S, P), or (1, P) if equal.
    """
    shifts, sd = _together(shifts, variances)
    # P(|e| > w) <= E e^2 / w^2: no quantile is larger
    high = np.sqrt((shifts**2 + sd**2).mean(axis=0) / (1 - level))
    low = _LEAST * high
    for _ in range(_HALVINGS):
        middle = np.sqrt(low * high)
        below = _within(shifts, sd, middle) < level
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(high)


def mixture_level(shifts: FloatArray, variances: FloatArray, distance: FloatArray) -> FloatArray:
    """P(|e| <= distance) (P,), e as in ``mixture_half_width``: the level of the interval that just reaches so far.

    Args:
        shifts: (S, P).
        variances: (S, P), or (1, P) if equal.
        distance: >= 0 (P,).
    """
    return _within(*_together(shifts, variances), distance)


def _within(shifts: FloatArray, sd: FloatArray, distance: FloatArray) -> FloatArray:
    """P(|e| <= distance) (P,)."""
    return np.asarray((ndtr((distance - shifts) / sd) - ndtr((-distance - shifts) / sd)).mean(axis=0))


def _together(shifts: FloatArray, variances: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Shifts and standard deviations; neighbouring shifts of equal variances as normals of their mean and spread.

    The sign of a shift is lost then.
    """
    if len(variances) == 1 and not len(shifts) % _TOGETHER:
        groups = np.sort(np.abs(shifts), axis=0).reshape(-1, _TOGETHER, shifts.shape[1])
        shifts, variances = groups.mean(axis=1), variances + groups.var(axis=1)
    return shifts, np.sqrt(np.maximum(variances, np.finfo(float).tiny))


_NUGGET = 1e-6  # of the kernel's variance


@dataclass(frozen=True, kw_only=True, eq=False)
class Predictive:
    """f at test points given outputs y = f(X) + noise: f ~ N(C y, variance), y ~ N(0, K). Model units, all public.

    Attributes:
        C: C = K_*f K^-1 (P, n).
        variance: diag(K_** - C K_f*) (P,): posterior variance of f given the outputs.
        low: K_ff ~ V V^T, where inference is low-rank; None where it is exact.
    """

    kernel: Kernel
    X: FloatArray
    noise_variance: float
    C: Matrix
    variance: FloatArray
    low: LowRank | None

    @property
    def inference(self) -> Inference:
        """How C was computed."""
        return describe(self.low)

    def outputs(self, rng: np.random.Generator, count: int) -> FloatArray:
        """Outputs (count, n) made up by the model."""
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
    """The model at test points, C and all, by one factorisation.

    Raises:
        ValueError: n is too large; noise_variance is not positive; X and X_test differ in their columns.
    """
    C, low = choice.cloaking_matrix(kernel, X, X_test, noise_variance, executor)
    if low is None:
        # diag(K_** - C K_f*), without the off-diagonal
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


def of_curves(kernel: Kernel, X: FloatArray, X_test: FloatArray) -> Predictive:
    """The model whose outputs are f itself at X (n, D), but for a nugget that keeps the covariance regular."""
    nugget = _NUGGET * float(kernel.diagonal(X[:1])[0])
    return predictive(InferenceChoice(inference="exact"), kernel, X, X_test, nugget)
