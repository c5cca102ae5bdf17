"""Clusters of neighbouring records with public inputs: the columns of a strategy adapt to where the records are.

Every distinct place is a column of its own while there are at most ``most_of`` them. Otherwise the records are split in
two, again and again, at the median of one side of the box, until there are as many clusters. All of this reads public
inputs
alone. A cluster is the smallest box that holds its records. Public functions are of second degree in it along each side
of numbers and are known at a few nodes, so a mean over the records of a cluster is a weighted sum over its nodes.
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
from ..seasons import Periods, lifted, lifted_box
from .cells import MOST_SIDES, Interpolation, lagrange
from .tuning import TUNING

_ALONG = (1 / 6, 1 / 2, 5 / 6)  # nodes along a side of a cluster
_PRODUCTS = 2  # sides of numbers up to which nodes are all products of those; with more, those along one side at a time
_BLOCK = 1 << 20  # distances computed at a time


@dataclass(frozen=True, kw_only=True, eq=False)
class Clusters:
    """M boxes that hold all records, and how the records of each are spread over its m nodes. Public.

    Args:
        box: declared box of the D inputs.
        ends: low and high end of each cluster along each of the S sides, periods included (2, M, S); equal along a
            category.
        places: sum_j w_j L_i(x_j) over the records of each node's cluster (M m,), w_j their weights and L_i the
            polynomial that is 1 at node i and 0 at the others.
        periods: of each input; () where none has one.
    """

    box: tuple[Interval, ...]
    ends: FloatArray
    places: FloatArray
    periods: Periods = ()

    @property
    def size(self) -> int:
        """Number of clusters M."""
        return int(self.ends.shape[1])

    @property
    def dim(self) -> int:
        """Number of sides S: of input columns D, and of periods."""
        return len(self.sides)

    @cached_property
    def sides(self) -> tuple[Interval, ...]:
        """Box of inputs and phases."""
        return lifted_box(self.box, self.periods)

    @cached_property
    def numbers(self) -> list[int]:
        """Sides that are of numbers, or phases."""
        return _numbers(self.sides)

    @property
    def parts(self) -> int:
        """Number of equal parts of the box between which a curve of one input may have change points."""
        return self.size

    @property
    def centres(self) -> FloatArray:
        """Middles of the clusters (M, S)."""
        return np.asarray(self.ends.mean(axis=0))

    @cached_property
    def nodes(self) -> FloatArray:
        """Nodes of all clusters (M m, S), those of a cluster one after another."""
        t = np.full((len(self._which), self.dim), 0.5)
        t[:, self.numbers] = np.array(_ALONG)[self._which]
        low, high = self.ends
        return np.asarray((low[:, None] + (high - low)[:, None] * t).reshape(-1, self.dim))

    @cached_property
    def _which(self) -> IndexArray:
        """The number of each node along each side of numbers (m, sides)."""
        return nodes_of(len(self.numbers))

    def index(self, X: FloatArray) -> IndexArray:
        """The cluster that holds each X (n, D), or the nearest one, 0 ... M - 1."""
        L, found = lifted_into(self.sides, X, self.periods), np.empty(len(X), dtype=np.intp)
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
        """Location of each X (n, D) in its cluster along each side (S, n), from 0 to 1; 1/2 where that has no width."""
        return self._offsets(lifted_into(self.sides, X, self.periods), self.index(X)).T

    def _offsets(self, L: FloatArray, clusters: IndexArray) -> FloatArray:
        low, width = self.ends[0, clusters], (self.ends[1] - self.ends[0])[clusters]
        wide = width > 0
        return np.where(wide, np.clip((L - low) / np.where(wide, width, 1.0), 0.0, 1.0), 0.5)

    def at(self, X: FloatArray) -> Interpolation:
        """Values at X (n, D), from values at the nodes (M m,), by a polynomial in each cluster."""
        clusters = self.index(X)
        weights = self._polynomials(self._offsets(lifted_into(self.sides, X, self.periods), clusters))
        return lambda values: np.asarray((values.reshape(self.size, -1)[clusters] * weights).sum(axis=1))

    polynomial = at

    def _polynomials(self, t: FloatArray) -> FloatArray:
        """L_i of the nodes at locations t (n, S) within a cluster (n, m)."""
        along = [lagrange(t[:, d]).T for d in self.numbers]
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
        """Share of the records of each cluster at each of its nodes (M, m)."""
        places = self.places.reshape(self.size, -1)
        return np.asarray(places / places.sum(axis=1, keepdims=True))

    def averages(self, values: FloatArray) -> FloatArray:
        """Mean (M, ...) of values at the nodes (M m, ...) over the records of each cluster."""
        split = values.reshape(self.size, len(self._which), -1)
        return np.asarray((self._shares[:, None] @ split).reshape(self.size, *values.shape[1:]))

    def even_averages(self, values: FloatArray) -> FloatArray:
        """Mean (M, ...) of values at the nodes (M m, ...) over a cluster that is filled evenly."""
        return np.asarray(values.reshape(self.size, len(self._which), *values.shape[1:]).mean(axis=1))

    def extremes(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Least and largest (M,) of values (M m,) at the nodes of each cluster, and of the means over its records."""
        split, means = values.reshape(self.size, -1), self.averages(values)
        return np.minimum(split.min(axis=1), means), np.maximum(split.max(axis=1), means)

    @cached_property
    def star(self) -> IndexArray:
        """See ``CellGrid.star``."""
        chosen = _star(len(self.numbers))
        own = [int(np.flatnonzero((self._which == each).all(axis=1))[0]) for each in chosen]
        found: IndexArray = np.arange(self.size)[:, None] * len(self._which) + np.array(own, dtype=np.intp)
        return found

    @property
    def even_star_weights(self) -> FloatArray:
        """See ``CellGrid.even_star_weights``."""
        sides = len(self.numbers)
        return np.tile([1 - 2 * sides / 3, *[1 / 3] * (2 * sides)], (self.size, 1))

    @cached_property
    def star_weights(self) -> FloatArray:
        """See ``CellGrid.star_weights``; of the records of each cluster."""
        sides = range(len(self.numbers))
        ends = [self._shares[:, self._which[:, d] == end].sum(axis=1) for d in sides for end in (0, 2)]
        return np.column_stack([1 - sum(ends, np.zeros(self.size)), *ends])

    def within_each(self, count: int) -> FloatArray:
        """Points (M count, 1) that lie evenly in each cluster, of one side."""
        low, high = self.ends
        return np.asarray((low + (high - low) * (np.arange(count) + 0.5) / count).reshape(-1, 1))

    def filled(self, X: FloatArray, person: NDArray[np.generic] | None) -> Clusters:
        """The same boxes with the places of records X (n, D); people count once each where ``person`` names them."""
        weights = np.ones(len(X)) if person is None else person_weights(person) / GRID
        clusters = self.index(X)
        polynomials = self._polynomials(self._offsets(lifted_into(self.sides, X, self.periods), clusters))
        places = [np.bincount(clusters, weights * each, minlength=self.size) for each in polynomials.T]
        return replace(self, places=np.stack(places, axis=1).ravel().astype(float))


