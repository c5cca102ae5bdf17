"""The attack on what noise does not reach: rounding errors in the directions that hold no noise at all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray
from .linear import check_releases


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
