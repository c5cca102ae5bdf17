"""Regular grids of bins over a public box, and GP inference from integrals over boxes.

``k_FF`` and ``k_Ff`` are the covariances of integrals of f ~ GP(0, EQ) over axis-parallel boxes, with each other and
with values of f.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from ..arrays import FloatArray, lattice
from ..checks import check_interval
from ..kernels import EQ

IndexArray = NDArray[np.intp]

MAX_BINS = 10**12  # largest number of bins of a grid; only occupied ones take memory


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A grid of equal bins. Bins are half-open, [low, high), except the last one along each dimension, which is closed.

    Args:
        box: public (low, high) of each of D dimensions, in input units.
        bins: number of bins along each dimension (D,), or one number for all.

    Raises:
        ValueError: a count is not a whole number >= 1, does not fit the box, or there are too many bins.
    """

    box: tuple[tuple[float, float], ...]
    bins: int | Sequence[int]

    def __post_init__(self) -> None:
        bins = check_bins(self.bins)
        for interval in self.box:
            check_interval("each entry of box", interval)
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
        return tuple(self.bins) if isinstance(self.bins, Sequence) else (self.bins,) * len(self.box)

    def edges(self, dim: int) -> FloatArray:
        """Return the edges of the bins along one dimension (bins + 1,), ascending, in input units."""
        low, high = self.box[dim]
        return np.linspace(low, high, self.shape[dim] + 1)

    @property
    def centres(self) -> FloatArray:
        """Centres of all bins in the order of their index, shape (product of ``shape``, D), in input units."""
        sides = zip(self.box, self.shape, strict=True)
        return lattice([low + (high - low) * ((np.arange(count) + 0.5) / count) for (low, high), count in sides])

    def index(self, X: FloatArray) -> IndexArray:
        """Return the index (n,) of the bin that contains each point. Bins are counted in C order.

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
        # A point is in the bin with the largest low edge <= x; the upper end of the box belongs to the last bin.
        along = [
            np.minimum(np.searchsorted(self.edges(i), X[:, i], side="right") - 1, count - 1)
            for i, count in enumerate(self.shape)
        ]
        return np.asarray(np.ravel_multi_index(along, self.shape), dtype=np.intp)

    def boxes(self, index: IndexArray) -> FloatArray:
        """Return the box (b, D, 2) of each bin index (b,), in input units."""
        along = np.unravel_index(index, self.shape)
        edges = [self.edges(i) for i in range(len(self.shape))]
        sides = [np.stack([e[i], e[i + 1]], axis=1) for e, i in zip(edges, along, strict=True)]
        return np.stack(sides, axis=1)


@dataclass(frozen=True, kw_only=True, eq=False)
class BinPlan:
    """Public plan of a release of bin means. It has occupied bins only, in ascending order of their index.

    Attributes:
        index: index in the grid of each occupied bin (b,).
        boxes: box of each occupied bin (b, D, 2), in input units.
        members: position, among the occupied bins, of the bin that contains each record (n,).
        counts: number of records in each occupied bin (b,), >= 1.
    """

    index: IndexArray
    boxes: FloatArray
    members: IndexArray
    counts: IndexArray

    @property
    def weights(self) -> FloatArray:
        """Averaging matrix (b, n): 1 / n_b in the row of the bin that contains the record, 0 elsewhere."""
        weights = np.zeros((len(self.counts), len(self.members)))
        weights[self.members, np.arange(len(self.members))] = 1 / self.counts[self.members]
        return weights

    def rows(self, index: IndexArray) -> tuple[IndexArray, NDArray[np.bool_]]:
        """Return the position (P,) of each bin index (P,) among the occupied bins, and whether it is occupied (P,)."""
        rows = np.minimum(np.searchsorted(self.index, index), len(self.index) - 1)
        return rows, self.index[rows] == index


def plan_bins(grid: Grid, X: FloatArray) -> BinPlan:
    """Return the occupied bins of inputs X (n, D)."""
    index, members, counts = np.unique(grid.index(X), return_inverse=True, return_counts=True)
    return BinPlan(index=index, boxes=grid.boxes(index), members=members, counts=counts)


def check_bins(bins: int | Sequence[int]) -> int | tuple[int, ...]:
    """Return bins as an int or a tuple of ints; raise ValueError unless each is a whole number >= 1."""
    several = isinstance(bins, Sequence | np.ndarray)
    counts = list(bins) if isinstance(bins, Sequence | np.ndarray) else [bins]
    if not counts or any(isinstance(c, bool) or not isinstance(c, int | np.integer) or c < 1 for c in counts):
        raise ValueError(f"bins must be a whole number of at least 1, or one such number per dimension, got {bins!r}")
    return tuple(int(c) for c in counts) if several else int(counts[0])


# Intervals narrower than this multiple of L are integrated by Gauss-Legendre quadrature with 5 nodes, to a relative
# error of 1e-13, because cancellation multiplies the rounding errors of the closed form by (L / width)^2.
_NARROW = 0.3
_NODES, _WEIGHTS = (array / 2 for array in np.polynomial.legendre.leggauss(5))
_NODES = _NODES + 0.5  # on [0, 1]; the weights add up to 1


def k_FF(kernel: EQ, boxes: FloatArray, others: FloatArray) -> FloatArray:
    """Return the covariances (b, c) of integrals of f over two sets of boxes, in (model units times volume) squared.

    In one dimension, with L = sqrt(2) l and g(z) = sqrt(pi) z erf(z) + exp(-z^2),
    k_FF((s, t), (s', t')) = a l^2 [g((t-s')/L) + g((s-t')/L) - g((t-t')/L) - g((s-s')/L)].
    In several dimensions it is the variance a times the product, over dimensions, of the factors after a.

    Args:
        kernel: EQ kernel of f, variance a, one lengthscale l or one per dimension, in input units.
        boxes: (low, high) of each box in each dimension (b, D, 2), in input units.
        others: the same for the second set (c, D, 2).

    Raises:
        ValueError: the shapes do not fit each other or the lengthscales, or a box has low >= high.

    Source: Smith et al. 2018, supplement, "Integral Kernel".
    """
    scales = _lengthscales(kernel, check_boxes(boxes))
    if check_boxes(others) != len(scales):
        raise ValueError(f"both sets of boxes must have equally many dimensions, got {boxes.shape} and {others.shape}")
    total = np.full((len(boxes), len(others)), float(kernel.variance))
    for i, scale in enumerate(scales):
        # The boxes of a grid share few intervals, so each pair of distinct intervals is computed once.
        left, row = np.unique(boxes[:, i], axis=0, return_inverse=True)
        right, column = np.unique(others[:, i], axis=0, return_inverse=True)
        total *= _interval_covariance(left, right, scale)[np.ix_(row.ravel(), column.ravel())]
    return total


def k_Ff(kernel: EQ, boxes: FloatArray, X: FloatArray) -> FloatArray:
    """Return the covariances (b, P) of integrals of f over boxes with f at points, in squared model units times volume.

    In one dimension, with L = sqrt(2) l, k_Ff((s, t), x) = a l sqrt(pi / 2) [erf((t-x)/L) + erf((x-s)/L)].
    In several dimensions it is the variance a times the product, over dimensions, of the factors after a.

    Args:
        kernel: EQ kernel of f, as for ``k_FF``.
        boxes: (low, high) of each box in each dimension (b, D, 2), in input units.
        X: points (P, D), in input units.

    Raises:
        ValueError: the shapes do not fit each other or the lengthscales, or a box has low >= high.

    Source: Smith et al. 2018, supplement, "Integral Kernel".
    """
    scales = _lengthscales(kernel, check_boxes(boxes))
    if X.ndim != 2 or X.shape[1] != len(scales):
        raise ValueError(f"X must have shape (P, {len(scales)}) to match the boxes, got {X.shape}")
    total = np.full((len(boxes), len(X)), float(kernel.variance))
    for i, scale in enumerate(scales):
        L = math.sqrt(2) * scale
        s, t, x = boxes[:, i, :1], boxes[:, i, 1:], X[None, :, i]
        # l sqrt(pi / 2) [erf((t-x)/L) + erf((x-s)/L)]
        total *= scale * math.sqrt(math.pi / 2) * (erf((t - x) / L) + erf((x - s) / L))
    return total


def volumes(boxes: FloatArray) -> FloatArray:
    """Return the volume of each box (b,), the product of its D widths, for boxes (b, D, 2)."""
    widths: FloatArray = boxes[..., 1] - boxes[..., 0]
    return np.asarray(np.prod(widths, axis=1))


def check_boxes(boxes: FloatArray) -> int:
    """Return the dimension D of boxes (b, D, 2); raise ValueError unless they have that shape and low < high."""
    if boxes.ndim != 3 or boxes.shape[1] < 1 or boxes.shape[2] != 2:
        raise ValueError(f"boxes must have shape (b, D, 2) with D >= 1, got {boxes.shape}")
    if not (boxes[..., 0] < boxes[..., 1]).all():
        raise ValueError("every box must have low < high in every dimension; swap or widen the others")
    return int(boxes.shape[1])


def _lengthscales(kernel: EQ, dim: int) -> FloatArray:
    scales = np.asarray(kernel.lengthscale, dtype=float)
    if scales.ndim and len(scales) != dim:
        raise ValueError(f"{len(scales)} lengthscales for boxes of {dim} dimensions; give one, or one per dimension")
    return np.broadcast_to(scales, (dim,))


def _interval_covariance(left: FloatArray, right: FloatArray, scale: float) -> FloatArray:
    """Return k_FF / a for intervals (b, 2) and (c, 2) in one dimension, shape (b, c)."""
    L = math.sqrt(2) * scale
    if max(np.diff(left).max(), np.diff(right).max()) < _NARROW * L:
        # The sum over nodes u, v of w_u w_v exp(-((u - v) / L)^2) has positive terms only, so nothing cancels, and it
        # is a covariance itself.
        u, v = _nodes(left), _nodes(right)
        values = np.exp(-(((u[:, None, :, None] - v[None, :, None, :]) / L) ** 2)) @ _WEIGHTS @ _WEIGHTS
        return np.asarray(np.diff(left) * np.diff(right).T * values)
    (s, t), (s_, t_) = left[:, None].transpose(2, 0, 1), right[None].transpose(2, 0, 1)
    # l^2 [g((t-s')/L) + g((s-t')/L) - g((t-t')/L) - g((s-s')/L)] is a second difference of g, with g'' = 2 exp(-z^2).
    return scale**2 * (_g((t - s_) / L) + _g((s - t_) / L) - _g((t - t_) / L) - _g((s - s_) / L))


def _nodes(intervals: FloatArray) -> FloatArray:
    """Quadrature nodes (b, 5) of intervals (b, 2)."""
    return intervals[:, :1] + np.diff(intervals) * _NODES


def _g(z: FloatArray) -> FloatArray:
    """g(z) = sqrt(pi) z erf(z) + exp(-z^2)."""
    return np.asarray(math.sqrt(math.pi) * z * erf(z) + np.exp(-z * z))
