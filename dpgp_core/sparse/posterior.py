"""Posterior of f given the released statistics. All of it is post-processing.

``errors_in_variables`` is this project's posterior, which accounts for the noise in B. ``paper_posterior`` is the
published one, for comparison: it is regularised by lam and omits cross terms. ``SparseFit`` predicts in the unit of the
output, and ``SparseInterval`` computes intervals, for which the effect of clipping outputs is simulated from the model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotrf, dpotrs

from ..accounting.guarantee import Guarantee
from ..arrays import BoolArray, FloatArray
from ..checks import check_positive
from ..gp.clipping import clipped_moments
from ..gp.inducing import inducing_root, whitened_features
from ..gp.uncertainty import IntervalTarget, curve_predictive, mixture_half_width, mixture_level
from ..kernels import Kernel
from ..table import Outcome
from .statistics import NoiseScales, NoisyStatistics

ITERATIONS = 5  # number of updates of the noise covariance R, which depends on the weights; more change very little


@dataclass(frozen=True, kw_only=True, eq=False)
class SparsePosterior:
    """Posterior of f in model units: mean psi^T weights, variance k_** - psi^T explained psi, psi = L^-1 k(Z, x).

    Attributes:
        root: L (m, m).
        weights: weights of the mean (m,).
        explained: symmetric matrix (m, m) that gives the explained variance.
    """

    kernel: Kernel
    Z: FloatArray
    root: FloatArray
    weights: FloatArray
    explained: FloatArray

    def features(self, X_test: FloatArray) -> FloatArray:
        """Return psi (P, m) at X_test (P, D), the same for all posteriors with these inducing inputs."""
        return whitened_features(self.kernel, self.Z, self.root, X_test)

    def predict(self, X_test: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean (P,) and variance (P,) of the latent f at X_test (P, D), in model units."""
        psi = self.features(X_test)
        variance = self.kernel.diagonal(X_test) - np.einsum("ij,ij->i", psi @ self.explained, psi)
        return psi @ self.weights, np.maximum(variance, 0)


def noisy_weights_covariance(alpha: FloatArray, second: FloatArray, noise: NoiseScales) -> FloatArray:
    """Return the covariance (m, m) of the noise E_a + E_b w, averaged over weights w: sa^2 I + sb^2 (tr(M) I + M) / 2.

    E_b is symmetric and has variance sb^2 on the diagonal and sb^2 / 2 off it, so
    E[E_b w w^T E_b] = sb^2 (|w|^2 I + w w^T) / 2. M = alpha alpha^T + second is the second moment of w.

    Args:
        alpha: mean of w (m,).
        second: covariance of w (m, m).
        noise: scales of the noise.
    """
    M = np.outer(alpha, alpha) + second
    return np.asarray((noise.sa**2 + noise.sb**2 * np.trace(M) / 2) * np.eye(len(M)) + noise.sb**2 / 2 * M)


def errors_in_variables(
    released: NoisyStatistics, kernel: Kernel, Z: FloatArray, root: FloatArray, noise_variance: float
) -> SparsePosterior:
    """Return the posterior given A = B alpha + e if B is measured with noise too. Its variance is never negative.

    e ~ N(0, R),  R = noise_variance B_+ + (sa^2 + sb^2 tr(M)/2) I + sb^2 M/2,  M = alpha alpha^T + Cov
    G = B B + R,   alpha = B G^-1 A,   Cov = I - B G^-1 B
    mean = psi^T B G^-1 A,   variance = k_** - psi^T B G^-1 B psi

    The iteration starts with M = I. Without noise this is the posterior of Titsias.

    Args:
        released: statistics of whitened features L^-1 k(Z, x).
        kernel: prior covariance of f.
        root: L (m, m).

    Raises:
        ValueError: noise_variance is not positive.
    """
    check_positive("noise_variance", noise_variance)
    # In the eigenbasis of B = U diag(b) U^T
    b, U = np.linalg.eigh(released.B)
    b = np.maximum(b, 0)
    A, identity, noise = U.T @ released.A, np.eye(len(b)), released.noise
    alpha, Cov = np.zeros(len(b)), identity
    rounding = len(b) * np.finfo(float).eps * noise_variance * np.abs(b).max()
    B, BB, of_outputs = np.diag(b), np.diag(b**2), np.diag(noise_variance * b)
    for _ in range(ITERATIONS):
        R = of_outputs + noisy_weights_covariance(alpha, Cov, noise)
        BG = _solved(BB + R, R.diagonal() > rounding, B).T
        alpha, Cov = BG @ A, identity - BG * b
    return SparsePosterior(
        kernel=kernel,
        Z=Z,
        root=root,
        weights=U @ BG @ A,
        explained=U @ (BG * b) @ U.T,
    )


