"""Parts that all plots share: colours, axes, bands, names at the ends of lines."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpgp_core.arrays import FloatArray
from dpgp_core.dates import Dates
from dpgp_core.figures.ticks import dates_of, marks
from dpgp_core.table import Dataset
from pages._ui.look.tables import NO_VALUES

TRUTH = "#7f7f7f"  # true data, truth: hollow markers, dotted
NON_PRIVATE = "#0072B2"  # non-private model and its uncertainty: solid, band at 18 %
PRIVATE = "#E69F00"  # private release and its noise: band at 22 %; among several methods, Bayes cloaking
REFINED = "#6A3D9A"  # among several methods: cloaking that adds noise once, and posterior paths
SPARSE = "#00735A"  # among several methods: the sparse DP-GP
OTHER = "#CC79A7"  # method for comparison: dashed
PINNED = "#A65628"  # a pinned setting: dash-dotted
BINS = "#56B4E9"  # binning, in comparisons of many mechanisms
RISK = "#D55E00"
GUARANTEE = "#009E73"
COLOURS = (PRIVATE, NON_PRIVATE, OTHER, GUARANTEE, RISK, TRUTH)  # colours of traces without one of their own

NOISE_SCALE = "Cividis"
PREDICTION_SCALE = "Viridis"

MEANINGS = (
    (PRIVATE, "published, with privacy noise"),
    (NON_PRIVATE, "without privacy"),
    (TRUTH, "true data"),
    (OTHER, "the method compared with"),
    (PINNED, "what you pinned"),
    (GUARANTEE, "what is guaranteed"),
    (RISK, "risk, attack"),
)


def faded(colour: str, opacity: float) -> str:
    """A hex colour as rgba(...) with the given opacity in [0, 1]."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


HEIGHT = 470
_WELL_KNOWN = 0.5  # smallest share of a value that is well known; colours span these values
_FADE = [[0, "rgba(128,128,128,0)"], [1, "rgba(128,128,128,0.85)"]]  # grey over uncertain values, on any background
_MEDIAN = 50
_AIR = 0.04  # share of the drawn range that is left free above and below it
_MARGIN = {"l": 60, "r": 20, "t": 40, "b": 50}
LESSON = 17  # size of type in px that can be read from the last row
_LESSON_HEIGHT = 430  # height in px that leaves room for question, headline and epsilon at 1280 x 720
_LINE, _SMALL = 15, 12  # px between two names, and of their type
_LETTER = 6.6  # approximate width of a letter in px
_GAP = 6  # px between a line and its name
_UPPER = 0.9  # share of an axis above which a name would be under the toolbar
_NUMBER = 42  # px to the right of a growth chart for the numbers of its lines, in large type too
_SAME_END = 0.06  # lines that end nearer to each other, as a share of all ends, have one number
_ABOVE = 6  # px between a row and the name above it
_NEAR = 10  # px between an upright axis's marks and its title: the page's theme has 24, which a telephone lacks
_LITTLE = 20  # px above a picture without a legend
_TOOLS = 44  # px above a picture with names at its upper right, where the toolbar is
_COLOUR_BAR: dict[str, Any] = {  # below a map, so that it takes none of its width
    "thickness": 10,
    "orientation": "h",
    "x": 0,
    "xanchor": "left",
    "y": -0.2,
    "yanchor": "top",
}


def _template() -> go.layout.Template:
    """Return what all figures have in common."""
    return go.layout.Template(
        layout={
            "colorway": COLOURS,
            "colorscale": {"sequential": PREDICTION_SCALE, "sequentialminus": NOISE_SCALE, "diverging": "PuOr_r"},
            "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.0, "xanchor": "left", "x": 0},
            "hovermode": "closest",
            "hoverlabel": {"namelength": -1},  # names are shown in full
            "dragmode": False,  # a swipe scrolls the page; the buttons above a chart zoom
            "barmode": "overlay",
        },
        data={"heatmap": [{"colorbar": _COLOUR_BAR}]},
    )


