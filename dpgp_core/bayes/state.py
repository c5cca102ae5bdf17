"""The posterior of all Gaussian process models at once, given noisy sums of clipped residuals over public cells.

Under a model, y_j = f(x_j) + e_j with f = phi(x)^T a, a ~ N(0, I). A stage released z = B x + s w. Entry c of x is the
sum, over the N_c records of cell c, of (clip(r_j, low_c, high_c) - o_c) / u_c with r_j = y_j - g(x_j), g public, and
o_c
and u_c the middle and the width of the interval. The state of the filter is (a, eta, b): the coefficients of f, the sum
eta_c of each cell's own noise, which all stages share, eta ~ N(0, diag(n^ (1 + kappa) noise variance)), and the
coefficients b of the field of clipping's bias. With Phi the means of phi over the cells and ``clipping.clipped`` of one
residual,

    x = n^ (k - o) / u + T ((a, eta, b) - E) + rest,    T = [diag(unit) Phi, diag(alpha / u), bias],    unit = alpha n^
    / u,

and the rest holds the noise of clipping (of each record, and of f, common to the records of a cell), the variation of f
within a cell, and N - n^. Everything here is post-processing of released numbers.

All models are computed together: every array has a leading axis of the A models that are still read. Models of one
kernel share everything that does not depend on the noise variance, and kernels with fewer features than others are
padded with features that are 0.

Two parts of the noise are the same in every stage, and would be averaged away if each stage had its own:

* The noise of clipping of a record, because the same e_j is clipped to nearly the same interval. Its usual share,
  kappa alpha^2 noise variance with kappa = extra / (alpha^2 v) for a residual N(0, v) clipped to
  +-``TUNING.clip`` sqrt v, is counted as part of eta, and the rest keeps only the excess.
* The locations of records within a cell.

Whether the records of a cell share one location is unknown. The state assumes that they do, so that intervals cover the
curve. The evidence must not assume it: n^2 alpha^2 within is large for a short lengthscale, sums over records that are
spread over a cell do not vary by as much, and short lengthscales would be ruled out by hundreds of nats. The evidence
is therefore the mean of the densities under four shares of that variance, each share the same in all stages i,

    p(z) = 1/4 sum_share prod_i N(z_i; B_i E x_i, S_i - (1 - share) B_i diag(place_i) B_i^T).

Along one input f may have change points as well; the state describes the curve without them, and ``change_points`` what
they add. Where inputs are public, all locations are known: means over a cell are means over its records
(``cells.OccupiedGrid``), and only what a curve may do between the points at which it is known remains of the variation
within a cell. Where inputs are private and locations were measured, the part of the variation remains that the noise on
the locations leaves open.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray
from ..gp.clipping import Clipped, clipped
from ..gp.grid import IndexArray
from ..gp.pivoted import Features, factorise
from ..kernels import Kernel
from ..linalg import column_norms, sturdy_cholesky
from ..seasons import lifted
from .cells import CellGrid, OccupiedGrid
from .changepoints import ChangePoints, ChangePointState, no_change_points
from .clipping import bias_features, bias_of, ends_of
from .clusters import Clusters
from .counts import Counts
from .model import Model, always_planned_for, family_of
from .queries import StageMeasurement
from .residuals import ResidualVariance
from .tuning import TUNING

_TOLERANCE = 1e-10  # share of the prior variance at the cells' centres that the features leave out
_HERMITE = np.polynomial.hermite_e.hermegauss(15)
_TINY = 1e-14
_ROUNDING = 1e-9  # of the prior variance
_FAILED = 1e4  # subtracted from the log evidence of a model that cannot be computed
_LOG_TWO_PI = math.log(2 * math.pi)
_USUAL = clipped(np.zeros(()), np.ones(()), np.asarray(-TUNING.clip), np.asarray(TUNING.clip))
KAPPA = float(_USUAL.extra / _USUAL.gain**2)
"""Variance that clipping adds to a record over the variance of it that it keeps, for the usual interval; 0.17."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelSet:
    """The mixture's m models of K kernels on the M cells of a public grid with F nodes.

    Attributes:
        features: of each kernel, phi with pivots among the cells' centres.
        nodes: of each kernel, phi at the grid's nodes (F, k of this kernel).
        star: of each kernel, phi at the nodes of ``grid.star`` (M (1 + 2 sides), k of this kernel).
        cells: its means over the cells (K, M, k), k the largest number of features; padded with 0.
        prior_over_cells: prior covariance of the means of f over the cells (K, M, M).
        bias: features psi of the field of clipping's bias (M, q).
        label: the kernel of each model (m,).
        noise_variance: of an output about f (m,).
        weight: prior weight (m,).
        family: equal for models that differ in noise variance or amplitude alone.
        always_planned_for: whether strategies are planned for the curve whatever its probability (m,).
        amplitude: prior variance of f (m,).
        change_points: the change points that f may have.
        change_point_variances: prior variances of their heights, under each model (m, A).
        left_out: variance of f about phi a over a cell (K, M), where locations are known; else None.
        even: means of phi over cells that are filled evenly (K, M, k), where locations were measured; else None.
        unknown: share of the variance within a cell that measured locations leave open (M,), or None.
        scatter: noise variance in each column over its mean (M,); None where it is the same in all.
    """

    grid: CellGrid | Clusters
    features: tuple[Features, ...]
    nodes: tuple[FloatArray, ...]
    star: tuple[FloatArray, ...]
    cells: FloatArray
    prior_over_cells: FloatArray
    bias: FloatArray
    label: IndexArray
    noise_variance: FloatArray
    weight: FloatArray
    family: tuple[object, ...]
    always_planned_for: NDArray[np.bool_]
    amplitude: FloatArray
    change_points: ChangePoints
    change_point_variances: FloatArray
    left_out: FloatArray | None = None
    even: FloatArray | None = None
    unknown: FloatArray | None = None
    scatter: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.label)

    @property
    def rank(self) -> int:
        """Number k of features, padding included."""
        return int(self.cells.shape[2])

    def in_columns(self, noise_variance: FloatArray | float) -> FloatArray:
        """Noise variances in each column (..., M), whose mean over the records is given (...,)."""
        even = np.ones(self.grid.size) if self.scatter is None else self.scatter
        return np.multiply.outer(noise_variance, even)

    def kernels_of(self, index: IndexArray) -> Iterator[tuple[int, IndexArray]]:
        """Each kernel among some models, and the rows of ``index`` that have it."""
        labels = self.label[index]
        for label in dict.fromkeys(labels.tolist()):
            yield label, np.flatnonzero(labels == label)

    def at(self, label: int, X: FloatArray) -> FloatArray:
        """Features of a kernel at X (n, D), padded: (n, k)."""
        phi = self.features[label].at(lifted(X, self.grid.periods)).values()
        return np.pad(phi, ((0, 0), (0, self.rank - phi.shape[1])))

    def not_known(self, label: IndexArray, within: FloatArray) -> FloatArray:
        """The part of the variance of f within a cell (A, M) that is left open, for models of these kernels (A,)."""
        if self.left_out is not None:
            return self.left_out[label]
        return within if self.unknown is None else self.unknown * within


