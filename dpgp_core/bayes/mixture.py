"""A mixture of Gaussian predictions: mean, intervals and paths of the curve, and the range of one more output.

The residual of an outcome is sigma(x) times a standardised variable of mean 0 and variance 1. This variable is normal
or, if a release has counted the outcomes above the curve, a shifted gamma variable with the skewness that the count
implies, mirrored if it is negative. A gamma variable of skewness c has the shape k = 4 / c^2 and lies above its mean
with probability Q(k, k), which is 0.5 for c = 0, 0.406 for gamma(2) and 0.368 for an exponential variable. The
posterior of c given the count is computed on a grid.

The curve's posterior is normal, and third cumulants add. The sum of curve and residual has the variance v + sigma^2 and
the skewness c (sigma^2 / (v + sigma^2))^(3/2), and is treated as a gamma variable with these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import gammaincc, gammaincinv, ndtr, ndtri, softmax

from ..arrays import FloatArray
from ..gp.uncertainty import IntervalTarget
from ..measurement.fit import Fit
from ..table import Outcome
from .model import Model
from .tuning import TUNING

_HALVINGS = 50
_SKEWS: FloatArray = np.linspace(-3.0, 3.0, 25)
_RETAINED: FloatArray = np.linspace(0.0, 1.0, 17)  # of a skewness, where the curve is uncertain
_CENTILES: FloatArray = np.concatenate([np.geomspace(1e-6, 0.02, 30), np.linspace(0.03, 0.5, 48)])
_LEVELS: FloatArray = np.concatenate([_CENTILES, 1 - _CENTILES[-2::-1]])
_LEAST_SHAPE = 1e-12


class OutcomeDistribution(NamedTuple):
    """Distribution of outcomes about the curve at P points, for D draws.

    Attributes:
        variance: sigma^2 (D, P), in squared model units.
        skew: log density of the skewness (D, 25); None for normal.
    """

    variance: FloatArray
    skew: FloatArray | None = None

    def retained(self, variance: FloatArray) -> FloatArray:
        """Share of people's skewness that is left (D, P) where the curve's variance (D, P) is added to theirs."""
        left: FloatArray = (self.variance / (variance + self.variance)) ** 1.5
        return left

    def standard_quantile(self, probability: float, retained: FloatArray) -> FloatArray:
        """Of the standardised variable whose skewness is that share (D, P) of people's, averaged over theirs (D, P)."""
        assert self.skew is not None
        on_grid = softmax(self.skew, axis=1) @ _quantiles(probability)
        return np.array([np.interp(row, _RETAINED, each) for row, each in zip(retained, on_grid, strict=True)])

    def standard_below(self, values: FloatArray, retained: FloatArray) -> FloatArray:
        """P(standardised variable <= values), values and retained (D, P): by interpolation among its quantiles."""
        quantiles = np.stack([self.standard_quantile(float(p), retained) for p in _LEVELS], axis=-1)
        below = [
            np.interp(value, at, _LEVELS, left=0.0, right=1.0)
            for value, at in zip(values.ravel(), quantiles.reshape(values.size, -1), strict=True)
        ]
        return np.reshape(below, values.shape)


