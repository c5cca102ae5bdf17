"""Draw plotly figures of the pages again with matplotlib, for export figures."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
from plotly.colors import hex_to_rgb

from dpgp_core.arrays import FloatArray
from dpgp_core.figures.drawing import (
    draw_colour_bar,
    keep_apart,
    write_at_end,
    write_legend,
)
from dpgp_core.figures.export import Drawing, drawing
from dpgp_core.figures.ticks import Mark, marks
from pages._ui.look.plots import COLOURS, LINE_NAME, ROW_NAME, ends_of
from pages._ui.look.tables import bars_of, interval_of, plain, values_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_AXIS = "#666666"
_AIR = 0.05  # share of an axis that is free at its ends, as in plotly
_SCALE = 1.3  # size of strokes and markers relative to those on the screen
_MARKERS = {"diamond": "D", "triangle-up": "^", "x": "x", "square": "s"}
_DASHES: dict[str, Any] = {
    "dot": (0, (1, 2)),
    "dash": (0, (6, 4)),
    "dashdot": (0, (6, 3, 1.5, 3)),
    "longdash": (0, (10, 4)),
}
STEPS = 64  # steps of a colour scale


def of_figure(figure: go.Figure, *, named: bool = True) -> Drawing:
    """Return the drawing of a plotly figure; ``named``: with the names of its lines."""
    return drawing(partial(draw, figure, named=named), is_tall=figure.layout.yaxis.scaleanchor == "x")


def draw(figure: go.Figure, ax: Axes, *, named: bool = True) -> None:
    """Draw a plotly figure: its visible traces, shapes, notes, axes and names."""
    traces = _visible(figure)
    x, y = (_Scale(figure, traces, along) for along in "xy")
    x.set_on(ax)
    y.set_on(ax)
    before: Any = None
    piled = dict[str, float]()
    for at, trace in enumerate(traces):
        colour = _colour_of(trace, at)
        if trace.type == "scatter":
            _scatter(ax, trace, x, y, colour, before)
            before = trace
        elif trace.type == "heatmap":
            _heat(ax, trace, x, y)
        elif trace.type in ("bar", "histogram"):
            _bars(ax, trace, x, figure, colour, piled)
    for shape in figure.layout.shapes:
        _shape(ax, shape, x, y)
    for note in figure.layout.annotations:
        if note.text and note.name != ROW_NAME and not LINE_NAME.fullmatch(note.text):
            _note(ax, note, x, y)
    if named:
        ends = ends_of(figure)
        for end in ends:
            height = y.low + end.share * (y.high - y.low)
            write_at_end(ax, 10**height if y.log else height, end.name, end.colour)
        if ends or figure.layout.showlegend is not False:
            handles = _handles(traces, only_bands=bool(ends))
            if handles:
                write_legend(ax, handles)
    if figure.layout.yaxis.scaleanchor == "x":
        ax.set_aspect(figure.layout.yaxis.scaleratio or 1.0)
    if figure.layout.title.text:
        ax.set_title(plain(figure.layout.title.text), loc="left", fontweight="bold")


def draw_names(figure: go.Figure, ax: Axes) -> None:
    """Draw the names of lines and bands alone, for several figures that share them."""
    ax.axis("off")
    write_legend(ax, _handles(_visible(figure)), within=True)


def _visible(figure: go.Figure) -> list[Any]:
    return [trace for trace in figure.data if trace.opacity != 0]


class _Scale:
    """An axis of a figure: its ends as plotly gives them, its names or numbers, its marks.

    Args:
        figure: the figure.
        traces: those that are visible.
        along: "x" or "y".
    """

    def __init__(self, figure: go.Figure, traces: Sequence[Any], along: str) -> None:
        axis = figure.layout[f"{along}axis"]
        columns = [_along(trace, along, figure) for trace in traces]
        self.along, self.log, self.title = along, axis.type == "log", plain(axis.title.text or "")
        self.names: tuple[str, ...] = ()
        if axis.type == "category" or any(column.dtype.kind in "OU" for column in columns):
            self.names = tuple(dict.fromkeys(str(each) for column in columns for each in column if each is not None))
        if axis.range is not None:
            low, high = axis.range
        elif self.names:
            low, high = -0.5, len(self.names) - 0.5
        else:
            low, high = self._ends(figure, traces, columns, tozero=axis.rangemode == "tozero")
        self.low, self.high = (high, low) if axis.autorange == "reversed" else (low, high)
        self.marks = tuple(self._marks(axis))

    def _ends(
        self, figure: go.Figure, traces: Sequence[Any], columns: Sequence[Any], *, tozero: bool
    ) -> tuple[float, float]:
        lines = [shape[f"{self.along}{end}"] for shape in figure.layout.shapes for end in "01" if self._is_on(shape)]
        finite = np.concatenate([*columns, np.array(lines, float)])
        finite = np.log10(finite[finite > 0]) if self.log else finite[np.isfinite(finite)]
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
        low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
        only_tiles = all(trace.type == "heatmap" for trace in traces)
        only_lines = all(trace.type == "scatter" and "markers" not in (trace.mode or "lines") for trace in traces)
        air = 0 if only_tiles or (self.along == "x" and only_lines) else _AIR * (high - low)
        return 0.0 if tozero and not self.log else low - air, high + air

    def _is_on(self, shape: Any) -> bool:
        return bool(shape[f"{self.along}ref"] == self.along)

    def _marks(self, axis: Any) -> Iterator[Mark]:
        ends = min(self.low, self.high), max(self.low, self.high)
        if self.names:
            yield from ((float(at), plain(name)) for at, name in enumerate(self.names) if ends[0] <= at <= ends[1])
        elif axis.tickvals is not None:
            texts = axis.ticktext if axis.ticktext is not None else [f"{each:g}" for each in axis.tickvals]
            for value, words in zip(axis.tickvals, texts, strict=True):
                at = math.log10(value) if self.log else float(value)
                if ends[0] - 1e-9 <= at <= ends[1] + 1e-9:
                    yield float(value), plain(str(words))
        elif self.log:
            for power in range(math.ceil(ends[0] - 1e-9), math.floor(ends[1] + 1e-9) + 1):
                yield 10.0**power, f"{10.0**power:g}"
        else:
            yield from marks(*ends)

    def at(self, values: Any) -> FloatArray:
        """Return values as numbers on the axis; names become their positions."""
        if self.names:
            places = {name: place for place, name in enumerate(self.names)}
            return np.array([places.get(str(each), np.nan) for each in values])
        return np.array(values, dtype=float)  # None is NaN

    def place(self, of: Any, value: Any) -> tuple[float, bool]:
        """Return the coordinate of a shape or a note, and whether it is a share of the axes.

        On a logarithmic axis plotly gives a shape's coordinate as a value, and a note's as its logarithm.
        """
        ref = of[f"{self.along}ref"] or ""
        if ref == "paper" or ref.endswith("domain"):
            return float(value), True
        if isinstance(value, str):
            return float(self.at([value])[0]), False
        return (10.0**value if self.log and isinstance(of, go.layout.Annotation) else float(value)), False

    def set_on(self, ax: Axes) -> None:
        """Give the axis of a plot its scale, ends, marks, grid and title."""
        values, texts = [value for value, _ in self.marks], [text for _, text in self.marks]
        for part, given in (("scale", ("log" if self.log else "linear",)), ("ticks", (values, texts))):
            getattr(ax, f"set_{self.along}{part}")(*given)
        ends = (10.0**self.low, 10.0**self.high) if self.log else (self.low, self.high)
        getattr(ax, f"set_{self.along}lim")(*ends)
        getattr(ax, f"set_{self.along}label")(self.title)
        ax.minorticks_off()
        ax.grid(True, axis="x" if self.along == "x" else "y", color="#808080", alpha=0.2, linewidth=0.8)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)


def _along(trace: Any, along: str, figure: go.Figure) -> np.ndarray:
    """Values of a trace along an axis; bars begin at 0."""
    if trace.type in ("bar", "histogram"):
        middles, heights = bars_of(trace)
        if along == "x":
            return middles
        if figure.layout.barmode == "relative":
            heights = np.sum([values_of(each.y) for each in figure.data if each.type == "bar"], axis=0)
        return np.append(heights, 0.0)
    values = np.array([]) if trace[along] is None else values_of(trace[along])
    has_gaps = values.dtype.kind == "O" and not any(isinstance(each, str) for each in values)
    return values.astype(float) if has_gaps else values


def _scatter(ax: Axes, trace: Any, x: _Scale, y: _Scale, colour: str, before: Any) -> None:
    """Draw an area, a line, intervals, markers and words; ``before``: the trace to which it may fill."""
    across, up, mode = x.at(values_of(trace.x)), y.at(values_of(trace.y)), trace.mode or "lines"
    if trace.fill == "toself":
        ax.fill(across, up, color=rgba(trace.fillcolor), linewidth=0)
    elif trace.fill == "tonexty" and before is not None:
        other = x.at(values_of(before.x)), y.at(values_of(before.y))
        ends = [np.concatenate([there, here[::-1]]) for there, here in zip(other, (across, up), strict=True)]
        ax.fill(*ends, color=rgba(trace.fillcolor), linewidth=0)
    if "lines" in mode and trace.fill != "toself":
        width = _SCALE * (trace.line.width or 2)
        ax.plot(across, up, color=rgba(colour), linewidth=width, linestyle=_dash(trace.line.dash))
    if trace.error_y.array is not None:
        ax.vlines(across, *interval_of(trace), color=rgba(colour), linewidth=1.6)
    if "markers" in mode and (trace.marker.opacity is None or trace.marker.opacity > 0.05):
        _markers(ax, trace, across, up, colour)
    if "text" in mode and trace.text is not None:
        for at_x, at_y, words in zip(across, up, trace.text, strict=True):
            if words and np.isfinite(at_y):
                write_at_end(ax, float(at_y), plain(str(words)), colour, x=float(at_x))


def _markers(ax: Axes, trace: Any, across: FloatArray, up: FloatArray, colour: str) -> None:
    marker, symbol = trace.marker, trace.marker.symbol or "circle"
    size: Any = 6.0 if marker.size is None else marker.size
    look: dict[str, Any] = {"marker": _MARKERS.get(symbol.removesuffix("-open"), "o")}
    look["clip_on"] = trace.cliponaxis is not False
    if isinstance(marker.color, tuple | list | np.ndarray) or np.ndim(size) > 0:
        sizes = (_SCALE * np.asarray(size, float)) ** 2
        paint = [rgba(each) for each in np.broadcast_to(colour if marker.color is None else marker.color, len(across))]
        ax.scatter(across, up, s=sizes, c=paint, linewidths=0, zorder=2, **look)
        return
    paint_of_all = rgba(marker.color or colour)
    look |= {"markersize": _SCALE * size, "markeredgecolor": paint_of_all, "markeredgewidth": 1.5}
    look["markerfacecolor"] = "none" if "open" in symbol else paint_of_all
    ax.plot(across, up, linestyle="none", **look)


def _bars(ax: Axes, trace: Any, x: _Scale, figure: go.Figure, colour: str, piled: dict[str, float]) -> None:
    """Draw bars side by side, upon each other or over each other, and the words above them."""
    places, heights = bars_of(trace)
    bars = [each for each in _visible(figure) if each.type == "bar"]
    number, count = (bars.index(trace), len(bars)) if figure.layout.barmode == "group" else (0, 1)
    at, width = x.at(places), 1.0 if trace.type == "histogram" else 0.8
    if not x.names:
        unique = np.unique(at)
        apart = float(np.diff(unique).min()) if len(unique) > 1 else 1.0
        width = trace.width if trace.type == "bar" and trace.width is not None else width * apart
    starts, width = at - width / 2 + number * width / count, width / count
    several = trace.marker.color if isinstance(trace.marker.color, (tuple, list)) else [colour] * len(at)
    bottom = [piled.get(str(name), 0.0) if figure.layout.barmode == "relative" else 0.0 for name in places]
    piled |= {str(name): base + height for name, base, height in zip(places, bottom, heights, strict=True)}
    look: dict[str, Any] = {"align": "edge", "color": [rgba(each) for each in several], "alpha": trace.opacity}
    least = 1.5 / ax.bbox.width * abs(x.high - x.low)  # so that thin bars are seen
    ax.bar(starts, heights, max(width, least), bottom=bottom, linewidth=0, **look)
    if trace.text is not None:
        for left, height, words in zip(starts, heights, values_of(trace.text), strict=True):
            over: dict[str, Any] = {"ha": "center", "va": "bottom", "color": _AXIS, "fontweight": "bold"}
            place = left + width / 2, float(height)
            ax.annotate(str(words), place, (0, 4), textcoords="offset points", annotation_clip=False, **over)


def _heat(ax: Axes, trace: Any, x: _Scale, y: _Scale) -> None:
    """Draw tiles with their words, and the colour bar; what fades on the screen fades here."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    z = values_of(trace.z).astype(float)
    finite = z[np.isfinite(z)]
    low = trace.zmin if trace.zmin is not None else (finite.min() if len(finite) else 0.0)
    high = trace.zmax if trace.zmax is not None else (finite.max() if len(finite) else 1.0)
    ends = float(low), float(high if high > low else low + 1)
    norm = Normalize(*ends)
    shares = np.clip(np.nan_to_num(norm(z), nan=0.0), 0, 1)
    colours = _sampled(trace.colorscale, shares.ravel()).reshape(*z.shape, 4)
    colours[~np.isfinite(z), 3] = 0.0
    edges = _edges(x.at(values_of(trace.x))), _edges(y.at(values_of(trace.y)))
    mesh = ax.pcolormesh(*edges, colours, edgecolors="#ffffff" if trace.xgap else "none", linewidth=1.5)
    mesh.set_antialiased(bool(trace.xgap))  # else the background shows between tiles
    if trace.texttemplate and trace.text is not None:
        texts = values_of(trace.text)
        middles = [(each[1:] + each[:-1]) / 2 for each in edges]
        for (row, column), words in np.ndenumerate(texts):
            if str(words):
                light = float(colours[row, column, :3] @ [0.3, 0.59, 0.11]) < 0.5
                ink = "#ffffff" if light else "#1a1a1a"
                ax.text(
                    float(middles[0][column]), float(middles[1][row]), str(words), ha="center", va="center", color=ink
                )
    if trace.showscale is not False:
        scale = ListedColormap(_sampled(trace.colorscale, np.linspace(0, 1, STEPS)))
        title = plain(trace.colorbar.title.text or "")
        draw_colour_bar(ax, ScalarMappable(norm, scale), title, marks(*ends))


