"""Figures and tables of the excursion page."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from datasets import london_excursion
from datasets.plumes_2d import SHOWN_SIDE as SIDE
from dpgp_core.arrays import FloatArray
from pages._ui.excursion.contender import SURE, Beside
from pages._ui.excursion.exploration import Explored
from pages._ui.look.maps import Layer
from pages._ui.look.palette import GUARANTEE, NON_PRIVATE, OTHER, PREDICTION_SCALE, PRIVATE, TRUTH, faded
from pages._ui.look.plots import finish

_SHOWN = 5  # paths drawn at most
_percent = partial(Layer, unit="%", low=0, high=100, scale=PREDICTION_SCALE)
LAYERS = {
    "votes": _percent("Released paths above the threshold", "paths above [%]", private=True),
    "bayes": _percent("Probability from one Bayes release", "Bayes probability [%]", private=True),
    "estimate": _percent("Non-private probability", "probability [%] (not private)", private=False),
    "truth": _percent("Truly above", "truly above [%] (not private)", private=False),
}


def curve(found: Explored, beside: Beside | None, overlay: bool) -> go.Figure:
    """One input: truth, fit, released paths and the Bayes release against the threshold."""
    x = found.grid[:, 0]
    figure = go.Figure()
    if overlay:
        data = found.dataset
        figure.add_scatter(
            x=data.X[:, 0], y=data.y, name="true data", mode="markers",
            marker={"color": TRUTH, "symbol": "circle-open", "size": 5},
        )  # fmt: skip
        figure.add_scatter(x=x, y=found.truth, name="truth", line={"color": TRUTH, "dash": "dot"})
        figure.add_scatter(x=x, y=found.mean, name="non-private fit", line={"color": NON_PRIVATE})
    for index, path in enumerate(found.paths[:_SHOWN]):
        figure.add_scatter(
            x=x, y=path, name="released path", legendgroup="paths", showlegend=index == 0,
            line={"color": PRIVATE, "width": 1.2},
        )  # fmt: skip
    if beside is not None:
        figure.add_scatter(x=x, y=beside.mean, name="Bayes release", line={"color": GUARANTEE, "width": 2.5})
    figure.add_hline(y=found.level, line={"color": TRUTH, "width": 1})
    figure.update_xaxes(title="x [arbitrary units]", range=[0, 1])
    figure.update_yaxes(title="value [arbitrary units]", range=[-1.6, 1.6])
    return finish(figure, 420)


def sets(found: Explored, beside: Beside | None, overlay: bool) -> go.Figure:
    """One input: each set as a bar along x, one row a set."""
    rows = [(f"path {i}", path >= found.level, PRIVATE) for i, path in enumerate(found.paths[:_SHOWN], 1)]
    if beside is not None:
        sure = (f"Bayes, surely (p ≥ {SURE:.0%})", beside.sure, faded(GUARANTEE, 0.5))
        rows = [("Bayes release", beside.inside, GUARANTEE), sure, *rows]
    if overlay:
        rows = [("truth", found.true_set, TRUTH), ("non-private", found.estimate, NON_PRIVATE), *rows]
    figure, x = go.Figure(), found.grid[:, 0]
    for name, inside, colour in rows:
        bars = bars_of(inside, x)
        figure.add_scatter(
            x=bars, y=[name] * len(bars), mode="lines", line={"color": colour, "width": 12},
            connectgaps=False, name=name, showlegend=False,
        )  # fmt: skip
    figure.update_xaxes(title="where the set lies: x [arbitrary units]", range=[0, 1])
    figure.update_yaxes(autorange="reversed")
    return finish(figure, 110 + 30 * len(rows))


def bars_of(inside: NDArray[np.bool_], x: FloatArray) -> FloatArray:
    """First and last x of every run of a set (P,), with gaps between them; a gap alone for an empty set."""
    changes = np.flatnonzero(np.diff(inside, prepend=False, append=False))
    gaps = np.full(len(changes) // 2, np.nan)
    bars = np.column_stack([x[changes[::2]], x[changes[1::2] - 1], gaps]).ravel()
    return bars if len(bars) else np.array([np.nan])


def field(found: Explored, beside: Beside | None, overlay: bool) -> go.Figure:
    """Two inputs: share of released paths above the threshold, with the boundaries of the sets."""
    axis = np.linspace(0, 1, SIDE)
    figure = go.Figure(
        go.Heatmap(
            z=100 * found.votes.reshape(SIDE, SIDE).T, x=axis, y=axis, zmin=0, zmax=100,
            colorscale=PREDICTION_SCALE, colorbar={"title": "paths above [%]"}, opacity=0.85,
        )
    )  # fmt: skip
    boundaries = [("released path", path, PRIVATE, "solid", 1.5) for path in found.paths[:_SHOWN]]
    if beside is not None:
        likely = beside.probability - 0.5 + found.level
        boundaries.append(("Bayes release", likely, GUARANTEE, "solid", 3))
    if overlay:
        estimate = found.probability - found.cutoff + found.level
        boundaries += [("non-private", estimate, NON_PRIVATE, "solid", 3), ("truth", found.truth, "#ffffff", "dot", 3)]
    for index, (name, values, colour, dash, width) in enumerate(boundaries):
        figure.add_contour(
            z=values.reshape(SIDE, SIDE).T, x=axis, y=axis, name=name, showscale=False, hoverinfo="skip",
            showlegend=name != "released path" or index == 0,
            contours={"start": found.level, "end": found.level, "size": 1, "coloring": "none"},
            line={"color": colour, "dash": dash, "width": width},
        )  # fmt: skip
    figure.update_xaxes(title="x1 [arbitrary units]", range=[0, 1], constrain="domain")
    figure.update_yaxes(title="x2 [arbitrary units]", range=[0, 1], scaleanchor="x")
    return finish(figure, 520)


def overlap(found: Explored, beside: Beside | None) -> go.Figure:
    """IoU over paths and over Hall's releases, and of the Bayes release, each at the epsilon of one path."""
    figure = go.Figure()
    bins = {"start": 0.0, "end": 1.0, "size": 0.02}
    rows = ((found.hall_iou, "Hall's release, same ε", OTHER), (found.path_iou, "posterior path", PRIVATE))
    for values, name, colour in rows:
        figure.add_histogram(
            x=values, name=name, xbins=bins, histnorm="percent",
            marker={"color": faded(colour, 0.55), "line": {"color": colour, "width": 1}},
        )  # fmt: skip
    lines = [(found.estimate_iou, "non-private", NON_PRIVATE, 0), (found.everything_iou, "everything", TRUTH, 14)]
    if beside is not None:
        lines.append((found.iou_of(beside.inside), "Bayes release", GUARANTEE, 28))
    for value, name, colour, shift in lines:
        figure.add_vline(x=value, line={"color": colour, "width": 2, "dash": "dot" if colour == TRUTH else "solid"})
        figure.add_annotation(
            x=value, y=1, yref="paper", yshift=-shift, text=name, showarrow=False, xanchor="right", xshift=-4,
            font={"color": colour},
        )  # fmt: skip
    figure.update_xaxes(title="overlap with the true set (intersection over union)", range=[0, 1.02])
    figure.update_yaxes(title="share of paths [%]")
    return finish(figure, 300)