if type(go) is ModuleType:  # in processes that compute, plotly is not loaded (``work.deferred``)
    import plotly.io as pio

    # Plotly copies and checks a template for each figure that is given one, but not the one that all figures begin with
    pio.templates["pages"] = _template()
    pio.templates.default = "pages"


def axis(name: str, unit: str) -> str:
    """Return an axis title with the unit."""
    return f"{name} [{unit}]" if unit else name


def input_axis(data: Dataset) -> str:
    """Return the axis title of the first input."""
    return axis(data.x_names[0], data.x_units[0])


def ticked(values: Sequence[float]) -> dict[str, Any]:
    """Return the tick marks of a logarithmic axis, with numbers as pages write them."""
    return {"type": "log", "tickvals": values, "ticktext": [f"{value:g}" for value in values]}


def band_of(
    x: FloatArray, low: FloatArray, high: FloatArray, colour: str, opacity: float, name: str = "", **more: Any
) -> dict[str, Any]:
    """Return the trace of a band between two curves (P,); without a name it is not in the legend. ``more`` are
    arguments of plotly.

    Plotly adds a list of traces in half of the time that one after another takes.
    """
    return {
        "type": "scatter",
        "x": np.concatenate([x, x[::-1]]),
        "y": np.concatenate([high, low[::-1]]),
        "fill": "toself",
        "fillcolor": faded(colour, opacity),
        "line": {"color": faded(colour, 0.0), "width": 0},
        "mode": "lines",
        "name": name,
        "showlegend": None if name else False,
        "hoverinfo": "skip",
        **more,
    }


def line_of(
    x: Any, y: Any, name: str, colour: str, dash: str = "solid", *, width: float = 2, **more: Any
) -> dict[str, Any]:
    """Return the trace of a curve through points (P,); ``width`` in px, ``more`` are arguments of plotly."""
    look = {"color": colour, "dash": dash, "width": width}
    return {"type": "scatter", "x": x, "y": y, "name": name, "mode": "lines", "line": look, **more}


def band(figure: go.Figure, *of: Any, **more: Any) -> None:
    """Draw a band, with the arguments of ``band_of``."""
    figure.add_trace(band_of(*of, **more))


def draw_line(figure: go.Figure, *of: Any, **more: Any) -> None:
    """Draw a curve, with the arguments of ``line_of``."""
    figure.add_trace(line_of(*of, **more))


def upright_line(figure: go.Figure, x: float, line: Mapping[str, Any], name: str = "") -> None:
    """Draw an upright line over the whole plot, with its name at the upper right.

    ``figure.add_vline`` takes ten times as long, because it searches the figure for subplots.
    """
    figure.add_shape(type="line", x0=x, x1=x, xref="x", y0=0, y1=1, yref="y domain", line=line)
    if name:
        at: Any = {"x": x, "xref": "x", "xanchor": "left", "y": 1, "yref": "y domain", "yanchor": "top"}
        figure.add_annotation(at, text=name, showarrow=False)


def level_line(
    figure: go.Figure, y: float, line: Mapping[str, Any], name: str = "", *, right: bool = False, above: bool = True
) -> None:
    """Draw a level line over the whole plot, with its name above or below one of its ends."""
    figure.add_shape(type="line", x0=0, x1=1, xref="x domain", y0=y, y1=y, yref="y", line=line)
    if name:
        at: Any = {"x": int(right), "xref": "x domain", "xanchor": "right" if right else "left", "y": y, "yref": "y"}
        figure.add_annotation(at, yanchor="bottom" if above else "top", text=name, showarrow=False)


