"""Posterior of the curve given a release, under its own models or others. This is post-processing of the release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..arrays import FloatArray
from ..gp.uncertainty import IntervalTarget
from ..kernels import Kernel
from ..levels import check_codes
from ..linalg import check_columns
from ..measurement.fit import Fit
from ..measurement.measurement import KnownCounts
from ..measurement.statistics import CellStatistics, Statistics
from .cells import CellGrid, LocatedGrid
from .clusters import Bins, Clusters
from .curator import measured_of
from .dispersion import predict_release
from .filter import Filter, Posterior, filter_of
from .mixture import JointPosterior, Mixture, OutcomeDistribution
from .model import Model, across_groups, models_of, rough_share
from .periodic import with_periodic_component, with_phases
from .prediction import joint_covariances, noise_variance
from .queries import Measured
from .record_posterior import read_records
from .settings import noise_sds_for


class CurvePosterior(NamedTuple):
    """Posterior of the curve at P test inputs given one release, in model units.

    Attributes:
        models: the m models of the mixture.
        X_test: test inputs (P, D).
        curve: predictions of the models, with the local dispersion of outcomes if it was measured.
        log_evidence: log density of the sums of outcomes under each model (m,).
        covariances: function that returns the fields ``cross_covariances`` and ``change_points`` of ``JointPosterior``,
            which are large if there are many test inputs.
    """

    models: tuple[Model, ...]
    X_test: FloatArray
    curve: Mixture
    log_evidence: FloatArray
    covariances: Callable[[], tuple[tuple[FloatArray, ...], tuple[FloatArray, ...]]]

    def joint(self) -> JointPosterior:
        """Return the joint posterior of f at all test inputs."""
        shared, of_change_points = self.covariances()
        return JointPosterior(
            models=self.models,
            X_test=self.X_test,
            means=self.curve.means[0],
            cross_covariances=shared,
            weights=self.curve.weights[0],
            fit=self.curve.fit,
            change_points=of_change_points,
            cautious=np.broadcast_to(self.curve.cautious, self.curve.means[:, 0].shape)[0],
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleasePosterior:
    """Posterior given a release under the models of a mixture. It contains released and public numbers only.

    It is computed when it is first used. Either ``statistics`` is given, or ``filtered`` and ``measured`` are.

    Attributes:
        models: the m models of the mixture.
        x_box: declared box of the inputs.
        filtered: the filter on the bins of the release; None in releases of other mechanisms.
        measured: the released measurements, in model units; None in releases of other mechanisms.
        statistics: a release of another mechanism, whose strategy has a column for each record (``record_posterior``).
    """

    models: tuple[Model, ...]
    x_box: Sequence[tuple[float, float]]
    filtered: Filter | None = None
    measured: Measured | None = None
    statistics: Statistics | None = None

    def at(self, X_test: FloatArray) -> CurvePosterior:
        """Return the posterior at test inputs X_test (P, D).

        Raises:
            ValueError: the number of columns of X_test is wrong, or a categorical one contains a value that is no code.
        """
        check_columns(np.empty((1, len(self.x_box))), X_test)
        check_codes(X_test, self.x_box)
        if self.statistics is not None:
            curve, Q, log_evidence = read_records(self.statistics, self.models, X_test)
            return CurvePosterior(self.models, X_test, curve, log_evidence, lambda: (Q, ()))
        filtered, posterior = self._conditioned
        assert self.measured is not None
        return CurvePosterior(
            self.models,
            X_test,
            predict_release(filtered, posterior, self.measured, X_test),
            posterior.state.log_evidence,
            lambda: joint_covariances(filtered, posterior, X_test),
        )

    def log_evidence(self) -> FloatArray:
        """Return the log density of the sums of outcomes under each model (m,)."""
        if self.statistics is not None:
            return read_records(self.statistics, self.models, self.statistics.X[:1]).log_evidence
        return self._conditioned[1].state.log_evidence

    def noise_variance(self, X_test: FloatArray) -> FloatArray:
        """Return the part of the variance of f at X_test (P,) that is due to noise, see ``prediction.noise_variance``.

        The release must be one of Bayes cloaking.
        """
        assert self.measured is not None
        return noise_variance(*self._conditioned, self.measured.stages, X_test)

    @cached_property
    def _conditioned(self) -> tuple[Filter, Posterior]:
        """The filter with the counts of the release, and its posterior. They do not depend on the test inputs."""
        assert self.filtered is not None
        assert self.measured is not None
        assert self.measured.counts is not None
        filtered = self.filtered.with_counts(self.measured.counts, self.measured.z, self.measured.locations)
        return filtered, filtered.given(self.measured.stages)


def posterior_given(
    statistics: Statistics | CellStatistics, models: Sequence[Model], *, change_points: bool = True
) -> ReleasePosterior:
    """Return the posterior given a release under the given models.

    Args:
        models: the m models of the mixture, in model units.
        change_points: whether curves may have change points, see ``changepoints``.
    """
    if isinstance(statistics, Statistics):
        return ReleasePosterior(models=tuple(models), x_box=statistics.x_box, statistics=statistics)
    bins, is_binary = bins_of(statistics), statistics.outcome_model == "yes/no"
    dated, n, h = with_phases(models, bins.periods), statistics.n, statistics.half_range
    filtered = filter_of(dated, bins, n, h, is_binary=is_binary, change_points=change_points)
    return ReleasePosterior(
        models=tuple(models), x_box=statistics.x_box, filtered=filtered, measured=measured_of(statistics)
    )


def bins_of(statistics: CellStatistics) -> Bins:
    """Return the public bins over which a release was measured."""
    box, periods = statistics.x_box, statistics.periods
    counts = statistics.counts
    if statistics.clusters is not None:
        assert isinstance(counts, KnownCounts)
        return Clusters(box=tuple(box), ends=statistics.clusters, node_sums=counts.node_sums, periods=periods)
    assert statistics.per_side is not None
    cells: dict[str, Any] = {"box": box, "per_side": statistics.per_side, "periods": periods}
    return LocatedGrid(**cells, node_sums=counts.node_sums) if isinstance(counts, KnownCounts) else CellGrid(**cells)


@dataclass(frozen=True, kw_only=True, eq=False)
class Refit:
    """Posterior of the curve under other models, weighted by their evidence. Values are in the unit of the outcome.

    Attributes:
        X_test: test inputs (P, D).
        mixture: predictions of the models in model units, with an axis of length 1 for the release. The models are
            ordered by kernel, and within each kernel by noise variance.
        midpoint, y_scale: an outcome is midpoint + y_scale times its value in model units.
    """

    X_test: FloatArray
    mixture: Mixture
    midpoint: float
    y_scale: float

    @property
    def mean(self) -> FloatArray:
        """Posterior mean of f (P,)."""
        return np.asarray(self.midpoint + self.y_scale * self.mixture.mean[0])

    @property
    def weights(self) -> FloatArray:
        """Probability of each model given the release (m,), with equal prior weights."""
        return np.asarray(self.mixture.weights[0])

    @property
    def fit(self) -> Fit | None:
        """How well the released numbers fit these models, by which intervals are widened; None if it is unknown."""
        return next(iter(self.mixture.fit), None)

    def interval(self, level: float, of: IntervalTarget = "function") -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper ends (P,) of central posterior intervals.

        Args:
            level: probability of each interval, in (0, 1).
            of: "function" for the curve, "outputs" for the outcome of one more record.

        Raises:
            ValueError: level is outside (0, 1), or ``of`` is unknown.
        """
        low, high = self.mixture.interval(level, of)
        return self.midpoint + self.y_scale * low[0], self.midpoint + self.y_scale * high[0]


