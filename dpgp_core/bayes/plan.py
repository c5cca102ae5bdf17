"""What is planned before any output is read: how the budget is split over stages, and what each of them measures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..measurement.integers import GRID, strategy_integers
from ..strategies.strategy import Strategy

_LARGEST_PART = 8  # share of 1/s^2 of a stage over that of the first


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedStage:
    """What one stage measures, and with how much noise. Public.

    Attributes:
        strategy: B (r, n) with its risk, bound and gap.
        noise_multiplier: s of the stage, its squares included.
        width: half-width of intervals over the predictive standard deviation that it was planned for; infinite for the
            whole range.
        widths: those that are chosen among when it is measured.
    """

    strategy: Strategy
    noise_multiplier: float
    width: float
    widths: tuple[float, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedStages:
    """All stages, planned before any output is read. Public.

    Attributes:
        stages: strategy and noise multiplier of each stage.
    """

    stages: tuple[PlannedStage, ...]

    @property
    def gap(self) -> float:
        """Largest certified gap of any stage's strategy, as a share of what privacy costs it."""
        return max(stage.strategy.gap for stage in self.stages)

    @property
    def avoidable(self) -> float:
        """Largest certified share of any stage's whole expected squared error that a better strategy might avoid."""
        return max(stage.strategy.avoidable for stage in self.stages)


def stage_multipliers(noise_multiplier: float, stages: int) -> tuple[float, ...]:
    """s_i = s / sqrt(share_i), shares of 1/s^2 proportional to 1, 2, 4, 8, 8, ...: early stages only find the place."""
    parts = [min(2**i, _LARGEST_PART) for i in range(stages)]
    return tuple(noise_multiplier * math.sqrt(sum(parts) / part) for part in parts)


def rescaled(planned: Sequence[PlannedStage], noise_multiplier: float) -> tuple[PlannedStage, ...]:
    """The same strategies at another budget: valid at any, if no longer the best."""
    multipliers = stage_multipliers(noise_multiplier, len(planned))
    return tuple(replace(stage, noise_multiplier=s) for stage, s in zip(planned, multipliers, strict=True))


def on_the_grid(strategy: Strategy) -> Strategy:
    """The strategy with B as it will be measured: multiples of 2^-20 whose columns are checked in integers."""
    return replace(strategy, B=strategy_integers(strategy.B) / GRID)
