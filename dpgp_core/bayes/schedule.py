"""How a budget is split over stages, and what each of them measures, as far as that is planned in advance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import FloatArray
from ..measurement.integers import GRID, strategy_integers
from ..strategies.strategy import Strategy

COUNTS_SHARE = 0.15  # of mu^2, where inputs are private
_LARGEST_PART = 8  # share of 1/s^2 of a stage over that of the first


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedStage:
    """What one stage measures, and with how much noise. Public.

    Attributes:
        strategy: B (r, n) with its risk, bound and gap; None where it is planned from what stages before released.
        noise_multiplier: s of the stage, its squares included.
        width: half-width of intervals over the predictive standard deviation that it was planned for; infinite for the
            whole range.
        widths: those that are chosen among when it is measured; () where the strategy waits for them.
    """

    strategy: Strategy | None
    noise_multiplier: float
    width: float = math.inf
    widths: tuple[float, ...] = ()

    @property
    def planned(self) -> Strategy:
        """The strategy, where there is one in advance."""
        assert self.strategy is not None
        return self.strategy


def stage_multipliers(noise_multiplier: float, stages: int) -> tuple[float, ...]:
    """s_i = s / sqrt(share_i), shares of 1/s^2 proportional to 1, 2, 4, 8, 8, ...: early stages only find the place."""
    parts = [min(2**i, _LARGEST_PART) for i in range(stages)]
    return tuple(noise_multiplier * math.sqrt(sum(parts) / part) for part in parts)


def counts_apart(noise_multiplier: float) -> tuple[float, float]:
    """s_0 of the counts of records in cells, with ``COUNTS_SHARE`` of 1/s^2, and s of all stages together."""
    return noise_multiplier / math.sqrt(COUNTS_SHARE), noise_multiplier / math.sqrt(1 - COUNTS_SHARE)


def rescaled(planned: Sequence[PlannedStage], noise_multiplier: float) -> tuple[PlannedStage, ...]:
    """The same strategies at another budget: valid at any, if no longer the best."""
    multipliers = stage_multipliers(noise_multiplier, len(planned))
    return tuple(replace(stage, noise_multiplier=s) for stage, s in zip(planned, multipliers, strict=True))


def again(stage: PlannedStage, B: FloatArray, width: float | None) -> PlannedStage:
    """The stage with the strategy (r, M) and width that another draw took."""
    given = Strategy(B=B, risk=math.nan, bound=math.nan, gap=math.nan, iterations=0)
    return replace(stage, strategy=given, width=math.inf if width is None else width)


def on_the_grid(strategy: Strategy) -> Strategy:
    """The strategy with B as it will be measured: multiples of 2^-20 whose columns are checked in integers."""
    return replace(strategy, B=strategy_integers(strategy.B) / GRID)


def each_column(columns: int) -> Strategy:
    """Every column by itself, B = I: valid always, and taken where numbers that were released make the best one fail.

    Stages are planned after the budget was charged, and whether that fails may depend on private values.
    """
    return Strategy(B=np.eye(columns), risk=math.inf, bound=0.0, gap=math.inf, iterations=0)
