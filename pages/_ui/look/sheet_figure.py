"""A plotly figure drawn as SVG by our own hand, so that a picture needs no browser and can be read by a test.

Drawn is what these pages draw: lines, bands, markers, bars, histograms, heat maps, their axes, names and notes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from plotly.colors import hex_to_rgb, sample_colorscale, unlabel_rgb

from dpgp_core.arrays import FloatArray
from dpgp_core.release.figure import marks
from pages._ui.look.plots import GUARANTEE, NON_PRIVATE, OTHER, PREDICTION_SCALE, PRIVATE, RISK, TRUTH
from pages._ui.look.sheet import Box, label, wide
from pages._ui.look.sheet_axes import AXIS, TYPE, Plot, Side, axes, plain, rect, side_of, squared, upright
from pages._ui.look.tables import histogram_of, values_of

_LINE, _SCALE = 26, 1.7  # px between two names; of strokes, over those on the screen
_COLOURS = (PRIVATE, NON_PRIVATE, OTHER, GUARANTEE, RISK, TRUTH)
_DASHES = {"dot": "3 5", "dash": "12 8", "dashdot": "12 6 3 6", "longdash": "20 8"}


class Name(NamedTuple):
    """Of something drawn; ``share``: where its line ends, from the axis's lower end."""

    share: float
    words: str
    colour: str
    band: bool = False


def _has_legend(figure: go.Figure) -> bool:
    return figure.layout.showlegend is not False


class _Laid(NamedTuple):
    """A figure's parts where they go."""

    plot: Plot
    ends: list[Name]
    rows: list[list[Name]]
    bar: Any


def _seen(figure: go.Figure) -> list[Any]:
    return [trace for trace in figure.data if trace.opacity != 0]


def _laid(figure: go.Figure, box: Box, traces: list[Any], named: bool = True) -> _Laid:
    ends = _names_at_ends(figure) if named else []
    legend = [name for name in _legend(traces) if not ends or name.band] if ends or _has_legend(figure) else []
    legend = legend if named else []
    bar = next((t for t in traces if t.type == "heatmap" and t.showscale is not False), None)
    x, y = side_of(figure, traces, "x"), side_of(figure, traces, "y")
    left = 42 + max((wide(words, TYPE) for _, words in y.ticks), default=0) + (_LINE if y.title else 0)
    right = max((wide(name.words, TYPE) for name in ends), default=0) + (40 if ends else 24)
    right = max(right, 150 if bar is not None else 0, _beyond(traces))
    rows = _rows(legend, box.width)
    top = 14 + _LINE * len(rows) + (_LINE if figure.layout.title.text else 0)
    inner = Box(box.left + left, box.top + top, box.width - left - right, box.height - top - 2.6 * _LINE)
    return _Laid(Plot(squared(figure, inner, x, y), x, y), ends, rows, bar)


def names_of(figure: go.Figure, box: Box) -> str:
    """The names of lines and bands alone, for several figures that share them."""
    return _written(_rows(list(_legend(_seen(figure))), box.width), Box(box.left, box.top + 20, box.width, box.height))


def drawn(figure: go.Figure, box: Box, *, named: bool = True) -> str:
    """The figure in a box; ``named``: with the names of its lines."""
    traces = _seen(figure)
    plot, ends, rows, bar = _laid(figure, box, traces, named)
    clip = f"plot{box.left:.0f}_{box.top:.0f}"
    below, above = ("".join(_shapes(figure, plot, layer)) for layer in ("below", "above"))
    return (
        f'<clipPath id="{clip}"><rect x="{plot.box.left:.1f}" y="{plot.box.top:.1f}" width="{plot.box.width:.1f}" '
        f'height="{plot.box.height:.1f}"/></clipPath>{axes(plot)}'
        f'<g clip-path="url(#{clip})">{below}{_traces(traces, plot, figure)}{above}</g>'
        f"{_texts(traces, plot)}{_over_bars(figure, traces, plot)}{_notes(figure, plot)}"
        f"{_written(rows, box)}{_at_ends(ends, plot)}"
        f"{'' if bar is None else _colour_bar(bar, plot)}{_headline(figure, box, plot)}"
    )


