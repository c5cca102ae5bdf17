"""Figures of the lengthscale choice: tiles of probability, errors against the lengthscale, and the row of numbers."""

from __future__ import annotations

from collections.abc import Callable

import plotly.graph_objects as go

from dpgp_core.selection.exponential import SelectionTable
from pages._ui.lengthscale.choice import Budgets, Chosen, Grid, label
from pages._ui.look import text
from pages._ui.look.glossary import FIFTHS
from pages._ui.look.metric import Metric
from pages._ui.look.palette import GUARANTEE, NON_PRIVATE, PREDICTION_SCALE, PRIVATE
from pages._ui.look.plots import finish


def tiles(
    table: SelectionTable, grid: Grid, budgets: Budgets, unit: str, y_unit: str, rows_in_all: int | None = None
) -> go.Figure:
    """Probability of each lengthscale (rows) at each regression epsilon (columns). Tiles can be clicked.

    ``rows_in_all`` leaves room for rows that are still to come.
    """
    columns, rows = [label(e) for e in table.epsilons], [f"{row:g}" for row in grid.lengthscales]
    hover = [
        [
            f"lengthscale {row} {unit}, regression ε {e}<br>chosen with {100 * table.probabilities[i, j]:.1f} %"
            f"<br>expected error {table.private_rmse[i, j]:.3g} {y_unit}, without noise {table.rmse[i]:.3g} {y_unit}"
            for j, e in enumerate(columns)
        ]
        for i, row in enumerate(rows)
    ]
    # a few fixed steps, so that colours rarely change meaning
    top = next(step for step in (25, 50, 100) if 100 * table.probabilities.max() <= step + 1e-6)
    figure = go.Figure(
        go.Heatmap(
            z=100 * table.probabilities, x=columns, y=rows, zmin=0, zmax=top, colorscale=PREDICTION_SCALE,
            text=hover, hoverinfo="text", colorbar={"title": "chosen [%]"}, xgap=2, ygap=2,
        )
    )  # fmt: skip
    # Heat maps report no clicks to streamlit; transparent markers over the tiles do.
    figure.add_scatter(
        x=[e for _ in rows for e in columns],
        y=[row for row in rows for _ in columns],
        customdata=[[row, e] for row in grid.lengthscales for e in table.epsilons],
        text=[cell for line in hover for cell in line],
        hoverinfo="text",
        mode="markers",
        marker={"symbol": "square", "size": 30, "opacity": 0.01, "color": GUARANTEE},
        selected={"marker": {"opacity": 0.4}},
        unselected={"marker": {"opacity": 0.01}},
        showlegend=False,
    )
    chosen = columns.index(label(budgets.regression))
    figure.add_vrect(x0=chosen - 0.5, x1=chosen + 0.5, line={"color": PRIVATE, "width": 3}, fillcolor="rgba(0,0,0,0)")
    figure.update_xaxes(title="regression ε: less private → more private", type="category", constrain="domain")
    height = len(rows) if rows_in_all is None else rows_in_all
    figure.update_yaxes(title=f"lengthscale [{unit}]", type="category", range=[-0.5, height - 0.5])
    return finish(figure, 430)


def errors(table: SelectionTable, grid: Grid, budgets: Budgets, unit: str, y_unit: str) -> go.Figure:
    """Expected held-out error of each lengthscale, without noise and at the chosen epsilon; after the choice."""
    column = table.epsilons.index(budgets.regression)
    figure = go.Figure()
    figure.add_scatter(x=grid.lengthscales, y=table.rmse, name="without noise", line={"color": NON_PRIVATE})
    figure.add_scatter(
        x=grid.lengthscales,
        y=table.private_rmse[:, column],
        name=f"private, ε = {label(budgets.regression)}",
        mode="lines+markers",
        line={"color": PRIVATE},
    )
    figure.add_scatter(  # named in the legend: beside the line it would lie on a curve
        x=[min(grid.lengthscales), max(grid.lengthscales)], y=[table.selected_rmse[column]] * 2, mode="lines",
        name="expected after the private choice", line={"color": GUARANTEE, "dash": "dash"},
    )  # fmt: skip
    figure.update_xaxes(title=f"lengthscale [{unit}]", type="log")
    figure.update_yaxes(title=f"expected error [{y_unit}]", rangemode="tozero")
    return finish(figure, 430)


def metrics(found: Chosen, unit: str, shown: Callable[[float], str], total: float, delta: float) -> list[Metric]:
    """What is chosen and what it costs.

    Args:
        found: the chosen column.
        unit: of the lengthscale.
        shown: writes an error.
        total: epsilon of choice and release together, at ``delta``.
        delta: of the page.
    """
    return [
        Metric("Error after the choice", shown(found.after), f"best {text.number(found.best_error)}"),
        Metric("Most likely", f"{found.likeliest:g} {unit}", text.percent(found.probability)),
        Metric("Best if known", f"{found.best:g} {unit}", "not private"),
        Metric("Without privacy", shown(found.without), FIFTHS.beside, FIFTHS.help),
        Metric("Choice and release", f"ε = {text.at_most(total)}", f"δ = {text.small(delta)}"),
    ]
