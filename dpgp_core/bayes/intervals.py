"""Mean and intervals of a mixture of Gaussian predictions, for the latent curve and for one more output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import ndtr, ndtri

from ..arrays import FloatArray
from ..measurement.fit import Fit
from .people import People

Of = Literal["outputs", "function"]
_HALVINGS = 50


@dataclass(frozen=True, kw_only=True, eq=False)
class Mixture:
    """sum_m w_m N(mean_m, variance_m) at each of P test inputs, for D draws, in model units.

    Attributes:
        means: of f (D, M, P).
        variances: of f (D, M, P).
        noise_variances: of an output given f (M,).
        weights: (D, M), each row of sum 1.
        people: how people scatter at each test input, where that was measured or follows; replaces ``noise_variances``.
        fit: of each draw, D of them, or none: quantiles are farther from the mean by what each widens them.
    """

    means: FloatArray
    variances: FloatArray
    noise_variances: FloatArray
    weights: FloatArray
    people: People | None = None
    fit: tuple[Fit, ...] = ()

    @property
    def widened(self) -> FloatArray | float:
        """By how much quantiles are farther from the mean (D, 1)."""
        return np.array([[each.widened] for each in self.fit]) if self.fit else 1.0

    @property
    def mean(self) -> FloatArray:
        """Posterior mean of f, and of an output (D, P)."""
        mean: FloatArray = np.einsum("dm,dmp->dp", self.weights, self.means)
        return mean

    def interval(self, level: float, of: Of = "outputs") -> tuple[FloatArray, FloatArray]:
        """Central intervals, (1 -+ level) / 2 quantiles of the mixture, (D, P) each.

        Args:
            level: in (0, 1).
            of: "outputs", one more record's output; "function", f.

        Raises:
            ValueError: level is outside (0, 1), or ``of`` unknown.
        """
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, got {level}; for example 0.95")
        return self.quantile((1 - level) / 2, of), self.quantile((1 + level) / 2, of)

    @property
    def variance(self) -> FloatArray:
        """Of f (D, P): sum_m w_m (variance_m + (mean_m - mean)^2)."""
        mean = self.mean
        variance: FloatArray = np.einsum("dm,dmp->dp", self.weights, self.variances + (self.means - mean[:, None]) ** 2)
        return variance

    def quantile(self, probability: float, of: Of = "outputs") -> FloatArray:
        """The mixture's quantiles (D, P), by bisection between the models' own, which enclose it.

        Of outputs whose skewness was measured: mean + sqrt(variance of f + sigma^2) q, q of the standardised variable.

        Args:
            probability: in (0, 1).
            of: as for ``interval``.

        Raises:
            ValueError: ``of`` is unknown.
        """
        if (skewed := self._skewed(of)) is not None:
            sd = self.widened * np.sqrt(self.variance + skewed.variance)
            return self.mean + sd * skewed.standard_quantile(probability)
        sds, reach = self._sds(of), float(ndtri(probability))
        each = self.means + reach * sds
        low, high = each.min(axis=1), each.max(axis=1)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            below = np.einsum("dm,dmp->dp", self.weights, ndtr((middle[:, None] - self.means) / sds)) < probability
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        quantile: FloatArray = self.mean + self.widened * ((low + high) / 2 - self.mean)
        return quantile

    def probability_below(self, values: FloatArray, of: Of = "outputs") -> FloatArray:
        """P(output, or f, <= values), values (P,) or (D, P): uniform on average where the prediction is right."""
        values = self.mean + (np.broadcast_to(values, self.means[:, 0].shape) - self.mean) / self.widened
        if (skewed := self._skewed(of)) is not None:
            return skewed.standard_below((values - self.mean) / np.sqrt(self.variance + skewed.variance))
        standard = (values[:, None] - self.means) / self._sds(of)
        below: FloatArray = np.einsum("dm,dmp->dp", self.weights, ndtr(standard))
        return below

    def _skewed(self, of: Of) -> People | None:
        return self.people if of == "outputs" and self.people is not None and self.people.skew is not None else None

    def _sds(self, of: Of) -> FloatArray:
        if of not in ("outputs", "function"):
            raise ValueError(f"of must be 'outputs' or 'function', got {of!r}")
        people = self.noise_variances[:, None] if self.people is None else self.people.variance[:, None]
        sds: FloatArray = np.sqrt(self.variances + (people if of == "outputs" else 0.0))
        return sds


def side_by_side(parts: Sequence[Mixture]) -> Mixture:
    """The draws of several mixtures of the same models at the same test inputs."""
    return replace(
        parts[0],
        means=np.concatenate([part.means for part in parts]),
        variances=np.concatenate([part.variances for part in parts]),
        weights=np.concatenate([part.weights for part in parts]),
        people=_people_of([part.people for part in parts]),
        fit=tuple(fit for part in parts for fit in part.fit),
    )


def _people_of(parts: Sequence[People | None]) -> People | None:
    present = [part for part in parts if part is not None]
    if not present:
        return None
    skews = [part.skew for part in present if part.skew is not None]
    return People(np.concatenate([part.variance for part in present]), np.concatenate(skews) if skews else None)
