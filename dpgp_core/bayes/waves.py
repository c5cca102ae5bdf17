"""Models of what comes again: every input that has a period may have a wave, beside the trends of the plain models.

Half of the weight stays with models without a wave; evidence says which it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..kernels import EQ
from ..levels import level_columns
from ..seasons import Periods, Seasonal, check_room, periodic
from .models import AUTO_NOISE_SDS, AUTO_VARIANCE, Model

TRENDS = (1 / 8, 1 / 2)  # lengthscales of the trend beside a wave, of each side of the box
SMOOTH = (0.5, 1.0)  # lengthscales of waves on their circle
SLOW = 1.0  # of each side of the box: a wave may change over it
SHARE = 0.5  # of the prior variance of a curve that its waves have


def on_dates(models: Sequence[Model], periods: Periods) -> tuple[Model, ...]:
    """The same models of inputs whose phases may stand behind them; unchanged where no input has a period."""
    if not periods:
        return tuple(models)
    return tuple(
        model
        if isinstance(model.kernel, Seasonal)
        else replace(model, kernel=Seasonal(trend=model.kernel, periods=periods))
        for model in models
    )


def waving(models: Sequence[Model], box: Sequence[tuple[float, float]], periods: Periods) -> tuple[Model, ...]:
    """The same models with a wave beside each, which has as much of the variance; unchanged where there is no period.

    Args:
        models: without waves.
        box: D public (low, high) pairs.
        periods: of each input; () where none has one.
    """
    if not periods:
        return tuple(models)
    slow = tuple(SLOW * (high - low) for low, high in box)
    return tuple(
        replace(
            model,
            kernel=Seasonal(
                trend=model.kernel, periods=periods, wave=model.kernel.variance / len(periodic(periods)), slow=slow
            ),
        )
        for model in models
    )


def with_waves(
    plain: Sequence[Model],
    box: Sequence[tuple[float, float]],
    half_range: float,
    periods: Periods,
    noise_sds: Sequence[float] = AUTO_NOISE_SDS,
) -> tuple[Model, ...]:
    """``plain`` and, of as much weight, models with waves: two trends times two kinds of wave times the noises.

    Args:
        plain: models without waves.
        box: D public (low, high) pairs.
        half_range: half the public range of the output, in model units.
        periods: of each input; () where none has one, and then there is nothing but ``plain``.
        noise_sds: standard deviations of the noises, over half_range.

    Raises:
        ValueError: there are not as many periods as sides.
    """
    if not periods:
        return tuple(plain)
    if level_columns(box):
        raise ValueError("a period beside an input with levels is not offered; leave periods or the levels out")
    if len(periods) != len(box):
        raise ValueError(f"periods must have {len(box)} entries, one per input, got {len(periods)}")
    for d, period in periodic(periods):
        check_room(f"the period of input {d + 1}", period, box[d])
    sides, variance = [high - low for low, high in box], AUTO_VARIANCE * half_range**2
    kernels = [
        Seasonal(
            trend=EQ(variance=(1 - SHARE) * variance, lengthscale=[trend * side for side in sides]),
            periods=periods,
            wave=SHARE * variance / len(periodic(periods)),
            slow=tuple(SLOW * side for side in sides),
            smooth=smooth,
        )
        for trend in TRENDS
        for smooth in SMOOTH
    ]
    weight = sum(model.weight for model in plain) / (len(kernels) * len(noise_sds))
    waves = (
        Model(kernel=kernel, noise_variance=(noise * half_range) ** 2, weight=weight)
        for kernel in kernels
        for noise in noise_sds
    )
    return (*on_dates(plain, periods), *waves)
