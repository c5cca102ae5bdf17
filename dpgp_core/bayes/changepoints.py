"""Change points of a curve: steps, and bumps as narrow as a cell, in addition to what its model expects.

A model that is as rough everywhere as a step is at one place needs far more people to be distinguished from a smooth
one, and then knows little anywhere. So along one input every model has f = f_model + sum_l b_l phi_l(x) with a few
change points: b_l ~ N(0, A^2), phi_l is one of a public list of J steps and bumps, each as likely as any other, and a
change point is absent with probability 1 - p, p = ``TUNING.change_point_share``. A step is 1{phi(x) > u} with
u ~ U(0, 1), anywhere between the middles of two cells, and phi is its mean. Bumps are quadratic B-splines, parabolas in
every cell; a part of each is as sharp as a step.

Given a model, everything that stages release is linear in its state, so the effect of a change point on it is known
(the generalised likelihood ratio of Willsky & Jones 1976). With H_i = B_i T_i, D_i what a unit of f adds to the sums of
stage i, L_i L_i^T the covariance of z_i, w_i = L_i^-1 (z_i - E z_i) and Q_i the rows that the stage adds to the state,

    G_i = L_i^-1 (B_i D_i phi - H_i sum_(j < i) Q_j^T G_j):

b adds G_i b to w_i and sum_i Q_i^T G_i b to the state's mean, and w = G b + noise of variance 1 is a regression on J
columns of which at most a few count. Each change point is found given the expected others, in turn (the sum of single
effects of Wang, Sarkar, Carbonetto & Stephens 2020): with q = G^T (w - G E b of the others) and S_j = |g_j|^2,

    p(j | z) / p(none | z) = p / (J (1 - p)) (1 + A^2 S_j)^(-1/2) exp(A^2 q_j^2 / (2 (1 + A^2 S_j))),
    b | j, z ~ N(A^2 q_j / (1 + A^2 S_j), A^2 / (1 + A^2 S_j)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..arrays import FloatArray
from ..gp.grid import IndexArray
from .cells import CellGrid, lagrange
from .clusters import Clusters
from .tuning import TUNING

_ROUNDS, _TOLERANCE = 20, 0.01  # until log evidence rises no more
_FINE, _PLACES = 16, 25  # points of a cell, and values of u, over which the place of a change point is averaged
_EVEN = 2 / 27  # variance of a cell's nodes, at 1/6, 1/2 and 5/6 of it
_TOGETHER = 8  # shapes whose covariances (n, n) are in memory at a time


class ChangePointState(NamedTuple):
    """Posterior of the change points' heights given the released numbers, under A models.

    Attributes:
        G: of all numbers that were read (A, R, J).
        white: w of them (A, R).
        numbers: how many there are of each stage.
        means: E b_l of each shape, 0 where it is not there (A, L, J).
        squares: E b_l^2 likewise (A, L, J).
        log_evidence: log p(z) less what it were without change points; of the variational bound (A,).
    """

    G: FloatArray
    white: FloatArray
    stage_sizes: tuple[int, ...]
    means: FloatArray
    squares: FloatArray
    log_evidence: FloatArray

    def only(self, rows: IndexArray) -> ChangePointState:
        """The state under some of the models."""
        G, white, means, squares, evidence = (
            each[rows] for each in (self.G, self.white, self.means, self.squares, self.log_evidence)
        )
        return ChangePointState(G, white, self.stage_sizes, means, squares, evidence)

    @property
    def mean(self) -> FloatArray:
        """E b of each shape (A, J)."""
        return np.asarray(self.means.sum(axis=1))

    @property
    def square(self) -> FloatArray:
        """Sum of E b_l^2 of each shape (A, J)."""
        return np.asarray(self.squares.sum(axis=1))

    def covariance(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Covariance of ``first`` b and ``second`` b, (A, n, J) and (A, m, J): (A, n, m)."""
        each, other = first @ _T(self.means), second @ _T(self.means)
        return np.asarray((first * self.square[:, None]) @ _T(second) - each @ _T(other))

    def variance(self, effects: FloatArray) -> FloatArray:
        """Variance of ``effects`` b, (A, n, J): (A, n)."""
        square = (effects**2 @ self.square[:, :, None])[..., 0]
        return np.asarray(square - ((effects @ _T(self.means)) ** 2).sum(axis=2))

    @property
    def explained(self) -> FloatArray:
        """What change points take off the expected |w|^2 of each stage (A, S)."""
        fitted = (self.G @ self.mean[:, :, None])[..., 0]
        each = (2 * self.white - fitted) * fitted - self.variance(self.G)
        ends = np.cumsum([0, *self.stage_sizes])
        stages = [each[:, first:last].sum(axis=1) for first, last in pairwise(ends)]
        return np.stack(stages, axis=1) if stages else np.zeros((len(each), 0))


