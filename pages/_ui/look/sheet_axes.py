"""The axes of a figure drawn by our own hand: ends, ticks, and the scale between them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpgp_core.arrays import FloatArray
from dpgp_core.release.figure import marks
from pages._ui.look.sheet import Box, label, wide
from pages._ui.look.tables import bars_of, plain, values_of

TYPE = 20  # px
AXIS, _GRID = "#666666", "#808080"
_AIR = 0.05


class Side(NamedTuple):
    """An axis: its ends (logarithms on a logarithmic one), names of categories, ticks and title."""

    low: float
    high: float
    log: bool
    names: tuple[str, ...]
    ticks: tuple[tuple[float, str], ...]
    title: str

    def at(self, values: Any) -> FloatArray:
        """Values on the axis's own scale: the number of a category, the logarithm of a value."""
        if self.names:
            places = {name: place for place, name in enumerate(self.names)}
            return np.array([places.get(str(each), np.nan) for each in values])
        at = np.array(values, dtype=float)  # None is NaN
        if not self.log:
            return at
        with np.errstate(all="ignore"):
            return np.asarray(np.log10(at))

    def share(self, at: Any) -> Any:
        """Share of the axis, from 0 to 1, of a value on its own scale; values far outside are clipped."""
        return np.clip((at - self.low) / (self.high - self.low), -5, 6)  # a file of huge numbers is no picture


class Plot(NamedTuple):
    """The box between the axes."""

    box: Box
    x: Side
    y: Side

    def points(self, x: Any, y: Any) -> FloatArray:
        """Points (n, 2) in px."""
        return np.column_stack([self.across(self.x.at(x)), self.up(self.y.at(y))])

    def across(self, at: Any) -> Any:
        """In px, of values on the axis's own scale."""
        return self.box.left + self.box.width * self.x.share(at)

    def up(self, at: Any) -> Any:
        """In px, of values on the axis's own scale."""
        return self.box.bottom - self.box.height * self.y.share(at)


def squared(figure: go.Figure, box: Box, x: Side, y: Side) -> Box:
    """As high as wide for the same length, where the figure says so."""
    anchor, ratio = figure.layout.yaxis.scaleanchor, figure.layout.yaxis.scaleratio or 1.0
    if anchor != "x":
        return box
    per_px = max((x.high - x.low) / box.width, ratio * (y.high - y.low) / box.height)
    width, height = (x.high - x.low) / per_px, ratio * (y.high - y.low) / per_px
    return Box(box.left + (box.width - width) / 2, box.top + (box.height - height) / 2, width, height)


def side_of(figure: go.Figure, traces: Sequence[Any], along: str) -> Side:
    """The axis along "x" or "y" of a figure's traces, with the ends that plotly would give it."""
    axis = figure.layout[f"{along}axis"]
    log, columns = axis.type == "log", [_along(trace, along, figure) for trace in traces]
    names: tuple[str, ...] = ()
    if axis.type == "category" or any(column.dtype.kind in "OU" for column in columns):
        names = tuple(dict.fromkeys(str(each) for column in columns for each in column if each is not None))
    if names:
        low, high = axis.range or (-0.5, len(names) - 0.5)
    elif axis.range is not None:
        low, high = axis.range
    else:
        shapes = [shape for shape in figure.layout.shapes if shape[f"{along}ref"] == along]
        lines = [shape[f"{along}{end}"] for shape in shapes for end in "01"]
        finite = np.concatenate([each.astype(float) for each in (*columns, np.array(lines))])
        finite = np.log10(finite[finite > 0]) if log else finite[np.isfinite(finite)]
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
        low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
        only_tiles = all(trace.type == "heatmap" for trace in traces)
        only_lines = all(trace.type == "scatter" and "markers" not in (trace.mode or "lines") for trace in traces)
        air = 0 if only_tiles or (along == "x" and only_lines) else _AIR * (high - low)
        low, high = (0.0 if axis.rangemode == "tozero" and not log else low - air), high + air
    if axis.autorange == "reversed":
        low, high = high, low
    title = plain(axis.title.text or "")
    return Side(float(low), float(high), log, names, tuple(_ticks(axis, float(low), float(high), log, names)), title)


def _along(trace: Any, along: str, figure: go.Figure) -> np.ndarray:
    """Values of a trace along an axis; bars begin at 0."""
    if trace.type == "histogram":
        middle, counts = bars_of(trace)
        return middle if along == "x" else np.append(counts, 0.0)
    values = values_of(trace[along]) if trace[along] is not None else np.array([])
    if values.dtype.kind == "O" and all(each is None or isinstance(each, (int, float)) for each in values):
        values = values.astype(float)
    if trace.type == "bar" and along == "y":
        piled = figure.layout.barmode in ("stack", "relative")
        bars = [values_of(t.y).astype(float) for t in figure.data if t.type == "bar"]
        most = sum(bars) if piled and len({len(b) for b in bars}) == 1 else values.astype(float)
        return np.append(most, 0.0)
    return values


def _ticks(axis: Any, low: float, high: float, log: bool, names: Sequence[str]) -> Iterator[tuple[float, str]]:
    ends = min(low, high), max(low, high)
    if names:
        yield from ((at, plain(name)) for at, name in enumerate(names) if ends[0] <= at <= ends[1])
    elif axis.tickvals is not None:
        texts = axis.ticktext if axis.ticktext is not None else [f"{each:g}" for each in axis.tickvals]
        for value, words in zip(axis.tickvals, texts, strict=True):
            at = math.log10(value) if log else float(value)
            if ends[0] - 1e-9 <= at <= ends[1] + 1e-9:
                yield at, plain(str(words))
    elif log:
        for power in range(math.ceil(ends[0] - 1e-9), math.floor(ends[1] + 1e-9) + 1):
            yield float(power), f"{10.0**power:g}"
    else:
        yield from marks(*ends)


def axes(plot: Plot) -> str:
    """Both, with their ticks, grid and titles."""
    box, out = plot.box, ""
    for at, words in plot.x.ticks:
        x = plot.across(at)
        out += f'<path d="M{x:.1f} {box.top:.1f}V{box.bottom:.1f}" stroke="{_GRID}" stroke-opacity=".2"/>'
        out += label(x, box.bottom + 26, words, TYPE, "middle", AXIS)
    for at, words in plot.y.ticks:
        y = plot.up(at)
        out += f'<path d="M{box.left:.1f} {y:.1f}H{box.right:.1f}" stroke="{_GRID}" stroke-opacity=".2"/>'
        out += label(box.left - 10, y + 7, words, TYPE, "end", AXIS)
    out += f'<path d="M{box.left:.1f} {box.top:.1f}V{box.bottom:.1f}H{box.right:.1f}" fill="none" stroke="{AXIS}"/>'
    out += label(box.left + box.width / 2, box.bottom + 56, plot.x.title, TYPE, "middle")
    if plot.y.title:
        x = box.left - 30 - max((wide(words, TYPE) for _, words in plot.y.ticks), default=0)
        out += upright(x, box, plot.y.title)
    return out


def upright(x: float, box: Box, words: str) -> str:
    """Words that run up, in the middle of a box's height."""
    middle = f"translate({x:.1f} {box.top + box.height / 2:.1f}) rotate(-90)"
    return f'<g transform="{middle}">{label(0, 0, words, TYPE, "middle")}</g>'
