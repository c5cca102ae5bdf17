"""Predictions of a mixture of m Gaussian processes: mean, intervals and samples of the curve, and outcomes about it.

Arrays with an axis "draws" hold several releases, of which a real one has one and simulated ones may have many.

The residual of an outcome is sigma(x) times a standardised variable with mean 0 and variance 1. This variable is normal
or, if the number of outcomes above the curve was measured, a shifted gamma variable with the skewness that this number
implies, mirrored if the skewness is negative. A gamma variable with skewness gamma has the shape a = 4 / gamma^2. It
lies above its mean with probability Q(a, a) (``gammaincc``), which is 0.5 for gamma = 0, 0.406 for a = 2, and 0.368 for
a = 1, an exponential variable. The posterior of gamma is computed on a grid.

The curve's posterior is normal, and third cumulants add. The sum of curve and residual has the variance v + sigma^2 and
the skewness gamma (sigma^2 / (v + sigma^2))^(3/2), and is treated as a gamma variable with these.
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

_NEWTON, _HALVINGS = 12, 50  # largest numbers of steps
_CLOSE = 1e-14  # share of a standard deviation below which a step is the last one
_PROPER = (1e-300, 1 - 1e-16)  # probabilities that have a normal score
_SKEWS: FloatArray = np.linspace(-3.0, 3.0, 25)
_RETAINED: FloatArray = np.linspace(0.0, 1.0, 17)  # share of a skewness that the sum of curve and residual retains
_CENTILES: FloatArray = np.concatenate([np.geomspace(1e-6, 0.02, 30), np.linspace(0.03, 0.5, 48)])
_LEVELS: FloatArray = np.concatenate([_CENTILES, 1 - _CENTILES[-2::-1]])
_LEAST_SHAPE = 1e-12


class OutcomeDistribution(NamedTuple):
    """Distribution of outcomes about the curve at P points, for several draws.

    Attributes:
        variance: residual variance sigma^2 (draws, P), in squared model units.
        skew: log density of the skewness on a grid (draws, 25); None if outcomes are normal.
    """

    variance: FloatArray
    skew: FloatArray | None = None

    def standard_quantile(self, probability: float, of_curve: FloatArray) -> FloatArray:
        """Return quantiles (draws, P) of the standardised sum of curve and residual, averaged over the skewness.

        Args:
            probability: in (0, 1).
            of_curve: variance of the curve (draws, P).
        """
        assert self.skew is not None
        on_grid = softmax(self.skew, axis=1) @ _quantiles(probability)
        retained = (self.variance / (of_curve + self.variance)) ** 1.5
        return np.array([np.interp(row, _RETAINED, each) for row, each in zip(retained, on_grid, strict=True)])

    def standard_below(self, values: FloatArray, of_curve: FloatArray) -> FloatArray:
        """Return P(standardised sum <= values) (draws, P), by interpolation between its quantiles.

        Args:
            values: standardised values (draws, P).
            of_curve: variance of the curve (draws, P).
        """
        quantiles = np.stack([self.standard_quantile(float(p), of_curve) for p in _LEVELS], axis=-1)
        below = [
            np.interp(value, at, _LEVELS, left=0.0, right=1.0)
            for value, at in zip(values.ravel(), quantiles.reshape(values.size, -1), strict=True)
        ]
        return np.reshape(below, values.shape)


@dataclass(frozen=True, kw_only=True, eq=False)
class Mixture:
    """Posterior sum_m w_m N(mean_m, variance_m) of f at P test inputs under m models, in model units.

    Attributes:
        means: posterior means of f (draws, m, P).
        variances: posterior variances of f (draws, m, P).
        noise_variances: variance of an outcome about f under each model (m,).
        weights: probabilities of the models, which add up to 1 for each draw (draws, m).
        outcomes: distribution of outcomes about the curve, which replaces ``noise_variances`` if it is known.
        fit: result of the test of fit for each draw, which may widen intervals; () if there was no test.
        unseen: largest share of the records that may be outliers hidden by the noise (``prediction.unseen_outliers``).
        cautious: part of each model's variance that allows for outliers, plateaus and a local misfit which the mean
            does not show (draws, P), see ``prediction.variance_of_outliers``, ``prediction.variance_of_plateaus`` and
            ``local_misfit.added_variance``.
    """

    means: FloatArray
    variances: FloatArray
    noise_variances: FloatArray
    weights: FloatArray
    outcomes: OutcomeDistribution | None = None
    fit: tuple[Fit, ...] = ()
    unseen: float = 0.0
    cautious: FloatArray | float = 0.0

    def at(self, rows: slice) -> Mixture:
        """Return the posterior at some of the test inputs."""
        outcomes = self.outcomes
        return replace(
            self,
            means=self.means[..., rows],
            variances=self.variances[..., rows],
            outcomes=None if outcomes is None else outcomes._replace(variance=outcomes.variance[:, rows]),
            cautious=self.cautious if isinstance(self.cautious, float) else self.cautious[:, rows],
        )

    def more_cautious(self, variance: FloatArray) -> Mixture:
        """Return the posterior with an additional variance of f (P,) under every model."""
        return replace(self, variances=self.variances + variance, cautious=self.cautious + variance[None])

    @property
    def widened(self) -> FloatArray | float:
        """Factor by which the distance of quantiles from the mean is multiplied (draws, 1)."""
        return np.array([[each.widened] for each in self.fit]) if self.fit else 1.0

    @property
    def mean(self) -> FloatArray:
        """Posterior mean of f, and of an outcome (draws, P)."""
        return self._average(self.means)

    def interval(self, level: float, of: IntervalTarget = "outputs") -> tuple[FloatArray, FloatArray]:
        """Return central intervals, the (1 - level) / 2 and (1 + level) / 2 quantiles of the mixture, (draws, P) each.

        Args:
            level: probability of each interval, in (0, 1).
            of: "outputs" for the outcome of one more record, "function" for f.

        Raises:
            ValueError: level is outside (0, 1), or ``of`` is unknown.
        """
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, got {level}; for example 0.95")
        return self.quantile((1 - level) / 2, of), self.quantile((1 + level) / 2, of)

    @property
    def variance(self) -> FloatArray:
        """Posterior variance of f (draws, P): sum_m w_m (variance_m + (mean_m - mean)^2)."""
        return self._average(self.variances + (self.means - self.mean[:, None]) ** 2)

    def quantile(self, probability: float, of: IntervalTarget = "outputs") -> FloatArray:
        """Return quantiles of the mixture (draws, P).

        For outcomes with a known skewness they are mean + sqrt(variance of f + sigma^2) times the quantile of the
        standardised sum of curve and residual.

        Args:
            probability: in (0, 1).
            of: "outputs" for the outcome of one more record, "function" for f.

        Raises:
            ValueError: ``of`` is unknown.
        """
        if (skewed := self._skewed(of)) is not None:
            sd = self.widened * np.sqrt(self.variance + skewed.variance)
            return self.mean + sd * skewed.standard_quantile(probability, self.variance)
        found = _mixture_quantile(self.weights, self.means, self._sds(of), probability)
        return np.asarray(self.mean + self.widened * (found - self.mean))

    def probability_below(self, values: FloatArray, of: IntervalTarget = "outputs") -> FloatArray:
        """Return the probability (draws, P) that an outcome, or f, is at most ``values``, (P,) or (draws, P)."""
        values = self.mean + (np.broadcast_to(values, self.means[:, 0].shape) - self.mean) / self.widened
        if (skewed := self._skewed(of)) is not None:
            sd = np.sqrt(self.variance + skewed.variance)
            return skewed.standard_below((values - self.mean) / sd, self.variance)
        return self._average(ndtr((values[:, None] - self.means) / self._sds(of)))

    def _average(self, values: FloatArray) -> FloatArray:
        """Return values under each model (draws, m, P), averaged over the models (draws, P)."""
        return np.asarray(np.einsum("dm,dmp->dp", self.weights, values))

    def _skewed(self, of: IntervalTarget) -> OutcomeDistribution | None:
        known = self.outcomes if of == "outputs" else None
        return known if known is not None and known.skew is not None else None

    def _sds(self, of: IntervalTarget) -> FloatArray:
        if of not in ("outputs", "function"):
            raise ValueError(f"of must be 'outputs' or 'function', got {of!r}")
        noise = self.noise_variances[:, None] if self.outcomes is None else self.outcomes.variance[:, None]
        return np.sqrt(self.variances + (noise if of == "outputs" else 0.0))


def _mixture_quantile(weights: FloatArray, means: FloatArray, sds: FloatArray, probability: float) -> FloatArray:
    """Return quantiles (draws, P) of mixtures of normal distributions, with weights (draws, m), means and sds
    (draws, m, P).

    Newton steps on the normal score of the distribution function, which is linear for a normal distribution. Steps that
    leave the interval between the last values below and above, and all after the first ``_NEWTON``, bisect it.
    """
    standard = float(ndtri(probability))
    each = means + standard * sds
    low, high = each.min(axis=1), each.max(axis=1)
    mean = np.einsum("dm,dmp->dp", weights, means)
    variance = np.einsum("dm,dmp->dp", weights, sds**2 + (means - mean[:, None]) ** 2)
    found: FloatArray = np.clip(mean + standard * np.sqrt(variance), low, high)
    for turn in range(_NEWTON + _HALVINGS):
        scores = (found[:, None] - means) / sds
        below = np.einsum("dm,dmp->dp", weights, ndtr(scores))
        low, high = np.where(below < probability, found, low), np.where(below < probability, high, found)
        score = ndtri(np.clip(below, *_PROPER))
        density = np.einsum("dm,dmp->dp", weights, np.exp(-(scores**2) / 2) / sds)
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = found - (score - standard) * np.exp(-(score**2) / 2) / density
        inside = (low <= moved) & (moved <= high) & (turn < _NEWTON)
        before, found = found, np.where(inside, moved, (low + high) / 2)
        if (np.abs(found - before) <= _CLOSE * np.sqrt(variance)).all():
            break
    return found


def stack_draws(parts: Sequence[Mixture]) -> Mixture:
    """Combine the draws of several mixtures of the same models at the same test inputs into one mixture."""
    known = [part.outcomes for part in parts if part.outcomes is not None]
    skews = [each.skew for each in known if each.skew is not None]
    return replace(
        parts[0],
        means=np.concatenate([part.means for part in parts]),
        variances=np.concatenate([part.variances for part in parts]),
        weights=np.concatenate([part.weights for part in parts]),
        outcomes=OutcomeDistribution(
            np.concatenate([each.variance for each in known]), np.concatenate(skews) if skews else None
        )
        if known
        else None,
        fit=tuple(fit for part in parts for fit in part.fit),
        unseen=max(part.unseen for part in parts),
        cautious=np.concatenate([np.broadcast_to(part.cautious, part.means[:, 0].shape) for part in parts]),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class JointPosterior:
    """Joint posterior sum_m w_m N(mean_m, covariance_m) of f at P test inputs, given one release, in model units.

    Attributes:
        models: the m models.
        X_test: test inputs (P, D).
        means: posterior means of f (m, P).
        cross_covariances: Q = Cov(whitened measurements, f) (R, P) of each model; covariance_m is K_** - Q^T Q plus the
            part of change points.
        weights: probabilities of the models, which add up to 1 (m,).
        fit: result of the test of fit; () if there was no test.
        change_points: part of covariance_m that is due to change points (P, P), for each model; () if there are none.
        cautious: variance that allows for outliers, plateaus and a local misfit under every model (P,). They are taken
            to move the curve in the same direction at all test inputs.
    """

    models: tuple[Model, ...]
    X_test: FloatArray
    means: FloatArray
    cross_covariances: tuple[FloatArray, ...]
    weights: FloatArray
    fit: tuple[Fit, ...] = ()
    change_points: tuple[FloatArray, ...] = ()
    cautious: FloatArray | float = 0.0

    @property
    def widened(self) -> float:
        """Factor by which the distance of sampled curves from their mean is multiplied."""
        return self.fit[0].widened if self.fit else 1.0

    def covariance(self) -> FloatArray:
        """Return the posterior covariance of f under the mixture (P, P).

        It is sum_m w_m (covariance_m + (mean_m - mean) (mean_m - mean)^T), times the square of ``widened``.
        """
        deviations = self.means - self.weights @ self.means
        total: FloatArray = (deviations.T * self.weights) @ deviations
        for m, weight in enumerate(self.weights):
            total += weight * self._covariance(m)
        return self.widened**2 * total

    def sample(self, rng: np.random.Generator, paths: int) -> FloatArray:
        """Return independent samples of the curve (paths, P).

        Each sample chooses a model m with probability w_m. It is mean_m + V diag(sd) e, with e standard normal and
        V diag(sd^2) V^T = covariance_m, where eigenvalues that are negative by rounding count as 0.

        Args:
            rng: random generator. Privacy does not depend on it.
            paths: number of samples.
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
        shift = np.sqrt(np.broadcast_to(self.cautious, len(self.X_test)))
        covariance = prior - self.cross_covariances[m].T @ self.cross_covariances[m] + np.outer(shift, shift)
        return covariance + self.change_points[m] if self.change_points else covariance


