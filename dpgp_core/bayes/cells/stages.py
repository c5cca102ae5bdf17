"""Measuring residuals over public cells in stages, where inputs are private as well as outputs.

Stage 0 releases counts z_0 = B_0 N + s_0 Delta w, Delta the largest distance of two columns of B_0; every later stage
residual sums z = B x + s_i w, which one record moves by at most (|b_a| + |b_b|) / 2 <= 1, see ``measurement``.
Strategies, intervals and g of a stage are functions of what earlier stages released: stage i is (1 / s_i)-GDP, and all
together are exactly (1 / s)-GDP with sum 1 / s_i^2 = 1 / s^2 (adaptive composition: Dong, Roth & Su 2022, corollary
3.3). Neighbours replace one record, input and output. Only a ``Reader`` sees records.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from ...arrays import FloatArray
from ...measurement.measurement import CellCounts, Measurement
from ...measurement.statistics import MeasuredDistances
from ..plan import stage_multipliers
from ..scatter import REACH, split
from .choosing import chosen, intervals
from .counts import Counts
from .filter import CellObserved, Squares
from .known import CellSetting, Posterior, after, linearised, mean_square, start, with_squares
from .planning import Seen, plan_stage

COUNTS_SHARE = 0.15  # of mu^2


class Reader(Protocol):
    """The only part that reads records."""

    def counts(self, measurement: CellCounts) -> FloatArray:
        """Measure z_0 (r,)."""
        ...

    def residuals(self, measurement: Measurement, g: FloatArray) -> FloatArray:
        """Measure z (r,) of residuals, in model units, about g, given at the grid's nodes (F,)."""
        ...

    def squares(self, measurement: Measurement, g: FloatArray) -> float:
        """Measure the one number z of squared residuals about g."""
        ...

    def distances(
        self, measurement: Measurement, g: FloatArray, sd: float, count: Measurement | None
    ) -> MeasuredDistances:
        """Measure z (r,) of distances to g, and by ``count`` how many outcomes lie above it."""
        ...


class CellReleased(NamedTuple):
    """All that was released of one draw: counts, measured or public, residual sums, and distances."""

    counts: CellCounts | Counts
    z: FloatArray
    stages: tuple[CellObserved, ...]
    distances: MeasuredDistances | None = None


def cell_multipliers(noise_multiplier: float, stages: int) -> tuple[float, tuple[float, ...]]:
    """s_0 of the counts, with ``COUNTS_SHARE`` of 1/s^2, and s_i of the stages, which double."""
    left = stage_multipliers(noise_multiplier / math.sqrt(1 - COUNTS_SHARE), stages)
    return noise_multiplier / math.sqrt(COUNTS_SHARE), left


def run_cells(
    setting: CellSetting,
    counts: CellCounts | Counts,
    multipliers: Sequence[float],
    reader: Reader,
    strategies: Sequence[tuple[FloatArray, float]] | None = None,
) -> tuple[CellReleased, Posterior]:
    """Measure counts, then stage after stage, each planned from what was released before.

    Args:
        setting: models, cells and range.
        counts: stage 0, planned in advance; or the counts themselves, where inputs are public and nothing is measured.
        multipliers: s_i of the residual stages.
        reader: measures.
        strategies: B (r, M) of each residual stage and the half-width of its intervals over the predictive standard
            deviation, public, instead of planning them.
    """
    z = reader.counts(counts) if isinstance(counts, CellCounts) else np.zeros(0)
    seen, now = list[CellObserved](), start(setting, counts, z)
    for stage, s in enumerate(multipliers):
        own, of_squares = split(s, not setting.biased or not seen)
        if strategies is None:
            width, ends, begin, known = chosen(setting, now, own, first=not seen)
        else:
            width, known = strategies[stage][1], None
            ends = intervals(setting, now, width)
        linear = linearised(setting, now, ends, known)
        if strategies is None:
            so_far = Seen(setting.models, now.states, now.weights, linear, now.counts.numbers)
            B = plan_stage(so_far, own, setting.gap, begin).B
        else:
            B = strategies[stage][0]
        low, high, g = ends
        limits = (-2 * setting.half_range, 2 * setting.half_range)
        measurement = Measurement(B=B, low=low, high=high, bounds=limits, noise_multiplier=own)
        released = reader.residuals(measurement, g)
        observed = CellObserved(measurement.B, low, high, g, measurement.noise_sd, released, width=width)
        now = after(setting, now, linear, observed)
        if of_squares is not None:
            squares = squares_of(setting, now, g, of_squares)
            observed = observed._replace(squares=Squares(squares.high, squares.noise_sd, reader.squares(squares, g)))
            now = with_squares(setting, now, observed)
        seen.append(observed)
    return CellReleased(counts, z, tuple(seen)), now


def cell_posterior(setting: CellSetting, released: CellReleased) -> Posterior:
    """What was released says this under any models: spends nothing."""
    now = start(setting, released.counts, released.z)
    for stage in released.stages:
        now = after(setting, now, linearised(setting, now, (stage.low, stage.high, stage.g)), stage)
        if stage.squares is not None:
            now = with_squares(setting, now, stage)
    return now


def squares_of(setting: CellSetting, now: Posterior, g: FloatArray, s: float) -> Measurement:
    """The measurement of the squares about g, A three predicted standard deviations: one number."""
    limit = (2 * setting.half_range) ** 2
    high = np.minimum(REACH**2 * mean_square(setting, now, g), limit)
    ones = np.ones((1, setting.grid.size))
    return Measurement(B=ones, low=0 * high, high=high, bounds=(0.0, limit), noise_multiplier=s)
