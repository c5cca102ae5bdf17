"""The directions of M: which shapes the privacy noise has, how much of it goes into each, and whom each hides."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.arrays import FloatArray
from dpgp_core.linalg import dense_of
from pages._ui.cloaking.figures import DRAWS
from pages._ui.cloaking.results import Result
from pages._ui.look import text
from pages._ui.look.palette import BINS, GUARANTEE, OTHER, PINNED, PRIVATE, RISK, TRUTH
from pages._ui.look.plots import HEIGHT, axis, finish, named_lines

SHOWN, _FRAMES = 6, 48
_COLOURS = (PRIVATE, BINS, PINNED, OTHER, GUARANTEE, RISK)


class Directions(NamedTuple):
    """The eigenvectors of M on the drawn curve with the largest eigenvalues. Public: no output enters.

    Attributes:
        x: along the first input (G,).
        shapes: one standard deviation of the noise along each (k, G), in the output's unit.
        shares: of the noise's variance (k,).
        sds: length of each, root of the eigenvalue, times d s (k,).
        moves: the furthest that anybody can move the curve along each (k,), in the same length.
    """

    x: FloatArray
    shapes: FloatArray
    shares: FloatArray
    sds: FloatArray
    moves: FloatArray


def directions_of(result: Result) -> Directions:
    """From the factor of M on the grid: M = L L^T, so L's left singular vectors, and what c_j reaches along them."""
    grid = slice(result.outcome.scene.records, None)
    draw, data = result.draw, result.dataset
    s = noise_multiplier(draw.epsilon, draw.delta, draw.calibration, unproven=True)
    vectors, roots, _ = np.linalg.svd(result.linear_plan.factor[grid], full_matrices=False)
    count = min(SHOWN, len(roots))
    kept, lengths = vectors[:, :count], data.output_range * s * roots[:count]
    reached = np.abs(kept.T @ dense_of(result.linear_plan.weights)[grid]).max(axis=1)
    return Directions(
        x=result.outcome.scene.X_test[grid, 0],
        shapes=(kept * lengths).T,
        shares=roots[:count] ** 2 / float((roots**2).sum()),
        sds=lengths,
        moves=data.output_range * reached,
    )


def figure(found: Directions, result: Result) -> go.Figure:
    """Each direction as the change of the curve that one standard deviation of its noise makes."""
    drawn, data = go.Figure(), result.dataset
    for at, (shape, share) in enumerate(zip(found.shapes, found.shares, strict=True)):
        drawn.add_scatter(
            x=found.x, y=shape, mode="lines", name=f"{at + 1}: {text.percent(float(share))}",
            line={"color": _COLOURS[at], "width": 2.5 if at == 0 else 1.6},
        )  # fmt: skip
    drawn.add_hline(y=0, line={"color": TRUTH, "width": 1, "dash": "dot"})
    drawn.update_xaxes(title=axis(data.x_names[0], data.x_units[0]), range=[found.x[0], found.x[-1]])
    drawn.update_yaxes(title=axis("one standard deviation of noise", data.y_unit))
    return named_lines(finish(drawn, HEIGHT))


def moving(found: Directions, result: Result) -> go.Figure:
    """Noise along the first directions as frames: each a draw, and each a little further along a circle of draws.

    Two independent draws z, z' of the directions' noise make cos(t) z + sin(t) z', which has the same law at every t.
    """
    drawn, data = go.Figure(), result.dataset
    rng = np.random.default_rng(result.draw.seed)
    first, second = rng.standard_normal((2, len(found.shapes)))
    turns = np.linspace(0, 2 * np.pi, _FRAMES, endpoint=False)
    frames = (np.cos(turns)[:, None] * first + np.sin(turns)[:, None] * second) @ found.shapes
    for at, frame in enumerate(frames):
        drawn.add_scatter(
            x=found.x.astype(np.float32), y=frame.astype(np.float32), mode="lines", name="noise", legendgroup=DRAWS,
            showlegend=at == 0, line={"color": PRIVATE, "width": 1.6}, hoverinfo="skip",
        )  # fmt: skip
    most = 1.05 * float(np.abs(frames).max())
    drawn.update_xaxes(title=axis(data.x_names[0], data.x_units[0]), range=[found.x[0], found.x[-1]])
    drawn.update_yaxes(title=axis("privacy noise", data.y_unit), range=[-most, most])
    return finish(drawn, HEIGHT).update_layout(showlegend=False)


def moving_said(found: Directions, result: Result) -> str:
    """What the moving picture shows."""
    typical = text.number(float(np.median(np.sqrt((found.shapes**2).sum(axis=0)))))
    return (
        f"Privacy noise along the first {len(found.shapes)} directions: {_FRAMES} draws that turn into one another. "
        f"One standard deviation is {typical} {result.dataset.y_unit} at a typical {result.dataset.x_names[0]}."
    )


def said(found: Directions, result: Result) -> str:
    """What the picture shows."""
    together, first = text.percent(float(found.shares.sum())), text.percent(float(found.shares[0]))
    return (
        f"The first {len(found.shares)} directions hold {together} of the noise at ε = {result.draw.epsilon:g}, the "
        f"first alone {first}. A direction in which one person could move the curve far gets much noise; one that "
        "nobody can move gets none."
    )


def table(found: Directions, result: Result) -> pd.DataFrame:
    """One row a direction: its share, its noise, and how far anybody can move the curve along it."""
    unit = result.dataset.y_unit
    return pd.DataFrame(
        {
            "direction": np.arange(1, len(found.shares) + 1),
            "share of the noise [%]": (100 * found.shares).round(4),
            f"noise along it, one sd, all grid points together [{unit}]": found.sds.round(4),
            f"furthest that one person moves the curve along it [{unit}]": found.moves.round(4),
        }
    )
