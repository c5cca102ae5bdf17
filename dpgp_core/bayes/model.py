"""The prior: Gaussian process models that follow from the declared bounds and box alone, or from declared kernels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import FloatArray
from ..checks import check_positive
from ..kernels import EQ, AcrossGroups, Kernel, LevelAndCurve, RougherGroup, Stationary, SumOfKernels
from ..levels import LevelSide, level_columns, number_sides
from ..seasons import Seasonal
from .tuning import TUNING, PriorComponent


@dataclass(frozen=True, kw_only=True)
class Model:
    """One Gaussian process model: y = f(x) + e with f ~ GP(0, kernel) and e ~ N(0, noise_variance).

    Outcomes are in model units, in which 0 is the middle of the bounds.

    Args:
        kernel: prior covariance of f, in squared model units.
        noise_variance: variance of outcomes about f, positive, in squared model units.
        weight: positive prior weight among the models of a mixture; only proportions matter.

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
    """Return equally weighted models with EQ kernels, one for each pair of a lengthscale and an entry of ``noise_sds``.

    The lengthscales are those of the EQ kernels in ``TUNING.curves``.

    Args:
        box, half_range, noise_sds: see ``curve_models``.
        variance: prior variance of f, over half_range squared.
        shared: shares of the variance that groups have in common, see ``across_groups``.
    """
    sides = [high - low for low, high in number_sides(box)]
    kernels = (
        EQ(variance=variance * half_range**2, lengthscale=[curve.lengthscale * side for side in sides])
        for curve in _of_eq_kernel(TUNING.curves)
    )
    return across_groups(with_noises([(kernel, 1.0) for kernel in kernels], half_range, noise_sds), box, shared)


def with_noises(
    kernels: Iterable[tuple[Kernel, float]], half_range: float, noise_sds: Sequence[float]
) -> tuple[Model, ...]:
    """Return one model for each kernel, with its prior weight, and each noise standard deviation over half_range."""
    return tuple(
        Model(kernel=kernel, noise_variance=(noise * half_range) ** 2, weight=weight)
        for kernel, weight in kernels
        for noise in noise_sds
    )


def dispersion_models(box: Sequence[tuple[float, float]]) -> tuple[Model, ...]:
    """Return the models of the local dispersion, which is inferred as 2 (a / theta - usual), see ``dispersion``."""
    return auto_models(
        box, 1.0, TUNING.dispersion_noise_sds, variance=TUNING.dispersion_variance, shared=TUNING.dispersion_shared
    )


def rough_share(people: float, noise_multiplier: float) -> float:
    """Return the factor, 0 to 1, of the prior weights of rough curves and of small deviations from the mean level.

    It grows with n / s. With few people and little budget, the data could not identify such curves, and their models
    would only widen intervals. With several numerical inputs, the factor is not applied to small deviations.

    Args:
        people: n, the number of records, or of people if each counts once.
        noise_multiplier: s of the whole budget.
    """
    share = min(people / noise_multiplier / TUNING.rough_from, 1.0)
    return share if share >= TUNING.least_rough_share else 0.0


def curve_models(
    box: Sequence[tuple[float, float]],
    half_range: float,
    noise_sds: Sequence[float] = TUNING.noise_sds,
    rough: float = 0.0,
) -> tuple[Model, ...]:
    """Return models of smooth and rough curves about an unknown mean level, which follow from box and bounds alone.

    Args:
        box: declared (low, high) of each input, or its categories.
        half_range: half the range of the outcomes, in model units.
        noise_sds: standard deviations of outcomes about the curve, over half_range.
        rough: factor of the weights of rough curves and small deviations, see ``rough_share``; 0 to leave them out.
    """
    groups = bool(level_columns(box))
    small = rough if len(number_sides(box)) == 1 else 1.0
    curves = list(TUNING.curves)
    if small and not groups:
        curves += [curve._replace(weight=small * curve.weight) for curve in TUNING.small_curves]
    if rough:
        kept = (curve for curve in TUNING.rough_curves if curve.lengthscale >= TUNING.rough_with_groups or not groups)
        curves += [curve._replace(weight=rough * curve.weight) for curve in kept]
    curves = _long_enough(curves, len(number_sides(box)))
    level = TUNING.level * TUNING.curve_variance * half_range**2
    kernels = [(LevelAndCurve(level=level, curve=kernel_of(curve, box, half_range)), curve.weight) for curve in curves]
    return across_groups(with_noises(kernels, half_range, noise_sds), box)


def _of_eq_kernel(curves: Iterable[PriorComponent]) -> list[PriorComponent]:
    """Return the curves with the EQ kernel."""
    return [curve for curve in curves if curve.kernel is EQ]


def _long_enough(curves: Iterable[PriorComponent], sides: int) -> list[PriorComponent]:
    """Return the curves whose lengthscale the cells of a box with so many numerical sides can show."""
    return [curve for curve in curves if sides < 3 or curve.lengthscale >= TUNING.shortest_of_three]


