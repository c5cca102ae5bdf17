"""How wide a stage over public cells clips: as wide as promises least risk, from what was released before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import repeat
from typing import NamedTuple

import numpy as np

from ...arrays import FloatArray
from ..widths import NARROWEST, TIED, WIDTHS, widest
from .filter import Outlook, outlook
from .known import CellSetting, Ends, Posterior, curve, linearised, mean_square
from .planning import Seen, likeliest, rough_strategy


class Chosen(NamedTuple):
    """Half-width and intervals of a stage, the strategy (r, M) they were compared by, and each model's outlook."""

    width: float
    ends: Ends
    begin: FloatArray | None = None
    known: Sequence[Outlook] | None = None


def chosen(setting: CellSetting, now: Posterior, s: float, first: bool) -> Chosen:
    """Intervals of least expected risk among ``WIDTHS``.

    All of it follows from what was released. The first stage takes the whole range.
    """
    if first:
        return Chosen(math.inf, intervals(setting, now, math.inf))
    few = likeliest(setting.models, now.weights)
    indices = [index for index, _ in few]
    less = replace(setting, models=tuple(setting.models[i] for i in indices))
    weights = np.array([share for _, share in few])
    state = now._replace(states=tuple(now.states[i] for i in indices), weights=weights / weights.sum())
    g, tried = curve(setting, now), []
    square = mean_square(setting, now, g)
    known = [outlook(*each, g) for each in zip(setting.models, repeat(setting.grid), now.states, strict=False)]
    for times in WIDTHS:
        width = setting.clip * times
        ends = _cut(setting, g, square, width)
        linear = linearised(less, state, ends, [known[i] for i in indices])
        strategy = rough_strategy(Seen(less.models, state.states, weights, linear, now.counts.numbers), s)
        tried.append((strategy.risk, Chosen(width, ends, strategy.B, known)))
    risks = [risk for risk, _ in tried]
    return tried[widest(risks, TIED * min(risks))][1]


def intervals(setting: CellSetting, now: Posterior, clip: float) -> Ends:
    """Interval [low, high] of each cell's residuals about g, and g, the expected curve, at the nodes.

    +-c, c = clip sqrt(E (y - g)^2), cut to where outputs can lie; before anything is measured g is 0.
    """
    g = curve(setting, now)
    return _cut(setting, g, mean_square(setting, now, g), clip)


def _cut(setting: CellSetting, g: FloatArray, square: FloatArray, clip: float) -> Ends:
    h = setting.half_range
    c = np.maximum(clip * np.sqrt(square), 2 * NARROWEST * h)
    least, most = setting.grid.extremes(g)
    return np.maximum(-c, -h - most), np.minimum(c, h - least), g
