"""Public cells over the declared box, public functions on a finer public grid, and how many records lie in each cell.

A record is placed by its own input alone, clipped to the box first: no finite number is refused, and no product mixes
records. Counts are released, or public; they need not be exact for a cell's sum to say much about the curve.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.ndimage import map_coordinates
from scipy.special import expit, log_ndtr, softmax
from scipy.stats import norm

from ..arrays import FloatArray
from ..gp.grid import Grid
from ..gp.pivoted import factorise
from ..kernels import EQ, AcrossLevels, Kernel
from ..levels import groups_of, level_columns, number_sides
from ..linalg import sturdy_cholesky
from ..measurement.integers import GRID, person_weights
from ..measurement.measurement import Cells
from ..measurement.statistics import cells_along, nodes_along
from ..seasons import Periods, lifted, lifted_box

FEWEST = {1: 12, 2: 4, 3: 2}
"""Cells along each side at least, by the number of sides that are of numbers."""
MOST = {1: 90, 2: 20, 3: 8}
"""The same at most."""
PER_SIDE_BY_PHASE = {1: 12, 2: 8}
"""The same of boxes whose cells are divided by phase too."""
_CELLS, _STRENGTH, _POWER = 16, 80, 0.4  # cells of a group at this n / s, and how they grow with it
_FAST = 1.5  # how they grow on two and three sides at first
_ENOUGH = {False: {1: 0, 2: 81, 3: 216}, True: {1: 0, 2: 0, 3: 216}}
"""Up to how many, by whether inputs are public and the number of sides."""
_CROWD = {1: 8, 2: 4, 3: 4}
"""People in a cell on average, at least, where counts are noisy: whole numbers near 0 are no Gaussians."""
_TIMES = 2  # as many cells along a side at most where public inputs leave most of them empty
_PUBLIC, _FINER = 2.0, 0.25  # times as many cells at most where counts are public, and how that grows with n / s
_LENGTHSCALE = 0.15  # of the box's sides: how fast the density of records may vary
_DENSITY = 2.0  # of that density over its mean squared
_SHARED = 0.5  # of it, the share common to groups: where records lie, but not how many there are
ROUGHNESS = (0.0, 0.03, 0.3, 3.0, 10.0, 30.0)  # tau: variance of a cell's own people, over its mean squared
ROUGH = 3.0  # the least tau whose cells may be empty
_TINY = 1e-6  # of a variance that is left
_FAR = 1e4  # most standard deviations that are distinguished
_ROUNDS = 10  # until the share of empty cells agrees with the cells that are taken for empty


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
        """Middles of the cells (M, D + K), in the order of ``index``."""
        return self._points(self.shape)

    @cached_property
    def nodes(self) -> FloatArray:
        """The finer grid (F, D + K)."""
        return self._points(self.fine)

    def index(self, X: FloatArray) -> Cells:
        """Cell of each record X (n, D) in 0 ... M - 1; inputs outside the box count at its edge. Private."""
        return Grid(box=self.sides, bins=self.shape).index(self._lifted(X))

    def at(self, X: FloatArray, values: FloatArray) -> FloatArray:
        """Linear interpolation (n,) at X (n, D) of ``values`` (F,) at the nodes; none between levels."""
        low, high = np.array(self.sides).T
        coordinates = ((self._lifted(X) - low) / (high - low)).T * np.array(self.fine)[:, None] - 0.5
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

    def _lifted(self, X: FloatArray) -> FloatArray:
        """Inputs clipped to the box, and their phases (n, D + K)."""
        low, high = np.array(self.sides).T
        return lifted(np.clip(X, low[: X.shape[1]], high[: X.shape[1]]), self.periods)

    @property
    def _split(self) -> tuple[int, ...]:
        """Cells and nodes of each along each side in turn."""
        return tuple(
            count for cells, fine in zip(self.shape, self.fine, strict=True) for count in (cells, fine // cells)
        )

    def _points(self, counts: Sequence[int]) -> FloatArray:
        """So many along each side; along categories, the numbers of levels."""
        points, levels = Grid(box=self.sides, bins=tuple(counts)).centres, list(level_columns(self.sides))
        points[:, levels] = np.rint(points[:, levels])
        return points


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
    4 x 4 by 2.3. On planes of public inputs ``finer_where_used`` does the rest.

    Args:
        box: D public (low, high) pairs, D from 1 to 3 without categories.
        people: n.
        noise_multiplier: s of the whole budget.
        public: whether inputs are, so that counts need no noise.

    Raises:
        ValueError: the box has more than 3 sides of numbers, periods included.
    """
    numbers, groups = len(number_sides(box)), groups_of(box)
    if periods:
        per_side = max(2, round(PER_SIDE_BY_PHASE.get(numbers, 2) / groups ** (0.5 / max(numbers, 1))))
    elif numbers in MOST:
        strength = people / (groups * _STRENGTH * noise_multiplier)
        finer = float(np.clip(strength**_FINER, 1.0, _PUBLIC)) if public else 1.0
        fast = min(_CELLS * strength**_FAST, _ENOUGH[public][numbers])
        cells = max(finer * _CELLS * strength**_POWER, fast)
        cells = cells if public else min(cells, people / (groups * _CROWD[numbers]))
        per_side = min(max(round(cells ** (1 / numbers)), FEWEST[numbers]), MOST[numbers])
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
    for per_side in range(min(_TIMES * grid.per_side, MOST[numbers]), grid.per_side, -1):
        finer = replace(grid, per_side=per_side)
        if len(np.unique(finer.index(X))) <= grid.size:
            return finer
    return grid


