"""What stands between and along the axes of a figure drawn by our own hand: ticks and grid, and the traces.

These are lines, bands, markers, bars, histograms and heat maps of plotly, with their colours.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from plotly.colors import hex_to_rgb

from dpgp_core.arrays import FloatArray
from dpgp_core.release.figure import marks
from pages._ui.look.plots import COLOURS
from pages._ui.look.sheet import Box, corners, filled, gradient, label, rect, wide
from pages._ui.look.tables import bars_of, interval_of, plain, values_of

TYPE = 20  # px
AXIS, _GRID = "#666666", "#808080"
_AIR = 0.05
SCALE = 1.7  # of strokes, over those on the screen
_SQUARE = ((-1, -1), (1, -1), (1, 1), (-1, 1))
_SHAPES = {"diamond": ((0, -1), (1, 0), (0, 1), (-1, 0)), "triangle-up": ((0, -1), (1, 0.8), (-1, 0.8))}  # of markers
_PILED = ("stack", "relative")  # modes of bars upon each other
_DASHES = {"dot": "3 5", "dash": "12 8", "dashdot": "12 6 3 6", "longdash": "20 8"}


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
        finite = np.concatenate([*columns, np.array(lines, float)])
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
    if trace.type in ("bar", "histogram"):
        middles, heights = bars_of(trace)
        if along == "x":
            return middles
        if figure.layout.barmode in _PILED:
            heights = np.sum([values_of(each.y) for each in figure.data if each.type == "bar"], axis=0)
        return np.append(heights, 0.0)
    values = np.array([]) if trace[along] is None else values_of(trace[along])
    has_gaps = values.dtype.kind == "O" and not any(isinstance(each, str) for each in values)
    return values.astype(float) if has_gaps else values


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


def drawn_traces(figure: go.Figure, traces: Sequence[Any], plot: Plot) -> str:
    """All traces that are in sight, in their order."""
    out, piled = "", dict[str, float]()
    bars = [trace for trace in traces if trace.type == "bar"]
    before = None
    for at, trace in enumerate(traces):
        colour = colour_of(trace, at)
        if trace.type == "scatter":
            out += _scatter(trace, plot, colour, before)
            before = trace
        elif trace.type == "heatmap":
            out += _heat(trace, plot)
        elif trace.type in ("bar", "histogram"):
            out += _bars(trace, plot, colour, figure, bars, piled)
    return out


def points_of(trace: Any, plot: Plot) -> FloatArray:
    """Points of a trace (n, 2) in px."""
    return plot.points(values_of(trace.x), values_of(trace.y))


def _scatter(trace: Any, plot: Plot, colour: str, before: Any) -> str:
    """Its area, line, intervals and markers; ``before``: the trace to which it may fill."""
    points, out, mode = points_of(trace, plot), "", trace.mode or "lines"
    stroke = f'stroke="{colour}" stroke-width="{SCALE * (trace.line.width or 2):.1f}"{dashed(trace.line.dash)}'
    if trace.fill == "toself":
        out += f'<polygon points="{corners(points)}" {filled(trace.fillcolor)} stroke="none"/>'
    elif trace.fill == "tonexty" and before is not None:
        area = np.vstack([points_of(before, plot), points[::-1]])
        out += f'<polygon points="{corners(area)}" {filled(trace.fillcolor)}/>'
    if "lines" in mode and trace.fill != "toself":
        gaps = np.flatnonzero(~np.isfinite(points).all(axis=1))
        runs = filter(None, map(corners, np.split(points, gaps)))
        out += "".join(f'<polyline points="{run}" fill="none" {stroke}/>' for run in runs)
    if trace.error_y.array is not None:
        lows, tops = (plot.up(plot.y.at(each)) for each in interval_of(trace))
        for (px, _), high, low in zip(points, tops, lows, strict=True):
            out += f'<path d="M{px:.1f} {low:.1f}V{high:.1f}" stroke="{colour}" stroke-width="2"/>'
    if "markers" in mode and (trace.marker.opacity is None or trace.marker.opacity > 0.05):
        out += _markers(trace, points, colour)
    return out


def _markers(trace: Any, points: FloatArray, colour: str) -> str:
    marker, out = trace.marker, ""
    sizes = np.broadcast_to(6 if marker.size is None else np.asarray(marker.size, float), len(points))
    several = marker.color if isinstance(marker.color, (tuple, list)) else [marker.color or colour] * len(points)
    for (x, y), size, paint in zip(points, sizes, several, strict=True):
        if not (math.isfinite(x) and math.isfinite(y)):
            continue
        r, symbol = SCALE * size / 2, marker.symbol or "circle"
        if symbol.startswith("circle"):
            look = f'fill="none" stroke="{paint}" stroke-width="1.6"' if "open" in symbol else filled(paint)
            out += f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}" {look}/>'
        elif symbol == "x":
            d = f"M{x - r:.1f} {y - r:.1f}L{x + r:.1f} {y + r:.1f}M{x - r:.1f} {y + r:.1f}L{x + r:.1f} {y - r:.1f}"
            out += f'<path d="{d}" stroke="{paint}" stroke-width="3"/>'
        else:
            shape = np.array(_SHAPES.get(symbol, _SQUARE))
            out += f'<polygon points="{corners(shape * r + [x, y])}" {filled(paint)}/>'
    return out


def _bars(trace: Any, plot: Plot, colour: str, figure: go.Figure, bars: Sequence[Any], piled: dict[str, float]) -> str:
    (x, y), out = bars_of(trace), ""
    several = trace.marker.color if isinstance(trace.marker.color, (tuple, list)) else [colour] * len(x)
    shade = "" if trace.opacity is None else f' opacity="{trace.opacity:g}"'
    starts, width = _sides(trace, plot, figure, bars)
    for name, start, height, paint in zip(x, starts, y, several, strict=True):
        base = piled.get(str(name), 0.0) if figure.layout.barmode in _PILED else 0.0
        piled[str(name)] = base + height
        left, right = plot.across(np.array([start, start + width]))
        top, bottom = sorted(plot.up(plot.y.at([base, base + height])))
        out += rect(left, top, max(right - left, 1.5), bottom - top, filled(paint) + shade)
    return out


def _sides(trace: Any, plot: Plot, figure: go.Figure, bars: Sequence[Any]) -> tuple[FloatArray, float]:
    """The left sides of a trace's bars, and their width, on the axis's own scale."""
    number, count = (bars.index(trace), len(bars)) if figure.layout.barmode == "group" else (0, 1)
    at, width = plot.x.at(bars_of(trace)[0]), 1.0 if trace.type == "histogram" else 0.8
    if not plot.x.names:
        unique = np.unique(at)
        apart = float(np.diff(unique).min()) if len(unique) > 1 else 1.0
        width = trace.width if trace.type == "bar" and trace.width is not None else width * apart
    return at - width / 2 + number * width / count, width / count


def over_bars(figure: go.Figure, traces: Sequence[Any], plot: Plot) -> str:
    """Texts above bars, in the middle of each."""
    bars, out = [trace for trace in traces if trace.type == "bar"], ""
    for trace in bars:
        if trace.text is None:
            continue
        starts, width = _sides(trace, plot, figure, bars)
        across, above = plot.across(starts + width / 2), plot.up(plot.y.at(values_of(trace.y).astype(float))) - 8
        for x, y, words in zip(across, above, values_of(trace.text), strict=True):
            out += label(float(x), float(y), str(words), TYPE, "middle", fill=AXIS, weight=600) if str(words) else ""
    return out


def _heat(trace: Any, plot: Plot) -> str:
    z = values_of(trace.z).astype(float)
    across, up = plot.across(_edges(plot.x.at(values_of(trace.x)))), plot.up(_edges(plot.y.at(values_of(trace.y))))
    colours, out = _colours(trace, z), ""
    gap = 2 if trace.xgap else -0.3  # a little over each other, so that no white line shows between them
    for (row, column), value in np.ndenumerate(z):
        if not math.isfinite(value):
            continue
        left, right = sorted((across[column], across[column + 1]))
        top, bottom = sorted((up[row], up[row + 1]))
        look = filled(colours[row][column])
        out += rect(left + gap, top + gap, right - left - 2 * gap, bottom - top - 2 * gap, look)
        if trace.texttemplate and trace.text is not None:
            words = str(values_of(trace.text)[row][column])
            ink = "#ffffff" if _is_dark(colours[row][column]) else "#1a1a1a"
            out += label((left + right) / 2, (top + bottom) / 2 + 7, words, TYPE, "middle", ink) if words else ""
    return f'<g shape-rendering="crispEdges">{out}</g>'


def _edges(at: FloatArray) -> FloatArray:
    """Ends of the cells around points."""
    if len(at) == 1:
        return np.array([at[0] - 0.5, at[0] + 0.5])
    middle = (at[1:] + at[:-1]) / 2
    return np.concatenate([[2 * at[0] - middle[0]], middle, [2 * at[-1] - middle[-1]]])


def _range(trace: Any, z: FloatArray) -> tuple[float, float]:
    finite = z[np.isfinite(z)]
    low = trace.zmin if trace.zmin is not None else (finite.min() if len(finite) else 0.0)
    high = trace.zmax if trace.zmax is not None else (finite.max() if len(finite) else 1.0)
    return float(low), float(high if high > low else low + 1)


def _sampled(trace: Any, shares: FloatArray) -> list[str]:
    """Colours of the trace's scale at shares of it; steps in a scale stay steps, and what fades still does."""
    at, colours = zip(*trace.colorscale, strict=True)
    mixed = [np.interp(shares, at, channel) for channel in zip(*map(_channels, colours), strict=True)]
    return [
        f"rgba({red:.0f},{green:.0f},{blue:.0f},{cover:.3g})" for red, green, blue, cover in zip(*mixed, strict=True)
    ]


