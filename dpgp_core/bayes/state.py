"""The models of a mixture on the bins of a release, and the posterior of the curve under all of them.

"State and update" in docs/bayes_cloaking.md describes the state (a, eta, b): the k coefficients of the curve
f(x) = phi(x)^T a, the sum of the deviations y - f(x) of the records of each of the M bins, and the k_b coefficients of
the field of clipping bias. Its length is N = k + M + k_b.

All models are computed together: every array has a leading axis of the A *active* models. The other m - A models are no
longer updated, because the squares have ruled out their noise variance (``Filter.active``). Models with the same kernel
share everything that does not depend on the noise variance. Kernels with fewer features than others are padded with
features that are 0. Along one input, f may also have change points. The state describes the curve without them, and
``State.change_points`` describes what they add.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from ..arrays import FloatArray
from ..gp.clipping import clipped
from ..gp.grid import IndexArray
from ..gp.pivoted import Features, factorise
from ..linalg import column_norms
from ..seasons import lifted
from .cells import LocatedGrid
from .changepoints import ChangePoints, ChangePointState, no_change_points
from .clipping import bias_features
from .clusters import Bins, Clusters
from .counts import RecordCounts
from .model import Model, always_planned_for, family_of
from .tuning import TUNING

_TOLERANCE = 1e-10  # share of the prior variance at the centres of the bins that the features leave out
_ROUNDING = 1e-9  # share of the prior variance below which a difference is a rounding error
_USUAL = clipped(np.zeros(()), np.ones(()), np.asarray(-TUNING.clip), np.asarray(TUNING.clip))
SHARED_CLIPPING_NOISE = float(_USUAL.extra / _USUAL.gain**2)
"""omega = 0.17: variance that the narrowest clipping adds to a residual, over the variance of its linear part.

Every stage clips a residual to nearly the same interval, so that this part of the clipping noise is nearly the same in
all stages. It is therefore part of eta. If stages treated it as independent noise, they would average it away.
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelSet:
    """The m models of a mixture, which have K kernels, on M bins with F nodes.

    Attributes:
        bins: cells or clusters.
        features: features phi of each kernel, with pivots among the centres of the bins.
        nodes: covariances of f at the nodes with f at the pivots of each kernel (F, number of its features).
        star: phi of each kernel at the nodes of ``bins.star`` (M (1 + 2 S), number of its features).
        bin_features: means of phi over the bins (K, M, k), padded with 0 to the largest number of features k.
        prior_over_bins: prior covariance of the means of f over the bins (K, M, M).
        bias: features psi of the field of clipping bias (M, k_b).
        label: index of the kernel of each model (m,).
        noise_variance: variance of an output about f under each model (m,).
        weight: prior weight of each model (m,).
        family: an object for each model, which is equal for models that differ only in noise variance or amplitude.
        always_planned_for: whether strategies are planned for the curve even if it is unlikely (m,).
        amplitude: prior variance of f under each model (m,).
        change_points: the change points that f may have.
        change_point_variances: prior variances of their heights under each model (m, V).
        feature_error: mean variance of f about phi^T a over each bin (K, M); None if locations are unknown.
        even: means of phi over bins with evenly spread records (K, M, k); None if locations were not measured.
        unresolved_share: share of the variance of f within a bin that remains after locations were measured (M,); None
            if they were not measured.
    """

    bins: Bins
    features: tuple[Features, ...]
    nodes: tuple[FloatArray, ...]
    star: tuple[FloatArray, ...]
    bin_features: FloatArray
    prior_over_bins: FloatArray
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
    unresolved_share: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.label)

    @property
    def rank(self) -> int:
        """Number of features k, padding included."""
        return int(self.bin_features.shape[2])

    def kernels_of(self, index: IndexArray) -> Iterator[tuple[int, IndexArray]]:
        """Yield each kernel among the models ``index`` (A,), and the entries of ``index`` whose models have it."""
        labels = self.label[index]
        for label in dict.fromkeys(labels.tolist()):
            yield label, np.flatnonzero(labels == label)

    def at(self, label: int, X: FloatArray) -> FloatArray:
        """Return the features of a kernel at X (n, D), padded to (n, k)."""
        phi = self.features[label].at(lifted(X, self.bins.periods)).values()
        return np.pad(phi, ((0, 0), (0, self.rank - phi.shape[1])))

    def with_noise(self, labels: IndexArray, noise_variance: float) -> ModelSet:
        """Return one model for each of the kernels ``labels`` (K,), all with this noise variance."""
        first = np.array([np.flatnonzero(self.label == each)[0] for each in labels])
        return replace(
            self,
            label=self.label[first],
            noise_variance=np.full(len(first), noise_variance),
            weight=self.weight[first],
            family=tuple(self.family[each] for each in first),
            always_planned_for=self.always_planned_for[first],
            amplitude=self.amplitude[first],
            change_point_variances=np.tile(self.change_points.variances_under(noise_variance), (len(first), 1)),
        )

    def open_variance(self, label: IndexArray, within: FloatArray) -> FloatArray:
        """Return the part of the variance of f within a bin that known locations do not remove (A, M).

        Args:
            label: kernels of the models (A,).
            within: variance of f within each bin (A, M).
        """
        if self.feature_error is not None:
            return self.feature_error[label]
        return within if self.unresolved_share is None else self.unresolved_share * within