@dataclass(frozen=True, kw_only=True, eq=False)
class Mixture:
    """sum_m w_m N(mean_m, variance_m) at each of P test inputs, for D draws, in model units.

    Attributes:
        means: of f (D, M, P).
        variances: of f (D, M, P).
        noise_variances: of an output given f (M,).
        weights: (D, M), each row of sum 1.
        outcomes: distribution of outcomes about the curve, if it was measured or follows; replaces ``noise_variances``.
        fit: of each draw, D of them, or none: quantiles are farther from the mean by the factor ``Fit.widened``.
        unseen: largest share of the records that may be outliers hidden by the noise, see ``Filter.unseen_outliers``.
    """

    means: FloatArray
    variances: FloatArray
    noise_variances: FloatArray
    weights: FloatArray
    outcomes: OutcomeDistribution | None = None
    fit: tuple[Fit, ...] = ()
    unseen: float = 0.0

    @property
    def widened(self) -> FloatArray | float:
        """Factor by which quantiles are farther from the mean (D, 1)."""
        return np.array([[each.widened] for each in self.fit]) if self.fit else 1.0

    @property
    def mean(self) -> FloatArray:
        """Posterior mean of f, and of an output (D, P)."""
        mean: FloatArray = np.einsum("dm,dmp->dp", self.weights, self.means)
        return mean

    def interval(self, level: float, of: IntervalTarget = "outputs") -> tuple[FloatArray, FloatArray]:
        """Central intervals, (1 -+ level) / 2 quantiles of the mixture, (D, P) each.

        Args:
            of: "outputs", one more record's output; "function", f.

        Raises:
            ValueError: level is outside (0, 1), or ``of`` unknown.
        """
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, got {level}; for example 0.95")
        return self.quantile((1 - level) / 2, of), self.quantile((1 + level) / 2, of)

    @property
    def variance(self) -> FloatArray:
        """Posterior variance of f (D, P): sum_m w_m (variance_m + (mean_m - mean)^2)."""
        mean = self.mean
        variance: FloatArray = np.einsum("dm,dmp->dp", self.weights, self.variances + (self.means - mean[:, None]) ** 2)
        return variance

    def quantile(self, probability: float, of: IntervalTarget = "outputs") -> FloatArray:
        """The mixture's quantiles (D, P), by bisection between the models' own, which enclose it.

        Of outputs whose skewness was measured: mean + sqrt(variance of f + sigma^2) q, q of the standardised sum.

        Args:
            of: as for ``interval``.

        Raises:
            ValueError: ``of`` is unknown.
        """
        if (skewed := self._skewed(of)) is not None:
            sd = self.widened * np.sqrt(self.variance + skewed.variance)
            return self.mean + sd * skewed.standard_quantile(probability, skewed.retained(self.variance))
        sds, reach = self._sds(of), float(ndtri(probability))
        each = self.means + reach * sds
        low, high = each.min(axis=1), each.max(axis=1)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            below = np.einsum("dm,dmp->dp", self.weights, ndtr((middle[:, None] - self.means) / sds)) < probability
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        quantile: FloatArray = self.mean + self.widened * ((low + high) / 2 - self.mean)
        return quantile

    def probability_below(self, values: FloatArray, of: IntervalTarget = "outputs") -> FloatArray:
        """P(output, or f, <= values), values (P,) or (D, P): uniform on average where the prediction is right."""
        values = self.mean + (np.broadcast_to(values, self.means[:, 0].shape) - self.mean) / self.widened
        if (skewed := self._skewed(of)) is not None:
            sd = np.sqrt(self.variance + skewed.variance)
            return skewed.standard_below((values - self.mean) / sd, skewed.retained(self.variance))
        standard = (values[:, None] - self.means) / self._sds(of)
        below: FloatArray = np.einsum("dm,dmp->dp", self.weights, ndtr(standard))
        return below

    def _skewed(self, of: IntervalTarget) -> OutcomeDistribution | None:
        return (
            self.outcomes if of == "outputs" and self.outcomes is not None and self.outcomes.skew is not None else None
        )

    def _sds(self, of: IntervalTarget) -> FloatArray:
        if of not in ("outputs", "function"):
            raise ValueError(f"of must be 'outputs' or 'function', got {of!r}")
        people = self.noise_variances[:, None] if self.outcomes is None else self.outcomes.variance[:, None]
        sds: FloatArray = np.sqrt(self.variances + (people if of == "outputs" else 0.0))
        return sds


def stack_draws(parts: Sequence[Mixture]) -> Mixture:
    """The draws of several mixtures of the same models at the same test inputs."""
    return replace(
        parts[0],
        means=np.concatenate([part.means for part in parts]),
        variances=np.concatenate([part.variances for part in parts]),
        weights=np.concatenate([part.weights for part in parts]),
        outcomes=_stacked_outcomes([part.outcomes for part in parts]),
        fit=tuple(fit for part in parts for fit in part.fit),
        unseen=max(part.unseen for part in parts),
    )


