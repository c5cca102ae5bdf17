"""Cross-validation of a GP and of its private release, in closed form: one factorisation, no refits, no draws.

Everything here depends on inputs, folds and hyperparameters only, so it is public. The outputs enter last, as
residuals = residual_map @ y, and the regression epsilon later still, as a factor on ``noise_trace``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..arrays import FloatArray
from ..gp.grid import IndexArray
from ..gp.regression import output_covariance
from ..kernels import Kernel
from ..strategies.noise_design import ObjectiveName, design_noise

Folds = tuple[IndexArray, ...]
"""Sorted indices of the records that each fold tests; it trains on all others. Public."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FoldPlan:
    """Held-out predictions and release noise of one (kernel, noise_variance). Public: no output was read.

    Row i of ``residual_map`` tests one record t in one fold: 1 in column t, 0 for the fold's other test records,
    and minus the weight a_tj that the release's prediction gives to each training record j.

    Attributes:
        folds: test indices of the K folds, N in all.
        residual_map: R (N, n), held-out residuals = R y, fold after fold; no unit.
        noise_trace: tr M_k of each fold's design (K,), for noise multiplier 1 and unit change of one output: the
            expected squared noise of fold k is (d s')^2 tr M_k.
    """

    folds: Folds
    residual_map: FloatArray
    noise_trace: FloatArray

    @property
    def tested(self) -> int:
        """Number N of held-out predictions over all folds."""
        return len(self.residual_map)

    def matrices(self) -> list[FloatArray]:
        """Weights A_k (test_k, train_k) of each fold's predictions: C_k, less the directions dropped by rank."""
        blocks = np.split(self.residual_map, np.cumsum([len(test) for test in self.folds])[:-1])
        return [-np.delete(block, test, axis=1) for block, test in zip(blocks, self.folds, strict=True)]


def k_folds(n: int, folds: int, rng: np.random.Generator | None = None) -> Folds:
    """Split records 0 ... n-1 into disjoint folds whose sizes differ by at most one.

    Args:
        folds: K, from 2 to n.
        rng: public generator that shuffles the records first; None keeps their order.

    Raises:
        ValueError: folds is out of range.
    """
    if not 2 <= folds <= n:
        raise ValueError(f"folds must lie between 2 and the number of records {n}, got {folds}")
    order = np.arange(n) if rng is None else rng.permutation(n)
    return tuple(np.sort(part) for part in np.array_split(order, folds))


def held_out_matrices(
    kernel: Kernel, X: FloatArray, folds: Sequence[IndexArray], noise_variance: float
) -> list[FloatArray]:
    """Cloaking matrix C_k (test_k, train_k) of each fold, from blocks of one inverse: -(K^-1_TT)^-1 K^-1_TS.

    Raises:
        ValueError: noise_variance is not positive.

    Source: Rasmussen & Williams 2006, section 5.4.2, for blocks.
    """
    factor = cho_factor(output_covariance(kernel, X, noise_variance), lower=True, overwrite_a=True)
    inverse = cho_solve(factor, np.eye(len(X)))
    # Block inverse: K^-1_TT = (K_TT - K_TS K_SS^-1 K_ST)^-1 and K^-1_TS = -K^-1_TT K_TS K_SS^-1 = -K^-1_TT C_k
    return [
        -cho_solve(cho_factor(inverse[np.ix_(test, test)], lower=True), np.delete(inverse[test], test, axis=1))
        for test in folds
    ]


def plan_folds(
    kernel: Kernel,
    X: FloatArray,
    folds: Sequence[IndexArray],
    noise_variance: float,
    objective: ObjectiveName = "trace",
    gap: float = 1e-3,
    rank_tolerance: float = 1e-7,
    progress: Callable[[float], None] = lambda fraction: None,
) -> FoldPlan:
    """Plan each fold's private predictions of its test records, and its noise at unit scale.

    Args:
        objective, gap, rank_tolerance: see ``design_noise``.

    Raises:
        ValueError: a parameter is out of range.
    """
    residual_maps, traces = [], []
    for test, C in zip(folds, held_out_matrices(kernel, X, folds, noise_variance), strict=True):
        design = design_noise(C, objective, gap=gap, rank_tolerance=rank_tolerance)
        # residual = y_T - U U^T C y_S: directions that the rank tolerance drops leave the released mean too
        residual_map = np.eye(len(X))[test]
        residual_map[:, np.delete(np.arange(len(X)), test)] = -design.project(C)
        residual_maps.append(residual_map)
        traces.append(float(design.variance().sum()))
        progress(len(traces) / len(folds))
    return FoldPlan(folds=tuple(folds), residual_map=np.concatenate(residual_maps), noise_trace=np.array(traces))