def _solved(G: FloatArray, keep: BoolArray, B: FloatArray) -> FloatArray:
    """Return G^-1 B, with G scaled to a unit diagonal. Coordinates without information (not ``keep``) are left out."""
    scale = np.where(keep, 1 / np.sqrt(np.where(keep, G.diagonal(), 1.0)), 0.0)[:, None]
    solved, _ = dpotrs(_factored(scale * G * scale.T), scale * B, lower=1)
    return np.asarray(scale * solved)


def _factored(scaled: FloatArray) -> FloatArray:
    """Return the lower Cholesky factor of a matrix with unit diagonal, adding as little to it as rounding errors
    require. Entries above the diagonal mean nothing.

    It must not fail, because the budget has already been spent. LAPACK is called without scipy's checks, which take
    several times as long for a matrix of this size.
    """
    diagonal = np.einsum("ii->i", scaled)
    for raised in (0.0, *10.0 ** np.arange(-14, 1), float(len(scaled))):
        diagonal[:] = 1.0 + raised
        factor, failed = dpotrf(scaled, lower=1, clean=0)
        if not failed:
            return np.asarray(factor)
    return np.eye(len(scaled))  # the entries contain no information


Covariance = Literal["full", "paper", "naive"]

RHO = 0.01  # the paper's probability that the regularisation is not sufficient


