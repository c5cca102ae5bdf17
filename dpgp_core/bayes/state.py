"""Kalman filter over stages: the posterior of the curve under all models, given noisy sums of clipped residuals.

Under a model, y_j = f(x_j) + e_j with f(x) = phi(x)^T a and a ~ N(0, I). A stage released z = B x + s w, where entry c
of x is the sum of (clip(r_j, low_c, high_c) - o_c) / u_c over the N_c records of column c. Here r_j = y_j - g(x_j), g
is public, and o_c and u_c are the middle and the width of the clipping interval. The state (a, eta, b) consists of

* the coefficients a of the curve;
* the sums eta_c of the noise e_j of the records of each column, which all stages share,
  eta ~ N(0, diag(n^ (1 + kappa) noise variance));
* the coefficients b of the field of clipping bias.

Let Phi be the means of phi over the columns, and let k, alpha (``gain``) and extra be the moments of one clipped
residual (``gp.clipping.clipped``). Then

    x = n^ (k - o) / u + T ((a, eta, b) - E(a, eta, b)) + rest,
    T = [diag(unit) Phi, diag(alpha / u), bias],    unit = alpha n^ / u.

The rest has five parts: the clipping noise of each record; the error of linearising clipping in f, which is the same
for all records of a column; the variation of f within a column; the error N - n^ of the counts; and the part of the
clipping bias that stages do not share. Everything here is post-processing of released numbers.

All models are computed together: every array has a leading axis of the A models that are still read. Others are no
longer updated, because the squares have ruled out their noise variance (``Filter.active``). Models with the same kernel
share everything that does not depend on the noise variance. Kernels with fewer features than others are padded with
features that are 0.

Two parts of the noise are the same in every stage. If they were treated as independent, they would be averaged away:

* The clipping noise of a record, because the same e_j is clipped to nearly the same interval in every stage. Its usual
  amount, kappa alpha^2 noise variance with kappa = extra / (alpha^2 v) for a residual N(0, v) clipped to
  +-``TUNING.clip`` sqrt v, is part of eta. The rest contains only the excess over it.
* The locations of records within a column. Whether these share one location is unknown. The state assumes that they do,
  so that intervals cover the curve. The evidence must not assume it. For a short lengthscale the variance of f within a
  column is large, and sums over records that are spread over the column would vary much less than assumed, so that
  short lengthscales would be ruled out by hundreds of nats. The evidence is therefore the mean of the densities under
  four shares of this variance, each of which is the same in all stages i,

    p(z) = 1/4 sum_share prod_i N(z_i; B_i E x_i, S_i - (1 - share) B_i diag(place_i) B_i^T).

Along one input, f may also have change points. The state describes the curve without them, and
``State.change_points`` what they add.

If inputs are public, all locations are known, means over a column are means over its records, and only the variation of
the curve between the nodes remains (``ModelSet.feature_error``). If inputs are private and locations were measured, a
share ``ModelSet.open_share`` of this variation remains, because the measured locations are noisy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray
from ..gp.clipping import Clipped, clipped
from ..gp.grid import IndexArray
from ..gp.pivoted import Features, factorise
from ..kernels import Kernel
from ..linalg import column_norms, sturdy_cholesky
from ..seasons import lifted
from .cells import CellGrid, LocatedGrid
from .changepoints import ChangePoints, ChangePointState, no_change_points
from .clipping import bias_features, bias_of, ends_of
from .clusters import Clusters
from .counts import Counts
from .model import Model, always_planned_for, family_of
from .queries import StageMeasurement
from .residuals import ResidualVariance
from .tuning import TUNING

_TOLERANCE = 1e-10  # share of the prior variance at the columns' centres that the features leave out
_HERMITE = np.polynomial.hermite_e.hermegauss(15)
_TINY = 1e-14  # smallest posterior variance of f over the noise variance
_ROUNDING = 1e-9  # share of the prior variance below which a difference is a rounding error
_FAILED = 1e4  # subtracted from the log evidence of a model that cannot be computed
_LOG_TWO_PI = math.log(2 * math.pi)
_USUAL = clipped(np.zeros(()), np.ones(()), np.asarray(-TUNING.clip), np.asarray(TUNING.clip))
KAPPA = float(_USUAL.extra / _USUAL.gain**2)
"""Variance that clipping adds to a residual, over the variance of its linear part, for the narrowest interval: 0.17."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelSet:
    """The m models of a mixture, which have K kernels, on M columns with F nodes.

    Attributes:
        grid: the columns, cells or clusters.
        features: features phi of each kernel, with pivots among the columns' centres.
        nodes: phi of each kernel at the nodes (F, number of its features).
        star: phi of each kernel at the nodes of ``grid.star`` (M (1 + 2 S), number of its features).
        cells: means of phi over the columns (K, M, k), padded with 0 to the largest number of features k.
        prior_over_cells: prior covariance of the means of f over the columns (K, M, M).
        bias: features psi of the field of clipping bias (M, q).
        label: index of the kernel of each model (m,).
        noise_variance: variance of an output about f under each model (m,).
        weight: prior weight of each model (m,).
        family: an object for each model, equal for models that differ only in noise variance or amplitude.
        always_planned_for: whether strategies are planned for the curve even if it is unlikely (m,).
        amplitude: prior variance of f under each model (m,).
        change_points: the change points that f may have.
        change_point_variances: prior variances of their heights under each model (m, V).
        feature_error: mean variance of f about phi^T a over each column (K, M), if locations are known; else None.
        even: means of phi over columns with evenly spread records (K, M, k), if locations were measured; else None.
        open_share: share of the variance within a column that the measured locations leave open (M,), or None.
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
    feature_error: FloatArray | None = None
    even: FloatArray | None = None
    open_share: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.label)

    @property
    def rank(self) -> int:
        """Number of features k, padding included."""
        return int(self.cells.shape[2])

    def kernels_of(self, index: IndexArray) -> Iterator[tuple[int, IndexArray]]:
        """Yield each kernel among the models ``index`` (A,), and the positions in ``index`` that have it."""
        labels = self.label[index]
        for label in dict.fromkeys(labels.tolist()):
            yield label, np.flatnonzero(labels == label)

    def at(self, label: int, X: FloatArray) -> FloatArray:
        """Return the features of a kernel at X (n, D), padded to (n, k)."""
        phi = self.features[label].at(lifted(X, self.grid.periods)).values()
        return np.pad(phi, ((0, 0), (0, self.rank - phi.shape[1])))

    def open_variance(self, label: IndexArray, within: FloatArray) -> FloatArray:
        """Return the part of the variance of f within a column that known locations do not remove (A, M).

        Args:
            label: kernels of the models (A,).
            within: variance of f within each column (A, M).
        """
        if self.feature_error is not None:
            return self.feature_error[label]
        return within if self.open_share is None else self.open_share * within


@dataclass(frozen=True, kw_only=True, eq=False)
class State:
    """Posterior of (a, eta, b) without change points under the A models that are still read, given all stages so far.

    The covariance is C = diag(prior) - rows^T rows. A stage that releases r numbers appends r rows. This needs less
    memory than C while the number R of released numbers is smaller than N = k + M + q.

    Attributes:
        models: all m models of the mixture.
        index: the models that are still read (A,), in ascending order.
        mean: posterior mean (A, N).
        prior: variances before any stage (A, N).
        rows: the factor above (A, R, N).
        rows_over_cells: the same factor for the means of f over the columns (A, R, M).
        rows_over_even: the same for means over columns with evenly spread records (A, R, M), or (A, R, 0) if locations
            were not measured.
        counted: number of rows that the next two attributes include. The rows after them are added at the first use of
            ``smooth_covariance`` and ``star_variance``, and then only for the models that are still read.
        covariance_before: covariance of the means of f over the columns given the counted rows (A, M, M).
        star_variance_before: variance of f at the nodes of ``grid.star`` given the counted rows (A, M (1 + 2 S)).
        log_evidences: log p(z of all stages | model, share) for each of ``TUNING.location_shares`` (A, 4).
        squared_norms: |w|^2 of each measurement with w = L^-1 (z - E z): the counts first, if they are noisy, then each
            stage (A, number of measurements).
        change_points: posterior of the change points.
        effects: effect of each change point, for unit height, on the means of f over the columns (A, M, J).
        log_evidence: log p(z | model) of every model (m,), given all stages for which the model was read.
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
    squared_norms: FloatArray
    change_points: ChangePointState
    effects: FloatArray
    log_evidence: FloatArray

    @property
    def label(self) -> IndexArray:
        """Index of the kernel of each model that is still read (A,)."""
        return self.models.label[self.index]

    @property
    def noise_variance(self) -> FloatArray:
        """Variance of an output about f under each model that is still read (A,)."""
        return self.models.noise_variance[self.index]

    @property
    def read(self) -> NDArray[np.bool_]:
        """Whether each of the m models is still read (m,)."""
        found = np.zeros(len(self.models), dtype=bool)
        found[self.index] = True
        return found

    def only(self, index: IndexArray) -> State:
        """Return the state restricted to the models ``index``, which are some of those that are still read."""
        if np.array_equal(index, self.index):
            return self
        rows = np.searchsorted(self.index, index)
        shared = ("index", "log_evidence")  # every other array has a leading axis of the models that are still read
        arrays: dict[str, Any] = {
            name: each[rows] for name, each in vars(self).items() if isinstance(each, np.ndarray) and name not in shared
        }
        computed = {name: arrays.pop(name) for name in set(arrays) - set(self.__dataclass_fields__)}
        found = replace(self, index=index, change_points=self.change_points.only(rows), **arrays)
        vars(found).update(computed)  # cached properties are kept
        return found

    @property
    def misfit(self) -> FloatArray:
        """Expected |w|^2 of each measurement once change points are accounted for (m, number of measurements).

        It is 0 for models that are no longer read. See ``measurement.fit``.
        """
        explained, found = self.change_points.explained, np.zeros((len(self.models), self.squared_norms.shape[1]))
        found[self.index] = self.squared_norms
        found[self.index, self.squared_norms.shape[1] - explained.shape[1] :] -= explained
        return found

    @cached_property
    def coefficients(self) -> FloatArray:
        """Expected coefficients a (A, k) of the curve without change points, given the expected change points."""
        k = self.models.rank
        of_change_points = (self.change_points.G @ self.change_points.mean[:, :, None]).swapaxes(1, 2)
        return np.asarray(self.mean[:, :k] - (of_change_points @ self.rows[:, :, :k])[:, 0])

    @cached_property
    def mean_over_cells(self) -> FloatArray:
        """Posterior mean of f over each column (A, M)."""
        return self._mean(self.models.cells[self.label], self.models.change_points.cells)

    @cached_property
    def mean_over_even(self) -> FloatArray:
        """Posterior mean of f over each column if its records were evenly spread (A, M)."""
        assert self.models.even is not None
        return self._mean(self.models.even[self.label], self.models.change_points.even)

    @cached_property
    def mean_at_star(self) -> FloatArray:
        """Posterior mean of f at the nodes of ``grid.star`` (A, M (1 + 2 S))."""
        means = self.change_points.mean @ self.models.change_points.nodes[self.models.grid.star.ravel()].T
        for label, rows in self.models.kernels_of(self.index):
            star = self.models.star[label]
            means[rows] += self.coefficients[rows, : star.shape[1]] @ star.T
        return means

    def mean_at_nodes(self, weights: FloatArray) -> FloatArray:
        """Return the posterior mean of f at the nodes (F,), averaged with the weights (A,) over the models."""
        mean = self.models.change_points.nodes @ (weights @ self.change_points.mean)
        for label, rows in self.models.kernels_of(self.index):
            nodes = self.models.nodes[label]
            mean += nodes @ (weights[rows] @ self.coefficients[rows, : nodes.shape[1]])
        return mean

    @cached_property
    def variance_over_cells(self) -> FloatArray:
        """Posterior variance of the mean of f over each column (A, M)."""
        prior = np.diagonal(self.models.prior_over_cells, axis1=1, axis2=2)[self.label]
        return prior - _norms(self.rows_over_cells) + self.change_points.variance(self.effects)

    @cached_property
    def smooth_covariance(self) -> FloatArray:
        """Posterior covariance of the means of f over the columns, without the part of change points (A, M, M)."""
        rows = self.rows_over_cells[:, self.counted :]
        return np.asarray(self.covariance_before - rows.swapaxes(1, 2) @ rows)

    @cached_property
    def star_variance(self) -> FloatArray:
        """Posterior variance of f at the nodes of ``grid.star``, without the part of change points (A, M (1 + 2 S))."""
        variance, later = self.star_variance_before.copy(), self.rows[:, self.counted :, : self.models.rank]
        for label, rows in self.models.kernels_of(self.index):
            star = self.models.star[label]
            variance[rows] -= _norms(later[rows, :, : star.shape[1]] @ star.T)
        return variance

    @cached_property
    def covariance_of_change_points(self) -> FloatArray:
        """Part of the covariance of (means of f over the columns, eta, b) that is due to change points.

        Its shape is (A, 2 M + q, 2 M + q).
        """
        others = -self.rows[:, :, self.models.rank :].swapaxes(1, 2) @ self.change_points.G
        every = np.concatenate([self.effects, others], axis=1)
        return self.change_points.covariance(every, every)

    def _mean(self, phi: FloatArray, shapes: FloatArray) -> FloatArray:
        """Return the posterior mean (A, n) of a linear functional of f, from its features and shapes.

        Args:
            phi: the functional applied to the features (A, n, k).
            shapes: the functional applied to the shapes of the change points (n, J).
        """
        return np.asarray((phi @ self.coefficients[:, :, None])[..., 0] + self.change_points.mean @ shapes.T)


