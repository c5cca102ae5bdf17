"""Cloaking: the smallest Gaussian noise that protects any one record at test points that are known in advance.

``CloakingInducing`` uses inducing inputs, so that isolated records, which determine the size of the noise, influence
the curve less. ``RefinedCloaking`` first releases a rough private curve, and then cloaks the residuals about it. The
largest change d of an output is as wide as the declared bounds, but most outputs are close to the rough curve.
Residuals clipped to [-B, B] change by at most min(2B, d), and need less noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, fields, replace
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
from .gaussian import ModelBasedMechanism


@dataclass(frozen=True, kw_only=True)
class OptimisedNoise(ModelBasedMechanism):
    """Base class of all cloaking mechanisms: a public GP model and the design of the noise.

    Args:
        inference, tolerance: exact or low-rank inference, see ``InferenceChoice``.
        objective: "trace" minimises the mean squared noise; "logdet" is the published objective.
        weights: public importance of each test point (P,) for "trace"; uniform by default.
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
        """Design the noise for a cloaking matrix and return the plan: strategy B = root^-1 U^T C and map U root.

        Directions below the rank tolerance are dropped from both noise and mean. On the remaining space,
        |b_j|^2 = c_j^T M^+ c_j <= 1 with M = U root root^T U^T.

        Args:
            C: cloaking matrix (m, n), as an array or factored.
            weights: importance of its rows (m,); None for uniform weights.
            model: the declared model, for intervals; None if there is none.
            inference: how C was computed.
        """
        design = design_noise(C, self.objective, weights, self.gap, self.rank_tolerance, executor=executor)
        whitened: Matrix = (np.linalg.inv(design.root) @ design.basis.T) @ C
        strategy, factor = within_unit(whitened, design.factor)
        return Plan(strategy=strategy, factor=factor, design=design, inference=inference, model=model)


@dataclass(frozen=True, kw_only=True)
class Cloaking(OptimisedNoise):
    """Release C y plus the smallest Gaussian noise that protects every record.

    The measurement is root^-1 U^T C y, and U root maps it back to the test points. Only directions in which some record
    moves C y receive noise.

    Args:
        shrinkage: whether to shrink the released values towards the GP prior. This is post-processing. It lowers the
            error for small epsilon if the prior variance is appropriate.
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
        """Return the public plan, given the prediction of the declared model at X_test (P, D)."""
        return self.designed(model.C, self.test_weights, model, model.inference, executor)

    def mapped(self, plan: Plan, dataset: Dataset) -> Plan:
        """Return the plan, shrunk towards the prior if ``shrinkage``."""
        if not self.shrinkage:
            return plan
        factored = isinstance(plan.strategy, FactoredMatrix)
        K = self.noise_variance if factored else output_covariance(self.kernel, dataset.X, self.noise_variance)
        return shrink(plan, K, self.noise_multiplier * dataset.output_range / dataset.y_scale)


def shrink(plan: Plan, K: FloatArray | float, scale: float) -> Plan:
    """Replace the map L of a plan by L P (P + scale^2 I)^-1, P = B K B^T, the GP's estimate given the measured numbers.

    Only the map changes, so the guarantee is the same.

    Args:
        K: prior covariance of the outputs (n, n), in squared model units. If the strategy is factored as left V^T, it
            is the noise variance alone, and K = V V^T + noise variance I.
        scale: noise multiplier times d, in model units.
    """
    prior = _prior(plan.strategy, K)
    solved = cho_solve(cho_factor(prior + scale**2 * np.eye(len(prior)), lower=True), prior)
    return replace(plan, factor=plan.factor @ solved.T)


def _prior(B: Matrix, K: FloatArray | float) -> FloatArray:
    """Return B K B^T (r, r)."""
    if isinstance(B, np.ndarray):
        return B @ K @ B.T
    # B = A V^T and V = Q G with orthonormal Q, so B B^T = (A G^T) (A G^T)^T and B V = A G^T G.
    G = B.triangle if B.triangle is not None else Columns(B.rows).triangle()
    H = B.left @ G.T
    return H @ G @ (H @ G).T + K * (H @ H.T)


@dataclass(frozen=True, kw_only=True)
class CloakingInducing(OptimisedNoise):
    """Cloaking of the FITC posterior mean on m inducing inputs: C = K_*u Q^-1 K_uf D^-1.

    Args:
        Z: public inducing inputs, m rows of D numbers, in input units. Give either these or ``n_inducing``.
        n_inducing: number m of inducing inputs, which are then chosen by k-means on the public inputs.
        seed: public seed of k-means. The noise does not depend on it.
        inference, tolerance: inference of the model that computes intervals; see ``InferenceChoice``.
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
        """Return the inducing inputs (m, D) for public inputs X (n, D)."""
        if self.n_inducing is None:
            return np.array(self.Z, dtype=float)
        return choose_inducing(X, self.n_inducing, np.random.default_rng(self.seed))

    def plan_of(self, model: Predictive, X_test: FloatArray, executor: Executor | None = None) -> Plan:
        """Return the public plan, given the prediction of the declared model at X_test (P, D)."""
        C = inducing_matrix(self.kernel, model.X, X_test, self.inducing_inputs(model.X), self.noise_variance)
        return self.designed(C, self.test_weights, model)


