"""Models of periodic curves: every input that has a period may have a wave, beside the trends of the plain models.

Half of the weight stays with models without a wave; evidence says which it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..kernels import AcrossLevels, Kernel, OneRougher
from ..levels import level_columns, number_sides
from ..seasons import Periods, Seasonal, check_room, periodic
from .model import Model, kernel_of
from .tuning import TUNING


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
    noise_sds: Sequence[float] = TUNING.noise_sds,
    rough: float = 0.0,
) -> tuple[Model, ...]:
    """``plain`` and, of as much weight, models with waves: trends times kinds of wave times sizes times the noises.

    Where inputs are categories, times the shares of groups.

    Beside large waves alone a small one is taken for none, and surely so: noise hides it from a model that would rather
    see the whole range. Trends have to be as free as those of ``plain``: once a week is seen, models without waves are
    ruled out, and a year beside it was averaged over, if no trend could follow it.

    Args:
        plain: models without waves.
        periods: of each input; () where none has one, and then there is nothing but ``plain``.
        rough: share of their weight that periodic components with rough trends have, see ``rough_share``.

    Raises:
        ValueError: there are not as many periods as sides, or one is too long for its side.
    """
    if not periods:
        return tuple(plain)
    if len(periods) != len(box):
        raise ValueError(f"periods must have {len(box)} entries, one per input, got {len(periods)}")
    for d, period in periodic(periods):
        check_room(f"the period of input {d + 1}", period, box[d])
    waves = [
        Model(kernel=kernel, noise_variance=(noise * half_range) ** 2, weight=weight)
        for kernel, weight in _waves(box, half_range, periods, rough)
        for noise in noise_sds
    ]
    whole = sum(model.weight for model in plain) / sum(model.weight for model in waves)
    return (*on_dates(plain, periods), *(replace(model, weight=whole * model.weight) for model in waves))


def _waves(
    box: Sequence[tuple[float, float]], half_range: float, periods: Periods, rough: float
) -> list[tuple[Kernel, float]]:
    """Kernels and their weights."""
    columns, one_side = level_columns(box), len(number_sides(box)) == 1
    trends = TUNING.trends if one_side else TUNING.trends_of_several
    if rough and one_side and not columns:
        trends += (TUNING.rough_trend._replace(weight=rough),)
    waved = [
        (
            Seasonal(
                trend=kernel_of(trend, box, half_range),
                periods=_own(periods, columns),
                wave=size * TUNING.periodic_variance * TUNING.curve_variance * half_range**2 / len(periodic(periods)),
                slow=_slow(box),
                smooth=smooth,
            ),
            trend.weight,
        )
        for trend in trends
        for smooth in TUNING.periodic_lengthscales
        for size in TUNING.periodic_sizes
    ]
    if not columns:
        return [*waved]
    return [
        (AcrossLevels(inner=inner, columns=columns, shared=rho), weight)
        for rho in TUNING.shared
        for inner, weight in waved
    ]


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
    return tuple(TUNING.periodic_change * (high - low) for low, high in number_sides(box))
