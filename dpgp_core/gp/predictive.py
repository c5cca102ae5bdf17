"""What a public model expects of f at test points given the outputs, and outputs drawn from it. Reads no output."""

from __future__ import annotations

import math
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky

from ..arrays import FloatArray
from ..kernels import Kernel
from ..linalg.blocks import Matrix, dense_of, values_of
from .exact import output_covariance
from .factored import LowRank
from .inference import Inference, InferenceChoice, describe

_NUGGET = 1e-6  # of the kernel's variance


@dataclass(frozen=True, kw_only=True, eq=False)
class Predictive:
    """f at test points given outputs y = f(X) + noise: f ~ N(C y, variance), y ~ N(0, K). Model units, all public.

    Attributes:
        kernel: covariance function of f.
        X: inputs of the outputs (n, D).
        noise_variance: > 0, of outputs about f.
        C: C = K_*f K^-1 (P, n).
        variance: diag(K_** - C K_f*) (P,): what the outputs would leave unknown of f.
        low: K_ff ~ V V^T, where inference is low-rank; None where it is exact.
    """

    kernel: Kernel
    X: FloatArray
    noise_variance: float
    C: Matrix
    variance: FloatArray
    low: LowRank | None

    @property
    def inference(self) -> Inference:
        """How C was computed."""
        return describe(self.low)

    def outputs(self, rng: np.random.Generator, count: int) -> FloatArray:
        """Outputs (count, n) made up by the model."""
        if self.low is None:
            L = cholesky(output_covariance(self.kernel, self.X, self.noise_variance), lower=True)
            return rng.standard_normal((count, len(self.X))) @ L.T
        V = values_of(self.low.rows)
        f = rng.standard_normal((count, V.shape[1])) @ V.T
        return f + math.sqrt(self.noise_variance) * rng.standard_normal(f.shape)


def predictive(
    choice: InferenceChoice,
    kernel: Kernel,
    X: FloatArray,
    X_test: FloatArray,
    noise_variance: float,
    executor: Executor | None = None,
) -> Predictive:
    """The model at test points, C and all, by one factorisation.

    Args:
        choice: exact or low-rank.
        kernel: covariance function of the latent f.
        X: training inputs (n, D).
        X_test: test inputs (P, D).
        noise_variance: variance > 0 of the observation noise, in squared model units.
        executor: runs passes over blocks of records, see ``Columns.over_blocks``; default: this thread.

    Raises:
        ValueError: n is too large; noise_variance is not positive; X and X_test differ in their columns.
    """
    C, low = choice.cloaking_matrix(kernel, X, X_test, noise_variance, executor)
    if low is None:
        # diag(K_** - C K_f*), without the off-diagonal
        variance = kernel.diagonal(X_test) - np.einsum("ij,ij->i", dense_of(C), kernel(X_test, X))
    else:
        variance = low.variance(X_test, noise_variance)
    return Predictive(
        kernel=kernel,
        X=X,
        noise_variance=noise_variance,
        C=C,
        variance=np.maximum(variance, 0),
        low=low,
    )


def of_curves(kernel: Kernel, X: FloatArray, X_test: FloatArray) -> Predictive:
    """The model whose outputs are f itself at X (n, D), but for a nugget that keeps the covariance regular."""
    nugget = _NUGGET * float(kernel.diagonal(X[:1])[0])
    return predictive(InferenceChoice(inference="exact"), kernel, X, X_test, nugget)
