"""Clusters of neighbouring records with public inputs: the columns of a strategy adapt to where the records are.

Every distinct place is a column of its own while there are few. Otherwise the records are split in two again and again,
at the median of a side of the box, until there are as many clusters as time allows. All of this reads public inputs
alone. A cluster is the smallest box around its records; public functions are polynomials of second degree in it along
each side of numbers, known at three nodes along each, as in a cell of a ``CellGrid``. A mean over the records of a
cluster is then a weighted sum over its nodes.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray
from ..gp.grid import IndexArray
from ..levels import level_columns, number_sides
from ..measurement.integers import GRID, person_weights
from ..seasons import Periods, lifted, lifted_box
from .cells import Interpolation, lagrange

_NODES = np.array([1 / 6, 1 / 2, 5 / 6])
_FEW = 4096  # records up to which distinct places are found at once
_BLOCK = 1 << 20  # distances computed at a time


@dataclass(frozen=True, kw_only=True, eq=False)
class Clusters:
    """M boxes that hold all records, and weights of their nodes. Public.

    Args:
        box: declared box of the D inputs.
        low, high: ends of each cluster along each side, phases included (M, D + K); equal along a category.
        places: sum_j w_j L_i(x_j) over the records of each node's cluster (F,), see ``cells.OccupiedGrid``.
        steps: equal parts of the box between which a curve of one input may have change points.
        periods: of each input; () where none has one.
    """

    box: tuple[tuple[float, float], ...]
    low: FloatArray
    high: FloatArray
    places: FloatArray
    steps: int
    periods: Periods = ()

    @property
    def size(self) -> int:
        """Number of clusters M."""
        return len(self.low)

    @property
    def dim(self) -> int:
        """Number of sides: of input columns D, and of periods K."""
        return len(self.sides)

    @cached_property
    def sides(self) -> tuple[tuple[float, float], ...]:
        """Box of inputs and phases."""
        return lifted_box(self.box, self.periods)

    @cached_property
    def numbers(self) -> list[int]:
        """Sides that are of numbers, or phases."""
        levels = level_columns(self.sides)
        return [d for d in range(self.dim) if d not in levels]

    @property
    def centres(self) -> FloatArray:
        """Middles of the clusters (M, D + K)."""
        return (self.low + self.high) / 2

    @cached_property
    def nodes(self) -> FloatArray:
        """Nodes of all clusters (F, D + K), those of a cluster one after another."""
        t = np.full((len(self._local), self.dim), 0.5)
        t[:, self.numbers] = _NODES[self._local]
        nodes = self.low[:, None] + (self.high - self.low)[:, None] * t
        return nodes.reshape(-1, self.dim)

    @cached_property
    def _local(self) -> IndexArray:
        """The number of each node of a cluster along each side of numbers (m, sides)."""
        return np.array(list(product(range(3), repeat=len(self.numbers))), dtype=np.intp).reshape(-1, len(self.numbers))

    def index(self, X: FloatArray) -> IndexArray:
        """The cluster of each X (n, D), or the nearest one, 0 ... M - 1."""
        L, widths = self._lifted(X), np.array([high - low for low, high in self.sides])
        found = np.empty(len(L), dtype=np.intp)
        for first in range(0, len(L), max(_BLOCK // self.size, 1)):
            some = slice(first, first + max(_BLOCK // self.size, 1))
            distance = np.zeros((len(L[some]), self.size))
            for d, width in enumerate(widths):
                x = L[some, d, None]
                distance += (np.maximum(np.maximum(self.low[:, d] - x, x - self.high[:, d]), 0.0) / width) ** 2
            found[some] = distance.argmin(axis=1)
        return found

    def offsets(self, X: FloatArray) -> FloatArray:
        """Location of each X (n, D) within its cluster along each side (D + K, n), from 0 to 1; 1/2 in one of no width."""
        return self._offsets(self._lifted(X), self.index(X)).T

    def _offsets(self, L: FloatArray, cells: IndexArray) -> FloatArray:
        low, width = self.low[cells], (self.high - self.low)[cells]
        wide = width > 0
        return np.where(wide, np.clip((L - low) / np.where(wide, width, 1.0), 0.0, 1.0), 0.5)

    def at(self, X: FloatArray) -> Interpolation:
        """Values at X (n, D), from values (F,) at the nodes, by a polynomial in each cluster."""
        cells = self.index(X)
        weights = self._weights(self._offsets(self._lifted(X), cells))
        return lambda values: np.asarray((values.reshape(self.size, -1)[cells] * weights).sum(axis=1))

    def _weights(self, t: FloatArray) -> FloatArray:
        """Lagrange polynomials of the nodes at locations t (n, D + K) in a cluster (n, m)."""
        return _lagrange_products(t, self.numbers, self._local)

    polynomial = at

    @cached_property
    def _shares(self) -> FloatArray:
        """Share of the records of each cluster at each of its m nodes (M, m)."""
        places = self.places.reshape(self.size, -1)
        return places / places.sum(axis=1, keepdims=True)

    def averages(self, values: FloatArray) -> FloatArray:
        """Mean (M, ...) of values at the nodes (F, ...) over the records of each cluster."""
        split = values.reshape(self.size, len(self._local), -1)
        means = (self._shares[:, None] @ split)[:, 0]
        return np.asarray(means.reshape(self.size, *values.shape[1:]))

    def even_averages(self, values: FloatArray) -> FloatArray:
        """Mean (M, ...) of values at the nodes (F, ...) over a cluster that is filled evenly."""
        return np.asarray(values.reshape(self.size, len(self._local), *values.shape[1:]).mean(axis=1))

    def extremes(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Least and largest (M,) of values (F,) at the nodes of each cluster, and of the means over its records."""
        split, means = values.reshape(self.size, -1), self.averages(values)
        return np.minimum(split.min(axis=1), means), np.maximum(split.max(axis=1), means)

    @cached_property
    def star(self) -> IndexArray:
        """The middle node of each cluster, and its two neighbours along each side of numbers (M, 1 + 2 sides)."""
        middle = np.ones(len(self.numbers), dtype=np.intp)
        chosen = [middle]
        for d in range(len(self.numbers)):
            for end in (0, 2):
                chosen.append(middle.copy())
                chosen[-1][d] = end
        own = [int(np.flatnonzero((self._local == each).all(axis=1))[0]) for each in chosen]
        return np.arange(self.size)[:, None] * len(self._local) + np.array(own)

    @cached_property
    def star_weights(self) -> FloatArray:
        """See ``CellGrid``; of the records of each cluster."""
        ends = []
        for d in range(len(self.numbers)):
            ends += [self._shares[:, self._local[:, d] == end].sum(axis=1) for end in (0, 2)]
        along = np.stack(ends, axis=1) if ends else np.zeros((self.size, 0))
        return np.column_stack([1 - along.sum(axis=1), along])

    def within_each(self, count: int) -> FloatArray:
        """Points (M count, D + K) that lie evenly in each cluster, of one side."""
        t = (np.arange(count) + 0.5) / count
        return (self.low[:, None] + (self.high - self.low)[:, None] * t[None, :, None]).reshape(-1, self.dim)

    def _lifted(self, X: FloatArray) -> FloatArray:
        """Inputs clipped to the box, and their phases (n, D + K)."""
        low, high = np.array(self.sides).T
        return lifted(np.clip(X, low[: X.shape[1]], high[: X.shape[1]]), self.periods)


