"""The likelihood-ratio attack, which is the best one, on Gaussian releases from two neighbouring data sets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import svd

from ..arrays import FloatArray
from ..mechanisms.base import Mechanism, TeachingRelease
from ..table import Dataset

_ROUNDING = 1e-9  # relative to the largest noise; smaller shifts outside the span of the noise are rounding errors
BATCH = 10_000
"""Number of releases that are simulated at a time."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearAttack:
    """The likelihood-ratio test between two Gaussian releases with the same noise covariance N.

    The score w^T (release - centre) with w = N^+ (mean_in - mean_out) is exactly log p_in - log p_out.

    Attributes:
        weights: w (P,), per unit of the output.
        centre: midpoint of the two means (P,), in the unit of the output.
        mu: distance of the means in standard deviations of the noise. Scores have the distribution N(+-mu^2/2, mu^2),
            and the exact ROC is ``1 - gaussian_tradeoff(false_positive, mu)``.
    """

    weights: FloatArray
    centre: FloatArray
    mu: float

    def score(self, samples: FloatArray) -> FloatArray:
        """Return the score of each release in ``samples`` (draws, P), shape (draws,)."""
        return (samples - self.centre) @ self.weights


def linear_attack(inside: TeachingRelease, outside: TeachingRelease) -> LinearAttack:
    """Return the best linear attack on releases from two neighbouring data sets, from their means and noise factors.

    If the two have different noise, the average covariance is used. The attack is then valid, but not the best one.

    Raises:
        ValueError: the releases have different test points, or their noise is not a linear map of independent noise.
    """
    if inside.noise_factor is None or outside.noise_factor is None:
        raise ValueError("the noise of these releases is not one linear map, so the best attack is not linear")
    if inside.mean.shape != outside.mean.shape:
        raise ValueError(f"both releases must have the same test points, got {inside.mean.shape}, {outside.mean.shape}")
    factor = np.hstack([inside.noise_factor, outside.noise_factor]) / math.sqrt(2)
    return gaussian_attack(np.asarray(inside.mean), np.asarray(outside.mean), factor)


def gaussian_attack(mean_in: FloatArray, mean_out: FloatArray, factor: FloatArray) -> LinearAttack:
    """Return the likelihood-ratio test between Gaussians of means (P,) with noise N = factor factor^T, factor (P, r).

    A shift outside the span of the noise, which the noise does not hide, gets a very large weight.
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
    """Return two neighbouring data sets (in, out), in which output ``record`` is the upper or the lower public bound.

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
    """Yield ``trials`` independent simulated releases in batches (k, P), in the unit of the output. Not private.

    Raises:
        ValueError: trials < 1.
    """
    if trials < 1:
        raise ValueError(f"trials must be at least 1, got {trials}")
    sizes = (min(BATCH, trials - done) for done in range(0, trials, BATCH))
    return (mechanism.release(dataset, X_test, rng, draws=size).samples for size in sizes)
