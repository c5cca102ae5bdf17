"""Figures and tables of the excursion page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from datasets import london_excursion
from datasets.plumes_2d import SHOWN_SIDE as SIDE
from dpgp_core.arrays import BoolArray, FloatArray
from pages._ui.excursion.bayes import SURE, Findings
from pages._ui.excursion.compute import Explored
from pages._ui.look.maps import Layer
from pages._ui.look.plots import (
    GUARANTEE,
    NON_PRIVATE,
    OTHER,
    PREDICTION_SCALE,
    PRIVATE,
    REFINED,
    RISK,
    TRUTH,
    draw_line,
    faded,
    finish,
    level_line,
    line_of,
    named_lines,
    rows_named_inside,
)
from pages._ui.look.tables import NOT_PRIVATE

_PATHS_DRAWN = 5  # largest number of paths that are drawn
_BINS, _STEP = 30, 0.05  # number of bins of the histogram of IoU, and step of the ends of its axis
_LINE, _PLOT = 16, 230  # px of a row of names, and of the whole plot
_BELOW_NAMES = 0.72  # share of its height that is left for bars
_percent = partial(Layer, unit="%", marks=(0, 50, 100), scale=PREDICTION_SCALE)
BAYES = "Bayes cloaking"
PARTS = (("found", GUARANTEE), ("missed", TRUTH), ("false", RISK))
NEITHER = "#80808030"  # colour where neither set is, hardly visible on light and dark pages
LAYERS = {
    "overlap": Layer(
        "Found, missed and false",
        "overlap (not private)",
        "",
        (),
        (NEITHER, *(colour for _, colour in PARTS)),
        private=False,
        names=("neither", *(name for name, _ in PARTS)),
    ),
    "votes": _percent("Published paths above the threshold", "paths above [%]", private=True),
    "bayes": _percent("Probability from Bayes cloaking", "Bayes probability [%]", private=True),
    "estimate": _percent("Probability without privacy", "probability [%] (not private)", private=False),
    "truth": _percent("Truly above", "truly above [%] (not private)", private=False),
}


def curve(found: Findings) -> go.Figure:
    """Draw for one input the truth and the prediction without privacy (overlay), and the releases, with the
    threshold.
    """
    explored, bayes = found.explored, found.bayes
    x = explored.grid[:, 0]
    figure = go.Figure()
    if found.plain is not None:
        draw_line(figure, x, explored.truth, "truth", TRUTH, "dot")
        draw_line(figure, x, found.plain, "without privacy", NON_PRIVATE)
        figure.update_traces(meta=NOT_PRIVATE)
    look: dict[str, Any] = {"width": 1.2, "legendgroup": "paths"}
    figure.add_traces(
        [
            line_of(x, path, "published path", REFINED, showlegend=index == 0, **look)
            for index, path in enumerate(explored.paths[:_PATHS_DRAWN])
        ]
    )
    if bayes is not None:
        draw_line(figure, x, bayes.mean, BAYES, PRIVATE, "dash", width=2.5)
    level_line(figure, explored.level, {"color": TRUTH, "width": 1}, "threshold")
    figure.update_xaxes(title="x [arbitrary units]", range=[0, 1])
    figure.update_yaxes(title="value [arbitrary units]")
    return named_lines(finish(figure, 360), {"published path": "path"})


def parts(inside: BoolArray, truth: BoolArray) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Return where a set (P,) is right, where it misses the true one, and where it is false, in the order of
    ``PARTS``.
    """
    return inside & truth, truth & ~inside, inside & ~truth


def sets(found: Findings) -> go.Figure:
    """Draw for one input each set as bars along x, one row for each; with the overlay, coloured by whether it is
    right.
    """
    explored, bayes, plain = found.explored, found.bayes, found.plain
    rows = [(f"path {i}", path >= explored.level) for i, path in enumerate(explored.paths[:_PATHS_DRAWN], 1)]
    if bayes is not None:
        rows += [(BAYES, bayes.inside), (f"{BAYES}, {100 * SURE:g} % sure", bayes.sure)]
    if plain is not None:
        rows = [("truth", explored.true_set), *rows, ("without privacy", plain >= explored.level)]
    figure, x = go.Figure(), explored.grid[:, 0]
    layers = [("above the threshold", PRIVATE)] if plain is None else PARTS
    for part, (name, colour) in enumerate(layers):
        bars = [bars_of(inside if plain is None else parts(inside, explored.true_set)[part], x) for _, inside in rows]
        draw_line(
            figure,
            np.concatenate(bars),
            [row for (row, _), bar in zip(rows, bars, strict=True) for _ in bar],
            name,
            colour,
            width=12,
            connectgaps=False,
            meta=None if plain is None else NOT_PRIVATE,
        )
    figure.update_xaxes(title="x [arbitrary units]", range=[0, 1])
    figure.update_yaxes(range=[len(rows) - 0.5, -0.9])  # each row has its name above it, including the first
    return rows_named_inside(finish(figure, 120 + 44 * len(rows)))