def _colours(trace: Any, z: FloatArray) -> list[list[str]]:
    low, high = _range(trace, z)
    shares = np.clip((np.nan_to_num(z, nan=low) - low) / (high - low), 0, 1)
    listed = _sampled(trace, np.linspace(0, 1, 65))
    return [[listed[round(64 * share)] for share in row] for row in shares]


def _is_dark(colour: str) -> bool:
    red, green, blue, _ = _channels(colour)
    return 0.3 * red + 0.59 * green + 0.11 * blue < 128


def _channels(colour: str) -> list[float]:
    """Red, green and blue from 0 to 255, and opacity from 0 to 1."""
    parts = hex_to_rgb(colour) if colour.startswith("#") else map(float, re.findall(r"[\d.]+", colour))
    return [*parts, 1.0][:4]


def colour_bar(trace: Any, plot: Plot) -> str:
    """The colour scale of a heat map, to the right of it."""
    low, high = _range(trace, values_of(trace.z).astype(float))
    left, box = plot.box.right + 24, plot.box
    out = gradient(_sampled(trace, np.linspace(1, 0, 64)), Box(left, box.top, 18, box.height))
    for value, words in marks(low, high):
        out += label(left + 26, box.bottom - box.height * (value - low) / (high - low) + 7, words, TYPE)
    title = plain(trace.colorbar.title.text or "")
    return out + (upright(left + 104, box, title) if title else "")


def colour_of(trace: Any, at: int) -> str:
    """The colour of a trace, which is the figure's ``at``-th."""
    own = [trace[part].color for part in ("line", "marker") if part in trace]
    return next((colour for colour in own if isinstance(colour, str)), COLOURS[at % len(COLOURS)])


def dashed(dash: str | None) -> str:
    """A stroke's dashes as SVG has them."""
    if not dash or dash == "solid":
        return ""
    pattern = _DASHES.get(dash) or " ".join(f"{SCALE * float(each.removesuffix('px')):g}" for each in dash.split(","))
    return f' stroke-dasharray="{pattern}"'