@dataclass(frozen=True, kw_only=True, eq=False)
class State:
    """Posterior of (a, eta, b) without change points, under A models that are still read, given all stages so far.

    The covariance is diag(prior) - rows^T rows. A stage that releases r numbers adds r rows. While fewer numbers than
    cells have been released, the rows are smaller than the covariance.

    Attributes:
        models: the mixture.
        index: the models that are read (A,), ascending.
        mean: (A, N), N = k + M + q.
        prior: variances before any stage (A, N).
        rows: (A, R, N), of R numbers released so far.
        rows_over_cells: the same for the means of f over the cells (A, R, M).
        rows_over_even: the same for its means over cells filled evenly (A, R, M); (A, R, 0) where these are the same.
        counted: number of rows that the next two have counted; the others are, at the first use, of the models then
            read.
        covariance_before: covariance of the means of f over the cells, after the rows counted (A, M, M).
        star_variance_before: variance of f at the nodes of ``grid.star``, after the rows counted (A, M (1 + 2 sides)).
        log_evidences: log p(z of all stages | model, share) for each of ``PLACE_SHARES`` (A, 4).
        squares: |w|^2 of each stage with w = L^-1 (z - E z) (A, S); of the counts first, if they were noisy.
        change_points: posterior of the change points.
        effects: what a unit of each change point adds to the means of f over the cells (A, M, J).
        log_evidence: log p(z | model) of every model (m,); of one that is not read any more, of the stages before.
    """

    models: ModelSet
    index: IndexArray
    mean: FloatArray
    prior: FloatArray
    rows: FloatArray
    rows_over_cells: FloatArray
    rows_over_even: FloatArray
    counted: int
    covariance_before: FloatArray
    star_variance_before: FloatArray
    log_evidences: FloatArray
    squares: FloatArray
    change_points: ChangePointState
    effects: FloatArray
    log_evidence: FloatArray

    @property
    def label(self) -> IndexArray:
        """The kernel of each model that is read (A,)."""
        return self.models.label[self.index]

    @property
    def noise_variance(self) -> FloatArray:
        """Of each model that is read (A,)."""
        return self.models.noise_variance[self.index]

    @property
    def read(self) -> NDArray[np.bool_]:
        """Whether each of the m models is still read (m,)."""
        found = np.zeros(len(self.models), dtype=bool)
        found[self.index] = True
        return found

    def only(self, index: IndexArray) -> State:
        """The state of some of the models that are read."""
        if np.array_equal(index, self.index):
            return self
        rows = np.searchsorted(self.index, index)
        shared = ("index", "log_evidence")  # the others have the axis of the models that are read
        arrays = {
            name: each[rows] for name, each in vars(self).items() if isinstance(each, np.ndarray) and name not in shared
        }
        computed = {name: arrays.pop(name) for name in set(arrays) - set(self.__dataclass_fields__)}
        found = replace(self, index=index, change_points=self.change_points.only(rows), **arrays)
        vars(found).update(computed)  # properties that were computed before are not computed again
        return found

    @property
    def misfit(self) -> FloatArray:
        """Expected |w|^2 of each stage given the change points, see ``measurement.fit``, of every model (m, S)."""
        explained, found = self.change_points.explained, np.zeros((len(self.models), self.squares.shape[1]))
        found[self.index] = self.squares
        found[self.index, self.squares.shape[1] - explained.shape[1] :] -= explained
        return found

    @cached_property
    def coefficients(self) -> FloatArray:
        """Expected coefficients of f (A, k), once the expected change points are taken out."""
        k = self.models.rank
        of_change_points = (self.change_points.G @ self.change_points.mean[:, :, None]).swapaxes(1, 2)
        return np.asarray(self.mean[:, :k] - (of_change_points @ self.rows[:, :, :k])[:, 0])

    @cached_property
    def mean_over_cells(self) -> FloatArray:
        """Mean of f over each cell (A, M)."""
        return self._mean(self.models.cells[self.label], self.models.change_points.cells)

    @cached_property
    def mean_over_even(self) -> FloatArray:
        """Mean of f over each cell, if it were filled evenly (A, M)."""
        assert self.models.even is not None
        return self._mean(self.models.even[self.label], self.models.change_points.even)

    @cached_property
    def mean_at_star(self) -> FloatArray:
        """Mean of f at the nodes of ``grid.star`` (A, M (1 + 2 sides))."""
        means = self.change_points.mean @ self.models.change_points.nodes[self.models.grid.star.ravel()].T
        for label, rows in self.models.kernels_of(self.index):
            star = self.models.star[label]
            means[rows] += self.coefficients[rows, : star.shape[1]] @ star.T
        return means

    def mean_at_nodes(self, weights: FloatArray) -> FloatArray:
        """Mean of f at the grid's nodes (F,), averaged over the models that are read with these weights (A,)."""
        mean = self.models.change_points.nodes @ (weights @ self.change_points.mean)
        for label, rows in self.models.kernels_of(self.index):
            nodes = self.models.nodes[label]
            mean += nodes @ (weights[rows] @ self.coefficients[rows, : nodes.shape[1]])
        return mean

    @cached_property
    def variance_over_cells(self) -> FloatArray:
        """Variance of the mean of f over each cell (A, M)."""
        prior = np.diagonal(self.models.prior_over_cells, axis1=1, axis2=2)[self.label]
        return prior - _norms(self.rows_over_cells) + self.change_points.variance(self.effects)

    @cached_property
    def smooth_covariance(self) -> FloatArray:
        """Covariance of the means of f over the cells, but for what change points add (A, M, M)."""
        rows = self.rows_over_cells[:, self.counted :]
        return np.asarray(self.covariance_before - rows.swapaxes(1, 2) @ rows)

    @cached_property
    def star_variance(self) -> FloatArray:
        """Variance of f at the nodes of ``grid.star``, but for what change points add (A, M (1 + 2 sides))."""
        variance, later = self.star_variance_before.copy(), self.rows[:, self.counted :, : self.models.rank]
        for label, rows in self.models.kernels_of(self.index):
            star = self.models.star[label]
            variance[rows] -= _norms(later[rows, :, : star.shape[1]] @ star.T)
        return variance

    @cached_property
    def covariance_of_change_points(self) -> FloatArray:
        """What change points add to the covariance of (means of f over the cells, eta, b) (A, 2 M + q, 2 M + q)."""
        others = -self.rows[:, :, self.models.rank :].swapaxes(1, 2) @ self.change_points.G
        every = np.concatenate([self.effects, others], axis=1)
        return self.change_points.covariance(every, every)

    def _mean(self, phi: FloatArray, shapes: FloatArray) -> FloatArray:
        """Mean of f where its features (A, n, k) and its change points (n, J) are these: (A, n)."""
        return np.asarray((phi @ self.coefficients[:, :, None])[..., 0] + self.change_points.mean @ shapes.T)