class CurveMoments(NamedTuple):
    """Posterior moments of f - g over the columns, under A models. They do not depend on the clipping interval.

    Attributes:
        shift: posterior mean of the average of f - g over each column (A, M).
        V: posterior covariance of the averages of f (A, M, M).
        v: its diagonal, kept positive (A, M).
        within: expected variance of f - g within each column (A, M): over its records if their locations are known, and
            over evenly spread records otherwise.
    """

    shift: FloatArray
    V: FloatArray
    v: FloatArray
    within: FloatArray

    def only(self, rows: IndexArray) -> CurveMoments:
        """Return the moments under the models at the positions ``rows``."""
        return CurveMoments(*(each[rows] for each in self))


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearSums:
    """Sums of clipped residuals as a linear observation of the state, under A models.

    x = mean + T ((a, eta, b) - E(a, eta, b)) + rest, with T = [diag(unit) cells, diag(gain), bias].

    Attributes:
        index: the models (A,).
        mean: E x without change points (A, M).
        unit: derivative of x with respect to the mean of f over the column (A, M).
        gain: derivative of x with respect to eta (A, M).
        bias: derivative of x with respect to b (M, q), the same under all models.
        cells: means of the features over the columns (A, M, k).
        rest: covariance of the rest (A, M, M).
        own: the part of its diagonal that is independent from column to column (A, M).
        place: the part of ``own`` that is due to one location shared by all records of a column (A, M).
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

    def only(self, index: IndexArray) -> LinearSums:
        """Return the observation restricted to the models ``index``, which are some of its models."""
        rows = np.searchsorted(self.index, index)
        parts = {name: each[rows] for name, each in vars(self).items() if name not in ("index", "bias")}
        return replace(self, index=index, **parts)

    def weighted(self, B: FloatArray) -> FloatArray:
        """Return B T (A, r, N) for a strategy B (r, M)."""
        of_f = (B * self.unit[:, None]) @ self.cells
        of_bias = np.broadcast_to(B @ self.bias, (len(of_f), len(B), self.bias.shape[1]))
        return np.concatenate([of_f, B * self.gain[:, None], of_bias], axis=2)

    @property
    def T(self) -> FloatArray:
        """The matrix T (A, M, N)."""
        return self.weighted(np.eye(len(self.bias)))


def model_set(
    models: Sequence[Model],
    grid: CellGrid | Clusters,
    *,
    change_points: ChangePoints | None = None,
) -> ModelSet:
    """Return the models with everything that is computed once for the given columns.

    Args:
        models: the models of the mixture.
        grid: the columns.
        change_points: the change points that curves may have on these columns; None for none.
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
        feature_error=np.stack([_left_out(kernel, grid, each) for kernel, each in zip(kernels, nodes, strict=True)])
        if isinstance(grid, Clusters | LocatedGrid)
        else None,
    )


