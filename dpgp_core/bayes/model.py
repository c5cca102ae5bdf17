"""Gaussian process models that need no declaration but bounds and box."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import FloatArray
from ..checks import check_positive
from ..kernels import EQ, AcrossLevels, Kernel, LevelAndCurve, OneRougher, Stationary, SumOfKernels
from ..levels import LevelSide, level_columns, number_sides
from ..seasons import Seasonal
from .tuning import TUNING, PriorComponent


@dataclass(frozen=True, kw_only=True)
class Model:
    """y = f(x) + e, f ~ GP(0, kernel), e ~ N(0, noise_variance), in model units (0 is the middle of the bounds).

    Args:
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
    noise_sds: Sequence[float] = TUNING.noise_sds,
    *,
    variance: float = TUNING.curve_variance,
    shared: Sequence[float] = TUNING.shared,
) -> tuple[Model, ...]:
    """Models from the public box and bounds alone: four lengthscales times each noise, of equal weight.

    Args:
        variance: prior variance of f, over half_range squared.
        shared: see ``across_levels``.
    """
    sides = [high - low for low, high in number_sides(box)]
    models = (
        Model(
            kernel=EQ(variance=variance * half_range**2, lengthscale=[share * side for side in sides]),
            noise_variance=(noise * half_range) ** 2,
        )
        for share in TUNING.lengthscales
        for noise in noise_sds
    )
    return across_levels(models, box, shared)


def rough_share(people: float, noise_multiplier: float) -> float:
    """Share of their weight that rough curves, and small deviations from the mean level, have; from public numbers.

    With few people and little budget nothing identifies them. On planes small deviations have their whole weight for
    any number of people. ``TUNING`` says what each choice gains.
    """
    share = min(people / noise_multiplier / TUNING.rough_from, 1.0)
    return share if share >= TUNING.least_rough_share else 0.0


def curve_models(
    box: Sequence[tuple[float, float]],
    half_range: float,
    noise_sds: Sequence[float] = TUNING.noise_sds,
    rough: float = 0.0,
) -> tuple[Model, ...]:
    """Models of a curve from the public box and bounds alone: smooth and rough ones, about an unknown level.

    Args:
        rough: share of their weight that rough curves and small deviations have, see ``rough_share``; 0 for none.
    """
    groups = bool(level_columns(box))
    small = rough if len(number_sides(box)) == 1 else 1.0
    curves = list(TUNING.curves)
    if small and not groups:
        curves += [curve._replace(weight=small * curve.weight) for curve in TUNING.small_curves]
    if rough:
        kept = (curve for curve in TUNING.rough_curves if curve.lengthscale >= TUNING.rough_with_groups or not groups)
        curves += [curve._replace(weight=rough * curve.weight) for curve in kept]
    if len(number_sides(box)) >= 3:
        curves = [curve for curve in curves if curve.lengthscale >= TUNING.shortest_of_three]
    level = TUNING.level * TUNING.curve_variance * half_range**2
    models = (
        Model(
            kernel=LevelAndCurve(level=level, curve=kernel_of(curve, box, half_range)),
            noise_variance=(noise * half_range) ** 2,
            weight=curve.weight,
        )
        for curve in curves
        for noise in noise_sds
    )
    return across_levels(models, box)


def models_of_inputs(
    box: Sequence[tuple[float, float]], half_range: float, noise_sds: Sequence[float] = TUNING.noise_sds
) -> tuple[Model, ...]:
    """Models in which one of several inputs matters most, or in which the effects of the inputs add up.

    ``curve_models`` have one lengthscale, over the sides of the box, for all inputs. A curve that varies quickly with
    one input and hardly with the others would be measured as if it varied quickly with all. Empty for a single input,
    and where there are categories.
    """
    sides = [high - low for low, high in number_sides(box)]
    if len(sides) < 2 or level_columns(box):
        return ()
    variance, inputs = TUNING.curve_variance * half_range**2, range(len(sides))

    def along(d: int, share: float, others: float, variance: float) -> Kernel:
        scales = [(share if each == d else others) * side for each, side in enumerate(sides)]
        return EQ(variance=variance, lengthscale=scales)

    scales = [share for share in TUNING.scales_of_inputs if len(sides) < 3 or share >= TUNING.shortest_of_three]
    curves = [along(d, share, TUNING.slow, variance) for share in scales for d in inputs]
    joint = TUNING.joint_share
    for share in scales:
        parts = (along(d, share, TUNING.constant, (1 - joint) * variance / len(sides)) for d in inputs)
        curves.append(SumOfKernels(parts=(*parts, along(0, share, share, joint * variance))))
    return tuple(
        Model(
            kernel=LevelAndCurve(level=TUNING.level * variance, curve=curve),
            noise_variance=(noise * half_range) ** 2,
            weight=TUNING.weight_of_inputs,
        )
        for curve in curves
        for noise in noise_sds
    )


