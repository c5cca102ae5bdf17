"""Cloaking: the smallest Gaussian noise that masks any one record at test points known in advance.

With inducing inputs too, which tame the outliers that set the size of the noise. And refined: a rough private curve
first, then a second cloaked release of the clipped residuals. The declared bounds make one record's largest change d
big, although once a rough private curve is known everyone lies near it. Residuals clipped to +-B can change by
min(2B, d) only, and need less noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..accounting.guarantee import Guarantee
from ..arrays import FloatArray
from ..checks import check_positive
from ..gp.inducing import choose_inducing, declared_inputs, inducing_matrix
from ..gp.regression import Inference, describe, output_covariance
from ..gp.uncertainty import Predictive
from ..linalg import Columns, FactoredMatrix, Matrix
from ..strategies.noise_design import ObjectiveName, design_noise
from ..table import Dataset
from .base import EXACT_ROWS, Plan, within_unit
from .gaussian import OfModel


@dataclass(frozen=True, kw_only=True)
class OptimisedNoise(OfModel):
    """A public GP model and the design of its noise, common to all cloaking mechanisms.

    Args:
        inference, tolerance: exact or low-rank, see ``InferenceChoice``.
        objective: "trace" minimises the mean squared noise; "logdet" is the published objective.
        weights: public importance of each test point (P,) for "trace"; default uniform.
        gap, rank_tolerance: see ``design_noise``.
        epsilon, delta, calibration, unproven: see ``GaussianMechanism``.

    Raises:
        ValueError: a parameter is out of range.
    """

    objective: ObjectiveName = "trace"
    weights: Sequence[float] | None = None
    gap: float = 1e-3
    rank_tolerance: float = 1e-7

    theorem: ClassVar[str] = "every column of the measured strategy is at most 1 long, checked in integers"

    @property
    def test_weights(self) -> FloatArray | None:
        """``weights`` as an array (P,); None for uniform."""
        return None if self.weights is None else np.asarray(self.weights, dtype=float)

    def designed(
        self,
        C: Matrix,
        weights: FloatArray | None,
        model: Predictive | None,
        inference: Inference | None = None,
        executor: Executor | None = None,
    ) -> Plan:
        """Plan with the noise designed for a cloaking matrix: strategy B = root^-1 U^T C and map U root.

        Directions below the rank tolerance leave noise and mean, and |b_j|^2 = c_j^T M^+ c_j <= 1 on the kept
        space, M = U root root^T U^T.

        Args:
            C: cloaking matrix (m, n), an array or factored.
            weights: importance of its rows (m,); None for uniform.
            model: the declared model, for intervals; None where there is none.
        """
        design = design_noise(C, self.objective, weights, self.gap, self.rank_tolerance, executor=executor)
        whitened: Matrix = (np.linalg.inv(design.root) @ design.basis.T) @ C
        strategy, factor = within_unit(whitened, design.factor)
        return Plan(strategy=strategy, factor=factor, design=design, inference=inference, model=model)


@dataclass(frozen=True, kw_only=True)
class Cloaking(OptimisedNoise):
    """Measure root^-1 U^T C y and map back by U root: only directions in which some record moves C y receive noise.

    Args:
        shrinkage: shrink the released values towards the GP prior. Post-processing: costs no privacy,
            lowers the error at small epsilon when the prior variance is honest.
        inference, tolerance, kernel, noise_variance, objective, weights, gap, rank_tolerance: see ``OptimisedNoise``.
        epsilon, delta, calibration, unproven: see ``GaussianMechanism``.

    Raises:
        ValueError: a parameter is out of range.

    Source: Smith et al. 2018, section 3 and supplement (log-det); docs/guarantees.md for trace.
    """

    shrinkage: bool = False

    label: ClassVar[str] = "Cloaking"
    reference: ClassVar[str] = "Smith et al. 2018, section 3"

    def plan_of(self, model: Predictive, X_test: FloatArray, executor: Executor | None = None) -> Plan:
        """The same from the declared model at X_test (P, D), where that is in hand."""
        return self.designed(model.C, self.test_weights, model, model.inference, executor)

    def mapped(self, plan: Plan, dataset: Dataset) -> Plan:
        """Shrunk where ``shrinkage``; see ``shrink``."""
        if not self.shrinkage:
            return plan
        factored = isinstance(plan.strategy, FactoredMatrix)
        K = self.noise_variance if factored else output_covariance(self.kernel, dataset.X, self.noise_variance)
        return shrink(plan, K, self.noise_multiplier * dataset.output_range / dataset.y_scale)


def shrink(plan: Plan, K: FloatArray | float, scale: float) -> Plan:
    """Post-process by W = L P (P + scale^2 I)^-1, P = B K B^T: the GP's estimate given the measured numbers.

    It replaces the map and nothing else, so the privacy analysis is untouched.

    Args:
        K: prior covariance of the outputs (n, n), in squared model units; where the plan's strategy is
            left V^T, the noise variance alone, for K = V V^T + noise variance.
        scale: noise multiplier times d, in model units.
    """
    prior = _prior(plan.strategy, K)
    solved = cho_solve(cho_factor(prior + scale**2 * np.eye(len(prior)), lower=True), prior)
    return replace(plan, factor=plan.factor @ solved.T)


def _prior(B: Matrix, K: FloatArray | float) -> FloatArray:
    """B K B^T."""
    if isinstance(B, np.ndarray):
        return B @ K @ B.T
    # B = A V^T and V = Q G with orthonormal Q: B B^T = (A G^T) (A G^T)^T, B V = A G^T G
    G = B.triangle if B.triangle is not None else Columns(B.rows).triangle()
    H = B.left @ G.T
    return H @ G @ (H @ G).T + K * (H @ H.T)


@dataclass(frozen=True, kw_only=True)
class CloakingInducing(OptimisedNoise):
    """Measure and map as ``Cloaking`` does, with C = K_*u Q^-1 K_uf D^-1, the FITC posterior mean on m inducing inputs.

    Args:
        Z: public inducing inputs, m rows of D numbers, in input units. Either these or ``n_inducing``.
        n_inducing: number m of inducing inputs to place by k-means on the public inputs.
        seed: of the k-means; public, the noise does not depend on it.
        inference, tolerance: of the model behind intervals; see ``InferenceChoice``.
        kernel, noise_variance, objective, weights, gap, rank_tolerance: see ``OptimisedNoise``.
        epsilon, delta, calibration, unproven: see ``GaussianMechanism``.

    Raises:
        ValueError: a parameter is out of range, or both or neither of Z and n_inducing are given.

    Source: Lawrence 2017 (keynote); Snelson & Ghahramani 2006.
    """

    Z: Sequence[Sequence[float]] | None = None
    n_inducing: int | None = None
    seed: int = 0

    label: ClassVar[str] = "Cloaking, inducing inputs"
    reference: ClassVar[str] = "Lawrence 2017, keynote"
    uses_cells: ClassVar[bool] = True
    max_rows: ClassVar[int] = EXACT_ROWS

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "Z", declared_inputs(self.Z, self.n_inducing))
        if self.n_inducing is not None and self.n_inducing < 1:
            raise ValueError(f"n_inducing must be at least 1, got {self.n_inducing}")

    def inducing_inputs(self, X: FloatArray) -> FloatArray:
        """Inducing inputs (m, D) for public inputs X (n, D)."""
        if self.n_inducing is None:
            return np.array(self.Z, dtype=float)
        return choose_inducing(X, self.n_inducing, np.random.default_rng(self.seed))

    def plan_of(self, model: Predictive, X_test: FloatArray, executor: Executor | None = None) -> Plan:
        """The same from the declared model at X_test (P, D), where that is in hand: stages C and M."""
        C = inducing_matrix(self.kernel, model.X, X_test, self.inducing_inputs(model.X), self.noise_variance)
        return self.designed(C, self.test_weights, model)


FIXED_STAGES = "clip bound, shares, lengthscales and noise variances of all stages fixed in advance"
SHARES = 0.25, 0.75
"""Share of mu^2 of each stage of refined cloaking."""


@dataclass(frozen=True, kw_only=True)
class RefinedCloaking(OptimisedNoise):
    """Publish g(X*) + U U^T C r + noise with r_i = clip(y_i - g(x_i), +-B), g itself a private curve.

    With mu = 1/s'(epsilon, delta), stage i is Gaussian with mu_i^2 = share_i mu^2. Stage 1 cloaks y with a
    smoother model (twice the lengthscale, the kernel's variance as noise variance) at [X; X*] in one release, so g(X)
    and g(X*) come from the same noise; g is clipped to the public range. One record then moves its residual by at most
    min(2B, d), and stage 2 cloaks those.

    Args:
        clip: B over the noise standard deviation, B = clip sqrt(noise_variance), in model units.
        within_bounds: clip the published values to the public bounds. Post-processing: costs no privacy.
        calibration: "analytic" only.
        inference, tolerance: exact or low-rank, of each stage by itself; see ``InferenceChoice``.
        kernel, noise_variance: the last stage's model; see ``OptimisedNoise``.
        objective, weights, gap, rank_tolerance: of both stages; see ``OptimisedNoise``. In the first each training
            input weighs as much as the average test input.
        epsilon, delta, unproven: see ``GaussianMechanism``.

    Raises:
        ValueError: a parameter is out of range, or calibration is Hall's.

    Source: docs/guarantees.md; composition: Dong, Roth & Su 2022, corollary 3.3.
    """

    clip: float = 1.5
    within_bounds: bool = False

    label: ClassVar[str] = "Refined cloaking"
    reference: ClassVar[str] = "this project; composition by Dong, Roth & Su 2022"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.calibration != "analytic":
            raise ValueError(f"refined cloaking needs calibration='analytic', got {self.calibration!r}")
        check_positive("clip", self.clip)

    @property
    def guarantee(self) -> Guarantee:
        """The promise for one draw of both stages together, known before any data are read."""
        whole = super().guarantee
        composed = f"{len(SHARES)} releases composed, each chosen after the ones before it"
        source = "adaptive composition of Gaussian mechanisms is exact (Dong, Roth & Su 2022, corollary 3.3)"
        theorem = f"{composed}: {source}; in each, {whole.theorem}"
        return replace(whole, theorem=theorem, assumptions=(*whole.assumptions, FIXED_STAGES))

    @property
    def stage_multipliers(self) -> tuple[float, ...]:
        """s_i = 1 / mu_i, mu_i the largest shift of one record in units of that stage's noise."""
        return tuple(1 / (math.sqrt(share) / self.noise_multiplier) for share in SHARES)

    def reaches(self, dataset: Dataset) -> tuple[float, ...]:
        """The whole range first, then B, in the output's unit."""
        B = self.clip * math.sqrt(self.noise_variance) * dataset.y_scale
        return dataset.output_range, B

    def published(self, curve: FloatArray, dataset: Dataset) -> FloatArray:
        """Clipped to the bounds where ``within_bounds``."""
        return np.clip(curve, *dataset.y_bounds) if self.within_bounds else curve

    def plan_of(self, model: Predictive, X_test: FloatArray, executor: Executor | None = None) -> Plan:
        """The same from the declared model at X_test (P, D), where that is in hand."""
        X = model.X
        last = self.designed(model.C, self.test_weights, model, model.inference, executor)
        everywhere, weights = np.vstack([X, X_test]), self.test_weights
        if weights is not None:
            weights = np.concatenate([np.full(len(X), weights.mean()), weights])
        # k(x / 2, x' / 2): the kernel with twice its lengthscale
        C, low = self.cloaking_matrix(self.kernel, X / 2, everywhere / 2, self.kernel.variance, executor)
        return replace(last, first=self.designed(C, weights, None, describe(low), executor))