def models_given_locations(models: ModelSet, grid: LocatedGrid, open_share: FloatArray) -> ModelSet:
    """Return the models once the mean locations of records within cells have been measured.

    Args:
        models: the models on cells in which locations are unknown.
        grid: the same cells with the mean locations.
        open_share: share of the variance within a cell that the measured locations leave open (M,).
    """
    cells = _padded([grid.averages(each) for each in models.nodes])
    return replace(
        models,
        grid=grid,
        cells=cells,
        prior_over_cells=cells @ cells.swapaxes(1, 2),
        even=models.cells,
        open_share=open_share,
        change_points=models.change_points.given_locations(grid),
    )


def _padded(parts: Sequence[FloatArray]) -> FloatArray:
    """Stack matrices (n, k) with different k into one array, padding them with columns of zeros."""
    most = max(each.shape[1] for each in parts)
    return np.stack([np.pad(each, ((0, 0), (0, most - each.shape[1]))) for each in parts])


def _left_out(kernel: Kernel, grid: CellGrid | Clusters, nodes: FloatArray) -> FloatArray:
    """Return the mean of k(x, x) - |phi(x)|^2 over the nodes of each column (M,), or 0 if it is a rounding error."""
    rest = kernel.diagonal(grid.nodes) - column_norms(nodes.T)
    mean = grid.even_averages(rest)
    return np.where(mean > _ROUNDING * kernel.variance, mean, 0.0)


