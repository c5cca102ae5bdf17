"""The noise of cloaking: the smallest Gaussian noise that masks any one column of the cloaking matrix.

The covariance M satisfies c_j^T M^-1 c_j <= 1 for every column c_j of C (P, n). It minimises the trace (the mean
squared noise, this project's objective) or the log-determinant (Smith et al. 2018, section 3). M depends on inputs
only. It is therefore public, and is computed once for all values of epsilon, delta, bounds and y.
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

_WEIGHT_FLOOR = 1e-6  # smallest weight relative to the largest; with weight 0 the noise could become infinite
_LOWEST_TOLERANCE = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class NoiseDesign:
    """A noise covariance M = L L^T on the span of ``basis``, scaled so that max_j c_j^T M^+ c_j = 1.

    Only the projection of the mean on this space may be released (``project``), because there is no noise in directions
    that the rank tolerance drops.

    Attributes:
        lambdas: weight of each record (n,). They add up to the rank for "logdet", where M = rescale *
            sum_j lambda_j c_j c_j^T, and to 1 for "trace".
        basis: orthonormal columns U (P, r) of the space that is kept.
        root: matrix (r, r) with M = U root root^T U^T.
        rescale: factor of M that makes the largest shift exactly 1.
        gap: certified relative optimality gap of the objective.
        iterations: number of Newton steps.
        dropped_energy: share of the squared singular values of C that the rank tolerance drops.
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
        """Dimension r of the space that is kept."""
        return int(self.basis.shape[1])

    @property
    def factor(self) -> FloatArray:
        """Factor L (P, r) with L L^T = M. The noise is L z with z standard normal."""
        return self.basis @ self.root

    def covariance(self) -> FloatArray:
        """Return M (P, P), for a unit change of one output and noise multiplier 1."""
        L = self.factor
        return L @ L.T

    def variance(self) -> FloatArray:
        """Return the diagonal of M, shape (P,)."""
        return column_norms(self.factor.T)

    @overload
    def project(self, values: FloatArray) -> FloatArray: ...
    @overload
    def project(self, values: Matrix) -> Matrix: ...
    def project(self, values: Matrix) -> Matrix:
        """Project values (P,), (P, k) or a factored matrix orthogonally on the space that is kept, by U U^T."""
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
        C: cloaking matrix (P, n), as an array or factored. The design is valid for releasing C y with any matrix C.
        objective: "trace" minimises sum_i weights_i M_ii; "logdet" minimises log|M| on the space that is kept.
        weights: public importance of each test point (P,) for "trace", >= 0 and not all zero; uniform by default.
            Weights below 1e-6 times the largest are raised to it.
        gap: relative optimality gap > 0 to stop at. A larger gap costs accuracy, but not privacy.
        rank_tolerance: singular values of C below this fraction of the largest are dropped from noise and mean.
        executor: runs blocks of columns, see ``Columns.over_blocks``.

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
    """Design the noise in the reduced coordinates U^T c_j = diag(s) v_j."""
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
        # M -> T M T^T changes log|M| by a constant, so the problem is solved for the well-conditioned v_j.
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
    """Minimise tr(W M). With U^T W U = R^T R this is the unweighted problem for R diag(s) V^T."""
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
    """Return a factor that covers rounding errors: those of reduced coordinates are about eps * s_1 / s_r, relative."""
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