def bars_of(inside: NDArray[np.bool_], x: FloatArray) -> FloatArray:
    """Return first and last x of every run of a set (P,), with gaps between them; only a gap for an empty set."""
    changes = np.flatnonzero(np.diff(inside, prepend=False, append=False))
    gaps = np.full(len(changes) // 2, np.nan)
    bars = np.column_stack([x[changes[::2]], x[changes[1::2] - 1], gaps]).ravel()
    return bars if len(bars) else np.array([np.nan])


def truth_map(explored: Explored) -> go.Figure:
    """Draw for two inputs the true function, and where it exceeds the threshold."""
    figure = _heat(explored.truth, colorscale=PREDICTION_SCALE, colorbar={"title": "truth"})
    _boundary(figure, explored.truth, explored.level, "threshold", "#ffffff", "dot", 3, showlegend=False)
    return _square(figure)


def overlap_map(explored: Explored) -> go.Figure:
    """Draw for two inputs where the first published path is right, misses the true set, or is false."""
    colours = [colour for _, colour in PARTS]
    steps = [(end / len(colours), colour) for at, colour in enumerate(colours) for end in (at, at + 1)]
    codes = _codes(explored)
    figure = _heat(
        np.where(codes > 0, codes, np.nan),  # nothing is drawn where neither set is
        zmin=0.5,
        zmax=len(PARTS) + 0.5,
        colorscale=steps,
        showscale=False,
        hoverinfo="skip",
        name="overlap",
        meta=NOT_PRIVATE,
    )
    for name, colour in PARTS:
        marker = {"symbol": "square", "size": 12, "color": colour}
        figure.add_scatter(x=[None], y=[None], mode="markers", name=name, marker=marker)
    return _square(figure)


def _heat(values: FloatArray, **look: Any) -> go.Figure:
    """Draw values (P,) at the points of the square grid."""
    return go.Figure(go.Heatmap(**_on_grid(values), **look))


def _on_grid(values: FloatArray) -> dict[str, FloatArray]:
    axis = np.linspace(0, 1, SIDE)
    return {"x": axis, "y": axis, "z": values.reshape(SIDE, SIDE).T}


def _square(figure: go.Figure) -> go.Figure:
    figure.update_xaxes(title="x1 [arbitrary units]", range=[0, 1], constrain="domain")
    figure.update_yaxes(title="x2 [arbitrary units]", range=[0, 1], scaleanchor="x", constrain="domain")
    return finish(figure, 440)


def _boundary(
    figure: go.Figure,
    values: FloatArray,
    level: float,
    name: str,
    colour: str,
    dash: str,
    width: float,
    showlegend: bool = True,
) -> None:
    figure.add_contour(
        **_on_grid(values),
        name=name,
        showscale=False,
        hoverinfo="skip",
        showlegend=showlegend,
        contours={"start": level, "end": level, "size": 1, "coloring": "none"},
        line={"color": colour, "dash": dash, "width": width},
    )


def field(found: Findings) -> go.Figure:
    """Draw for two inputs the share of published paths above the threshold, with the boundaries of the releases."""
    explored, bayes = found.explored, found.bayes
    bar = {"title": "paths above [%]"}
    figure = _heat(100 * explored.votes, zmin=0, zmax=100, colorscale=PREDICTION_SCALE, colorbar=bar, opacity=0.85)
    for index, path in enumerate(explored.paths[:_PATHS_DRAWN]):
        _boundary(figure, path, explored.level, "published path", REFINED, "solid", 1.5, index == 0)
    if bayes is not None:
        _boundary(figure, bayes.probability - 0.5 + explored.level, explored.level, BAYES, PRIVATE, "dash", 3)
    return _square(figure)


def overlap(found: Findings) -> go.Figure:
    """Draw the IoU of paths, of Hall's releases, and of Bayes cloaking, each at the epsilon of one path."""
    explored = found.explored
    lines = [(explored.everything_iou, "colouring everything", TRUTH)]
    if found.best is not None:
        lines.append((found.best, "without privacy", NON_PRIVATE))
    if found.bayes_iou is not None:
        lines.append((float(np.median(found.bayes_iou)), f"{BAYES}, median", PRIVATE))
    low, high = _shown([*explored.path_iou, *explored.hall_iou, *(value for value, *_ in lines)])
    figure = go.Figure()
    rows = ((explored.hall_iou, "Hall's release, same ε", OTHER), (explored.path_iou, "published path", REFINED))
    for values, name, colour in rows:
        figure.add_histogram(
            x=values,
            name=name,
            xbins={"start": low, "end": high, "size": (high - low) / _BINS},
            histnorm="percent",
            marker={"color": faded(colour, 0.55), "line": {"color": colour, "width": 1}},
        )
    middle = (low + high) / 2
    # Each name has a row of its own above the bars, where its line ends: no other line crosses it from below
    for row, (value, name, colour) in enumerate(sorted(lines, key=lambda line: -abs(line[0] - middle))):
        left = value > middle
        look = {"color": colour, "width": 2, "dash": "dot" if colour == TRUTH else "solid"}
        top = 1 - _LINE * (row + 0.5) / _PLOT  # beside its name, and clear of the one above where the plot is lower
        figure.add_shape(type="line", x0=value, x1=value, yref="y domain", y0=0, y1=top, line=look)
        figure.add_annotation(
            x=value,
            y=1,
            yref="paper",
            text=f"{name} {value:.2f}",
            font={"color": colour},
            showarrow=False,
            xanchor="right" if left else "left",
            yanchor="top",
            xshift=-4 if left else 4,
            yshift=-_LINE * row,
        )
    figure.update_xaxes(title="IoU with the true area (1 is perfect)", range=[low, high])
    figure.update_yaxes(title="simulated releases [%]")
    finish(figure, 320)
    tallest = max(np.histogram(values, _BINS, (low, high))[0].max() / len(values) for values, *_ in rows if len(values))
    return figure.update_yaxes(range=[0, 100 * tallest / _BELOW_NAMES])


def _shown(values: Sequence[float]) -> tuple[float, float]:
    """Return the range of IoU that occurs, with some margin, in steps of ``_STEP``."""
    low, high = (math.floor(min(values) / _STEP - 0.5), math.ceil(max(values) / _STEP + 0.5))
    return max(low * _STEP, 0.0), min(high * _STEP, 1.0)


def rows_of(found: Findings) -> pd.DataFrame:
    """Return a row for each test point: the releases, and with the overlay the truth.

    On the map of London a row is a hexagon of the public grid. Which hexagons have sales is private, and needs the
    overlay.
    """
    explored, bayes, plain = found.explored, found.bayes, found.plain
    london = explored.dataset.name == london_excursion.NAME
    columns: dict[str, Any] = {"cell": london_excursion.cells()} if london else {}
    columns |= {f"x{j + 1}": explored.grid[:, j].round(4) for j in range(explored.grid.shape[1])}
    columns |= {f"published path {i}": path.round(4) for i, path in enumerate(explored.paths[:_PATHS_DRAWN], 1)}
    columns[LAYERS["votes"].column] = (100 * explored.votes).round(1)
    if bayes is not None:
        columns[f"{BAYES}: value"] = bayes.mean.round(4)
        columns[LAYERS["bayes"].column] = (100 * bayes.probability).round(1)
    if plain is not None:
        columns["truth (not private)"] = explored.truth.round(4)
        columns["value without privacy (not private)"] = plain.round(4)
        columns[LAYERS["estimate"].column] = (100 * explored.probability).round(1)
        if london:
            columns[LAYERS["overlap"].column] = _codes(explored)
            columns[LAYERS["truth"].column] = np.where(explored.has_truth, 100.0 * explored.true_set, np.nan)
    return pd.DataFrame(columns)


def _codes(explored: Explored) -> FloatArray:
    """Return where the first path is right, misses the true set, or is false, as numbers; NaN where the truth is
    unknown.
    """
    code = np.select(parts(explored.paths[0] >= explored.level, explored.true_set), (1.0, 2.0, 3.0))
    return np.where(explored.has_truth, code, np.nan)
