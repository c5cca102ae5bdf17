"""Models of curves with a trend and, for every input with a period, a periodic component.

Half of the prior weight stays with models without periodic components, and the evidence decides between the two halves.
Inputs with a period are followed by their phases (``seasons.lifted``), on which the kernels of this module act.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from ..kernels import AcrossGroups, Kernel, LevelAndCurve, RougherGroup
from ..levels import level_columns, number_sides
from ..seasons import Periods, Seasonal, check_room, periodic
from .model import Model, kernel_of, with_noises
from .tuning import TUNING


def with_phases(models: Sequence[Model], periods: Periods) -> tuple[Model, ...]:
    """Return the same models as functions of the inputs followed by their phases.

    Only periodic components depend on the phases.
    """
    if not periods:
        return tuple(models)

    def without_component(kernel: Kernel, own: Periods) -> Kernel:
        return kernel if isinstance(kernel, Seasonal) else Seasonal(trend=kernel, periods=own)

    return tuple(replace(model, kernel=_of_numbers(model.kernel, periods, without_component)) for model in models)


def with_periodic_component(
    models: Sequence[Model], box: Sequence[tuple[float, float]], periods: Periods
) -> tuple[Model, ...]:
    """Return the same models with periodic components, whose total variance equals that of the trend.

    Args:
        models: models without periodic components.
        box: declared (low, high) of each input, or its categories.
        periods: period of each input; () if none has one.
    """
    if not periods:
        return tuple(models)
    slow = _slow(box)

    def with_component(kernel: Kernel, own: Periods) -> Kernel:
        return Seasonal(trend=kernel, periods=own, wave=kernel.variance / len(periodic(own)), slow=slow)

    return tuple(replace(model, kernel=_of_numbers(model.kernel, periods, with_component)) for model in models)


def with_periodic_models(
    plain: Sequence[Model],
    box: Sequence[tuple[float, float]],
    half_range: float,
    periods: Periods,
    noise_sds: Sequence[float] = TUNING.noise_sds,
    rough: float = 0.0,
) -> tuple[Model, ...]:
    """Return ``plain`` and, with the same total weight, models with periodic components.

    There are models with small components, because models with large ones alone would judge a small component absent
    with unjustified certainty. Trends are as flexible as the curves of ``plain``: if a weekly component is found,
    models without it become improbable, and only the trend can then describe a variation over the year.

    Args:
        plain: models without periodic components.
        box, half_range, noise_sds: see ``model.curve_models``.
        periods: period of each input; () if none has one, and then ``plain`` is returned.
        rough: weight of the rough trend, see ``rough_share``. It is used for one numerical input without categories.

    Raises:
        ValueError: there are not as many periods as inputs, or one is too long for its side of the box.
    """
    if not periods:
        return tuple(plain)
    if len(periods) != len(box):
        raise ValueError(f"periods must have {len(box)} entries, one per input, got {len(periods)}")
    for d, period in periodic(periods):
        check_room(f"the period of input {d + 1}", period, box[d])
    with_components = with_noises(_periodic_kernels(box, half_range, periods, rough), half_range, noise_sds)
    whole = sum(model.weight for model in plain) / sum(model.weight for model in with_components)
    return (*with_phases(plain, periods), *(replace(model, weight=whole * model.weight) for model in with_components))


def _periodic_kernels(
    box: Sequence[tuple[float, float]], half_range: float, periods: Periods, rough: float
) -> list[tuple[Kernel, float]]:
    """Return kernels with periodic components, and their prior weights."""
    columns, one_side = level_columns(box), len(number_sides(box)) == 1
    trends = TUNING.trends if one_side else TUNING.trends_of_several
    if rough and one_side and not columns:
        trends += (TUNING.rough_trend._replace(weight=rough),)
    level = TUNING.level * TUNING.curve_variance * half_range**2
    periodic_kernels = [
        (
            Seasonal(
                trend=LevelAndCurve(level=level, curve=kernel_of(trend, box, half_range)),
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
        return [*periodic_kernels]
    groups = [partial(AcrossGroups, columns=columns, shared=rho) for rho in TUNING.shared]
    return [(group(inner=inner), weight) for group in groups for inner, weight in periodic_kernels]


def _of_numbers(kernel: Kernel, periods: Periods, change: Callable[[Kernel, Periods], Kernel]) -> Kernel:
    """Return the kernel with its part for numerical inputs replaced by ``change`` of this part and of their periods."""
    if isinstance(kernel, RougherGroup):
        alike, own = kernel.alike, _own(periods, kernel.alike.columns)
        return replace(kernel, alike=replace(alike, inner=change(alike.inner, own)), own=change(kernel.own, own))
    if isinstance(kernel, AcrossGroups):
        return replace(kernel, inner=change(kernel.inner, _own(periods, kernel.columns)))
    return change(kernel, periods)


def _own(periods: Periods, columns: Sequence[int]) -> Periods:
    """Return the periods of the numerical inputs."""
    return tuple(period for d, period in enumerate(periods) if d not in columns)


def _slow(box: Sequence[tuple[float, float]]) -> tuple[float, ...]:
    return tuple(TUNING.periodic_change * (high - low) for low, high in number_sides(box))
