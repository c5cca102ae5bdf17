"""Results to plotly figures. No streamlit here: the theme is applied where they are shown."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.linalg import dense_of
from pages._ui.cloaking.growth import Growth
from pages._ui.cloaking.results import LEVEL, Result
from pages._ui.left_out import Trio
from pages._ui.look.palette import GUARANTEE, NON_PRIVATE, OTHER, PINNED, PRIVATE, TRUTH, faded
from pages._ui.look.plots import HEIGHT, axis, band, centile_lines, finish, named_lines, rows_named_inside

DRAWS, BANDS = "draws", "bands"  # groups of the traces that are played
_PINNED = "pinned (A), its interval thin"
SHORT = {"published curve": "published", _PINNED: "pinned (A)"}  # at a line's end


def curves(result: Result, overlay: bool, other: bool = False, pinned: Result | None = None) -> go.Figure:
    """Draws along the first input, and intervals about the first; ``other`` styles the method compared with.

    ``pinned``, a release of the same data, is drawn over them. The intervals of the other draws are there too,
    invisible until ``play`` gives each its turn.
    """
    data, outcome, intervals = result.dataset, result.outcome, result.intervals
    grid = slice(outcome.scene.records, None)
    x = outcome.scene.X_test[grid, 0]
    colour, dash = (OTHER, "dash") if other else (PRIVATE, "solid")
    figure, level = go.Figure(), f"({100 * LEVEL:g} %)"
    wide, *narrow = [intervals.output.of(0), *map(intervals.curve.of, range(len(outcome.samples)))]
    band(figure, x, wide[0, grid], wide[1, grid], colour, 0.12, f"range for one more person {level}")
    band(figure, x, narrow[0][0, grid], narrow[0][1, grid], colour, 0.28, f"where the curve is {level}")
    figure.data[-1].legendgroup = BANDS
    for ends in narrow[1:]:
        few = slice(None, None, 2)  # half the points, half the digits: there may be many
        low, high = ends[:, grid][:, few]
        band(figure, x[few], low, high, colour, 0.28, "its interval")
        hidden = figure.data[-1]
        hidden.update(x=hidden.x.astype(np.float32), y=hidden.y.astype(np.float32), opacity=0, showlegend=False)
        hidden.legendgroup = BANDS
    if overlay:
        add_truth(figure, data, x, outcome.nonprivate[grid])
    for index, sample in enumerate(outcome.samples):
        figure.add_scatter(
            x=x,
            y=sample[grid],
            name="published curve",
            legendgroup=DRAWS,
            showlegend=index == 0,
            line={"color": colour, "width": 1.6, "dash": dash},
        )
    if pinned is not None:
        _add_pinned(figure, x, pinned.outcome.samples[0, grid], pinned.intervals.curve.of(0)[:, grid])
    return named_lines(on_axes(figure, data, x, wide[:, grid]), SHORT)


def growth(
    chart: Growth, data: Dataset, person: tuple[float, float], plain: Growth | None = None, other: bool = False
) -> go.Figure:
    """Centiles of people; ``plain`` are those without privacy, ``other`` styles the method compared with."""
    figure = go.Figure()
    if plain is not None:
        centile_lines(figure, plain.x, plain.lines, NON_PRIVATE, "without privacy", labelled=False)
    named = "the method of 2018" if other else "published"
    centile_lines(figure, chart.x, chart.lines, OTHER if other else PRIVATE, named)
    figure.add_scatter(
        x=[person[0]], y=[person[1]], mode="markers", name="the person below",
        marker={"color": GUARANTEE, "size": 12, "symbol": "diamond"},
    )  # fmt: skip
    low, high = data.x_box[0]
    on_axes(figure, data, chart.x)
    figure.update_xaxes(range=[low, high + 0.06 * (high - low)])
    return figure.update_layout(showlegend=False, margin={"t": 20})


def add_truth(figure: go.Figure, data: Dataset, x: FloatArray, nonprivate: FloatArray) -> None:
    """The records, and the curve without privacy (P,) at first inputs x (P,). Not private."""
    figure.add_scatter(x=x, y=nonprivate, name="without privacy", line={"color": NON_PRIVATE, "width": 2})
    figure.add_scatter(
        x=data.X[:, 0],
        y=data.y,
        name="true data",
        mode="markers",
        marker={"color": TRUTH, "symbol": "circle-open", "size": 5},
    )


def on_axes(figure: go.Figure, data: Dataset, x: FloatArray, drawn: FloatArray | None = None) -> go.Figure:
    """Axes that depend on what is public only, and the finish; where they cut the values ``drawn``, they say so."""
    low, high = data.y_bounds
    bottom, top = low - 0.35 * data.output_range, high + 0.35 * data.output_range
    figure.update_xaxes(title=axis(data.x_names[0], data.x_units[0]), range=[x[0], x[-1]])
    figure.update_yaxes(title=axis(data.y_name, data.y_unit), range=[bottom, top])
    if drawn is not None and (drawn.min() < bottom or drawn.max() > top):
        figure.add_annotation(
            x=1, xref="paper", y=0, yref="paper", xanchor="right", yanchor="bottom", showarrow=False,
            text=f"cut here: {drawn.min():.0f} to {drawn.max():.0f} {data.y_unit}",
            font={"size": 11},
        )  # fmt: skip
    return finish(figure, HEIGHT)


def _add_pinned(figure: go.Figure, x: FloatArray, curve: FloatArray, ends: FloatArray) -> None:
    """A pinned draw and the edges of its interval: another band on top of the present ones would hide them."""
    line = {"color": PINNED, "width": 2, "dash": "dashdot"}
    figure.add_scatter(x=x, y=curve, name=_PINNED, mode="lines", legendgroup="pin", line=line)
    there, gap = np.concatenate([x, [np.nan], x]), [np.nan]
    figure.add_scatter(
        x=there, y=np.concatenate([ends[1], gap, ends[0]]), mode="lines", name="pinned interval",
        legendgroup="pin", showlegend=False, hoverinfo="skip", line=line | {"width": 1},
    )  # fmt: skip


def error_distribution(trio: Trio, unit: str) -> go.Figure:
    """Error of each simulated release: this setting, the method of 2018, and without privacy."""
    figure = go.Figure()
    for errors, name, colour in ((trio.paper, "method of 2018", OTHER), (trio.ours, "this setting", PRIVATE)):
        if errors is not None:
            figure.add_scatter(
                x=errors.draws, y=[name] * len(errors.draws), name=name, mode="markers", showlegend=False,
                marker={"color": faded(colour, 0.55), "size": 10},
            )  # fmt: skip
    figure.add_vline(x=trio.without, line={"color": NON_PRIVATE, "width": 2}, annotation_text="without privacy")
    figure.update_xaxes(title=f"error of one release [{unit}]", rangemode="tozero")
    return rows_named_inside(finish(figure, 240))


def cloaking_heat(result: Result) -> go.Figure:
    """C on the grid, records in order of their first input."""
    data, records = result.dataset, result.outcome.scene.records
    order = np.argsort(data.X[:, 0], kind="stable")
    C = dense_of(result.fit.C)[records::3][:, order]
    return _heat(
        C, np.arange(1.0, data.n + 1), result.outcome.scene.X_test[records::3, 0],
        f"people, in order of {data.x_names[0]}", f"test point: {axis(data.x_names[0], data.x_units[0])}",
    )  # fmt: skip


def noise_heat(result: Result) -> go.Figure:
    """Correlation of the privacy noise between grid points."""
    data, records = result.dataset, result.outcome.scene.records
    factor = result.linear_plan.factor[records::3]
    unit = factor / np.linalg.norm(factor, axis=1, keepdims=True)
    x = result.outcome.scene.X_test[records::3, 0]
    title = axis(data.x_names[0], data.x_units[0])
    return _heat(unit @ unit.T, x, x, title, title)


def _heat(values: FloatArray, x: FloatArray, y: FloatArray, x_title: str, y_title: str) -> go.Figure:
    bound = float(np.quantile(np.abs(values), 0.98))  # one far record would wash out all others
    figure = go.Figure(
        go.Heatmap(
            z=values.round(4), x=x, y=y, colorscale="PuOr_r", zmin=-bound, zmax=bound,
        )
    )  # fmt: skip
    figure.update_xaxes(title=x_title)
    figure.update_yaxes(title=y_title)
    return finish(figure, 380)


def stems(result: Result) -> go.Figure:
    """Weight of each record in the noise, as stems over the first input."""
    data, design = result.dataset, result.linear_plan.design
    assert design is not None
    x, lambdas = data.X[:, 0], design.lambdas / design.lambdas.sum()
    figure = go.Figure()
    figure.add_bar(x=x, y=lambdas, marker={"color": GUARANTEE, "line": {"color": GUARANTEE, "width": 2}}, width=0.01)
    figure.add_scatter(x=x, y=lambdas, mode="markers", marker={"color": GUARANTEE, "size": 5})
    figure.update_layout(showlegend=False)
    figure.update_xaxes(title=axis(data.x_names[0], data.x_units[0]))
    figure.update_yaxes(title="λ, share of the total", rangemode="tozero")
    return finish(figure, 300)
