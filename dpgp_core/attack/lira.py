"""Membership inference against posterior sampling: the likelihood-ratio attack LiRA, with shadow data sets.

The attacker knows the model, n, and how records arise, but none of the other records. From L released paths,
looked at in the target's input only, the attacker decides whether the target was among the data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ..arrays import FloatArray
from ..checks import check_positive
from .densities import Density, fit_latent_mixture, fit_mixture
from .roc import Roc

Inputs = Literal["halves", "uniform"]

_BATCH = 20_000  # shadows solved at once


class Observables(NamedTuple):
    """Observables of each shadow's release: mean of the L values (S,), and their scaled variance (S,) if L > 1."""

    mean: FloatArray
    variance: FloatArray | None

    @property
    def fitted(self) -> tuple[FloatArray, ...]:
        """Data of the fitted densities: f^, and log v^ if L > 1."""
        return (self.mean,) if self.variance is None else (self.mean, np.log(self.variance))


@dataclass(frozen=True, kw_only=True)
class Shadows:
    """Data sets of n records with labels sign(x - 1/2), "in" with the target (1/2, +1) and "out" without.

    Both have n records: "in" is "out" with its last record replaced by the target, one replacement apart, so
    that a guarantee for replaced records bounds the attack. Kernel exp(-|x - x'| / lengthscale), sup |y| = 1.

    Args:
        r: root of the ridge, > 0: the model's noise variance is sigma^2 r^2.
        sigma: scale of the paths, > 0; ``inf`` releases f / sigma, which is the covariance alone.
        L: paths released, >= 1.
        n: records, >= 2.
        lengthscale: of the exponential kernel, > 0, in the unit of x.
        inputs: "halves" draws floor(n/2) inputs uniformly below 1/2 and the rest above, as the published script
            does; "uniform" draws all of them from U[0, 1], as the paper says (then the label counts leak, too).

    Raises:
        ValueError: a parameter is out of range.

    Source: Maciazek 2026, section 4 and appendix C.
    """

    r: float
    sigma: float
    L: int = 1
    n: int = 10
    lengthscale: float = 1.0
    inputs: Inputs = "halves"

    def __post_init__(self) -> None:
        check_positive("r", self.r)
        check_positive("lengthscale", self.lengthscale)
        if not self.sigma > 0:
            raise ValueError(f"sigma must be above 0, got {self.sigma}; inf releases the covariance only")
        if self.L < 1:
            raise ValueError(f"L must be at least 1 released path, got {self.L}")
        if self.n < 2:
            raise ValueError(f"n must be at least 2, so that one record is not the target, got {self.n}")
        if self.inputs not in ("halves", "uniform"):
            raise ValueError(f"inputs must be 'halves' or 'uniform', got {self.inputs!r}")

    def data(self, rng: np.random.Generator, shadows: int, *, member: bool) -> FloatArray:
        """Inputs of ``shadows`` data sets (shadows, n); labels follow from them by ``labels``.

        Args:
            shadows: how many data sets, >= 1.
            member: whether the last record is the target.

        Raises:
            ValueError: shadows < 1.
        """
        check_positive("shadows", shadows)
        x = rng.random((shadows, self.n))
        if self.inputs == "halves":
            x /= 2
            x[:, self.n // 2 :] += 0.5
        if member:
            x[:, -1] = 0.5
        return x

    def posterior(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Posterior mean (S,) and variance / sigma^2 (S,) at the target, for S data sets x (S, n).

        mu = k^T (K + r^2 I)^-1 y,  v = 1 - k^T (K + r^2 I)^-1 k
        """
        weights = np.empty_like(x)
        k = np.exp(-np.abs(x - 0.5) / self.lengthscale)
        for first in range(0, len(x), _BATCH):
            part = slice(first, first + _BATCH)
            # w = (K + r^2 I)^-1 k, all data sets of the batch at once
            K = np.exp(-np.abs(x[part, :, None] - x[part, None, :]) / self.lengthscale)
            K[:, range(self.n), range(self.n)] += self.r**2
            weights[part] = np.linalg.solve(K, k[part, :, None])[:, :, 0]
        return (weights * labels(x)).sum(axis=1), 1 - (weights * k).sum(axis=1)

    def observe(self, rng: np.random.Generator, shadows: int, *, member: bool) -> Observables:
        """Observables of one release from each of ``shadows`` fresh data sets.

        f^ = mean of L values,  v^ = sum (f - f^)^2 / (L sigma^2). Given the data, f^ ~ N(mu, sigma^2 v / L) and
        L v^ / v ~ chi^2 with L - 1 degrees of freedom, independently: drawn as such, at a cost that L does not enter.

        Args:
            shadows: how many, >= 1.
            member: whether the target is in the data.

        Raises:
            ValueError: shadows < 1.
        """
        mu, v = self.posterior(self.data(rng, shadows, member=member))
        scale = self.sigma
        if math.isinf(scale):
            mu, scale = 0 * mu, 1.0  # of f / sigma, whose mean mu / sigma is 0
        mean = mu + scale * np.sqrt(v / self.L) * rng.standard_normal(shadows)
        variance = v * rng.chisquare(self.L - 1, shadows) / self.L if self.L > 1 else None
        return Observables(mean, variance)


class Lira(NamedTuple):
    """Two hypotheses, each with a density of f^, and of log v^ if L > 1, taken as independent."""

    member: tuple[Density, ...]
    other: tuple[Density, ...]

    def score(self, observed: Observables) -> FloatArray:
        """Log p_in - log p_out of each release (S,); the attacker says "in" above a threshold.

        The factor 1 / v^ of the density of v^ is common to both.
        """
        triples = zip(self.member, self.other, observed.fitted, strict=True)
        return np.asarray(sum(one.log_density(x) - other.log_density(x) for one, other, x in triples))


def labels(x: FloatArray) -> FloatArray:
    """+1 where x >= 1/2 and -1 below, any shape."""
    return np.where(x < 0.5, -1.0, 1.0)


def fit_lira(shadows: Shadows, rng: np.random.Generator, count: int) -> Lira:
    """Fit both hypotheses by maximum likelihood to ``count`` shadow data sets each.

    Raises:
        ValueError: count is below 10.
    """
    hypotheses = []
    for member in (True, False):
        mean, *log_variance = shadows.observe(rng, count, member=member).fitted
        hypotheses.append((fit_latent_mixture(mean), *map(fit_mixture, log_variance)))
    return Lira(*hypotheses)


def attack_posterior_sampling(shadows: Shadows, rng: np.random.Generator, count: int = 10_000) -> Roc:
    """ROC of LiRA: fitted on ``count`` shadows of each hypothesis, evaluated on ``count`` fresh ones of each.

    Args:
        shadows: mechanism and data.
        count: shadows of each kind, >= 10.

    Raises:
        ValueError: count is below 10.

    Source: Maciazek 2026, appendix C; Carlini et al. 2022.
    """
    lira = fit_lira(shadows, rng, count)
    inside, outside = (lira.score(shadows.observe(rng, count, member=member)) for member in (True, False))
    return Roc.of(inside, outside)