def _headline(figure: go.Figure, box: Box, plot: Plot) -> str:
    words = plain(figure.layout.title.text or "")
    return label(plot.box.left, box.top + 18, words, TYPE, weight=600) if words else ""


def _beyond(traces: Sequence[Any]) -> float:
    """Room for words to the right of lines' ends."""
    texts = [str(t.text[-1]) for t in traces if t.type == "scatter" and "text" in (t.mode or "") and len(t.text or ())]
    return max((wide(each, TYPE) + 16 for each in texts), default=0)


def _traces(traces: Sequence[Any], plot: Plot, figure: go.Figure) -> str:
    out, piled = "", dict[str, float]()
    bars = [trace for trace in traces if trace.type == "bar"]
    before: FloatArray | None = None
    for at, trace in enumerate(traces):
        colour = _colour_of(trace, at)
        if trace.type == "scatter":
            drawn_now, before = _scatter(trace, plot, colour, before)
            out += drawn_now
        elif trace.type == "heatmap":
            out += _heat(trace, plot)
        elif trace.type == "bar":
            out += _bars(trace, plot, colour, figure, bars, piled)
        elif trace.type == "histogram":
            middle, counts = histogram_of(trace)
            width = float(middle[1] - middle[0]) if len(middle) > 1 else 1.0
            shade = f' fill-opacity="{trace.opacity if trace.opacity is not None else 1:g}"'
            for m, c in zip(plot.x.at(middle), counts, strict=True):
                out += _bar(plot, (m - width / 2, m + width / 2), (0.0, c), f'fill="{colour}"{shade}')
    return out


def _scatter(trace: Any, plot: Plot, colour: str, before: FloatArray | None) -> tuple[str, FloatArray]:
    x, y = values_of(trace.x), values_of(trace.y)
    places, out, mode = plot.places(x, y), "", trace.mode or "lines"
    stroke = f'stroke="{colour}" stroke-width="{_SCALE * (trace.line.width or 2):.1f}"{_dashed(trace.line.dash)}'
    if trace.fill == "toself":
        out += f'<polygon points="{_points(places)}" {_paint(trace.fillcolor)} stroke="none"/>'
    elif trace.fill == "tonexty" and before is not None:
        out += f'<polygon points="{_points(np.vstack([before, places[::-1]]))}" {_paint(trace.fillcolor)}/>'
    if "lines" in mode and trace.fill != "toself":
        for run in _runs(places):
            out += f'<polyline points="{_points(run)}" fill="none" {stroke}/>'
    if trace.error_y.array is not None:
        more = values_of(trace.error_y.array).astype(float)
        less = more if trace.error_y.arrayminus is None else values_of(trace.error_y.arrayminus).astype(float)
        tops, lows = (plot.up(plot.y.at(each)) for each in (y.astype(float) + more, y.astype(float) - less))
        for (px, _), high, low in zip(places, tops, lows, strict=True):
            out += f'<path d="M{px:.1f} {low:.1f}V{high:.1f}" stroke="{colour}" stroke-width="2"/>'
    if "markers" in mode and (trace.marker.opacity is None or trace.marker.opacity > 0.05):
        out += _markers(trace, places, colour)
    return out, places


def _markers(trace: Any, places: FloatArray, colour: str) -> str:
    marker, out = trace.marker, ""
    sizes = np.broadcast_to(6 if marker.size is None else np.asarray(marker.size, float), len(places))
    several = marker.color if isinstance(marker.color, (tuple, list)) else [marker.color or colour] * len(places)
    for (x, y), size, paint in zip(places, sizes, several, strict=True):
        if not (math.isfinite(x) and math.isfinite(y)):
            continue
        r, symbol = _SCALE * size / 2, str(marker.symbol or "circle")
        if symbol.startswith("circle"):
            look = f'fill="none" stroke="{paint}" stroke-width="1.6"' if "open" in symbol else _paint(paint)
            out += f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}" {look}/>'
        elif symbol == "x":
            d = f"M{x - r:.1f} {y - r:.1f}L{x + r:.1f} {y + r:.1f}M{x - r:.1f} {y + r:.1f}L{x + r:.1f} {y - r:.1f}"
            out += f'<path d="{d}" stroke="{paint}" stroke-width="3"/>'
        else:
            corners = {
                "diamond": ((0, -1), (1, 0), (0, 1), (-1, 0)),
                "triangle-up": ((0, -1), (1, 0.8), (-1, 0.8)),
            }.get(symbol, ((-1, -1), (1, -1), (1, 1), (-1, 1)))
            out += (
                f'<polygon points="{_points(np.array([(x + r * a, y + r * b) for a, b in corners]))}" {_paint(paint)}/>'
            )
    return out


