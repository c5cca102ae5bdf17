"""Cross-validation of a GP and of its private release in closed form, by one factorisation and without simulation.

Everything here depends on inputs, folds and hyperparameters only, so it is public. The outputs enter only in
residuals = residual_map @ y, and epsilon only as a factor of ``noise_trace``.
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
"""Sorted indices of the test records of each fold. All other records are its training records. They are public."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FoldPlan:
    """Held-out predictions and noise of the release for one (kernel, noise_variance). Public, as no output is read.

    Row i of ``residual_map`` belongs to a test record t of a fold. It has 1 in column t, 0 for the other test records
    of the fold, and minus the weight a_tj of each training record j in the prediction.

    Attributes:
        folds: test indices of the K folds, N in total.
        residual_map: R (N, n) with held-out residuals R y, ordered by fold; no unit.
        noise_trace: tr M_k of the noise design of each fold (K,), for noise multiplier 1 and a unit change of one
            output. The expected squared noise of fold k is (d s)^2 tr M_k.
    """

    folds: Folds
    residual_map: FloatArray
    noise_trace: FloatArray

    @property
    def tested(self) -> int:
        """Number N of held-out predictions over all folds."""
        return len(self.residual_map)

    def matrices(self) -> list[FloatArray]:
        """Return the weights A_k (test_k, train_k) of the predictions of each fold: C_k without dropped directions."""
        blocks = np.split(self.residual_map, np.cumsum([len(test) for test in self.folds])[:-1])
        return [-np.delete(block, test, axis=1) for block, test in zip(blocks, self.folds, strict=True)]


def k_folds(n: int, folds: int, rng: np.random.Generator | None = None) -> Folds:
    """Split records 0 ... n-1 into disjoint folds whose sizes differ by at most one.

    Args:
        folds: number of folds K, from 2 to n.
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
    """Return the cloaking matrix C_k (test_k, train_k) of each fold, from blocks of one inverse: -(K^-1_TT)^-1 K^-1_TS.

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
    """Plan the private predictions of the test records of each fold, and their noise for noise multiplier 1.

    Args:
        objective, gap, rank_tolerance: see ``design_noise``.

    Raises:
        ValueError: a parameter is out of range.
    """
    residual_maps, traces = [], []
    for test, C in zip(folds, held_out_matrices(kernel, X, folds, noise_variance), strict=True):
        design = design_noise(C, objective, gap=gap, rank_tolerance=rank_tolerance)
        # The residual is y_T - U U^T C y_S: directions that the rank tolerance drops are not in the released mean.
        residual_map = np.eye(len(X))[test]
        residual_map[:, np.delete(np.arange(len(X)), test)] = -design.project(C)
        residual_maps.append(residual_map)
        traces.append(float(design.variance().sum()))
        progress(len(traces) / len(folds))
    return FoldPlan(folds=tuple(folds), residual_map=np.concatenate(residual_maps), noise_trace=np.array(traces))