def models_of_inputs(
    box: Sequence[tuple[float, float]], half_range: float, noise_sds: Sequence[float] = TUNING.noise_sds
) -> tuple[Model, ...]:
    """Return models in which one of several inputs matters most, or in which the effects of the inputs add up.

    With ``curve_models`` alone, a curve that varies quickly with one input and slowly with the others would be measured
    as if it varied quickly with all. There are no such models for a single numerical input, or if there are categorical
    inputs. Arguments are those of ``curve_models``.
    """
    sides = [high - low for low, high in number_sides(box)]
    if len(sides) < 2 or level_columns(box):
        return ()
    variance, inputs = TUNING.curve_variance * half_range**2, range(len(sides))

    def along(d: int, own: float, others: float, variance: float) -> Kernel:
        scales = [(own if each == d else others) * side for each, side in enumerate(sides)]
        return EQ(variance=variance, lengthscale=scales)

    scales = [scale for scale in TUNING.scales_of_inputs if len(sides) < 3 or scale >= TUNING.shortest_of_three]
    curves = [along(d, scale, TUNING.slow, variance) for scale in scales for d in inputs]
    joint = TUNING.joint_share
    for scale in scales:
        parts = (along(d, scale, TUNING.constant, (1 - joint) * variance / len(sides)) for d in inputs)
        curves.append(SumOfKernels(parts=(*parts, along(0, scale, scale, joint * variance))))
    kernels = [LevelAndCurve(level=TUNING.level * variance, curve=curve) for curve in curves]
    return with_noises([(kernel, TUNING.weight_of_inputs) for kernel in kernels], half_range, noise_sds)


def across_groups(
    models: Iterable[Model], box: Sequence[tuple[float, float]], shared: Sequence[float] = TUNING.shared
) -> tuple[Model, ...]:
    """Extend models of the numerical inputs to groups, with one model for each entry of ``shared``.

    Without categorical inputs the models are returned unchanged.

    Args:
        models: models of the numerical inputs. Those whose kernel is a function of all inputs are returned unchanged.
        box: declared (low, high) of each input, or its categories.
        shared: shares of the variance that groups have in common, rho of ``kernels.AcrossGroups``.
    """
    columns, models = level_columns(box), tuple(models)
    if not columns:
        return models
    whole = tuple(model for model in models if not isinstance(model.kernel, Stationary | LevelAndCurve))
    return whole + tuple(
        replace(model, kernel=AcrossGroups(inner=model.kernel, columns=columns, shared=rho))
        for rho in shared
        for model in models
        if isinstance(model.kernel, Stationary | LevelAndCurve)
    )


