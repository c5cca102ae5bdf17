"""The best attack on Gaussian releases from two neighbouring data sets, and two that are learnt from releases alone.

One looks at rounding errors in the directions that hold no noise at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import svd

from ..arrays import FloatArray
from ..mechanisms.base import Mechanism, TeachingRelease
from ..table import Dataset

_ROUNDING = 1e-9  # of the largest noise: a shift outside the noise's span this small is rounding
BATCH = 10_000
"""Releases drawn at once."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearAttack:
    """The likelihood-ratio test between two Gaussian releases with the same noise N.

    score = w^T (release - centre), w = N^+ (mean_in - mean_out): exactly log p_in - log p_out.

    Attributes:
        weights: w (P,), per output unit.
        centre: midpoint of the two means (P,), in the output's unit.
        mu: distance of the means in units of the noise; scores are N(+-mu^2/2, mu^2). Its exact ROC is
            ``1 - gaussian_tradeoff(false_positive, mu)``.
    """

    weights: FloatArray
    centre: FloatArray
    mu: float

    def score(self, samples: FloatArray) -> FloatArray:
        """Score of each release in ``samples`` (draws, P), shape (draws,)."""
        return (samples - self.centre) @ self.weights


def linear_attack(inside: TeachingRelease, outside: TeachingRelease) -> LinearAttack:
    """Best linear score between releases from two neighbouring data sets, from their means and noise factors.

    If the two have different noise, the average covariance is used: a valid attack, no longer the best one.
    A shift outside the noise's span, which noise cannot hide, gets a huge weight instead of being dropped.

    Raises:
        ValueError: the releases have different test points, or noise that is not added once.
    """
    if inside.noise_factor is None or outside.noise_factor is None:
        raise ValueError("the noise of these releases is not one linear map, so the best attack is not linear")
    if inside.mean.shape != outside.mean.shape:
        raise ValueError(f"both releases must have the same test points, got {inside.mean.shape}, {outside.mean.shape}")
    factor = np.hstack([inside.noise_factor, outside.noise_factor]) / math.sqrt(2)
    return _whitened(np.asarray(inside.mean), np.asarray(outside.mean), factor)


def output_neighbours(dataset: Dataset, record: int) -> tuple[Dataset, Dataset]:
    """Two neighbouring data sets (in, out): output ``record`` at the upper and at the lower public bound.

    Raises:
        ValueError: there is no such record.
    """
    if not 0 <= record < dataset.n:
        raise ValueError(f"record must lie in 0 ... {dataset.n - 1}, got {record}")
    low, high = dataset.y.copy(), dataset.y.copy()
    low[record], high[record] = dataset.y_bounds
    return replace(dataset, y=high), replace(dataset, y=low)


def fitted_attack(inside: FloatArray, outside: FloatArray) -> LinearAttack:
    """Linear score learnt from releases alone, for mechanisms whose noise is not known: Fisher's discriminant.

    w = S^-1 (mean_in - mean_out), S the pooled covariance of the releases.

    Args:
        inside: single releases (k, P) from one data set, k >= 2.
        outside: single releases (k', P) from its neighbour, k' >= 2.

    Raises:
        ValueError: fewer than two releases, or different test points.
    """
    check_releases(inside, outside)
    mean_in, mean_out = inside.mean(axis=0), outside.mean(axis=0)
    # S = (S_in + S_out) / 2, each a factor's L L^T with L = (samples - mean)^T / sqrt(k - 1)
    factor_in = (inside - mean_in).T / math.sqrt(len(inside) - 1)
    factor_out = (outside - mean_out).T / math.sqrt(len(outside) - 1)
    return _whitened(mean_in, mean_out, np.hstack([factor_in, factor_out]) / math.sqrt(2))


def draw_releases(
    mechanism: Mechanism, dataset: Dataset, X_test: FloatArray, rng: np.random.Generator, trials: int
) -> Iterator[FloatArray]:
    """Yield ``trials`` independent single releases in batches (k, P), in the output's unit. Not private.

    Raises:
        ValueError: trials < 1.
    """
    if trials < 1:
        raise ValueError(f"trials must be at least 1, got {trials}")
    sizes = [BATCH] * (trials // BATCH) + [trials % BATCH] * (trials % BATCH > 0)
    return (mechanism.release(dataset, X_test, rng, draws=size).samples for size in sizes)


def _whitened(mean_in: FloatArray, mean_out: FloatArray, factor: FloatArray) -> LinearAttack:
    shift = mean_in - mean_out
    # N + rounding^2 I = U diag(s^2 + rounding^2) U^T + rounding^2 (I - U U^T), N = factor factor^T
    U, s, _ = svd(factor, full_matrices=False)
    rounding = _ROUNDING * max(float(s[0]), float(np.abs(shift).max()), float(np.finfo(float).tiny))
    along = U.T @ shift
    weights = U @ (along / (s**2 + rounding**2))
    beyond = shift - U @ along
    if np.linalg.norm(beyond) > rounding:
        beyond -= U @ (U.T @ beyond)
        weights += beyond / rounding**2
    return LinearAttack(weights=weights, centre=(mean_in + mean_out) / 2, mu=math.sqrt(max(float(shift @ weights), 0)))


def check_releases(inside: FloatArray, outside: FloatArray) -> None:
    """Raise ValueError unless there are two releases (k, P) of each kind, at the same test points."""
    if min(len(inside), len(outside)) < 2 or inside.shape[1:] != outside.shape[1:]:
        raise ValueError(f"need at least 2 releases (k, P) of each kind, got shapes {inside.shape}, {outside.shape}")


@dataclass(frozen=True, kw_only=True, eq=False)
class NullSpaceAttack:
    """A linear score of releases, however small the directions in which they differ.

    Attributes:
        centre: (P,).
        axes: principal directions of the releases (k, P), the ones without noise among them.
        scales: standard deviation along each (k,), down to a few rounding errors.
        weights: Fisher's direction in those units (k,).
    """

    centre: FloatArray
    axes: FloatArray
    scales: FloatArray
    weights: FloatArray

    def score(self, samples: FloatArray) -> FloatArray:
        """Score of each release in ``samples`` (draws, P), shape (draws,): larger for the first data set."""
        return ((samples - self.centre) @ self.axes.T / self.scales) @ self.weights


def null_space_attack(inside: FloatArray, outside: FloatArray) -> NullSpaceAttack:
    """Fisher's discriminant in principal coordinates, each scaled to unit variance: no direction is too small.

    Args:
        inside: single releases (k, P) from one data set, k >= 2.
        outside: single releases (k', P) from its neighbour, k' >= 2.

    Raises:
        ValueError: fewer than two releases, or different test points.
    """
    check_releases(inside, outside)
    centre = (inside.mean(axis=0) + outside.mean(axis=0)) / 2
    within = np.vstack([inside - inside.mean(axis=0), outside - outside.mean(axis=0)])
    _, s, axes = np.linalg.svd(within, full_matrices=False)
    scales = np.maximum(s / np.sqrt(len(within)), np.finfo(float).tiny)
    # Axes are rounded, so small coordinates hold a little of large ones; the discriminant takes that out again.
    first, second = ((samples - centre) @ axes.T / scales for samples in (inside, outside))
    spread = np.cov(first.T) + np.cov(second.T)
    weights = np.linalg.lstsq(spread, first.mean(axis=0) - second.mean(axis=0), rcond=1e-12)[0]
    return NullSpaceAttack(centre=centre, axes=axes, scales=scales, weights=weights)
