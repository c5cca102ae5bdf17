"""Figures of a release that is read again with other models."""

from __future__ import annotations

import html

import numpy as np
import plotly.graph_objects as go

from dpgp_core.arrays import FloatArray
from dpgp_core.bayes.refit import Difference
from dpgp_core.figures.drawing import COLOURS
from dpgp_core.figures.ticks import dates_of
from dpgp_core.measurement.statistics import Released
from dpgp_core.release import CENTILES
from dpgp_core.release.publishing import known_part
from pages._ui.explore.controls import View
from pages._ui.explore.posterior import SHARES, Filtered, shares_of
from pages._ui.look.plots import (
    GUARANTEE,
    HEIGHT,
    OTHER,
    PRIVATE,
    TRUTH,
    axis,
    band,
    centile_lines,
    draw_line,
    finish,
    fit_axis,
    grid_map,
    level_line,
    mark_dates,
    named_lines,
    unit_of_length,
)
from pages._ui.look.text import number, plain

LEVEL = 0.95  # confidence level of the range by which the colours of a map fade
RANGE_OF = {"function": "range for the curve", "outputs": "range for one more person"}
_WRITTEN = 0.5  # smallest percentage at which a bar has its number
AVERAGE, ONE = "released curve", "with the chosen model"
_SHORT = {AVERAGE: "released", ONE: "chosen model", "probability above": ""}  # at the end of a line


def picture(statistics: Released, read: Filtered, view: View) -> go.Figure:
    """Draw the view along one input, each group in its own colour; or over two inputs, for one group."""
    column, *others = numbers_of(statistics)
    if others or view.group is not None:
        read = read.of_group(view.group or 0)
    if others:
        return _map(statistics, read, view)
    figure, drawn, alone = go.Figure(), list[FloatArray](), len(read.groups) == 1
    for at, group in enumerate(read.groups):
        part, name = read.of_group(at), "" if alone else html.escape(group)
        colour = PRIVATE if alone else COLOURS[at % len(COLOURS)]
        dash = "dash" if at >= len(COLOURS) else "solid"
        x = part.X_test[:, column]
        if view.threshold is not None:
            draw_line(figure, x, part.percent_above(view.threshold), name or "probability above", colour, dash)
        elif view.centiles and part.knows_people:
            lines = {centile: part.centile(centile) for centile in CENTILES}
            centile_lines(figure, x, lines, colour, name or "centiles")
            drawn += lines.values()
        elif alone:
            drawn += _curves(figure, x, part, view)
        else:
            low, high = part.interval(view.level, view.of)
            band(figure, x, low, high, colour, 0.15, f"{name}, {100 * view.level:g} %")
            figure.data[-1].showlegend = False
            draw_line(figure, x, part.curve, name, colour, dash)
            drawn += [low, high, part.curve]
    if view.threshold is not None:
        figure.update_yaxes(range=[-3, 103])
    else:
        fit_axis(figure, drawn, read.bounds)
    _, title = values_of(statistics, read, view)
    return _along(figure, statistics, title, named=not (view.centiles and read.knows_people))


def values_of(statistics: Released, read: Filtered, view: View) -> tuple[FloatArray, str]:
    """Return the values of the view for one group (P,), and their title."""
    if view.threshold is not None:
        return read.percent_above(view.threshold), "probability above [%]"
    if view.centiles and read.knows_people and len(numbers_of(statistics)) > 1:  # the highest
        return read.centile(CENTILES[-1]), f"{CENTILES[-1]}th centile: {html.escape(statistics.y_name)}"
    return read.curve, _title(statistics.y_name, statistics.y_unit)


def numbers_of(statistics: Released) -> tuple[int, ...]:
    """Return the indices of the numerical inputs."""
    return tuple(d for d in range(len(statistics.columns)) if d not in statistics.categories)


def _along(figure: go.Figure, statistics: Released, title: str, *, named: bool = True) -> go.Figure:
    """Set axes, dates and names of curves along an input."""
    along = statistics.numbers[0]
    figure.update_xaxes(title=_title(along.name, along.unit))
    figure.update_yaxes(title=title)
    finished = _dated(finish(figure, HEIGHT), statistics)
    return named_lines(finished, _SHORT) if named else finished


