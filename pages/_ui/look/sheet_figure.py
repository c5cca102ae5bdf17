"""A plotly figure drawn as SVG by our own hand, so that a picture needs no browser and can be read by a test.

Its layout, names, notes and lines across are here; traces and axes have files of their own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from pages._ui.look.plots import stacked
from pages._ui.look.sheet import Box, label, wide
from pages._ui.look.sheet_axes import AXIS, TYPE, Plot, Side, axes, plain, rect, side_of, squared
from pages._ui.look.sheet_traces import SCALE, colour_bar, colour_of, dashed, drawn_traces, filled, over_bars
from pages._ui.look.tables import values_of

_LINE = 26  # px between two names


class Name(NamedTuple):
    """Of something drawn; ``share``: height of its line's end, from the axis's lower end."""

    share: float
    words: str
    colour: str
    band: bool = False


def _visible(figure: go.Figure) -> list[Any]:
    return [trace for trace in figure.data if trace.opacity != 0]


def _laid(
    figure: go.Figure, box: Box, traces: list[Any], bar: Any, named: bool
) -> tuple[Plot, list[Name], list[list[Name]]]:
    """The plot of a figure, the names at its lines' ends, and the rows of its legend above it."""
    ends = _names_at_ends(figure) if named else []
    has_legend = named and (bool(ends) or figure.layout.showlegend is not False)
    legend = [name for name in _legend(traces) if not ends or name.band] if has_legend else []
    x, y = side_of(figure, traces, "x"), side_of(figure, traces, "y")
    left = 42 + max((wide(words, TYPE) for _, words in y.ticks), default=0) + (_LINE if y.title else 0)
    right = max((wide(name.words, TYPE) for name in ends), default=0) + (40 if ends else 24)
    right = max(right, 150 if bar is not None else 0, _beyond(traces))
    rows = _rows(legend, box.width)
    top = 14 + _LINE * len(rows) + (_LINE if figure.layout.title.text else 0)
    inner = Box(box.left + left, box.top + top, box.width - left - right, box.height - top - 2.6 * _LINE)
    return Plot(squared(figure, inner, x, y), x, y), ends, rows


def names_of(figure: go.Figure, box: Box) -> str:
    """The names of lines and bands alone, for several figures that share them."""
    return _written(
        _rows(list(_legend(_visible(figure))), box.width), Box(box.left, box.top + 20, box.width, box.height)
    )


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
            points = plot.points(values_of(trace.x), values_of(trace.y))
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
        x = [_coordinate(plot, "x", shape.xref, _logarithm(plot.x, shape.xref, v)) for v in (shape.x0, shape.x1)]
        y = [_coordinate(plot, "y", shape.yref, _logarithm(plot.y, shape.yref, v)) for v in (shape.y0, shape.y1)]
        if shape.type == "rect":
            yield rect(min(x), min(y), abs(x[1] - x[0]), abs(y[1] - y[0]), look)
        else:
            yield f'<path d="M{x[0]:.1f} {y[0]:.1f}L{x[1]:.1f} {y[1]:.1f}" {look}/>'


def _logarithm(side: Side, ref: str | None, value: Any) -> Any:
    """On a logarithmic axis plotly gives a shape's coordinate as a value, and a note's as its logarithm."""
    of_axis = ref != "paper" and not (ref or "").endswith("domain")
    return math.log10(value) if side.log and of_axis and value > 0 else value


def _coordinate(plot: Plot, along: str, ref: str | None, value: Any) -> float:
    """A coordinate of a shape or a note: a share of the picture, or a value of the axis (a log axis's logarithm)."""
    side = plot.x if along == "x" else plot.y
    if ref == "paper" or (ref or "").endswith("domain"):
        at = side.low + float(value) * (side.high - side.low)
    else:
        at = float(side.at([value])[0] if isinstance(value, str) and side.names else value)
    return float(plot.across(at) if along == "x" else plot.up(at))


def _notes(figure: go.Figure, plot: Plot) -> str:
    out = ""
    for note in figure.layout.annotations:
        if not note.text or _is_name(note):
            continue
        x, y = _coordinate(plot, "x", note.xref, note.x), _coordinate(plot, "y", note.yref, note.y)
        if not (math.isfinite(x) and math.isfinite(y)):
            continue
        anchor = {"left": "start", "right": "end"}.get(note.xanchor or "center", "middle")
        down = {"top": 18, "bottom": -8}.get(note.yanchor or "", 0 if not note.showarrow else -18)
        out += label(x, y + down, plain(note.text), TYPE - 2, anchor, note.font.color or AXIS)
    return out


def _is_name(note: Any) -> bool:
    """Whether a note is the name of a line at its right end."""
    return note.xref == "paper" and note.x == 1 and note.yref == "paper" and "<b>━</b>" in note.text


def _names_at_ends(figure: go.Figure) -> list[Name]:
    names = []
    for note in figure.layout.annotations:
        if note.text and _is_name(note):
            colour = re.search(r"color:([^\"]+)", note.text)
            words = plain(note.text.replace("━", ""))
            names.append(Name(float(note.y), words, colour[1] if colour else AXIS))
    return sorted(names)


def _at_ends(names: Sequence[Name], plot: Plot) -> str:
    """Names at the lines' ends, above each other where these are close."""
    box, out = plot.box, ""
    heights = stacked((box.height * name.share - box.bottom for name in names), _LINE, -(box.top + 6))
    for height, (_, words, colour, _) in zip(heights, names, strict=True):
        x, y = box.right + 8, -height
        out += f'<path d="M{x:.1f} {y:.1f}h16" stroke="{colour}" stroke-width="4"/>'
        out += label(x + 22, y + 7, words, TYPE)
    return out


def _legend(traces: Sequence[Any]) -> Iterator[Name]:
    listed = set()
    for at, trace in enumerate(traces):
        words = plain(trace.name or "")
        if words and trace.showlegend is not False and words not in listed and trace.type != "heatmap":
            listed.add(words)
            band = trace.type == "scatter" and trace.fill == "toself"
            yield Name(0.0, words, trace.fillcolor if band else colour_of(trace, at), band)


def _rows(names: Sequence[Name], across: float) -> list[list[Name]]:
    rows: list[list[Name]] = []
    used = across + 1
    for name in names:
        long = wide(name.words, TYPE) + 60
        if used + long > across:
            rows.append([])
            used = 0.0
        rows[-1].append(name)
        used += long
    return rows


def _written(rows: Sequence[Sequence[Name]], box: Box) -> str:
    out = ""
    for at, row in enumerate(rows):
        x, y = box.left, box.top + 12 + at * _LINE
        for _, words, colour, _ in row:
            out += rect(x, y - 6, 24, 12, filled(colour))
            out += label(x + 32, y + 7, words, TYPE)
            x += wide(words, TYPE) + 60
    return out
