"""Public cells over the declared box, and public functions on a finer public grid. No number here depends on a record.

A record is placed by its own input alone, clipped to the box first: no finite number is refused, and no product mixes
records.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.ndimage import map_coordinates

from ...arrays import FloatArray
from ...measurement.cell_statistics import NODES
from ...measurement.cells import Cells

PER_SIDE = {1: 45, 2: 12, 3: 8}
"""Cells along each side, by the number of sides."""


@dataclass(frozen=True, kw_only=True)
class CellGrid:
    """M = per_side^D equal cells of a box, each with 3^D nodes on which public functions are known.

    Args:
        box: D public (low, high) pairs.
        per_side: cells along each side, >= 2.

    Raises:
        ValueError: there are more than 3 sides, or fewer than 2 cells to a side.
    """

    box: tuple[tuple[float, float], ...]
    per_side: int

    def __post_init__(self) -> None:
        if self.dim not in PER_SIDE:
            raise ValueError(f"cells need 1 to 3 input columns, got {self.dim}; leave some out")
        if self.per_side < 2:
            raise ValueError(f"per_side must be at least 2, got {self.per_side}")

    @property
    def dim(self) -> int:
        """Number of input columns D."""
        return len(self.box)

    @property
    def size(self) -> int:
        """Number of cells M."""
        return int(self.per_side**self.dim)

    @property
    def centres(self) -> FloatArray:
        """Middles of the cells (M, D), in the order of ``place``."""
        return self._points(self.per_side)

    @cached_property
    def nodes(self) -> FloatArray:
        """The finer grid (F, D)."""
        return self._points(NODES * self.per_side)

    def place(self, X: FloatArray) -> Cells:
        """Cell of each record X (n, D) in 0 ... M - 1; inputs outside the box count at its edge. Private."""
        side = np.minimum((self._share(X) * self.per_side).astype(np.intp), self.per_side - 1)
        cells: Cells = np.ravel_multi_index(tuple(side.T), (self.per_side,) * self.dim)
        return cells

    def at(self, X: FloatArray, values: FloatArray) -> FloatArray:
        """Linear interpolation (n,) at X (n, D) of a function with ``values`` (F,) at the nodes."""
        count = NODES * self.per_side
        coordinates = self._share(X).T * count - 0.5
        found: FloatArray = map_coordinates(values.reshape((count,) * self.dim), coordinates, order=1, mode="nearest")
        return found

    def averages(self, values: FloatArray) -> FloatArray:
        """Mean over the nodes of each cell (M, ...) of values (F, ...) at the nodes."""
        split = values.reshape((self.per_side, NODES) * self.dim + values.shape[1:])
        means = split.mean(axis=tuple(range(1, 2 * self.dim, 2)))
        return np.asarray(means.reshape((self.size, *values.shape[1:])))

    def extremes(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Least and largest (M,) of values (F,) at the nodes of each cell."""
        split = values.reshape((self.per_side, NODES) * self.dim)
        axes = tuple(range(1, 2 * self.dim, 2))
        return split.min(axis=axes).ravel(), split.max(axis=axes).ravel()

    def _share(self, X: FloatArray) -> FloatArray:
        """Place of each input along each side, in [0, 1]."""
        low, high = np.array(self.box).T
        share: FloatArray = (np.clip(X, low, high) - low) / (high - low)
        return share

    def _points(self, count: int) -> FloatArray:
        middles = (np.arange(count) + 0.5) / count
        axes = [low + (high - low) * middles for low, high in self.box]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, self.dim)


def cells_of(box: Sequence[tuple[float, float]], per_side: Mapping[int, int] = PER_SIDE) -> CellGrid:
    """The usual number of cells for a box.

    Args:
        box: D public (low, high) pairs, D from 1 to 3.
        per_side: cells along each side, by D.

    Raises:
        ValueError: the box has more than 3 sides.
    """
    return CellGrid(box=tuple(box), per_side=per_side.get(len(box), 2))


def sides(box: Sequence[tuple[float, float]], share: float) -> list[float]:
    """This share of each side of the box."""
    return [math.ldexp(share * (high / 2 - low / 2), 1) for low, high in box]
