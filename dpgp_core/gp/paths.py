"""Sample paths of a Gaussian process, drawn at some points now and at further points later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cholesky, solve_triangular

from ..arrays import FloatArray
from ..kernels import Kernel
from ..linalg import check_columns
from .regression import output_covariance

_JITTER = 1e-10  # relative to the variance: white noise of 1e-5 prior standard deviations on every value


@dataclass(frozen=True, kw_only=True, eq=False)
class Process:
    """A Gaussian process f ~ GP(mean, covariance).

    Attributes:
        mean: inputs (P, D) to means (P,).
        covariance: inputs (P, D) and (Q, D) to covariances (P, Q).
        variance: bound on the variance anywhere, the scale of rounding errors.
    """

    mean: Callable[[FloatArray], FloatArray]
    covariance: Callable[[FloatArray, FloatArray], FloatArray]
    variance: float


def posterior_process(
    kernel: Kernel, X: FloatArray, y: FloatArray, r: float, sigma: float, eta: float = 0.0
) -> Process:
    """The posterior GP(mu_D, sigma^2 k_D + eta^2 k), computed from one factorisation. Mean and covariance are private.

    mu_D(x) = k_x^T (K + r^2 I)^-1 y,    k_D(x, x') = k(x, x') - k_x^T (K + r^2 I)^-1 k_x'

    Args:
        kernel: normalised covariance function k.
        y: outputs (n,) in model units.
        r: square root of the effective ridge, > 0; the model's noise variance is sigma^2 r^2.
        sigma: kernel scale, > 0, in model units.
        eta: scale >= 0 of additional noise from the GP prior, in model units.

    Source: Rasmussen & Williams 2006, eqs 2.25-2.26; Maciazek 2026, eq. 5, for eta.
    """
    factor, lower = cho_factor(output_covariance(kernel, X, r * r), lower=True, overwrite_a=True)
    whitened_y = solve_triangular(factor, y, lower=lower)

    def whitened(Z: FloatArray) -> FloatArray:
        check_columns(X, Z)
        return solve_triangular(factor, kernel(X, Z), lower=lower)

    def covariance(Z: FloatArray, W: FloatArray) -> FloatArray:
        # with T T^T = K + r^2 I: k_D = k - (T^-1 k_z)^T (T^-1 k_w)
        reduced = whitened(Z).T @ whitened(W)
        return np.asarray((sigma**2 + eta**2) * kernel(Z, W) - sigma**2 * reduced)

    variance = (sigma**2 + eta**2) * kernel.variance
    return Process(mean=lambda Z: whitened(Z).T @ whitened_y, covariance=covariance, variance=variance)


class Paths:
    """Independent paths of one process, evaluated where and when asked; earlier values stay as they are.

    Values at new points are drawn given all values so far, from the block-extended Cholesky factor of their joint
    covariance, so all values together are the joint draw: further points of a path cost no further privacy.
    A point seen before gets its value of before. A factor on the points, not Matheron's rule, which would need
    the prior path at all n inputs too: (P + P')^3 / 3 operations for any number of paths.

    Args:
        process: posterior that the paths are drawn from.
        rng: source of the randomness, kept for later points.
    """

    def __init__(self, process: Process, draws: int, rng: np.random.Generator) -> None:
        self._process, self._rng = process, rng
        self._seen: dict[bytes, int] = {}
        self._X: FloatArray | None = None
        self._root: FloatArray = np.zeros((0, 0))
        self._normals: FloatArray = np.zeros((draws, 0))
        self._values: FloatArray = np.zeros((draws, 0))

    def __call__(self, X: FloatArray) -> FloatArray:
        """Values of every path at X (P, D), shape (draws, P)."""
        rows = np.ascontiguousarray(X, dtype=float) + 0.0  # -0.0 and 0.0 are one point
        keys = [row.tobytes() for row in rows]
        first = {key: i for i, key in reversed(list(enumerate(keys))) if key not in self._seen}
        if first:
            new = sorted(first.values())
            self._extend(rows[new])
            self._seen |= {keys[i]: j for j, i in enumerate(new, start=len(self._seen))}
        return self._values[:, [self._seen[key] for key in keys]]

    def factor(self, X: FloatArray) -> FloatArray:
        """Factor L (P, k) of the covariance L L^T of the values at points X already evaluated. Private if that is."""
        rows = np.ascontiguousarray(X, dtype=float) + 0.0
        return self._root[[self._seen[row.tobytes()] for row in rows]]

    def _extend(self, X: FloatArray) -> None:
        own = self._process.covariance(X, X)
        cross: FloatArray = np.zeros((len(X), 0))
        if self._X is not None:
            # [A; B] [A; B]^T with B = S_21 A^-T, and the remainder S_22 - B B^T factorised
            cross = solve_triangular(self._root, self._process.covariance(self._X, X), lower=True).T
        block = _cholesky(own - cross @ cross.T, _JITTER * self._process.variance)
        old = len(self._root)
        root = np.zeros((old + len(X),) * 2)
        root[:old, :old], root[old:, :old], root[old:, old:] = self._root, cross, block
        normals = self._rng.standard_normal((len(self._normals), len(X)))
        mean = self._process.mean(X)
        values = mean + self._normals @ cross.T + normals @ block.T
        self._X = X if self._X is None else np.vstack([self._X, X])
        self._root, self._normals = root, np.hstack([self._normals, normals])
        self._values = np.hstack([self._values, values])


def _cholesky(S: FloatArray, jitter: float) -> FloatArray:
    while True:
        try:
            return np.asarray(cholesky(S + jitter * np.eye(len(S)), lower=True))
        except np.linalg.LinAlgError:
            jitter *= 10
