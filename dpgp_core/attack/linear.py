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

    Raises:
        ValueError: the releases have different test points, or noise that is not added once.
    """
    if inside.noise_factor is None or outside.noise_factor is None:
        raise ValueError("the noise of these releases is not one linear map, so the best attack is not linear")
    if inside.mean.shape != outside.mean.shape:
        raise ValueError(f"both releases must have the same test points, got {inside.mean.shape}, {outside.mean.shape}")
    factor = np.hstack([inside.noise_factor, outside.noise_factor]) / math.sqrt(2)
    return gaussian_attack(np.asarray(inside.mean), np.asarray(outside.mean), factor)


def gaussian_attack(mean_in: FloatArray, mean_out: FloatArray, factor: FloatArray) -> LinearAttack:
    """The likelihood-ratio test between Gaussians of these means (P,) with noise N = factor factor^T, factor (P, r).

    A shift outside the noise's span, which noise cannot hide, gets a huge weight instead of being dropped.
    """
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


def draw_releases(
    mechanism: Mechanism, dataset: Dataset, X_test: FloatArray, rng: np.random.Generator, trials: int
) -> Iterator[FloatArray]:
    """Yield ``trials`` independent single releases in batches (k, P), in the output's unit. Not private.

    Raises:
        ValueError: trials < 1.
    """
    if trials < 1:
        raise ValueError(f"trials must be at least 1, got {trials}")
    sizes = (min(BATCH, trials - done) for done in range(0, trials, BATCH))
    return (mechanism.release(dataset, X_test, rng, draws=size).samples for size in sizes)
