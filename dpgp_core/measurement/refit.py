"""Gaussian process regression on a released statistic: new kernels, noise variances and test points, for free."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import logsumexp, ndtr

from ..arrays import FloatArray
from ..kernels import Kernel
from .conditioning import Observation, Posterior, condition, predict_outputs
from .fit import Fit
from .statistics import Stage, Statistics

Of = Literal["function", "outputs"]


Predict = Callable[[], tuple[FloatArray, FloatArray]]
"""Mean and variance (n,) of the outputs at X given earlier stages, in model units; computed when called."""

Observe = Callable[[Statistics, Stage, Predict], Observation]
"""How a stage is read. Another reading may model clipping with what earlier stages predict."""


def linear_observation(statistics: Statistics, stage: Stage, predict: Predict) -> Observation:
    """A stage whose intervals clip nothing: z = B (y - centre) / width + noise.

    With y = midpoint + y_scale y': A = B diag(y_scale / width), Z = z + B (centre - midpoint) / width.
    Laplace noise is taken for Gaussian noise of the same variance: the best linear estimate, not the posterior.
    """
    m = stage.measurement
    return Observation(
        A=m.B * (statistics.y_scale / m.width),
        Z=stage.z + m.B @ ((m.centre - statistics.midpoint) / m.width),
        N=m.noise_sd**2 * np.eye(len(stage.z)),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Refit:
    """The mixture of all models' posteriors, weighted by their evidence, in the output's unit. Post-processing.

    Attributes:
        X_test: (P, D).
        posteriors: one for each pair of kernel and noise variance, kernels first, in model units.
        weights: probability of each model given z (M,), from equal prior weights.
        midpoint, scale: y = midpoint + scale y'.
        people: variance of outputs about f (P,), as released, in squared model units; None for that of the models.
        fit: how what was released fits these models, where clipping is read; intervals are widened by it.
    """

    X_test: FloatArray
    posteriors: tuple[Posterior, ...]
    weights: FloatArray
    midpoint: float
    scale: float
    people: FloatArray | None = None
    fit: Fit | None = None

    @property
    def mean(self) -> FloatArray:
        """Posterior mean of f (P,)."""
        mixed: FloatArray = self.weights @ np.array([p.mean for p in self.posteriors])
        return self.midpoint + self.scale * mixed

    def interval(self, level: float, of: Of = "function") -> tuple[FloatArray, FloatArray]:
        """Central posterior intervals (P,), (P,): as much probability below as above.

        Args:
            level: in (0, 1).
            of: "function", f itself; "outputs", one more record's output, its noise included.

        Raises:
            ValueError: level is outside (0, 1), or ``of`` unknown.
        """
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, got {level}")
        if of not in ("function", "outputs"):
            raise ValueError(f"of must be 'function' or 'outputs', got {of!r}")
        means = np.array([p.mean for p in self.posteriors])
        sds = np.sqrt([p.variance + (self._noise(p) if of == "outputs" else 0.0) for p in self.posteriors])
        ends = (_quantile(means, sds, self.weights, tail) for tail in ((1 - level) / 2, (1 + level) / 2))
        widened, middle = (1.0 if self.fit is None else self.fit.widened), self.mean
        low, high = (middle + widened * (self.midpoint + self.scale * end - middle) for end in ends)
        return low, high

    def _noise(self, posterior: Posterior) -> FloatArray | float:
        return posterior.noise_variance if self.people is None else self.people


def refit(
    statistics: Statistics,
    *,
    kernels: Sequence[Kernel],
    noise_variances: Sequence[float],
    X_test: FloatArray,
    observe: Observe = linear_observation,
) -> Refit:
    """Posterior of f at X_test given a released statistic, averaged over models. Spends nothing.

    Args:
        statistics: what was released.
        kernels: covariance functions of f, in squared model units, (y - midpoint) / y_scale.
        noise_variances: variances > 0 of outputs about f; every pair is one model.
        X_test: test points (P, D), in input units.
        observe: how a stage is read.

    Raises:
        ValueError: no model, a variance is not positive, or the columns of X_test do not fit.
    """
    if not kernels or not noise_variances:
        raise ValueError("give at least one kernel and one noise variance")
    posteriors = tuple(
        _filtered(statistics, kernel, variance, X_test, observe) for kernel in kernels for variance in noise_variances
    )
    evidence = np.array([p.log_evidence for p in posteriors])
    weights = np.exp(evidence - logsumexp(evidence))
    return Refit(
        X_test=X_test,
        posteriors=posteriors,
        weights=weights,
        midpoint=statistics.midpoint,
        scale=statistics.y_scale,
    )


def _filtered(
    statistics: Statistics, kernel: Kernel, noise_variance: float, X_test: FloatArray, observe: Observe
) -> Posterior:
    """Stages read one after another, each with what those before it predict at X."""
    X = statistics.X
    seen: list[Observation] = []

    def predict() -> tuple[FloatArray, FloatArray]:
        if not seen:
            return np.zeros(len(X)), kernel.diagonal(X) + noise_variance
        return predict_outputs(seen, kernel, noise_variance, X)

    for stage in statistics.stages:
        seen.append(observe(statistics, stage, predict))
    return condition(seen, kernel, noise_variance, X, X_test)


def _quantile(means: FloatArray, sds: FloatArray, weights: FloatArray, probability: float) -> FloatArray:
    """Quantiles (P,) of mixtures of normals (M, P), by bisection between values that enclose them."""
    low, high = (means - 40 * sds).min(axis=0), (means + 40 * sds).max(axis=0)
    for _ in range(50):
        tried = (low + high) / 2
        below = weights @ ndtr((tried - means) / np.maximum(sds, 1e-300)) < probability
        low, high = np.where(below, tried, low), np.where(below, high, tried)
    middle: FloatArray = (low + high) / 2
    return middle