class CurveMoments(NamedTuple):
    """Posterior moments of f - g over the cells, for any interval about g, under A models.

    Attributes:
        shift: mean over the cells (A, M).
        V: covariance of f over the cells (A, M, M).
        v: its diagonal, above 0 (A, M).
        within: variance over a cell (A, M), of its records where their locations are known, else were it filled evenly.
    """

    shift: FloatArray
    V: FloatArray
    v: FloatArray
    within: FloatArray

    def only(self, rows: IndexArray) -> CurveMoments:
        """The moments under some of the models."""
        return CurveMoments(*(each[rows] for each in self))


@dataclass(frozen=True, kw_only=True, eq=False)
class Linear:
    """The sums as a linear observation of the state, x = mean + T ((a, eta, b) - E) + rest, under A models.

    Attributes:
        index: the models (A,).
        mean: E x without change points (A, M).
        unit: what a unit of f over a cell adds to x (A, M).
        gain: what a unit of eta adds to x (A, M).
        bias: what b adds to x (M, q), the same under all models.
        cells: means of the features over the cells (A, M, k): T = [diag(unit) cells, diag(gain), bias].
        rest: covariance of the rest (A, M, M).
        own: the records' own part of its diagonal, independent from cell to cell (A, M).
        place: the part of ``own`` from one location that all records of a cell share (A, M).
    """

    index: IndexArray
    mean: FloatArray
    unit: FloatArray
    gain: FloatArray
    bias: FloatArray
    cells: FloatArray
    rest: FloatArray
    own: FloatArray
    place: FloatArray

    def only(self, index: IndexArray) -> Linear:
        """The same under some of the models."""
        rows = np.searchsorted(self.index, index)
        parts = {name: each[rows] for name, each in vars(self).items() if name not in ("index", "bias")}
        return replace(self, index=index, **parts)

    def weighted(self, B: FloatArray) -> FloatArray:
        """B T (A, r, N) for a strategy B (r, M)."""
        of_f = (B * self.unit[:, None]) @ self.cells
        of_bias = np.broadcast_to(B @ self.bias, (len(of_f), len(B), self.bias.shape[1]))
        return np.concatenate([of_f, B * self.gain[:, None], of_bias], axis=2)

    @property
    def T(self) -> FloatArray:
        """The whole matrix (A, M, N)."""
        return self.weighted(np.eye(len(self.bias)))


