"""Figures of the lengthscale choice: tiles of probability, errors against the lengthscale, and the row of numbers."""

from __future__ import annotations

from collections.abc import Callable

import plotly.graph_objects as go

from dpgp_core.selection.exponential import SelectionTable
from pages._ui.lengthscale.choice import Beside, Budgets, Chosen, Grid, label
from pages._ui.look import text
from pages._ui.look.glossary import help_of
from pages._ui.look.palette import GUARANTEE, NON_PRIVATE, PREDICTION_SCALE, PRIVATE
from pages._ui.look.plots import End, finish, named, ticked
from pages._ui.look.text import Metric


def tiles(
    table: SelectionTable, grid: Grid, budgets: Budgets, unit: str, y_unit: str, rows_in_all: int | None = None
) -> go.Figure:
    """How often each lengthscale (rows) is chosen at each epsilon of the release (columns). Tiles can be clicked.

    ★ marks the one of least error.

    ``rows_in_all`` leaves room for rows that are still to come.
    """
    columns, rows = [label(e) for e in table.epsilons], [f"{row:g}" for row in grid.lengthscales]
    hover = [
        [
            f"lengthscale {row} {unit}, ε of the release {e}<br>chosen with {100 * table.probabilities[i, j]:.1f} %"
            f"<br>error {table.private_rmse[i, j]:.3g} {y_unit}, without privacy noise {table.rmse[i]:.3g} {y_unit}"
            for j, e in enumerate(columns)
        ]
        for i, row in enumerate(rows)
    ]
    share, best = 100 * table.probabilities, table.private_rmse.argmin(axis=0)
    printed = [[f"{each:.0f}" if each >= 0.5 else "" for each in row] for row in share]
    for j, i in enumerate(best):  # of each column
        printed[i][j] += " ★"
    figure = go.Figure(
        go.Heatmap(
            z=share, x=columns, y=rows, zmin=0, zmax=float(share.max()), colorscale=PREDICTION_SCALE,
            text=printed, texttemplate="%{text}", hovertext=hover, hoverinfo="text",
            colorbar={"title": "chosen [%]"}, xgap=2, ygap=2,
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
    figure.update_xaxes(title="ε of the release: less private → more private", type="category", constrain="domain")
    height = len(rows) if rows_in_all is None else rows_in_all
    figure.update_yaxes(title=f"lengthscale [{unit}]", type="category", range=[-0.5, height - 0.5])
    return finish(figure, 430)


def errors(
    table: SelectionTable, grid: Grid, budgets: Budgets, unit: str, y_unit: str, beside: Beside | None = None
) -> go.Figure:
    """Error of each lengthscale at the chosen epsilon, after the private choice, and ``beside`` them."""
    column = table.epsilons.index(budgets.regression)
    figure, ends = go.Figure(), [min(grid.lengthscales), max(grid.lengthscales)]
    figure.add_scatter(
        x=grid.lengthscales, y=table.private_rmse[:, column], name="this lengthscale", mode="lines+markers",
        line={"color": PRIVATE},
    )  # fmt: skip
    level = [(table.selected_rmse[column], "after the private choice", GUARANTEE, "dash")]
    if beside is not None:
        level.append((beside.without, "without privacy", NON_PRIVATE, "solid"))
        if beside.bayes is not None:
            level.append((beside.bayes, "Bayes cloaking", PRIVATE, "dot"))
    for value, name, colour, dash in level:
        figure.add_scatter(x=ends, y=[value] * 2, mode="lines", name=name, line={"color": colour, "dash": dash})
    top = 1.05 * max(float(table.private_rmse[:, column].max()), *(value for value, *_ in level))
    figure.update_xaxes(title=f"lengthscale [{unit}]", **ticked(grid.lengthscales[::2]))
    figure.update_yaxes(title=f"error [{y_unit}]", range=[0, top])
    last = (float(table.private_rmse[-1, column]), "this lengthscale", PRIVATE, "")
    return named(finish(figure, 430), [End(value / top, name, colour) for value, name, colour, _ in (last, *level)])


def metrics(
    chosen: Chosen, beside: Beside, unit: str, shown: Callable[[float], str], budgets: Budgets, total: float
) -> list[Metric]:
    """What is chosen and what it costs.

    Args:
        chosen: the chosen column.
        beside: errors of what chooses none, and without privacy.
        unit: of the lengthscale.
        shown: writes an error.
        budgets: of the page.
        total: epsilon of choice and release together.
    """
    selection, delta = budgets.selection, budgets.delta
    return [
        Metric(
            "Error after the choice", shown(chosen.after), f"best known in advance: {shown(chosen.best_error)}",
            help_of("Error"),
        ),
        Metric("Most often chosen", f"{chosen.likeliest:g} {unit}", f"{text.percent(chosen.probability)} of choices"),
        Metric("Best if known", f"{chosen.best:g} {unit}", "it takes the true data to know"),
        Metric("Error without privacy", shown(beside.without), "nothing hidden", help_of("Without privacy")),
        Metric(
            "Spent by the choice",
            f"ε = {text.at_most(selection)}",
            f"with the release: ε = {text.at_most(total)}, δ = {text.small(delta)}",
        ),
    ]  # fmt: skip
