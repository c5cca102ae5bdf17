"""Clusters of neighbouring records with public inputs: bins that are small where there are many records.

If there are at most ``max_clusters`` distinct inputs, each of them is a cluster. Otherwise the clusters are the leaves
of a k-d tree ("Bins" in docs/bayes_cloaking.md). A cluster is the smallest box that contains its records. Within it,
a public function is a polynomial of second degree along each numerical side and is stored at a few nodes, so that its
mean over the records is a weighted sum over nodes.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray
from ..gp.grid import IndexArray
from ..levels import Interval, level_columns, number_sides
from ..measurement.integers import GRID, person_weights
from ..seasons import Periods, lifted_box
from .cells import MOST_SIDES, CellGrid, DividedBox, Interpolation, lagrange, lifted_into
from .tuning import TUNING

_ALONG = (1 / 6, 1 / 2, 5 / 6)  # nodes along a side of a cluster
_PRODUCTS = 2  # largest number S of numerical sides with a full grid of 3^S nodes; with more sides there are 1 + 2 S
_BLOCK = 1 << 20  # number of distances that are in memory at a time


@dataclass(frozen=True, kw_only=True, eq=False)
class Clusters(DividedBox):
    """M boxes that contain all records, and the sums of the node polynomials over their records. All of it is public.

    Each cluster has p nodes.

    The class has the interface of ``cells.LocatedGrid``. D + K is the number of sides, that is of inputs and phases.

    Args:
        box, periods: see ``DividedBox``.
        ends: low and high end of each cluster along each side (2, M, D + K); they are equal along a category.
        node_sums: sum_j w_j L_i(x_j) over the records of the cluster of each node (M p,), with w_j the weights of the
            records and L_i the polynomial that is 1 at node i and 0 at the other nodes of the cluster.
    """

    ends: FloatArray
    node_sums: FloatArray

    @property
    def size(self) -> int:
        """Number of clusters M."""
        return int(self.ends.shape[1])

    @property
    def centres(self) -> FloatArray:
        """Middles of the clusters (M, D + K)."""
        return np.asarray(self.ends.mean(axis=0))

    @cached_property
    def nodes(self) -> FloatArray:
        """Nodes of all clusters (M p, D + K), cluster by cluster."""
        t = np.full((len(self._which), self.dim), 0.5)
        t[:, self.numeric_sides] = np.array(_ALONG)[self._which]
        low, high = self.ends
        return np.asarray((low[:, None] + (high - low)[:, None] * t).reshape(-1, self.dim))

    @cached_property
    def _which(self) -> IndexArray:
        """Index, 0 to 2, of each node of a cluster along each numerical side (p, number of numerical sides)."""
        return nodes_of(len(self.numeric_sides))

    def index(self, X: FloatArray) -> IndexArray:
        """Return the cluster, from 0 to M - 1, that contains each X (n, D) or is nearest to it."""
        L, found = self.lifted(X), np.empty(len(X), dtype=np.intp)
        if self.dim == 1:  # intervals in ascending order: the nearest one is found between their ends
            low, high = self.ends[:, :, 0]
            return np.searchsorted((high[:-1] + low[1:]) / 2, L[:, 0]).astype(np.intp)
        widths, (low, high), step = [b - a for a, b in self.sides], self.ends, max(_BLOCK // self.size, 1)
        for first in range(0, len(L), step):
            some = slice(first, first + step)
            distance = np.zeros((len(L[some]), self.size))
            for d, width in enumerate(widths):
                x = L[some, d, None]
                distance += (np.maximum(np.maximum(low[:, d] - x, x - high[:, d]), 0.0) / width) ** 2
            found[some] = distance.argmin(axis=1)
        return found

    def offsets(self, X: FloatArray) -> FloatArray:
        """Return the location of each X (n, D) within its cluster along each side (D + K, n), from 0 to 1.

        It is 1/2 along sides on which the cluster has no width.
        """
        return self._offsets(self.lifted(X), self.index(X)).T

    def _offsets(self, L: FloatArray, clusters: IndexArray) -> FloatArray:
        low, width = self.ends[0, clusters], (self.ends[1] - self.ends[0])[clusters]
        wide = width > 0
        return np.where(wide, np.clip((L - low) / np.where(wide, width, 1.0), 0.0, 1.0), 0.5)

    def at(self, X: FloatArray) -> Interpolation:
        """Return the interpolation at X (n, D) by a polynomial in each cluster."""
        clusters = self.index(X)
        weights = self._polynomials(self._offsets(self.lifted(X), clusters))
        return lambda values: np.asarray((values.reshape(self.size, -1)[clusters] * weights).sum(axis=1))

    polynomial = at

    def _polynomials(self, t: FloatArray) -> FloatArray:
        """Return the weights L_i of the p nodes (n, p) at locations t (n, D + K) within a cluster."""
        along = [lagrange(t[:, d]).T for d in self.numeric_sides]
        if len(along) <= _PRODUCTS:
            products = np.ones((len(t), len(self._which)))
            for i, each in enumerate(along):
                products *= each[:, self._which[:, i]]
            return products
        weights = np.empty((len(t), len(self._which)))
        weights[:, 1::2], weights[:, 2::2] = (np.stack([each[:, end] for each in along], axis=1) for end in (0, 2))
        weights[:, 0] = 1 - weights[:, 1:].sum(axis=1)
        return weights

    @cached_property
    def _shares(self) -> FloatArray:
        """Weights of the nodes of each cluster in the mean over its records (M, p)."""
        node_sums = self.node_sums.reshape(self.size, -1)
        return np.asarray(node_sums / node_sums.sum(axis=1, keepdims=True))

    def averages(self, values: FloatArray) -> FloatArray:
        """Return the mean of a function over the records of each cluster (M, ...), from its values (M p, ...)."""
        split = values.reshape(self.size, len(self._which), -1)
        return np.asarray((self._shares[:, None] @ split).reshape(self.size, *values.shape[1:]))

    def even_averages(self, values: FloatArray) -> FloatArray:
        """Return the same means for records that are spread evenly over each cluster."""
        return np.asarray(values.reshape(self.size, len(self._which), *values.shape[1:]).mean(axis=1))

    def extremes(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest (M,) of values (M p,) at the nodes of each cluster and of their mean."""
        split, means = values.reshape(self.size, -1), self.averages(values)
        return np.minimum(split.min(axis=1), means), np.maximum(split.max(axis=1), means)

    @cached_property
    def star(self) -> IndexArray:
        """See ``CellGrid.star``."""
        chosen = _star(len(self.numeric_sides))
        own = [int(np.flatnonzero((self._which == each).all(axis=1))[0]) for each in chosen]
        found: IndexArray = np.arange(self.size)[:, None] * len(self._which) + np.array(own, dtype=np.intp)
        return found

    @property
    def even_star_weights(self) -> FloatArray:
        """See ``CellGrid.even_star_weights``."""
        sides = len(self.numeric_sides)
        return np.tile([1 - 2 * sides / 3, *[1 / 3] * (2 * sides)], (self.size, 1))

    @cached_property
    def star_weights(self) -> FloatArray:
        """See ``CellGrid.star_weights``."""
        sides = range(len(self.numeric_sides))
        ends = [self._shares[:, self._which[:, d] == end].sum(axis=1) for d in sides for end in (0, 2)]
        return np.column_stack([1 - sum(ends, np.zeros(self.size)), *ends])

    def within_each(self, count: int) -> FloatArray:
        """Return ``count`` evenly spaced points in each cluster, if there is one side (M count, 1)."""
        low, high = self.ends
        return np.asarray((low + (high - low) * (np.arange(count) + 0.5) / count).reshape(-1, 1))

    def filled(self, X: FloatArray, person: NDArray[np.generic] | None) -> Clusters:
        """Return the same boxes with the locations of records. Arguments are those of ``clusters_of``."""
        weights = np.ones(len(X)) if person is None else person_weights(person) / GRID
        clusters = self.index(X)
        polynomials = self._polynomials(self._offsets(self.lifted(X), clusters))
        node_sums = [np.bincount(clusters, weights * each, minlength=self.size) for each in polynomials.T]
        return replace(self, node_sums=np.stack(node_sums, axis=1).ravel().astype(float))


