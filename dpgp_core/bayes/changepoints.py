"""Change points of a curve, that is steps, bumps and plateaus, and their posterior given the released numbers.

A Gaussian process that is rough everywhere describes a single step poorly: it takes many records to distinguish it from
a smooth one, and its intervals are wide everywhere. Along one input every model is therefore
f = f_model + sum_l b_l chi_l(x). "The model" in docs/bayes_cloaking.md has the prior of the terms. Each chi_l is one
of J shapes chi:

* A step is at an unknown location between the middles of two neighbouring parts of the box. Its shape chi is the mean
  over this location, which rises linearly from 0 to 1. The step itself is 1{chi(x) > u} with unknown u ~ U(0, 1).
* Bumps are quadratic B-splines with knots at edges of parts.
* A plateau is a step up and an equal step down with the same u. It needs a shape of its own because effects are fitted
  one at a time, and neither of two steps alone explains a plateau. The ramps of its steps may be longer than a part, so
  that few plateaus suffice.
* A *mass* is an input with far more records than others. Its shape is 1 there and 0 elsewhere.

"Change points" in the same document derives the effect G (R, J) of a unit of each change point on the whitened
measurements w (R,), and with it the sparse regression w = G b + N(0, I). Its effects are fitted one at a time, each
given the expectation of the others (the sum of single effects of Wang, Sarkar, Carbonetto & Stephens 2020). Let w_- be
w minus the expected contribution of the other effects, score_j = G_j^T w_- and S_j = |G_j|^2 for the column G_j. Then

    p(j | z) / p(none | z) = p_j / (1 - sum_i p_i) (1 + v_b S_j)^(-1/2) exp(v_b score_j^2 / (2 (1 + v_b S_j))),
    b | j, z ~ N(v_b score_j / (1 + v_b S_j), v_b / (1 + v_b S_j)),

where p_j is the prior probability of shape j.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..arrays import FloatArray
from ..gp.grid import IndexArray
from .cells import CellGrid, lagrange
from .clusters import Bins, Clusters
from .counts import RecordCounts
from .tuning import TUNING

_ROUNDS, _TOLERANCE = 20, 0.01  # most iterations, and increase of the log evidence at which they end
_FINE, _LOCATIONS = 16, 25  # number of points of a cell, and of values of u, over which steps are averaged
_EVEN = 2 / 27  # variance of the nodes of a cell, at 1/6, 1/2 and 5/6 of it
_SAME = 1e-9  # difference of locations that count as equal, over the side of the box
_BATCH = 8  # number of shapes whose covariances (n, n) are in memory at a time


class ChangePointState(NamedTuple):
    """Posterior of the heights of L change points given the released numbers, under A models.

    Arrays (A, n, J) are large, so that their products are computed for one model at a time.

    Attributes:
        G: effect of each shape, for unit height, on the whitened measurements (A, R, J).
        white: the whitened measurements w (A, R).
        stage_sizes: how many numbers each stage released.
        means: E (b_l 1{shape of l is j}) (A, L, J).
        squares: E (b_l^2 1{shape of l is j}) (A, L, J).
        log_evidence: variational lower bound of log p(z), minus log p(z) without change points (A,).
    """

    G: FloatArray
    white: FloatArray
    stage_sizes: tuple[int, ...]
    means: FloatArray
    squares: FloatArray
    log_evidence: FloatArray

    def only(self, rows: IndexArray) -> ChangePointState:
        """Return the state under the models with the indices ``rows``."""
        G, white, means, squares, evidence = (
            each[rows] for each in (self.G, self.white, self.means, self.squares, self.log_evidence)
        )
        return ChangePointState(G, white, self.stage_sizes, means, squares, evidence)

    @property
    def mean(self) -> FloatArray:
        """Expected height of each shape (A, J), summed over the change points."""
        return np.asarray(self.means.sum(axis=1))

    @property
    def square(self) -> FloatArray:
        """Expected squared height of each shape (A, J), summed over the change points."""
        return np.asarray(self.squares.sum(axis=1))

    def covariance(self, effects: FloatArray) -> FloatArray:
        """Return the covariance (A, n, n) of ``effects`` b, with effects (A, n, J)."""
        found, sds = np.empty((*effects.shape[:2], effects.shape[1])), np.sqrt(self.square)
        for each, sd, means, covariance in zip(effects, sds, self.means, found, strict=True):
            scaled, expected = each * sd, each @ means.T
            np.subtract(scaled @ scaled.T, expected @ expected.T, out=covariance)
        return found

    def variance(self, effects: FloatArray) -> FloatArray:
        """Return the variance (A, n) of ``effects`` b, with effects (A, n, J)."""
        square = np.stack([each**2 @ square for each, square in zip(effects, self.square, strict=True)])
        return np.asarray(square - ((effects @ _T(self.means)) ** 2).sum(axis=2))

    @property
    def explained(self) -> FloatArray:
        """Expected part of |w|^2 of each stage that change points explain (A, number of stages)."""
        fitted = (self.G @ self.mean[:, :, None])[..., 0]
        each = (2 * self.white - fitted) * fitted - self.variance(self.G)
        ends = np.cumsum([0, *self.stage_sizes])
        stages = [each[:, first:last].sum(axis=1) for first, last in pairwise(ends)]
        return np.stack(stages, axis=1) if stages else np.zeros((len(each), 0))


@dataclass(frozen=True, kw_only=True, eq=False)
class ChangePoints:
    """The shapes of the change points that a curve may have; J = 0 if curves have none.

    Attributes:
        bins: cells or clusters.
        nodes: chi at the nodes (F, J).
        over_bins: means of chi over the records of each bin (M, J).
        even: means of chi over evenly spread records of each bin (M, J).
        at_mean_location: chi at the mean location of the records of each bin (M, J).
        spread: variance of the locations within each bin, divided by that of evenly spread records, at most 1 (M,).
        step_share: share of the variance of 1{chi > u} over the unknown u that is added for each shape (J,): 1 for
            steps and plateaus, ``TUNING.bump_sharpness`` for bumps, and 0 for masses.
        step_variance: ``step_share`` times the variance over u of the means of 1{chi > u} over evenly spread
            records (M, J).
        variances: possible prior variances v_b of the heights, equally likely (V,).
        masses: locations of the masses (I,), whose shapes are the last I of the J shapes.
        plateau_share: prior probability that each change point is a plateau.
    """

    bins: Bins
    nodes: FloatArray
    over_bins: FloatArray
    even: FloatArray
    at_mean_location: FloatArray
    spread: FloatArray
    step_share: FloatArray
    step_variance: FloatArray
    variances: FloatArray
    masses: FloatArray
    plateau_share: float = TUNING.plateau_share

    @cached_property
    def log_prior(self) -> FloatArray:
        """Prior log probability that a change point is present and has each shape (J,)."""
        steps, bumps, plateaus = _numbers(self.bins) if len(self.step_share) else (0, 0, 0)
        shares = TUNING.change_point_share, self.plateau_share, TUNING.mass_share
        numbers = np.array([steps + bumps, plateaus, len(self.masses)])
        return np.asarray(np.log(np.repeat(shares / np.maximum(numbers, 1), numbers)))

    def at(self, X: FloatArray) -> FloatArray:
        """Return chi at X (n, D), an array (n, J)."""
        if not len(self.masses):
            return _shapes(self.bins, X, len(self.step_share))
        low, high = self.bins.sides[0]
        there = np.abs(np.clip(X[:, :1], low, high) - self.masses) <= _SAME * (high - low)
        return np.hstack([_shapes(self.bins, X, len(self.step_share) - len(self.masses)), there])

    def with_masses(self, masses: FloatArray, shares: FloatArray) -> ChangePoints:
        """Return the shapes with the given masses, which replace all others.

        Args:
            masses: locations of the masses (I,).
            shares: share of the records of each bin that is at each of them (M, I).
        """
        steps = len(self.step_share) - len(self.masses)

        def added(before: FloatArray, more: FloatArray) -> FloatArray:
            return np.concatenate([before[..., :steps], more], axis=-1)

        return replace(
            self,
            nodes=added(self.nodes, np.repeat(shares, len(self.nodes) // len(shares), axis=0)),
            over_bins=added(self.over_bins, shares),
            even=added(self.even, shares),
            at_mean_location=added(self.at_mean_location, shares),
            step_variance=added(self.step_variance, np.zeros_like(shares)),
            step_share=added(self.step_share, np.zeros(len(masses))),
            masses=masses,
        )

    def step_variance_at(self, X: FloatArray) -> FloatArray:
        """Return the variance of 1{chi(X) > u}, X (n, D), that is due to the unknown u of a step (n, J)."""
        parts = (share[:, None] * np.abs(off) * (1 - np.abs(off)) for share, _, off in self._known_parts(X))
        return np.asarray(self.step_share * sum(parts))

    def step_covariance(self, X: FloatArray, squares: FloatArray) -> FloatArray:
        """Return the covariance of f at X (n, D) that is due to the unknown locations of steps (m, n, n).

        If the sums determine f where chi has the value t, the unknown part of a step at x is 1{chi(x) > u} - 1{t > u}.
        It is 1 or -1 if u lies between t and chi(x), and 0 otherwise, so that its mean is off = chi(x) - t. The product
        of two such variables is 1 or -1 if u lies in both intervals. Their covariance is therefore the length of the
        overlap of the intervals, with the sign of off_i off_j, minus off_i off_j.

        Args:
            X: inputs (n, D).
            squares: expected squared heights of the shapes under each of m models (m, J).
        """
        total = np.zeros((len(squares), len(X) ** 2))
        for share, known, off in self._known_parts(X):
            of_pairs = np.sqrt(np.outer(share, share))
            for few in np.array_split(np.arange(len(self.step_share)), max(len(self.step_share) // _BATCH, 1)):
                first, step = known.T[few, :, None], off.T[few, :, None]
                low, high, across = np.minimum(first, first + step), np.maximum(first, first + step), (0, 2, 1)
                common = np.minimum(high, high.transpose(across)) - np.maximum(low, low.transpose(across))
                products = step * step.transpose(across)
                each = of_pairs * (np.sign(products) * np.maximum(common, 0.0) - products)
                total += (self.step_share * squares)[:, few] @ each.reshape(len(few), -1)
        return total.reshape(len(squares), len(X), len(X))

    def _known_parts(self, X: FloatArray) -> tuple[tuple[FloatArray, FloatArray, FloatArray], ...]:
        """Split chi at X (n, D) into a part that the sums determine, and a part that depends on the unknown u.

        There are two extreme cases. If records are spread over a bin, their sum does not determine where in it a step
        is, and all of chi(X) is unknown. If all records are at one location, their sum determines f there wherever the
        step is, and only the difference between this location and X is unknown. The first case has the weight
        ``spread``, and the second one the weight 1 - ``spread``.

        Returns:
            For each of the two cases: its weight (n,), chi where f is determined (n, J), and the rest of chi (n, J).
        """
        chi, at = self.at(X), self.bins.index(X)
        spread, at_mean = self.spread[at], self.at_mean_location[at]
        parts = (spread, np.zeros_like(chi), chi), (1 - spread, at_mean, chi - at_mean)
        return tuple(part for part in parts if part[0].any())

    def given_locations(self, bins: Bins) -> ChangePoints:
        """Return the shapes for bins in which the locations of the records are known.

        The mean of chi over the records of a bin is computed from the polynomial through its nodes, which is exact
        for bumps. The chi of a step has a kink in the middle of a part. Its mean is corrected so that it is exact if
        all records of the bin are at one location.
        """
        if not len(self.step_share):
            return replace(self, bins=bins, over_bins=bins.averages(self.nodes))
        [nodes] = bins.offsets(bins.nodes)
        t, square, at_mean = bins.averages(nodes), bins.averages(nodes**2), self.at(bins.averages(bins.nodes))
        parabola = np.einsum("im,mij->mj", lagrange(t), self.nodes.reshape(bins.size, 3, -1))
        spread = np.clip((square - t**2) / _EVEN, 0.0, 1.0)
        over_bins = bins.averages(self.nodes) + at_mean - parabola
        return replace(self, bins=bins, over_bins=over_bins, at_mean_location=at_mean, spread=spread)

    def variances_under(self, noise_variance: float) -> FloatArray:
        """Return the prior variances v_b of the heights (V,) under a model with this noise variance."""
        return np.minimum(self.variances, TUNING.most_change_point_variance * noise_variance)

    def within(self, state: ChangePointState) -> FloatArray:
        """Return the variance of the mean of f over each bin that is due to unknown locations of steps (A, M)."""
        return np.asarray(self.spread * (state.square @ self.step_variance.T))

    def prior(self, variances: FloatArray) -> ChangePointState:
        """Return the state before anything is released, given v_b under each model (A, V)."""
        A, J = len(variances), len(self.step_share)
        none, nothing = np.zeros((A, TUNING.most_change_points, J)), np.zeros((A, 0))
        state = ChangePointState(np.zeros((A, 0, J)), nothing, (), none, none, np.zeros(A))
        return _fitted(state, variances, self.log_prior)

    def updated(
        self, state: ChangePointState, G: FloatArray, white: FloatArray, variances: FloatArray
    ) -> ChangePointState:
        """Return the state after a stage that released r numbers.

        Args:
            G: effects of the shapes on the whitened numbers (A, r, J).
            white: the whitened numbers w (A, r).
            variances: v_b under each model (A, V).
        """
        read = state._replace(
            G=np.concatenate([state.G, G], axis=1),
            white=np.concatenate([state.white, white], axis=1),
            stage_sizes=(*state.stage_sizes, white.shape[1]),
        )
        return _fitted(read, variances, self.log_prior)


def single_effects(G: FloatArray, white: FloatArray, variances: FloatArray, log_prior: FloatArray) -> ChangePointState:
    """Return the posterior of at most three terms b chi, each of which has one of J shapes.

    Args:
        G: effect of each shape, for unit height, on the whitened numbers (A, R, J).
        white: the whitened numbers w (A, R).
        variances: possible prior variances v_b of the heights under each model (A, V).
        log_prior: log probability that a term is present and has each shape (J,).
    """
    none = np.zeros((len(G), TUNING.most_change_points, G.shape[2]))
    state = ChangePointState(G, white, (white.shape[1],), none, none, np.zeros(len(G)))
    return _fitted(state, variances, log_prior)


def _T(matrices: FloatArray) -> FloatArray:
    """Return the transposes of A matrices."""
    return matrices.swapaxes(1, 2)


def _fitted(state: ChangePointState, variances: FloatArray, log_prior: FloatArray) -> ChangePointState:
    """Fit the single effects in turn, each given the expectation of the others, until the evidence bound converges.

    The bound is

        log p(z) >= w^T G m - (|G m|^2 + sum_l (S^T E b_l^2 - |G m_l|^2)) / 2 - sum_l KL_l,
        KL_l = score_l^T m_l - S^T E b_l^2 / 2 - log Z_l,

    with m_l = E b_l, m = sum_l m_l, and KL_l the divergence of the posterior of effect l, whose normaliser is Z_l, from
    its prior. Models for which the bound has converged leave the iteration.
    """
    if not state.G.shape[2]:
        return state
    means, squares, evidence = state.means.copy(), state.squares.copy(), state.log_evidence.copy()
    rows, before = np.arange(len(means)), np.full(len(means), -math.inf)
    S, v_b = np.einsum("arj,arj->aj", state.G, state.G), variances[:, :, None]
    prior = log_prior - math.log(v_b.shape[1]) - 0.5 * np.log1p(v_b * S[:, None])
    regression = _Regression(state.G, state.white, S, v_b / (1 + v_b * S[:, None]), prior)
    absent = 1 - float(np.exp(log_prior).sum())
    for _ in range(_ROUNDS):
        means[rows], squares[rows], evidence[rows] = _one_round(regression, absent, means[rows], squares[rows])
        rising = evidence[rows] - before >= _TOLERANCE
        if not rising.any():
            break
        rows, before = rows[rising], evidence[rows][rising]
        regression = _Regression(*(each[rising] for each in regression))
    return state._replace(means=means, squares=squares, log_evidence=evidence)


class _Regression(NamedTuple):
    """The part of a fit of the heights that is the same in all rounds, under A models.

    Attributes:
        G, white: see ``ChangePointState``.
        S: squared norms of the columns of G (A, J).
        variance: posterior variance of a height given its shape and its prior variance v_b (A, V, J).
        prior: log of the prior probability of each shape and v_b, times (1 + v_b S)^(-1/2) (A, V, J).
    """

    G: FloatArray
    white: FloatArray
    S: FloatArray
    variance: FloatArray
    prior: FloatArray


def _one_round(
    regression: _Regression, absent: float, means: FloatArray, squares: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Update each effect in turn given the expectation of the others.

    Args:
        absent: prior probability that an effect is absent.
        means, squares: see ``ChangePointState``.

    Returns:
        The new means and squares (A, L, J), and the bound of the log evidence (A,).
    """
    G, white, S, variance, prior = regression
    fitted, minus_KL = means @ _T(G), np.zeros(means.shape[:2])
    for effect in range(TUNING.most_change_points):
        others = fitted.sum(axis=1) - fitted[:, effect]
        score = ((white - others)[:, None] @ G)[:, 0]
        # arrays (A, V, J) are changed in place, because they exceed the caches of a processor
        each = variance * score[:, None]
        p = 0.5 * each
        p *= score[:, None]
        p += prior
        top = np.maximum(p.max(axis=(1, 2)), 0.0)
        p -= top[:, None, None]
        np.exp(p, out=p)
        total = p.sum(axis=(1, 2)) + absent * np.exp(-top)
        p /= total[:, None, None]
        means[:, effect] = (p * each).sum(axis=1)
        each *= each
        each += variance
        each *= p
        squares[:, effect] = each.sum(axis=1)
        fitted[:, effect] = (means[:, effect, None] @ _T(G))[:, 0]
        own = 0.5 * (S * squares[:, effect]).sum(axis=1) - (score * means[:, effect]).sum(axis=1)
        minus_KL[:, effect] = top + np.log(total) + own  # top + log(total) is log Z
    Gm = fitted.sum(axis=1)
    quadratic = (Gm**2).sum(axis=1) + (S * squares.sum(axis=1)).sum(axis=1) - (fitted**2).sum(axis=(1, 2))
    return means, squares, (white * Gm).sum(axis=1) - 0.5 * quadratic + minus_KL.sum(axis=1)


