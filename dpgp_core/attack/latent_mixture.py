"""The density of a mean in (-1, 1) seen through Gaussian noise: tanh of a Gaussian mixture, plus noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtr

from ..arrays import FloatArray
from .mixture import LOG_ROOT_TAU, STARTS, Mixture, Terms, as_mixture, check_samples, grouped, maximise

_CELLS = 256  # of the latent mean, over (-1, 1)
_EDGES = np.linspace(-1, 1, _CELLS + 1)
_CENTRES = (_EDGES[1:] + _EDGES[:-1]) / 2
_PHI_EDGES = np.concatenate([[-1e6], 2 * np.arctanh(_EDGES[1:-1]), [1e6]])
_NO_MASS = 1e-300
LEAST_NOISE = 2 / _CELLS
"""Smallest noise, one cell: a sum of Gaussians one standard deviation apart is smooth to 1e-8."""


@dataclass(frozen=True, kw_only=True)
class LatentMixture:
    """Density of f = tanh(phi / 2) + noise with phi a Gaussian mixture: a mean in (-1, 1), seen through noise.

    p(f) = sum_j P(tanh(phi / 2) in cell j) N(f; centre of cell j, noise_sd^2): the masses are exact and sum to one.

    Args:
        latent: density of phi.
        noise_sd: at least ``LEAST_NOISE``, in the unit of f.

    Raises:
        ValueError: noise_sd is too small.

    Source: Maciazek 2026, appendix C.
    """

    latent: Mixture
    noise_sd: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.noise_sd) and self.noise_sd >= LEAST_NOISE):
            raise ValueError(
                f"noise_sd must be at least {LEAST_NOISE:g}, one cell, got {self.noise_sd}; use more noise"
            )

    @property
    def theta(self) -> FloatArray:
        """Unconstrained parameters: those of ``latent``, then log noise_sd, shape (6,)."""
        return np.append(self.latent.theta, math.log(self.noise_sd))

    def log_density(self, f: FloatArray) -> FloatArray:
        """Log density at f (N,)."""
        return _latent_terms(self.theta, f)[0]


def fit_latent_mixture(f: FloatArray) -> LatentMixture:
    """Fit a latent mixture to samples f (N,) by maximum likelihood: the best of several L-BFGS runs.

    Raises:
        ValueError: fewer than ten samples, not finite, or all equal.

    Source: Maciazek 2026, appendix C.
    """
    check_samples(f)
    phi = 2 * np.arctanh(np.clip(f, -0.98, 0.98))
    spread, noise = max(float(phi.std()), 0.1), math.log(max(float(f.std()), 2 * LEAST_NOISE))
    starts = [
        [0.0, *np.quantile(phi, pair), *np.log([spread / 2] * 2), noise - back]
        for pair, back in zip(STARTS, (1.0, 0.3, 1.5, 0.7, 0.7), strict=True)
    ]
    bounds = [(-8.0, 8.0), (-12.0, 12.0), (-12.0, 12.0), (-3.0, 2.3), (-3.0, 2.3), (math.log(LEAST_NOISE), noise + 1)]
    theta = maximise(_latent_terms, grouped(f, LEAST_NOISE / 2), starts, bounds)
    return LatentMixture(latent=as_mixture(theta), noise_sd=max(math.exp(theta[5]), LEAST_NOISE))


def _latent_terms(theta: FloatArray, f: FloatArray) -> Terms:
    """Log density at f (N,) and its gradient in the six parameters ``LatentMixture.theta``."""
    masses, slopes = _cell_masses(theta[:5])
    exponents = -0.5 * ((f[:, None] - _CENTRES) * math.exp(-theta[5])) ** 2
    nearest = exponents.max(axis=1)
    kernel = np.exp(exponents - nearest[:, None])
    density = kernel @ masses

    def gradient(c: FloatArray) -> FloatArray:
        # d log p / d masses_j = kernel_ij / p;  d log N(f; centre, s^2) / d log s = z^2 - 1 with z^2 = -2 exponent
        scaled = c / density
        noise = -2 * (scaled @ ((kernel * exponents) @ masses)) - c.sum()
        return np.append(slopes @ (scaled @ kernel), noise)

    return nearest + np.log(density) - theta[5] - LOG_ROOT_TAU, gradient


def _cell_masses(theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """P(tanh(phi / 2) in cell j) (J,), and its derivatives in the five parameters of phi (5, J)."""
    w, sds = expit(theta[0]), np.exp(theta[3:5])[:, None]
    z = (_PHI_EDGES - theta[1:3, None]) / sds
    # Phi(b) - Phi(a) = Phi(-a) - Phi(-b): take the side on which neither is close to 1
    side = np.where(z[:, 1:] + z[:, :-1] > 0, -1, 1)
    parts = np.abs(ndtr(side * z[:, 1:]) - ndtr(side * z[:, :-1]))
    bell = np.exp(-z * z / 2 - LOG_ROOT_TAU)
    # d Phi(z)/d m = -bell / s,  d Phi(z)/d log s = -z bell
    weights = np.array([[w], [1 - w]])
    by_mean, by_scale = -weights * np.diff(bell) / sds, -weights * np.diff(z * bell)
    by_logit = w * (1 - w) * (parts[0] - parts[1])
    return np.maximum((weights * parts).sum(axis=0), _NO_MASS), np.vstack([by_logit, by_mean, by_scale])