Bins = CellGrid | Clusters
"""The bins of a release: cells of the box, or clusters of records with public inputs."""


def nodes_of(sides: int) -> IndexArray:
    """Return the index, 0 to 2, of each node of a cluster along each of its numerical sides (p, sides)."""
    if sides > _PRODUCTS:
        return _star(sides)
    return np.array(list(product(range(3), repeat=sides)), dtype=np.intp).reshape(-1, sides)


def _star(sides: int) -> IndexArray:
    """Return the indices of the middle node and of its two neighbours along each side (1 + 2 sides, sides)."""
    star = np.ones((1 + 2 * sides, sides), dtype=np.intp)
    for d in range(sides):
        star[1 + 2 * d, d], star[2 + 2 * d, d] = 0, 2
    return star


def uses_clusters(box: Sequence[Interval], X: FloatArray, periods: Periods) -> bool:
    """Whether the bins of records with public inputs X (n, D) are clusters and not equal cells.

    "Bins" in docs/bayes_cloaking.md has the rules. There are no equal cells unless there are 1 to 3 numerical sides.
    """
    sides = lifted_box(box, periods)
    numbers, plain = len(number_sides(sides)), not level_columns(box) and not periods
    if not 1 <= numbers <= MOST_SIDES or (plain and (numbers == 1 or len(X) <= TUNING.most_clustered)):
        return True
    return _few_distinct(lifted_into(sides, X, periods))