def model_set(
    models: Sequence[Model],
    grid: CellGrid | Clusters,
    *,
    change_points: ChangePoints | None = None,
) -> ModelSet:
    """Every model on the grid.

    Args:
        change_points: the change points that curves may have on this grid; None for none.
    """
    change_points = no_change_points(grid) if change_points is None else change_points
    kernels = list(dict.fromkeys(model.kernel for model in models))
    features = [factorise(kernel, grid.centres, _TOLERANCE).features for kernel in kernels]
    nodes = tuple(each.at(grid.nodes).values() for each in features)
    cells = _padded([grid.averages(each) for each in nodes])
    noises = [model.noise_variance for model in models]
    return ModelSet(
        grid=grid,
        features=tuple(each.at(grid.centres) for each in features),
        nodes=nodes,
        star=tuple(each[grid.star.ravel()] for each in nodes),
        cells=cells,
        prior_over_cells=cells @ cells.swapaxes(1, 2),
        bias=bias_features(grid.box, grid.centres),
        label=np.array([kernels.index(model.kernel) for model in models]),
        noise_variance=np.array(noises),
        weight=np.array([model.weight for model in models]),
        family=tuple(family_of(model.kernel) for model in models),
        always_planned_for=np.array([always_planned_for(model.kernel) for model in models]),
        amplitude=np.array([model.kernel.variance for model in models]),
        change_points=change_points,
        change_point_variances=np.stack([change_points.variances_under(noise) for noise in noises]),
        left_out=np.stack([_left_out(kernel, grid, each) for kernel, each in zip(kernels, nodes, strict=True)])
        if isinstance(grid, Clusters | OccupiedGrid)
        else None,
    )