def refit(
    statistics: Statistics | CellStatistics,
    *,
    kernels: Sequence[Kernel],
    noise_variances: Sequence[float],
    X_test: FloatArray,
    change_points: bool = False,
    periodic: bool = False,
) -> Refit:
    """Return the posterior of f at X_test given a release, averaged over chosen models. This spends no budget.

    Args:
        kernels: covariance functions of f, in squared model units; model units are (y - midpoint) / y_scale. If some
            inputs are categories, they are kernels of the other inputs, and each is combined with the shares
            ``TUNING.shared`` of the curve that groups have in common.
        noise_variances: variances of outcomes about f, in squared model units. Every pair of a kernel and a noise
            variance is one model.
        X_test: test inputs (P, D).
        change_points: whether curves may have change points, as in the models with which a release was made.
        periodic: whether curves have a periodic component along each input with a period, as in some of these models.

    Raises:
        ValueError: there is no model, a variance is not positive, or X_test does not fit the inputs of the release.
    """
    if not kernels or not noise_variances:
        raise ValueError("give at least one kernel and one noise variance")
    check_columns(np.empty((1, len(statistics.x_box))), X_test)
    check_codes(X_test, statistics.x_box, statistics.x_names)
    pairs = (Model(kernel=kernel, noise_variance=variance) for kernel in kernels for variance in noise_variances)
    models = across_groups(pairs, statistics.x_box)
    if periodic and isinstance(statistics, CellStatistics):
        models = with_periodic_component(models, statistics.x_box, statistics.periods)
    mixture = posterior_given(statistics, models, change_points=change_points).at(X_test).curve
    if mixture.outcomes is not None:
        mixture = replace(mixture, outcomes=OutcomeDistribution(mixture.outcomes.variance))  # normal, as the models are
    return Refit(X_test=X_test, mixture=mixture, midpoint=statistics.midpoint, y_scale=statistics.y_scale)


