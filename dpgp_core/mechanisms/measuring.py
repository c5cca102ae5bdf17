"""One stage of a Gaussian release: where it measures, how for real, and how for teaching and simulation."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..arrays import FloatArray
from ..data import Dataset
from ..measurement.integers import exact_sums
from ..measurement.measurement import STEPS
from ..measurement.noise import GaussianNoise
from .base import Plan


class Place(NamedTuple):
    """Where a stage measures: intervals in the output's unit, one row for all draws or one for each.

    Attributes:
        low, high: (k, n), k = 1 or draws.
        widest: u (k, 1), the largest width; columns of the strategy shrink by width / u.
        known: the part of the curve that no noise is needed for (k, P), about the midpoint.
    """

    low: FloatArray
    high: FloatArray
    widest: FloatArray
    known: FloatArray


Measure = Callable[[Plan, float, Place], FloatArray]
"""z (draws, r) of a stage with noise multiplier s."""


class Measured(NamedTuple):
    """One stage: its plan, noise multiplier, place and outcome z (draws, r)."""

    plan: Plan
    noise_multiplier: float
    place: Place
    z: FloatArray

    def curve(self, z: FloatArray) -> FloatArray:
        """Known + u L z (draws, rows), about the midpoint."""
        return np.asarray(self.place.known + self.place.widest * (z @ self.plan.factor.T))


def exact(dataset: Dataset, draws: int) -> Measure:
    """Measure for real: exact integers, discrete noise from the operating system, fresh at every call."""

    def measure(stage: Plan, s: float, place: Place) -> FloatArray:
        noise = GaussianNoise(sensitivity=STEPS, noise_multiplier=s)
        sums = [
            exact_sums(stage.strategy, (high - low) / widest, dataset.clipped_y, low, high)
            for low, high, widest in zip(place.low, place.high, place.widest, strict=True)
        ]
        added = (noise.draw(len(sums[0])) for _ in range(draws))
        each = sums * draws if len(sums) == 1 else sums
        # the quotient of two whole numbers, correctly rounded: post-processing of their sum
        return np.array(
            [[(x + e) / STEPS for x, e in zip(*pair, strict=True)] for pair in zip(each, added, strict=True)]
        )

    return measure


def numbered(y: FloatArray, rng: np.random.Generator, draws: int) -> Measure:
    """The same in floats, for teaching and for outputs that are made up.

    Args:
        y: outputs (1, n), or (draws, n) for others in every draw.
        rng: source of the noise.
        draws: how many.
    """

    def measure(stage: Plan, s: float, place: Place) -> FloatArray:
        noise = GaussianNoise(sensitivity=STEPS, noise_multiplier=s)
        return noiseless(stage, place, y) + noise.teaching(rng, (draws, len(stage.strategy))) / STEPS

    return measure


def noiseless(stage: Plan, place: Place, y: FloatArray) -> FloatArray:
    """B diag(width / u) q (k, r), what the noise is added to, of outputs y (1 or k, n). Not private."""
    q = (np.clip(y, place.low, place.high) - (place.low / 2 + place.high / 2)) / place.widest
    return np.asarray((stage.strategy @ q.T).T)