@dataclass(frozen=True, kw_only=True, eq=False)
class MixtureUncertainty:
    """Means and intervals of the mixture in the unit of the outcome, clipped to the declared bounds.

    What is estimated is the mean of clipped outcomes, which cannot leave the bounds. Clipping an interval to the bounds
    too does not change whether it covers the clipped curve.

    Attributes:
        outcome: declaration of the outcome: bounds, unit, scale and kind.
        prediction: the predictions of the mixture for several draws, in model units.
    """

    outcome: Outcome
    prediction: Mixture

    @property
    def values(self) -> FloatArray:
        """Posterior mean of each draw (draws, P), clipped to the bounds, in the unit of the outcome."""
        return np.clip(self._in_unit(self.prediction.mean), *self.outcome.bounds)

    def interval(self, level: float, of: IntervalTarget) -> tuple[FloatArray, FloatArray]:
        """See ``Uncertainty``."""
        return self.quantile((1 - level) / 2, of), self.quantile((1 + level) / 2, of)

    def quantile(self, probability: float, of: IntervalTarget = "outputs") -> FloatArray:
        """Return the value (draws, P) that one more outcome, or f, does not exceed with this probability in (0, 1)."""
        if self.outcome.kind == "yes/no" and of == "outputs":
            low, high = self.outcome.bounds
            return np.where((high - self.values) / (high - low) >= probability, low, high)
        return np.clip(self._in_unit(self.prediction.quantile(probability, of)), *self.outcome.bounds)

    def probability_above(self, level: float, of: IntervalTarget = "function") -> FloatArray:
        """Return the probability (draws, P) that f, or one more outcome, exceeds a level in the unit of the outcome."""
        at = np.full(self.prediction.means.shape[-1], (level - self.outcome.midpoint) / self.outcome.scale)
        return np.asarray(1 - self.prediction.probability_below(at, of))

    @property
    def residual_sd(self) -> FloatArray:
        """Standard deviation of outcomes about the curve (draws, P), in the unit of the outcome.

        Raises:
            ValueError: the release did not measure it.
        """
        if self.prediction.outcomes is None:
            raise ValueError("this release did not measure how far outcomes are from the curve; Bayes cloaking does")
        return self.outcome.scale * np.sqrt(self.prediction.outcomes.variance)

    def _in_unit(self, values: FloatArray) -> FloatArray:
        return self.outcome.midpoint + self.outcome.scale * values