def difference(statistics: Released, compared: Difference, level: float, name: str) -> go.Figure:
    """Draw one group's curve minus another's, with its range."""
    figure, [column] = go.Figure(), numbers_of(statistics)
    x, (low, high) = compared.X[:, column], compared.interval(level)
    band(figure, x, low, high, PRIVATE, 0.22, f"the difference, {100 * level:g} %")
    draw_line(figure, x, compared.mean, html.escape(name), PRIVATE)
    level_line(figure, 0, {"color": TRUTH, "width": 1})
    return _along(figure, statistics, _title("difference", statistics.y_unit))


def lengthscales(statistics: Released, read: Filtered, marked: int | None = None) -> go.Figure:
    """Draw the posterior probability of each lengthscale."""
    numbers, unit = candidates(statistics)
    colours = [OTHER if at == marked else GUARANTEE for at in range(len(numbers))]
    shares = 100 * read.lengthscale_probabilities
    figure = go.Figure(
        go.Bar(
            x=numbers,
            y=shares,
            marker={"color": colours},
            name="probability",
            cliponaxis=False,
            text=[f"{share:.0f}" if share >= _WRITTEN else "" for share in shares],
            textposition="outside",
        )
    )
    figure.update_xaxes(title=axis("lengthscale", unit), type="category", tickangle=0)
    figure.update_yaxes(title="probability [%]", range=[0, 1.1 * float(shares.max())])
    return finish(figure, HEIGHT)


def candidates(statistics: Released) -> tuple[list[str], str]:
    """Return the lengthscales along the first numerical input as text, and their unit."""
    along = statistics.numbers[0]
    low, high = along.box
    lengths = [f"{float(f'{share / 100 * (high - low):.3g}'):g}" for share in SHARES]
    return lengths, html.escape(unit_of_length(along.unit))


def length_at(statistics: Released, index: int) -> str:
    """Return a candidate lengthscale in the units of all inputs, in words."""
    lengths = shares_of(statistics.x_box)[index]
    units = [unit_of_length(each.unit) for each in statistics.numbers]
    return " by ".join(
        f"{number(length, 3)} {plain(unit)}".strip() for length, unit in zip(lengths, units, strict=True)
    )


def _curves(figure: go.Figure, x: np.ndarray, read: Filtered, view: View) -> list[FloatArray]:
    """Draw the released curve with its range, and that of chosen models; return the values drawn."""
    low, high = read.interval(view.level, view.of)
    band(figure, x, low, high, PRIVATE, 0.22, f"{RANGE_OF[view.of]}, {100 * view.level:g} %")
    draw_line(figure, x, read.released, AVERAGE, PRIVATE)
    if read.chosen is not None:
        draw_line(figure, x, read.chosen, ONE, OTHER, "dash")
    return [low, high, read.released, read.curve]


def _map(statistics: Released, read: Filtered, view: View) -> go.Figure:
    """Draw a map whose colours fade where little is known. Probabilities express their own uncertainty."""
    values, title = values_of(statistics, read, view)
    x, y = (np.unique(read.X_test[:, column]) for column in numbers_of(statistics)[:2])
    low, high = read.interval(LEVEL, "function")
    known = known_part(high - low, float(np.ptp(read.bounds)))
    z, shares = (each.reshape(len(x), len(y)).T for each in (values, known))
    figure = grid_map(x, y, z, title, shares if view.threshold is None else None)
    across, up = statistics.numbers[:2]
    figure.update_xaxes(title=_title(across.name, across.unit))
    figure.update_yaxes(title=_title(up.name, up.unit))
    return _dated(finish(figure, HEIGHT), statistics)


def _dated(figure: go.Figure, statistics: Released) -> go.Figure:
    """Set dates as marks along inputs that are days."""
    for along, column in zip("xy", statistics.numbers, strict=False):
        mark_dates(figure, html.escape(column.name), dates_of(column.unit), column.box, along)
    return figure


def _title(name: str, unit: str) -> str:
    return html.escape(axis(name, unit))  # plotly reads tags in titles, and these may be a visitor's words