def change_points_of(bins: Bins, variance: float) -> ChangePoints:
    """Return the shapes of steps, bumps, plateaus and public masses, if there is one numerical input and no other.

    Args:
        variance: prior variance of curves with large deviations from their mean level, in squared model units.
    """
    if bins.dim > 1 or not bins.numeric_sides:
        return no_change_points(bins)
    step_share = np.repeat([1.0, TUNING.bump_sharpness, 1.0], _numbers(bins))
    change_points = _change_points(bins, step_share, variance * np.array(TUNING.change_point_variances))
    if isinstance(bins, CellGrid):
        return change_points
    share = bins.node_sums.reshape(bins.size, -1).sum(axis=1) / bins.node_sums.sum()
    heavy = share >= max(TUNING.least_mass, TUNING.mass_over_mean / bins.size)
    heavy[1:-1] = False  # within the box, a step at every mass would widen the intervals of smooth curves
    rows = np.flatnonzero(heavy & (np.ptp(bins.ends, axis=0)[:, 0] == 0))
    return change_points.with_masses(bins.ends[0, rows, 0], np.eye(bins.size)[:, rows])


def with_masses_at_ends(change_points: ChangePoints, counts: RecordCounts) -> ChangePoints:
    """Return the shapes with masses at those ends of the box at which noisy counts identify one.

    Args:
        change_points: the shapes on cells of one numerical input.
        counts: posterior of the numbers of records in the cells.
    """
    bins, n = change_points.bins, counts.mean
    if isinstance(bins, Clusters) or not len(change_points.step_share):
        return change_points
    masses, shares = [], []
    for end, cell, neighbour in zip(bins.sides[0], (0, -1), (1, -2), strict=True):
        additional = n[cell] - max(n[neighbour], 0.0)
        contrast = np.zeros(bins.size)
        contrast[[cell, neighbour]] = 1, -1
        noise = math.sqrt(contrast @ counts.covariance @ contrast + max(n[cell], 0.0))
        if additional > max(TUNING.least_mass * n.sum(), TUNING.clear_mass * noise):
            masses.append(end)
            shares.append(np.where(np.arange(bins.size) == cell % bins.size, additional / n[cell], 0.0))
    return change_points.with_masses(np.array(masses), np.reshape(shares, (len(masses), bins.size)).T)


