"""Figures of an explored release: curve with its interval, excursion probability, probability of lengthscales."""

from __future__ import annotations

import html

import numpy as np
import plotly.graph_objects as go

from dpgp_core.measurement import Statistics
from dpgp_core.measurement.cell_statistics import CellStatistics
from dpgp_core.release import CENTILES
from pages._ui.explore.controls import View
from pages._ui.explore.posterior import SHARES, Filtered
from pages._ui.look.palette import GUARANTEE, OTHER, PREDICTION_SCALE, PRIVATE
from pages._ui.look.plots import HEIGHT, axis, band, centile_lines, dates_of, finish, mark_dates, unit_of_length

AVERAGE, ONE = "average of all models", "with the chosen model"


def picture(statistics: Statistics | CellStatistics, read: Filtered, view: View) -> go.Figure:
    """What the view asks for, along one input or over two."""
    dims = len(statistics.x_box)
    figure = go.Figure()
    if view.threshold is not None:
        low, high = read.bounds
        values, title = 100 * read.above(low + view.threshold * (high - low)), "probability above [%]"
    elif view.centiles and read.knows_people and dims > 1:  # the highest
        values, title = read.centile(CENTILES[-1]), f"{CENTILES[-1]}th centile: {statistics.y_name}"
    else:
        values, title = read.curve(view.lengthscale, view.noise), _title(statistics.y_name, statistics.y_unit)
    if dims > 1:
        return _map(figure, statistics, read, values, title)
    x = read.X_test[:, 0]
    if view.threshold is not None:
        figure.add_scatter(x=x, y=values, name="probability above", line={"color": PRIVATE, "width": 2})
        figure.update_yaxes(range=[-3, 103])
    else:
        _curves(figure, x, read, view)
        if not view.centiles:  # which may leave the bounds
            figure.update_yaxes(range=list(read.bounds))
    figure.update_xaxes(title=_title(statistics.x_names[0], statistics.x_units[0]))
    figure.update_yaxes(title=title)
    return _dated(finish(figure, HEIGHT), statistics)


def lengthscales(labels: list[str], read: Filtered, marked: int | None = None) -> go.Figure:
    """Posterior probability of each lengthscale."""
    colours = [OTHER if at == marked else GUARANTEE for at in range(len(labels))]
    numbers, units = zip(*(label.partition(" ")[::2] for label in labels), strict=True)
    figure = go.Figure(
        go.Bar(x=numbers, y=100 * read.lengthscale_probabilities, marker={"color": colours}, name="probability")
    )
    figure.update_xaxes(title=axis("lengthscale", units[0]), type="category", tickangle=0)
    figure.update_yaxes(title="probability [%]", range=[0, 103])
    return finish(figure, HEIGHT)


def share_labels(statistics: Statistics | CellStatistics) -> list[str]:
    """Candidates in the first input's unit."""
    low, high = statistics.x_box[0]
    unit = html.escape(unit_of_length(statistics.x_units[0]))
    return [f"{float(f'{share / 100 * (high - low):.3g}'):g} {unit}".strip() for share in SHARES]


def _curves(figure: go.Figure, x: np.ndarray, read: Filtered, view: View) -> None:
    if view.centiles and read.knows_people:
        return centile_lines(figure, x, {centile: read.centile(centile) for centile in CENTILES}, PRIVATE, "centiles")
    low, high = read.interval(view.level, view.of)
    what = "the curve" if view.of == "function" else "one more record"
    band(figure, x, low, high, PRIVATE, 0.22, f"{what}, {100 * view.level:g} %")
    figure.add_scatter(x=x, y=read.curve(), name=AVERAGE, line={"color": PRIVATE, "width": 2})
    if view.lengthscale is not None or view.noise is not None:
        curve = read.curve(view.lengthscale, view.noise)
        figure.add_scatter(x=x, y=curve, name=ONE, line={"color": OTHER, "width": 2, "dash": "dash"})


def _map(
    figure: go.Figure, statistics: Statistics | CellStatistics, read: Filtered, values: np.ndarray, title: str
) -> go.Figure:
    x, y = np.unique(read.X_test[:, 0]), np.unique(read.X_test[:, 1])
    bar = {"title": {"text": title, "side": "right"}}
    figure.add_heatmap(x=x, y=y, z=values.reshape(len(x), len(y)).T, colorscale=PREDICTION_SCALE, colorbar=bar)
    figure.update_xaxes(title=_title(statistics.x_names[0], statistics.x_units[0]))
    figure.update_yaxes(title=_title(statistics.x_names[1], statistics.x_units[1]))
    return _dated(finish(figure, HEIGHT), statistics)


def _dated(figure: go.Figure, statistics: Statistics | CellStatistics) -> go.Figure:
    """The same, with dates along inputs that are days."""
    each = zip("xy", statistics.x_names, statistics.x_units, statistics.x_box, strict=False)
    for along, name, unit, side in each:
        mark_dates(figure, html.escape(name), dates_of(unit), side, along)
    return figure


def _title(name: str, unit: str) -> str:
    return html.escape(axis(name, unit))  # plotly reads tags in titles, and these may be a visitor's words