def max_clusters(n: int) -> int:
    """Return the largest number of clusters that n records are divided into."""
    return min(max(n // TUNING.records_per_cluster, TUNING.fewest_clusters), TUNING.most_clusters)


def _few_distinct(L: FloatArray) -> bool:
    """Whether the rows of L (n, D + K) have at most ``max_clusters`` distinct values."""
    most = max_clusters(len(L))
    return len(np.unique(L[: 8 * TUNING.most_clusters], axis=0)) <= most and len(np.unique(L, axis=0)) <= most


def clusters_of(
    box: Sequence[Interval], X: FloatArray, periods: Periods = (), person: NDArray[np.generic] | None = None
) -> Clusters:
    """Return the clusters of records with public inputs, in ascending order of their low ends.

    Args:
        box: declared (low, high) of each input, or its categories.
        X: inputs (n, D).
        periods: period of each input; () if none has one.
        person: identifier of the person of each row (n,), if each person counts once; None if each row does.
    """
    sides = lifted_box(tuple(box), periods)
    L = lifted_into(sides, X, periods)
    rows = _split(L, sides) if not _few_distinct(L) else _by_distinct_input(L)
    ends = np.array([[L[each].min(axis=0) for each in rows], [L[each].max(axis=0) for each in rows]])
    ends = ends[:, np.lexsort(ends[0].T[::-1])]
    return Clusters(box=tuple(box), ends=ends, node_sums=np.zeros(0), periods=periods).filled(X, person)


def _by_distinct_input(L: FloatArray) -> list[IndexArray]:
    """Return the indices of equal rows of L (n, D + K), one array for each distinct row."""
    _, inverse = np.unique(L, axis=0, return_inverse=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    return np.split(order, np.flatnonzero(np.diff(inverse.ravel()[order])) + 1)


def _split(L: FloatArray, sides: Sequence[Interval]) -> list[IndexArray]:
    """Return the rows of each leaf of the k-d tree.

    The size of a cluster, by which the next one to split is chosen, is a weighted geometric mean of its number of
    records and its largest extent, see ``TUNING.cluster_extent``.
    """
    widths, n, categories = np.array([high - low for low, high in sides]), len(L), list(level_columns(sides))
    heap, made = list[tuple[float, int, int, IndexArray]](), 0

    def add(rows: IndexArray) -> None:
        nonlocal made
        extent = np.ptp(L[rows], axis=0) / widths
        extent[categories] = np.where(extent[categories] > 0, np.inf, 0.0)  # no cluster mixes categories
        d = int(extent.argmax())
        size = (len(rows) / n) ** (1 - TUNING.cluster_extent) * float(extent[d]) ** TUNING.cluster_extent
        heapq.heappush(heap, (-size, made, d, rows))
        made += 1

    add(np.arange(n))
    while len(heap) < max_clusters(n) and heap[0][0] < 0:
        *_, d, rows = heapq.heappop(heap)
        x = L[rows, d]
        low = x <= np.median(x)
        low = x < x.max() if low.all() else low
        add(rows[low])
        add(rows[~low])
    return [rows for *_, rows in heap]