def _bars(trace: Any, plot: Plot, colour: str, figure: go.Figure, bars: Sequence[Any], piled: dict[str, float]) -> str:
    x, y, out = values_of(trace.x), values_of(trace.y).astype(float), ""
    several = trace.marker.color if isinstance(trace.marker.color, (tuple, list)) else [colour] * len(x)
    starts, width = _sides(trace, plot, figure, bars)
    for name, start, height, paint in zip(x, starts, y, several, strict=True):
        base = piled.get(str(name), 0.0) if figure.layout.barmode in ("stack", "relative") else 0.0
        piled[str(name)] = base + height
        out += _bar(plot, (start, start + width), (base, base + height), _paint(paint))
    return out


def _sides(trace: Any, plot: Plot, figure: go.Figure, bars: Sequence[Any]) -> tuple[FloatArray, float]:
    """The left sides of a trace's bars, and their width, on the axis's own scale."""
    place, count = (bars.index(trace), len(bars)) if figure.layout.barmode == "group" else (0, 1)
    at, width = plot.x.at(values_of(trace.x)), 0.8
    if not plot.x.names:
        width = float(trace.width) if isinstance(trace.width, (int, float)) else width * _apart(at)
    return at - width / 2 + place * width / count, width / count


def _apart(at: FloatArray) -> float:
    places = np.unique(at)
    return float(np.diff(places).min()) if len(places) > 1 else 1.0


def _bar(plot: Plot, x: tuple[float, float], y: tuple[float, float], look: str) -> str:
    """Between two places on the x axis's own scale and two values of the other."""
    a, b = plot.across(np.array(x))
    c, d = plot.up(plot.y.at(y))
    return rect(min(a, b), min(c, d), max(abs(b - a), 1.5), abs(d - c), look)


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
        look = f'fill="{colours[row][column]}"'
        out += rect(left + gap, top + gap, right - left - 2 * gap, bottom - top - 2 * gap, look)
        if trace.texttemplate and trace.text is not None:
            words = str(values_of(trace.text)[row][column])
            ink = "#ffffff" if _is_dark(colours[row][column]) else "#1a1a1a"
            out += label((left + right) / 2, (top + bottom) / 2 + 7, words, TYPE, "middle", ink) if words else ""
    return f'<g shape-rendering="crispEdges">{out}</g>'


def _edges(at: FloatArray) -> FloatArray:
    """Where cells around places begin and end."""
    if len(at) == 1:
        return np.array([at[0] - 0.5, at[0] + 0.5])
    middle = (at[1:] + at[:-1]) / 2
    return np.concatenate([[2 * at[0] - middle[0]], middle, [2 * at[-1] - middle[-1]]])


def _range(trace: Any, z: FloatArray) -> tuple[float, float]:
    known = z[np.isfinite(z)]
    low = trace.zmin if trace.zmin is not None else (known.min() if len(known) else 0.0)
    high = trace.zmax if trace.zmax is not None else (known.max() if len(known) else 1.0)
    return float(low), float(high if high > low else low + 1)


def _sampled(trace: Any, shares: FloatArray) -> list[str]:
    """Colours of the trace's scale at shares of it; steps in a scale stay steps."""
    scale = trace.colorscale
    if scale is None or isinstance(scale, str):
        return [str(each) for each in sample_colorscale(scale or PREDICTION_SCALE, shares)]
    at = [float(place) for place, _ in scale]
    parts = np.array([_rgb(colour) for _, colour in scale])
    mixed = np.column_stack([np.interp(shares, at, parts[:, channel]) for channel in range(3)]).round().astype(int)
    return [f"rgb({red},{green},{blue})" for red, green, blue in mixed]


