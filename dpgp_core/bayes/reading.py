"""Released numbers, read again with any models, anywhere: spends nothing, and needs no record.

The difference of two groups' curves follows from the same numbers: f(x, a) - f(x, b) is linear in the curve. Under
each model it is normal with mean m_a - m_b and variance V_aa + V_bb - 2 V_ab, the posterior covariance of both: common
uncertainty cancels. The mixture of the models gives its quantiles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

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
from .clusters import Clusters
from .filter import Columns, Filter, Posterior, filter_of
from .mixture import JointPosterior, Mixture, OutcomeDistribution
from .model import Model, across_levels, models_of, rough_share
from .periodic import with_phases
from .queries import Measured
from .readers import measured_of
from .record_reading import read_records
from .settings import noise_sds_for


@dataclass(frozen=True, kw_only=True, eq=False)
class CurvePosterior:
    """The curve at P test inputs given one release, and the outcomes about it, in model units.

    Attributes:
        curve: the models' predictions, with the local dispersion of outcomes where it was measured.
        log_evidence: log density of the sums of outcomes under each model (M,).
        covariances: computes Q (R, P) of each model and what change points add to the covariance of f (P, P), see
            ``mixture.JointPosterior``. They are computed only on demand, because (P, P) is large for many test inputs.
    """

    models: tuple[Model, ...]
    X_test: FloatArray
    curve: Mixture
    log_evidence: FloatArray
    covariances: Callable[[], tuple[tuple[FloatArray, ...], tuple[FloatArray, ...]]]

    def joint(self) -> JointPosterior:
        """The joint posterior of f at all test inputs."""
        shared, of_change_points = self.covariances()
        return JointPosterior(
            models=self.models,
            X_test=self.X_test,
            means=self.curve.means[0],
            cross_covariances=shared,
            weights=self.curve.weights[0],
            fit=self.curve.fit,
            change_points=of_change_points,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleaseReading:
    """One release and the models it is read by. It holds no outcome: all of it is post-processing.

    Attributes:
        x_box: declared box of the inputs.
        filtered: the mixture on public columns; None where every record has a column of its own.
        measured: the release then, in model units.
        statistics: the release where every record has a column of its own.
    """

    models: tuple[Model, ...]
    x_box: Sequence[tuple[float, float]]
    filtered: Filter | None = None
    measured: Measured | None = None
    statistics: Statistics | None = None

    def at(self, X_test: FloatArray) -> CurvePosterior:
        """The posterior at X_test (P, D).

        Raises:
            ValueError: the columns of X_test do not fit, or a categorical one holds something else.
        """
        check_columns(np.empty((1, len(self.x_box))), X_test)
        check_codes(X_test, self.x_box)
        common: dict[str, Any] = {"models": self.models, "X_test": X_test}
        if self.statistics is not None:
            found = read_records(self.statistics, self.models, X_test)
            return CurvePosterior(
                curve=found.curve,
                log_evidence=found.log_evidence,
                covariances=lambda: (found.cross_covariances, ()),
                **common,
            )
        filtered, posterior = self._read
        filtered = filtered.at(X_test)
        assert self.measured is not None
        curve = filtered.with_dispersion(filtered.predict(posterior), self.measured.distances)
        return CurvePosterior(
            curve=replace(curve, unseen=filtered.unseen_outliers(posterior, self.measured.stages)),
            log_evidence=posterior.state.log_evidence,
            covariances=lambda: (filtered.cross_covariances(posterior), filtered.change_point_covariances(posterior)),
            **common,
        )

    def log_evidence(self) -> FloatArray:
        """Log density of the sums of outcomes, under each model (M,)."""
        if self.statistics is not None:
            return read_records(self.statistics, self.models, self.statistics.X[:1]).log_evidence
        return self._read[1].state.log_evidence

    @cached_property
    def _read(self) -> tuple[Filter, Posterior]:
        """The mixture with counts, and its posterior, the same for any test inputs."""
        assert self.filtered is not None
        assert self.measured is not None
        assert self.measured.counts is not None
        filtered = self.filtered.with_counts(self.measured.counts, self.measured.z, self.measured.positions)
        posterior = filtered.read(self.measured.stages)
        return filtered, filtered.with_local_noise(posterior, self.measured.stages, self.measured.distances)


def read(
    statistics: Statistics | CellStatistics, models: Sequence[Model], *, change_points: bool = True
) -> ReleaseReading:
    """A released statistic read with some models (M), in model units.

    Args:
        change_points: whether curves may have change points, see ``changepoints``; False for the models alone.
    """
    if isinstance(statistics, Statistics):
        return ReleaseReading(models=tuple(models), x_box=statistics.x_box, statistics=statistics)
    columns = columns_of(statistics)
    filtered = filter_of(
        with_phases(models, columns.periods),
        columns,
        statistics.n,
        statistics.half_range,
        is_binary=statistics.reading == "yes/no",
        change_points=change_points,
    )
    return ReleaseReading(
        models=tuple(models), x_box=statistics.x_box, filtered=filtered, measured=measured_of(statistics)
    )


def columns_of(statistics: CellStatistics) -> Columns:
    """The public columns that a release measured over."""
    box, periods = statistics.x_box, statistics.periods
    counts = statistics.counts
    if statistics.clusters is not None:
        assert isinstance(counts, KnownCounts)
        return Clusters(box=tuple(box), ends=statistics.clusters, places=counts.places, periods=periods)
    assert statistics.per_side is not None
    cells: dict[str, Any] = {"box": box, "per_side": statistics.per_side, "periods": periods}
    return LocatedGrid(**cells, places=counts.places) if isinstance(counts, KnownCounts) else CellGrid(**cells)


@dataclass(frozen=True, kw_only=True, eq=False)
class Refit:
    """The curve under other models, weighted by their evidence, in the output's unit. Post-processing.

    Attributes:
        mixture: of the models' predictions, kernels first; one draw, in model units.
        midpoint, y_scale: y = midpoint + y_scale y'.
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
        """Probability of each model given the release (M,), from equal prior weights."""
        return np.asarray(self.mixture.weights[0])

    @property
    def fit(self) -> Fit | None:
        """Fit of the released numbers to these models, where clipping may be biased; intervals are widened by it."""
        return next(iter(self.mixture.fit), None)

    def interval(self, level: float, of: IntervalTarget = "function") -> tuple[FloatArray, FloatArray]:
        """Central posterior intervals (P,), (P,): as much probability below as above; see ``Mixture.interval``."""
        low, high = self.mixture.interval(level, of)
        return self.midpoint + self.y_scale * low[0], self.midpoint + self.y_scale * high[0]


