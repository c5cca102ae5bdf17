"""Equal cells of the declared box: how many there are, which one a record is in, and means of functions over them.

The cell of a record depends on its own input alone, which is clipped to the box first, so that any finite number is
valid. Public functions, such as the curve that a stage subtracts, are stored at the *nodes*, a finer grid with three
points along each numerical side of a cell. If the locations of records within cells are known, a mean over the records
of a cell is a weighted sum over its nodes (``LocatedGrid``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates

from ..arrays import FloatArray
from ..gp.grid import Grid, IndexArray
from ..levels import Interval, groups_of, level_columns, number_sides
from ..measurement.integers import GRID, person_weights
from ..measurement.measurement import Cells
from ..measurement.statistics import cells_along, nodes_along, split_by_cell
from ..seasons import Periods, lifted, lifted_box, periodic, phase_cells
from .tuning import TUNING

Interpolation = Callable[[FloatArray], FloatArray]
"""Maps values (F,) at the nodes of a grid to values (n,) at n points."""

MOST_SIDES = 3
"""Largest number of numerical sides, periods included, for which there are equal cells."""
_EMPTY = 0.5 / GRID  # a cell with fewer records per node is empty: weights of records are multiples of 1 / GRID


@dataclass(frozen=True, kw_only=True, eq=False)
class DividedBox:
    """The box that cells or clusters divide, in the inputs followed by the phases of the K periods (see ``seasons``).

    Args:
        box: declared (low, high) of each of the D inputs, or its categories.
        periods: period of each input; () if none has one.
    """

    box: tuple[Interval, ...]
    periods: Periods = ()

    @property
    def dim(self) -> int:
        """Number of sides, D + K: the inputs and the phases of periods."""
        return len(self.sides)

    @cached_property
    def sides(self) -> tuple[Interval, ...]:
        """Box of the inputs followed by their phases."""
        return lifted_box(self.box, self.periods)

    @cached_property
    def numeric_sides(self) -> list[int]:
        """Indices of the numerical sides, phases included."""
        levels = level_columns(self.sides)
        return [d for d in range(self.dim) if d not in levels]

    def lifted(self, X: FloatArray) -> FloatArray:
        """Return inputs X (n, D), clipped to the box, followed by their phases (n, D + K)."""
        return lifted_into(self.sides, X, self.periods)


def lifted_into(sides: Sequence[Interval], X: FloatArray, periods: Periods) -> FloatArray:
    """Return inputs X (n, D), clipped to the box with the given sides, followed by their phases (n, D + K)."""
    low, high = np.array(sides).T
    return lifted(np.clip(X, low[: X.shape[1]], high[: X.shape[1]]), periods)


@dataclass(frozen=True, kw_only=True)
class CellGrid(DividedBox):
    """M equal cells of a box: ``per_side`` along each numerical input, and one for each category of a categorical one.

    The nodes are three points along each numerical side of a cell, and one along a categorical side. Cells are
    also divided by the phase of each period, which is a numerical side. F is the number of nodes.

    Args:
        box, periods: see ``DividedBox``.
        per_side: number of cells along each numerical side, at least 2.

    Raises:
        ValueError: the number of numerical sides is not 1, 2 or 3, or there are fewer than 2 cells along each.
    """

    per_side: int

    def __post_init__(self) -> None:
        numbers = len(number_sides(self.sides))
        if not 1 <= numbers <= MOST_SIDES:
            each = ", a period counting as one" if self.periods else ""
            of = " that are numbers" if level_columns(self.box) else ""
            raise ValueError(f"cells need 1 to 3 input columns{each}, got {numbers}{of}; leave some out")
        if self.per_side < 2:
            raise ValueError(f"per_side must be at least 2, got {self.per_side}")

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Number of cells along each side."""
        return cells_along(self.box, self.per_side, self.periods)

    @cached_property
    def node_shape(self) -> tuple[int, ...]:
        """Number of nodes along each side."""
        return nodes_along(self.box, self.per_side, self.periods)

    @property
    def size(self) -> int:
        """Number of cells M."""
        return math.prod(self.shape)

    @property
    def centres(self) -> FloatArray:
        """Middles of the cells (M, D + K), in the order of ``index``."""
        return self._points(self.shape)

    @cached_property
    def nodes(self) -> FloatArray:
        """All nodes (F, D + K)."""
        return self._points(self.node_shape)

    def index(self, X: FloatArray) -> Cells:
        """Return the cell, from 0 to M - 1, of each record X (n, D), after clipping inputs to the box.

        The result is private if inputs are.
        """
        return Grid(box=self.sides, bins=self.shape).index(self.lifted(X))

    def at(self, X: FloatArray) -> Interpolation:
        """Return the interpolation at X (n, D) that is linear between nodes, and never between categories."""
        coordinates = self._along(X, self.node_shape).T - 0.5
        levels = list(level_columns(self.sides))
        coordinates[levels] = np.rint(coordinates[levels])
        return lambda values: np.asarray(
            map_coordinates(values.reshape(self.node_shape), coordinates, order=1, mode="nearest")
        )

    def averages(self, values: FloatArray) -> FloatArray:
        """Return the mean of a function over each cell (M, ...), from its values (F, ...) at the nodes."""
        split = values.reshape(self._split + values.shape[1:])
        means = split.mean(axis=tuple(range(1, 2 * self.dim, 2)))
        return np.asarray(means.reshape((self.size, *values.shape[1:])))

    def even_averages(self, values: FloatArray) -> FloatArray:
        """Return the same means for records that are spread evenly over each cell, even if locations are known."""
        return CellGrid.averages(self, values)

    def within_each(self, count: int) -> FloatArray:
        """Return ``count`` evenly spaced points in each cell of a grid with one side (M count, 1)."""
        return Grid(box=self.sides, bins=(self.size * count,)).centres

    def extremes(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value (M,) at the nodes of each cell, of values (F,) at all nodes."""
        split, axes = values.reshape(self._split), tuple(range(1, 2 * self.dim, 2))
        return split.min(axis=axes).ravel(), split.max(axis=axes).ravel()

    @cached_property
    def star(self) -> IndexArray:
        """Indices (M, 1 + 2 S) of the middle node of each cell and of its two neighbours along each numerical side.

        These few nodes suffice for the variance of f within a cell, which is needed only approximately.
        """
        nodes = np.arange(math.prod(self.node_shape)).reshape(self.node_shape)
        both = zip(self.shape, self.node_shape, strict=True)
        middle = tuple(slice(fine // cells // 2, None, fine // cells) for cells, fine in both)
        parts = [nodes[middle]]
        for d in self.numeric_sides:
            parts += [nodes[*middle[:d], slice(end, None, 3), *middle[d + 1 :]] for end in (0, 2)]
        return np.stack([each.ravel() for each in parts], axis=1)

    @property
    def star_weights(self) -> FloatArray:
        """Weights (M, 1 + 2 S) of the nodes of ``star`` in a mean over the records of each cell."""
        return self.even_star_weights

    @property
    def even_star_weights(self) -> FloatArray:
        """Weights (M, 1 + 2 S) of the nodes of ``star`` in a mean over records that are spread evenly over each cell.

        They are exact for additive functions f(x) = f_0 + sum_d (f_d(x_d) - f_0). With w_d the weights of the three
        nodes along side d, the mean of f is (1 - sum_d (w_d0 + w_d2)) f_0 + sum_d (w_d0 f_d0 + w_d2 f_d2).
        """
        return self._star_weights(np.full((self.size, len(self.numeric_sides), 3), 1 / 3))

    def _star_weights(self, along: FloatArray) -> FloatArray:
        """Return weights of the nodes of ``star``, given those of the three nodes along each side (M, S, 3)."""
        ends = along[:, :, [0, 2]].reshape(self.size, -1)
        return np.column_stack([1 - ends.sum(axis=1), ends])

    def polynomial(self, X: FloatArray) -> Interpolation:
        """Return the interpolation at X (n, D) by a polynomial in each cell, see ``NodeWeights``."""
        weights = self.node_weights(X)
        return lambda values: np.asarray(sum(L * values[nodes] for nodes, L in weights.terms()))

    def offsets(self, X: FloatArray) -> FloatArray:
        """Return the location of each record X (n, D) within its cell along each side (D + K, n), from 0 to 1."""
        cells = np.unravel_index(self.index(X), self.shape)
        return np.clip(self._along(X, self.shape).T - np.array(cells), 0.0, 1.0)

    def node_weights(self, X: FloatArray) -> NodeWeights:
        """Return the weights of the nodes in a polynomial interpolation at X (n, D)."""
        cells, t = np.unravel_index(self.index(X), self.shape), self.offsets(X)
        levels, nodes_per_cell = level_columns(self.sides), np.array(self.node_shape) // self.shape
        return NodeWeights(
            first=np.asarray(np.ravel_multi_index(tuple(nodes_per_cell[:, None] * cells), self.node_shape)),
            along=tuple(np.ones((1, len(X))) if d in levels else lagrange(t[d]) for d in range(self.dim)),
            steps=tuple(math.prod(self.node_shape[d + 1 :]) for d in range(self.dim)),
        )

    def _along(self, X: FloatArray, numbers: Sequence[int]) -> FloatArray:
        """Return the distance from the low end of each side (n, D + K), in units in which side d is numbers[d] long."""
        low, high = np.array(self.sides).T
        return np.asarray((self.lifted(X) - low) / (high - low) * numbers)

    @property
    def _split(self) -> tuple[int, ...]:
        """Shape with two axes for each side: the cells along it, and the nodes of each cell along it."""
        return split_by_cell(self.shape, self.node_shape)

    def _points(self, numbers: Sequence[int]) -> FloatArray:
        """Return evenly spaced points, ``numbers`` of them along the sides; along categories, their codes."""
        points, levels = Grid(box=self.sides, bins=tuple(numbers)).centres, list(level_columns(self.sides))
        points[:, levels] = np.rint(points[:, levels])
        return points


class NodeWeights(NamedTuple):
    """Weights of the nodes in a polynomial interpolation at n records.

    Within a cell, a function is a polynomial of second degree along each side. Its value at x is a weighted sum of its
    values f_i at the nodes of the cell,

        f(x) = sum_i L_i(x) f_i,    L_i(x) = prod_d l_i(t_d),    t_d from 0 to 1 along side d of the cell.

    l are the Lagrange polynomials of the points 1/6, 1/2 and 5/6, or 1 along a category.

    Attributes:
        first: index of the first node of each record's cell (n,).
        along: l at the records for each side: (3, n), or (1, n) along a category.
        steps: for each side, the difference between the indices of neighbouring nodes.
    """

    first: IndexArray
    along: tuple[FloatArray, ...]
    steps: tuple[int, ...]

    def terms(self) -> Iterator[tuple[IndexArray, FloatArray]]:
        """Yield the terms of the sum: for each node of a cell, its index and weight L for every record, both (n,)."""
        for nodes in product(*(range(len(each)) for each in self.along)):
            offset = sum(i * step for i, step in zip(nodes, self.steps, strict=True))
            yield self.first + offset, math.prod(each[i] for i, each in zip(nodes, self.along, strict=True))


def lagrange(t: FloatArray) -> FloatArray:
    """Return the Lagrange polynomials of the points 1/6, 1/2 and 5/6 at t (n,), an array (3, n)."""
    return np.stack(
        [4.5 * (t - 1 / 2) * (t - 5 / 6), -9.0 * (t - 1 / 6) * (t - 5 / 6), 4.5 * (t - 1 / 6) * (t - 1 / 2)]
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class LocatedGrid(CellGrid):
    """Cells in which the locations of the records are known: means over a cell are means over its records.

    With f as in ``NodeWeights``, the sum of f(x_j) over the records of a cell is sum_i f_i sum_j L_i(x_j), so that the
    locations enter only through one number for each node.

    Args:
        node_sums: for each node i, sum_j w_j L_i(x_j) over the records j of its cell (F,), where w_j is the weight of
            record j. Public.
    """

    node_sums: FloatArray
    __eq__, __hash__ = object.__eq__, object.__hash__  # those of ``CellGrid`` ignore the locations

    def at(self, X: FloatArray) -> Interpolation:
        """Return the interpolation at X (n, D) by a polynomial in each cell."""
        return self.polynomial(X)

    def averages(self, values: FloatArray) -> FloatArray:
        """Return the mean of a function over the records of each cell (M, ...), from its values (F, ...) at the nodes.

        In an empty cell it is the mean over the nodes.
        """
        return super().averages(values * self._shares.reshape(-1, *[1] * (values.ndim - 1)))

    def extremes(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest (M,) of the values (F,) at the nodes of each cell and of their mean.

        The mean may lie outside the values at the nodes, because records may be closer to the edge than any node.
        """
        (least, most), means = super().extremes(values), self.averages(values)
        return np.minimum(least, means), np.maximum(most, means)

    @cached_property
    def star_weights(self) -> FloatArray:
        """See ``CellGrid.star_weights``."""
        split = self._shares.reshape(self._split)
        along = []
        for d in self.numeric_sides:
            others = tuple(2 * e + 1 for e in range(self.dim) if e != d)
            along.append(np.moveaxis(split.mean(axis=others), d + 1, -1))
        return self._star_weights(np.stack([each.reshape(self.size, 3) / 3 for each in along], axis=1))

    @cached_property
    def _shares(self) -> FloatArray:
        """Weight of each node in the mean over its cell, times the number of nodes of a cell (F,).

        ``CellGrid.averages`` divides by this number.
        """
        mean = super().averages(self.node_sums).reshape(self.shape)
        for d, (cells, fine) in enumerate(zip(self.shape, self.node_shape, strict=True)):
            mean = np.repeat(mean, fine // cells, axis=d)
        occupied = mean.ravel() > _EMPTY
        return np.where(occupied, self.node_sums / np.where(occupied, mean.ravel(), 1.0), 1.0)


def located_grid(grid: CellGrid, X: FloatArray, person: NDArray[np.generic] | None = None) -> LocatedGrid:
    """Return the grid with the locations of records with public inputs.

    Args:
        X: public inputs (n, D).
        person: identifier of the person of each row (n,), if each person counts once; None if each row does.
    """
    weights = np.ones(len(X)) if person is None else person_weights(person) / GRID
    node_sums = np.zeros(math.prod(grid.node_shape))
    for nodes, L in grid.node_weights(X).terms():
        node_sums += np.bincount(nodes, weights * L, minlength=len(node_sums))
    return LocatedGrid(box=grid.box, per_side=grid.per_side, periods=grid.periods, node_sums=node_sums)


def grid_from_moments(grid: CellGrid, locations: FloatArray, squares: FloatArray) -> LocatedGrid:
    """Return the grid with locations, if only their first two moments within each cell are known.

    If t - 1/2 has the mean m1 and the mean square m2 over the records of a cell, the means of the three Lagrange
    polynomials are 4.5 m2 - 1.5 m1, 1 - 9 m2 and 4.5 m2 + 1.5 m1, and products of these along several sides.

    Args:
        locations: m1 for each of the S numerical sides (S, M), from -1/2 to 1/2.
        squares: m2 (S, M).
    """
    moments, weights = iter(zip(locations, squares, strict=True)), np.ones((grid.size, 1))
    for cells, fine in zip(grid.shape, grid.node_shape, strict=True):
        along = np.ones((grid.size, 1))
        if fine > cells:  # a numerical side
            m1, m2 = next(moments)
            along = np.stack([4.5 * m2 - 1.5 * m1, 1 - 9 * m2, 4.5 * m2 + 1.5 * m1], axis=1)
        weights = (weights[:, :, None] * along[:, None]).reshape(grid.size, -1)
    nodes = [fine // cells for cells, fine in zip(grid.shape, grid.node_shape, strict=True)]
    # The axes are cells of all sides, then nodes of all sides; they become cells and nodes of each side in turn.
    order = [axis for d in range(grid.dim) for axis in (d, grid.dim + d)]
    node_sums = weights.reshape(*grid.shape, *nodes).transpose(order).ravel()
    return LocatedGrid(box=grid.box, per_side=grid.per_side, periods=grid.periods, node_sums=node_sums)


def cells_of(
    box: Sequence[Interval],
    people: int,
    noise_multiplier: float,
    periods: Periods = (),
    *,
    public: bool = False,
) -> CellGrid:
    """Return the cells for a table. Their number grows with n and with the budget, and depends on public numbers alone.

    Large cells are measured precisely, and small cells locate records better. ``Tuning`` describes the rules, and gives
    the reasons for their numbers. If inputs are public, ``finer_where_used`` may refine the cells further.

    Args:
        box: declared (low, high) or categories of each input.
        people: n, the number of records, or of people if each counts once.
        noise_multiplier: s of the whole budget.
        periods: period of each input; () if none has one.
        public: whether inputs are public.

    Raises:
        ValueError: the box has no or more than 3 numerical sides, periods included.
    """
    numbers, groups = len(number_sides(box)), groups_of(box)
    u, side = people / (groups * TUNING.cells_from * noise_multiplier), numbers - 1  # u as in ``Tuning``
    if periods:
        per_side = max(2, round(TUNING.fewest_phased_cells[side] / groups ** (0.5 / max(numbers, 1))))
        if numbers == 1:  # cells no longer than the period need no division by its phase
            [(d, period)] = periodic(periods)
            within = int((box[d][1] - box[d][0]) / period)
            most = max(min(TUNING.most_phased_cells // (math.prod(phase_cells(periods)) * groups), within), per_side)
            per_side = min(max(round(TUNING.phased_cells * math.sqrt(u)), per_side // 2), most)
    elif 1 <= numbers <= MOST_SIDES:
        finer = float(np.clip(u**TUNING.finer_power, 1.0, TUNING.most_finer)) if public else 1.0
        most_fast = (TUNING.fast_cells_if_public if public else TUNING.fast_cells)[side]
        fast = min(TUNING.cells * u**TUNING.fast_power, most_fast)
        cells = max(finer * TUNING.cells * u**TUNING.cells_power, fast)
        cells = cells if public else min(cells, people / (groups * TUNING.people_per_cell[side]))
        per_side = min(max(round(cells ** (1 / numbers)), TUNING.fewest_cells[side]), TUNING.most_cells[side])
    else:
        per_side = 2
    return CellGrid(box=tuple(box), per_side=per_side, periods=periods)


def finer_where_used(grid: CellGrid, X: FloatArray) -> CellGrid:
    """Return the finest grid in which at most ``grid.size`` cells contain records with public inputs X.

    Empty cells cost nothing, and records are often concentrated, for example in towns, or along a curve as age and
    weight are. With one side, groups or periods, finer cells gain nothing, and the grid is returned unchanged.

    Args:
        grid: a grid whose size follows from the number of records.
        X: public inputs (n, D).
    """
    numbers = len(number_sides(grid.box))
    if numbers < 2 or grid.periods or level_columns(grid.box):
        return grid
    most = min(TUNING.finer_where_used * grid.per_side, TUNING.most_cells[numbers - 1])
    for per_side in range(most, grid.per_side, -1):
        finer = replace(grid, per_side=per_side)
        if len(np.unique(finer.index(X))) <= grid.size:
            return finer
    return grid