def _rgb(colour: str) -> tuple[float, ...]:
    return tuple(hex_to_rgb(colour)) if colour.startswith("#") else tuple(unlabel_rgb(colour))


def _colours(trace: Any, z: FloatArray) -> list[list[str]]:
    low, high = _range(trace, z)
    shares = np.clip((np.nan_to_num(z, nan=low) - low) / (high - low), 0, 1)
    listed = _sampled(trace, np.linspace(0, 1, 65))
    return [[listed[round(64 * share)] for share in row] for row in shares]


def _is_dark(colour: str) -> bool:
    parts = [float(each) for each in re.findall(r"[\d.]+", colour)[:3]]
    return 0.3 * parts[0] + 0.59 * parts[1] + 0.11 * parts[2] < 128


def _colour_bar(trace: Any, plot: Plot) -> str:
    low, high = _range(trace, values_of(trace.z).astype(float))
    left, box, count = plot.box.right + 24, plot.box, 64
    step = box.height / count
    out = "".join(
        rect(left, box.bottom - (at + 1) * step, 18, step + 0.6, f'fill="{colour}"')
        for at, colour in enumerate(_sampled(trace, np.linspace(0, 1, count)))
    )
    for value, words in marks(low, high):
        out += label(left + 26, box.bottom - box.height * (value - low) / (high - low) + 7, words, TYPE)
    title = plain(trace.colorbar.title.text or "")
    return out + (upright(left + 104, box, title) if title else "")


def _over_bars(figure: go.Figure, traces: Sequence[Any], plot: Plot) -> str:
    """What is written above bars, in the middle of each."""
    bars, out = [trace for trace in traces if trace.type == "bar"], ""
    for trace in bars:
        if trace.text is None:
            continue
        starts, width = _sides(trace, plot, figure, bars)
        across, above = plot.across(starts + width / 2), plot.up(plot.y.at(values_of(trace.y).astype(float))) - 8
        for x, y, words in zip(across, above, values_of(trace.text), strict=True):
            out += label(float(x), float(y), str(words), TYPE, "middle", fill=AXIS, weight=600) if str(words) else ""
    return out


def _texts(traces: Sequence[Any], plot: Plot) -> str:
    """Words that belong to points, moved apart where lines end close together."""
    found = []
    for at, trace in enumerate(traces):
        if trace.type == "scatter" and "text" in (trace.mode or "") and trace.text is not None:
            places = plot.places(values_of(trace.x), values_of(trace.y))
            found += [
                (float(y), float(x), str(words), _colour_of(trace, at))
                for (x, y), words in zip(places, trace.text, strict=True)
                if words and math.isfinite(y) and plot.box.top - 2 <= y <= plot.box.bottom + 2
            ]
    out, last = "", dict[int, float]()
    for y, x, words, colour in sorted(found):
        y = max(y, last.get(round(x), -1e9) + 0.9 * TYPE)
        last[round(x)] = y
        out += label(x + 10, y + 7, words, TYPE, fill=colour, weight=600)
    return out


def _shapes(figure: go.Figure, plot: Plot, layer: str) -> Iterator[str]:
    for shape in figure.layout.shapes:
        if (layer == "below") != (shape.layer == "below"):
            continue
        look = (
            f'stroke="{shape.line.color or AXIS}" stroke-width="{_SCALE * (shape.line.width or 2):.1f}"'
            f'{_dashed(shape.line.dash)} fill="none"'
        )
        if shape.type == "path":
            points = [tuple(map(float, each)) for each in re.findall(r"(-?[\d.e+-]+),(-?[\d.e+-]+)", shape.path)]
            places = plot.places(*np.array(points).T)
            ends = zip(places[::2], places[1::2], strict=False)
            yield f'<path d="{"".join(f"M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}" for (a, b), (c, d) in ends)}" {look}/>'
            continue
        x = [_place(plot, "x", shape.xref, _logarithm(plot.x, shape.xref, v)) for v in (shape.x0, shape.x1)]
        y = [_place(plot, "y", shape.yref, _logarithm(plot.y, shape.yref, v)) for v in (shape.y0, shape.y1)]
        if shape.type == "rect":
            yield rect(min(x), min(y), abs(x[1] - x[0]), abs(y[1] - y[0]), look)
        else:
            yield f'<path d="M{x[0]:.1f} {y[0]:.1f}L{x[1]:.1f} {y[1]:.1f}" {look}/>'