def _norms(rows: FloatArray) -> FloatArray:
    """Return the squared norms of the columns of A matrices (A, R, n), an array (A, n)."""
    return np.asarray(np.einsum("ari,ari->ai", rows, rows))


def prior_state(models: ModelSet, counts: Counts) -> State:
    """Return the state before any residual is measured."""
    A, k, M = len(models), models.rank, models.grid.size
    eta = (1 + KAPPA) * counts.nonnegative * models.noise_variance[:, None]
    prior = np.concatenate([np.ones((A, k)), eta, np.ones((A, models.bias.shape[1]))], axis=1)
    of_kernel = np.stack([column_norms(star.T) for star in models.star])
    change_points = models.change_points.prior(models.change_point_variances)
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
        log_evidences=np.zeros((A, len(TUNING.location_shares))),
        squared_norms=np.full((A, 1), counts.misfit[0]) if counts.misfit is not None else np.zeros((A, 0)),
        change_points=change_points,
        effects=np.broadcast_to(models.change_points.cells, (A, *models.change_points.cells.shape)),
        log_evidence=change_points.log_evidence,
    )


def curve_moments(state: State, g: FloatArray) -> CurveMoments:
    """Return the posterior moments of f - g, for g given at the nodes (F,)."""
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
) -> LinearSums:
    """Express the sums of clipped residuals that a stage measures as a linear observation of the state.

    Args:
        counts: posterior of the numbers of records.
        state: the state after the previous stages.
        query: the clipping intervals of the residuals, and g.
        half_range: half the range of the outcomes, in model units.
        residuals: posterior of the residual variance, which determines the clipping bias.
        moments: posterior moments of f - g, if they have been computed already.
        noise_variance: variance of an output about f (A,) that replaces each model's own in the moments of clipping;
            None to use the models' own.
    """
    low, high, g, models = query.low, query.high, query.g, state.models
    k, M, n = models.rank, models.grid.size, counts.mean
    u, centre, middle = high - low, (low + high) / 2, models.grid.averages(g)
    low, high, half_width = ends_of(low + middle, high + middle, middle, half_range, clips=query.clips)
    bias = bias_of(half_width, middle, residuals, half_range)
    beta = bias.sd
    low, high = low - middle, high - middle
    shift, V, v, within = moments or curve_moments(state, g)
    noise = (state.noise_variance if noise_variance is None else noise_variance)[:, None]
    one = clipped(shift, v + within + noise, low, high)
    common = _common(one, shift, v, within + noise, low, high)
    own = np.maximum(one.extra - common - KAPPA * one.gain**2 * noise, 0.0)
    sd, root = np.sqrt(v), np.sqrt(common)
    field = TUNING.bias_shared**0.5 * beta * (state.mean[:, k + M :] @ models.bias.T)
    off = one.mean + bias.mean + field - centre
    # If all records of a column share a location, its effect on their sum is the same in every stage. The filter treats
    # stages as independent, which would reduce the variance of this effect by the number of stages with narrow
    # intervals. The variance is therefore multiplied by about this number in each stage.
    people = counts.nonnegative
    open_within = models.open_variance(state.label, within) + models.change_points.within(state.change_points)
    place = TUNING.shared_location_factor * people**2 * (one.gain**2 * open_within)
    own = people * (own + bias.variance) + place
    # Sum of three parts: terms that are independent from column to column; the error of linearising clipping in f,
    # which is correlated between columns as f is; and the error N - n^ of the counts.
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
    return LinearSums(
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


def updated_state(state: State, linear: LinearSums, B: FloatArray, s: float, z: FloatArray) -> State:
    """Return the posterior after the measurement z = B x + s w. With C the covariance before,

        S = B (T C T^T + rest) B^T + s^2 I = L L^T,    Q = L^-1 B T C,
        mean += Q^T L^-1 (z - B E x),    C -= Q^T Q.

    A model for which this is not finite keeps its state and loses its evidence.

    Args:
        state: the state before. Models that ``linear`` does not contain are no longer read.
        linear: the sums x as an observation of the state.
        B: strategy (r, M).
        s: standard deviation of the noise on each entry of z.
        z: released numbers (r,).
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
    log_densities = np.repeat(log_density[:, None], len(TUNING.location_shares), axis=1)
    if linear.place.any():
        P = (B * linear.place[:, None]) @ B.T
        for i, share in enumerate(TUNING.location_shares[:-1]):
            log_densities[:, i] = _whitened(S - (1 - share) * P, surprise, s)[2]
    # The measurement has been paid for and may depend on private values, so that no error may be raised here.
    good = np.isfinite(log_densities).all(axis=1) & np.isfinite(white).all(axis=1)
    good &= np.isfinite(Q).all(axis=(1, 2)) & np.isfinite(G).all(axis=(1, 2))
    if not good.all():
        Q, G, white = (np.where(good[:, None, None], each, 0.0) for each in (Q, G, white[..., None]))
        white, log_densities = white[..., 0], np.where(good[:, None], log_densities, -_FAILED)
    of_f = Q[..., :k]
    even = of_f @ models.even[state.label].swapaxes(1, 2) if models.even is not None else of_f[..., :0]
    change_points = models.change_points.updated(
        state.change_points, G.astype(float), white, models.change_point_variances[state.index]
    )
    over_cells = of_f @ linear.cells.swapaxes(1, 2)
    log_evidences = state.log_evidences + log_densities
    log_evidence = state.log_evidence.copy()
    smooth = np.logaddexp.reduce(log_evidences, axis=1) - math.log(len(TUNING.location_shares))
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
        squared_norms=np.column_stack([state.squared_norms, (white * white).sum(axis=1)]),
        change_points=change_points,
        effects=state.effects - over_cells.swapaxes(1, 2) @ G,
        log_evidence=log_evidence,
    )


def _whitened(S: FloatArray, surprise: FloatArray, s: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return L, w = L^-1 surprise and log N(surprise; 0, S) for S = L L^T (A, r, r) and surprises (A, r)."""
    L = cholesky_factors(S, s**2)
    white: FloatArray = np.linalg.solve(L, surprise[..., None])[..., 0].astype(float)
    half_log_det: FloatArray = np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1)
    log_density = -0.5 * (white * white).sum(axis=1) - half_log_det - 0.5 * S.shape[1] * _LOG_TWO_PI
    return L, white, log_density


