"""What a public model expects of f at test points given the outputs, and outputs drawn from it. Reads no output."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_solve, cholesky

from ..arrays import FloatArray
from ..kernels import Kernel
from ..linalg.blocks import Matrix, values_of
from .exact import check_columns, output_covariance
from .inference import InferenceChoice, Method
from .pivoted import TOLERANCE

_NUGGET = 1e-6  # of the kernel's variance


@dataclass(frozen=True, kw_only=True, eq=False)
class Predictive:
    """f at X_test given outputs y = f(X) + noise: f ~ N(C y, variance), y ~ N(0, K). Model units, all of it public.

    Args:
        kernel: covariance function of f.
        X: inputs of the outputs (n, D).
        X_test: (P, D).
        noise_variance: > 0, of outputs about f.
        inference, tolerance: exact or low-rank, see ``InferenceChoice``.
    """

    kernel: Kernel
    X: FloatArray
    X_test: FloatArray
    noise_variance: float
    inference: Method = "auto"
    tolerance: float = TOLERANCE

    @property
    def C(self) -> Matrix:
        """C = K_*f K^-1 (P, n)."""
        return self._solved[0]

    @property
    def variance(self) -> FloatArray:
        """diag(K_** - C K_f*) (P,): what the outputs would leave unknown of f."""
        return self._solved[1]

    def outputs(self, rng: np.random.Generator, count: int) -> FloatArray:
        """Outputs (count, n) made up by the model."""
        root = self._solved[2]
        y = rng.standard_normal((count, root.shape[1])) @ root.T
        if root.shape[0] != root.shape[1]:  # K ~ V V^T + noise I
            y += math.sqrt(self.noise_variance) * rng.standard_normal(y.shape)
        return y

    @cached_property
    def _solved(self) -> tuple[Matrix, FloatArray, FloatArray]:
        """C, the variance, and L with L L^T = K, or V (n, r) with K ~ V V^T + noise I."""
        check_columns(self.X, self.X_test)
        choice = InferenceChoice(inference=self.inference, tolerance=self.tolerance)
        low = choice.low_rank(self.kernel, self.X)
        if low is not None and low.rank < len(self.X):
            V = values_of(low.rows) if isinstance(low.rows, np.ndarray) else low.rows.values()
            return low.matrix(self.X_test, self.noise_variance), low.variance(self.X_test, self.noise_variance), V
        L = cholesky(output_covariance(self.kernel, self.X, self.noise_variance), lower=True)
        K_fs = self.kernel(self.X, self.X_test)
        C = np.ascontiguousarray(cho_solve((L, True), K_fs).T)
        # diag(K_** - C K_f*), without the off-diagonal
        variance = self.kernel.diagonal(self.X_test) - np.einsum("ij,ji->i", C, K_fs)
        return C, np.maximum(variance, 0), L


def declared(
    choice: InferenceChoice, kernel: Kernel, X: FloatArray, X_test: FloatArray, noise_variance: float
) -> Predictive:
    """The model of a mechanism that chose how to compute C."""
    return Predictive(
        kernel=kernel,
        X=X,
        X_test=X_test,
        noise_variance=noise_variance,
        inference=choice.inference,
        tolerance=choice.tolerance,
    )


def of_curves(kernel: Kernel, X: FloatArray, X_test: FloatArray) -> Predictive:
    """The model whose outputs are f itself at X (n, D), but for a nugget that keeps the covariance regular."""
    nugget = _NUGGET * float(kernel.diagonal(X[:1])[0])
    return Predictive(kernel=kernel, X=X, X_test=X_test, noise_variance=nugget, inference="exact")