def refit(
    statistics: Statistics | CellStatistics,
    *,
    kernels: Sequence[Kernel],
    noise_variances: Sequence[float],
    X_test: FloatArray,
    change_points: bool = False,
) -> Refit:
    """Posterior of f at X_test given a released statistic, averaged over models. Spends nothing.

    Later stages clip to narrow intervals, and every first one to the bounds; the moments of a clipped normal output
    enter mean, intervals and evidence (``clipping.clipped``).

    Args:
        statistics: a release; noisy counts and sums over cells where inputs are private too.
        kernels: covariance functions of f, in squared model units, (y - midpoint) / y_scale. Where inputs are
            categories, of the others; each is then taken for groups that share nothing, half, and nearly all.
        noise_variances: variances > 0 of outputs about f; every pair is one model.
        change_points: whether curves may have change points, as those of a release's own models may.

    Raises:
        ValueError: no model, a variance is not positive, or the columns of X_test do not fit.
    """
    if not kernels or not noise_variances:
        raise ValueError("give at least one kernel and one noise variance")
    check_columns(np.empty((1, len(statistics.x_box))), X_test)
    check_codes(X_test, statistics.x_box, statistics.x_names)
    pairs = (Model(kernel=kernel, noise_variance=variance) for kernel in kernels for variance in noise_variances)
    mixture = read(statistics, across_levels(pairs, statistics.x_box), change_points=change_points).at(X_test).curve
    if mixture.outcomes is not None:
        mixture = replace(mixture, outcomes=OutcomeDistribution(mixture.outcomes.variance))  # normal, as the models are
    return Refit(X_test=X_test, mixture=mixture, midpoint=statistics.midpoint, y_scale=statistics.y_scale)