def skewness_of(z: FloatArray, s: float, n: float, of_curve: FloatArray) -> FloatArray:
    """Return the log density of the skewness on a grid (draws, 25), given the noisy number of outcomes above the curve.

    The number is z = sum_j (1{y_j > g_j} - 1/2) + noise. The outcomes between the released curve g and the true curve
    are counted on the wrong side; their share is proportional to the error of g (``TUNING.moved``).

    Args:
        z: released numbers (draws,).
        s: noise multiplier.
        n: number of records.
        of_curve: posterior variance of the curve, divided by the residual variance; the mean over points (draws,).
    """
    share = np.array([_above(float(c)) for c in _SKEWS])
    variance = s**2 + n * share * (1 - share) + ((TUNING.moved * n) ** 2 * of_curve)[:, None]
    prior = -0.5 * (_SKEWS / TUNING.skewness_sd) ** 2
    return np.asarray(prior - 0.5 * (z[:, None] - n * (share - 0.5)) ** 2 / variance - 0.5 * np.log(variance))


def _quantiles(probability: float) -> FloatArray:
    """Return quantiles (25, 17) of standardised gamma variables, whose skewness is each grid value times each share."""
    c = np.outer(_SKEWS, _RETAINED)
    none = c * c < _LEAST_SHAPE
    shape = 4 / np.where(none, 1.0, c) ** 2
    upper = (gammaincinv(shape, np.where(c < 0, 1 - probability, probability)) - shape) / np.sqrt(shape)
    return np.where(none, ndtri(probability), np.sign(c) * upper)


def _above(skew: float) -> float:
    """Return the probability that a gamma variable with this skewness exceeds its mean."""
    if skew < 0:
        return 1 - _above(-skew)
    return 0.5 if skew * skew < _LEAST_SHAPE else float(gammaincc(4 / skew**2, 4 / skew**2))