def grid_map(x: FloatArray, y: FloatArray, z: FloatArray, title: str, shares: FloatArray | None = None) -> go.Figure:
    """Draw values on a grid as colours.

    Args:
        x: first input (S,).
        y: second input (T,).
        z: the values (T, S).
        title: title of the colour bar.
        shares: how much is known of each value (T, S), from 0 to 1: the others fade, and colours span those above
            ``_WELL_KNOWN``. None if all values are equally known.
    """
    bar = {"title": {"text": title, "side": "right"}}
    figure = go.Figure(go.Heatmap(x=x, y=y, z=z, colorscale=PREDICTION_SCALE, colorbar=bar, hoverongaps=False))
    if shares is not None:
        well = z[(shares >= _WELL_KNOWN) & np.isfinite(z)]
        if len(well) and well.min() < well.max():
            figure.update_traces(zmin=float(well.min()), zmax=float(well.max()))
        look: Any = {"colorscale": _FADE, "showscale": False, "hoverinfo": "skip", "meta": NO_VALUES}
        figure.add_heatmap(x=x, y=y, z=1 - shares, zmin=0, zmax=1, **look)
    return figure


def fit_axis(figure: go.Figure, drawn: Sequence[FloatArray], bounds: tuple[float, float]) -> None:
    """Fit the vertical axis to all curves; a public bound within it is drawn as a thin line.

    Args:
        figure: figure that gets range and lines.
        drawn: values of all curves and band ends.
        bounds: public (low, high).
    """
    low, high = _with_air(drawn)
    figure.update_yaxes(range=[low, high])
    for bound in bounds:
        if low <= bound <= high:
            line = {"color": TRUTH, "width": 1}
            level_line(figure, bound, line, "public bound", right=True, above=bound != bounds[1])


def _with_air(drawn: Iterable[Any]) -> tuple[float, float]:
    """Return the ends of an axis that shows all values, with a margin."""
    values = np.hstack([np.asarray(each, float) for each in drawn])
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    air = _AIR * (high - low)
    return low - air, high + air


def centile_lines(
    figure: go.Figure,
    x: FloatArray,
    lines: Mapping[int, FloatArray],
    colour: str,
    name: str,
    *,
    labelled: bool = True,
) -> None:
    """Draw a growth chart: a band between the outer centiles, with a thick middle line. The horizontal axis ends with
    them.

    Args:
        figure: the figure.
        x: inputs (P,).
        lines: values (P,) by centile, from the lowest to the highest.
        labelled: whether each line has its number in the right margin.
    """
    outer = list(lines)
    traces = [band_of(x, lines[outer[0]], lines[outer[-1]], colour, 0.12)]
    for centile, values in lines.items():
        is_middle = centile == _MEDIAN
        called, width = (name, 2.5) if is_middle else (f"centile {centile}", 1)
        traces.append(line_of(x, values, called, colour, width=width, showlegend=is_middle))
    figure.add_traces(traces)
    # A trace of its own, because plotly makes a node for each point of a trace with texts, even for empty ones
    if labelled:
        ends = _ends_together({centile: float(values[-1]) for centile, values in lines.items()})
        figure.add_scatter(
            x=[x[-1]] * len(ends),
            y=list(ends.values()),
            mode="text",
            text=list(ends),
            textposition="middle right",
            cliponaxis=False,
            hoverinfo="skip",
            showlegend=False,
            line={"color": colour},  # size of words in an export figure
        )
        figure.update_layout(margin={"r": _NUMBER})
    figure.update_xaxes(range=[float(x[0]), float(x[-1])])  # otherwise plotly makes room for the numbers inside


def _ends_together(ends: Mapping[int, float]) -> dict[str, float]:
    """Return the ends of lines by their centiles; lines that end at about the same value share a number (85–97)."""
    near = _SAME_END * (max(ends.values()) - min(ends.values()))
    together: list[list[int]] = []
    for centile, end in ends.items():
        if together and end - ends[together[-1][0]] <= near:
            together[-1].append(centile)
        else:
            together.append([centile])
    return {"–".join(map(str, dict.fromkeys((each[0], each[-1])))): ends[each[0]] for each in together}


