"""How near a published value is to the one without privacy, at one place and for a tolerance that a visitor sets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import streamlit as st
from scipy.special import ndtr, ndtri

from pages._ui.cloaking import computed
from pages._ui.cloaking.results import LEVEL, Result
from pages._ui.look import settings, text
from pages._ui.look.controls import HERE, Range

_STEPS = 20  # tolerances that the slider offers
_TWO_SIDED = float(ndtri((1 + LEVEL) / 2))


class Nearness(NamedTuple):
    """At one place.

    Attributes:
        probability: that the published value is within the tolerance.
        wider: how many times as wide the range for one more person is as without privacy; None where that is hidden.
    """

    probability: float
    wider: float | None


def nearness(result: Result, x: float, tolerance: float, overlay: bool) -> Nearness:
    """From the interval of the privacy noise; of a release in stages, from that of the curve, which counts the noise.

    Args:
        result: a release along one input.
        x: where.
        tolerance: in the output's unit.
        overlay: whether true data may be used, for the range without privacy.
    """
    scene, intervals = result.outcome.scene, result.intervals
    grid = slice(scene.records, None)
    places = scene.X_test[grid, 0]
    half = intervals.curve.half if intervals.noise is None else intervals.noise
    sd = float(np.interp(x, places, half[grid])) / _TWO_SIDED
    probability = float(2 * ndtr(tolerance / sd) - 1) if sd > 0 else 1.0
    if not overlay:
        return Nearness(probability, None)
    wide = []
    for chart in (computed.growth_of(result), computed.growth_without_privacy(result.model.dataset)):
        lines = chart.lines
        low, high = lines[min(lines)], lines[max(lines)]
        wide.append(float(np.interp(x, chart.x, high - low)))
    return Nearness(probability, wide[0] / wide[1])


def sentence(found: Nearness, result: Result, x: float, tolerance: float) -> str:
    """Both answers."""
    data = result.dataset
    of = "value without privacy" if result.intervals.noise is not None else "curve, which nobody knows exactly"
    chance = min(99.9, 100 * found.probability)
    said = (
        f"At {text.number(x, 3)} {data.x_units[0]} the published {data.y_name} is within {text.number(tolerance)} "
        f"{data.y_unit} of the {of}, with a chance of **{text.number(chance)} in 100**."
    )
    if found.wider is None:
        return said
    return f"{said} Its range, 3rd to 97th centile, is **{text.number(found.wider)} times** as wide as without privacy."


def show(result: Result, x: float, overlay: bool) -> None:
    """A slider for the tolerance, and the answers."""
    data = result.dataset
    most = text.round_step(data.output_range / 4)
    asked = Range(
        f"within_{data.name}",
        f"How near must it be? [{data.y_unit}]",
        most / 4,
        most / _STEPS,
        most,
        most / _STEPS,
        format="%.3g",
        width=320,
        section=HERE,
    )
    tolerance = settings.value_of(asked)
    st.markdown(sentence(nearness(result, x, tolerance, overlay), result, x, tolerance))
