"""Noise that is a sample from the GP prior. It protects the curve at all points at once, and is therefore large.

``GPPrior`` adds it to predictions from public inputs. ``HallPosterior`` adds it to a kernel sum over private records.
It is the baseline for posterior sampling, whose mean tends to this sum for a large ridge.
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
from .gaussian import GaussianMechanism, ModelBasedMechanism
from .posterior_sampling import ONE_RECORD, RECORD_ASSUMPTIONS, RECORD_NOT_COVERED, RECORD_UNIT


@dataclass(frozen=True, kw_only=True)
class GPPrior(ModelBasedMechanism):
    """Release f + s Delta G with G ~ GP(0, k), where Delta is the sensitivity of f in the RKHS of k.

    The posterior mean is f = sum_i alpha_i k(x_i, .) with alpha = K^-1 y. Replacing y_j by y_j + d changes alpha by d
    times column j of K^-1, which is a change of f of squared RKHS norm d^2 [K^-1 K_ff K^-1]_jj exactly.

    Args:
        inference, tolerance: exact or low-rank inference, see ``InferenceChoice``. The sensitivity is that of the f
            which is released.
        epsilon, delta, calibration, unproven: see ``GaussianMechanism``.

    Raises:
        ValueError: a parameter is out of range.

    Source: Hall, Rinaldo & Wasserman 2013, proposition 7 and section 4; Smith et al. 2018, section 2.
    """

    label: ClassVar[str] = "GP-prior noise"
    reference: ClassVar[str] = "Smith et al. 2018, section 2"
    theorem: ClassVar[str] = "Hall et al. 2013, corollary 9: noise from the GP prior, RKHS sensitivity"

    def plan_of(self, model: Predictive, X_test: FloatArray, executor: Executor | None = None) -> Plan:
        """Return the plan with strategy B = L^-1 C / Delta and map Delta L, where K_** = L L^T.

        The noise covariance is Delta^2 K_** for a noise multiplier of 1.

        Delta is the RKHS sensitivity per unit change of one output, or the length of the longest column of L^-1 C as
        computed if that is larger. For an ill-conditioned model, C has rounding errors that formulas for the
        sensitivity do not include.
        """
        if model.low is not None:
            unit = model.low.sensitivity(self.noise_variance, executor)
        else:
            unit = exact_sensitivity(self.kernel, model.X, self.noise_variance)
        L, inverse = prior_root(self.kernel(X_test, X_test))
        strategy, factor = within_unit((inverse / unit) @ model.C, unit * L)
        return Plan(strategy=strategy, factor=factor, inference=model.inference, model=model)


def prior_root(K_test: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a symmetric L (P, P) with L L = K_** + jitter I, and its inverse.

    The symmetric root does not depend on the signs of the eigenvectors. These depend on rounding errors, which differ
    between processors, and would change simulated releases.
    """
    values, vectors = eigh(K_test)
    # K_** + jitter I is at least K_**, so the noise is still large enough, and it is never singular.
    jitter = len(values) * np.finfo(float).eps * values[-1]
    sd = np.sqrt(np.maximum(values, 0) + jitter)
    return (vectors * sd) @ vectors.T, (vectors / sd) @ vectors.T


def exact_sensitivity(kernel: Kernel, X: FloatArray, noise_variance: float) -> float:
    """Return the largest change of the posterior mean in the RKHS norm per unit change of one output.

    It is max_j sqrt([K^-1 K_ff K^-1]_jj), for inputs X (n, D).
    """
    K = output_covariance(kernel, X, noise_variance)
    inverse = cho_solve(cho_factor(K, lower=True, overwrite_a=True), np.eye(len(K)))
    return float(np.sqrt(np.einsum("ij,ij->j", inverse, kernel(X, X) @ inverse).max()))


@dataclass(frozen=True, kw_only=True)
class HallPosterior(GaussianMechanism):
    """Release (1/r^2) [sum_i y_i k(., x_i) + c G] with G ~ GP(0, k) and outputs y_i scaled to [-M, M].

    Replacing (x, y) by (x', y') moves the sum by |y k(., x) - y' k(., x')| <= 2M in the RKHS of k, because
    |k(., x)| = sqrt(k(x, x)) <= 1. The noise is Gaussian and does not depend on the data, so the loss is exactly
    Gaussian with mu = 2M / c. Dividing by r^2 is post-processing. For large r and small s, the distribution of a
    posterior path tends to that of this release with c = s r^2.

    Args:
        kernel: kernel with variance <= 1.
        r: square root of the ridge, > 0. If r^2 is much larger than n, the sum is close to the posterior mean.
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
        """Guarantee of one release. It is known before any data are read, and needs no public domain of the inputs."""
        return replace(
            super().guarantee,
            protects="inputs and outputs",
            neighbours=ONE_RECORD,
            unit=RECORD_UNIT,
            assumptions=RECORD_ASSUMPTIONS,
            not_covered=RECORD_NOT_COVERED,
        )

    @property
    def has_interval(self) -> bool:
        """Whether its releases have intervals."""
        return False

    def plan(self, X: FloatArray, X_test: FloatArray) -> Plan:
        """Return the plan for inputs X (n, D) and test inputs X_test (P, D).

        The map is public, but the strategy is private because X is. Column j is L^-1 k(X_test, x_j) with K_** = L L^T.
        Its length is at most 1; it is shortened to 1 if rounding errors made it longer. It depends on record j only.
        With |q_j| <= 1/2, removing the old record and adding the new one each moves the sum by at most 1/2.
        """
        check_columns(X, X_test)
        L, inverse = prior_root(self.kernel(X_test, X_test))
        columns = inverse @ self.kernel(X_test, X)
        columns /= np.maximum(np.sqrt(column_norms(columns)), 1.0)
        return Plan(strategy=columns, factor=L / self.r**2)

    def recorded(
        self, plan: Plan, dataset: Dataset, z: tuple[FloatArray, ...], guarantee: Guarantee
    ) -> Sequence[FloatArray]:
        """Return the measured numbers z (r,) of each release, without the strategy, which depends on private inputs."""
        return list(z[0])

    def uncertainty(self, plan: Plan, dataset: Dataset, curve: FloatArray) -> Uncertainty:
        """Return a ``NoInterval``, because the bias of a kernel sum depends on private inputs."""
        return NoInterval(reason="a kernel sum has no declared model, and its bias depends on the private inputs")