@dataclass(frozen=True, kw_only=True, eq=False)
class Difference:
    """First group's curve less the second's at P points, in the output's unit. Public.

    Attributes:
        X: points (P, D), of the first group.
        mixture: of the difference, one draw, in model units.
    """

    X: FloatArray
    mixture: Mixture
    y_scale: float

    @property
    def mean(self) -> FloatArray:
        """Expected difference (P,)."""
        return np.asarray(self.y_scale * self.mixture.mean[0])

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Ends (P,), (P,) of the interval that holds the difference of the curves with this probability.

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
    """The curve of one group less that of another. Spends nothing.

    Args:
        statistics: a release, of inputs of which one is a category.
        first: one of its levels.
        second: another.
        X: points (P, D); their column of that category is not read.
        of: name of the category; None where there is one.
        models: of the curve, in model units; None for the automatic ones.

    Raises:
        ValueError: no input is that category, it has no such levels, or X does not fit.
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
    reading = read(statistics, _models(statistics) if models is None else tuple(models))
    return Difference(X=points[0], mixture=contrast(reading.at(np.vstack(points)).joint()), y_scale=statistics.y_scale)


def contrast(joint: JointPosterior) -> Mixture:
    """F at the first half of a joint posterior's points less f at the second, point by point (P,); one draw.

    Variance = k_aa + k_bb - 2 k_ab - |q_a - q_b|^2, q the columns of Q; curves of groups have no change_points.
    """
    P = len(joint.X_test) // 2
    a, b, variances = joint.X_test[:P], joint.X_test[P:], []
    for model, Q in zip(joint.models, joint.cross_covariances, strict=True):
        prior = model.kernel.diagonal(a) + model.kernel.diagonal(b)
        covariance = [float(model.kernel(a[i : i + 1], b[i : i + 1])[0, 0]) for i in range(P)]
        q = Q[:, :P] - Q[:, P:]
        variance = prior - 2 * np.array(covariance) - np.einsum("ij,ij->j", q, q)
        variances.append(np.maximum(variance, 1e-14 * prior))
    return Mixture(
        means=(joint.means[:, :P] - joint.means[:, P:])[None],
        variances=np.array([variances]),
        noise_variances=np.zeros(len(joint.models)),
        weights=joint.weights[None],
        fit=joint.fit,
    )


def _models(statistics: Statistics | CellStatistics) -> tuple[Model, ...]:
    """The automatic models; rough ones only where the noise of a release of Bayes cloaking is known."""
    box = statistics.x_box
    noises, rough = noise_sds_for("any outcomes", box), 0.0
    if isinstance(statistics, CellStatistics):
        spent = sum(1 / each.noise_sd**2 for each in statistics.measurements)
        noises, rough = noise_sds_for(statistics.reading, box), rough_share(statistics.n, spent**-0.5)
    return models_of((), None, box, statistics.half_range, noises, rough)


def _column(statistics: Statistics | CellStatistics, of: str | None) -> int:
    columns = statistics.categories
    if not columns:
        raise ValueError("no input of the release is a category, so it has no groups")
    if of is None and len(columns) > 1:
        raise ValueError("several inputs are categories; say which one by of")
    column = next((d for d in columns if of is None or statistics.x_names[d] == of), None)
    if column is None:
        raise ValueError(f"{of!r} is no input of the release that is a category")
    return column


def _code(statistics: Statistics | CellStatistics, column: int, level: str) -> int:
    levels = statistics.columns[column].levels or ()
    if level not in levels:
        raise ValueError(f"{statistics.x_names[column]!r} has no level {level!r}; its levels are {', '.join(levels)}")
    return levels.index(level)
