"""Two-component Gaussian mixtures, fitted by maximum likelihood to observables or to latent means behind noise.

In the second case the latent mean lies in (-1, 1). It is modelled as tanh of a mixture, and the noise is Gaussian.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, ndtr

from ..arrays import FloatArray

Terms = tuple[FloatArray, Callable[[FloatArray], FloatArray]]
"""Log densities (N,), and a function from weights c (N,) to the gradient of sum_i c_i log p_i in the parameters."""

LOG_ROOT_TAU = 0.5 * math.log(2 * math.pi)
_LEAST_SPREAD = 1e-3  # smallest sd of a component relative to the sample; without it the likelihood is unbounded
_GROUPS = 1000  # largest number of cells of ``binned``
STARTS = ((0.25, 0.75), (0.1, 0.6), (0.4, 0.9), (0.02, 0.5), (0.5, 0.98))  # quantiles at which the components start


@dataclass(frozen=True, eq=False)
class Density:
    """A fitted density with unconstrained parameters.

    Attributes:
        terms: function of parameters and points that returns log densities and their gradient.
        theta: (logit w, m_1, m_2, log s_1, log s_2) of w N(m_1, s_1^2) + (1 - w) N(m_2, s_2^2), in the unit of the
            observable; for a latent mean followed by the logarithm of the noise.
    """

    terms: Callable[[FloatArray, FloatArray], Terms]
    theta: FloatArray

    def log_density(self, x: FloatArray) -> FloatArray:
        """Return the log density at x (N,)."""
        return self.terms(self.theta, x)[0]


def fit_mixture(x: FloatArray) -> Density:
    """Fit a Gaussian mixture to samples x (N,) by maximum likelihood, as the best of several L-BFGS runs.

    Raises:
        ValueError: fewer than ten samples, not finite, or all equal.
    """
    check_samples(x)
    spread = float(x.std())
    starts = [[0.0, *np.quantile(x, pair), *np.log([spread / 2] * 2)] for pair in STARTS]
    scales = (math.log(_LEAST_SPREAD * spread), math.log(10 * spread))
    means = (float(x.min()), float(x.max()))
    bounds = [(-8.0, 8.0), means, means, scales, scales]
    return fitted(mixture_terms, binned(x, spread / 200), starts, bounds)


def check_samples(x: FloatArray) -> None:
    """Raise ValueError unless ``x`` holds at least ten finite values (N,) that are not all equal."""
    if x.ndim != 1 or len(x) < 10 or not np.isfinite(x).all():
        raise ValueError(f"samples must be at least 10 finite numbers, got shape {x.shape}; simulate more shadows")
    if x.min() == x.max():
        raise ValueError(f"all {len(x)} samples equal {x[0]:g}, so they have no density; use a larger sigma")


def mixture_terms(theta: FloatArray, x: FloatArray) -> Terms:
    """Return the log density at x (N,) and its gradient in (logit w, m_1, m_2, log s_1, log s_2)."""
    w, means, sds = expit(theta[0]), theta[1:3], np.exp(theta[3:5])
    z = (x[:, None] - means) / sds
    terms = np.log([w, expit(-theta[0])]) - theta[3:5] - z * z / 2 - LOG_ROOT_TAU
    total = np.logaddexp(terms[:, 0], terms[:, 1])

    def gradient(c: FloatArray) -> FloatArray:
        # share_k = P(component k | x): d/dlogit w = share_1 - w, d/dm = share z / s, d/dlog s = share (z^2 - 1)
        share = np.exp(terms - total[:, None])
        first = c @ (share[:, 0] - w)
        return np.concatenate([[first], c @ (share * z / sds), c @ (share * (z * z - 1))])

    return total, gradient


def binned(x: FloatArray, width: float) -> tuple[FloatArray, FloatArray]:
    """Return means and shares of the samples in cells of at least this width.

    Fitting to them is faster. The width should be much smaller than the noise.
    """
    width = max(width, float(np.ptp(x)) / _GROUPS)
    cell = np.floor((x - x.min()) / width).astype(int)
    counts = np.bincount(cell)
    sums = np.bincount(cell, weights=x)
    kept = counts > 0
    return sums[kept] / counts[kept], counts[kept] / len(x)


def fitted(
    terms: Callable[[FloatArray, FloatArray], Terms],
    sample: tuple[FloatArray, FloatArray],
    starts: Sequence[Sequence[float]],
    bounds: Sequence[tuple[float, float]],
) -> Density:
    """Return the density with the largest mean log-likelihood, the best of one L-BFGS run from each start.

    Args:
        terms: log density and gradient, as a function of parameters and points.
        sample: points (N,) and their shares (N,), from ``binned``.
        starts: starting values of the parameters, which are clipped to the bounds.
        bounds: (low, high) of every parameter.
    """
    points, shares = sample

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        log_density, gradient = terms(theta, points)
        return -float(shares @ log_density), -gradient(shares)

    low, high = np.array(bounds).T
    runs = [
        minimize(
            loss,
            np.clip(start, low, high),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"ftol": 1e-10, "gtol": 1e-6, "maxiter": 200},
        )
        for start in starts
    ]
    return Density(terms, min(runs, key=lambda run: float(run.fun)).x)


_CELLS = 256  # number of cells of the latent mean in (-1, 1)
_EDGES = np.linspace(-1, 1, _CELLS + 1)
_CENTRES = (_EDGES[1:] + _EDGES[:-1]) / 2
_PHI_EDGES = np.concatenate([[-1e6], 2 * np.arctanh(_EDGES[1:-1]), [1e6]])
_NO_MASS = 1e-300
LEAST_NOISE = 2 / _CELLS
"""Smallest noise: the width of a cell. A sum of Gaussians that are one standard deviation apart is smooth to 1e-8."""


def fit_latent_mixture(f: FloatArray) -> Density:
    """Fit a latent mixture to samples f (N,) by maximum likelihood, as the best of several L-BFGS runs.

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
    return fitted(latent_terms, binned(f, LEAST_NOISE / 2), starts, bounds)


def latent_terms(theta: FloatArray, f: FloatArray) -> Terms:
    """Return the log density of tanh(phi / 2) + noise at f (N,), and its gradient in six parameters.

    phi is a mixture of two normals. The interval (-1, 1) of the latent mean is divided into cells, and
    p(f) = sum_j P(tanh(phi / 2) in cell j) N(f; centre of cell j, noise^2). The probabilities of the cells are exact
    and add up to 1.

    Source: Maciazek 2026, appendix C.
    """
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
    """Return P(tanh(phi / 2) in cell j) (J,), and its derivatives in the five parameters of phi (5, J)."""
    w, sds = expit(theta[0]), np.exp(theta[3:5])[:, None]
    z = (_PHI_EDGES - theta[1:3, None]) / sds
    # Phi(b) - Phi(a) = Phi(-a) - Phi(-b), of which that form is used in which neither term is close to 1.
    side = np.where(z[:, 1:] + z[:, :-1] > 0, -1, 1)
    parts = np.abs(ndtr(side * z[:, 1:]) - ndtr(side * z[:, :-1]))
    bell = np.exp(-z * z / 2 - LOG_ROOT_TAU)
    # d Phi(z)/d m = -bell / s,  d Phi(z)/d log s = -z bell
    weights = np.array([[w], [1 - w]])
    by_mean, by_scale = -weights * np.diff(bell) / sds, -weights * np.diff(z * bell)
    by_logit = w * (1 - w) * (parts[0] - parts[1])
    return np.maximum((weights * parts).sum(axis=0), _NO_MASS), np.vstack([by_logit, by_mean, by_scale])