def paper_posterior(
    released: NoisyStatistics,
    kernel: Kernel,
    Z: FloatArray,
    root: FloatArray,
    noise_variance: float,
    covariance: Covariance = "full",
) -> SparsePosterior:
    """Return the posterior of the paper, S = (K + B / s2 + lam I)^-1 and m = K S A / s2 with s2 = noise_variance.

    lam = (sb / s2) sqrt(m log(2 m^2 / rho) (m + 1) / (2 m)) with rho = 0.01. With w = S A, the noise adds to the
    covariance K S K the term "full":  K S [ sa^2 / s2^2 I + sb^2 / (2 s2^4) (|w|^2 I + w w^T) ] S K, "paper": the same
    with w w^T replaced by its diagonal (eq. 17), which omits the cross terms, "naive": nothing.

    Eigenvalues of S^-1 below 1 % of lam are raised to that value; they occur if the noise is larger than lam allows
    for.

    Args:
        released: statistics of raw features k(Z, x).
        root: L (m, m) of ``inducing_root``.
        covariance: "full" (default), "paper" or "naive".

    Raises:
        ValueError: noise_variance is not positive.

    Source: Honkela & Melkas 2021, eqs 12-18; "full" is this project's.
    """
    check_positive("noise_variance", noise_variance)
    m, noise = len(Z), released.noise
    lam = noise.sb / noise_variance * math.sqrt(m * math.log(2 * m**2 / RHO) * (m + 1) / (2 * m))
    values, U = np.linalg.eigh(root @ root.T + released.B / noise_variance + lam * np.eye(m))
    S = (U / np.maximum(values, max(lam / 100, np.finfo(float).eps * values[-1]))) @ U.T
    # S A / s2 takes the place of alpha: K S E_a / s2 - K S E_b w / s2^2 = K S (E_a - E_b alpha) / s2.
    alpha = S @ released.A / noise_variance
    inner = noisy_weights_covariance(alpha, np.zeros((m, m)), noise)
    gain = root.T @ S / noise_variance
    published = np.diag(np.diag(inner))  # contains |w|^2 I and the diagonal of w w^T only
    added = {"full": inner, "paper": published, "naive": np.zeros((m, m))}[covariance]
    return SparsePosterior(
        kernel=kernel,
        Z=Z,
        root=root,
        weights=root.T @ alpha,
        explained=np.eye(m) - root.T @ S @ root - gain @ added @ gain.T,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class SparseFit:
    """A private release of the statistics, and predictions from it at any inputs, which are post-processing.

    Attributes:
        statistics: released statistics, in model units.
        posterior: posterior computed from them, in model units.
        outcome: public description of the output.
        guarantee: guarantee of the release, which covers all predictions.
    """

    statistics: NoisyStatistics
    posterior: SparsePosterior
    outcome: Outcome
    guarantee: Guarantee

    def predict(self, X_test: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean (P,) and variance (P,) of the latent f at X_test (P, D), in the output's unit and its square.

        The variance includes that of the privacy noise. Both may be published.
        """
        mean, variance = self.posterior.predict(X_test)
        return mean * self.outcome.scale + self.outcome.midpoint, variance * self.outcome.scale**2


_SIMULATED = 400  # number of simulated curves f; each counts twice, with its mirror image
_POINTS = 256  # smallest number of points of the box at which curves are simulated; at least four per feature
_RIDGE = 1e-6  # relative to the number of points


@dataclass(frozen=True, kw_only=True, eq=False)
class PriorSimulation:
    """Curves and clipped outputs simulated from the model at points of the box, when they are first used. Public.

    They depend neither on records nor on the budget, so that all releases with one box and model share them.

    Attributes:
        x_box: D public pairs (low, high) to which inputs were clipped.
        half_range: half the width of the bounds of the output, in model units.
    """

    kernel: Kernel
    Z: FloatArray
    noise_variance: float
    x_box: Sequence[tuple[float, float]]
    half_range: float

    @cached_property
    def root(self) -> FloatArray:
        """The matrix L (m, m) of the whitened features."""
        return inducing_root(self.kernel, self.Z)

    @cached_property
    def curves(self) -> tuple[FloatArray, FloatArray, FloatArray, float]:
        """Points of the box (Q, D), f at them (S, Q), gamma (S, m) of ``SparseInterval``, and noise_variance - v."""
        rng, (low, high) = np.random.default_rng(0), np.array(self.x_box).T
        points = rng.uniform(low, high, (max(_POINTS, 4 * len(self.Z)), len(low)))
        f = curve_predictive(self.kernel, points, points[:1]).outputs(rng, _SIMULATED)
        h, v = clipped_moments(f, self.noise_variance, self.half_range)
        phi = whitened_features(self.kernel, self.Z, self.root, points)
        # gamma minimises |h - phi gamma|^2, with a small ridge in case of features that are almost 0 in the box
        gram = phi.T @ phi + _RIDGE * len(phi) * np.eye(phi.shape[1])
        gamma = cho_solve(cho_factor(gram, lower=True), phi.T @ h.T).T
        return points, f, gamma, self.noise_variance - float(v.mean())


@dataclass(frozen=True, kw_only=True, eq=False)
class CurveSimulation:
    """Simulated curves at test inputs, for ``SparseInterval``. All releases with one plan share them."""

    prior: PriorSimulation
    X_test: FloatArray

    @cached_property
    def curves(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """E[f* | f at points of the box] (S, P), its variance (P,), and the features psi of the test inputs (P, m)."""
        points, f, *_ = self.prior.curves
        model = curve_predictive(self.prior.kernel, points, self.X_test)
        psi = whitened_features(self.prior.kernel, self.prior.Z, self.prior.root, self.X_test)
        return (model.C @ f.T).T, model.variance, psi


@dataclass(frozen=True, kw_only=True, eq=False)
class SparseInterval:
    """Intervals about the predictions psi^T w, with w = B G^-1 A of ``errors_in_variables``. Inputs are not used.

    A clipped output is h(f) plus noise; v is the mean variance v(f) of this noise over the box. h(f) is approximated by
    phi^T gamma, by least squares over the box. Then A = B gamma + e, and with E = B G^-1 B, which is ``explained``, the
    error is f* - psi^T w = (f* - psi^T E gamma) - psi^T B G^-1 e, where
    Cov(B G^-1 e) = E - E^2 - (noise_variance - v) E B^+ E.
    Without clipping, gamma ~ N(0, I) are the weights of f, and the variance is that of the posterior.

    Attributes:
        fits: fit of each release.
        simulation: simulated curves, the same for every release and budget.
        centre: predictions (draws, P), in the unit of the output.
    """

    fits: Sequence[SparseFit]
    simulation: CurveSimulation
    centre: FloatArray

    def interval(self, level: float, of: IntervalTarget) -> tuple[FloatArray, FloatArray]:
        """See ``Uncertainty``."""
        more = self.simulation.prior.noise_variance if of == "outputs" else 0.0
        widths = [mixture_half_width(*self._errors(fit, more), level) for fit in self.fits]
        half = self._outcome.scale * np.stack(widths)
        return self.centre - half, self.centre + half

    def level_of(self, values: FloatArray) -> FloatArray:
        """Return the confidence level (draws, P) of the interval of one further output that ends at values (P,)."""
        errors = [self._errors(fit, self.simulation.prior.noise_variance) for fit in self.fits]
        distances = np.abs(values - self.centre) / self._outcome.scale
        return np.stack([mixture_level(*each, distance) for each, distance in zip(errors, distances, strict=True)])

    @property
    def _outcome(self) -> Outcome:
        """Public description of the output, the same for every release."""
        return self.fits[0].outcome

    def _errors(self, fit: SparseFit, more: float) -> tuple[FloatArray, FloatArray]:
        """Return means (S, P) and variances (1, P) of the components of the error of a release; ``more`` is added."""
        (f, variance, psi), E = self.simulation.curves, fit.posterior.explained
        *_, gamma, less_noise = self.simulation.prior.curves
        inverse = np.linalg.pinv(fit.statistics.B, rcond=1e-10, hermitian=True)
        covariance = E - E @ E - less_noise * E @ inverse @ E
        noise = np.einsum("ij,jk,ik->i", psi, covariance, psi, optimize=True)
        return f - gamma @ (psi @ E).T, (variance + np.maximum(noise, 0) + more)[None]