class Counts(NamedTuple):
    """Gaussian posterior of the numbers N of records in M cells, all public.

    Attributes:
        mean: n^, of sum n (M,); below 0 by chance where few are.
        covariance: (M, M).
        misfit: |w|^2 of the noisy counts and how many they are, see ``measurement.fit``; None where counts are public.
    """

    mean: FloatArray
    covariance: FloatArray
    misfit: tuple[float, int] | None = None

    @property
    def numbers(self) -> FloatArray:
        """N^ where it is above 0, else 0 (M,), for variances and shares of the records."""
        return np.maximum(self.mean, 0.0)


def counts_given(
    grid: CellGrid, n: int, B: FloatArray, noise_sd: float, z: FloatArray, *, rough: bool = True
) -> Counts:
    """Posterior of N given noisy counts z = B N + noise, and that all N add up to n.

    Prior: mean n / M, covariance (n / M)^2 2 EQ(.15 of the box) + (n / M + tau (n / M)^2) I, for every tau of
    ``ROUGHNESS``, weighted by the evidence of z.

    Args:
        B: strategy (r, M): I, each cell by itself. One planned for a smooth density errs by a tenth less where inputs
            are even, and by two to three times as much where they stand in towns or along a curve.
        noise_sd: standard deviation of the noise on each entry of z.
        z: released (r,).
        rough: whether counts may be; False for releases that were made, and are read, as if they were not.
    """
    root, mean = _root(grid, n), n / grid.size
    H = np.vstack([B, np.full(grid.size, 1 / np.sqrt(grid.size))])
    # the last row is the public total: of no noise to speak of, and S stays well conditioned
    noise = np.array([*np.full(len(B), noise_sd**2), 1e-8 * mean])
    surprise = np.concatenate([z, [n / np.sqrt(grid.size)]]) - H @ np.full(grid.size, mean)
    HU, HH = H @ root, H @ H.T
    smooth, each, logs, squares = root @ root.T, list[tuple[FloatArray, FloatArray]](), list[float](), list[float]()
    for tau in ROUGHNESS if rough else ROUGHNESS[:1]:
        own = mean + tau * mean**2
        L = sturdy_cholesky(HU @ HU.T + own * HH + np.diag(noise), noise.min())
        w, Q = solve_triangular(L, surprise, lower=True), solve_triangular(L, HU @ root.T + own * H, lower=True)
        squares.append(float(w @ w))
        logs.append(-0.5 * squares[-1] - float(np.log(L.diagonal()).sum()))
        posterior = mean + w @ Q, smooth + own * np.eye(grid.size) - Q.T @ Q
        if not rough:
            each.append(posterior)
        elif tau < ROUGH:
            each.append(_not_negative(*posterior, n))
        else:
            each.append(_or_empty(*posterior, smooth.diagonal() + own, n))
    weights = softmax(logs)
    expected = weights @ np.stack([m for m, _ in each])
    covariance = np.zeros_like(smooth)
    for weight, (m, C) in zip(weights, each, strict=True):
        covariance += weight * (C + np.outer(m - expected, m - expected))
    return Counts(expected + (n - expected.sum()) / grid.size, covariance, (float(weights @ squares), len(z)))


