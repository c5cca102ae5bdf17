"""Noise shaped like a draw from the GP prior: valid for any later test point, and therefore large.

On predictions from public inputs; and, the baseline for posterior sampling, on the sum over private records that its
mean tends to for a large ridge.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from ..accounting.guarantee import Guarantee
from ..arrays import FloatArray
from ..checks import check_positive
from ..gp.regression import output_covariance
from ..gp.uncertainty import NoInterval, Predictive, Uncertainty
from ..kernels import Kernel
from ..linalg import check_columns, column_norms
from ..table import Dataset
from .base import Plan, within_unit
from .gaussian import GaussianMechanism, OfModel
from .posterior_sampling import ONE_RECORD, RECORD_ASSUMPTIONS, RECORD_NOT_COVERED, RECORD_UNIT


@dataclass(frozen=True, kw_only=True)
class GPPrior(OfModel):
    """Release f + s' Delta G with G ~ GP(0, k), Delta the sensitivity of f in the RKHS of k.

    The posterior mean is f = sum_i alpha_i k(x_i, .), alpha = K^-1 y. Replacing y_j by y_j + d moves it by
    d in the direction of column j of K^-1, of squared RKHS norm d^2 [K^-1 K_ff K^-1]_jj. That is exact.

    Args:
        inference, tolerance: exact or low-rank, see ``InferenceChoice``. The sensitivity is that of the f released.
        epsilon, delta, calibration, unproven: see ``GaussianMechanism``.

    Raises:
        ValueError: a parameter is out of range.

    Source: Hall, Rinaldo & Wasserman 2013, proposition 7 and section 4; Smith et al. 2018, section 2.
    """

    label: ClassVar[str] = "GP-prior noise"
    reference: ClassVar[str] = "Smith et al. 2018, section 2"
    theorem: ClassVar[str] = "Hall et al. 2013, corollary 9: noise from the GP prior, RKHS sensitivity"

    def plan_of(self, model: Predictive, X_test: FloatArray, executor: Executor | None = None) -> Plan:
        """Strategy B = L^-1 C / Delta and map Delta L, K_** = L L^T: noise of covariance Delta^2 K_**.

        Delta is the RKHS sensitivity per unit change of one output, or the longest column of L^-1 C as computed if that
        is longer: an ill-conditioned model has rounding errors in C that no formula for the sensitivity knows of.
        """
        if model.low is not None:
            unit = model.low.sensitivity(self.noise_variance, executor)
        else:
            unit = exact_sensitivity(self.kernel, model.X, self.noise_variance)
        L, inverse = prior_root(self.kernel(X_test, X_test))
        strategy, factor = within_unit((inverse / unit) @ model.C, unit * L)
        return Plan(strategy=strategy, factor=factor, inference=model.inference, model=model)


def prior_root(K_test: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Symmetric L (P, P) with L L = K_** + jitter I, and its inverse.

    Symmetric, as a root of its eigenvectors alone turns a numbered draw over with their signs, which are as a processor
    rounds.
    """
    values, vectors = eigh(K_test)
    # Round up: K_** + jitter I masks at least what K_** masks, and is never singular.
    jitter = len(values) * np.finfo(float).eps * values[-1]
    sd = np.sqrt(np.maximum(values, 0) + jitter)
    return (vectors * sd) @ vectors.T, (vectors / sd) @ vectors.T


def exact_sensitivity(kernel: Kernel, X: FloatArray, noise_variance: float) -> float:
    """max_j sqrt([K^-1 K_ff K^-1]_jj): RKHS shift of the posterior mean per unit change of one output."""
    K = output_covariance(kernel, X, noise_variance)
    inverse = cho_solve(cho_factor(K, lower=True, overwrite_a=True), np.eye(len(K)))
    return float(np.sqrt(np.einsum("ij,ij->j", inverse, kernel(X, X) @ inverse).max()))


@dataclass(frozen=True, kw_only=True)
class HallPosterior(GaussianMechanism):
    """Release (1/r^2) [sum_i y_i k(., x_i) + c G], G ~ GP(0, k), with outputs y_i scaled to [-M, M].

    Replacing (x, y) by (x', y') moves the sum by |y k(., x) - y' k(., x')| <= 2M in the RKHS of k, as
    |k(., x)| = sqrt(k(x, x)) <= 1. The noise is Gaussian and does not depend on the data, so the accounting is the
    exact Gaussian one at mu = 2M / c. Dividing by r^2 is post-processing. A posterior path with large r and small
    s tends to exactly this, with c = s r^2.

    Args:
        kernel: of variance <= 1.
        r: square root of the ridge, > 0; for r^2 well above n the sum is near the posterior mean.
        epsilon, delta, calibration, unproven: see ``GaussianMechanism``.

    Raises:
        ValueError: a parameter is out of range.

    Source: Hall, Rinaldo & Wasserman 2013, section 4, with both inputs and outputs replaced.
    """

    kernel: Kernel
    r: float

    label: ClassVar[str] = "Kernel sum with GP noise"
    reference: ClassVar[str] = "Hall et al. 2013, section 4"
    theorem: ClassVar[str] = "Hall et al. 2013, corollary 9: noise from the GP prior, RKHS sensitivity 2M"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("r", self.r)
        if self.kernel.variance > 1:
            raise ValueError(
                f"the kernel sum needs k(x, x) <= 1, got kernel variance {self.kernel.variance:g}; use variance=1"
            )

    @property
    def guarantee(self) -> Guarantee:
        """The promise for one draw, known before any data are read; the inputs need no domain."""
        return replace(
            super().guarantee,
            protects="inputs and outputs",
            neighbours=ONE_RECORD,
            unit=RECORD_UNIT,
            assumptions=RECORD_ASSUMPTIONS,
            not_covered=RECORD_NOT_COVERED,
        )

    def plan(self, X: FloatArray, X_test: FloatArray) -> Plan:
        """Plan for inputs X (n, D) and X_test (P, D). The strategy is private here, as X is; the map is public.

        Column j is L^-1 k(X_test, x_j), K_** = L L^T, of length <= 1, shortened to 1 where rounding made it longer: it
        depends on record j alone, and with |q_j| <= 1/2 each of two records moves the sum by at most 1/2.
        """
        check_columns(X, X_test)
        L, inverse = prior_root(self.kernel(X_test, X_test))
        columns = inverse @ self.kernel(X_test, X)
        columns /= np.maximum(np.sqrt(column_norms(columns)), 1.0)
        return Plan(strategy=columns, factor=L / self.r**2)

    def recorded(
        self, plan: Plan, dataset: Dataset, z: tuple[FloatArray, ...], guarantee: Guarantee
    ) -> Sequence[FloatArray]:
        """The measured numbers z (r,) of each draw: strategy and intervals belong to private inputs."""
        return list(z[0])

    def uncertainty(self, plan: Plan, dataset: Dataset, curve: FloatArray) -> Uncertainty:
        """None: a kernel sum is no prediction of f under a declared model, and its bias depends on private inputs."""
        return NoInterval(reason="a kernel sum has no declared model, and its bias depends on the private inputs")