def model_set(
    models: Sequence[Model],
    bins: Bins,
    *,
    change_points: ChangePoints | None = None,
) -> ModelSet:
    """Return the models with everything that is computed once for the given bins.

    Args:
        change_points: the change points that curves may have on these bins; None for none.
    """
    change_points = no_change_points(bins) if change_points is None else change_points
    kernels = list(dict.fromkeys(model.kernel for model in models))
    features = tuple(factorise(kernel, bins.centres, _TOLERANCE).features for kernel in kernels)
    nodes = tuple(kernel(bins.nodes, each.Z) for kernel, each in zip(kernels, features, strict=True))
    bin_features = _bin_features(bins, features, nodes)
    noises = [model.noise_variance for model in models]
    return ModelSet(
        bins=bins,
        features=features,
        nodes=nodes,
        star=tuple(_whitened(each, of[bins.star.ravel()]) for each, of in zip(features, nodes, strict=True)),
        bin_features=bin_features,
        prior_over_bins=bin_features @ bin_features.swapaxes(1, 2),
        bias=bias_features(bins.box, bins.centres),
        label=np.array([kernels.index(model.kernel) for model in models]),
        noise_variance=np.array(noises),
        weight=np.array([model.weight for model in models]),
        family=tuple(family_of(model.kernel) for model in models),
        always_planned_for=np.array([always_planned_for(model.kernel) for model in models]),
        amplitude=np.array([model.kernel.variance for model in models]),
        change_points=change_points,
        change_point_variances=np.stack([change_points.variances_under(noise) for noise in noises]),
        feature_error=np.stack([_left_out(bins, *each) for each in zip(features, nodes, strict=True)])
        if isinstance(bins, Clusters | LocatedGrid)
        else None,
    )


def models_given_locations(models: ModelSet, bins: LocatedGrid, unresolved_share: FloatArray) -> ModelSet:
    """Return the models once the mean locations of records within cells have been measured.

    Args:
        models: the models on cells in which locations are unknown.
        bins: the same cells with the mean locations.
        unresolved_share: share of the variance within a cell that the measured locations leave open (M,).
    """
    bin_features = _bin_features(bins, models.features, models.nodes)
    return replace(
        models,
        bins=bins,
        bin_features=bin_features,
        prior_over_bins=bin_features @ bin_features.swapaxes(1, 2),
        even=models.bin_features,
        unresolved_share=unresolved_share,
        change_points=models.change_points.given_locations(bins),
    )


def _whitened(features: Features, covariances: FloatArray) -> FloatArray:
    """Return features phi (n, r), given the covariances of n values of f with f at the pivots (n, r)."""
    return np.asarray(solve_triangular(features.root, covariances.T, lower=True, check_finite=False).T)


def _bin_features(bins: Bins, features: Sequence[Features], nodes: Sequence[FloatArray]) -> FloatArray:
    """Return the means of phi over the bins (K, M, k), padded with columns of zeros."""
    parts = [_whitened(each, bins.averages(of_nodes)) for each, of_nodes in zip(features, nodes, strict=True)]
    most = max(each.shape[1] for each in parts)
    return np.stack([np.pad(each, ((0, 0), (0, most - each.shape[1]))) for each in parts])


