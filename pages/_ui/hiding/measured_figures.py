"""Plans to plotly figures: rows of B, their number, and what the error is made of."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from dpgp_core.data import Dataset
from pages._ui.hiding.strategy import Measured
from pages._ui.look.palette import NON_PRIVATE, PRIVATE, TRUTH, faded
from pages._ui.look.plots import HEIGHT, End, axis, finish, named, ticked

NAMED = ("solid", "dash", "dot", "dashdot")  # of the first rows; the others are thin
_SMALL = 330


def rows(measured: Measured, data: Dataset, stage: int) -> go.Figure:
    """The rows of B of a stage (1, 2, ...) over the first input."""
    order = np.argsort(data.X[:, 0], kind="stable")
    figure, x = go.Figure(), data.X[order, 0]
    for index, row in enumerate(measured.strategies[stage - 1][:, order]):
        named = index < len(NAMED)
        figure.add_scatter(
            x=x,
            y=row.round(4),
            mode="lines",
            name=f"number {index + 1}" if named else "further numbers",
            legendgroup=str(min(index, len(NAMED))),
            showlegend=index <= len(NAMED),
            line={
                "color": PRIVATE if named else faded(PRIVATE, 0.45),
                "width": 2.2 if named else 0.8,
                "dash": NAMED[index] if named else "solid",
            },
        )
    figure.add_hline(y=0, line={"color": TRUTH, "width": 1, "dash": "dot"})
    figure.update_xaxes(title=axis(data.x_names[0], data.x_units[0]), range=[x[0], x[-1]])
    figure.update_yaxes(title=f"weight of each {data.y_name} in the sum", range=[-1.05, 1.05])
    return finish(figure, HEIGHT)


def ranks(measured: tuple[Measured, ...], epsilon: float) -> go.Figure:
    """How many numbers each stage measures, over epsilon."""
    figure = go.Figure()
    names = [f"{each.settings.epsilon:g}" for each in measured]
    stages = len(measured[0].ranks)
    for stage in range(stages):
        figure.add_bar(
            x=names,
            y=[each.ranks[stage] for each in measured],
            name=f"stage {stage + 1}",
            marker={"color": faded(PRIVATE, 0.2 + 0.8 * stage / (stages - 1)), "line": {"color": PRIVATE, "width": 1}},
        )
    here = [each.settings.epsilon for each in measured].index(epsilon)
    figure.add_annotation(x=here, y=sum(measured[here].ranks), text="here", showarrow=True, ax=0, ay=-22)
    figure.update_layout(barmode="stack")
    figure.update_xaxes(title="ε", type="category")
    figure.update_yaxes(title="numbers measured")
    return finish(figure, _SMALL)


def split(measured: tuple[Measured, ...], epsilon: float, unit: str) -> go.Figure:
    """Expected error over epsilon: what no budget buys, and what privacy adds on top."""
    x = [each.settings.epsilon for each in measured]
    here = next(each for each in measured if each.settings.epsilon == epsilon)
    figure = go.Figure()
    floor, error = [each.unbuyable for each in measured], [each.error for each in measured]
    figure.add_scatter(
        x=x, y=floor, name="no budget buys", mode="lines", line={"color": NON_PRIVATE, "width": 2},
        fill="tozeroy", fillcolor=faded(NON_PRIVATE, 0.18),
    )  # fmt: skip
    figure.add_scatter(
        x=x, y=error, name="with privacy", mode="lines+markers", line={"color": PRIVATE, "width": 2},
        marker={"size": 7}, fill="tonexty", fillcolor=faded(PRIVATE, 0.22),
    )  # fmt: skip
    nothing = [each.unmeasured for each in measured]
    line = {"color": TRUTH, "dash": "dot"}
    figure.add_scatter(x=x, y=nothing, name="nothing measured", mode="lines", line=line)
    figure.add_annotation(x=np.log10(epsilon), y=here.error, text="here", showarrow=True, ax=18, ay=-22)
    figure.update_xaxes(title="ε", **ticked(x))
    top = 1.1 * max(*nothing, *error)
    figure.update_yaxes(title=f"expected error of the curve [{unit}]", range=[0, top])
    ends = [
        (floor, "no budget buys", NON_PRIVATE),
        (error, "with privacy", PRIVATE),
        (nothing, "nothing measured", TRUTH),
    ]
    return named(finish(figure, _SMALL), [End(each[-1] / top, name, colour) for each, name, colour in ends])
