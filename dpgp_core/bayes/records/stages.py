"""Measuring outputs in stages: each looks closely around the curve that the stages before it released.

A stage's strategy B is planned before any output is read; only its intervals, and how wide they are (``widths``), wait
for the noisy numbers of the stages before it. Whatever they are, one record moves B q,
q_j = (clip(y_j, I_j) - o_j) / u_j in [-1/2, 1/2], by at most |b_j| <= 1: stage i is (1 / s_i)-GDP, and all together are
exactly (1 / s)-GDP with sum 1 / s_i^2 = 1 / s^2 (adaptive composition: Dong, Roth & Su 2022, corollary 3.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...arrays import FloatArray
from ..plan import PlannedStage
from ..scatter import REACH, ROUNDS, SquaresSeen, expected, log_density, nothing_known, of_two_values, split
from .choosing import Known, least_risk_intervals
from .filter import State, mixture_weights, prior, update
from .places import Places


class Squares(NamedTuple):
    """The sum of min((y - g)^2, high) / high - 1/2 over all records, of D draws, as released.

    Attributes:
        g: public curve at the records (D, n), in model units.
        high: largest square that counts (D, n), in squared model units.
        s: standard deviation of the noise.
        z: noisy numbers (D,).
    """

    g: FloatArray
    high: FloatArray
    s: float
    z: FloatArray


class Observed(NamedTuple):
    """One stage of D draws, as released: all of it is public.

    Attributes:
        B: strategy (r, n).
        low, high: intervals that outputs were clipped to (D, n), in model units.
        noise_multiplier: s.
        z: noisy measurements (D, r).
        squares: of the same records, if they were measured.
    """

    B: FloatArray
    low: FloatArray
    high: FloatArray
    noise_multiplier: float
    z: FloatArray
    squares: Squares | None = None


class Outcome(NamedTuple):
    """All stages of D draws.

    Attributes:
        observed: what was released, stage after stage.
        states: posterior under each model (M).
        scatter: log density of the noise variance (D, S); None where stages are read as if outcomes were normal.
        weights: of the models, by prior weight and evidence (D, M).
    """

    observed: tuple[Observed, ...]
    states: tuple[State, ...]
    scatter: FloatArray | None
    weights: FloatArray


class Measure(Protocol):
    """The only part that reads outputs."""

    def __call__(self, stage: PlannedStage, low: FloatArray, high: FloatArray) -> FloatArray:
        """Noisy sums z (D, r) of outputs clipped to [low, high] (D, n), in model units."""
        ...

    def squares(self, s: float, g: FloatArray, high: FloatArray) -> Squares:
        """Noisy sums of squares about g (D, n), clipped to high (D, n)."""
        ...

    def distances(self, planned: Any, g: FloatArray, reach: FloatArray, sd: FloatArray) -> Any:
        """Noisy sums of distances to g (D, n), clipped to reach (D,); see ``spread``."""
        ...


def run_stages(
    planned: Sequence[PlannedStage],
    places: Sequence[Places],
    prior_weights: FloatArray,
    half_range: float,
    measure: Measure,
    *,
    draws: int = 1,
) -> Outcome:
    """Measure stage after stage, D independent draws side by side. Only ``measure`` sees the outputs.

    Args:
        planned: from ``plan_stages``, for the same records.
        places: each model at the records and at the test inputs.
        prior_weights: of the models (M,), sum 1.
        half_range: half the public range of the outputs, in model units.
        measure: measures one stage of all draws.
        draws: D.
    """
    now, observed = begin(places, prior_weights, draws), list[Observed]()
    for stage in planned:
        own, of_squares = split(stage.noise_multiplier, now.scatter is None or not observed)
        B, known = stage.strategy.B, Known(now.states, now.weights, now.scatter)
        low, high = least_risk_intervals(places, known, half_range, stage.widths, B, own)
        z = measure(replace(stage, noise_multiplier=own), low, high)
        seen = Observed(B, low, high, own, z)
        now = after(places, prior_weights, now, seen)
        if of_squares is not None:
            g, high = squares_about(places, now, half_range)
            seen = seen._replace(squares=measure.squares(of_squares, g, high))
            now = with_squares(places, prior_weights, now, seen.squares)
        observed.append(seen)
    return now._replace(observed=tuple(observed))


def posterior(observed: Sequence[Observed], places: Sequence[Places], prior_weights: FloatArray) -> Outcome:
    """What stages that were released say under any models, at any test inputs: spends nothing.

    Args:
        observed: all stages, in the order measured.
        places: each model at the same records and at any test inputs.
        prior_weights: of the models (M,), sum 1.
    """
    now = begin(places, prior_weights, len(observed[0].z))
    for stage in observed:
        now = with_squares(places, prior_weights, after(places, prior_weights, now, stage), stage.squares)
    return now._replace(observed=tuple(observed))


def begin(places: Sequence[Places], prior_weights: FloatArray, draws: int) -> Outcome:
    """What is known before anything is measured."""
    states = tuple(prior(place, draws) for place in places)
    scatter = np.tile(nothing_known(), (draws, 1)) if places[0].half_range else None
    return Outcome((), states, scatter, mixture_weights(states, prior_weights, places, scatter))


def after(places: Sequence[Places], prior_weights: FloatArray, now: Outcome, seen: Observed) -> Outcome:
    """What is known after the sums of one more stage."""
    noise = None if now.scatter is None else expected(now.scatter, places[0].half_range)
    sums = seen[:5]
    states = tuple(update(place, state, *sums, noise) for place, state in zip(places, now.states, strict=True))
    now = now._replace(states=states, weights=mixture_weights(states, prior_weights, places, now.scatter))
    return _two_valued(places, prior_weights, now) if places[0].two_valued else now


def _two_valued(places: Sequence[Places], prior_weights: FloatArray, now: Outcome) -> Outcome:
    """What the curve says of the scatter about it, and that of the models, until both agree."""
    n, half_range = places[0].n, places[0].half_range
    noise = np.array([place.noise_variance for place in places])
    square = np.stack(
        [(s.mean[:, :n] ** 2 + s.variance[:, :n]).mean(axis=1) - v for s, v in zip(now.states, noise, strict=True)]
    )
    for _ in range(ROUNDS):
        scatter = of_two_values(half_range, np.einsum("dm,md->d", now.weights, square))
        weights = mixture_weights(now.states, prior_weights, places, scatter)
        now = now._replace(scatter=scatter, weights=weights)
    return now


def curve_at_records(places: Sequence[Places], now: Outcome, half_range: float) -> FloatArray:
    """The expected curve (D, n), within the range."""
    n = places[0].n
    g = np.einsum("dm,dmj->dj", now.weights, np.stack([state.mean[:, :n] for state in now.states], axis=1))
    clipped: FloatArray = np.clip(g, -half_range, half_range)
    return clipped


def squares_about(places: Sequence[Places], now: Outcome, half_range: float) -> tuple[FloatArray, FloatArray]:
    """The expected curve at the records, and the squares that count about it, (D, n) each."""
    g = curve_at_records(places, now, half_range)
    return g, np.minimum(REACH**2 * mean_square(now, g), (2 * half_range) ** 2)


def with_squares(places: Sequence[Places], prior_weights: FloatArray, now: Outcome, seen: Squares | None) -> Outcome:
    """What is known once the squares of a stage are too; the same if there are none."""
    if seen is None or now.scatter is None:
        return now
    noise = now.weights @ [place.noise_variance for place in places]
    about = np.maximum(mean_square(now, seen.g) - noise[:, None], 0.0)
    ones, half_range = np.ones(places[0].n), places[0].half_range
    widened = [
        log_density(half_range, SquaresSeen(each, reach, ones, seen.s, float(z)))
        for each, reach, z in zip(about, np.sqrt(seen.high), seen.z, strict=True)
    ]
    scatter = now.scatter + np.stack(widened)
    return now._replace(scatter=scatter, weights=mixture_weights(now.states, prior_weights, places, scatter))


def mean_square(now: Outcome, g: FloatArray) -> FloatArray:
    """E (y - g)^2 (D, n), over the models."""
    n = g.shape[1]
    each = (state.variance[:, :n] + (state.mean[:, :n] - g) ** 2 for state in now.states)
    total: FloatArray = sum((w[:, None] * square for w, square in zip(now.weights.T, each, strict=True)), np.zeros(1))
    return total