def across_levels(
    models: Iterable[Model], box: Sequence[tuple[float, float]], shared: Sequence[float] = TUNING.shared
) -> tuple[Model, ...]:
    """Models of inputs that are numbers, for groups that have a share of the curve in common; each share in turn.

    Small groups borrow from large ones as much as the evidence says. Without categories: the models themselves.

    Args:
        models: of the inputs that are numbers; those of a kernel of all inputs are left as they are.
        shared: rho of ``AcrossLevels``.
    """
    columns, models = level_columns(box), tuple(models)
    if not columns:
        return models
    whole = tuple(model for model in models if not isinstance(model.kernel, Stationary | LevelAndCurve))
    return whole + tuple(
        replace(model, kernel=AcrossLevels(inner=model.kernel, columns=columns, shared=rho))
        for rho in shared
        for model in models
        if isinstance(model.kernel, Stationary | LevelAndCurve)
    )


def rougher_groups(
    box: Sequence[tuple[float, float]], half_range: float, noise_sds: Sequence[float] = TUNING.noise_sds
) -> tuple[Model, ...]:
    """Models in which the curve of one group has more shape than those of the others, for each group in turn.

    If all groups have one lengthscale, the largest group determines it, and a small group that is much rougher would be
    read as smooth with unjustified certainty. Empty without categories, and with more than ``TUNING.most_rougher``
    levels.
    """
    columns, numbers = level_columns(box), number_sides(box)
    levels = [(d, level) for d in columns if isinstance(side := box[d], LevelSide) for level in range(side.levels)]
    if len(levels) > TUNING.most_rougher or not numbers:
        return ()
    unit, own = TUNING.curve_variance * half_range**2, kernel_of(TUNING.rougher, box, half_range)
    kernels = (
        OneRougher(
            alike=AcrossLevels(
                inner=LevelAndCurve(level=TUNING.level * unit, curve=kernel_of(curve, box, half_range)),
                columns=columns,
                shared=TUNING.shared[1],
            ),
            own=own,
            column=column,
            level=level,
        )
        for column, level in levels
        for curve in TUNING.alike
    )
    return tuple(
        Model(kernel=kernel, noise_variance=(noise * half_range) ** 2, weight=TUNING.rougher.weight)
        for kernel in kernels
        for noise in noise_sds
    )


def models_around(
    kernel: Stationary,
    noise_variance: float | None,
    box: Sequence[tuple[float, float]],
    half_range: float,
    noise_sds: Sequence[float] = TUNING.noise_sds,
    rough: float = 0.0,
) -> tuple[Model, ...]:
    """A declared kernel with half and twice its lengthscale, several noises each, and ``curve_models`` of equal weight.

    A declared lengthscale that is wrong costs accuracy and makes intervals too narrow; its neighbours and the automatic
    models take over by their evidence.

    Args:
        kernel: declared covariance of f, in squared model units; of the inputs that are numbers.
        noise_variance: declared; half and twice its standard deviation are added. None: the noises of ``curve_models``.
        noise_sds, rough: of ``curve_models``.
    """
    automatic = curve_models(number_sides(box), half_range, noise_sds, rough)
    if noise_variance is None:
        noises = [(share * half_range) ** 2 for share in noise_sds]
    else:
        noises = [noise_variance * factor**2 for factor in TUNING.around]
    kernels = [replace(kernel, lengthscale=_scaled(kernel.lengthscale, factor)) for factor in TUNING.around]
    weight = sum(model.weight for model in automatic) / (len(kernels) * len(noises))
    declared = tuple(Model(kernel=k, noise_variance=noise, weight=weight) for k in kernels for noise in noises)
    return across_levels(declared + automatic, box)


