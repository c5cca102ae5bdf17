"""The curve of an attack."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from pages._ui.attack.attacks import CONFIDENCE, RATES, Attacked, allowed
from pages._ui.look.palette import GUARANTEE, RISK, TRUTH, faded
from pages._ui.look.plots import finish

_POINTS = 400  # of the ROC that are drawn


def roc_figure(attacked: Attacked, logarithmic: bool) -> go.Figure:
    """True against false positive rate; on log axes the small rates that matter are visible."""
    false, true = attacked.roc.curve()
    keep = np.unique(np.linspace(0, len(false) - 1, _POINTS).astype(int))
    rate = np.geomspace(1e-4, 1, 200)
    figure = go.Figure()
    figure.add_scatter(
        x=rate,
        y=allowed(attacked.guarantee, rate),
        name="most that (ε, δ) allows",
        line={"color": GUARANTEE, "dash": "dash"},
    )
    figure.add_scatter(x=false[keep], y=true[keep], name="attack", line={"color": RISK, "width": 2.5})
    figure.add_scatter(x=rate, y=rate, name="guessing", line={"color": TRUTH, "dash": "dot"})
    low, high = [], []
    for level in RATES:
        estimate = attacked.roc.power_at(level, CONFIDENCE)
        low.append(estimate.value - estimate.low)
        high.append(estimate.high - estimate.value)
    figure.add_scatter(
        x=RATES,
        y=[attacked.roc.power_at(level).value for level in RATES],
        mode="markers",
        name="with 95 % interval",
        marker={"color": RISK, "size": 7},
        error_y={"array": high, "arrayminus": low, "color": faded(RISK, 0.7)},
    )
    kind: dict[str, Any] = {"type": "log", "range": [-4, 0]} if logarithmic else {"type": "linear", "range": [0, 1]}
    if logarithmic:
        kind |= {"dtick": 1, "exponentformat": "power"}
    figure.update_xaxes(title="false positive rate: accused though absent", **kind)
    figure.update_yaxes(title="true positive rate: found when present", **kind)
    return finish(figure, 430)