def unit_of_length(unit: str) -> str:
    """Return the unit of a distance along an input with this unit: days if the input is in days since a date."""
    return unit if dates_of(unit) is None else "days"


def mark_dates(
    figure: go.Figure, name: str, dates: Dates | None, side: tuple[float, float], along: str = "x"
) -> go.Figure:
    """Return the figure with dates as marks of an axis; the axis of a number is unchanged.

    Args:
        figure: figure whose axis is in days.
        name: name of the input.
        dates: declaration of the dates; None for a number.
        side: first and last day.
        along: which axis, "x" or "y".
    """
    if dates is None:
        return figure
    try:
        ticks, texts = zip(*marks(*side, dates), strict=True)
    except (OverflowError, ValueError):  # a file may contain anything; these days are in no calendar
        return figure
    return figure.update_layout({f"{along}axis": {"title": name, "tickvals": ticks, "ticktext": texts}})


def finish(figure: go.Figure, height: int) -> go.Figure:
    """Return a figure in the style of all figures, with height in px, and margins in place of those of the page's
    theme.
    """
    right = max(_MARGIN["r"], figure.layout.margin.r or 0)  # numbers at the ends of lines have made room
    margin = {**_MARGIN, "r": right}
    return figure.update_layout(yaxis={"title": {"standoff": _NEAR}}, height=height, margin=margin)


def rows_named_inside(figure: go.Figure) -> go.Figure:
    """Return a finished figure of rows on a reversed axis with names above the rows instead of next to the axis."""
    at_left = {"x": 0, "xref": "paper", "xanchor": "left", "yanchor": "bottom", "yshift": _ABOVE, "name": ROW_NAME}
    for name in dict.fromkeys(str(row) for trace in figure.data for row in trace.y):
        figure.add_annotation(at_left, y=name, text=name, showarrow=False, font={"size": _SMALL})
    # Names of marks inside the plot would hide marks of the other axis
    figure.update_yaxes(showticklabels=False, automargin=False)
    return figure.update_layout(margin={"l": 20})


def enlarge(figure: go.Figure) -> go.Figure:
    """Return the figure for a room: all type at ``LESSON`` px, set in the figure, because the page's theme overrides a
    template.
    """
    size = {"size": LESSON}
    titled = {"title": {"font": size}, "tickfont": size}
    figure.update_layout(font=size, legend={"font": size}, hoverlabel={"font": size})
    figure.update_xaxes(titled)
    figure.update_yaxes(titled)
    figure.update_annotations(font=size)
    figure.update_traces({"colorbar": titled}, selector={"type": "heatmap"})
    for kind in ("scatter", "heatmap"):
        figure.update_traces(textfont=size, selector={"type": kind})
    if figure.layout.showlegend is False:  # names at the ends of lines need room
        figure.update_layout(margin={"r": round((figure.layout.margin.r or 0) * LESSON / _SMALL)})
    if (figure.layout.height or 0) > _LESSON_HEIGHT:
        figure.update_layout(height=_LESSON_HEIGHT)
    notes = figure.layout.annotations
    names = [note for note in notes if LINE_NAME.fullmatch(note.text or "")]
    for note in notes:
        if note not in names and note.yshift:  # rows of names above bars
            note.yshift *= LESSON / _SMALL
    for line in figure.layout.shapes:  # which end below these names
        if line.yref == "y domain" and line.y1 < 1:
            line.y1 = 1 - (1 - line.y1) * LESSON / _SMALL
    for note, shift in zip(names, _shifts(figure, [note.y for note in names], LESSON / _SMALL), strict=True):
        note.yshift = shift
    return figure


