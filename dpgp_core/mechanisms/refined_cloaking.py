"""Refined cloaking: a rough private curve first, then a second cloaked release of the clipped residuals.

The declared bounds make one record's largest change d big, although once a rough private curve is known
everyone lies near it. Residuals clipped to +-B can change by min(2B, d) only, and need less noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..accounting.guarantee import Guarantee
from ..arrays import FloatArray
from ..checks import check_positive
from ..gp.inference import InferenceChoice, describe
from ..gp.uncertainty import Predictive, predictive
from ..table import Dataset
from .base import Plan
from .cloaking import OptimisedNoise

FIXED_STAGES = "clip bound, shares, lengthscales and noise variances of all stages fixed in advance"


@dataclass(frozen=True, kw_only=True, eq=False)
class RefinedPlan(Plan):
    """The public part of all stages: ``weights``, ``factor`` and ``design`` are the last stage's, at X_test.

    Attributes:
        earlier: plans of the stages before it, in order, each at the rows of [X; X_test] (n + P, D).
    """

    earlier: tuple[Plan, ...]

    @property
    def stages(self) -> tuple[Plan, ...]:
        """All stages in order."""
        return *self.earlier, self


@dataclass(frozen=True, kw_only=True)
class RefinedCloaking(InferenceChoice, OptimisedNoise):
    """Publish g(X*) + U U^T C r + noise with r_i = clip(y_i - g(x_i), +-B), g itself a private curve.

    With mu = 1/s'(epsilon, delta), stage i is Gaussian with mu_i^2 = share_i mu^2. Stage 1 cloaks y with a
    smoother model at [X; X*] in one release, so g(X) and g(X*) come from the same noise; g is clipped to the
    public range. One record then moves its residual by at most min(2B, d), and the next stage cloaks those.

    Args:
        shares: share of mu^2 of each stage, two or more, with sum 1. Early stages have ..., 4 and 2 times the kernel's
            lengthscale, and its variance as noise variance.
        clip: B over the noise standard deviation, B = clip sqrt(noise_variance), in model units.
        within_bounds: clip the published values to the public bounds. Post-processing: costs no privacy.
        calibration: "analytic" only.
        inference, tolerance: exact or low-rank, of each stage by itself; see ``InferenceChoice``.
        kernel, noise_variance: the last stage's model; see ``OptimisedNoise``.
        objective, weights, gap, rank_tolerance: of every stage; see ``OptimisedNoise``. In early stages each
            training input weighs as much as the average test input.
        epsilon, delta, unproven: see ``GaussianMechanism``.

    Raises:
        ValueError: a parameter is out of range, or Hall's calibration is asked for.

    Source: docs/guarantees.md; composition: Dong, Roth & Su 2022, corollary 3.3.
    """

    shares: Sequence[float] = (0.25, 0.75)
    clip: float = 1.5
    within_bounds: bool = False

    label: ClassVar[str] = "Refined cloaking"
    reference: ClassVar[str] = "this project; composition by Dong, Roth & Su 2022"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_inference()
        if self.calibration != "analytic":
            raise ValueError(f"refined cloaking needs calibration='analytic', got {self.calibration!r}")
        check_positive("clip", self.clip)
        if len(self.shares) < 2 or not all(share > 0 for share in self.shares) or not math.isclose(sum(self.shares), 1):
            raise ValueError(f"shares must be two or more numbers above 0 with sum 1, got {tuple(self.shares)}")
        object.__setattr__(self, "shares", tuple(float(share) for share in self.shares))

    @property
    def guarantee(self) -> Guarantee:
        """The promise for one draw of all stages together, known before any data are read."""
        whole = super().guarantee
        composed = f"{len(self.shares)} releases composed, each chosen after the ones before it"
        source = "adaptive composition of Gaussian mechanisms is exact (Dong, Roth & Su 2022, corollary 3.3)"
        theorem = f"{composed}: {source}; in each, {whole.theorem}"
        return replace(whole, theorem=theorem, assumptions=(*whole.assumptions, FIXED_STAGES))

    @property
    def stage_mus(self) -> tuple[float, ...]:
        """mu_i of each stage: the largest shift of one record in units of that stage's noise."""
        total = math.fsum(self.shares)
        return tuple(math.sqrt(share / total) / self.noise_multiplier for share in self.shares)

    @property
    def stage_multipliers(self) -> tuple[float, ...]:
        """s_i = 1 / mu_i."""
        return tuple(1 / mu for mu in self.stage_mus)

    def reaches(self, dataset: Dataset) -> tuple[float, ...]:
        """The whole range first, then B, in the output's unit."""
        B = self.clip * math.sqrt(self.noise_variance) * dataset.y_scale
        return dataset.output_range, *[B] * (len(self.shares) - 1)

    def published(self, curve: FloatArray, dataset: Dataset) -> FloatArray:
        """Clipped to the bounds, if asked to."""
        return np.clip(curve, *dataset.y_bounds) if self.within_bounds else curve

    def plan(self, X: FloatArray, X_test: FloatArray, executor: Executor | None = None) -> RefinedPlan:
        """Public plan of all stages for training inputs X (n, D) and test inputs X_test (P, D).

        Args:
            X: public inputs (n, D).
            X_test: public test inputs (P, D).
            executor: runs passes over blocks of records, see ``Columns.over_blocks``; default: this thread.
        """
        model = predictive(self, self.kernel, X, X_test, self.noise_variance, executor)
        return self.plan_of(model, X_test, executor)

    def plan_of(self, model: Predictive, X_test: FloatArray, executor: Executor | None = None) -> RefinedPlan:
        """The same from the declared model at X_test (P, D), where that is in hand."""
        X, (*early_mus, last_mu) = model.X, self.stage_mus
        last = self.designed(model.C, self.test_weights, 1 / last_mu, model, model.inference, executor)
        everywhere, weights = np.vstack([X, X_test]), self.test_weights
        if weights is not None:
            weights = np.concatenate([np.full(len(X), weights.mean()), weights])
        earlier = []
        for stage, mu in enumerate(early_mus):
            a = 2.0 ** (len(early_mus) - stage)  # k(x / a, x' / a): the kernel with a times its lengthscale
            C, low = self.cloaking_matrix(self.kernel, X / a, everywhere / a, self.kernel.variance, executor)
            earlier.append(self.designed(C, weights, 1 / mu, None, describe(low), executor))
        return RefinedPlan(**vars(last), earlier=tuple(earlier))
