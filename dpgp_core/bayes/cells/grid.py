"""Public cells over the declared box, and public functions on a finer public grid. No number here depends on a record.

A record is placed by its own input alone, clipped to the box first: no finite number is refused, and no product mixes
records.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.ndimage import map_coordinates

from ...arrays import FloatArray
from ...levels import groups_of, level_columns, number_sides
from ...measurement.measurement import Cells
from ...measurement.statistics import cells_along, nodes_along
from ...seasons import Periods, lifted, lifted_box

FEWEST = {1: 12, 2: 4, 3: 2}
"""Cells along each side at least, by the number of sides that are of numbers."""
MOST = {1: 90, 2: 20, 3: 8}
"""The same at most."""
PER_SIDE_BY_PHASE = {1: 12, 2: 8}
"""The same of boxes whose cells are divided by phase too."""
_CELLS, _STRENGTH, _POWER = 16, 80, 0.4  # cells of a group at this n / s, and how they grow with it
_PUBLIC = 2  # times as many cells where counts are public, and cost nothing


@dataclass(frozen=True, kw_only=True)
class CellGrid:
    """M equal cells of a box: per_side along each input that is a number, one for each level of a category.

    Public functions are known at nodes: three along each side of a cell, one along a category. Where an input has a
    period, each cell is divided by its phase too (see ``seasons``), K sides more.

    Args:
        box: D public (low, high) pairs.
        per_side: cells along each side that is of numbers, >= 2.
        periods: of each input; () where none has one.

    Raises:
        ValueError: there are more than 3 sides of numbers, or fewer than 2 cells to a side.
    """

    box: tuple[tuple[float, float], ...]
    per_side: int
    periods: Periods = ()

    def __post_init__(self) -> None:
        numbers = len(number_sides(self.sides))
        if numbers not in MOST:
            each = ", a period counting as one" if self.periods else ""
            of = " that are numbers" if level_columns(self.box) else ""
            raise ValueError(f"cells need 1 to 3 input columns{each}, got {numbers}{of}; leave some out")
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
        return cells_along(self.box, self.per_side, self.periods)

    @cached_property
    def fine(self) -> tuple[int, ...]:
        """Nodes along each side."""
        return nodes_along(self.box, self.per_side, self.periods)

    @property
    def size(self) -> int:
        """Number of cells M."""
        return math.prod(self.shape)

    @property
    def centres(self) -> FloatArray:
        """Middles of the cells (M, D + K), in the order of ``place``."""
        return self._points(self.shape)

    @cached_property
    def nodes(self) -> FloatArray:
        """The finer grid (F, D + K)."""
        return self._points(self.fine)

    def place(self, X: FloatArray) -> Cells:
        """Cell of each record X (n, D) in 0 ... M - 1; inputs outside the box count at its edge. Private."""
        shape = np.array(self.shape)
        side = np.minimum((self._share(X) * shape).astype(np.intp), shape - 1)
        cells: Cells = np.ravel_multi_index(tuple(side.T), self.shape)
        return cells

    def at(self, X: FloatArray, values: FloatArray) -> FloatArray:
        """Linear interpolation (n,) at X (n, D) of ``values`` (F,) at the nodes; none between levels."""
        coordinates = self._share(X).T * np.array(self.fine)[:, None] - 0.5
        levels = list(level_columns(self.sides))
        coordinates[levels] = np.rint(coordinates[levels])
        interpolated: FloatArray = map_coordinates(values.reshape(self.fine), coordinates, order=1, mode="nearest")
        return interpolated

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
        """Place of each input along each side, in [0, 1] (n, D + K); of a level, in the middle of its part."""
        low, high = np.array(self.sides).T
        X = lifted(np.clip(X, low[: X.shape[1]], high[: X.shape[1]]), self.periods)
        share: FloatArray = (X - low) / (high - low)
        return share

    @property
    def _split(self) -> tuple[int, ...]:
        """Cells and nodes of each along each side in turn."""
        return tuple(
            count for cells, fine in zip(self.shape, self.fine, strict=True) for count in (cells, fine // cells)
        )

    def _points(self, counts: Sequence[int]) -> FloatArray:
        """So many along each side; along categories, the numbers of levels."""
        shares = [(np.arange(count) + 0.5) / count for count in counts]
        axes = [low + (high - low) * share for (low, high), share in zip(self.sides, shares, strict=True)]
        for d in level_columns(self.sides):
            axes[d] = np.arange(counts[d], dtype=float)
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, self.dim)


def cells_of(
    box: Sequence[tuple[float, float]],
    people: int,
    noise_multiplier: float,
    periods: Periods = (),
    *,
    public: bool = False,
) -> CellGrid:
    """Cells for a table, from public numbers alone: the more people and budget, the more of them.

    Few large cells are measured precisely, and many small ones tell more of where in them people are. With n / s people
    to a unit of noise in each of G groups, risks that were planned for and simulated are least at about
    16 (n / (80 s G))^0.4 cells a group (``python -m benchmarks inputs``), and flat about there.

    Args:
        box: D public (low, high) pairs, D from 1 to 3 without categories.
        people: n.
        noise_multiplier: s of the whole budget.
        periods: of each input; () where none has one.
        public: whether inputs are, so that counts need no noise.

    Raises:
        ValueError: the box has more than 3 sides of numbers, periods included.
    """
    numbers, groups = len(number_sides(box)), groups_of(box)
    if periods:
        per_side = max(2, round(PER_SIDE_BY_PHASE.get(numbers, 2) / groups ** (0.5 / max(numbers, 1))))
    elif numbers in MOST:
        cells = _CELLS * (people / (groups * _STRENGTH * noise_multiplier)) ** _POWER * (_PUBLIC if public else 1)
        per_side = min(max(round(cells ** (1 / numbers)), FEWEST[numbers]), MOST[numbers])
    else:
        per_side = 2
    return CellGrid(box=tuple(box), per_side=per_side, periods=periods)


def sides(box: Sequence[tuple[float, float]], share: float) -> list[float]:
    """This share of each side of the box."""
    return [math.ldexp(share * (high / 2 - low / 2), 1) for low, high in box]