def models_of(
    kernels: Sequence[Stationary],
    noise_variances: Sequence[float] | None,
    box: Sequence[tuple[float, float]],
    half_range: float,
    noise_sds: Sequence[float] = TUNING.noise_sds,
    rough: float = 0.0,
) -> tuple[Model, ...]:
    """``models_around`` each declared kernel; ``curve_models`` alone where none is declared.

    Args:
        kernels: declared covariances of f, in squared model units; of the inputs that are numbers.
        noise_variances: one per kernel, or None.
        noise_sds, rough: of ``curve_models``.
    """
    rougher = rougher_groups(box, half_range, noise_sds)
    if not kernels:
        return curve_models(box, half_range, noise_sds, rough) + models_of_inputs(box, half_range, noise_sds) + rougher
    noises: Sequence[float | None] = noise_variances or [None] * len(kernels)
    around = (models_around(*each, box, half_range, noise_sds, rough) for each in zip(kernels, noises, strict=True))
    return tuple(model for family in around for model in family) + rougher


def family_of(kernel: Kernel) -> object:
    """The same for kernels that differ in their amplitude alone; groups that share more are another family."""
    if isinstance(kernel, OneRougher):
        return kernel.column, kernel.level, family_of(kernel.alike)
    if isinstance(kernel, AcrossLevels):
        return kernel.shared, family_of(kernel.inner)
    if isinstance(kernel, Seasonal):
        return kernel.periods, bool(kernel.wave), kernel.smooth, family_of(kernel.trend)
    if isinstance(kernel, LevelAndCurve) and isinstance(kernel.curve, Stationary):
        return type(kernel.curve), kernel.curve.lengthscale
    return kernel


def visible_width(models: Sequence[Model], variances: FloatArray, weights: FloatArray) -> float | None:
    """Width of the narrowest bumps that a release would show, over the box; None where it shows a level at most.

    A bump of the EQ kernel is about two lengthscales wide. A lengthscale is visible where its models keep less than
    half of the prior variance of the deviation from the level, at most places.

    Args:
        models: the mixture (M), of which those of ``TUNING.curves`` are used.
        variances: of the curve under each model at P places (M, P), in squared model units.
        weights: of the models (M,), for people's noise.
    """
    by_curve: dict[Stationary, list[int]] = {}
    for index, model in enumerate(models):
        inner = model.kernel.inner if isinstance(model.kernel, AcrossLevels) else model.kernel
        if isinstance(inner, LevelAndCurve) and isinstance(inner.curve, EQ) and inner.curve.variance > inner.level:
            by_curve.setdefault(inner.curve, []).append(index)
    noise = weights @ [model.noise_variance for model in models]
    for share, (curve, own) in zip(TUNING.lengthscales, by_curve.items(), strict=False):
        nearest = min(own, key=lambda i: abs(math.log(models[i].noise_variance / noise)))
        if np.median(variances[nearest]) < 0.5 * curve.variance:
            return min(2 * share, 1.0)
    return None


def always_planned_for(kernel: Kernel) -> bool:
    """Whether strategies are planned for such curves even if they are unlikely: no other plan would reveal them.

    These are periodic components, which a plan for a trend averages out, and one group that is rougher than the others.
    Curves that are nowhere differentiable are not among them: with 3,000 people, planning for them raised the error of
    smooth curves and kinks by a twentieth, and did not lower that of jumps and peaks.
    """
    while isinstance(kernel, AcrossLevels | Seasonal | LevelAndCurve):
        if isinstance(kernel, Seasonal) and kernel.wave > 0:
            return True
        if isinstance(kernel, AcrossLevels):
            kernel = kernel.inner
        else:
            kernel = kernel.trend if isinstance(kernel, Seasonal) else kernel.curve
    return isinstance(kernel, OneRougher)


def kernel_of(curve: PriorComponent, box: Sequence[tuple[float, float]], half_range: float) -> Stationary:
    """The kernel of the deviation, of inputs that are numbers."""
    return curve.kernel(
        variance=curve.amplitude * TUNING.curve_variance * half_range**2,
        lengthscale=[curve.lengthscale * (high - low) for low, high in number_sides(box)],
    )


def weights_of(models: Sequence[Model]) -> FloatArray:
    """Prior weights, sum 1 (M,)."""
    weights = np.array([model.weight for model in models])
    normalised: FloatArray = weights / weights.sum()
    return normalised


def _scaled(lengthscale: float | Sequence[float], factor: float) -> float | list[float]:
    if isinstance(lengthscale, Sequence):
        return [factor * scale for scale in lengthscale]
    return factor * lengthscale
