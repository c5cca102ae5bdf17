"""Public cells over the declared box, and public functions on a finer public grid. No number here depends on a record.

A record is placed by its own input alone, clipped to the box first: no finite number is refused, and no product mixes
records.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from scipy.ndimage import map_coordinates

from ...arrays import FloatArray
from ...levels import groups_of, level_columns, number_sides
from ...measurement.cell_statistics import cells_along, nodes_along
from ...measurement.cells import Cells

PER_SIDE = {1: 45, 2: 12, 3: 8}
"""Cells along each side, by the number of sides."""


@dataclass(frozen=True, kw_only=True)
class CellGrid:
    """M equal cells of a box: per_side along each input that is a number, one for each level of a category.

    Public functions are known at nodes: three along each side of a cell, one along a category.

    Args:
        box: D public (low, high) pairs.
        per_side: cells along each side that is of numbers, >= 2.

    Raises:
        ValueError: there are more than 3 sides of numbers, or fewer than 2 cells to a side.
    """

    box: tuple[tuple[float, float], ...]
    per_side: int

    def __post_init__(self) -> None:
        numbers = len(number_sides(self.box))
        if numbers not in PER_SIDE:
            raise ValueError(f"cells need 1 to 3 input columns, got {numbers} that are numbers; leave some out")
        if self.per_side < 2:
            raise ValueError(f"per_side must be at least 2, got {self.per_side}")

    @property
    def dim(self) -> int:
        """Number of input columns D."""
        return len(self.box)

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells along each of the D sides."""
        return cells_along(self.box, self.per_side)

    @property
    def size(self) -> int:
        """Number of cells M."""
        return math.prod(self.shape)

    @property
    def centres(self) -> FloatArray:
        """Middles of the cells (M, D), in the order of ``place``."""
        return self._points(self.shape)

    @cached_property
    def nodes(self) -> FloatArray:
        """The finer grid (F, D)."""
        return self._points(nodes_along(self.box, self.per_side))

    def place(self, X: FloatArray) -> Cells:
        """Cell of each record X (n, D) in 0 ... M - 1; inputs outside the box count at its edge. Private."""
        along = [
            np.minimum((share * count).astype(np.intp), count - 1)
            for share, count in zip(self._shares(X), self.shape, strict=True)
        ]
        cells: Cells = np.ravel_multi_index(tuple(along), self.shape)
        return cells

    def at(self, X: FloatArray, values: FloatArray) -> FloatArray:
        """Linear interpolation (n,) at X (n, D) of ``values`` (F,) at the nodes; none between levels."""
        counts = nodes_along(self.box, self.per_side)
        coordinates = np.array([share * count - 0.5 for share, count in zip(self._shares(X), counts, strict=True)])
        levels = list(level_columns(self.box))
        coordinates[levels] = np.rint(coordinates[levels])
        found: FloatArray = map_coordinates(values.reshape(counts), coordinates, order=1, mode="nearest")
        return found

    def averages(self, values: FloatArray) -> FloatArray:
        """Mean over the nodes of each cell (M, ...) of values (F, ...) at the nodes."""
        means = self._split(values).mean(axis=tuple(range(1, 2 * self.dim, 2)))
        return np.asarray(means.reshape((self.size, *values.shape[1:])))

    def extremes(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Least and largest (M,) of values (F,) at the nodes of each cell."""
        split, axes = self._split(values), tuple(range(1, 2 * self.dim, 2))
        return split.min(axis=axes).ravel(), split.max(axis=axes).ravel()

    def _split(self, values: FloatArray) -> FloatArray:
        """Values (F, ...) with two axes for each input: its cells, and the nodes of each."""
        nodes = nodes_along(self.box, self.per_side)
        pairs = [(cells, fine // cells) for cells, fine in zip(self.shape, nodes, strict=True)]
        return values.reshape(tuple(chain.from_iterable(pairs)) + values.shape[1:])

    def _shares(self, X: FloatArray) -> FloatArray:
        """Place of each input along each side, in [0, 1] (D, n); of a level, in the middle of its part."""
        low, high = np.array(self.box).T
        share: FloatArray = (np.clip(X, low, high) - low) / (high - low)
        return share.T

    def _points(self, counts: Sequence[int]) -> FloatArray:
        axes = [
            low + (high - low) * ((np.arange(count) + 0.5) / count)
            for (low, high), count in zip(self.box, counts, strict=True)
        ]
        for d in level_columns(self.box):
            axes[d] = np.arange(counts[d], dtype=float)
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, self.dim)


def cells_of(box: Sequence[tuple[float, float]], per_side: Mapping[int, int] = PER_SIDE) -> CellGrid:
    """The usual number of cells for a box; fewer along each side where there are many groups.

    Args:
        box: D public (low, high) pairs, D from 1 to 3 without categories.
        per_side: cells along each side, by the number of sides that are of numbers.

    Raises:
        ValueError: the box has more than 3 sides of numbers.
    """
    numbers = len(number_sides(box))
    usual = per_side.get(numbers, 2)
    if numbers:  # as many cells in all as the root of the number of groups: a small group has few records in each
        usual = max(2, round(usual / groups_of(box) ** (0.5 / numbers)))
    return CellGrid(box=tuple(box), per_side=usual)


def sides(box: Sequence[tuple[float, float]], share: float) -> list[float]:
    """This share of each side of the box."""
    return [math.ldexp(share * (high / 2 - low / 2), 1) for low, high in box]