def cell_table(found: Explored, beside: Beside | None, overlay: bool) -> pd.DataFrame:
    """London: one row a hexagon of the public grid; where sales are is private, so only the overlay tells."""
    frame = pd.DataFrame({"cell": london_excursion.cells()})
    frame[LAYERS["votes"].column] = (100 * found.votes).round(1)
    if beside is not None:
        frame[LAYERS["bayes"].column] = (100 * beside.probability).round(1)
    if overlay:
        frame[LAYERS["estimate"].column] = (100 * found.probability).round(1)
        frame[LAYERS["truth"].column] = np.where(found.known, 100.0 * found.true_set, np.nan)
    return frame


def path_table(found: Explored, beside: Beside | None, overlay: bool) -> pd.DataFrame:
    """One row a test point: the released paths, and the sets under the overlay."""
    columns = {f"x{j + 1}": found.grid[:, j].round(4) for j in range(found.grid.shape[1])}
    columns |= {f"released path {i}": path.round(4) for i, path in enumerate(found.paths[:_SHOWN], 1)}
    columns["paths above [%]"] = (100 * found.votes).round(1)
    if beside is not None:
        columns["Bayes probability [%]"] = (100 * beside.probability).round(1)
    if overlay:
        columns |= {"truth (not private)": found.truth.round(4), "p (not private)": found.probability.round(4)}
    return pd.DataFrame(columns)
