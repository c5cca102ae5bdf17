"""Models of periodic curves: every input that has a period may have a wave, beside the trends of the plain models.

Half of the weight stays with models without a wave; evidence says which it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..kernels import EQ, AcrossLevels, Kernel, OneRougher
from ..levels import level_columns, number_sides
from ..seasons import Periods, Seasonal, check_room, periodic
from .models import AUTO_NOISE_SDS, AUTO_VARIANCE, SHARED, Model

TRENDS = (1 / 8, 1 / 2)  # lengthscales of the trend beside a wave, of each side of the box
SMOOTH = (0.5, 1.0)  # lengthscales of waves on their circle
SLOW = 1.0  # of each side of the box: a wave may change over it
SHARE = 0.5  # of the prior variance of a curve that its waves have, if they are large
SMALL = 1 / 25  # of that, where many share the columns of cells: a season of one part in twenty is seen then


def on_dates(models: Sequence[Model], periods: Periods) -> tuple[Model, ...]:
    """The same models of inputs that their phases may follow; unchanged where no input has a period."""
    if not periods:
        return tuple(models)

    def dated(kernel: Kernel, own: Periods) -> Kernel:
        return kernel if isinstance(kernel, Seasonal) else Seasonal(trend=kernel, periods=own)

    return tuple(replace(model, kernel=_of_numbers(model.kernel, periods, dated)) for model in models)


def waving(models: Sequence[Model], box: Sequence[tuple[float, float]], periods: Periods) -> tuple[Model, ...]:
    """The same models with a wave beside each, which has as much of the variance; unchanged where there is no period.

    Args:
        models: without waves.
    """
    if not periods:
        return tuple(models)
    slow = _slow(box)

    def waved(kernel: Kernel, own: Periods) -> Kernel:
        return Seasonal(trend=kernel, periods=own, wave=kernel.variance / len(periodic(own)), slow=slow)

    return tuple(replace(model, kernel=_of_numbers(model.kernel, periods, waved)) for model in models)


def with_waves(
    plain: Sequence[Model],
    box: Sequence[tuple[float, float]],
    half_range: float,
    periods: Periods,
    noise_sds: Sequence[float] = AUTO_NOISE_SDS,
    sizes: Sequence[float] = (1.0,),
) -> tuple[Model, ...]:
    """``plain`` and, of as much weight, models with waves: two trends, two kinds of wave, each size and each noise.

    Where inputs are categories, times the shares of groups. Beside large waves alone a small one is taken for none,
    and surely so: noise hides it from a model that would rather see the whole range.

    Args:
        plain: models without waves.
        periods: of each input; () where none has one, and then there is nothing but ``plain``.
        sizes: variances of waves, over ``SHARE`` of the variance of a curve.

    Raises:
        ValueError: there are not as many periods as sides, or one is too long for its side.
    """
    if not periods:
        return tuple(plain)
    if len(periods) != len(box):
        raise ValueError(f"periods must have {len(box)} entries, one per input, got {len(periods)}")
    for d, period in periodic(periods):
        check_room(f"the period of input {d + 1}", period, box[d])
    kernels = _waves(box, AUTO_VARIANCE * half_range**2, periods, sizes)
    weight = sum(model.weight for model in plain) / (len(kernels) * len(noise_sds))
    waves = (
        Model(kernel=kernel, noise_variance=(noise * half_range) ** 2, weight=weight)
        for kernel in kernels
        for noise in noise_sds
    )
    return (*on_dates(plain, periods), *waves)


def _waves(
    box: Sequence[tuple[float, float]], variance: float, periods: Periods, sizes: Sequence[float]
) -> list[Kernel]:
    columns, sides = level_columns(box), [high - low for low, high in number_sides(box)]
    waved = [
        Seasonal(
            trend=EQ(variance=(1 - SHARE) * variance, lengthscale=[trend * side for side in sides]),
            periods=_own(periods, columns),
            wave=size * SHARE * variance / len(periodic(periods)),
            slow=_slow(box),
            smooth=smooth,
        )
        for trend in TRENDS
        for smooth in SMOOTH
        for size in sizes
    ]
    if not columns:
        return [*waved]
    return [AcrossLevels(inner=inner, columns=columns, shared=rho) for rho in SHARED for inner in waved]


def _of_numbers(kernel: Kernel, periods: Periods, change: Callable[[Kernel, Periods], Kernel]) -> Kernel:
    """A kernel whose part that is of numbers is changed, given the periods of these inputs."""
    if isinstance(kernel, OneRougher):
        alike, own = kernel.alike, _own(periods, kernel.alike.columns)
        return replace(kernel, alike=replace(alike, inner=change(alike.inner, own)), own=change(kernel.own, own))
    if isinstance(kernel, AcrossLevels):
        return replace(kernel, inner=change(kernel.inner, _own(periods, kernel.columns)))
    return change(kernel, periods)


def _own(periods: Periods, columns: Sequence[int]) -> Periods:
    """Periods of the inputs that are numbers."""
    return tuple(period for d, period in enumerate(periods) if d not in columns)


def _slow(box: Sequence[tuple[float, float]]) -> tuple[float, ...]:
    return tuple(SLOW * (high - low) for low, high in number_sides(box))
