"""Which interval every record is clipped to next: about the predicted curve, of the width of least expected risk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...arrays import FloatArray
from ..scatter import expected
from ..widths import DRAWN_TIED, NARROWEST
from .filter import State, update
from .places import Places


class Known(NamedTuple):
    """What was released of D draws says so far.

    Attributes:
        states: posterior under each model (M).
        weights: of the models (D, M).
        scatter: log density of the noise variance (D, S); None where clipping is taken to have no bias.
    """

    states: Sequence[State]
    weights: FloatArray
    scatter: FloatArray | None


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


def least_risk_intervals(
    places: Sequence[Places], known: Known, half_range: float, widths: Sequence[float], B: FloatArray, s: float
) -> tuple[FloatArray, FloatArray]:
    """Intervals (D, n) each, of the half-width by which f at the test inputs will be known best; of each draw its own.

    Args:
        places: each model at the records and at the test inputs.
        known: of all draws.
        half_range: half the public range, in model units.
        widths: half-widths over the predictive standard deviation.
        B: what will be measured (r, n).
        s: noise multiplier.
    """
    n = places[0].n
    tried = [next_intervals(known.states, known.weights, n, half_range, width) for width in widths]
    if len(tried) == 1:
        return tried[0]
    left = np.array([_variance_left(places, known, B, low, high, s) for low, high in tried])
    least = left.min(axis=0)
    good = left <= least + DRAWN_TIED * (_variance(places, known) - least)
    chosen = len(widths) - 1 - np.argmax(good[::-1], axis=0)  # the widest of them
    low, high = (np.choose(chosen[:, None], list(ends)) for ends in zip(*tried, strict=True))
    return low, high


def _variance(places: Sequence[Places], known: Known) -> FloatArray:
    """Variance of f, summed over the test inputs, under each draw's likeliest model (D,)."""
    each = enumerate(known.weights.argmax(axis=1))
    return np.array([known.states[m].variance[d, places[m].tests].sum() for d, m in each])


def _variance_left(
    places: Sequence[Places], known: Known, B: FloatArray, low: FloatArray, high: FloatArray, s: float
) -> FloatArray:
    """The same after a stage."""
    assert known.scatter is not None
    likeliest, noise = known.weights.argmax(axis=1), expected(known.scatter, places[0].half_range)
    left = np.empty(len(likeliest))
    for m in np.unique(likeliest):
        d = np.flatnonzero(likeliest == m)
        state = State(*(part[d] for part in known.states[m]))
        z = np.zeros((len(d), len(B)))  # what is left does not depend on it
        left[d] = update(places[m], state, B, low[d], high[d], s, z, noise[d]).variance[:, places[m].tests].sum(axis=1)
    return left
