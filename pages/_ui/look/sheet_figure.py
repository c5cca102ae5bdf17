"""A plotly figure drawn as SVG by our own hand, so that a picture needs no browser and can be read by a test.

Its layout, names, notes and lines across are here; axes and traces in ``sheet_plot``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from pages._ui.look.plots import LINE_NAME, End, ends_of, stacked
from pages._ui.look.sheet import Box, filled, label, rect, wide
from pages._ui.look.sheet_plot import (
    AXIS,
    SCALE,
    TYPE,
    Plot,
    axes,
    colour_bar,
    colour_of,
    dashed,
    drawn_traces,
    over_bars,
    points_of,
    side_of,
    squared,
)
from pages._ui.look.tables import plain

_LINE = 26  # px between two names

Named = tuple[str, str]  # something drawn: its name and its colour


def _visible(figure: go.Figure) -> list[Any]:
    return [trace for trace in figure.data if trace.opacity != 0]


def _laid(
    figure: go.Figure, box: Box, traces: list[Any], bar: Any, named: bool
) -> tuple[Plot, list[End], list[list[Named]]]:
    """The plot of a figure, the ends of its lines that have names, and the rows of its legend above it."""
    ends = ends_of(figure) if named else []
    has_legend = named and (bool(ends) or figure.layout.showlegend is not False)
    legend = _legend(traces, only_bands=bool(ends)) if has_legend else []
    x, y = side_of(figure, traces, "x"), side_of(figure, traces, "y")
    left = 42 + max((wide(words, TYPE) for _, words in y.ticks), default=0) + (_LINE if y.title else 0)
    right = max((wide(end.name, TYPE) for end in ends), default=0) + (40 if ends else 24)
    right = max(right, 150 if bar is not None else 0, _beyond(traces))
    rows = _rows(legend, box.width)
    top = 14 + _LINE * len(rows) + (_LINE if figure.layout.title.text else 0)
    inner = Box(box.left + left, box.top + top, box.width - left - right, box.height - top - 2.6 * _LINE)
    return Plot(squared(figure, inner, x, y), x, y), ends, rows


def names_of(figure: go.Figure, box: Box) -> str:
    """The names of lines and bands alone, for several figures that share them."""
    rows = _rows(_legend(_visible(figure)), box.width)
    return _written(rows, Box(box.left, box.top + 20, box.width, box.height))


def drawn(figure: go.Figure, box: Box, *, named: bool = True) -> str:
    """The figure in a box; ``named``: with the names of its lines."""
    traces = _visible(figure)
    bar = next((t for t in traces if t.type == "heatmap" and t.showscale is not False), None)
    plot, ends, rows = _laid(figure, box, traces, bar, named)
    clip = f"plot{box.left:.0f}_{box.top:.0f}"
    below, above = ("".join(_shapes(figure, plot, layer)) for layer in ("below", "above"))
    title = plain(figure.layout.title.text or "")
    return (
        f'<clipPath id="{clip}"><rect x="{plot.box.left:.1f}" y="{plot.box.top:.1f}" width="{plot.box.width:.1f}" '
        f'height="{plot.box.height:.1f}"/></clipPath>{axes(plot)}'
        f'<g clip-path="url(#{clip})">{below}{drawn_traces(figure, traces, plot)}{above}</g>'
        f"{_texts(traces, plot)}{over_bars(figure, traces, plot)}{_notes(figure, plot)}"
        f"{_written(rows, box)}{_at_ends(ends, plot)}"
        f"{'' if bar is None else colour_bar(bar, plot)}"
        f"{label(plot.box.left, box.top + 18, title, TYPE, weight=600) if title else ''}"
    )


def _beyond(traces: Sequence[Any]) -> float:
    """Room for words to the right of lines' ends."""
    texts = [str(t.text[-1]) for t in traces if t.type == "scatter" and "text" in (t.mode or "") and len(t.text or ())]
    return max((wide(each, TYPE) + 16 for each in texts), default=0)


def _texts(traces: Sequence[Any], plot: Plot) -> str:
    """Words that belong to points, moved apart where lines end close together."""
    labels = []
    for at, trace in enumerate(traces):
        if trace.type == "scatter" and "text" in (trace.mode or "") and trace.text is not None:
            points = points_of(trace, plot)
            labels += [
                (float(y), float(x), str(words), colour_of(trace, at))
                for (x, y), words in zip(points, trace.text, strict=True)
                if words and math.isfinite(y) and plot.box.top - 2 <= y <= plot.box.bottom + 2
            ]
    out, last = "", dict[int, float]()
    for y, x, words, colour in sorted(labels):
        y = max(y, last.get(round(x), -1e9) + 0.9 * TYPE)
        last[round(x)] = y
        out += label(x + 10, y + 7, words, TYPE, fill=colour, weight=600)
    return out