def models_given_locations(models: ModelSet, grid: OccupiedGrid, unknown: FloatArray) -> ModelSet:
    """The models given the mean locations of records in their cells.

    Args:
        unknown: share of the variance within a cell that the measured locations leave open (M,).
    """
    cells = _padded([grid.averages(each) for each in models.nodes])
    return replace(
        models,
        grid=grid,
        cells=cells,
        prior_over_cells=cells @ cells.swapaxes(1, 2),
        even=models.cells,
        unknown=unknown,
        change_points=models.change_points.on(grid),
    )


def _padded(parts: Sequence[FloatArray]) -> FloatArray:
    """Matrices (n, k) of different k as one array, with columns that are 0."""
    most = max(each.shape[1] for each in parts)
    return np.stack([np.pad(each, ((0, 0), (0, most - each.shape[1]))) for each in parts])


def _left_out(kernel: Kernel, grid: CellGrid | Clusters, nodes: FloatArray) -> FloatArray:
    """Mean over the nodes of each cell of k(x, x) - |phi(x)|^2 (M,); 0 where that is rounding."""
    rest = kernel.diagonal(grid.nodes) - column_norms(nodes.T)
    mean = grid.even_averages(rest)
    return np.where(mean > _ROUNDING * kernel.variance, mean, 0.0)


def _norms(rows: FloatArray) -> FloatArray:
    """Squared norms of the columns of A matrices (A, R, n): (A, n)."""
    return np.asarray(np.einsum("ari,ari->ai", rows, rows))


def prior_state(models: ModelSet, counts: Counts) -> State:
    """The state before any residual is measured."""
    A, k, M = len(models), models.rank, models.grid.size
    eta = (1 + KAPPA) * counts.numbers * models.in_columns(models.noise_variance)
    prior = np.concatenate([np.ones((A, k)), eta, np.ones((A, models.bias.shape[1]))], axis=1)
    of_kernel = np.stack([column_norms(star.T) for star in models.star])
    change_points = models.change_points.before(models.change_point_variances)
    return State(
        models=models,
        index=np.arange(A),
        mean=np.zeros(prior.shape),
        prior=prior,
        rows=np.zeros((A, 0, prior.shape[1])),
        rows_over_cells=np.zeros((A, 0, M)),
        rows_over_even=np.zeros((A, 0, 0 if models.even is None else M)),
        counted=0,
        covariance_before=models.prior_over_cells[models.label],
        star_variance_before=of_kernel[models.label],
        log_evidences=np.zeros((A, len(TUNING.place_shares))),
        squares=np.full((A, 1), counts.misfit[0]) if counts.misfit is not None else np.zeros((A, 0)),
        change_points=change_points,
        effects=np.broadcast_to(models.change_points.cells, (A, *models.change_points.cells.shape)),
        log_evidence=change_points.log_evidence,
    )


def curve_moments(state: State, g: FloatArray) -> CurveMoments:
    """Posterior moments of f - g, for g at the nodes (F,)."""
    models, grid = state.models, state.models.grid
    shift = state.mean_over_cells - grid.averages(g)
    smooth = state.smooth_covariance
    V = smooth + state.change_points.covariance(state.effects, state.effects)
    v = np.maximum(np.diagonal(V, axis1=1, axis2=2), _TINY * state.noise_variance[:, None])
    square = state.star_variance + (state.mean_at_star - g[grid.star.ravel()]) ** 2
    square = square.reshape(len(square), grid.size, -1)
    if models.even is None:
        of_mean = np.diagonal(smooth, axis1=1, axis2=2) + shift**2
        return CurveMoments(shift, V, v, np.maximum((square * grid.star_weights).sum(axis=2) - of_mean, 0.0))
    prior = np.einsum("amk,amk->am", models.even, models.even)[state.label]
    of_mean = prior - _norms(state.rows_over_even) + (state.mean_over_even - grid.even_averages(g)) ** 2
    return CurveMoments(shift, V, v, np.maximum((square * grid.even_star_weights).sum(axis=2) - of_mean, 0.0))


