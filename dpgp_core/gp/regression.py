"""Gaussian process regression: the cloaking matrix C and the posterior, exact or low-rank.

Exact inference is one Cholesky factorisation of K = K_ff + noise_variance I. By default the number of records, and the
rank that a low-rank factorisation would need, decide which kind of inference is used.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..arrays import FloatArray
from ..checks import check_positive
from ..kernels import Kernel
from ..linalg import Matrix, check_columns, dense_of
from .pivoted import TOLERANCE, LowRank, ToleranceMissedError, check_tolerance, factorise


def output_covariance(kernel: Kernel, X: FloatArray, noise_variance: float) -> FloatArray:
    """Return the prior covariance of the outputs, K = K_ff + noise_variance I, shape (n, n).

    Raises:
        ValueError: noise_variance is not positive.
    """
    check_positive("noise_variance", noise_variance)
    K = kernel(X, X)
    K[np.diag_indices_from(K)] += noise_variance
    return K


Method = Literal["auto", "exact", "lowrank"]

EXACT_ALWAYS = 1500  # up to so many records "auto" is exact; the Cholesky factorisation then takes about 30 ms
LARGEST_EXACT = 20_000  # largest number of records of exact inference; their covariance matrix takes 3.2 GB
_RANK_SHARE = 6  # "auto" is low-rank up to rank n / 6, at which both kinds of inference are about equally fast


@dataclass(frozen=True, kw_only=True)
class Inference:
    """Description of how C was computed.

    Attributes:
        method: "exact" or "lowrank".
        rank: number of pivots; None for "exact".
        residual: tr(K_ff - V V^T) / tr K_ff over all records; None for "exact".
    """

    method: Literal["exact", "lowrank"]
    rank: int | None = None
    residual: float | None = None


@dataclass(frozen=True, kw_only=True)
class InferenceChoice:
    """Parameters of mechanisms that compute C = K_*f K^-1.

    Args:
        inference: "exact", "lowrank" or "auto". "auto" is exact for up to 1,500 records. Above that it is low-rank if
            the rank is at most n / 6 or there are more than 20,000 records, and otherwise exact. The privacy guarantee
            is the same, because the noise is calibrated to the C that is used.
        tolerance: share of the trace of K_ff that "lowrank" may leave out, in [1e-13, 1).
    """

    inference: Method = "auto"
    tolerance: float = TOLERANCE

    methods: ClassVar[tuple[str, ...]] = ("auto", "exact", "lowrank")

    def check_inference(self) -> None:
        """Raise ValueError if a parameter is out of range."""
        if self.inference not in self.methods:
            raise ValueError(f"inference must be one of {', '.join(map(repr, self.methods))}, got {self.inference!r}")
        check_tolerance(self.tolerance)

    def low_rank(self, kernel: Kernel, X: FloatArray, executor: Executor | None = None) -> LowRank | None:
        """Return the factorisation K_ff ~ V V^T for inputs X (n, D); None if inference is exact.

        Raises:
            ValueError: n is too large for this inference.
        """
        n = len(X)
        if self.inference == "lowrank":
            return factorise(kernel, X, self.tolerance, executor=executor)
        if self.inference == "auto" and n > EXACT_ALWAYS:
            most = n // _RANK_SHARE if n <= LARGEST_EXACT else None
            try:
                return factorise(kernel, X, self.tolerance, largest_rank=most, executor=executor)
            except ToleranceMissedError as error:
                if n > LARGEST_EXACT:
                    raise ValueError(f"exact inference is limited to {LARGEST_EXACT} records, and {error}") from error
        if n > LARGEST_EXACT:
            raise ValueError(
                f"exact inference is limited to {LARGEST_EXACT} records, got {n}; use inference='auto' or 'lowrank'"
            )
        return None

    def cloaking_matrix(
        self,
        kernel: Kernel,
        X: FloatArray,
        X_test: FloatArray,
        noise_variance: float,
        executor: Executor | None = None,
    ) -> tuple[Matrix, LowRank | None]:
        """Return C (P, n), as an array or factored, and the factorisation of K_ff, which is None if inference is exact.

        Raises:
            ValueError: n is too large; noise_variance is not positive; X and X_test differ in their columns.
        """
        check_positive("noise_variance", noise_variance)
        check_columns(X, X_test)
        low = self.low_rank(kernel, X, executor)
        if low is None:
            return _gain(output_covariance(kernel, X, noise_variance), kernel(X, X_test)), None
        return low.matrix(X_test, noise_variance), low


def cloaking_matrix(
    kernel: Kernel,
    X: FloatArray,
    X_test: FloatArray,
    noise_variance: float,
    method: Method = "exact",
    tolerance: float = TOLERANCE,
) -> FloatArray:
    """Return the cloaking matrix C = K_*f K^-1 (P, n). The posterior mean at X_test is C y.

    Column j therefore says how much record j influences the predictions.

    Args:
        kernel: prior covariance of f.
        X: inputs (n, D).
        X_test: test inputs (P, D).
        noise_variance: variance of an output about f, > 0, in squared model units.
        method: "exact", "lowrank" or "auto", see ``InferenceChoice``.
        tolerance: share of the trace of K_ff that "lowrank" may leave out, in [1e-13, 1).

    Raises:
        ValueError: an argument is out of range, n is too large for the method, or X and X_test differ in their columns.

    Source: Smith et al. 2018, eq. 8.
    """
    if method not in InferenceChoice.methods:
        raise ValueError(f"method must be one of {', '.join(map(repr, InferenceChoice.methods))}, got {method!r}")
    check_tolerance(tolerance)
    choice = InferenceChoice(inference=method, tolerance=tolerance)
    C, _ = choice.cloaking_matrix(kernel, X, X_test, noise_variance)
    return dense_of(C)


def _gain(observed: FloatArray, crossed: FloatArray) -> FloatArray:
    """Return K_*z S^-1 (P, r) = (S^-1 K_z*)^T, from S (r, r), which is overwritten, and K_z* (r, P)."""
    return np.ascontiguousarray(cho_solve(cho_factor(observed, lower=True, overwrite_a=True), crossed).T)


def describe(low: LowRank | None) -> Inference:
    """Describe the inference by a low-rank factorisation, or exact inference if ``low`` is None."""
    if low is None:
        return Inference(method="exact")
    return Inference(method="lowrank", rank=low.rank, residual=low.residual)


def posterior(
    kernel: Kernel, X: FloatArray, y: FloatArray, X_test: FloatArray, noise_variance: float
) -> tuple[FloatArray, FloatArray]:
    """Return posterior mean (P,) and covariance (P, P) of the latent f at X_test. They are not private.

    The covariance does not depend on y and may be published if X is public.

    Args:
        y: outputs (n,) in model units, zero prior mean.

    Raises:
        ValueError: as for ``cloaking_matrix``.

    Source: Rasmussen & Williams 2006, eqs 2.25-2.26.
    """
    C = cloaking_matrix(kernel, X, X_test, noise_variance)
    # mean = C y;  covariance = K_** - K_*f K^-1 K_f* = K_** - C K_f*
    return C @ y, kernel(X_test, X_test) - C @ kernel(X, X_test)


class SumsPosterior(NamedTuple):
    """Posterior of f at P test inputs given noisy sums z of outputs.

    Attributes:
        gain: matrix (P, r) with posterior mean E f_* = gain z.
        deviation: standard deviation of f_* given z (P,), in model units.
    """

    gain: FloatArray
    deviation: FloatArray

    @property
    def error(self) -> float:
        """Expected root mean square error over the test inputs if f is drawn from the prior, in model units."""
        return float(np.sqrt((self.deviation**2).mean()))


def posterior_of_sums(
    kernel: Kernel, X: FloatArray, X_test: FloatArray, noise_variance: float, B: FloatArray, t: float
) -> SumsPosterior:
    """Return the posterior of f at X_test given z = B y + N(0, t I).

    S = B K B^T + t I,    gain = K_*f B^T S^-1,    variance = k_** - diag(gain B K_f*).

    Args:
        B: matrix of the sums (r, n); r may be 0.
        t: noise variance of each sum, > 0.

    Raises:
        ValueError: shapes disagree, or a variance is not positive.
    """
    check_columns(X, X_test)
    check_positive("t", t)
    if B.ndim != 2 or B.shape[1] != len(X):
        raise ValueError(f"B must have {len(X)} columns, one per record, got shape {B.shape}")
    S = B @ output_covariance(kernel, X, noise_variance) @ B.T + t * np.eye(len(B))
    crossed = B @ kernel(X, X_test)
    gain = _gain(S, crossed) if len(B) else crossed.T
    variance = kernel.diagonal(X_test) - np.einsum("pr,rp->p", gain, crossed)
    return SumsPosterior(gain, np.sqrt(np.maximum(variance, 0.0)))
