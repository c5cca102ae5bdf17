"""Posterior sampling: releases of whole sample paths of the GP posterior, which protect inputs and outputs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..accounting.guarantee import BEYOND_ONE_RELEASE, Budget, Guarantee
from ..accounting.posterior_paths import PosteriorLoss
from ..arrays import FloatArray
from ..checks import check_interval, check_positive
from ..gp.paths import draw_paths, posterior_process
from ..gp.uncertainty import NoInterval
from ..kernels import Matern12, Stationary
from ..table import Dataset
from .base import Draws, Mechanism, NoiselessCurve, NotPrivate, TeachingRelease

ONE_RECORD = "one record (input and output) replaced by any other within the public domain and bounds; n fixed"
RECORD_UNIT = "one record, its input and its output"
RECORD_ASSUMPTIONS = (
    "hyperparameters fixed in advance or chosen without the private data",
    "outputs are clipped to bounds declared without looking at them",
)
RECORD_NOT_COVERED = ("the number of records", *BEYOND_ONE_RELEASE[1:])
_LEAST_EPSILON = 1e-4  # smaller values of epsilon are reported as this value


@dataclass(frozen=True, kw_only=True, eq=False)
class PathRelease(TeachingRelease):
    """Simulated releases of posterior paths. Unlike for other mechanisms, their covariance depends on private inputs.

    Attributes:
        mean: posterior mean at X_test (P,), in the unit of the output. It is not private.
        noise_factor: factor (P, P) of the posterior covariance at X_test, in the unit of the output. It is not private.
    """

    mean: NotPrivate
    noise_factor: NotPrivate

    @property
    def noise_sd(self) -> NotPrivate:
        """Standard deviation of a path at each test input (P,), in the unit of the output. It is not private."""
        return NotPrivate(super().noise_sd)

    def noise_covariance(self) -> NotPrivate:
        """Return the covariance of a path (P, P), in squared output units. It is not private."""
        return NotPrivate(super().noise_covariance())


@dataclass(frozen=True, kw_only=True)
class PosteriorSampling(Mechanism):
    """Simulate releases of posterior paths f ~ GP(mu_D, s^2 k_D + eta^2 k), for outputs scaled to [-1, 1].

    Epsilon follows from r, sigma and eta, and from the public n and domain. All of them are parameters, so that the
    guarantee is known before any data are read; a data set with another n or domain is refused. Inputs outside the
    domain are clipped to it. Outputs enter as (clip(y) - midpoint) / (d / 2), whatever ``y_scale`` is. Released paths
    are in the unit of the output.

    Args:
        kernel: stationary kernel with variance <= 1 that decreases with distance.
        r: square root of the effective ridge, > 0. It has the largest influence on privacy.
        sigma: kernel scale s > 0, for outputs scaled to [-1, 1]. The noise variance of the model is (s r)^2.
        delta: delta of the guarantee.
        n: public number of records.
        x_box: public (low, high) of each input, as in ``Dataset.x_box``.
        eta: scale >= 0 of additional noise from the GP prior, for outputs scaled to [-1, 1].

    Raises:
        ValueError: a parameter is out of range.

    Source: Maciazek 2026, theorem 3.1 and proposition 2; bounds in ``accounting.posterior_paths``.
    """

    kernel: Stationary
    r: float
    sigma: float
    delta: float
    n: int
    x_box: tuple[tuple[float, float], ...]
    eta: float = 0.0

    label: ClassVar[str] = "Posterior sampling"
    reference: ClassVar[str] = "Maciazek 2026"
    simulation_type: ClassVar[type[TeachingRelease]] = PathRelease

    def __post_init__(self) -> None:
        check_positive("sigma", self.sigma)
        if self.kernel.variance > 1:
            raise ValueError(
                f"posterior sampling needs k(x, x) <= 1, got kernel variance {self.kernel.variance:g}. "
                "Use variance=1 and multiply sigma, divide r, by its square root"
            )
        if not self.x_box:
            raise ValueError("x_box must have one (low, high) per input column, got none; use Dataset.x_box")
        for j, interval in enumerate(self.x_box):
            check_interval(f"x_box of column {j}", interval)
        _ = self.guarantee

    @classmethod
    def for_dataset(cls, dataset: Dataset, **parameters: Any) -> PosteriorSampling:
        """Return the mechanism for the size ``n`` and the domain ``x_box`` of a data set, which are both public."""
        return cls(n=dataset.n, x_box=dataset.x_box, **parameters)

    @property
    def kappa(self) -> float:
        """Smallest value of the kernel on the public domain, which is that between opposite corners."""
        low, high = np.array(self.x_box).T
        return float(self.kernel(low[None], high[None])[0, 0])

    @property
    def has_interval(self) -> bool:
        """Whether its releases have intervals."""
        return False

    @property
    def loss(self) -> PosteriorLoss:
        """Privacy loss of one path. For the exponential kernel and one input the tighter sensitivity is used."""
        special = isinstance(self.kernel, Matern12) and len(self.x_box) == 1
        return PosteriorLoss(
            n=self.n,
            r=self.r,
            sigma=self.sigma,
            kappa=self.kappa,
            eta=self.eta,
            sensitivity="exponential_1d_min" if special else "generic",
        )

    @cached_property
    def guarantee(self) -> Guarantee:
        """Guarantee of one path at any number of points. It is known before any data are read."""
        epsilon = max(_LEAST_EPSILON, self.loss.epsilon(self.delta))
        return Guarantee(
            budget=Budget(epsilon=epsilon, delta=self.delta),
            loss=self.loss,
            protects="inputs and outputs",
            neighbours=ONE_RECORD,
            unit=RECORD_UNIT,
            theorem="Maciazek 2026, theorem 3.1; sensitivities and covariance term as in accounting/posterior_paths.py",
            assumptions=(*RECORD_ASSUMPTIONS, "the number of records and the domain of the inputs are public"),
            not_covered=(
                "the posterior mean and spread",
                "floating-point arithmetic: the last digits of the paths may distinguish data sets",
                *RECORD_NOT_COVERED,
            ),
        )

    def drawn(
        self, plan: None, dataset: Dataset, X_test: FloatArray, draws: Draws
    ) -> tuple[PathRelease, NoiselessCurve]:
        """Simulate paths at X_test (P, D), which may lie outside the domain; see ``Mechanism``.

        Raises:
            ValueError: the data set has another number of records or domain, or there is no generator.
        """
        if draws.rng is None:
            raise ValueError(
                "posterior paths are drawn in floating point, which their guarantee does not cover, so there is no "
                "real release of them. Give a generator to study them, or use another mechanism"
            )
        if dataset.n != self.n or dataset.x_box != self.x_box:
            raise ValueError(
                f"the guarantee was computed for n = {self.n} and x_box = {self.x_box}, the data set has "
                f"n = {dataset.n} and x_box = {dataset.x_box}. Use PosteriorSampling.for_dataset"
            )
        low, high = np.array(self.x_box).T
        half = dataset.output_range / 2
        inputs, outputs = np.clip(dataset.X, low, high), (dataset.clipped_y - dataset.midpoint) / half
        process = posterior_process(self.kernel, inputs, outputs, self.r, self.sigma, self.eta)
        mean = NotPrivate(dataset.midpoint + half * process.mean(X_test))
        values, factor = draw_paths(process, X_test, draws.times, draws.rng)
        release = PathRelease(
            X_test=X_test,
            samples=dataset.midpoint + half * values,
            guarantee=draws.guarantee,
            statistics=(),
            uncertainty=NoInterval(reason="the spread of posterior paths is computed from private inputs"),
            noise_factor=NotPrivate(half * factor),
            mean=mean,
        )
        return release, lambda: mean
