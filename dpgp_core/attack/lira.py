"""Membership inference against posterior sampling: the likelihood-ratio attack LiRA, with shadow data sets.

The attacker knows the model, n, and the distribution of the records, but no other record. From the values of L released
paths at the input of the target, the attacker decides whether the target is in the data.
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

_BATCH = 20_000  # number of shadow data sets that are processed at a time


class Observables(NamedTuple):
    """Observables of one release from each of S shadow data sets.

    Attributes:
        mean: f^, the mean of the L values (S,).
        variance: v^, their scaled variance (S,); None if L = 1.
    """

    mean: FloatArray
    variance: FloatArray | None

    @property
    def fitted(self) -> tuple[FloatArray, ...]:
        """Observables whose densities are fitted: f^, and log v^ if L > 1."""
        return (self.mean,) if self.variance is None else (self.mean, np.log(self.variance))


@dataclass(frozen=True, kw_only=True)
class Shadows:
    """Distribution of shadow data sets: n records with labels sign(x - 1/2), with the target (1/2, +1) or without it.

    "In" is "out" with its last record replaced by the target. The two are neighbours for a guarantee about replaced
    records, which therefore bounds the attack. The kernel is exp(-|x - x'| / lengthscale), and sup |y| = 1.

    Args:
        r: square root of the ridge, > 0. The noise variance of the model is sigma^2 r^2.
        sigma: scale of the paths, > 0. With ``inf``, f / sigma is released, which shows the covariance only.
        L: number of released paths, >= 1.
        n: number of records, >= 2.
        lengthscale: lengthscale of the exponential kernel, > 0, in the unit of x.
        inputs: "halves" draws floor(n/2) inputs uniformly below 1/2 and the rest above, as in the published script;
            "uniform" draws all inputs from U[0, 1], as in the paper, in which case the numbers of labels leak, too.

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
        """Sample the inputs of ``shadows`` data sets (shadows, n). Their labels are a function of them, see ``labels``.

        Args:
            shadows: number of data sets, >= 1.
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
        """Return posterior mean (S,) and variance / sigma^2 (S,) at the target's input, for S data sets x (S, n).

        mu = k^T (K + r^2 I)^-1 y,  v = 1 - k^T (K + r^2 I)^-1 k
        """
        weights = np.empty_like(x)
        k = np.exp(-np.abs(x - 0.5) / self.lengthscale)
        for first in range(0, len(x), _BATCH):
            part = slice(first, first + _BATCH)
            # w = (K + r^2 I)^-1 k for all data sets of the batch
            K = np.exp(-np.abs(x[part, :, None] - x[part, None, :]) / self.lengthscale)
            K[:, range(self.n), range(self.n)] += self.r**2
            weights[part] = np.linalg.solve(K, k[part, :, None])[:, :, 0]
        return (weights * labels(x)).sum(axis=1), 1 - (weights * k).sum(axis=1)

    def observe(self, rng: np.random.Generator, shadows: int, *, member: bool) -> Observables:
        """Simulate the observables of one release from each of ``shadows`` new data sets.

        f^ is the mean of L values, and v^ = sum (f - f^)^2 / (L sigma^2). Given the data, f^ ~ N(mu, sigma^2 v / L) and
        L v^ / v ~ chi^2 with L - 1 degrees of freedom, independently. They are sampled from these distributions, so
        that the cost does not depend on L.

        Args:
            shadows: number of data sets, >= 1.
            member: whether the target is in the data.

        Raises:
            ValueError: shadows < 1.
        """
        mu, v = self.posterior(self.data(rng, shadows, member=member))
        scale = self.sigma
        if math.isinf(scale):
            mu, scale = 0 * mu, 1.0  # f / sigma has the mean mu / sigma = 0
        mean = mu + scale * np.sqrt(v / self.L) * rng.standard_normal(shadows)
        variance = v * rng.chisquare(self.L - 1, shadows) / self.L if self.L > 1 else None
        return Observables(mean, variance)


class Lira(NamedTuple):
    """Two hypotheses, each with a density of f^ and, if L > 1, of log v^, which are treated as independent."""

    member: tuple[Density, ...]
    other: tuple[Density, ...]

    def score(self, observed: Observables) -> FloatArray:
        """Return log p_in - log p_out of each release (S,). The attacker decides for "in" above a threshold.

        The density of v^ has a factor 1 / v^ compared with that of log v^. It cancels in the difference.
        """
        triples = zip(self.member, self.other, observed.fitted, strict=True)
        return np.asarray(sum(one.log_density(x) - other.log_density(x) for one, other, x in triples))


def labels(x: FloatArray) -> FloatArray:
    """Return +1 if x >= 1/2 and -1 otherwise, for x of any shape."""
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
    """Return the ROC of LiRA, fitted on ``count`` shadow data sets of each hypothesis and evaluated on as many others.

    Args:
        shadows: distribution of the data sets, and parameters of the release.
        count: number of shadow data sets of each hypothesis, >= 10.

    Raises:
        ValueError: count is below 10.

    Source: Maciazek 2026, appendix C; Carlini et al. 2022.
    """
    lira = fit_lira(shadows, rng, count)
    inside, outside = (lira.score(shadows.observe(rng, count, member=member)) for member in (True, False))
    return Roc.of(inside, outside)
