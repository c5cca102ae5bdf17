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
from ...seasons import Periods, lifted, lifted_box, phase_cells

PER_SIDE = {1: 45, 2: 12, 3: 8}
"""Cells along each side, by the number of sides."""
PER_SIDE_BY_PHASE = {1: 12, 2: 8}
"""The same of boxes whose cells are divided by phase too."""


@dataclass(frozen=True, kw_only=True)
class CellGrid:
    """M = per_side^D equal cells of a box, each with 3^D nodes on which public functions are known.

    Where an input has a period, each cell is divided by its phase too (see ``seasons``), K sides more.

    Args:
        box: D public (low, high) pairs.
        per_side: cells along each side, >= 2.
        periods: of each input; () where none has one.

    Raises:
        ValueError: there are more than 3 sides, or fewer than 2 cells to a side.
    """

    box: tuple[tuple[float, float], ...]
    per_side: int
    periods: Periods = ()

    def __post_init__(self) -> None:
        if self.dim not in PER_SIDE:
            each = ", a period counting as one" if self.periods else ""
            raise ValueError(f"cells need 1 to 3 input columns{each}, got {self.dim}; leave some out")
        if self.per_side < 2:
            raise ValueError(f"per_side must be at least 2, got {self.per_side}")

    @property
    def dim(self) -> int:
        """Number of sides: of input columns D, and of periods."""
        return len(self.sides)

    @cached_property
    def sides(self) -> tuple[tuple[float, float], ...]:
        """Box of inputs and phases."""
        return lifted_box(self.box, self.periods)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Cells along each side."""
        return (self.per_side,) * len(self.box) + phase_cells(self.periods)

    @property
    def size(self) -> int:
        """Number of cells M."""
        return math.prod(self.shape)

    @property
    def centres(self) -> FloatArray:
        """Middles of the cells (M, D + K), in the order of ``place``."""
        return self._points(1)

    @cached_property
    def nodes(self) -> FloatArray:
        """The finer grid (F, D + K)."""
        return self._points(NODES)

    def place(self, X: FloatArray) -> Cells:
        """Cell of each record X (n, D) in 0 ... M - 1; inputs outside the box count at its edge. Private."""
        shape = np.array(self.shape)
        side = np.minimum((self._share(X) * shape).astype(np.intp), shape - 1)
        cells: Cells = np.ravel_multi_index(tuple(side.T), self.shape)
        return cells

    def at(self, X: FloatArray, values: FloatArray) -> FloatArray:
        """Linear interpolation (n,) at X (n, D) of a function with ``values`` (F,) at the nodes."""
        counts = NODES * np.array(self.shape)
        coordinates = self._share(X).T * counts[:, None] - 0.5
        found: FloatArray = map_coordinates(values.reshape(counts), coordinates, order=1, mode="nearest")
        return found

    def averages(self, values: FloatArray) -> FloatArray:
        """Mean over the nodes of each cell (M, ...) of values (F, ...) at the nodes."""
        split = values.reshape(self._split + values.shape[1:])
        means = split.mean(axis=tuple(range(1, 2 * self.dim, 2)))
        return np.asarray(means.reshape((self.size, *values.shape[1:])))

    def extremes(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Least and largest (M,) of values (F,) at the nodes of each cell."""
        split = values.reshape(self._split)
        axes = tuple(range(1, 2 * self.dim, 2))
        return split.min(axis=axes).ravel(), split.max(axis=axes).ravel()

    def _share(self, X: FloatArray) -> FloatArray:
        """Place of each input along each side, in [0, 1]."""
        low, high = np.array(self.sides).T
        X = lifted(np.clip(X, low[: X.shape[1]], high[: X.shape[1]]), self.periods)
        share: FloatArray = (X - low) / (high - low)
        return share

    @property
    def _split(self) -> tuple[int, ...]:
        """Cells and nodes along each side in turn."""
        return tuple(count for cells in self.shape for count in (cells, NODES))

    def _points(self, times: int) -> FloatArray:
        """So many to a cell and side."""
        counts = [times * cells for cells in self.shape]
        shares = [(np.arange(count) + 0.5) / count for count in counts]
        axes = [low + (high - low) * share for (low, high), share in zip(self.sides, shares, strict=True)]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, self.dim)


def cells_of(
    box: Sequence[tuple[float, float]], per_side: Mapping[int, int] = PER_SIDE, periods: Periods = ()
) -> CellGrid:
    """The usual number of cells for a box.

    Args:
        box: D public (low, high) pairs, D from 1 to 3.
        per_side: cells along each side, by D.
        periods: of each input; () where none has one.

    Raises:
        ValueError: the box has more than 3 sides, periods included.
    """
    counts = PER_SIDE_BY_PHASE if periods else per_side
    return CellGrid(box=tuple(box), per_side=counts.get(len(box), 2), periods=periods)


def sides(box: Sequence[tuple[float, float]], share: float) -> list[float]:
    """This share of each side of the box."""
    return [math.ldexp(share * (high / 2 - low / 2), 1) for low, high in box]
