"""Settings of a release on the pages: data and model, noise design, budget and number of the simulated release."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from datasets import exhibit
from dpgp_core import kernels
from dpgp_core.accounting.gaussian import Method
from dpgp_core.accounting.guarantee import Protects
from dpgp_core.mechanisms import CATALOGUE, BayesCloaking, RefinedCloaking
from dpgp_core.mechanisms.catalogue import Parameters
from dpgp_core.strategies.noise_design import ObjectiveName
from dpgp_core.table import Dataset

KERNELS = {kernel.__name__: kernel for kernel in kernels.KERNELS}
Focus = Literal["records", "everywhere"]
USUAL_NOISE = 0.3  # noise variance over signal variance with which pages open


def load_dataset(name: str) -> Dataset:
    """Return the records of a data set of ``datasets.EXHIBITS``."""
    return exhibit(name).load()


@dataclass(frozen=True)
class Model:
    """Settings of the cloaking matrix C.

    Attributes:
        dataset: name in ``datasets.EXHIBITS``.
        kernel: class name in ``dpgp_core.kernels``.
        lengthscale: in the dataset's input unit.
        noise: noise variance over kernel variance (the kernel variance is 1 in model units).
    """

    dataset: str
    kernel: str
    lengthscale: float
    noise: float

    def build(self) -> kernels.Stationary:
        """Return the kernel with unit variance. Several inputs share the lengthscale in public proportions."""
        ratios = exhibit(self.dataset).ratios
        scales = tuple(self.lengthscale * ratio for ratio in ratios)
        return KERNELS[self.kernel](lengthscale=scales if len(scales) > 1 else scales[0])


def usual(name: str) -> Model:
    """Return the model with which pages open for a data set."""
    return Model(name, "EQ", exhibit(name).lengthscale, USUAL_NOISE)


@dataclass(frozen=True)
class Design:
    """Settings of the noise design: its objective. They include neither budget nor number of a release.

    ``mechanism`` is a name in the catalogue of a mechanism that pages can draw.
    """

    mechanism: str = "bayes"
    objective: ObjectiveName = "trace"
    focus: Focus = "records"

    @property
    def in_stages(self) -> bool:
        """Whether the mechanism measures in stages instead of adding noise once."""
        return CATALOGUE[self.mechanism].kind is BayesCloaking


@dataclass(frozen=True)
class Draw:
    """Settings of the released curve: budget, calibration, and number of the simulated release."""

    epsilon: float
    delta: float
    calibration: Method = "analytic"
    shrinkage: bool = False
    draws: int = 1
    seed: int = 1


@dataclass(frozen=True)
class Budget:
    """Settings that determine a release of Bayes cloaking: data set, what is protected, and the budget of one release.

    Attributes:
        dataset: name in ``datasets.EXHIBITS``.
        epsilon, delta: budget of one release.
        protects: whether only outputs are protected, or inputs too.
    """

    dataset: str
    epsilon: float
    delta: float
    protects: Protects = "outputs"

    @property
    def mechanism(self) -> BayesCloaking:
        """Return the mechanism as a real release uses it."""
        return BayesCloaking(epsilon=self.epsilon, delta=self.delta, protects=self.protects)


ANALYTIC = ("bayes", "refined")
"""Mechanisms that have only the analytic calibration."""
PAPER_DESIGN = Design(mechanism="cloaking", objective="logdet")


def clip_of(model: Model) -> float | None:
    """Return the clipping bound of residuals in refined cloaking, in noise standard deviations; None for its
    default.
    """
    bound = exhibit(model.dataset).residual_bound
    return None if bound is None else bound / math.sqrt(model.noise)


def mechanism_of(model: Model, design: Design, draw: Draw) -> Any:
    """Return the mechanism of the core for these settings, which includes the guarantee.

    Raises:
        ValueError: the budget is out of range.
    """
    built: Any = CATALOGUE[design.mechanism].build(
        Parameters(
            kernel=model.build(),
            noise_variance=model.noise,
            epsilon=draw.epsilon,
            delta=draw.delta,
            x_box=(),
            clip=clip_of(model),
        )
    )
    options: dict[str, Any] = {
        "calibration": "analytic" if isinstance(built, RefinedCloaking) else draw.calibration,
        "unproven": True,  # Hall's formula above epsilon 1 is drawn and marked as unproven
        "objective": design.objective,
        "gap": 1e-3,
        "shrinkage": draw.shrinkage,
    }
    accepted = {field.name for field in fields(built)}
    return replace(built, **{name: value for name, value in options.items() if name in accepted})
