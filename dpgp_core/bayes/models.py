"""Gaussian process models that need no declaration but bounds and box, and what a filter needs of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import FloatArray
from ..checks import check_positive
from ..kernels import EQ, AcrossLevels, Kernel, Stationary
from ..levels import level_columns, number_sides

AUTO_LENGTHSCALES = (1 / 16, 1 / 8, 1 / 4, 1 / 2)  # of each side of the box
NOISE_SDS_BEFORE = (0.1, 0.2, 0.4)  # of releases that are read as if outcomes were normal
AUTO_NOISE_SDS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)  # of half the public range; nobody scatters by more
YES_NO_SDS = (1 / 4, 1 / 2, 3 / 4, 1.0)  # of outcomes that are 0 or 1: rates of .02, .07, .17 or .83, .5
AUTO_VARIANCE = 1 / 3  # of half the public range squared: that of values spread evenly over it
SHARED = (0.0, 0.5, 0.9)  # what groups have in common of the curve's variance
AROUND = (0.5, 1.0, 2.0)  # factors of a declared lengthscale, and of a declared noise's standard deviation


@dataclass(frozen=True, kw_only=True)
class Model:
    """y = f(x) + e, f ~ GP(0, kernel), e ~ N(0, noise_variance), in model units (0 is the middle of the bounds).

    Args:
        kernel: covariance of f.
        noise_variance: > 0.
        weight: prior weight > 0 among the models of a mixture; only proportions matter.

    Raises:
        ValueError: noise_variance or weight is not a positive number.
    """

    kernel: Kernel
    noise_variance: float
    weight: float = 1.0

    def __post_init__(self) -> None:
        check_positive("noise_variance", self.noise_variance)
        check_positive("weight", self.weight)


def auto_models(
    box: Sequence[tuple[float, float]],
    half_range: float,
    noise_sds: Sequence[float] = AUTO_NOISE_SDS,
    *,
    variance: float = AUTO_VARIANCE,
    shared: Sequence[float] = SHARED,
) -> tuple[Model, ...]:
    """Twenty models from the public box and bounds alone: four lengthscales times five noises, of equal weight.

    Args:
        box: D public (low, high) pairs.
        half_range: half the public range of the output, in model units.
        noise_sds: standard deviations of the noises, over half_range.
        variance: prior variance of f, over half_range squared.
        shared: see ``across_levels``.
    """
    sides = [high - low for low, high in number_sides(box)]
    models = (
        Model(
            kernel=EQ(variance=variance * half_range**2, lengthscale=[share * side for side in sides]),
            noise_variance=(noise * half_range) ** 2,
        )
        for share in AUTO_LENGTHSCALES
        for noise in noise_sds
    )
    return across_levels(models, box, shared)


def across_levels(
    models: Iterable[Model], box: Sequence[tuple[float, float]], shared: Sequence[float] = SHARED
) -> tuple[Model, ...]:
    """Models of inputs that are numbers, for groups that have a share of the curve in common; each share in turn.

    Small groups borrow from large ones as much as the evidence says. Without categories: the models themselves.

    Args:
        models: of the inputs that are numbers; those of a kernel of all inputs are left as they are.
        box: D public (low, high) pairs.
        shared: rho of ``AcrossLevels``.
    """
    columns, given = level_columns(box), tuple(models)
    if not columns:
        return given
    whole = tuple(model for model in given if not isinstance(model.kernel, Stationary))
    return whole + tuple(
        replace(model, kernel=AcrossLevels(inner=model.kernel, columns=columns, shared=rho))
        for rho in shared
        for model in given
        if isinstance(model.kernel, Stationary)
    )


def models_around(
    kernel: Stationary,
    noise_variance: float | None,
    box: Sequence[tuple[float, float]],
    half_range: float,
    noise_sds: Sequence[float] = AUTO_NOISE_SDS,
) -> tuple[Model, ...]:
    """A declared kernel with half and twice its lengthscale, several noises each, and ``auto_models`` of equal weight.

    A declared lengthscale that is wrong costs accuracy and makes intervals too narrow; its neighbours and the automatic
    models take over by their evidence.

    Args:
        kernel: declared covariance of f, in squared model units; of the inputs that are numbers.
        noise_variance: declared; half and twice its standard deviation are added. None: the noises of ``auto_models``.
        box: D public (low, high) pairs.
        half_range: half the public range of the output, in model units.
        noise_sds: of ``auto_models``.
    """
    automatic = auto_models(number_sides(box), half_range, noise_sds)
    if noise_variance is None:
        noises = [(share * half_range) ** 2 for share in noise_sds]
    else:
        noises = [noise_variance * factor**2 for factor in AROUND]
    kernels = [replace(kernel, lengthscale=_scaled(kernel.lengthscale, factor)) for factor in AROUND]
    weight = len(automatic) / (len(kernels) * len(noises))
    declared = tuple(Model(kernel=k, noise_variance=noise, weight=weight) for k in kernels for noise in noises)
    return across_levels(declared + automatic, box)


def models_of(
    kernels: Sequence[Stationary],
    noise_variances: Sequence[float] | None,
    box: Sequence[tuple[float, float]],
    half_range: float,
    noise_sds: Sequence[float] = AUTO_NOISE_SDS,
) -> tuple[Model, ...]:
    """``models_around`` each declared kernel; ``auto_models`` alone where none is declared.

    Args:
        kernels: declared covariances of f, in squared model units; of the inputs that are numbers.
        noise_variances: one per kernel, or None.
        box: D public (low, high) pairs.
        half_range: half the public range of the output, in model units.
        noise_sds: of ``auto_models``.
    """
    if not kernels:
        return auto_models(box, half_range, noise_sds)
    noises: Sequence[float | None] = noise_variances or [None] * len(kernels)
    around = (models_around(*each, box, half_range, noise_sds) for each in zip(kernels, noises, strict=True))
    return tuple(model for family in around for model in family)


def typical_models(models: Sequence[Model]) -> tuple[Model, ...]:
    """One model for each kernel, of the middle one of its noises and of all their weight: enough to plan with.

    Strategies hardly depend on the noise variance, and planning for a third of the models takes a third of the time.
    Of kernels that differ in what groups share, likewise, the middle one stands for all.

    Args:
        models: the mixture.
    """
    families: dict[Kernel, list[Model]] = {}
    for model in models:
        kernel = model.kernel.inner if isinstance(model.kernel, AcrossLevels) else model.kernel
        families.setdefault(kernel, []).append(model)
    return tuple(_typical(family) for family in families.values())


def _typical(family: Sequence[Model]) -> Model:
    shares = sorted({_shared(model) for model in family})
    usual = [model for model in family if _shared(model) == shares[len(shares) // 2]]
    ordered = sorted(usual, key=lambda model: model.noise_variance)
    return replace(ordered[len(ordered) // 2], weight=sum(model.weight for model in family))


def _shared(model: Model) -> float:
    return model.kernel.shared if isinstance(model.kernel, AcrossLevels) else 1.0


def weights_of(models: Sequence[Model]) -> FloatArray:
    """Prior weights, sum 1 (M,)."""
    weights = np.array([model.weight for model in models])
    normalised: FloatArray = weights / weights.sum()
    return normalised


def _scaled(lengthscale: float | Sequence[float], factor: float) -> float | list[float]:
    if isinstance(lengthscale, Sequence):
        return [factor * scale for scale in lengthscale]
    return factor * lengthscale
