"""Reading a released statistic with the model of clipping: what its intervals cut off is part of the prediction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import FloatArray
from ...data import Kind
from ...gp.clipping import clipped
from ...measurement.conditioning import Observation
from ...measurement.refit import Predict
from ...measurement.statistics import Stage, Statistics
from ..bias import Public
from ..spread import Distances, as_read
from .stages import Observed, Squares


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
    stages = []
    for stage in statistics.stages:
        low, high = _model_units(statistics, stage)
        squares = None
        if stage.squares is not None:
            of = stage.squares
            squares = Squares(of.g[None], of.measurement.high[None], of.measurement.noise_sd, of.z)
        m = stage.measurement
        stages.append(Observed(m.B, low[None], high[None], m.noise_sd, stage.z[None], squares))
    return tuple(stages)


def distances_of(statistics: Statistics) -> Distances | None:
    """The distances of one release as ``spread.read_spread`` takes them, if they were measured."""
    return None if statistics.distances is None else as_read(statistics.distances)


def draws_of(distances: Distances, some: slice) -> Distances:
    """Some of the draws."""
    above = None if distances.above is None else (distances.above[0], distances.above[1][some])
    return distances._replace(reach=distances.reach[some], sd=distances.sd[some], z=distances.z[some], above=above)


def beside(parts: Sequence[Distances | None]) -> Distances | None:
    """Distances of several releases of one strategy, side by side as draws."""
    measured = [part for part in parts if part is not None]
    if not measured:
        return None
    reach, sd, z = (np.concatenate([part[i] for part in measured]) for i in (1, 2, 4))
    counts = [part.above for part in measured if part.above is not None]
    above = (counts[0][0], np.concatenate([z for _, z in counts])) if counts else None
    return measured[0]._replace(reach=reach, sd=sd, z=z, above=above)


def public_of(statistics: Statistics) -> Public | None:
    """What a reading of the stages needs to know of bounds and box; None where they are read as all were before."""
    if statistics.reading == "normal outcomes":
        return None
    low, high = statistics.bounds
    kind: Kind = "yes/no" if statistics.reading == "yes/no" else "number"
    return Public(statistics.x_box, (high - low) / statistics.y_scale / 2, kind)


def part_of(stage: Observed, some: slice) -> Observed:
    """Some of the draws of a stage."""
    squares = stage.squares
    if squares is not None:
        squares = Squares(squares.g[some], squares.high[some], squares.s, squares.z[some])
    return stage._replace(low=stage.low[some], high=stage.high[some], z=stage.z[some], squares=squares)


def stacked(draws: Sequence[tuple[Observed, ...]]) -> tuple[Observed, ...]:
    """The same stages of several releases, side by side as draws."""
    return tuple(
        stages[0]._replace(
            low=np.concatenate([stage.low for stage in stages]),
            high=np.concatenate([stage.high for stage in stages]),
            z=np.concatenate([stage.z for stage in stages]),
            squares=_together([stage.squares for stage in stages]),
        )
        for stages in zip(*draws, strict=True)
    )


def _together(parts: Sequence[Squares | None]) -> Squares | None:
    measured = [part for part in parts if part is not None]
    if not measured:
        return None
    g, high, z = (np.concatenate([part[i] for part in measured]) for i in (0, 1, 3))
    return Squares(g, high, measured[0].s, z)


def _model_units(statistics: Statistics, stage: Stage) -> tuple[FloatArray, FloatArray]:
    m = stage.measurement
    return (m.low - statistics.midpoint) / statistics.y_scale, (m.high - statistics.midpoint) / statistics.y_scale
