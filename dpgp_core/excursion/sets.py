"""Excursion sets {x : f(x) >= t}: their probabilities and the quality of an estimate.

``posterior_marginals`` computes pointwise posteriors on a grid for many ridges at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.special import ndtr

from ..arrays import BoolArray, FloatArray
from ..checks import check_positive
from ..kernels import Kernel

PROBABILITY_FLOOR = 1e-8
"""Probabilities are clipped to this distance from 0 and 1 in the cross-entropy, so a point costs at most 18.4 nats."""
CUTOFFS: FloatArray = np.linspace(0.01, 0.99, 99)
"""Candidate cutoffs of ``choose_cutoff``, no unit."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Targets:
    """T training sets of equal size, each with the true excursion set on one common grid.

    Args:
        X: inputs (T, n, D), in input units.
        y: outputs (T, n), in model units.
        grid: test points (P, D), evenly spread so that a mean over them is an integral over the domain.
        truth: membership of the true excursion sets (T, P): whether the target is at or above the threshold.
        threshold: t, in model units.

    Raises:
        ValueError: shapes disagree.
    """

    X: FloatArray
    y: FloatArray
    grid: FloatArray
    truth: BoolArray
    threshold: float = 0.0

    def __post_init__(self) -> None:
        if self.X.ndim != 3 or self.grid.ndim != 2 or self.X.shape[2] != self.grid.shape[1]:
            raise ValueError(f"X must be (T, n, D) and grid (P, D), got shapes {self.X.shape} and {self.grid.shape}")
        if self.y.shape != self.X.shape[:2]:
            raise ValueError(f"y must have shape {self.X.shape[:2]} to match X, got {self.y.shape}")
        if self.truth.shape != (len(self.X), len(self.grid)):
            raise ValueError(f"truth must have shape {(len(self.X), len(self.grid))}, got {self.truth.shape}")

    def __len__(self) -> int:
        return len(self.X)


def excursion_probability(mean: FloatArray, variance: FloatArray, threshold: float) -> FloatArray:
    """Return the probability that a Gaussian value is at or above the threshold, Phi((mean - t) / sqrt(variance)).

    Args:
        mean: any shape, in model units.
        variance: > 0, broadcasts with ``mean``, in squared model units.
        threshold: t, in model units.
    """
    return ndtr((mean - threshold) / np.sqrt(variance))


def iou(a: BoolArray, b: BoolArray) -> FloatArray:
    """Return the intersection over union |a and b| / |a or b| along the last axis; 1 if both sets are empty.

    Args:
        a: membership of P grid points (..., P).
        b: the same for the other set; broadcasts with ``a``.

    Returns:
        (...,), in [0, 1].
    """
    either = np.logical_or(a, b).sum(axis=-1)
    both = np.logical_and(a, b).sum(axis=-1)
    return np.where(either == 0, 1.0, both / np.maximum(either, 1))


def binary_cross_entropy(p: FloatArray, truth: BoolArray) -> FloatArray:
    """Return the mean over the grid of -log p inside the true set and -log(1 - p) outside it.

    Probabilities are clipped to [eps, 1 - eps], eps = ``PROBABILITY_FLOOR`` = 1e-8.

    Args:
        p: excursion probabilities (..., P).
        truth: membership of the true set (..., P), broadcasts with ``p``.

    Returns:
        (...,), in nats.
    """
    of_truth = np.where(truth, p, 1 - p)
    loss: FloatArray = -np.log(np.clip(of_truth, PROBABILITY_FLOOR, 1 - PROBABILITY_FLOOR)).mean(axis=-1)
    return loss


def choose_cutoff(p: FloatArray, truth: BoolArray) -> float:
    """Return the cutoff C for which {p >= C} has the largest mean IoU; among equal ones, that nearest to 1/2.

    The data must be separate from those for which results are then reported.

    Args:
        p: excursion probabilities or vote shares (T, P).
        truth: membership of the true sets (T, P).
    """
    scores = np.array([iou(p >= cutoff, truth).mean() for cutoff in CUTOFFS])
    best = CUTOFFS[scores >= scores.max() - 1e-12]
    return float(best[np.abs(best - 0.5).argmin()])


def vote_share(paths: FloatArray, threshold: float) -> FloatArray:
    """Return the share (..., P) of L released paths (..., L, P) at or above the threshold. This is post-processing."""
    share: FloatArray = (paths >= threshold).mean(axis=-2)
    return share


_SMOOTHING = 2.0  # standard deviation of the filter, in grid steps


def smoothed(paths: FloatArray, side: int) -> FloatArray:
    """Smooth paths (..., side^2) on a square grid by a Gaussian filter. This is post-processing.

    The standard deviation of the filter is 2 grid steps. Values at the edge are continued beyond it.

    Args:
        paths: values on a grid whose second coordinate varies fastest.
        side: number of points along one edge of the grid.
    """
    maps = paths.reshape(-1, side, side)
    return np.asarray(gaussian_filter(maps, (0, _SMOOTHING, _SMOOTHING), mode="nearest"), dtype=float).reshape(
        paths.shape
    )


def effective_dimension(K: FloatArray, ridge: float) -> float:
    """Return the effective dimension d_eff = tr K (K + q I)^-1 = sum_i v_i / (v_i + q).

    Args:
        K: kernel matrix (n, n), no unit, with eigenvalues v_i.
        ridge: q = r^2 > 0.

    Raises:
        ValueError: ridge is not positive.
    """
    check_positive("ridge", ridge)
    values = np.maximum(np.linalg.eigvalsh(K), 0.0)
    return float((values / (values + ridge)).sum())


_LEAST_VARIANCE = 1e-12  # smallest k_D, which rounding errors could make negative


def posterior_marginals(
    kernel: Kernel, X: FloatArray, y: FloatArray, grid: FloatArray, ridges: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the posterior mean mu_D and variance k_D (both (R, P)) at every grid point for R ridges. Not private.

    With K = U diag(v) U^T and A = K_*f U, a single decomposition suffices for all q:
    mu = A (U^T y / (v + q)) and k_D = k(x, x) - A^2 / (v + q).

    Args:
        kernel: covariance function with k(x, x) = 1.
        grid: grid points (P, D).
        ridges: ridges q = r^2 > 0 (R,).
    """
    v, U = np.linalg.eigh(kernel(X, X))
    A = kernel(grid, X) @ U
    inverse = 1 / (np.maximum(v, 0.0) + ridges[:, None])
    mean = (inverse * (U.T @ y)) @ A.T
    variance = kernel.diagonal(grid) - inverse @ (A * A).T
    return mean, np.maximum(variance, _LEAST_VARIANCE)