def _logarithm(side: Side, ref: str | None, value: Any) -> Any:
    """On a logarithmic axis plotly gives a shape's place as a value, and a note's as its logarithm."""
    of_axis = ref != "paper" and not (ref or "").endswith("domain")
    return math.log10(value) if side.log and of_axis and value > 0 else value


def _place(plot: Plot, along: str, ref: str | None, value: Any) -> float:
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
        x, y = _place(plot, "x", note.xref, note.x), _place(plot, "y", note.yref, note.y)
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
    found = []
    for note in figure.layout.annotations:
        if note.text and _is_name(note):
            colour = re.search(r"color:([^\"]+)", note.text)
            words = plain(note.text.replace("━", ""))
            found.append(Name(float(note.y), words, colour[1] if colour else AXIS))
    return sorted(found)


def _at_ends(names: Sequence[Name], plot: Plot) -> str:
    """Names at the lines' ends, above each other where these are close."""
    places = [plot.box.bottom - plot.box.height * name.share for name in names]
    for at in range(1, len(places)):
        places[at] = min(places[at], places[at - 1] - _LINE)
    out, top = "", plot.box.top + 6
    for at in reversed(range(len(places))):
        places[at] = max(places[at], top)
        top = places[at] + _LINE
    for y, (_, words, colour, _) in zip(places, names, strict=True):
        x = plot.box.right + 8
        out += f'<path d="M{x:.1f} {y:.1f}h16" stroke="{colour}" stroke-width="4"/>'
        out += label(x + 22, y + 7, words, TYPE)
    return out


def _legend(traces: Sequence[Any]) -> Iterator[Name]:
    seen = set()
    for at, trace in enumerate(traces):
        words = plain(trace.name or "")
        if words and trace.showlegend is not False and words not in seen and trace.type != "heatmap":
            seen.add(words)
            filled = trace.type == "scatter" and trace.fill == "toself"
            yield Name(0.0, words, trace.fillcolor if filled else _colour_of(trace, at), filled)


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
            out += rect(x, y - 6, 24, 12, _paint(colour))
            out += label(x + 32, y + 7, words, TYPE)
            x += wide(words, TYPE) + 60
    return out


def _colour_of(trace: Any, at: int) -> str:
    line = getattr(trace, "line", None)
    marker = trace.marker if trace.type in ("scatter", "bar", "histogram") else None
    plain = marker.color if marker is not None and isinstance(marker.color, str) else None
    return str((line.color if line is not None else None) or plain or _COLOURS[at % len(_COLOURS)])


def _paint(colour: Any) -> str:
    """A colour as SVG has it: what it covers apart from what it is."""
    parts = re.fullmatch(r"rgba\((\d+), ?(\d+), ?(\d+), ?([\d.e-]+)\)", str(colour))
    if parts is None:
        return f'fill="{colour}"'
    return f'fill="rgb({parts[1]},{parts[2]},{parts[3]})" fill-opacity="{float(parts[4]):g}"'


def _dashed(dash: str | None) -> str:
    if not dash or dash == "solid":
        return ""
    known = _DASHES.get(dash) or " ".join(f"{_SCALE * float(each.removesuffix('px')):g}" for each in dash.split(","))
    return f' stroke-dasharray="{known}"'


def _points(places: FloatArray) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places if math.isfinite(x) and math.isfinite(y))


def _runs(places: FloatArray) -> Iterator[FloatArray]:
    """Parts of a line without a gap."""
    known = np.asarray(np.isfinite(places).all(axis=1))
    cuts = np.flatnonzero(np.diff(known.astype(int))) + 1
    for part in np.split(np.arange(len(places)), cuts):
        if len(part) and known[part[0]]:
            yield places[part]
