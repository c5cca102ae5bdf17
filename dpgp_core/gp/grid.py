"""A regular grid of bins over a public box: which bin a point is in, and the means of the occupied ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray
from ..checks import check_interval

IndexArray = NDArray[np.intp]

MAX_BINS = 10**12  # of the whole grid; only occupied ones take memory


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Equal bins, half-open [low, high) but for the last of each dimension, which is closed.

    Args:
        box: D public (low, high) pairs, in input units.
        bins: number of bins along each dimension (D,), or one number for all.

    Raises:
        ValueError: a count is not a whole number >= 1, does not fit the box, or there are too many bins.
    """

    box: tuple[tuple[float, float], ...]
    bins: int | tuple[int, ...]

    def __post_init__(self) -> None:
        bins = check_bins(self.bins)
        for interval in self.box:
            check_interval(interval, "each entry of box")
        if isinstance(bins, tuple) and len(bins) != len(self.box):
            raise ValueError(
                f"{len(bins)} numbers of bins for {len(self.box)} input columns; give one, or one per column"
            )
        object.__setattr__(self, "bins", bins)
        if math.prod(self.shape) > MAX_BINS:
            raise ValueError(f"bins must be at most {MAX_BINS:g} in all, got {math.prod(self.shape):g}; use fewer")

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of bins along each of the D dimensions."""
        return self.bins if isinstance(self.bins, tuple) else (self.bins,) * len(self.box)

    def edges(self, dim: int) -> FloatArray:
        """Edges along one dimension (bins + 1,), ascending, in input units."""
        low, high = self.box[dim]
        return np.linspace(low, high, self.shape[dim] + 1)

    def index(self, X: FloatArray) -> IndexArray:
        """Number (n,) of the one bin that each point is in, counted in C order.

        Args:
            X: points (n, D), in input units.

        Raises:
            ValueError: X has another number of columns, or a point lies outside the box.
        """
        if X.ndim != 2 or X.shape[1] != len(self.box):
            raise ValueError(f"points must have shape (n, {len(self.box)}) to match the box, got {X.shape}")
        low, high = np.array(self.box).T
        outside = int((~((low <= X) & (high >= X)).all(axis=1)).sum())
        if outside:
            raise ValueError(
                f"{outside} of {len(X)} points lie outside the box {self.box}, where there are no bins. "
                "Leave them out, or declare a wider box"
            )
        # the bin whose low edge is the last one at or below x; the very last edge belongs to the last bin
        places = [
            np.minimum(np.searchsorted(self.edges(i), X[:, i], side="right") - 1, count - 1)
            for i, count in enumerate(self.shape)
        ]
        return np.asarray(np.ravel_multi_index(places, self.shape), dtype=np.intp)

    def boxes(self, index: IndexArray) -> FloatArray:
        """Box (b, D, 2) of each bin number (b,), in input units."""
        places = np.unravel_index(index, self.shape)
        edges = [self.edges(i) for i in range(len(self.shape))]
        sides = [np.stack([e[place], e[place + 1]], axis=1) for e, place in zip(edges, places, strict=True)]
        return np.stack(sides, axis=1)


@dataclass(frozen=True, kw_only=True, eq=False)
class BinPlan:
    """The public part of a release of bin means: occupied bins only, in ascending order of their number.

    Attributes:
        index: number of each occupied bin in its grid (b,).
        boxes: (b, D, 2), in input units.
        members: row of the occupied bin that each record is in (n,).
        counts: records in each occupied bin (b,), >= 1.
        scales: Laplace scale of each bin's mean per unit change of one output (b,).
    """

    index: IndexArray
    boxes: FloatArray
    members: IndexArray
    counts: IndexArray
    scales: FloatArray

    @property
    def weights(self) -> FloatArray:
        """Averaging matrix (b, n): 1 / n_b in the row of the bin that the record is in, 0 elsewhere."""
        weights = np.zeros((len(self.counts), len(self.members)))
        weights[self.members, np.arange(len(self.members))] = 1 / self.counts[self.members]
        return weights

    def means(self, y: FloatArray) -> FloatArray:
        """Mean (b,) of y (n,) in each occupied bin: weights @ y without forming the matrix. Private."""
        return np.bincount(self.members, weights=y, minlength=len(self.counts)) / self.counts

    def rows(self, index: IndexArray) -> tuple[IndexArray, NDArray[np.bool_]]:
        """Row (P,) of each bin number (P,) among the occupied bins, and whether it is occupied (P,)."""
        rows = np.minimum(np.searchsorted(self.index, index), len(self.index) - 1)
        return rows, self.index[rows] == index


def plan_bins(grid: Grid, X: FloatArray, epsilon: float) -> BinPlan:
    """Find the occupied bins of inputs X (n, D) and the Laplace scale 1 / (n_b epsilon) of each."""
    index, members, counts = np.unique(grid.index(X), return_inverse=True, return_counts=True)
    return BinPlan(index=index, boxes=grid.boxes(index), members=members, counts=counts, scales=1 / (counts * epsilon))


def check_bins(bins: int | Sequence[int]) -> int | tuple[int, ...]:
    """Return bins as an int or a tuple of ints; raise ValueError unless each is a whole number >= 1."""
    several = isinstance(bins, Sequence | np.ndarray)
    counts = list(bins) if isinstance(bins, Sequence | np.ndarray) else [bins]
    if not counts or any(isinstance(c, bool) or not isinstance(c, int | np.integer) or c < 1 for c in counts):
        raise ValueError(f"bins must be a whole number of at least 1, or one such number per dimension, got {bins!r}")
    return tuple(int(c) for c in counts) if several else int(counts[0])
