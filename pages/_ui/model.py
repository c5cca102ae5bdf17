"""What a visitor chose, as frozen settings: data and GP model, design of the noise, budget and draw. No streamlit."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import datasets
from dpgp_core import kernels
from dpgp_core.accounting.gaussian import Method
from dpgp_core.data import Dataset
from dpgp_core.mechanisms import CATALOGUE, RefinedCloaking
from dpgp_core.mechanisms.catalogue import Parameters
from dpgp_core.strategies.noise_design import ObjectiveName

KERNELS = {kernel.__name__: kernel for kernel in kernels.KERNELS}
# What refined cloaking clips residuals to, in model units, where 1.5 noise standard deviations is too wide a public
# guess: prices of one place stay within a factor of 1.45 of its smooth level.
RESIDUAL_BOUNDS = {"london_hexes": 0.375}
Focus = Literal["records", "everywhere"]


# Lengthscales of the inputs, relative to the first: 25 years of age go with 15 kg among adults, 5 with 20 among girls.
INPUT_RATIOS = {
    "kung_2d": (1.0, 0.6),
    "growth_2d": (1.0, 4.0),
    "london_hexes": (1.0, 1.0),
    "london_sales": (1.0, 1.0),
}


def load_dataset(name: str) -> Dataset:
    """A shipped dataset by the name used on pages; ``kung_2d`` is !Kung with two inputs."""
    return datasets.load("kung", dims=2) if name == "kung_2d" else datasets.load(name)


@dataclass(frozen=True)
class Model:
    """Stage 1 settings: everything that C depends on.

    Attributes:
        dataset: name in ``datasets.DATASETS``.
        kernel: class name in ``dpgp_core.kernels``.
        lengthscale: in the dataset's input unit.
        noise: noise variance over kernel variance (the kernel variance is 1 in model units).
    """

    dataset: str
    kernel: str
    lengthscale: float
    noise: float

    def build(self) -> kernels.Stationary:
        """The kernel, unit variance; several inputs share the lengthscale in public proportions."""
        ratios = INPUT_RATIOS.get(self.dataset)
        scales = self.lengthscale if ratios is None else tuple(self.lengthscale * ratio for ratio in ratios)
        return KERNELS[self.kernel](lengthscale=scales)


@dataclass(frozen=True)
class Design:
    """Stage 2 settings: what the noise is optimised for. Neither epsilon, delta nor a draw.

    ``mechanism`` is a name in the catalogue, of a row that pages draw.
    """

    mechanism: str = "refined"
    objective: ObjectiveName = "trace"
    focus: Focus = "records"
    gap: float = 1e-3


@dataclass(frozen=True)
class Draw:
    """Stage 3 settings: budget, calibration and which draw of the noise."""

    epsilon: float
    delta: float
    calibration: Method = "analytic"
    shrinkage: bool = False
    draws: int = 1
    seed: int = 1


PAPER_DESIGN = Design(mechanism="cloaking", objective="logdet")


def clip_of(model: Model) -> float | None:
    """What refined cloaking clips residuals to, in noise standard deviations; None for its default."""
    bound = RESIDUAL_BOUNDS.get(model.dataset)
    return None if bound is None else bound / math.sqrt(model.noise)


def mechanism_of(model: Model, design: Design, draw: Draw) -> Any:
    """The core's mechanism for these settings; carries the guarantee.

    Raises:
        ValueError: the budget is out of range.
    """
    built = CATALOGUE[design.mechanism].build(
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
        "unproven": True,  # Hall's formula above epsilon 1 is drawn, and marked
        "objective": design.objective,
        "shrinkage": draw.shrinkage,
    }
    known = {field.name for field in fields(built)}
    return replace(built, **{name: value for name, value in options.items() if name in known})
