"""One moved record to plotly figures."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from dpgp_core.data import Dataset
from pages._ui.cloaking.figures import on_axes
from pages._ui.look.palette import NON_PRIVATE, OTHER, PRIVATE, TRUTH, faded
from pages._ui.look.plots import HEIGHT, axis, band, finish, named_lines
from pages._ui.person.moved import Moved

DATA = 1  # place of the true data among the traces
_BEFORE, _AFTER = "without privacy", "after the move"
_WITHOUT, _PERSON = "without this person", "this person, moved"
_SHORT = {_BEFORE: "before", _WITHOUT: "left out", _AFTER: "moved", _PERSON: ""}
SURE = 1.96  # standard deviations on either side that hold 95 % of a normal value


def curves(found: Moved, data: Dataset) -> go.Figure:
    """The curve before and after, without the person, and how far noise moves it; every person can be clicked."""
    choice = found.settings[-1]
    figure = go.Figure()
    moved = SURE * found.noise
    band(figure, found.x, found.before - moved, found.before + moved, PRIVATE, 0.22, "95 % of releases, point by point")
    order = np.argsort(data.X[:, 0], kind="stable")
    figure.add_scatter(
        x=data.X[order, 0], y=data.clipped_y[order], name="true data", mode="markers",
        marker={"color": TRUTH, "symbol": "circle-open", "size": 6},
    )  # fmt: skip
    for y, name, colour, dash in (
        (found.before, _BEFORE, NON_PRIVATE, "solid"),
        (found.without, _WITHOUT, TRUTH, "dot"),
        (found.after, _AFTER, OTHER, "dash"),
    ):
        figure.add_scatter(x=found.x, y=y, name=name, mode="lines", line={"color": colour, "dash": dash, "width": 2})
    figure.add_scatter(
        x=[found.at, found.at], y=[found.output, choice.value], name=_PERSON, mode="lines+markers",
        line={"color": OTHER, "width": 1.5}, marker={"size": [9, 13], "symbol": ["circle", "diamond"], "color": OTHER},
    )  # fmt: skip
    return named_lines(on_axes(figure, data, found.x), _SHORT)


def against_noise(found: Moved, data: Dataset) -> go.Figure:
    """How far the curve moves, and the standard deviation of the noise, along the first input."""
    figure = go.Figure()
    figure.add_scatter(
        x=found.x, y=found.noise, name="privacy noise, one standard deviation", mode="lines",
        line={"color": PRIVATE, "width": 2}, fill="tozeroy", fillcolor=faded(PRIVATE, 0.22),
    )  # fmt: skip
    figure.add_scatter(
        x=found.x, y=np.abs(found.after - found.before), name="move of the curve", mode="lines",
        line={"color": OTHER, "width": 2, "dash": "dash"},
    )  # fmt: skip
    figure.update_xaxes(title=axis(data.x_names[0], data.x_units[0]), range=[found.x[0], found.x[-1]])
    figure.update_yaxes(title=axis("size", data.y_unit), rangemode="tozero")
    return finish(figure, HEIGHT)