def alt_text(figure: go.Figure, description: str | None = None) -> str:
    """Return kind and description of a figure for screen readers; without a description if the text below contains
    it.
    """
    y, x = (each.title.text or "" for each in (figure.layout.yaxis, figure.layout.xaxis))
    of = f"{y} by {x}" if x and y else x or y or "a picture"
    return f"Chart: {html.unescape(of)}. {description or 'The text below describes it.'}"


def stacked(heights: Iterable[float], gap: float, top: float) -> list[float]:
    """Return ascending heights with at least this gap between two, below the top."""
    apart = list(heights)
    for at in range(1, len(apart)):
        apart[at] = max(apart[at], apart[at - 1] + gap)
    for at in reversed(range(len(apart))):
        apart[at] = min(apart[at], top)
        top = apart[at] - gap
    return apart


class End(NamedTuple):
    """End of a line, as a share of the axis from its bottom, with its name and colour."""

    share: float
    name: str
    colour: str


ROW_NAME = "row"  # of a note as ``rows_named_inside`` writes it
LINE_NAME = re.compile(r'<span style="color:([^"]+)"><b>━</b></span> (.*)')  # a note as ``named`` writes it


def ends_of(figure: go.Figure) -> list[End]:
    """Return the ends of lines that have their names there, from the lowest to the highest."""
    matches = [(note.y, LINE_NAME.fullmatch(note.text or "")) for note in figure.layout.annotations]
    return [End(share, html.unescape(mark[2]), mark[1]) for share, mark in matches if mark]


def named(figure: go.Figure, ends: Iterable[End]) -> go.Figure:
    """Return a finished figure with names to its right, at the ends of the lines if there is room, otherwise stacked.

    Args:
        figure: figure with height and margins.
        ends: the ends of its lines.
    """
    listed = sorted(ends)
    figure.update_layout(margin={"t": _TOOLS if listed and listed[-1].share > _UPPER else _LITTLE})
    shares = [min(max(share, 0.0), 1.0) for share, *_ in listed]
    for share, shift, (_, name, colour) in zip(shares, _shifts(figure, shares), listed, strict=True):
        figure.add_annotation(
            x=1,
            xref="paper",
            y=share,
            yref="paper",
            yshift=shift,
            showarrow=False,
            xanchor="left",
            yanchor="middle",
            xshift=_GAP,
            font={"size": _SMALL},
            text=f'<span style="color:{colour}"><b>━</b></span> {name}',
        )
    wide = max(len(name) for _, name, _ in listed) if listed else 0
    return figure.update_layout(showlegend=False, margin={"r": round(4 * _GAP + _LETTER * wide)})


def _shifts(figure: go.Figure, shares: Sequence[float], times: float = 1.0) -> list[float]:
    """Return how far each name is moved up from the end of its line [px], for names in type that is larger by
    ``times``.
    """
    margin, line = figure.layout.margin, _LINE * times
    tall = figure.layout.height - margin.t - margin.b
    heights = stacked((tall * share for share in shares), line, tall + line / 2)
    return [height - tall * share for share, height in zip(shares, heights, strict=True)]


def named_lines(figure: go.Figure, names: Mapping[str, str] | None = None) -> go.Figure:
    """Return a finished figure whose lines have names at their right ends instead of a legend.

    Args:
        figure: the figure; its vertical axis gets a range unless it has one.
        names: text for each name of a trace, if it differs; "" for none.
    """
    axis = figure.layout.yaxis
    if axis.range is None:
        low, high = _with_air(each.y for each in figure.data)
        figure.update_yaxes(range=[0.0 if axis.rangemode == "tozero" else low, high])
    low, high = axis.range
    ends = {}
    for each in figure.data:
        name, has_line = (names or {}).get(each.name, each.name), "lines" in (each.mode or "lines")
        if name and has_line and not each.fill and each.showlegend is not False and name not in ends:
            end = math.log10(each.y[-1]) if axis.type == "log" else float(each.y[-1])
            ends[name] = End((end - low) / (high - low), name, each.line.color)
    return named(figure, ends.values())