def _stacked_outcomes(parts: Sequence[OutcomeDistribution | None]) -> OutcomeDistribution | None:
    present = [part for part in parts if part is not None]
    if not present:
        return None
    skews = [part.skew for part in present if part.skew is not None]
    return OutcomeDistribution(
        np.concatenate([part.variance for part in present]), np.concatenate(skews) if skews else None
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class JointPosterior:
    """f at P test inputs ~ sum_m w_m N(mean_m, covariance_m), given one release, in model units.

    Attributes:
        means: of f (M, P).
        shared: Q (R, P) of each model: covariance_m = K_** - Q^T Q, Q = Cov(whitened measurements, f).
        change_points: what change points add to it (P, P), of each model; () where curves have none.
        weights: of the models given the release (M,), sum 1.
        fit: of the release; curves are farther from their mean by ``Fit.widened``.
    """

    models: tuple[Model, ...]
    X_test: FloatArray
    means: FloatArray
    cross_covariances: tuple[FloatArray, ...]
    weights: FloatArray
    fit: tuple[Fit, ...] = ()
    change_points: tuple[FloatArray, ...] = ()

    @property
    def widened(self) -> float:
        """Factor by which curves are farther from their mean."""
        return self.fit[0].widened if self.fit else 1.0

    def covariance(self) -> FloatArray:
        """Posterior covariance of f under the mixture (P, P).

        It is sum_m w_m (covariance_m + (mean_m - mean) (mean_m - mean)^T).
        """
        deviations = self.means - self.weights @ self.means
        total: FloatArray = (deviations.T * self.weights) @ deviations
        for m, weight in enumerate(self.weights):
            total += weight * self._covariance(m)
        return self.widened**2 * total

    def sample(self, rng: np.random.Generator, paths: int) -> FloatArray:
        """Independent curves (paths, P): a model by its weight, then f = mean_m + V diag(sd) normals.

        V diag(sd^2) V^T = covariance_m, eigenvalues that rounding made negative being 0.

        Args:
            rng: source of the samples; privacy does not depend on it.
            paths: number of curves.
        """
        chosen = rng.choice(len(self.weights), size=paths, p=self.weights)
        normals = rng.standard_normal((paths, len(self.X_test)))
        curves = np.empty_like(normals)
        for m in np.unique(chosen):
            values, vectors = np.linalg.eigh(self._covariance(int(m)))
            root = vectors * np.sqrt(np.maximum(values, 0.0))
            curves[chosen == m] = self.means[m] + normals[chosen == m] @ root.T
        mean = self.weights @ self.means
        return mean + self.widened * (curves - mean)

    def _covariance(self, m: int) -> FloatArray:
        prior = self.models[m].kernel(self.X_test, self.X_test)
        covariance: FloatArray = prior - self.cross_covariances[m].T @ self.cross_covariances[m]
        return covariance + self.change_points[m] if self.change_points else covariance


@dataclass(frozen=True, kw_only=True, eq=False)
class MixtureUncertainty:
    """Quantiles of the mixture of models, privacy noise and clipping included, cut to the bounds.

    Where a curve leaves the bounds, outputs are at the bound, however far it is beyond. A cut interval therefore covers
    the curve cut to the bounds.

    Attributes:
        outcome: for bounds, scale and kind; its unit is that of all values.
        prediction: the mixture's, of D draws, in model units.
    """

    outcome: Outcome
    prediction: Mixture

    @property
    def values(self) -> FloatArray:
        """Posterior mean of each draw (draws, P), clipped to the bounds, in the output's unit."""
        return np.clip(self._in_unit(self.prediction.mean), *self.outcome.bounds)

    def interval(self, level: float, of: IntervalTarget) -> tuple[FloatArray, FloatArray]:
        """See ``Uncertainty``."""
        return self.quantile((1 - level) / 2, of), self.quantile((1 + level) / 2, of)

    def quantile(self, probability: float, of: IntervalTarget = "outputs") -> FloatArray:
        """Value (draws, P) that one more output, or f, stays below with that probability, in the output's unit."""
        if self.outcome.kind == "yes/no" and of == "outputs":
            low, high = self.outcome.bounds
            return np.where((high - self.values) / (high - low) >= probability, low, high)
        return np.clip(self._in_unit(self.prediction.quantile(probability, of)), *self.outcome.bounds)

    def probability_above(self, level: float, of: IntervalTarget = "function") -> FloatArray:
        """Probability (draws, P) that f, or one more output, is above a level in the output's unit."""
        at = np.full(self.prediction.means.shape[-1], (level - self.outcome.midpoint) / self.outcome.scale)
        return np.asarray(1 - self.prediction.probability_below(at, of))

    @property
    def scatter(self) -> FloatArray:
        """Standard deviation of outcomes about the curve (draws, P), in the output's unit.

        Raises:
            ValueError: the release did not measure it.
        """
        if self.prediction.outcomes is None:
            raise ValueError("this release did not measure how far outcomes are from the curve; Bayes cloaking does")
        return self.outcome.scale * np.sqrt(self.prediction.outcomes.variance)

    def _in_unit(self, values: FloatArray) -> FloatArray:
        return self.outcome.midpoint + self.outcome.scale * values


def skewness_of(z: FloatArray, s: float, n: float, unsure: FloatArray) -> FloatArray:
    """Log density of the skewness given the number above the curve (D, 25): of z = sum_j (1{y_j > g_j} - 1/2) + noise.

    If g is wrong by a share of the residual standard deviation, the outcomes between g and the curve change sides.

    Args:
        z: released (D,).
        s: standard deviation of its noise.
        unsure: variance of the curve over the residual variance, on average (D,).
    """
    share = np.array([_above(float(c)) for c in _SKEWS])
    variance = s**2 + n * share * (1 - share) + ((TUNING.moved * n) ** 2 * unsure)[:, None]
    prior = -0.5 * (_SKEWS / TUNING.skewness_sd) ** 2
    log_density: FloatArray = prior - 0.5 * (z[:, None] - n * (share - 0.5)) ** 2 / variance - 0.5 * np.log(variance)
    return log_density


def _quantiles(probability: float) -> FloatArray:
    """Quantiles of standardised gamma variables of skewness c times a share of it (25, 17)."""
    c = np.outer(_SKEWS, _RETAINED)
    none = c * c < _LEAST_SHAPE
    shape = 4 / np.where(none, 1.0, c) ** 2
    upper = (gammaincinv(shape, np.where(c < 0, 1 - probability, probability)) - shape) / np.sqrt(shape)
    quantiles: FloatArray = np.where(none, ndtri(probability), np.sign(c) * upper)
    return quantiles


def _above(skew: float) -> float:
    if skew < 0:
        return 1 - _above(-skew)
    return 0.5 if skew * skew < _LEAST_SHAPE else float(gammaincc(4 / skew**2, 4 / skew**2))
