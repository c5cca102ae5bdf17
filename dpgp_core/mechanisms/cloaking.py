"""Cloaking: the smallest Gaussian noise that masks any one record at test points known in advance."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..arrays import FloatArray
from ..checks import check_positive
from ..data import Dataset
from ..gp.exact import output_covariance
from ..gp.inference import Inference, InferenceChoice
from ..kernels import Kernel
from ..linalg.blocks import Columns, FactoredMatrix, Matrix
from ..strategies.noise_design import NoiseDesign, ObjectiveName, design_noise
from .base import Plan, Release
from .gaussian import GaussianMechanism


@dataclass(frozen=True, kw_only=True)
class OptimisedNoise(GaussianMechanism, ABC):
    """A public GP model and how its noise is designed: what all cloaking mechanisms have in common.

    Args:
        kernel, noise_variance: the public GP model, in model units (outputs divided by ``y_scale``).
        objective: "trace" minimises the mean squared noise; "logdet" is the published objective.
        weights: public importance of each test point (P,) for "trace"; default uniform.
        gap, rank_tolerance: see ``design_noise``.
        epsilon, delta, calibration, unproven: see ``GaussianMechanism``.

    Raises:
        ValueError: a parameter is out of range.
    """

    kernel: Kernel
    noise_variance: float
    objective: ObjectiveName = "trace"
    weights: Sequence[float] | None = None
    gap: float = 1e-3
    rank_tolerance: float | Literal["auto"] = 1e-7

    theorem: ClassVar[str] = "every neighbour's shift is at most 1 in the noise's metric (exact rescaling)"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("noise_variance", self.noise_variance)

    @property
    def test_weights(self) -> FloatArray | None:
        """``weights`` as an array (P,); None for uniform."""
        return None if self.weights is None else np.asarray(self.weights, dtype=float)

    def designed(
        self,
        C: Matrix,
        weights: FloatArray | None,
        noise_multiplier: float,
        inference: Inference | None = None,
        executor: Executor | None = None,
    ) -> Plan:
        """Plan with the noise designed for a cloaking matrix C (m, n).

        Args:
            C: cloaking matrix (m, n), an array or factored.
            weights: importance of its rows (m,); None for uniform.
            noise_multiplier: s' that rank tolerance "auto" assumes. Not used otherwise.
            inference: how C was computed.
            executor: runs passes over blocks of records; default: this thread.
        """
        assumed = noise_multiplier if self.rank_tolerance == "auto" else 1.0
        design = design_noise(
            C, self.objective, weights, self.gap, self.rank_tolerance, noise_multiplier=assumed, executor=executor
        )
        return cloaking_plan(C, design, inference)

    @abstractmethod
    def plan(self, X: FloatArray, X_test: FloatArray) -> Plan:
        """Public plan for training inputs X (n, D) and test inputs X_test (P, D): stages C and M."""

    def release(self, dataset: Dataset, X_test: FloatArray, rng: np.random.Generator, draws: int = 1) -> Release:
        """Release predictions at X_test (P, D), in the output's unit; see ``Mechanism``."""
        return self.release_planned(self.plan(dataset.X, X_test), dataset, X_test, rng, draws)


@dataclass(frozen=True, kw_only=True)
class Cloaking(InferenceChoice, OptimisedNoise):
    """Release U U^T C y + d s' L z: only directions in which some record can move C y receive noise.

    Args:
        shrinkage: shrink the released values towards the GP prior. Post-processing: costs no privacy,
            lowers the error at small epsilon when the prior variance is honest.
        inference, tolerance: exact or low-rank, see ``InferenceChoice``.
        kernel, noise_variance, objective, weights, gap, rank_tolerance: see ``OptimisedNoise``.
        epsilon, delta, calibration, unproven: see ``GaussianMechanism``.

    Raises:
        ValueError: a parameter is out of range.

    Source: Smith et al. 2018, section 3 and supplement (log-det); docs/guarantees.md for trace.
    """

    shrinkage: bool = False

    label: ClassVar[str] = "Cloaking"
    reference: ClassVar[str] = "Smith et al. 2018, section 3"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_inference()

    def plan(self, X: FloatArray, X_test: FloatArray, executor: Executor | None = None) -> Plan:
        """Public plan for training inputs X (n, D) and test inputs X_test (P, D): stages C and M.

        Args:
            X: public inputs (n, D).
            X_test: public test inputs (P, D).
            executor: runs passes over blocks of records, see ``Columns.over_blocks``; default: this thread.
        """
        C, inference = self.cloaking_matrix(self.kernel, X, X_test, self.noise_variance, executor)
        return self.designed(C, self.test_weights, self.noise_multiplier, inference, executor)

    def release_planned(
        self, plan: Plan, dataset: Dataset, X_test: FloatArray, rng: np.random.Generator, draws: int = 1
    ) -> Release:
        """Add noise to the planned values, then shrink if asked to; see ``GaussianMechanism``."""
        if self.shrinkage:
            factored = isinstance(plan.weights, FactoredMatrix)
            K = self.noise_variance if factored else output_covariance(self.kernel, dataset.X, self.noise_variance)
            plan = shrink(plan, K, self.scale(dataset) / dataset.y_scale)
        return super().release_planned(plan, dataset, X_test, rng, draws)


def cloaking_plan(C: Matrix, design: NoiseDesign, inference: Inference | None = None) -> Plan:
    """Values U U^T C y with noise L z: what the rank tolerance drops from the noise leaves the mean too.

    Args:
        C: cloaking matrix (P, n), an array or factored.
        design: the noise designed for it.
        inference: how C was computed.
    """
    return Plan(weights=design.project(C), factor=design.factor, design=design, inference=inference)


def shrink(plan: Plan, K: FloatArray | float, scale: float) -> Plan:
    """Post-process by W = C K A^T (A K A^T + N)^+: the GP's estimate of f given the released values.

    In coordinates R = U^T C of the kept space, N = scale^2 root root^T. Applying W to values and noise
    alike leaves the privacy analysis untouched (the shift in the noise's metric can only fall).

    Args:
        plan: a cloaking plan.
        K: prior covariance of the outputs (n, n), in squared model units; where the plan's weights are
            left V^T, the noise variance alone, for K = V V^T + noise variance.
        scale: noise multiplier times d, in model units.

    Raises:
        ValueError: the plan has no noise design.
    """
    if plan.design is None:
        raise ValueError("shrinkage needs a plan with a noise design; use Cloaking.plan")
    U, root = plan.design.basis, plan.design.root
    R = U.T @ plan.weights
    prior = _prior(R, K)
    noisy = prior + scale**2 * (root @ root.T)
    W = cho_solve(cho_factor(noisy, lower=True), prior).T
    return replace(plan, weights=U @ (W @ R), factor=U @ (W @ root))


def _prior(R: Matrix, K: FloatArray | float) -> FloatArray:
    """R K R^T."""
    if isinstance(R, np.ndarray):
        return R @ K @ R.T
    # R = A V^T and V = Q G with orthonormal Q: R R^T = (A G^T) (A G^T)^T, R V = A G^T G
    G = R.triangle if R.triangle is not None else Columns(R.rows).triangle()
    H = R.left @ G.T
    return H @ G @ (H @ G).T + K * (H @ H.T)
