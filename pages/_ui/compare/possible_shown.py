"""Figure and words of what is possible under a prior."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from pages._ui.compare.possible import EPSILONS, OUTSIDE, WORLDS, Possible
from pages._ui.compare.words import Scale
from pages._ui.look import text
from pages._ui.look.palette import GUARANTEE, NON_PRIVATE, OTHER, PRIVATE, faded
from pages._ui.look.plots import finish


def figure(found: Possible, scale: Scale) -> go.Figure:
    """Limits under the prior and what Bayes cloaking reaches, with two standard errors either way."""
    drawn = go.Figure()
    x, floor = EPSILONS, np.full(len(EPSILONS), found.without_privacy)
    low, high = (scale.show(found.reached + side * found.standard_error) for side in (-2, 2))
    drawn.add_scatter(
        x=x, y=scale.show(found.any), name="no mechanism can do better", mode="lines",
        line={"color": GUARANTEE, "width": 2.5}, fill="tozeroy", fillcolor=faded(GUARANTEE, 0.12),
    )  # fmt: skip
    drawn.add_scatter(
        x=[*x, *x[::-1]], y=[*high, *low[::-1]], fill="toself", fillcolor=faded(PRIVATE, 0.22),
        mode="lines", line={"width": 0}, hoverinfo="skip", showlegend=False,
    )  # fmt: skip
    drawn.add_scatter(
        x=x, y=scale.show(found.reached), name="Bayes cloaking, simulated", mode="lines+markers",
        line={"color": PRIVATE, "width": 2.5},
    )  # fmt: skip
    drawn.add_scatter(
        x=x, y=scale.show(found.fixed), name="best fixed linear map with Gaussian noise", mode="lines",
        line={"color": OTHER, "dash": "dash"},
    )  # fmt: skip
    drawn.add_scatter(x=x, y=scale.show(floor), name="without privacy", mode="lines", line={"color": NON_PRIVATE})
    drawn.update_xaxes(title="ε: more private → more accurate", type="log", tickvals=EPSILONS)
    drawn.update_yaxes(title=f"expected error of the curve [{scale.unit}]", rangemode="tozero")
    return finish(drawn, 420)


def caption() -> str:
    """What is drawn under the prior, and for whom each line is proven."""
    return (
        "The expected error of the curve where people are, on average over worlds drawn from the sidebar's prior. It "
        "is not the error on people left out. The worlds are scaled so that the bounds hold all outputs but "
        f"{text.percent(OUTSIDE)}. **Green**: proven for every mechanism that protects an output as Gaussian noise of "
        "this ε and δ does (μ-GDP). **Dashed**: proven for fixed linear maps with Gaussian noise. Stages that look "
        "closer each time are no such map, and may pass it. "
        f"**Orange**: Bayes cloaking in {WORLDS} simulated worlds, ± 2 standard errors. It is told the prior, and "
        "mixes it with others all the same."
    )
