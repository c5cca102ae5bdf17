"""Figure of the comparison: error against epsilon, one line a mechanism, with a band over draws."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from pages._ui.compare.contenders import CONTENDERS, CURVE_EPSILONS, Curve
from pages._ui.compare.words import Scale
from pages._ui.look.palette import BINS, GUARANTEE, NON_PRIVATE, OTHER, PRIVATE, TRUTH, faded
from pages._ui.look.plots import finish

_COLOURS = {"private": PRIVATE, "other": OTHER, "truth": TRUTH, "guarantee": GUARANTEE, "bins": BINS}

_DIAMOND = {"size": 8, "symbol": "diamond"}


def errors(curves: dict[str, Curve], nonprivate: float, epsilon: float, target: float, scale: Scale) -> go.Figure:
    """Expected held-out error against epsilon on logarithmic axes; bands hold 80 % of draws."""
    figure = go.Figure()
    for name, curve in curves.items():
        entry = CONTENDERS[name]
        colour, dash = _COLOURS[entry.look[0]], "dashdot" if entry.private_inputs else entry.look[1]
        if entry.banded:  # more would hide each other
            low, high = scale.show(np.percentile(curve.errors, [10, 90], axis=1))
            figure.add_scatter(
                x=[*CURVE_EPSILONS, *CURVE_EPSILONS[::-1]], y=[*high, *low[::-1]], fill="toself",
                fillcolor=faded(colour, 0.15), line={"width": 0}, hoverinfo="skip", showlegend=False,
            )  # fmt: skip
        figure.add_scatter(
            x=CURVE_EPSILONS, y=scale.show(curve.mean), name=entry.title, mode="lines+markers",
            line={"color": colour, "dash": dash}, marker=_DIAMOND if entry.private_inputs else {"size": 4},
        )  # fmt: skip
    figure.add_hline(y=float(scale.show(nonprivate)), line={"color": NON_PRIVATE, "width": 2})
    figure.add_hline(y=float(scale.show(target)), line={"color": GUARANTEE, "dash": "dot"})
    figure.add_vline(x=epsilon, line={"color": TRUTH, "width": 1, "dash": "dot"})
    for value, name, colour in ((nonprivate, "without privacy", NON_PRIVATE), (target, "target", GUARANTEE)):
        figure.add_annotation(
            x=0, xref="paper", y=float(np.log10(scale.show(value))), text=name, showarrow=False,
            xanchor="left", yshift=9 if name == "target" else -9, font={"color": colour},
        )  # fmt: skip
    least = float(scale.show(min(nonprivate, target)))
    most = float(scale.show(max(curve.mean.max() for curve in curves.values())))
    figure.update_xaxes(title="ε: more private → more accurate", type="log")
    figure.update_yaxes(
        title=f"expected error [{scale.unit}]",
        type="log",
        range=[np.log10(0.8 * least), np.log10(min(most, 60 * least))],
    )
    figure = finish(figure, 560)
    figure.update_layout(legend={"y": -0.18, "yanchor": "top"}, margin={"b": 150})
    return figure
