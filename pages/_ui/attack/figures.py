"""The curve of an attack."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from pages._ui.attack.attacks import CONFIDENCE, RATES, Attacked, allowed
from pages._ui.look.palette import GUARANTEE, RISK, TRUTH, faded
from pages._ui.look.plots import finish

LIMIT, ATTACK, GUESSING = "the promise allows", "this attack", "guessing"
_POINTS = 400  # of the ROC that are drawn
_LEAST = 0.5  # in 100: of fewer, chance alone puts the attack above the limit or below it
_TICKS = (_LEAST, 1, 5, 10, 50, 100)
_NAMED_AT = {False: ((50, "above"), (55, "above"), (70, "below")), True: ((5, "above"), (20, "above"), (2, "below"))}


def roc_figure(attacked: Attacked, logarithmic: bool) -> go.Figure:
    """How many of those present are found, against how many innocent are accused, both in 100."""
    false, true = attacked.roc.curve()
    keep = np.unique(np.linspace(0, len(false) - 1, _POINTS).astype(int))
    rate = np.geomspace(1e-4, 1, 200)
    most = allowed(attacked.guarantee, rate)
    figure = go.Figure()
    figure.add_scatter(x=100 * rate, y=100 * most, name=LIMIT, line={"color": GUARANTEE, "dash": "dash"})
    figure.add_scatter(x=100 * false[keep], y=100 * true[keep], name=ATTACK, line={"color": RISK, "width": 2.5})
    figure.add_scatter(x=100 * rate, y=100 * rate, name=GUESSING, line={"color": TRUTH, "dash": "dot"})
    powers = [attacked.roc.power_at(level, CONFIDENCE) for level in RATES]
    figure.add_scatter(
        x=[100 * level for level in RATES], y=[100 * each.value for each in powers], mode="markers",
        name="95 % range", marker={"color": RISK, "size": 7},
        error_y={
            "array": [100 * (each.high - each.value) for each in powers],
            "arrayminus": [100 * (each.value - each.low) for each in powers],
            "color": faded(RISK, 0.7),
        },
    )  # fmt: skip
    kind: dict[str, Any] = {"type": "linear", "range": [0, 100]}
    if logarithmic:
        kind = {
            "type": "log",
            "range": [np.log10(_LEAST), 2],
            "tickvals": _TICKS,
            "ticktext": [f"{tick:g}" for tick in _TICKS],
        }
    figure.update_xaxes(title="innocent people accused [in 100]", **kind)
    figure.update_yaxes(title="people present who are found [in 100]", **kind)
    _name_lines(figure, logarithmic)
    return finish(figure, 400).update_layout(showlegend=False)


def _name_lines(figure: go.Figure, logarithmic: bool) -> None:
    """Each line has its name beside it: the limit above, the others below, one after another."""
    for trace, (at, side) in zip(figure.data[:3], _NAMED_AT[logarithmic], strict=True):
        x, y = np.asarray(trace.x, float), np.asarray(trace.y, float)
        here = int(np.abs(np.log(np.maximum(x, 1e-9) / at)).argmin())
        place = (np.log10([x[here], max(y[here], _LEAST)]) if logarithmic else np.array([x[here], y[here]])).tolist()
        figure.add_annotation(
            x=place[0], y=place[1], text=trace.name, font={"color": trace.line.color}, showarrow=False,
            xanchor="right" if side == "above" else "left", yanchor="bottom" if side == "above" else "top",
            xshift=-6 if side == "above" else 8,
        )  # fmt: skip