def _lagrange_products(t: FloatArray, numbers: Sequence[int], local: IndexArray) -> FloatArray:
    weights = np.ones((len(t), len(local)))
    for column, d in enumerate(numbers):
        weights *= lagrange(t[:, d])[local[:, column]].T
    return weights


def clusters_of(
    box: Sequence[tuple[float, float]],
    X: FloatArray,
    most: int,
    steps: int,
    periods: Periods = (),
    person: NDArray[np.generic] | None = None,
    power: float = 0.5,
) -> Clusters:
    """Clusters of public inputs X (n, D): a column for each distinct place, or ``most`` clusters.

    Args:
        box: declared.
        most: clusters at most.
        steps: equal parts of the box between which a curve of one input may have change points.
        periods: of each input; () where none has one.
        person: whose row each is, (n,), where people count once each; None where rows do.
        power: how much the extent of a cluster counts beside its number of records when the next one is split.
    """
    sides = lifted_box(tuple(box), periods)
    low, high = np.array(sides).T
    L = lifted(np.clip(X, low[: X.shape[1]], high[: X.shape[1]]), periods)
    widths = high - low
    levels = list(level_columns(sides))
    numbers = [d for d in range(len(sides)) if d not in levels]
    leaves: list[tuple[float, int, IndexArray]] = []

    def push(rows: IntArray) -> None:
        part = L[rows]
        extent = (part.max(axis=0) - part.min(axis=0)) / widths
        size = float(np.max(extent))
        split_levels = levels and extent[levels].max() > 0
        priority = math.inf if split_levels else (len(rows) / len(L)) ** (1 - power) * size**power
        heapq.heappush(leaves, (-priority if size > 0 else 0.0, len(leaves) + 10**6 * counter[0], rows))
        counter[0] += 1

    counter = [0]
    push(np.arange(len(L)))
    while len(leaves) < most and leaves[0][0] < 0:
        _, _, rows = heapq.heappop(leaves)
        part = L[rows]
        extent = (part.max(axis=0) - part.min(axis=0)) / widths
        d = int(np.argmax(np.where(np.isin(np.arange(len(sides)), levels), 1e9 * extent, extent)))
        x = part[:, d]
        threshold = np.median(x)
        left = x <= threshold
        if left.all():
            left = x < threshold
        push(rows[left])
        push(rows[~left])
    parts = [rows for *_, rows in leaves]
    ends_low = np.array([L[rows].min(axis=0) for rows in parts])
    ends_high = np.array([L[rows].max(axis=0) for rows in parts])
    order = np.lexsort(ends_low.T[::-1])
    parts, ends_low, ends_high = [parts[i] for i in order], ends_low[order], ends_high[order]
    empty = Clusters(box=tuple(box), low=ends_low, high=ends_high, places=np.zeros(0), steps=steps, periods=periods)
    weights = np.ones(len(L)) if person is None else person_weights(person) / GRID
    places = np.zeros((len(parts), len(empty._local)))
    for cell, rows in enumerate(parts):
        t = empty._offsets(L[rows], np.full(len(rows), cell))
        places[cell] = weights[rows] @ _lagrange_products(t, numbers, empty._local)
    return Clusters(
        box=tuple(box), low=ends_low, high=ends_high, places=places.ravel(), steps=steps, periods=periods
    )


IntArray = IndexArray
