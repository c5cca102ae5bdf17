"""Cloaking a sparse GP: inducing inputs tame the outliers that set the size of the noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import FloatArray
from ..gp.inducing import choose_inducing, inducing_matrix
from ..gp.inference import InferenceChoice
from ..gp.uncertainty import predictive
from .base import Plan
from .cloaking import OptimisedNoise


@dataclass(frozen=True, kw_only=True)
class CloakingInducing(OptimisedNoise):
    """Measure and map as ``Cloaking`` does, with C = K_*u Q^-1 K_uf D^-1, the FITC posterior mean on m inducing inputs.

    Args:
        Z: public inducing inputs, m rows of D numbers, in input units. Either these or ``n_inducing``.
        n_inducing: number m of inducing inputs to place by k-means on the public inputs.
        seed: of the k-means; public, the noise does not depend on it.
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

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.Z is None) == (self.n_inducing is None):
            raise ValueError("give either Z, the inducing inputs, or n_inducing, their number; not both, not neither")
        if self.n_inducing is not None and self.n_inducing < 1:
            raise ValueError(f"n_inducing must be at least 1, got {self.n_inducing}")
        if self.Z is not None:
            rows = tuple(tuple(float(value) for value in row) for row in self.Z)
            if not rows or len({len(row) for row in rows}) > 1 or not np.isfinite(rows).all():
                raise ValueError(f"Z must be one or more rows of equally many finite numbers, got {self.Z!r}")
            object.__setattr__(self, "Z", rows)

    def inducing_inputs(self, X: FloatArray) -> FloatArray:
        """Inducing inputs (m, D) for public inputs X (n, D)."""
        if self.n_inducing is None:
            return np.array(self.Z, dtype=float)
        return choose_inducing(X, self.n_inducing, np.random.default_rng(self.seed))

    def plan(self, X: FloatArray, X_test: FloatArray) -> Plan:
        """Public plan for training inputs X (n, D) and test inputs X_test (P, D): stages C and M."""
        C = inducing_matrix(self.kernel, X, X_test, self.inducing_inputs(X), self.noise_variance)
        model = predictive(InferenceChoice(), self.kernel, X, X_test, self.noise_variance)
        return self.designed(C, self.test_weights, self.noise_multiplier, model)