def _edges(at: FloatArray) -> FloatArray:
    """Return the ends of the cells around points."""
    if len(at) == 1:
        return np.array([at[0] - 0.5, at[0] + 0.5])
    middle = (at[1:] + at[:-1]) / 2
    return np.concatenate([[2 * at[0] - middle[0]], middle, [2 * at[-1] - middle[-1]]])


def _sampled(scale: Any, shares: FloatArray) -> FloatArray:
    """Return the colours (n, 4) of a scale at shares of it; steps stay steps, and what fades still does."""
    at, colours = zip(*scale, strict=True)
    channels = np.array([rgba(colour) for colour in colours]).T
    return np.column_stack([np.interp(shares, at, channel) for channel in channels])


def _shape(ax: Axes, shape: Any, x: _Scale, y: _Scale) -> None:
    """Draw a line or a rectangle."""
    from matplotlib.collections import LineCollection

    colour, width = rgba(shape.line.color or _AXIS), _SCALE * (shape.line.width or 2)
    look: dict[str, Any] = {"colors": [colour], "linewidths": width, "linestyles": [_dash(shape.line.dash)]}
    look["zorder"] = 1.5 if shape.layer == "below" else 2.5
    (x0, x_share), (x1, _) = x.place(shape, shape.x0), x.place(shape, shape.x1)
    (y0, y_share), (y1, _) = y.place(shape, shape.y0), y.place(shape, shape.y1)
    ring = [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)] if shape.type == "rect" else [(x0, y0), (x1, y1)]
    lines_of = LineCollection([ring], transform=_transform(ax, x_share, y_share), **look)
    ax.add_collection(lines_of, autolim=False)


