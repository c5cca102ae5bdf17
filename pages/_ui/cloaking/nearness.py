"""How near a published value is to the one without privacy, at one input and for a tolerance that a visitor sets."""

from __future__ import annotations

import numpy as np
import streamlit as st
from scipy.special import ndtr, ndtri

from pages._ui.cloaking import computed
from pages._ui.cloaking.results import LEVEL, Result
from pages._ui.look import settings, text
from pages._ui.look.controls import HERE, Range

_STEPS = 20  # tolerances that the slider offers
_TWO_SIDED = float(ndtri((1 + LEVEL) / 2))


def probability_within(result: Result, x: float, tolerance: float) -> float:
    """From the interval of the privacy noise; of a release in stages, from that of the curve, with the noise."""
    scene, intervals = result.outcome.scene, result.intervals
    grid = slice(scene.records, None)
    half = intervals.curve.half if intervals.noise is None else intervals.noise
    sd = float(np.interp(x, scene.X_test[grid, 0], half[grid])) / _TWO_SIDED
    return float(2 * ndtr(tolerance / sd) - 1) if sd > 0 else 1.0


def width_ratio(result: Result, x: float) -> float:
    """Width of the range for one more person over its width without privacy. Not private."""
    widths = []
    for chart in (computed.growth_of(result), computed.growth_without_privacy(result.model.dataset)):
        lines = chart.lines
        low, high = lines[min(lines)], lines[max(lines)]
        widths.append(float(np.interp(x, chart.x, high - low)))
    return widths[0] / widths[1]


def sentence(result: Result, x: float, tolerance: float, overlay: bool) -> str:
    """Both answers; that about the range without privacy only under the overlay."""
    data = result.dataset
    of = "value without privacy" if result.intervals.noise is not None else "curve, which nobody knows exactly"
    chance = min(99.9, 100 * probability_within(result, x, tolerance))
    near = (
        f"At {text.number(x, 3)} {data.x_units[0]} the published {data.y_name} is within {text.number(tolerance)} "
        f"{data.y_unit} of the {of}, with a chance of **{text.number(chance)} in 100**."
    )
    if not overlay:
        return near
    ratio = text.number(width_ratio(result, x))
    return f"{near} Its range, 3rd to 97th centile, is **{ratio} times** as wide as without privacy."


def show(result: Result, x: float, overlay: bool) -> None:
    """A slider for the tolerance, and the answers."""
    data = result.dataset
    most = text.round_step(data.output_range / 4)
    slider = Range(
        f"within_{data.name}",
        f"How near must it be? [{data.y_unit}]",
        most / 4,
        most / _STEPS,
        most,
        most / _STEPS,
        format="%.3g",
        width=320,
        place=HERE,
    )
    st.markdown(sentence(result, x, settings.stand(slider), overlay))