def rougher_groups(
    box: Sequence[tuple[float, float]], half_range: float, noise_sds: Sequence[float] = TUNING.noise_sds
) -> tuple[Model, ...]:
    """Return models in which the curve of one group is rougher than those of the others, for each group in turn.

    If all groups had the same lengthscale, the largest group would determine it, and a small group that is much rougher
    would be judged smooth with unjustified certainty. There are at most ``TUNING.most_rougher`` categories with such
    models. Arguments are those of ``curve_models``.
    """
    columns, numbers = level_columns(box), number_sides(box)
    levels = [(d, level) for d in columns if isinstance(side := box[d], LevelSide) for level in range(side.levels)]
    if len(levels) > TUNING.most_rougher or not numbers:
        return ()
    unit, own = TUNING.curve_variance * half_range**2, kernel_of(TUNING.rougher, box, half_range)
    kernels = (
        RougherGroup(
            alike=AcrossGroups(
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
    return with_noises([(kernel, TUNING.rougher.weight) for kernel in kernels], half_range, noise_sds)


def models_around(
    kernel: Stationary,
    noise_variance: float | None,
    box: Sequence[tuple[float, float]],
    half_range: float,
    noise_sds: Sequence[float] = TUNING.noise_sds,
    rough: float = 0.0,
) -> tuple[Model, ...]:
    """Return models with a declared kernel, and with half and twice its lengthscale, and those of ``curve_models``.

    The former have the same total weight as the latter.
    If the declared lengthscale is wrong, its model alone would give too narrow intervals. The evidence then favours the
    other models.

    Args:
        kernel: declared covariance of f, in squared model units, as a function of the numerical inputs.
        noise_variance: declared noise variance, to which half and twice its standard deviation are added; None for the
            noises of ``curve_models``.
        box, half_range, noise_sds, rough: see ``curve_models``.
    """
    automatic = curve_models(number_sides(box), half_range, noise_sds, rough)
    if noise_variance is None:
        noises = [(share * half_range) ** 2 for share in noise_sds]
    else:
        noises = [noise_variance * factor**2 for factor in TUNING.around]
    scales = np.asarray(kernel.lengthscale)
    kernels = [replace(kernel, lengthscale=(factor * scales).tolist()) for factor in TUNING.around]
    weight = sum(model.weight for model in automatic) / (len(kernels) * len(noises))
    declared = tuple(Model(kernel=k, noise_variance=noise, weight=weight) for k in kernels for noise in noises)
    return across_groups(declared + automatic, box)


def models_of(
    kernels: Sequence[Stationary],
    noise_variances: Sequence[float] | None,
    box: Sequence[tuple[float, float]],
    half_range: float,
    noise_sds: Sequence[float] = TUNING.noise_sds,
    rough: float = 0.0,
) -> tuple[Model, ...]:
    """Return the models of a release without periods: those around each declared kernel, or from box and bounds alone.

    Args:
        kernels: declared covariances of f, in squared model units, as functions of the numerical inputs; () for none.
        noise_variances: declared noise variance for each kernel, or None.
        box, half_range, noise_sds, rough: see ``curve_models``.
    """
    rougher = rougher_groups(box, half_range, noise_sds)
    if not kernels:
        return curve_models(box, half_range, noise_sds, rough) + models_of_inputs(box, half_range, noise_sds) + rougher
    noises: Sequence[float | None] = noise_variances or [None] * len(kernels)
    around = (models_around(*each, box, half_range, noise_sds, rough) for each in zip(kernels, noises, strict=True))
    return tuple(model for family in around for model in family) + rougher


def family_of(kernel: Kernel) -> object:
    """Return an object that is equal for kernels that differ only in their amplitudes.

    Strategies are planned for one model of each family, see ``strategy.representative_models``.
    """
    if isinstance(kernel, RougherGroup):
        return kernel.column, kernel.level, family_of(kernel.alike)
    if isinstance(kernel, AcrossGroups):
        return kernel.shared, family_of(kernel.inner)
    if isinstance(kernel, Seasonal):
        return kernel.periods, bool(kernel.wave), kernel.smooth, family_of(kernel.trend)
    if isinstance(kernel, LevelAndCurve) and isinstance(kernel.curve, Stationary):
        return type(kernel.curve), kernel.curve.lengthscale
    return kernel


def visible_width(models: Sequence[Model], variances: FloatArray, weights: FloatArray) -> float | None:
    """Return the width of the narrowest bumps that a release can show, over the side of the box.

    A bump of the EQ kernel is about two lengthscales wide. A lengthscale can be shown if the median over points of the
    posterior variance of its model is less than half the prior variance of the deviation from the mean level. The
    result is None if no lengthscale can be shown.

    Args:
        models: the m models of the mixture, of which those of ``TUNING.curves`` with the EQ kernel are used.
        variances: posterior variance of the curve under each model at P points (m, P), in squared model units.
        weights: probabilities of the models (m,), from which the expected noise variance follows.
    """
    by_curve: dict[Stationary, list[int]] = {}
    for index, model in enumerate(models):
        inner = model.kernel.inner if isinstance(model.kernel, AcrossGroups) else model.kernel
        if isinstance(inner, LevelAndCurve) and isinstance(inner.curve, EQ) and inner.curve.variance > inner.level:
            by_curve.setdefault(inner.curve, []).append(index)
    noise = weights @ [model.noise_variance for model in models]
    kept = _long_enough(_of_eq_kernel(TUNING.curves), len(np.atleast_1d(next(iter(by_curve)).lengthscale)))
    # by_curve begins with the large deviations of TUNING.curves; kernels of ``models_of_inputs`` may follow
    for curve, (kernel, own) in zip(kept, by_curve.items(), strict=False):
        nearest = min(own, key=lambda i: abs(math.log(models[i].noise_variance / noise)))
        if np.median(variances[nearest]) < 0.5 * kernel.variance:
            return min(2 * curve.lengthscale, 1.0)
    return None


def is_smooth(kernel: Kernel) -> bool:
    """Whether a kernel is EQ, or EQ about an unknown mean level."""
    return isinstance(kernel.curve if isinstance(kernel, LevelAndCurve) else kernel, EQ)


def always_planned_for(kernel: Kernel) -> bool:
    """Whether strategies are planned for this kernel even if it is unlikely, because no other plan would reveal it.

    These are kernels with a periodic component, which a strategy planned for a trend averages out, and kernels in which
    one group has a rougher curve than the others.
    """
    while isinstance(kernel, AcrossGroups | Seasonal | LevelAndCurve):
        if isinstance(kernel, Seasonal) and kernel.wave > 0:
            return True
        if isinstance(kernel, AcrossGroups):
            kernel = kernel.inner
        else:
            kernel = kernel.trend if isinstance(kernel, Seasonal) else kernel.curve
    return isinstance(kernel, RougherGroup)


def kernel_of(curve: PriorComponent, box: Sequence[tuple[float, float]], half_range: float) -> Stationary:
    """Return the kernel of the deviation from the mean level, as a function of the numerical inputs."""
    return curve.kernel(
        variance=curve.amplitude * TUNING.curve_variance * half_range**2,
        lengthscale=[curve.lengthscale * (high - low) for low, high in number_sides(box)],
    )


def weights_of(models: Sequence[Model]) -> FloatArray:
    """Return the prior weights of the models (m,), normalised to add up to 1."""
    weights = np.array([model.weight for model in models])
    return np.asarray(weights / weights.sum())
