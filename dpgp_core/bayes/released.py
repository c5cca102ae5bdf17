"""Reading a released statistic with the model of clipping: what its intervals cut off is part of the prediction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import FloatArray
from ..gp.clipping import clipped
from ..measurement.conditioning import Observation
from ..measurement.refit import Predict
from ..measurement.statistics import Stage, Statistics
from .stages import Observed


def clipped_observation(statistics: Statistics, stage: Stage, predict: Predict) -> Observation:
    """A stage as a linear observation of outputs that were clipped to its intervals; for ``refit(observe=...)``.

    With k, alpha, extra of y ~ N(m, v), the prediction from earlier stages: A = B diag(alpha / u),
    Z = z - B ((k - alpha m - o) / u), N = B diag(extra / u^2) B^T + s^2 I.

    Args:
        statistics: all that was released.
        stage: one of its stages.
        predict: m and v at its records, in model units.
    """
    B, s = stage.measurement.B, stage.measurement.noise_sd
    low, high = _model_units(statistics, stage)
    (mean, variance), width = predict(), high - low
    k, gain, extra = clipped(mean, variance, low, high)
    scaled = B * (np.sqrt(extra) / width)
    return Observation(
        A=B * (gain / width),
        Z=stage.z - B @ ((k - gain * mean - (low + high) / 2) / width),
        N=scaled @ scaled.T + s**2 * np.eye(len(B)),
    )


def observed_of(statistics: Statistics) -> tuple[Observed, ...]:
    """The stages of one release in model units, as ``stages.posterior`` takes them."""
    found = []
    for stage in statistics.stages:
        low, high = _model_units(statistics, stage)
        found.append(Observed(stage.measurement.B, low[None], high[None], stage.measurement.noise_sd, stage.z[None]))
    return tuple(found)


def stacked(draws: Sequence[tuple[Observed, ...]]) -> tuple[Observed, ...]:
    """The same stages of several releases, side by side as draws."""
    return tuple(
        stages[0]._replace(
            low=np.concatenate([stage.low for stage in stages]),
            high=np.concatenate([stage.high for stage in stages]),
            z=np.concatenate([stage.z for stage in stages]),
        )
        for stages in zip(*draws, strict=True)
    )


def _model_units(statistics: Statistics, stage: Stage) -> tuple[FloatArray, FloatArray]:
    m = stage.measurement
    return (m.low - statistics.midpoint) / statistics.y_scale, (m.high - statistics.midpoint) / statistics.y_scale