def no_change_points(bins: Bins) -> ChangePoints:
    """Return the empty set of shapes, J = 0, for curves without change points."""
    return _change_points(bins, np.zeros(0), np.zeros(0))


def _change_points(bins: Bins, step_share: FloatArray, variances: FloatArray) -> ChangePoints:
    nodes = _shapes(bins, bins.nodes, len(step_share))
    even = bins.even_averages(nodes)
    change_points = ChangePoints(
        bins=bins,
        nodes=nodes,
        over_bins=even,
        even=even,
        at_mean_location=even,
        spread=np.ones(bins.size),
        step_share=step_share,
        step_variance=step_share * _step_variance(bins, len(step_share)),
        variances=variances,
        masses=np.zeros(0),
    )
    return change_points.given_locations(bins)


def _middles(steps: int, width: int) -> FloatArray:
    """Return the middles of bumps with this width, in units of a part of the box.

    The knots of a bump are width / 2 and 3 width / 2 from its middle, and are edges of parts.
    """
    return np.arange(1.0, steps) if width % 2 == 0 else np.arange(0.5, steps)


def _numbers(bins: Bins) -> tuple[int, int, int]:
    """Return the numbers of steps, bumps and plateaus."""
    bumps = sum(len(_middles(bins.size, width)) for width in TUNING.bump_widths)
    plateaus = sum(len(starts) for _, _, starts in _plateaus(bins.size))
    return bins.size - 1, bumps, plateaus