@dataclass(frozen=True, kw_only=True, eq=False)
class Difference:
    """Posterior of the curve of a first group minus that of a second, at P points, in the unit of the outcome.

    Attributes:
        X: the points (P, D), with the category of the first group.
        mixture: the difference under each model in model units, with an axis of length 1 for the release.
        y_scale: size of a model unit in the unit of the outcome.
    """

    X: FloatArray
    mixture: Mixture
    y_scale: float

    @property
    def mean(self) -> FloatArray:
        """Expected difference (P,)."""
        return np.asarray(self.y_scale * self.mixture.mean[0])

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper ends (P,) of central posterior intervals of the difference.

        Raises:
            ValueError: level is outside (0, 1).
        """
        low, high = self.mixture.interval(level, "function")
        return self.y_scale * low[0], self.y_scale * high[0]


def difference(
    statistics: Statistics | CellStatistics,
    first: str,
    second: str,
    X: FloatArray,
    *,
    of: str | None = None,
    models: Sequence[Model] | None = None,
) -> Difference:
    """Return the posterior of the curve of one group minus that of another. This spends no budget.

    Args:
        statistics: a release with at least one categorical input.
        X: points (P, D). Their column of the categorical input is ignored.
        of: name of the categorical input; None if there is only one.
        models: models of the curve, in model units; None for those that Bayes cloaking makes.

    Raises:
        ValueError: ``of`` is not a categorical input, it does not have these categories, or X does not fit.
    """
    column = _column(statistics, of)
    codes = [_code(statistics, column, level) for level in (first, second)]
    if codes[0] == codes[1]:
        raise ValueError(f"the difference of {first!r} and itself is 0; name two levels")
    check_columns(np.empty((1, len(statistics.x_box))), X)
    points = [X.copy(), X.copy()]
    for each, code in zip(points, codes, strict=True):
        each[:, column] = code
        check_codes(each, statistics.x_box, statistics.x_names)
    found = posterior_given(statistics, _models(statistics) if models is None else tuple(models))
    return Difference(X=points[0], mixture=contrast(found.at(np.vstack(points)).joint()), y_scale=statistics.y_scale)


def contrast(joint: JointPosterior) -> Mixture:
    """Return f at the first P points of a joint posterior minus f at the other P points, as a mixture.

    Under each model the difference is normal. Its variance at a pair of points a, b is
    k(a, a) + k(b, b) - 2 k(a, b) - |Q_a - Q_b|^2, where Q_a and Q_b are columns of Q, so that uncertainty that both
    curves have in common cancels. Curves of groups have no change points. Outliers may be different in each group.
    """
    P = len(joint.X_test) // 2
    a, b, variances = joint.X_test[:P], joint.X_test[P:], []
    cautious = np.broadcast_to(joint.cautious, 2 * P)
    for model, Q in zip(joint.models, joint.cross_covariances, strict=True):
        prior = model.kernel.diagonal(a) + model.kernel.diagonal(b)
        covariance = [float(model.kernel(a[i : i + 1], b[i : i + 1])[0, 0]) for i in range(P)]
        Q_difference = Q[:, :P] - Q[:, P:]
        variance = prior - 2 * np.array(covariance) - np.einsum("ij,ij->j", Q_difference, Q_difference)
        variances.append(np.maximum(variance, 1e-14 * prior) + cautious[:P] + cautious[P:])
    return Mixture(
        means=(joint.means[:, :P] - joint.means[:, P:])[None],
        variances=np.array([variances]),
        noise_variances=np.zeros(len(joint.models)),
        weights=joint.weights[None],
        fit=joint.fit,
    )


def _models(statistics: Statistics | CellStatistics) -> tuple[Model, ...]:
    """Return the models that Bayes cloaking makes, with rough ones if the noise of the release is known."""
    box = statistics.x_box
    noises, rough = noise_sds_for("any outcomes", box), 0.0
    if isinstance(statistics, CellStatistics):
        spent = sum(1 / each.noise_sd**2 for each in statistics.measurements)
        noises, rough = noise_sds_for(statistics.outcome_model, box), rough_share(statistics.n, spent**-0.5)
    return models_of((), None, box, statistics.half_range, noises, rough)


def _column(statistics: Statistics | CellStatistics, of: str | None) -> int:
    columns = statistics.categories
    if not columns:
        raise ValueError("no input of the release is a category, so it has no groups")
    if of is None and len(columns) > 1:
        names = ", ".join(repr(statistics.x_names[d]) for d in columns)
        raise ValueError(f"several inputs are categories, {names}; name one of them by the argument of")
    column = next((d for d in columns if of is None or statistics.x_names[d] == of), None)
    if column is None:
        raise ValueError(f"{of!r} is no input of the release that is a category")
    return column


def _code(statistics: Statistics | CellStatistics, column: int, level: str) -> int:
    levels = statistics.columns[column].levels or ()
    if level not in levels:
        raise ValueError(f"{statistics.x_names[column]!r} has no level {level!r}; its levels are {', '.join(levels)}")
    return levels.index(level)
