"""Public cells over the declared box, how many there are, and public functions on a finer public grid.

A record is placed by its own input alone, clipped to the box first: no finite number is refused, and no product mixes
records. Where inputs are public, so is where in its cell each record stands, and sums over a cell say more.
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
from ..levels import groups_of, level_columns, number_sides
from ..measurement.integers import GRID, person_weights
from ..measurement.measurement import Cells
from ..measurement.statistics import cells_along, nodes_along, split_by_cell
from ..seasons import Periods, lifted, lifted_box, periodic, phase_cells
from .tuning import TUNING

Interpolation = Callable[[FloatArray], FloatArray]
"""From values (F,) at the nodes of a grid to those at n points."""

MOST_SIDES = 3
"""Sides of numbers, periods included, up to which there are equal cells."""
_NOBODY = 0.5 / GRID  # people of a node on average


@dataclass(frozen=True, kw_only=True)
class CellGrid:
    """M equal cells of a box: per_side along each input that is a number, one for each level of a category.

    Public functions are known at nodes: three along each side of a cell, one along a category. Where an input has a
    period, each cell is divided by its phase too (see ``seasons``), K sides more.

    Args:
        per_side: cells along each side that is of numbers, >= 2.

    Raises:
        ValueError: there are more than 3 sides of numbers, or fewer than 2 cells to a side.
    """

    box: tuple[tuple[float, float], ...]
    per_side: int
    periods: Periods = ()

    def __post_init__(self) -> None:
        numbers = len(number_sides(self.sides))
        if not 1 <= numbers <= MOST_SIDES:
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
        """Middles of the cells (M, D + K), in the order of ``index``."""
        return self._points(self.shape)

    @cached_property
    def nodes(self) -> FloatArray:
        """The finer grid (F, D + K)."""
        return self._points(self.fine)

    def index(self, X: FloatArray) -> Cells:
        """Cell of each record X (n, D) in 0 ... M - 1; inputs outside the box count at its edge. Private."""
        return Grid(box=self.sides, bins=self.shape).index(self._lifted(X))

    def at(self, X: FloatArray) -> Interpolation:
        """Values at X (n, D) of functions that are linear between nodes; there is nothing between levels."""
        coordinates = self._along(X, self.fine).T - 0.5
        levels = list(level_columns(self.sides))
        coordinates[levels] = np.rint(coordinates[levels])
        return lambda values: np.asarray(
            map_coordinates(values.reshape(self.fine), coordinates, order=1, mode="nearest")
        )

    def averages(self, values: FloatArray) -> FloatArray:
        """Mean over the nodes of each cell (M, ...) of values (F, ...) at the nodes."""
        split = values.reshape(self._split + values.shape[1:])
        means = split.mean(axis=tuple(range(1, 2 * self.dim, 2)))
        return np.asarray(means.reshape((self.size, *values.shape[1:])))

    def even_averages(self, values: FloatArray) -> FloatArray:
        """The same of cells that are filled evenly, wherever their records are."""
        return CellGrid.averages(self, values)

    @property
    def parts(self) -> int:
        """Number of equal parts of the box between which a curve of one input may have change points."""
        return self.size

    def within_each(self, count: int) -> FloatArray:
        """Points (M count, D) that lie evenly in each cell, of one side."""
        return Grid(box=self.sides, bins=(self.size * count,)).centres

    def extremes(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Least and largest (M,) of values (F,) at the nodes of each cell."""
        split = values.reshape(self._split)
        axes = tuple(range(1, 2 * self.dim, 2))
        return split.min(axis=axes).ravel(), split.max(axis=axes).ravel()

    @cached_property
    def star(self) -> IndexArray:
        """The middle node of each cell, and its two neighbours along each side of numbers (M, 1 + 2 sides)."""
        nodes = np.arange(math.prod(self.fine)).reshape(self.fine)
        middle = tuple(slice(fine // cells // 2, None, fine // cells) for cells, fine in self._counts)
        parts = [nodes[middle]]
        for d in self.numbers:
            parts += [nodes[*middle[:d], slice(end, None, 3), *middle[d + 1 :]] for end in (0, 2)]
        return np.stack([each.ravel() for each in parts], axis=1)

    @property
    def star_weights(self) -> FloatArray:
        """Weights of the nodes of ``star`` in a mean over a cell (M, 1 + 2 sides)."""
        return self.even_star_weights

    @property
    def even_star_weights(self) -> FloatArray:
        """The same of cells that are filled evenly, for a function that varies along each side by itself.

        For f(x) = f_0 + sum_d (f_d(x_d) - f_0), with w_d the weights of the three nodes along side d, the mean is
        (1 - sum_d (1 - w_d1)) f_0 + sum_d (w_d0 f_d0 + w_d2 f_d2).
        """
        return self._star_weights(np.full((self.size, len(self.numbers), 3), 1 / 3))

    def _star_weights(self, along: FloatArray) -> FloatArray:
        """From the weights of the nodes along each side of numbers (M, sides, 3)."""
        ends = along[:, :, [0, 2]].reshape(self.size, -1)
        return np.column_stack([1 - ends.sum(axis=1), ends])

    @property
    def _counts(self) -> list[tuple[int, int]]:
        """Cells and nodes along each side."""
        return list(zip(self.shape, self.fine, strict=True))

    def polynomial(self, X: FloatArray) -> Interpolation:
        """Values at X (n, D) of a polynomial in each cell, see ``NodeWeights``."""
        weights = self.node_weights(X)
        return lambda values: np.asarray(sum(L * values[nodes] for nodes, L in weights.terms()))

    @property
    def numbers(self) -> list[int]:
        """Sides that are of numbers, or phases."""
        return [d for d, (cells, fine) in enumerate(zip(self.shape, self.fine, strict=True)) if fine > cells]

    def offsets(self, X: FloatArray) -> FloatArray:
        """How far each record X (n, D) stands in its cell along each side (D + K, n), from 0 to 1."""
        cells = np.unravel_index(self.index(X), self.shape)
        return np.clip(self._along(X, self.shape).T - np.array(cells), 0.0, 1.0)

    def node_weights(self, X: FloatArray) -> NodeWeights:
        """Of X (n, D) in their cells."""
        cells, t = np.unravel_index(self.index(X), self.shape), self.offsets(X)
        levels, nodes_per_cell = level_columns(self.sides), np.array(self.fine) // self.shape
        return NodeWeights(
            first=np.asarray(np.ravel_multi_index(tuple(nodes_per_cell[:, None] * cells), self.fine)),
            along=tuple(np.ones((1, len(X))) if d in levels else lagrange(t[d]) for d in range(self.dim)),
            steps=tuple(math.prod(self.fine[d + 1 :]) for d in range(self.dim)),
        )

    def _lifted(self, X: FloatArray) -> FloatArray:
        """Inputs clipped to the box, and their phases (n, D + K)."""
        low, high = np.array(self.sides).T
        return lifted(np.clip(X, low[: X.shape[1]], high[: X.shape[1]]), self.periods)

    def _along(self, X: FloatArray, counts: Sequence[int]) -> FloatArray:
        """Distances from the low ends of all sides (n, D + K), in parts of which a side has so many."""
        low, high = np.array(self.sides).T
        return np.asarray((self._lifted(X) - low) / (high - low) * counts)

    @property
    def _split(self) -> tuple[int, ...]:
        """Cells and nodes of each along each side in turn."""
        return split_by_cell(self.shape, self.fine)

    def _points(self, counts: Sequence[int]) -> FloatArray:
        """So many along each side; along categories, the numbers of levels."""
        points, levels = Grid(box=self.sides, bins=tuple(counts)).centres, list(level_columns(self.sides))
        points[:, levels] = np.rint(points[:, levels])
        return points


class NodeWeights(NamedTuple):
    """Where records stand in their cells. A function is a polynomial there, of second degree along each side:

        f(x) = sum_i L_i(x) f_i,    L_i(x) = prod_d l_i(t_d),    t_d from 0 to 1 along side d of the cell,

    f_i at the cell's nodes, and l the Lagrange polynomials of 1/6, 1/2 and 5/6, or 1 along a category.

    Attributes:
        first: the first node of each record's cell (n,).
        along: of each side, l of its nodes in the cell (3, n), or (1, n).
        steps: of each side, from a node to the next one.
    """

    first: IndexArray
    along: tuple[FloatArray, ...]
    steps: tuple[int, ...]

    def terms(self) -> Iterator[tuple[IndexArray, FloatArray]]:
        """For each node of a cell, its index for every record, and L there (n,)."""
        for nodes in product(*(range(len(each)) for each in self.along)):
            offset = sum(i * step for i, step in zip(nodes, self.steps, strict=True))
            yield self.first + offset, math.prod(each[i] for i, each in zip(nodes, self.along, strict=True))


def lagrange(t: FloatArray) -> FloatArray:
    """The polynomials (3, n) that are 1 at one of 1/6, 1/2, 5/6 and 0 at the others."""
    return np.stack(
        [4.5 * (t - 1 / 2) * (t - 5 / 6), -9.0 * (t - 1 / 6) * (t - 5 / 6), 4.5 * (t - 1 / 6) * (t - 1 / 2)]
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class OccupiedGrid(CellGrid):
    """Cells whose people stand at known places: means over a cell are means over its people.

    With f as in ``NodeWeights``, sum_j f(x_j) over the people of a cell is sum_i f_i sum_j L_i(x_j): of all places, one
    number for each node is needed. It is exact for parabolas; what a rough curve does between the nodes is left out.

    Args:
        places: sum_j w_j L_i(x_j) over the people of each node's cell (F,), w_j their weights. Public.
    """

    places: FloatArray
    __eq__, __hash__ = object.__eq__, object.__hash__

    def at(self, X: FloatArray) -> Interpolation:
        """Values at X (n, D) by polynomials."""
        return self.polynomial(X)

    def averages(self, values: FloatArray) -> FloatArray:
        """Means (M, ...) over the people of each cell; over its nodes where nobody is."""
        return super().averages(values * self._shares.reshape(-1, *[1] * (values.ndim - 1)))

    def extremes(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Least and largest (M,) at the nodes of each cell, and of the means: people may stand beyond the nodes."""
        (least, most), means = super().extremes(values), self.averages(values)
        return np.minimum(least, means), np.maximum(most, means)

    @cached_property
    def star_weights(self) -> FloatArray:
        """See ``CellGrid``; of the records of each cell."""
        split = self._shares.reshape(self._split)
        along = []
        for d in self.numbers:
            others = tuple(2 * e + 1 for e in range(self.dim) if e != d)
            along.append(np.moveaxis(split.mean(axis=others), d + 1, -1))
        return self._star_weights(np.stack([each.reshape(self.size, 3) / 3 for each in along], axis=1))

    @cached_property
    def _shares(self) -> FloatArray:
        """Of a cell's people at each of its m nodes, times m (F,)."""
        people = super().averages(self.places).reshape(self.shape)
        for d, (cells, fine) in enumerate(zip(self.shape, self.fine, strict=True)):
            people = np.repeat(people, fine // cells, axis=d)
        there = people.ravel() > _NOBODY
        return np.where(there, self.places / np.where(there, people.ravel(), 1.0), 1.0)


def occupied(grid: CellGrid, X: FloatArray, person: NDArray[np.generic] | None = None) -> OccupiedGrid:
    """The grid of public inputs X (n, D); where ``person`` says whose row each is, of people who count once each."""
    weights = np.ones(len(X)) if person is None else person_weights(person) / GRID
    places = np.zeros(math.prod(grid.fine))
    for nodes, L in grid.node_weights(X).terms():
        places += np.bincount(nodes, weights * L, minlength=len(places))
    return OccupiedGrid(box=grid.box, per_side=grid.per_side, periods=grid.periods, places=places)


def placed(grid: CellGrid, positions: FloatArray, squares: FloatArray) -> OccupiedGrid:
    """The grid of people whose mean positions in their cells are known, along sides of numbers.

    Means of l over the people of a cell, with t - 1/2 of mean m and mean square q, are 4.5 q -+ 1.5 m and 1 - 9 q; of
    several sides their products are taken.

    Args:
        positions: m (sides, M), from -1/2 to 1/2.
        squares: q (sides, M).
    """
    numbers, weights = iter(zip(positions, squares, strict=True)), np.ones((grid.size, 1))
    for cells, fine in zip(grid.shape, grid.fine, strict=True):
        along = np.ones((grid.size, 1))
        if fine > cells:  # a side of numbers
            m, q = next(numbers)
            along = np.stack([4.5 * q - 1.5 * m, 1 - 9 * q, 4.5 * q + 1.5 * m], axis=1)
        weights = (weights[:, :, None] * along[:, None]).reshape(grid.size, -1)
    nodes = [fine // cells for cells, fine in zip(grid.shape, grid.fine, strict=True)]
    # from (cells of each side, nodes of each side) to cells and nodes of each side in turn
    order = [axis for d in range(grid.dim) for axis in (d, grid.dim + d)]
    places = weights.reshape(*grid.shape, *nodes).transpose(order).ravel()
    return OccupiedGrid(box=grid.box, per_side=grid.per_side, periods=grid.periods, places=places)


def cells_of(
    box: Sequence[tuple[float, float]],
    people: int,
    noise_multiplier: float,
    periods: Periods = (),
    *,
    public: bool = False,
) -> CellGrid:
    """Cells for a table, from public numbers alone: the more people and budget, the more of them.

    Few large cells are measured precisely, and many small ones locate people better. With n / s people to a unit of
    noise in each of G groups, u = n / (80 s G), errors are least at about 16 u^0.4 cells a group along one side, and
    flat about there (``python -m benchmarks inputs``). On two and three sides so few leave curves unseen that vary as
    !Kung heights or London's prices do, and finer ones cost smooth curves nothing once noise is less: 16 u^1.5, up to
    81 or 216, where that is more. With little noise there are no more than leave each 8 people, or 4: the count of
    fewer, where it is not public, says too little. Where counts are public, and cost nothing, up to twice as many pay
    with little noise, and no more than others with much: then a plane of 300 people in 6 x 6 cells errs by 2.8, and in
    4 x 4 by 2.3. On planes of public inputs ``finer_where_used`` does the rest. Along a side with a period there are
    5 u^0.5 of each phase, for a trend may be quick beside a wave: five years in 12 cells hide the year beside a week.

    Args:
        box: D public (low, high) pairs, D from 1 to 3 without categories.
        people: n.
        noise_multiplier: s of the whole budget.
        public: whether inputs are, so that counts need no noise.

    Raises:
        ValueError: the box has more than 3 sides of numbers, periods included.
    """
    numbers, groups = len(number_sides(box)), groups_of(box)
    strength, side = people / (groups * TUNING.cells_from * noise_multiplier), numbers - 1
    if periods:
        per_side = max(2, round(TUNING.fewest_phased_cells[side] / groups ** (0.5 / max(numbers, 1))))
        if numbers == 1:  # a cell of a whole period or less would be divided by phases for nothing
            [(d, period)] = periodic(periods)
            within = int((box[d][1] - box[d][0]) / period)
            most = max(min(TUNING.most_phased_cells // (math.prod(phase_cells(periods)) * groups), within), per_side)
            per_side = min(max(round(TUNING.phased_cells * math.sqrt(strength)), per_side // 2), most)
    elif 1 <= numbers <= MOST_SIDES:
        finer = float(np.clip(strength**TUNING.finer_power, 1.0, TUNING.most_finer)) if public else 1.0
        enough = (TUNING.fast_cells_if_public if public else TUNING.fast_cells)[side]
        fast = min(TUNING.cells * strength**TUNING.fast_power, enough)
        cells = max(finer * TUNING.cells * strength**TUNING.cells_power, fast)
        cells = cells if public else min(cells, people / (groups * TUNING.people_per_cell[side]))
        per_side = min(max(round(cells ** (1 / numbers)), TUNING.fewest_cells[side]), TUNING.most_cells[side])
    else:
        per_side = 2
    return CellGrid(box=tuple(box), per_side=per_side, periods=periods)


def finer_where_used(grid: CellGrid, X: FloatArray) -> CellGrid:
    """The finest grid of which public inputs use no more cells than there are: those that stay empty cost nothing.

    On a plane people stand in towns or along a curve, as ages and weights do, and in cells by their number alone all of
    a town share one. Along one side, and of groups, finer cells gain nothing.

    Args:
        grid: by the number of people.
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
