"""Figures of the comparison: error against epsilon, one line a mechanism, with a band over draws; and one release."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import plotly.graph_objects as go

from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from pages._ui.cloaking.figures import SHORT, add_truth, on_axes
from pages._ui.cloaking.results import LEVEL, Scene
from pages._ui.compare.contenders import CONTENDERS, CURVE_EPSILONS, Contest, Curve
from pages._ui.compare.pinned import Pinned
from pages._ui.compare.released import Drawn
from pages._ui.compare.words import Scale
from pages._ui.look.palette import BINS, GUARANTEE, NON_PRIVATE, OTHER, PINNED, PRIVATE, REFINED, SPARSE, TRUTH
from pages._ui.look.plots import End, band, finish, named, named_lines, ticked

_COLOURS = {"private": PRIVATE, "other": OTHER, "truth": TRUTH, "guarantee": GUARANTEE, "bins": BINS}
FIRST = ("bayes", "refined", "published", "sparse", "integral_bins")
"""Contenders that are drawn at first, each in a colour of its own."""
_OWN = {"refined": REFINED, "sparse": SPARSE, "integral_bins": BINS, "published": OTHER, "bayes_cells": "#3B3B3B"}
_DIAMOND = {"size": 8, "symbol": "diamond"}
_TICKS = tuple(step * 10.0**power for power in range(-4, 5) for step in (1, 2, 5))
_X_TICKS = (0.1, 0.3, 1, 3, 10, 30, 100)
_HEIGHT = 520  # px


def _line(name: str) -> dict[str, str]:
    entry = CONTENDERS[name]
    return {"color": _OWN.get(name, _COLOURS[entry.look[0]]), "dash": "solid" if name in FIRST else entry.look[1]}


def _short(name: str) -> str:
    """A title of a few letters: a telephone has little room beside a picture."""
    entry = CONTENDERS[name]
    short = entry.title.partition(" (")[0].removeprefix("Cloaking, ")
    return entry.title if entry.on_request else f"{short[0].upper()}{short[1:]}"


def shown_first(names: Iterable[str], every: bool) -> list[str]:
    """Those of the contenders that are drawn: all, or at first at most five, and what was asked for."""
    return [name for name in names if every or name in FIRST or CONTENDERS[name].on_request]


def errors(
    curves: dict[str, Curve], nonprivate: float, epsilon: float, target: float, scale: Scale, every: bool = False
) -> go.Figure:
    """Error against epsilon on logarithmic axes; bands hold 80 % of draws. Names stand at the lines' ends."""
    figure, drawn = go.Figure(), shown_first(curves, every)
    for name, curve in curves.items():
        entry, line = CONTENDERS[name], _line(name)
        if entry.banded and name in drawn:  # more would hide each other
            low, high = scale.show(np.percentile(curve.errors, [10, 90], axis=1))
            band(figure, np.array(CURVE_EPSILONS), low, high, line["color"], 0.15)
        figure.add_scatter(
            x=CURVE_EPSILONS, y=scale.show(curve.mean), name=entry.title, mode="lines+markers",
            line=line, marker=_DIAMOND if entry.private_inputs else {"size": 4}, visible=name in drawn,
            customdata=[[name, epsilon] for epsilon in CURVE_EPSILONS],  # for a click
            unselected={"marker": {"opacity": 1}}, showlegend=False,
        )  # fmt: skip
    figure.add_hline(y=float(scale.show(nonprivate)), line={"color": NON_PRIVATE, "width": 2})
    figure.add_hline(y=float(scale.show(target)), line={"color": GUARANTEE, "dash": "dot"})
    figure.add_vline(x=epsilon, line={"color": TRUTH, "width": 1, "dash": "dot"})
    least = float(scale.show(min(nonprivate, target)))
    most = float(scale.show(max(curves[name].mean.max() for name in drawn)))
    low, high = np.log10(0.8 * least), np.log10(min(most, 60 * least))
    values = [(scale.show(curves[name].mean[-1]), _short(name), _line(name)["color"]) for name in drawn]
    values += [(scale.show(nonprivate), "without privacy", NON_PRIVATE), (scale.show(target), "target", GUARANTEE)]
    ends = [End(float((np.log10(value) - low) / (high - low)), name, colour) for value, name, colour in values]
    figure.update_xaxes(title="epsilon: more private → more accurate", range=[-1.03, 2.03], **ticked(_X_TICKS))
    ticks = [tick for tick in _TICKS if 10**low <= tick <= 10**high]
    figure.update_yaxes(title=f"error [{scale.unit}]", range=[low, high], **ticked(ticks))
    return named(finish(figure, _HEIGHT), ends)


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


def release(drawn: Drawn, scene: Scene, dataset: Dataset, nonprivate: FloatArray | None, name: str) -> go.Figure:
    """A draw along the first input with its intervals, over the records and the fit without noise (P,).

    Without these two where ``nonprivate`` is None.
    """
    along = drawn.rows >= scene.records
    x, line, figure = scene.X_test[drawn.rows[along], 0], _line(name), go.Figure()
    bands = ((drawn.outputs, 0.12, "range for one more person"), (drawn.curve, 0.28, "where the curve is"))
    for ends, opacity, of in bands:
        if ends is not None:
            low, high = ends[:, along]
            title = f"{of} ({100 * LEVEL:g} %)"
            band(figure, x, low, high, line["color"], opacity, title)
    if nonprivate is not None:
        add_truth(figure, dataset, x, nonprivate[drawn.rows[along]])
    figure.add_scatter(x=x, y=drawn.values[along], name="published curve", mode="lines", line=line | {"width": 2})
    return named_lines(on_axes(figure, dataset, x), SHORT)