def nodes_of(sides: int) -> IndexArray:
    """The number, 0 to 2, of each node of a cluster along each of its sides of numbers (m, sides)."""
    if sides > _PRODUCTS:
        return _star(sides)
    return np.array(list(product(range(3), repeat=sides)), dtype=np.intp).reshape(-1, sides)


def _star(sides: int) -> IndexArray:
    """The middle node, and its two neighbours along each side (1 + 2 sides, sides)."""
    star = np.ones((1 + 2 * sides, sides), dtype=np.intp)
    for d in range(sides):
        star[1 + 2 * d, d], star[2 + 2 * d, d] = 0, 2
    return star


def lifted_into(sides: Sequence[Interval], X: FloatArray, periods: Periods) -> FloatArray:
    """Inputs X (n, D) clipped to the box, with their phases behind them (n, S)."""
    low, high = np.array(sides).T
    return lifted(np.clip(X, low[: X.shape[1]], high[: X.shape[1]]), periods)


def _numbers(sides: Sequence[Interval]) -> list[int]:
    levels = level_columns(sides)
    return [d for d in range(len(sides)) if d not in levels]


def adapts(box: Sequence[Interval], X: FloatArray, periods: Periods) -> bool:
    """Whether records X (n, D) have clusters as columns, instead of equal cells.

    Equal cells exist for one to three sides of numbers. They are used for very many records on two or three sides, and
    where there are categories or periods with more than ``most_of`` distinct places.
    """
    sides = lifted_box(box, periods)
    numbers, plain = len(number_sides(sides)), not level_columns(box) and not periods
    if not 1 <= numbers <= MOST_SIDES or (plain and (numbers == 1 or len(X) <= TUNING.most_clustered)):
        return True
    return _few_places(lifted_into(sides, X, periods))


def most_of(n: int) -> int:
    """Number of clusters of n records, at most."""
    return min(max(n // TUNING.records_per_cluster, TUNING.fewest_clusters), TUNING.most_clusters)


def _few_places(L: FloatArray) -> bool:
    """Whether rows of L (n, S) are at no more than ``most_of`` different places."""
    most = most_of(len(L))
    return len(np.unique(L[: 8 * TUNING.most_clusters], axis=0)) <= most and len(np.unique(L, axis=0)) <= most


def clusters_of(
    box: Sequence[Interval], X: FloatArray, periods: Periods = (), person: NDArray[np.generic] | None = None
) -> Clusters:
    """Clusters of public inputs.

    Args:
        box: declared.
        X: inputs (n, D).
        periods: of each input; () where none has one.
        person: whose row each is (n,), where people count once each; None where every row counts.
    """
    sides = lifted_box(tuple(box), periods)
    L = lifted_into(sides, X, periods)
    rows = _split(L, sides) if not _few_places(L) else _by_place(L)
    ends = np.array([[L[each].min(axis=0) for each in rows], [L[each].max(axis=0) for each in rows]])
    ends = ends[:, np.lexsort(ends[0].T[::-1])]
    return Clusters(box=tuple(box), ends=ends, places=np.zeros(0), periods=periods).filled(X, person)


def _by_place(L: FloatArray) -> list[IndexArray]:
    """The rows of each distinct place."""
    _, inverse = np.unique(L, axis=0, return_inverse=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    return np.split(order, np.flatnonzero(np.diff(inverse.ravel()[order])) + 1)


def _split(L: FloatArray, sides: Sequence[Interval]) -> list[IndexArray]:
    """Rows of the clusters: the largest one is split next, at the median of the side along which it is longest."""
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
    while len(heap) < most_of(n) and heap[0][0] < 0:
        *_, d, rows = heapq.heappop(heap)
        x = L[rows, d]
        low = x <= np.median(x)
        low = x < x.max() if low.all() else low
        add(rows[low])
        add(rows[~low])
    return [rows for *_, rows in heap]