def _transform(ax: Axes, x_share: bool, y_share: bool) -> Any:
    if x_share:
        return ax.transAxes if y_share else ax.get_yaxis_transform()
    return ax.get_xaxis_transform() if y_share else ax.transData


def _note(ax: Axes, note: Any, x: _Scale, y: _Scale) -> None:
    """Write a note at its place."""
    (at_x, x_share), (at_y, y_share) = x.place(note, note.x), y.place(note, note.y)
    if not (math.isfinite(at_x) and math.isfinite(at_y)):
        return
    across = note.xanchor if note.xanchor in ("left", "right") else "center"
    up = {"top": "top", "bottom": "bottom"}.get(note.yanchor or "", "center" if not note.showarrow else "bottom")
    look: dict[str, Any] = {"ha": across, "va": up, "color": note.font.color or _AXIS, "annotation_clip": False}
    shift = 4.0 if across == "left" else -4.0 if across == "right" else 0.0
    system = _transform(ax, x_share, y_share)
    place: dict[str, Any] = {"xycoords": system, "textcoords": "offset points"}
    keep_apart(ax.annotate(plain(note.text), (at_x, at_y), (shift, 0), **place, **look))


def _handles(traces: Sequence[Any], *, only_bands: bool = False) -> dict[str, Any]:
    """Return samples of what the legend names."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    listed, is_alone = dict[str, Any](), sum(trace.type != "heatmap" for trace in traces) == 1
    for at, trace in enumerate(traces):
        words, is_band = plain(trace.name or ""), trace.type == "scatter" and trace.fill == "toself"
        if not words or trace.type == "heatmap" or (only_bands and not is_band):
            continue
        if trace.showlegend is False or (is_alone and trace.showlegend is None):  # as plotly has it
            continue
        colour = rgba(trace.fillcolor if is_band else _colour_of(trace, at))
        if is_band or trace.type != "scatter":
            sample: Any = Patch(color=colour, linewidth=0)
        elif (trace.mode or "lines") == "markers":
            symbol = trace.marker.symbol or "circle"
            face: Any = "none" if "open" in symbol else colour
            kind = _MARKERS.get(symbol.removesuffix("-open"), "o")
            sample = Line2D([], [], linestyle="none", marker=kind, color=colour, markerfacecolor=face)
        else:
            sample = Line2D([], [], color=colour, linewidth=2, linestyle=_dash(trace.line.dash))
        listed.setdefault(words, sample)
    return listed


def _colour_of(trace: Any, at: int) -> str:
    """Return the colour of a trace, given its position ``at`` in the figure."""
    own = [trace[part].color for part in ("line", "marker") if part in trace]
    return next((colour for colour in own if isinstance(colour, str)), COLOURS[at % len(COLOURS)])


def rgba(colour: str) -> tuple[float, float, float, float]:
    """Return red, green, blue and opacity from 0 to 1 of a colour as plotly writes it."""
    if colour.startswith("#"):
        channels = [*map(float, hex_to_rgb(colour)), 1.0]
    else:
        channels = [*map(float, re.findall(r"[\d.]+(?:e-?\d+)?", colour)), 1.0]
    return channels[0] / 255, channels[1] / 255, channels[2] / 255, channels[3]


def _dash(dash: str | None) -> Any:
    if not dash or dash == "solid":
        return "solid"
    if dash in _DASHES:
        return _DASHES[dash]
    return 0, tuple(float(each.removesuffix("px")) / 2 for each in dash.split(","))