def _plateaus(parts: int) -> list[tuple[int, int, FloatArray]]:
    """Return the widths of plateaus, the lengths of their ramps, and where the first ramps start.

    All are in units of a part of the box. Plateaus that are no wider than bumps are left out.
    """
    widths = sorted({round(share * parts) for share in TUNING.plateau_widths})
    each = [(width, max(int(width * TUNING.plateau_ramp), 1)) for width in widths if width > max(TUNING.bump_widths)]
    return [(width, ramp, np.arange(0.5, parts - width - ramp, ramp)) for width, ramp in each]


def _shapes(bins: Bins, X: FloatArray, J: int) -> FloatArray:
    """Return chi at X (n, D), an array (n, J)."""
    if not J:
        return np.zeros((len(X), 0))
    low, high = bins.sides[0]
    along = (X[:, :1] - low) / (high - low) * bins.size
    shapes = [np.clip(along - np.arange(0.5, bins.size - 1), 0, 1)]
    for width in TUNING.bump_widths:
        t = np.abs(along - _middles(bins.size, width)) / width
        shapes.append(np.where(t < 0.5, 1 - t**2 / 0.75, np.maximum(1.5 - t, 0.0) ** 2 / 1.5))
    for width, ramp, starts in _plateaus(bins.size):
        since = along - starts
        shapes.append(np.clip(since / ramp, 0, 1) - np.clip((since - width) / ramp, 0, 1))
    return np.hstack(shapes)


def _step_variance(bins: Bins, J: int) -> FloatArray:
    """Return the variance over u of the mean of 1{chi > u} over evenly spread records of each bin (M, J)."""
    if not J:
        return np.zeros((bins.size, 0))
    chi = _shapes(bins, bins.within_each(_FINE), J).reshape(bins.size, _FINE, -1)
    found = np.zeros((bins.size, J))
    vary = chi.min(axis=1) < chi.max(axis=1)  # elsewhere the mean is the same for all u
    # Both moments are averages of shares of u: the squared mean is the share of u below chi_i and chi_j, that is below
    # the smaller one, averaged over all pairs of points. The i-th smallest value is the smaller one of 2 (16 - i) + 1.
    ordered = np.sort(chi.transpose(0, 2, 1)[vary], axis=1)
    below = np.searchsorted((np.arange(_LOCATIONS) + 0.5) / _LOCATIONS, ordered) / _LOCATIONS  # share of u below chi
    pairs = 2 * np.arange(_FINE, 0, -1) - 1
    found[vary] = below @ pairs / _FINE**2 - below.mean(axis=1) ** 2
    return found