def _shapes(figure: go.Figure, plot: Plot, layer: str) -> Iterator[str]:
    for shape in figure.layout.shapes:
        if (layer == "below") != (shape.layer == "below"):
            continue
        look = (
            f'stroke="{shape.line.color or AXIS}" stroke-width="{SCALE * (shape.line.width or 2):.1f}"'
            f'{dashed(shape.line.dash)} fill="none"'
        )
        if shape.type == "path":
            values = [tuple(map(float, each)) for each in re.findall(r"(-?[\d.e+-]+),(-?[\d.e+-]+)", shape.path)]
            points = plot.points(*np.array(values).T)
            ends = zip(points[::2], points[1::2], strict=False)
            yield f'<path d="{"".join(f"M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}" for (a, b), (c, d) in ends)}" {look}/>'
            continue
        x = [_coordinate(plot, "x", shape, each) for each in (shape.x0, shape.x1)]
        y = [_coordinate(plot, "y", shape, each) for each in (shape.y0, shape.y1)]
        if shape.type == "rect":
            yield rect(min(x), min(y), abs(x[1] - x[0]), abs(y[1] - y[0]), look)
        else:
            yield f'<path d="M{x[0]:.1f} {y[0]:.1f}L{x[1]:.1f} {y[1]:.1f}" {look}/>'


def _coordinate(plot: Plot, along: str, of: go.layout.Shape | go.layout.Annotation, value: Any) -> float:
    """A coordinate of a shape or a note in px: from a share of the picture, or a value of the axis.

    On a logarithmic axis plotly gives a shape's coordinate as a value, and a note's as its logarithm.
    """
    side, ref = plot.x if along == "x" else plot.y, of[f"{along}ref"] or ""
    if ref == "paper" or ref.endswith("domain"):
        at = side.low + float(value) * (side.high - side.low)
    elif isinstance(value, str) or (side.log and isinstance(of, go.layout.Shape)):
        at = side.at([value])[0]
    else:
        at = value
    return float(plot.across(at) if along == "x" else plot.up(at))


def _notes(figure: go.Figure, plot: Plot) -> str:
    out = ""
    for note in figure.layout.annotations:
        if not note.text or LINE_NAME.fullmatch(note.text):
            continue
        x, y = _coordinate(plot, "x", note, note.x), _coordinate(plot, "y", note, note.y)
        if not (math.isfinite(x) and math.isfinite(y)):
            continue
        anchor = {"left": "start", "right": "end"}.get(note.xanchor or "center", "middle")
        down = {"top": 18, "bottom": -8}.get(note.yanchor or "", 0 if not note.showarrow else -18)
        out += label(x, y + down, plain(note.text), TYPE - 2, anchor, note.font.color or AXIS)
    return out


def _at_ends(ends: Sequence[End], plot: Plot) -> str:
    """Names at the lines' ends, above each other where these are close."""
    box, out = plot.box, ""
    heights = stacked((box.height * end.share - box.bottom for end in ends), _LINE, -(box.top + 6))
    for height, end in zip(heights, ends, strict=True):
        x, y = box.right + 8, -height
        out += f'<path d="M{x:.1f} {y:.1f}h16" stroke="{end.colour}" stroke-width="4"/>'
        out += label(x + 22, y + 7, end.name, TYPE)
    return out


def _legend(traces: Sequence[Any], *, only_bands: bool = False) -> list[Named]:
    listed: dict[str, str] = {}
    for at, trace in enumerate(traces):
        words, is_band = plain(trace.name or ""), trace.type == "scatter" and trace.fill == "toself"
        if words and trace.showlegend is not False and trace.type != "heatmap" and (is_band or not only_bands):
            listed.setdefault(words, trace.fillcolor if is_band else colour_of(trace, at))
    return list(listed.items())


def _rows(names: Sequence[Named], across: float) -> list[list[Named]]:
    rows: list[list[Named]] = []
    used = across + 1
    for words, colour in names:
        long = wide(words, TYPE) + 60
        if used + long > across:
            rows.append([])
            used = 0.0
        rows[-1].append((words, colour))
        used += long
    return rows


def _written(rows: Sequence[Sequence[Named]], box: Box) -> str:
    out = ""
    for at, row in enumerate(rows):
        x, y = box.left, box.top + 12 + at * _LINE
        for words, colour in row:
            out += rect(x, y - 6, 24, 12, filled(colour))
            out += label(x + 32, y + 7, words, TYPE)
            x += wide(words, TYPE) + 60
    return out
