"""Step about clipping: bias compared with privacy noise, for three kinds of outcomes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from scipy.special import ndtr

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.arrays import FloatArray
from dpgp_core.evaluation.by_hand import Above, ClipError, clip_error
from pages._ui.hiding import steps
from pages._ui.look import layout, text
from pages._ui.look.about import of_theory
from pages._ui.look.controls import HERE, Slider
from pages._ui.look.plots import PRIVATE, RISK, finish
from pages._ui.look.text import Metric
from pages._ui.model import Draw

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

PEOPLE = 300
LOWS, HIGHS = tuple(range(-100, 41, 10)), tuple(range(60, 301, 10))
CLIPS = (5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90, 100)
_YES = 0.3
_WAGE, _LOG_SD = 30.0, 0.6  # median, and standard deviation of the logarithm


def _symmetric(x: FloatArray) -> FloatArray:
    """Return P(y > x) for a normal distribution about 50."""
    return np.asarray(ndtr((50.0 - x) / 12.0))


def _skewed(x: FloatArray) -> FloatArray:
    """Return P(y > x) for a lognormal distribution."""
    return np.asarray(ndtr(-np.log(np.maximum(x, np.finfo(float).tiny) / _WAGE) / _LOG_SD))


def _yes_or_no(x: FloatArray) -> FloatArray:
    """Return P(y > x) if 30 in 100 say yes, which counts 100, and no counts 0."""
    return np.asarray(np.where(x < 0, 1.0, np.where(x < 100, _YES, 0.0)))


KINDS: dict[str, tuple[Above, float]] = {  # P(y > x) and mean, in points
    "symmetric": (_symmetric, 50.0),
    "skewed": (_skewed, _WAGE * math.exp(_LOG_SD**2 / 2)),
    "yes/no": (_yes_or_no, 100 * _YES),
}


@dataclass(frozen=True)
class Clip:
    """Bounds in points, and the share of them about their middle that is kept [%]."""

    low: float
    high: float
    kept: float

    @property
    def ends(self) -> tuple[float, float]:
        """Interval to which outcomes are clipped."""
        middle, half = (self.low + self.high) / 2, (self.high - self.low) / 2
        return middle - half * self.kept / 100, middle + half * self.kept / 100


def errors(clip: Clip, draw: Draw) -> dict[str, ClipError]:
    """Return bias and noise of the mean of ``PEOPLE`` outcomes of each kind. This takes milliseconds."""
    s = noise_multiplier(draw.epsilon, draw.delta)
    return {
        kind: clip_error(above, mean, *clip.ends, n=PEOPLE, noise_multiplier=s) for kind, (above, mean) in KINDS.items()
    }


def best(clip: Clip, draw: Draw) -> dict[str, float]:
    """Return the clip with the smallest error for each kind, in % of the bounds."""
    tried = {kept: errors(replace(clip, kept=kept), draw) for kept in CLIPS}
    return {kind: min(tried, key=lambda kept: tried[kept][kind].error) for kind in KINDS}


def show(draw: Draw, top: DeltaGenerator) -> None:
    """Draw controls for bounds and clip, and bias and noise as two bars."""
    container = st.container()
    clip = Clip(*map(float, steps.beside(*SLIDERS)))
    clipped, least = errors(clip, draw), best(clip, draw)
    with top:
        layout.headline(headline(clip, clipped))
    with container:
        steps.chart(figure(clipped), "clip", of_theory(ALT, finding=headline(clip, clipped)), caption=CAPTION)
    rows = [
        Metric(f"Error, {kind}", f"{text.number(each.error)} points", f"least at a clip of {least[kind]:g} %", _HELP)
        for kind, each in clipped.items()
    ]
    layout.metrics(rows, "clip")


_HELP = "Error of the mean: bias and privacy noise together. The spread of people adds to it, whatever the clip."
ALT = (
    f"For the mean of {PEOPLE} people. The first bar of a pair is the bias: how far the clip moves the mean. The "
    "second is one standard deviation of the privacy noise. Symmetric outcomes lie about 50. Skewed ones are mostly "
    "near 30, with a long tail. Yes counts 100 and no 0."
)
CAPTION = f"The mean of {PEOPLE} people: how far the clip moves it, and one standard deviation of its privacy noise."


SLIDERS = (
    Slider("clip_low", "Lower bound [points]", 0, LOWS, section=HERE),
    Slider("clip_high", "Upper bound [points]", 100, HIGHS, section=HERE),
    Slider("clip_kept", "Clip: share of the bounds that is kept [%]", 100, CLIPS, section=HERE),
)


def _points(value: float) -> str:
    return text.number(value) if value >= 0.05 else "0"


def headline(clip: Clip, clipped: dict[str, ClipError]) -> str:
    """Return the headline: the benefit and the cost of clipping."""
    low, high = clip.ends
    bias = {kind: _points(abs(each.bias)) for kind, each in clipped.items()}
    noise = text.number(next(iter(clipped.values())).noise)
    return (
        f"Clipped to {low:g} to {high:g} points, a mean gets privacy noise of **{noise}** points. The clip moves it by "
        f"**{bias['symmetric']}** where outcomes are symmetric, {bias['skewed']} where they are skewed, and "
        f"{bias['yes/no']} for yes/no."
    )


def figure(clipped: dict[str, ClipError]) -> go.Figure:
    """Draw two bars for each kind of outcome."""
    figure = go.Figure()
    for name, colour, values in (
        ("bias", RISK, [abs(each.bias) for each in clipped.values()]),
        ("privacy noise", PRIVATE, [each.noise for each in clipped.values()]),
    ):
        figure.add_bar(
            x=list(clipped),
            y=values,
            name=name,
            marker={"color": colour},
            textposition="outside",
            cliponaxis=False,
            text=[_points(value) for value in values],
        )
    figure.update_layout(barmode="group")
    figure.update_xaxes(title="kind of outcome")
    figure.update_yaxes(title="size [points]", rangemode="tozero")
    return finish(figure, 380)