def linearise(
    counts: Counts,
    state: State,
    query: StageMeasurement,
    half_range: float,
    residuals: ResidualVariance,
    moments: CurveMoments | None = None,
    noise_variance: FloatArray | None = None,
) -> Linear:
    """The sums over residuals about g, clipped to [low, high], as a linear observation of the state.

    Args:
        counts: posterior of the numbers of records.
        state: after the stages before.
        query: intervals of the residuals, and g.
        residuals: posterior of the residual variance, for clipping bias.
        moments: of f - g, if they were computed before.
        noise_variance: variance of an output about f (A,) for the moments of clipping, where it is less than that of
            any model; None for each model's own.
    """
    low, high, g, models = query.low, query.high, query.g, state.models
    k, M, n = models.rank, models.grid.size, counts.mean
    u, centre, middle = high - low, (low + high) / 2, models.grid.averages(g)
    low, high, half_width = ends_of(low + middle, high + middle, middle, half_range, clips=query.clips)
    beta = bias_of(half_width, residuals, half_range, models.in_columns(1.0))
    low, high = low - middle, high - middle
    shift, V, v, within = moments or curve_moments(state, g)
    noise = models.in_columns(state.noise_variance if noise_variance is None else noise_variance)
    one = clipped(shift, v + within + noise, low, high)
    common = _common(one, shift, v, within + noise, low, high)
    own = np.maximum(one.extra - common - KAPPA * one.gain**2 * noise, 0.0)
    sd, root = np.sqrt(v), np.sqrt(common)
    off = one.mean + TUNING.bias_shared**0.5 * beta * (state.mean[:, k + M :] @ models.bias.T) - centre
    # One location that all records of a cell share moves all of them and is the same in every stage, so each of L
    # stages with narrow intervals has L times its variance, and all of them together have it once.
    people = counts.numbers
    open_within = models.not_known(state.label, within) + models.change_points.within(state.change_points)
    place = TUNING.same_place * people**2 * (one.gain**2 * open_within)
    own = people * own + place
    # Each record adds its own rest, the curvature of clipping in f adds one with the correlations of f between cells,
    # and N - n^ adds another.
    rest = _outer(root * n / sd) * V**2 / _outer(sd)  # = outer(n, n) (V / outer(sd, sd))^2 outer(root, root)
    if counts.covariance.any():
        rest += counts.covariance * ((V / _outer(sd)) ** 2 * _outer(root) + _outer(off) + _outer(one.gain) * V)
    biased = (n * beta)[:, None] * models.bias
    rest += (1 - TUNING.bias_shared) * biased @ biased.T
    rest.reshape(len(rest), -1)[:, :: M + 1] += own
    rest /= np.outer(u, u)
    unit = one.gain * n / u
    coefficients = state.mean[:, :k, None]
    of_change_points = state.mean_over_cells - (models.cells[state.label] @ coefficients)[..., 0]
    mean = (n * off + one.gain * state.mean[:, k : k + M]) / u - unit * of_change_points
    return Linear(
        index=state.index,
        mean=mean,
        unit=unit,
        gain=one.gain / u,
        bias=TUNING.bias_shared**0.5 * biased / u[:, None],
        cells=models.cells[state.label],
        rest=rest,
        own=own / u**2,
        place=place / u**2,
    )


