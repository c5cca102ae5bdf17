"""The cloaking noise: the smallest Gaussian noise that masks any one column of the cloaking matrix.

Find M with c_j^T M^-1 c_j <= 1 for every column c_j of C (P, n), smallest in trace (mean squared
noise, ours) or in log-determinant (Smith et al. 2018, section 3). It depends on inputs only, so M is
public and is computed once for every epsilon, delta, bound and y.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Literal, overload

import numpy as np
from scipy.linalg import qr, solve_triangular

from ..arrays import FloatArray
from ..linalg import Columns, Matrix, Spectrum, column_norms, spectrum_of
from .solver import LOGDET, TRACE, Solution, optimise, shifts

ObjectiveName = Literal["trace", "logdet"]

_WEIGHT_FLOOR = 1e-6  # of the largest weight: at weight zero the noise would have no reason to be finite
_LOWEST_TOLERANCE = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class NoiseDesign:
    """A noise covariance M = L L^T on the span of ``basis``, rescaled so that max_j c_j^T M^+ c_j = 1.

    Only the projection of the mean on that space may be released (``project``): directions that the rank
    tolerance drops have no noise to hide behind.

    Attributes:
        lambdas: weight of each record (n,); sum = rank for "logdet" (before rescaling, M = rescale *
            sum_j lambda_j c_j c_j^T), sum = 1 for "trace".
        basis: orthonormal columns U (P, r) of the kept space.
        root: (r, r) with M = U root root^T U^T.
        rescale: D2, the factor that made the largest shift exactly 1.
        gap: certified relative optimality gap of the objective.
        iterations: Newton steps used.
        dropped_energy: share of the squared singular values of C left out by the rank tolerance.
        objective: "trace" or "logdet".
    """

    lambdas: FloatArray
    basis: FloatArray
    root: FloatArray
    rescale: float
    gap: float
    iterations: int
    dropped_energy: float
    objective: ObjectiveName

    @property
    def rank(self) -> int:
        """Dimension r of the kept space."""
        return int(self.basis.shape[1])

    @property
    def factor(self) -> FloatArray:
        """L (P, r) with L L^T = M: sample noise as L z with z standard normal."""
        return self.basis @ self.root

    def covariance(self) -> FloatArray:
        """M (P, P), for unit change of one output and unit noise multiplier."""
        L = self.factor
        return L @ L.T

    def variance(self) -> FloatArray:
        """Diagonal of M, shape (P,)."""
        return column_norms(self.factor.T)

    @overload
    def project(self, values: FloatArray) -> FloatArray: ...
    @overload
    def project(self, values: Matrix) -> Matrix: ...
    def project(self, values: Matrix) -> Matrix:
        """Orthogonal projection U U^T of values (P,), (P, k) or a factored matrix on the kept space."""
        return self.basis @ (self.basis.T @ values)


def design_noise(
    C: Matrix,
    objective: ObjectiveName = "trace",
    weights: FloatArray | None = None,
    gap: float = 1e-3,
    rank_tolerance: float = 1e-7,
    *,
    executor: Executor | None = None,
) -> NoiseDesign:
    """Design the noise for a cloaking matrix.

    Args:
        C: cloaking matrix (P, n), an array or factored; any matrix gives a valid design for releasing C y.
        objective: "trace" minimises sum_i weights_i M_ii; "logdet" minimises log|M| on the kept space.
        weights: public importance of each test point (P,), >= 0, not all zero; default uniform.
            Used by "trace"; weights below 1e-6 of the largest count as that.
        gap: relative optimality gap > 0 to stop at; a loose one costs accuracy, never privacy.
        rank_tolerance: singular values of C below this fraction of the largest are dropped, from the noise
            and from the mean.

    Raises:
        ValueError: a value above is out of range or of the wrong shape.

    Source: Smith et al. 2018 (log-det); trace: the factorisation mechanism's mean squared error,
    dual max over mu of tr (C diag(mu) C^T)^{1/2}.
    """
    _check(C, objective, weights, gap, rank_tolerance)
    return _design(spectrum_of(C, rank_tolerance, executor), objective, weights, gap, executor)


def _design(
    spectrum: Spectrum,
    objective: ObjectiveName,
    weights: FloatArray | None,
    gap: float,
    executor: Executor | None,
) -> NoiseDesign:
    """Solve in the reduced coordinates U^T c_j = diag(s) v_j."""
    U, s, units, all_s = spectrum
    rank, n = units.shape
    if rank == 0:  # C = 0: nothing depends on y
        empty = np.zeros((len(U), 0))
        return NoiseDesign(
            lambdas=np.zeros(n),
            basis=empty,
            root=np.zeros((0, 0)),
            rescale=1.0,
            gap=0.0,
            iterations=0,
            dropped_energy=0.0,
            objective=objective,
        )
    if objective == "logdet":
        # log|M| changes by a constant under M -> T M T^T, so solve for the well-conditioned v_j.
        solution = optimise(units, LOGDET, gap, executor)
        lambdas, root = rank * solution.mu, s[:, None] * (solution.root.factor * np.sqrt(rank))
        largest = shifts(units, solution.root, executor).max() / rank
    else:
        solution, root, largest = _solve_trace(U, s, units, weights, gap, executor)
        lambdas = solution.mu
    rescale = float(largest) * _round_up(s)
    return NoiseDesign(
        lambdas=lambdas,
        basis=U,
        root=root * np.sqrt(rescale),
        rescale=rescale,
        gap=solution.gap,
        iterations=solution.steps,
        dropped_energy=float(1 - (s @ s) / (all_s @ all_s)),
        objective=objective,
    )


def _solve_trace(
    U: FloatArray,
    s: FloatArray,
    units: Columns,
    weights: FloatArray | None,
    gap: float,
    executor: Executor | None,
) -> tuple[Solution, FloatArray, float]:
    """Minimise tr(W M): with U^T W U = R^T R the weighted problem is the plain one for R diag(s) V^T."""
    if weights is None:
        B = units.mapped(np.diag(s))
        solution = optimise(B, TRACE, gap, executor)
        return solution, solution.root.factor, shifts(B, solution.root, executor).max()
    w = np.maximum(weights / weights.max(), _WEIGHT_FLOOR)
    R = qr(np.sqrt(w)[:, None] * U, mode="economic", check_finite=False)[1]
    weighted = units.mapped(R * s)
    solution = optimise(weighted, TRACE, gap, executor)
    root = solve_triangular(R, solution.root.factor)
    return solution, root, shifts(weighted, solution.root, executor).max()


def _round_up(s: FloatArray) -> float:
    """Guard against rounding: reduced coordinates carry a relative error of about eps * s_1 / s_r."""
    return 1 + 4 * len(s) * np.finfo(float).eps * float(s[0] / s[-1])


def _check(
    C: Matrix,
    objective: str,
    weights: FloatArray | None,
    gap: float,
    rank_tolerance: float,
) -> None:
    finite = np.isfinite(C if isinstance(C, np.ndarray) else C.left).all()
    if len(C.shape) != 2 or 0 in C.shape or not finite:
        raise ValueError(f"C must be a finite matrix (P, n) with P, n >= 1, got shape {C.shape}")
    if objective not in ("trace", "logdet"):
        raise ValueError(f"objective must be 'trace' or 'logdet', got {objective!r}")
    if not gap > 0:
        raise ValueError(f"gap must be above 0, got {gap}; 1e-3 is a good choice")
    if not (isinstance(rank_tolerance, float | int) and _LOWEST_TOLERANCE <= rank_tolerance < 1):
        raise ValueError(f"rank_tolerance must be a number in [{_LOWEST_TOLERANCE:g}, 1), got {rank_tolerance!r}")
    if weights is not None:
        if objective == "logdet":
            raise ValueError("weights change nothing for objective 'logdet'; leave them out or use 'trace'")
        if weights.shape != (len(C),) or not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
            raise ValueError(f"weights must be {len(C)} non-negative numbers, not all 0, got shape {weights.shape}")