def cholesky_factors(S: FloatArray, least: float) -> FloatArray:
    """Return the Cholesky factors of A covariances (A, r, r), even if rounding has made some of them indefinite.

    Args:
        S: the covariances.
        least: a lower bound of their eigenvalues, see ``linalg.sturdy_cholesky``.
    """
    try:
        L = np.linalg.cholesky(S)
        if np.isfinite(L).all():
            return np.asarray(L)
    except np.linalg.LinAlgError:
        pass
    return np.stack([sturdy_cholesky(each, least) for each in S])


def _outer(a: FloatArray) -> FloatArray:
    """Return the outer product of each row of ``a`` (A, M) with itself, an array (A, M, M)."""
    return a[:, :, None] * a[:, None, :]


def _common(
    one: Clipped, shift: FloatArray, v: FloatArray, spread: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Return the variance of E(clip(r) | f) about its linear part (A, M), by Gauss-Hermite quadrature over f.

    The records of a column have this variance in common, because they share f.

    Args:
        one: moments of a clipped residual.
        shift: posterior mean of f - g (A, M).
        v: posterior variance of f (A, M).
        spread: variance of a residual given f (A, M).
        low, high: clipping interval of each column (M,).
    """
    points, weights = _HERMITE
    clipped_mean = clipped(shift + np.sqrt(v) * points[:, None, None], spread, low, high).mean - one.mean
    square = np.tensordot(weights / weights.sum(), clipped_mean * clipped_mean, axes=1)
    common: FloatArray = np.clip(square - one.gain**2 * v, 0.0, one.extra)
    return common
