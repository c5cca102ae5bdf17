"""The baseline for posterior sampling: Gaussian noise on the sum that its mean tends to for a large ridge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..accounting.gaussian import epsilon_of
from ..accounting.guarantee import Guarantee
from ..arrays import FloatArray
from ..checks import check_positive
from ..data import Dataset
from ..gp.uncertainty import NoInterval, Uncertainty
from ..kernels import Kernel
from ..linalg import column_norms
from .base import Plan, Release
from .gaussian import GaussianMechanism
from .gp_prior import prior_axes
from .posterior_sampling import ONE_RECORD, RECORD_ASSUMPTIONS, RECORD_NOT_COVERED, RECORD_UNIT


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
        if X.ndim != 2 or X_test.ndim != 2 or X.shape[1] != X_test.shape[1]:
            raise ValueError(
                f"X and X_test must be 2-D with equally many columns, got shapes {X.shape} and {X_test.shape}"
            )
        vectors, sd = prior_axes(self.kernel(X_test, X_test))
        columns = (vectors / sd).T @ self.kernel(X_test, X)
        columns /= np.maximum(np.sqrt(column_norms(columns)), 1.0)
        return Plan(strategy=columns, factor=vectors * sd / self.r**2)

    def recorded(
        self, plan: Plan, dataset: Dataset, z: tuple[FloatArray, ...], guarantee: Guarantee
    ) -> Sequence[FloatArray]:
        """The measured numbers z (r,) of each draw: strategy and intervals belong to private inputs."""
        return list(z[0])

    def uncertainty(self, plan: Plan, dataset: Dataset, curve: FloatArray) -> Uncertainty:
        """None: a kernel sum is no prediction of f under a declared model, and its bias depends on private inputs."""
        return NoInterval(reason="a kernel sum has no declared model, and its bias depends on the private inputs")

    def release(
        self, dataset: Dataset, X_test: FloatArray, rng: np.random.Generator | None = None, draws: int = 1
    ) -> Release:
        """Release predictions at X_test (P, D), in the output's unit; see ``Mechanism``."""
        return self.release_planned(self.plan(dataset.X, X_test), dataset, X_test, rng, draws)


def hall_epsilon(c: float, delta: float, M: float = 1.0) -> float:
    """Exact epsilon of sum_i y_i k(., x_i) + c G at this delta: the analytic Gaussian one at mu = 2M / c.

    Args:
        c: noise scale > 0, in units of the outputs; s r^2 for the limit of a posterior path.
        delta: in (0, 1).
        M: bound on the absolute outputs, > 0.

    Raises:
        ValueError: a number is out of range.
    """
    check_positive("c", c)
    check_positive("M", M)
    return epsilon_of(c / (2 * M), delta)
