"""Measuring outputs in stages: each looks closely around the curve that the stages before it released.

A stage's strategy B is planned before any output is read; only its intervals wait for the noisy numbers of the stages
before it. Whatever they are, one record moves B q, q_j = (clip(y_j, I_j) - o_j) / u_j in [-1/2, 1/2], by at most
|b_j| <= 1: stage i is (1 / s_i)-GDP, and all together are exactly (1 / s)-GDP with sum 1 / s_i^2 = 1 / s^2
(adaptive composition: Dong, Roth & Su 2022, corollary 3.3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import FloatArray
from ..strategies.strategy import Strategy
from .filter import State, mixture_weights, prior, update
from .models import Places

NARROWEST = 1e-3  # of the public range: no interval is narrower
CLIP = 0.75  # half-width of an interval over the predictive standard deviation


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedStage:
    """What one stage measures, and with how much noise. Public.

    Attributes:
        strategy: B (r, n) with its risk, bound and gap.
        noise_multiplier: s of the stage.
    """

    strategy: Strategy
    noise_multiplier: float


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


class Observed(NamedTuple):
    """One stage of D draws, as released: all of it is public.

    Attributes:
        B: strategy (r, n).
        low, high: intervals that outputs were clipped to (D, n), in model units.
        noise_multiplier: s.
        z: noisy measurements (D, r).
    """

    B: FloatArray
    low: FloatArray
    high: FloatArray
    noise_multiplier: float
    z: FloatArray


class Outcome(NamedTuple):
    """All stages of D draws.

    Attributes:
        observed: what was released, stage after stage.
        states: posterior under each model (M).
        weights: of the models, by prior weight and evidence (D, M).
    """

    observed: tuple[Observed, ...]
    states: tuple[State, ...]
    weights: FloatArray


Measure = Callable[[PlannedStage, FloatArray, FloatArray], FloatArray]
"""(stage, low (D, n), high (D, n) in model units) -> z (D, r)."""


def run_stages(
    planned: Sequence[PlannedStage],
    places: Sequence[Places],
    prior_weights: FloatArray,
    half_range: float,
    measure: Measure,
    *,
    draws: int = 1,
    clip: float = CLIP,
) -> Outcome:
    """Measure stage after stage, D independent draws side by side. Only ``measure`` sees the outputs.

    Args:
        planned: from ``plan_stages``, for the same records.
        places: each model at the records and at the test inputs.
        prior_weights: of the models (M,), sum 1.
        half_range: half the public range of the outputs, in model units.
        measure: measures one stage of all draws.
        draws: D.
        clip: as planned.
    """
    states, (low, high) = start(places, half_range, draws)
    observed: list[Observed] = []
    for stage in planned:
        if observed:
            low, high = next_intervals(states, mixture_weights(states, prior_weights), places[0].n, half_range, clip)
        z = measure(stage, low, high)
        observed.append(Observed(stage.strategy.B, low, high, stage.noise_multiplier, z))
        states = after(places, states, observed[-1])
    return Outcome(tuple(observed), states, mixture_weights(states, prior_weights))


def posterior(observed: Sequence[Observed], places: Sequence[Places], prior_weights: FloatArray) -> Outcome:
    """What stages that were released say under any models, at any test inputs: spends nothing.

    Args:
        observed: all stages, in the order measured.
        places: each model at the same records and at any test inputs.
        prior_weights: of the models (M,), sum 1.
    """
    states = tuple(prior(place, len(observed[0].z)) for place in places)
    for stage in observed:
        states = after(places, states, stage)
    return Outcome(tuple(observed), states, mixture_weights(states, prior_weights))


def next_intervals(
    states: Sequence[State], weights: FloatArray, n: int, half_range: float, clip: float
) -> tuple[FloatArray, FloatArray]:
    """Cut g +- c to the public range, (D, n) each: g the predictive mean, c = clip sqrt(E (y - g)^2).

    Never narrower than ``NARROWEST`` of the range, which also keeps an interval where all of g +- c lies outside it.

    Args:
        states: of each model (M).
        weights: of the models (D, M).
        n: number of records.
        half_range: half the public range, in model units.
        clip: half-width over the predictive standard deviation.
    """
    means = np.stack([state.mean[:, :n] for state in states], axis=1)
    variances = np.stack([state.variance[:, :n] for state in states], axis=1)
    g = np.einsum("dm,dmj->dj", weights, means)
    square = np.einsum("dm,dmj->dj", weights, variances + (means - g[:, None]) ** 2)
    half_width = np.maximum(clip * np.sqrt(square), NARROWEST * half_range)
    least = 2 * NARROWEST * half_range
    low = np.clip(g - half_width, -half_range, half_range - least)
    high = np.clip(g + half_width, low + least, half_range)
    return low, np.maximum(high, low + least)


def start(
    places: Sequence[Places], half_range: float, draws: int
) -> tuple[tuple[State, ...], tuple[FloatArray, FloatArray]]:
    """States before anything is measured, and the whole range as every record's interval (draws, n)."""
    whole = np.full((draws, places[0].n), half_range)
    return tuple(prior(place, draws) for place in places), (-whole, whole)


def after(places: Sequence[Places], states: Sequence[State], observed: Observed) -> tuple[State, ...]:
    """States of all models after one more stage."""
    return tuple(update(place, state, *observed) for place, state in zip(places, states, strict=True))