def _left_out(bins: Bins, features: Features, nodes: FloatArray) -> FloatArray:
    """Return the mean of k(x, x) - |phi(x)|^2 over the nodes of each bin (M,), or 0 if it is a rounding error."""
    rest = features.kernel.diagonal(bins.nodes) - column_norms(_whitened(features, nodes).T)
    mean = bins.even_averages(rest)
    return np.where(mean > _ROUNDING * features.kernel.variance, mean, 0.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class State:
    """Posterior of (a, eta, b) without change points under the A active models, given all stages so far.

    The covariance is C = diag(prior) - rows^T rows. A stage that releases r numbers appends r rows. This needs less
    memory than C as long as fewer than N numbers have been released.

    Attributes:
        models: all m models of the mixture.
        index: the active models (A,), in ascending order.
        mean: posterior mean (A, N).
        prior: variances before any stage (A, N).
        rows: factor of C (A, R, N), with R the number of all released numbers.
        rows_over_bins: rows times the features of the means of f over the bins (A, R, M).
        rows_over_even: rows times the features of means over bins with evenly spread records (A, R, M), or (A, R, 0) if
            locations were not measured.
        applied: number of leading rows that ``covariance_before`` and ``star_variance_before`` take into account. The
            later rows are subtracted when ``smooth_covariance`` and ``star_variance`` are first used, which saves this
            work for models that have been ruled out by then.
        covariance_before: covariance of the means of f over the bins given the applied rows (A, M, M).
        star_variance_before: variance of f at the nodes of ``bins.star`` given the applied rows (A, M (1 + 2 S)).
        log_evidences_by_share: log p(z of all stages | model, share) for each of ``TUNING.location_shares`` (A, 4),
            without change points.
        squared_norms: |w|^2 of each measurement, w = L^-1 (z - E z), in the order counts (if they are noisy), stages
            (A, number of measurements).
        change_points: posterior of the change points.
        effects: effect of each change point, for unit height, on the means of f over the bins (A, M, J).
        log_evidence: log p(z | model) of every model (m,), averaged over the shares and with change points, given all
            stages in which the model was active.
    """

    models: ModelSet
    index: IndexArray
    mean: FloatArray
    prior: FloatArray
    rows: FloatArray
    rows_over_bins: FloatArray
    rows_over_even: FloatArray
    applied: int
    covariance_before: FloatArray
    star_variance_before: FloatArray
    log_evidences_by_share: FloatArray
    squared_norms: FloatArray
    change_points: ChangePointState
    effects: FloatArray
    log_evidence: FloatArray

    @property
    def label(self) -> IndexArray:
        """Index of the kernel of each active model (A,)."""
        return self.models.label[self.index]

    @property
    def noise_variance(self) -> FloatArray:
        """Variance of an output about f under each active model (A,)."""
        return self.models.noise_variance[self.index]

    @property
    def active(self) -> NDArray[np.bool_]:
        """Whether each of the m models is active (m,)."""
        found = np.zeros(len(self.models), dtype=bool)
        found[self.index] = True
        return found

    def only(self, index: IndexArray) -> State:
        """Return the state restricted to the models ``index`` (A',), which must be active."""
        if np.array_equal(index, self.index):
            return self
        rows = np.searchsorted(self.index, index)
        shared = ("index", "log_evidence")  # every other array has a leading axis of the active models
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

        It is 0 for models that are not active. See ``measurement.fit``.
        """
        explained, found = self.change_points.explained, np.zeros((len(self.models), self.squared_norms.shape[1]))
        found[self.index] = self.squared_norms
        found[self.index, self.squared_norms.shape[1] - explained.shape[1] :] -= explained
        return found

    @cached_property
    def coefficients(self) -> FloatArray:
        """Expected coefficients a of the curve without change points (A, k)."""
        k = self.models.rank
        of_change_points = (self.change_points.G @ self.change_points.mean[:, :, None]).swapaxes(1, 2)
        return np.asarray(self.mean[:, :k] - (of_change_points @ self.rows[:, :, :k])[:, 0])

    @cached_property
    def mean_over_bins(self) -> FloatArray:
        """Posterior mean of f over each bin (A, M)."""
        return self._mean(self.models.bin_features, self.models.change_points.over_bins)

    @cached_property
    def mean_over_even(self) -> FloatArray:
        """Posterior mean of f over each bin if its records were evenly spread (A, M)."""
        assert self.models.even is not None
        return self._mean(self.models.even, self.models.change_points.even)

    @cached_property
    def mean_at_star(self) -> FloatArray:
        """Posterior mean of f at the nodes of ``bins.star`` (A, M (1 + 2 S))."""
        return self._mean(self.models.star, self.models.change_points.nodes[self.models.bins.star.ravel()])

    def mean_at_nodes(self, weights: FloatArray) -> FloatArray:
        """Return the posterior mean of f at the nodes (F,), averaged with the weights (A,) over the models."""
        mean = self.models.change_points.nodes @ (weights @ self.change_points.mean)
        for label, rows in self.models.kernels_of(self.index):
            nodes, root = self.models.nodes[label], self.models.features[label].root
            coefficients = weights[rows] @ self.coefficients[rows, : nodes.shape[1]]
            mean += nodes @ solve_triangular(root, coefficients, lower=True, trans="T", check_finite=False)
        return mean

    @cached_property
    def variance_over_bins(self) -> FloatArray:
        """Posterior variance of the mean of f over each bin (A, M)."""
        prior = np.diagonal(self.models.prior_over_bins, axis1=1, axis2=2)[self.label]
        return prior - column_norms(self.rows_over_bins) + self.change_points.variance(self.effects)

    @cached_property
    def smooth_covariance(self) -> FloatArray:
        """Posterior covariance of the means of f over the bins, without the part of change points (A, M, M)."""
        rows = self.rows_over_bins[:, self.applied :]
        return np.asarray(self.covariance_before - rows.swapaxes(1, 2) @ rows)

    @cached_property
    def covariance_over_bins(self) -> FloatArray:
        """Posterior covariance of the means of f over the bins (A, M, M)."""
        if self.rows.shape[1]:
            return np.asarray(self.smooth_covariance + self.change_points.covariance(self.effects))
        # before any stage, what change points add depends only on the prior variances of their heights
        first, same = np.unique(
            self.models.change_point_variances[self.index], axis=0, return_index=True, return_inverse=True
        )[1:]
        of_change_points = self.change_points.only(first).covariance(self.effects[first])
        return np.asarray(self.smooth_covariance + of_change_points[same.ravel()])

    @cached_property
    def star_variance(self) -> FloatArray:
        """Posterior variance of f at the nodes of ``bins.star``, without the part of change points (A, M (1 + 2 S))."""
        variance, later = self.star_variance_before.copy(), self.rows[:, self.applied :, : self.models.rank]
        for label, rows in self.models.kernels_of(self.index):
            star = self.models.star[label]
            variance[rows] -= column_norms(later[rows, :, : star.shape[1]] @ star.T)
        return variance

    @cached_property
    def covariance_of_change_points(self) -> FloatArray:
        """Part of the covariance of (means of f over the bins, eta, b) that is due to change points.

        Its shape is (A, 2 M + k_b, 2 M + k_b).
        """
        others = -self.rows[:, :, self.models.rank :].swapaxes(1, 2) @ self.change_points.G
        every = np.concatenate([self.effects, others], axis=1)
        return self.change_points.covariance(every)

    def _mean(self, phi: Sequence[FloatArray] | FloatArray, shapes: FloatArray) -> FloatArray:
        """Return the posterior mean (A, n) of a linear functional of f, from its features and shapes.

        Args:
            phi: the functional applied to the features of each kernel (n, number of features).
            shapes: the functional applied to the shapes of the change points (n, J).
        """
        means = self.change_points.mean @ shapes.T
        for label, rows in self.models.kernels_of(self.index):
            means[rows] += self.coefficients[rows, : phi[label].shape[1]] @ phi[label].T
        return means


def prior_state(models: ModelSet, counts: RecordCounts, noise_over_bins: FloatArray | None = None) -> State:
    """Return the state before any residual is measured.

    Args:
        noise_over_bins: see ``Filter``.
    """
    A, k, M = len(models), models.rank, models.bins.size
    noise = models.noise_variance[:, None] if noise_over_bins is None else noise_over_bins
    eta = np.broadcast_to((1 + SHARED_CLIPPING_NOISE) * counts.nonnegative * noise, (A, M))
    prior = np.concatenate([np.ones((A, k)), eta, np.ones((A, models.bias.shape[1]))], axis=1)
    of_kernel = np.stack([column_norms(star.T) for star in models.star])
    change_points = models.change_points.prior(models.change_point_variances)
    return State(
        models=models,
        index=np.arange(A),
        mean=np.zeros(prior.shape),
        prior=prior,
        rows=np.zeros((A, 0, prior.shape[1])),
        rows_over_bins=np.zeros((A, 0, M)),
        rows_over_even=np.zeros((A, 0, 0 if models.even is None else M)),
        applied=0,
        covariance_before=models.prior_over_bins[models.label],
        star_variance_before=of_kernel[models.label],
        log_evidences_by_share=np.zeros((A, len(TUNING.location_shares))),
        squared_norms=np.full((A, 1), counts.misfit[0]) if counts.misfit is not None else np.zeros((A, 0)),
        change_points=change_points,
        effects=np.broadcast_to(models.change_points.over_bins, (A, *models.change_points.over_bins.shape)),
        log_evidence=change_points.log_evidence,
    )
