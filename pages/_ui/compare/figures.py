"""Figures of the comparison: error against epsilon, one line a mechanism, with a band over draws; and one release."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from pages._ui.cloaking.figures import add_truth, on_axes
from pages._ui.cloaking.results import LEVEL, Scene
from pages._ui.compare.contenders import CONTENDERS, CURVE_EPSILONS, Contest, Curve
from pages._ui.compare.pinned import Pinned
from pages._ui.compare.released import Drawn
from pages._ui.compare.words import Scale
from pages._ui.look.palette import BINS, GUARANTEE, NON_PRIVATE, OTHER, PINNED, PRIVATE, TRUTH, faded
from pages._ui.look.plots import band, finish

_COLOURS = {"private": PRIVATE, "other": OTHER, "truth": TRUTH, "guarantee": GUARANTEE, "bins": BINS}

_DIAMOND = {"size": 8, "symbol": "diamond"}


def _line(name: str) -> dict[str, str]:
    entry = CONTENDERS[name]
    return {"color": _COLOURS[entry.look[0]], "dash": entry.look[1]}


def errors(curves: dict[str, Curve], nonprivate: float, epsilon: float, target: float, scale: Scale) -> go.Figure:
    """Expected held-out error against epsilon on logarithmic axes; bands hold 80 % of draws."""
    figure = go.Figure()
    for name, curve in curves.items():
        entry, line = CONTENDERS[name], _line(name)
        if entry.banded:  # more would hide each other
            low, high = scale.show(np.percentile(curve.errors, [10, 90], axis=1))
            figure.add_scatter(
                x=[*CURVE_EPSILONS, *CURVE_EPSILONS[::-1]], y=[*high, *low[::-1]], fill="toself",
                fillcolor=faded(line["color"], 0.15), line={"width": 0}, hoverinfo="skip", showlegend=False,
            )  # fmt: skip
        figure.add_scatter(
            x=CURVE_EPSILONS, y=scale.show(curve.mean), name=entry.title, mode="lines+markers",
            line=line, marker=_DIAMOND if entry.private_inputs else {"size": 4},
            customdata=[[name, epsilon] for epsilon in CURVE_EPSILONS],  # for a click
            unselected={"marker": {"opacity": 1}},
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
        dtick="D2",  # 1, 2, 5
        range=[np.log10(0.8 * least), np.log10(min(most, 60 * least))],
    )
    figure = finish(figure, 560)
    figure.update_layout(legend={"y": -0.18, "yanchor": "top"}, margin={"b": 150})
    return figure


def with_pinned(figure: go.Figure, pinned: Pinned, contest: Contest, nonprivate: float, scale: Scale) -> go.Figure:
    """The same with a pinned setting (A): where its epsilon stood, and thin, the curves that stood elsewhere."""
    first = True
    for name, curve in pinned.moved(contest).items():
        figure.add_scatter(
            x=CURVE_EPSILONS, y=scale.show(curve.mean), mode="lines", line=_line(name) | {"width": 1.2},
            name="pinned (A), thin" if first else f"pinned (A): {CONTENDERS[name].title}", legendgroup="pin",
            showlegend=first, hovertext=CONTENDERS[name].title,
        )  # fmt: skip
        first = False
    if pinned.nonprivate != nonprivate:
        figure.add_hline(y=float(scale.show(pinned.nonprivate)), line={"color": NON_PRIVATE, "width": 1})
    figure.add_vline(x=pinned.epsilon, line={"color": PINNED, "width": 1.5, "dash": "dashdot"})
    figure.add_annotation(
        x=float(np.log10(pinned.epsilon)), y=1, yref="paper", text="A", showarrow=False, xanchor="left", xshift=3,
        yanchor="top", font={"color": PINNED},
    )  # fmt: skip
    return figure


def release(found: Drawn, place: Scene, dataset: Dataset, nonprivate: FloatArray, name: str) -> go.Figure:
    """A draw along the first input with its intervals, over the records and the fit without noise (P,)."""
    along = found.rows >= place.records
    x, line, figure = place.X_test[found.rows[along], 0], _line(name), go.Figure()
    bands = ((found.outputs, 0.12, "range for one more person"), (found.curve, 0.28, "where the curve is"))
    for ends, opacity, of in bands:
        if ends is not None:
            low, high = ends[:, along]
            title = f"{of} ({100 * LEVEL:g} %)"
            band(figure, x, low, high, line["color"], opacity, title)
    add_truth(figure, dataset, x, nonprivate[found.rows[along]])
    figure.add_scatter(x=x, y=found.values[along], name="published curve", mode="lines", line=line | {"width": 2})
    return on_axes(figure, dataset, x)