def updated_state(state: State, linear: Linear, B: FloatArray, s: float, z: FloatArray) -> State:
    """The posterior after z = B x + s w, with C the covariance before.

    S = B (T C T^T + rest) B^T + s^2 I = L L^T,    mean += C T^T B^T S^-1 (z - B E x),    C -= Q^T Q, Q = L^-1 B T C.

    Args:
        state: before; models that ``linear`` leaves out are not read any further.
        linear: the sums as an observation of the state.
    """
    state, models, k = state.only(linear.index), state.models, state.models.rank
    H = linear.weighted(B)
    on_rows = H @ state.rows.swapaxes(1, 2)
    cross = H * state.prior[:, None] - on_rows @ state.rows
    S = cross @ H.swapaxes(1, 2) + B @ linear.rest @ B.T
    S.reshape(len(S), -1)[:, :: len(B) + 1] += s**2
    surprise = z - linear.mean @ B.T
    of_change_points = (B * linear.unit[:, None]) @ models.change_points.cells - on_rows @ state.change_points.G
    L, white, log_density = _whitened(S, surprise, s)
    Q, G = np.linalg.solve(L, cross), np.linalg.solve(L, of_change_points)
    log_densities = np.repeat(log_density[:, None], len(TUNING.place_shares), axis=1)
    if linear.place.any():
        P = (B * linear.place[:, None]) @ B.T
        for i, share in enumerate(TUNING.place_shares[:-1]):
            log_densities[:, i] = _whitened(S - (1 - share) * P, surprise, s)[2]
    # A model that cannot be computed keeps its state and loses its evidence: nothing may fail after it was measured.
    good = np.isfinite(log_densities).all(axis=1) & np.isfinite(white).all(axis=1)
    good &= np.isfinite(Q).all(axis=(1, 2)) & np.isfinite(G).all(axis=(1, 2))
    if not good.all():
        Q, G, white = (np.where(good[:, None, None], each, 0.0) for each in (Q, G, white[..., None]))
        white, log_densities = white[..., 0], np.where(good[:, None], log_densities, -_FAILED)
    of_f = Q[..., :k]
    even = of_f @ models.even[state.label].swapaxes(1, 2) if models.even is not None else of_f[..., :0]
    change_points = models.change_points.after(
        state.change_points, G.astype(float), white, models.change_point_variances[state.index]
    )
    over_cells = of_f @ linear.cells.swapaxes(1, 2)
    log_evidences = state.log_evidences + log_densities
    log_evidence = state.log_evidence.copy()
    smooth = np.logaddexp.reduce(log_evidences, axis=1) - math.log(len(TUNING.place_shares))
    log_evidence[state.index] = smooth + change_points.log_evidence
    return replace(
        state,
        mean=state.mean + (white[:, None] @ Q)[:, 0],
        rows=np.concatenate([state.rows, Q], axis=1),
        rows_over_cells=np.concatenate([state.rows_over_cells, over_cells], axis=1),
        rows_over_even=np.concatenate([state.rows_over_even, even], axis=1),
        counted=state.rows.shape[1],
        covariance_before=state.smooth_covariance,
        star_variance_before=state.star_variance,
        log_evidences=log_evidences,
        squares=np.column_stack([state.squares, (white * white).sum(axis=1)]),
        change_points=change_points,
        effects=state.effects - over_cells.swapaxes(1, 2) @ G,
        log_evidence=log_evidence,
    )


def _whitened(S: FloatArray, surprise: FloatArray, s: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """L and w = L^-1 surprise of S = L L^T (A, r, r), and log N(surprise; 0, S), for surprises (A, r)."""
    L = cholesky_factors(S, s**2)
    white: FloatArray = np.linalg.solve(L, surprise[..., None])[..., 0].astype(float)
    half_log_det: FloatArray = np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1)
    log_density = -0.5 * (white * white).sum(axis=1) - half_log_det - 0.5 * S.shape[1] * _LOG_TWO_PI
    return L, white, log_density


def cholesky_factors(S: FloatArray, least: float) -> FloatArray:
    """Cholesky factors of A covariances (A, r, r), which rounding may have made indefinite; see ``sturdy_cholesky``."""
    try:
        L = np.linalg.cholesky(S)
        if np.isfinite(L).all():
            return np.asarray(L)
    except np.linalg.LinAlgError:
        pass
    return np.stack([sturdy_cholesky(each, least) for each in S])


def _outer(a: FloatArray) -> FloatArray:
    """Outer product of each row of (A, M) with itself (A, M, M)."""
    return a[:, :, None] * a[:, None, :]


def _common(
    one: Clipped, shift: FloatArray, v: FloatArray, spread: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Variance of E(clip(r) | f) about its linear part, by Gauss-Hermite quadrature over f (A, M)."""
    points, weights = _HERMITE
    clipped_mean = clipped(shift + np.sqrt(v) * points[:, None, None], spread, low, high).mean - one.mean
    square = np.tensordot(weights / weights.sum(), clipped_mean * clipped_mean, axes=1)
    common: FloatArray = np.clip(square - one.gain**2 * v, 0.0, one.extra)
    return common
