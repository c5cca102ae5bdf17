"""What all plotly figures share: size, axes, bands, the finish."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from dpgp_core.arrays import FloatArray
from pages._ui.look import template
from pages._ui.look.palette import faded

HEIGHT = 470
_MARGIN = {"l": 60, "r": 20, "t": 40, "b": 50}


def axis(name: str, unit: str) -> str:
    """Axis title with the unit."""
    return f"{name} [{unit}]" if unit else name


def band(
    figure: go.Figure,
    x: FloatArray,
    centre: FloatArray,
    half: FloatArray,
    colour: str,
    opacity: float,
    name: str,
) -> None:
    figure.add_scatter(
        x=np.concatenate([x, x[::-1]]),
        y=np.concatenate([centre + half, (centre - half)[::-1]]),
        fill="toself",
        fillcolor=faded(colour, opacity),
        line={"color": faded(colour, 0.0), "width": 0},
        name=name,
        hoverinfo="skip",
    )


def finish(figure: go.Figure, height: int) -> go.Figure:
    """In the look of all figures, with a height in px, and margins, which the page's theme would else set."""
    return figure.update_layout(template=template.NAME, height=height, margin=_MARGIN)
