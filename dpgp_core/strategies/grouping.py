"""Records that share a column of B: the problem for their sums is the same problem with fewer outputs.

If b_j = b_g for every record j of group g, then B y = sum_g b_g (sum of the group's y_j): models of the sums, and
columns of norm <= 1. Nothing is approximated but B. Records with equal inputs and noise share a column of an optimal
B anyway: the risk is convex in B^T B and does not change when they are exchanged.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray

Labels = NDArray[np.intp]
_DIRECTIONS = 32


def sums(values: FloatArray, groups: Labels) -> FloatArray:
    """Sums of rows of values (n,) or (n, k) by group, (number of groups,) or (number of groups, k)."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    sums: FloatArray = np.add.reduceat(values[order], starts, axis=0)
    return sums


def nearest_of_spread(features: FloatArray, count: int) -> Labels:
    """Label (n,) of the nearest of ``count`` rows of features (n, k), each chosen farthest from those before.

    Distances are taken between 32 random combinations of the features, with fixed seed. All labels occur.

    Source: Gonzalez 1985, within a factor 2 of the smallest possible radius (of the combinations).
    """
    n, k = features.shape
    rows = features
    if k > _DIRECTIONS:
        rows = features @ np.random.default_rng(0).standard_normal((k, _DIRECTIONS))
    nearest, labels, centre = np.full(n, np.inf), np.zeros(n, dtype=np.intp), int(np.argmax((rows**2).sum(axis=1)))
    for label in range(min(count, n)):
        distance = ((rows - rows[centre]) ** 2).sum(axis=1)
        closer = distance < nearest
        nearest[closer], labels[closer] = distance[closer], label
        centre = int(np.argmax(nearest))
        if nearest[centre] == 0:
            break
    return labels
