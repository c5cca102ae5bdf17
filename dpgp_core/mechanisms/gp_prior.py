"""Noise shaped like a draw from the GP prior: valid for any later test point, and therefore large."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from ..arrays import FloatArray
from ..checks import check_positive
from ..data import Dataset
from ..gp.exact import output_covariance
from ..gp.inference import InferenceChoice
from ..gp.uncertainty import Predictive, predictive
from ..kernels import Kernel
from ..linalg import Matrix
from .base import Plan, Release, within_unit
from .gaussian import GaussianMechanism


@dataclass(frozen=True, kw_only=True)
class GPPrior(InferenceChoice, GaussianMechanism):
    """Release f + s' Delta G with G ~ GP(0, k), Delta the sensitivity of f in the RKHS of k.

    The posterior mean is f = sum_i alpha_i k(x_i, .), alpha = K^-1 y. Replacing y_j by y_j + d moves it by
    d in the direction of column j of K^-1, of squared RKHS norm d^2 [K^-1 K_ff K^-1]_jj. That is exact.

    Args:
        kernel, noise_variance: the public GP model, in model units (outputs divided by ``y_scale``).
        inference, tolerance: exact or low-rank, see ``InferenceChoice``. The sensitivity is that of the f released.
        epsilon, delta, calibration, unproven: see ``GaussianMechanism``.

    Raises:
        ValueError: a parameter is out of range.

    Source: Hall, Rinaldo & Wasserman 2013, proposition 7 and section 4; Smith et al. 2018, section 2.
    """

    kernel: Kernel
    noise_variance: float

    label: ClassVar[str] = "GP-prior noise"
    reference: ClassVar[str] = "Smith et al. 2018, section 2"
    theorem: ClassVar[str] = "Hall et al. 2013, corollary 9: noise from the GP prior, RKHS sensitivity"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("noise_variance", self.noise_variance)
        self.check_inference()

    def plan(self, X: FloatArray, X_test: FloatArray, executor: Executor | None = None) -> Plan:
        """Public plan for training inputs X (n, D) and test inputs X_test (P, D).

        Args:
            X: public inputs (n, D).
            X_test: public test inputs (P, D).
            executor: runs passes over blocks of records, see ``Columns.over_blocks``; default: this thread.
        """
        model = predictive(self, self.kernel, X, X_test, self.noise_variance, executor)
        return self.plan_of(model, X_test, executor)

    def plan_of(self, model: Predictive, X_test: FloatArray, executor: Executor | None = None) -> Plan:
        """The same from the declared model at X_test (P, D), where that is in hand."""
        if model.low is not None:
            unit = model.low.sensitivity(self.noise_variance, executor)
        else:
            unit = exact_sensitivity(self.kernel, model.X, self.noise_variance)
        plan = prior_plan(model.C, self.kernel(X_test, X_test), unit)
        return replace(plan, inference=model.inference, model=model)

    def release(
        self, dataset: Dataset, X_test: FloatArray, rng: np.random.Generator | None = None, draws: int = 1
    ) -> Release:
        """Release predictions at X_test (P, D), in the output's unit; see ``Mechanism``."""
        return self.release_planned(self.plan(dataset.X, X_test), dataset, X_test, rng, draws)


def prior_plan(C: Matrix, K_test: FloatArray, unit_sensitivity: float) -> Plan:
    """Strategy B = L^-1 C / Delta and map Delta L, K_** = L L^T: noise of covariance Delta^2 K_**.

    Delta is the RKHS sensitivity, or the longest column of L^-1 C as computed if that is longer: an ill-conditioned
    model has rounding errors in C that no formula for the sensitivity knows of.

    Args:
        C: cloaking matrix (P, n), an array or factored.
        K_test: prior covariance of the test points (P, P).
        unit_sensitivity: Delta, the RKHS sensitivity per unit change of one output.
    """
    vectors, root = prior_axes(K_test)
    sd = unit_sensitivity * root
    strategy, factor = within_unit((vectors / sd).T @ C, vectors * sd)
    return Plan(strategy=strategy, factor=factor)


def prior_axes(K_test: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Orthonormal V (P, P) and sd (P,) with V diag(sd^2) V^T = K_** + jitter I, L = V diag(sd)."""
    values, vectors = eigh(K_test)
    # Round up: K_** + jitter I masks at least what K_** masks, and is never singular.
    jitter = len(values) * np.finfo(float).eps * values[-1]
    return vectors, np.sqrt(np.maximum(values, 0) + jitter)


def exact_sensitivity(kernel: Kernel, X: FloatArray, noise_variance: float) -> float:
    """max_j sqrt([K^-1 K_ff K^-1]_jj): RKHS shift of the posterior mean per unit change of one output."""
    K = output_covariance(kernel, X, noise_variance)
    inverse = cho_solve(cho_factor(K, lower=True, overwrite_a=True), np.eye(len(K)))
    return float(np.sqrt(np.einsum("ij,ij->j", inverse, kernel(X, X) @ inverse).max()))