@dataclass(frozen=True, kw_only=True, eq=False)
class ChangePoints:
    """The change points that a curve may have; J = 0 where curves have none.

    Attributes:
        nodes: phi at the nodes (F, J).
        cells: mean over the people of each cell (M, J).
        even: the same of cells filled evenly (M, J).
        sharp: share of the variance of 1{phi > u} that there is (J,).
        people: phi at the mean place of each cell's people (M, J).
        spread: variance of their places over that of a cell's nodes, at most 1 (M,).
        unsure: variance over u of the means of 1{phi > u} over cells filled evenly (M, J).
        variances: A^2 (K,).
    """

    grid: CellGrid | Clusters
    nodes: FloatArray
    cells: FloatArray
    even: FloatArray
    at_mean_location: FloatArray
    spread: FloatArray
    sharp: FloatArray
    step_variance: FloatArray
    variances: FloatArray

    def at(self, X: FloatArray) -> FloatArray:
        """Phi at X (n, D): (n, J)."""
        return _shapes(self.grid, X, len(self.sharp))

    def step_variance_at(self, X: FloatArray) -> FloatArray:
        """Variance over u of 1{phi > u} at X (n, D), less what is seen of it: (n, J)."""
        parts = (share[:, None] * np.abs(off) * (1 - np.abs(off)) for share, _, off in self._seen_from(X))
        return np.asarray(self.sharp * sum(parts))

    def step_covariance(self, X: FloatArray, squares: FloatArray) -> FloatArray:
        """What the unknown u adds to the covariance of f at X (n, D), where E b^2 are these (m, J): (m, n, n).

        Seen from p, 1{phi > u} - 1{p > u} is +-1 where u is between p and phi. Of two such, the mean product is what
        both spans have in common, with their signs, and the product of their means is off_i off_j.
        """
        total = np.zeros((len(squares), len(X) ** 2))
        for share, seen, off in self._seen_from(X):
            of_pairs = np.sqrt(np.outer(share, share))
            for few in np.array_split(np.arange(len(self.sharp)), max(len(self.sharp) // _TOGETHER, 1)):
                first, step = seen.T[few, :, None], off.T[few, :, None]
                low, high, across = np.minimum(first, first + step), np.maximum(first, first + step), (0, 2, 1)
                common = np.minimum(high, high.transpose(across)) - np.maximum(low, low.transpose(across))
                products = step * step.transpose(across)
                each = of_pairs * (np.sign(products) * np.maximum(common, 0.0) - products)
                total += (self.sharp * squares)[:, few] @ each.reshape(len(few), -1)
        return total.reshape(len(squares), len(X), len(X))

    def _seen_from(self, X: FloatArray) -> tuple[tuple[FloatArray, FloatArray, FloatArray], ...]:
        """How X (n, D) are seen: shares of both ways (n,), phi where people are (n, J), and phi at X less that (n, J).

        A sum over people who are spread over a cell does not say where in it a step is. Of people who all stand at one
        place it says f there, wherever the step is: only what is between them and X is open then.
        """
        phi, cells = self.at(X), self.grid.index(X)
        spread, people = self.spread[cells], self.at_mean_location[cells]
        parts = (spread, np.zeros_like(phi), phi), (1 - spread, people, phi - people)
        return tuple(part for part in parts if part[0].any())

    def given_locations(self, grid: CellGrid | Clusters) -> ChangePoints:
        """The same where people's places in the cells are known.

        A mean over people is that of the parabola through a cell's nodes, which is exact for bumps; a step bends in the
        middle of a cell, and is exact where all stand at one place.
        """
        if not len(self.sharp):
            return replace(self, grid=grid, cells=grid.averages(self.nodes))
        [nodes] = grid.offsets(grid.nodes)
        t, square, people = grid.averages(nodes), grid.averages(nodes**2), self.at(grid.averages(grid.nodes))
        parabola = np.einsum("im,mij->mj", lagrange(t), self.nodes.reshape(grid.size, 3, -1))
        spread = np.clip((square - t**2) / _EVEN, 0.0, 1.0)
        cells = grid.averages(self.nodes) + people - parabola
        return replace(self, grid=grid, cells=cells, at_mean_location=people, spread=spread)

    def variances_under(self, noise_variance: float) -> FloatArray:
        """Prior variances A^2 of the heights (K,) under a model of this noise variance."""
        return np.minimum(self.variances, TUNING.most_change_point_variance * noise_variance)

    def within(self, state: ChangePointState) -> FloatArray:
        """What the unknown u adds to the variance of the mean over each cell (A, M)."""
        return np.asarray(self.spread * (state.square @ self.step_variance.T))

    def prior(self, variances: FloatArray) -> ChangePointState:
        """The state before anything was released, where A^2 under each model are these (A, K)."""
        A, J = len(variances), len(self.sharp)
        none, nothing = np.zeros((A, TUNING.most_change_points, J)), np.zeros((A, 0))
        return _found(ChangePointState(np.zeros((A, 0, J)), nothing, (), none, none, np.zeros(A)), variances)

    def updated(
        self, state: ChangePointState, G: FloatArray, white: FloatArray, variances: FloatArray
    ) -> ChangePointState:
        """The state after a stage of r numbers: G (A, r, J), w (A, r) and A^2 (A, K)."""
        read = state._replace(
            G=np.concatenate([state.G, G], axis=1),
            white=np.concatenate([state.white, white], axis=1),
            stage_sizes=(*state.stage_sizes, white.shape[1]),
        )
        return _found(read, variances)


def _T(matrices: FloatArray) -> FloatArray:
    """Each of A matrices transposed."""
    return matrices.swapaxes(1, 2)


def _found(state: ChangePointState, variances: FloatArray) -> ChangePointState:
    """The single effects, each given the expected others, until no bound of the evidence rises any more.

    log p(z) >= w^T G m - (|G m|^2 + sum_l (S^T E b_l^2 - |G m_l|^2)) / 2 - sum_l KL_l, with m_l = E b_l, m their sum,
    and KL_l = q_l^T m_l - S^T E b_l^2 / 2 - log Z_l of the effect's own posterior, Z_l its normaliser. Models whose
    bound has settled leave the iteration.
    """
    if not state.G.shape[2]:
        return state
    means, squares, evidence = state.means.copy(), state.squares.copy(), state.log_evidence.copy()
    G, white, A, rows = state.G, state.white, variances[:, :, None], np.arange(len(means))
    before = np.full(len(rows), -math.inf)
    for _ in range(_ROUNDS):
        means[rows], squares[rows], evidence[rows] = _one_round(G, white, A, means[rows], squares[rows])
        rising = evidence[rows] - before >= _TOLERANCE
        if not rising.any():
            break
        before = evidence[rows][rising]
        rows, G, white, A = rows[rising], G[rising], white[rising], A[rising]
    return state._replace(means=means, squares=squares, log_evidence=evidence)


def _one_round(
    G: FloatArray, white: FloatArray, A: FloatArray, means: FloatArray, squares: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Each effect in turn given the expected others, and the bound of the log evidence then."""
    S = np.einsum("arj,arj->aj", G, G)
    left = A / (1 + A * S[:, None])
    prior = math.log(TUNING.change_point_share / (A.shape[1] * G.shape[2])) - 0.5 * np.log1p(A * S[:, None])
    fitted, least = means @ _T(G), np.zeros(means.shape[:2])
    for effect in range(TUNING.most_change_points):
        others = fitted.sum(axis=1) - fitted[:, effect]
        q = ((white - others)[:, None] @ G)[:, 0]
        each = left * q[:, None]
        logs = prior + 0.5 * each * q[:, None]
        top = np.maximum(logs.max(axis=(1, 2)), 0.0)
        p = np.exp(logs - top[:, None, None])
        total = p.sum(axis=(1, 2)) + (1 - TUNING.change_point_share) * np.exp(-top)
        p /= total[:, None, None]
        means[:, effect], squares[:, effect] = (p * each).sum(axis=1), (p * (left + each**2)).sum(axis=1)
        fitted[:, effect] = (means[:, effect, None] @ _T(G))[:, 0]
        own = 0.5 * (S * squares[:, effect]).sum(axis=1) - (q * means[:, effect]).sum(axis=1)
        least[:, effect] = top + np.log(total) + own
    whole = fitted.sum(axis=1)
    lost = (whole**2).sum(axis=1) + (S * squares.sum(axis=1)).sum(axis=1) - (fitted**2).sum(axis=(1, 2))
    return means, squares, (white * whole).sum(axis=1) - 0.5 * lost + least.sum(axis=1)


def change_points_of(grid: CellGrid | Clusters, variance: float) -> ChangePoints:
    """Steps between cells, and bumps, where there is one side and it is of numbers; else none.

    Args:
        variance: of large curves, in squared model units.
    """
    if grid.dim > 1 or not grid.numeric_sides:
        return no_change_points(grid)
    bumps = sum(len(_middles(grid.parts, width)) for width in TUNING.bump_widths)
    sharp = np.repeat([1.0, TUNING.bump_sharpness], [grid.parts - 1, bumps])
    return _change_points(grid, sharp, variance * np.array(TUNING.change_point_variances))


def no_change_points(grid: CellGrid | Clusters) -> ChangePoints:
    """Of curves that have none."""
    return _change_points(grid, np.zeros(0), np.zeros(0))


def _change_points(grid: CellGrid | Clusters, sharp: FloatArray, variances: FloatArray) -> ChangePoints:
    nodes = _shapes(grid, grid.nodes, len(sharp))
    even = grid.even_averages(nodes)
    change_points = ChangePoints(
        grid=grid,
        nodes=nodes,
        cells=even,
        even=even,
        at_mean_location=even,
        spread=np.ones(grid.size),
        sharp=sharp,
        step_variance=sharp * _step_variance(grid, len(sharp)),
        variances=variances,
    )
    return change_points.given_locations(grid)


def _middles(steps: int, width: int) -> FloatArray:
    """Of bumps, in cells: their knots, (width, 3 width) / 2 away, are edges of cells."""
    return np.arange(1.0, steps) if width % 2 == 0 else np.arange(0.5, steps)


def _shapes(grid: CellGrid | Clusters, X: FloatArray, J: int) -> FloatArray:
    """Phi at X (n, D): (n, J)."""
    if not J:
        return np.zeros((len(X), 0))
    low, high = grid.sides[0]
    along = (X[:, :1] - low) / (high - low) * grid.parts
    shapes = [np.clip(along - np.arange(0.5, grid.parts - 1), 0, 1)]
    for width in TUNING.bump_widths:
        t = np.abs(along - _middles(grid.parts, width)) / width
        shapes.append(np.where(t < 0.5, 1 - t**2 / 0.75, np.maximum(1.5 - t, 0.0) ** 2 / 1.5))
    return np.hstack(shapes)


def _step_variance(grid: CellGrid | Clusters, J: int) -> FloatArray:
    """Variance over u of the mean of 1{phi > u} over each cell (M, J)."""
    if not J:
        return np.zeros((grid.size, 0))
    points = grid.within_each(_FINE)
    phi = _shapes(grid, points, J).reshape(grid.size, _FINE, -1)
    means = np.stack([(phi > u).mean(axis=1) for u in (np.arange(_PLACES) + 0.5) / _PLACES])
    return np.asarray(means.var(axis=0))