FIXED_STAGES = "clip bound, shares, lengthscales and noise variances of all stages fixed in advance"
SHARES = 0.25, 0.75
"""Shares of mu^2 that the two stages of refined cloaking get."""


@dataclass(frozen=True, kw_only=True)
class RefinedCloaking(OptimisedNoise):
    """Publish g(X*) + U U^T C r + noise, with residuals r_i = clip(y_i - g(x_i), -B, B) about a private curve g.

    With mu = 1/s(epsilon, delta), stage i has Gaussian noise with mu_i^2 = share_i mu^2. Stage 1 cloaks y at [X; X*]
    in one release, so that g(X) and g(X*) have the same noise. Its model is smoother: it has twice the lengthscale, and
    the variance of the kernel as noise variance. g is clipped to the public bounds. One record moves its residual by at
    most min(2B, d), and stage 2 cloaks the residuals.

    Args:
        clip: B in noise standard deviations, B = clip sqrt(noise_variance), in model units.
        calibration: "analytic" only.
        inference, tolerance: exact or low-rank inference of each stage; see ``InferenceChoice``.
        kernel, noise_variance: model of the last stage; see ``OptimisedNoise``.
        objective, weights, gap, rank_tolerance: noise design of both stages; see ``OptimisedNoise``. In the first stage
            each training input has the mean weight of the test inputs.
        epsilon, delta, unproven: see ``GaussianMechanism``.

    Raises:
        ValueError: a parameter is out of range, or calibration is Hall's.

    Source: docs/guarantees.md; composition: Dong, Roth & Su 2022, corollary 3.3.
    """

    clip: float = 1.5

    label: ClassVar[str] = "Refined cloaking"
    reference: ClassVar[str] = "this project; composition by Dong, Roth & Su 2022"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.calibration != "analytic":
            raise ValueError(f"refined cloaking needs calibration='analytic', got {self.calibration!r}")
        check_positive("clip", self.clip)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one release, both stages together. It is known before any data are read."""
        whole = super().guarantee
        composed = f"{len(SHARES)} releases composed, each chosen after the ones before it"
        source = "adaptive composition of Gaussian mechanisms is exact (Dong, Roth & Su 2022, corollary 3.3)"
        theorem = f"{composed}: {source}; in each, {whole.theorem}"
        return replace(whole, theorem=theorem, assumptions=(*whole.assumptions, FIXED_STAGES))

    @property
    def stage_multipliers(self) -> tuple[float, ...]:
        """Noise multipliers s_i = 1 / mu_i of the stages, with mu_i^2 = share_i mu^2."""
        return tuple(1 / (math.sqrt(share) / self.noise_multiplier) for share in SHARES)

    def clip_half_widths(self, dataset: Dataset) -> tuple[float, ...]:
        """Return half-widths of the clipping intervals of the stages, in the output's unit: the whole range, and B."""
        B = self.clip * math.sqrt(self.noise_variance) * dataset.y_scale
        return dataset.output_range, B

    def plan_of(self, model: Predictive, X_test: FloatArray, executor: Executor | None = None) -> Plan:
        """Return the public plan of both stages, given the prediction of the declared model at X_test (P, D)."""
        return self.plan_before(self.last_stage.plan_of(model, X_test, executor), model, X_test, executor)

    @property
    def last_stage(self) -> Cloaking:
        """Return the mechanism whose plan is that of the last stage."""
        shared = {each.name: getattr(self, each.name) for each in fields(OptimisedNoise)}
        return Cloaking(**shared)

    def plan_before(self, last: Plan, model: Predictive, X_test: FloatArray, executor: Executor | None = None) -> Plan:
        """Return the public plan of both stages, given that of the last one and the prediction of the model."""
        X = model.X
        everywhere, weights = np.vstack([X, X_test]), self.test_weights
        if weights is not None:
            weights = np.concatenate([np.full(len(X), weights.mean()), weights])
        # k(x / 2, x' / 2) is the kernel with twice the lengthscale.
        C, low = self.cloaking_matrix(self.kernel, X / 2, everywhere / 2, self.kernel.variance, executor)
        return replace(last, first=self.designed(C, weights, None, describe(low), executor))