def _not_negative(mean: FloatArray, K: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """Mean (M,) and covariance (M, M) of counts that cannot be below 0, from those of a Gaussian posterior.

    Where few people are in a cell, noise may say that fewer than none are, and a curve is then read from a sum over -2
    people that were 1. Each cell's own N(m, v) is cut at 0: with z = m / sqrt v, h = phi(z) / Phi(z),

        E N = m + sqrt v h,    var N = v (1 - h (h + z)).
    """
    variance = np.maximum(K.diagonal(), _TINY**2 * n / len(mean))
    expected, variances = _above_zero(mean, variance)
    return _of_marginals(expected, variances, K, variance, n)


def _above_zero(m: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of N(m, v) cut at 0."""
    sd = np.sqrt(v)
    z = np.maximum(m / sd, -_FAR)
    hazard = np.exp(norm.logpdf(z) - log_ndtr(z))
    return m + sd * hazard, v * np.clip(1 - hazard * (hazard + z), _TINY, 1.0)


def _of_marginals(
    expected: FloatArray, variances: FloatArray, K: FloatArray, variance: FloatArray, n: int
) -> tuple[FloatArray, FloatArray]:
    """Mean and covariance of such marginals, with correlations as they are in K, of the sum n.

    P keeps the sum n, taking the excess from each cell by its variance.
    """
    shrunk, taken = np.sqrt(variances / variance), variances / variances.sum()
    P = np.eye(len(expected)) - taken[:, None]
    return expected + (n - expected.sum()) * taken, P @ (K * np.outer(shrunk, shrunk)) @ P.T


def _or_empty(mean: FloatArray, K: FloatArray, V: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """Mean (M,) and covariance (M, M) of counts that may be 0, from those of a Gaussian prior of variances V (M,).

    Inputs on few values leave most cells empty, and a Gaussian prior wide enough for the full ones leaves an empty cell
    as many people as its noise says. Strategies that look for these people add them all up, with their signs, and find
    none; no covariance says so, since n^ - N is then n^ itself. So the observation of a cell, N(m, v) with
    1 / v = 1 / K_cc - 1 / V_c and m = n / M + v / K_cc (mean - n / M), meets another prior: empty with probability pi,
    else exponential with rate r = (1 - pi) M / n, as all numbers that are full together make n:

        p(m | empty) = phi(m / sqrt v) / sqrt v,
        p(m | full) = r exp(r (r v / 2 - m)) Phi((m - r v) / sqrt v),    N then normal of mean m - r v, cut at 0.

    pi is the mean of P(empty | m). Correlations stay as they were, and the sum is n.
    """
    M, variance = len(mean), np.maximum(K.diagonal(), _TINY**2 * V)
    v = 1 / np.maximum(1 / variance - 1 / V, _TINY / V)
    m, sd = n / M + v / variance * (mean - n / M), np.sqrt(v)
    log_empty, share = norm.logpdf(np.clip(m / sd, -_FAR, _FAR)) - np.log(sd), 0.5
    for _ in range(_ROUNDS):
        r = (1 - share) * M / n
        log_full = np.log(r) + r * (r * v / 2 - m) + log_ndtr(np.maximum((m - r * v) / sd, -_FAR))
        full = expit(log_full - log_empty + math.log((1 - share) / share))
        share = float(np.clip(1 - full.mean(), 0.5 / M, 1 - 0.5 / M))
    above, left = _above_zero(m - r * v, v)
    return _of_marginals(full * above, full * (left + (1 - full) * above**2) + _TINY**2 * V, K, variance, n)


def public_counts(grid: CellGrid, X: FloatArray, person: NDArray[np.generic] | None = None) -> Counts:
    """The numbers of records in the cells where inputs X (n, D) are public: exact, and free; of people, by weights."""
    weights = None if person is None else person_weights(person) / GRID
    return known_counts(np.bincount(grid.index(X), weights, minlength=grid.size).astype(float))


def known_counts(numbers: FloatArray) -> Counts:
    """Numbers of records (M,) that are public."""
    return Counts(numbers, np.zeros((len(numbers), len(numbers))))


def _root(grid: CellGrid, n: int) -> FloatArray:
    lengths = [math.ldexp(_LENGTHSCALE * (high / 2 - low / 2), 1) for low, high in number_sides(grid.sides)]
    along = EQ(variance=_DENSITY * (n / grid.size) ** 2, lengthscale=lengths)
    columns = level_columns(grid.sides)
    kernel: Kernel = AcrossLevels(inner=along, columns=columns, shared=_SHARED) if columns else along
    return factorise(kernel, grid.centres, 1e-6).features.values()
