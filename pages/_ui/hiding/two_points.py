"""The two-point picture (Smith et al. 2018, figure 2): what one person can do to two predictions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.arrays import FloatArray
from dpgp_core.gp.exact import cloaking_matrix
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms.gp_prior import exact_sensitivity
from dpgp_core.strategies.noise_design import NoiseDesign, design_noise
from pages._ui.look.palette import NON_PRIVATE, OTHER, PRIVATE, TRUTH
from pages._ui.look.plots import finish, named_lines

TEST_POINTS = np.array([[3.0], [7.0]])
OUTPUTS = np.array([1.0, -0.5])
_TWO_SIDED = 1.96  # standard deviations that hold 95 % of a normal value
_GRID = np.linspace(0, 10, 101)[:, None]


@dataclass(frozen=True)
class TwoPointSettings:
    """Inputs of the two records, lengthscale, noise variance, largest change d, and which record changes (1 or 2)."""

    x1: float
    x2: float
    lengthscale: float
    noise: float
    d: float
    moved: int = 1


@dataclass(frozen=True, eq=False)
class TwoPoints:
    """Two records, two test points.

    Attributes:
        X: inputs of the records (2, 1).
        C: cloaking matrix (2, 2); column j is the move of both predictions per unit change of record j.
        grid_C: the same on a grid (101, 2), for drawing curves.
        d: largest change of one output.
        prior: covariance of the GP-prior noise per unit multiplier (2, 2), scaled by d^2.
        design: the cloaking noise, per unit multiplier and unit change.
    """

    X: FloatArray
    C: FloatArray
    grid_C: FloatArray
    d: float
    prior: FloatArray
    design: NoiseDesign


def build(settings: TwoPointSettings) -> TwoPoints:
    """The picture's numbers; microseconds, so nothing is cached."""
    kernel, X = EQ(lengthscale=settings.lengthscale), np.array([[settings.x1], [settings.x2]])
    noise, d = settings.noise, settings.d
    C = cloaking_matrix(kernel, X, TEST_POINTS, noise)
    sensitivity = d * exact_sensitivity(kernel, X, noise)
    return TwoPoints(
        X=X,
        C=C,
        grid_C=cloaking_matrix(kernel, X, _GRID, noise),
        d=d,
        prior=sensitivity**2 * kernel(TEST_POINTS, TEST_POINTS),
        design=design_noise(C, "trace", gap=1e-8, rank_tolerance=1e-9),
    )


def ellipse(covariance: FloatArray) -> FloatArray:
    """Points z with z^T M^-1 z = 1, shape (2, 121): what noise of covariance M just masks."""
    values, vectors = np.linalg.eigh(covariance)
    angle = np.linspace(0, 2 * np.pi, 121)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    points: FloatArray = vectors @ (np.sqrt(np.maximum(values, 0))[:, None] * circle)
    return points


def area_ratio(points: TwoPoints) -> float:
    """How much larger the GP-prior ellipse is than the cloaking ellipse, as a ratio of mean squared noise."""
    return float(np.trace(points.prior) / (points.d**2 * np.trace(points.design.covariance())))


def noise_at(points: TwoPoints, epsilon: float, delta: float) -> FloatArray:
    """Half of what holds the cloaking noise of each prediction (2,), in 95 of 100 releases at a budget."""
    sds = points.d * noise_multiplier(epsilon, delta) * np.sqrt(np.diag(points.design.covariance()))
    return np.asarray(_TWO_SIDED * sds)


def curves(points: TwoPoints, moved: int, noise: FloatArray | None = None) -> go.Figure:
    """Prediction before and after record ``moved`` (0 or 1) changes by d; and ``noise`` (2,) to each side of both."""
    figure = go.Figure()
    after = OUTPUTS + points.d * np.eye(2)[moved]
    for y, colour, dash, name in ((OUTPUTS, NON_PRIVATE, "solid", "before"), (after, OTHER, "dash", "after")):
        figure.add_scatter(x=_GRID[:, 0], y=points.grid_C @ y, name=name, line={"color": colour, "dash": dash})
        figure.add_scatter(
            x=points.X[:, 0], y=y, mode="markers", name=f"people, {name}", showlegend=False,
            marker={"color": TRUTH, "symbol": "circle-open" if name == "before" else "circle", "size": 10},
        )  # fmt: skip
    for index, x in enumerate(TEST_POINTS[:, 0], 1):
        figure.add_vline(x=x, line={"color": TRUTH, "width": 1, "dash": "dot"})
        figure.add_annotation(
            x=x, y=1, yref="paper", yanchor="top", xanchor="left", text=f"prediction {index}", showarrow=False
        )
    if noise is not None:
        figure.add_scatter(
            x=TEST_POINTS[:, 0], y=points.C @ OUTPUTS, mode="markers", name="published, with noise", showlegend=False,
            error_y={"array": noise, "color": PRIVATE, "thickness": 3}, marker={"color": PRIVATE, "size": 9},
        )  # fmt: skip
    figure.update_xaxes(title="input", range=[0, 10])
    figure.update_yaxes(title="output", range=[-4, 5])
    return named_lines(finish(figure, 400))


def plane(points: TwoPoints, covered: bool) -> go.Figure:
    """Both predictions against each other: moves of +-d c_1, +-d c_2; ``covered`` by the two noise ellipses."""
    figure = go.Figure()
    shapes = (
        (points.prior, TRUTH, "dot", "noise in all directions"),
        (points.d**2 * points.design.covariance(), PRIVATE, "solid", "cloaking noise"),
    )
    for covariance, colour, dash, name in shapes if covered else ():
        x, y = ellipse(covariance)
        figure.add_scatter(x=x, y=y, mode="lines", name=name, line={"color": colour, "dash": dash, "width": 2})
    for index, colour in enumerate((NON_PRIVATE, OTHER)):
        move = points.d * points.C[:, index]
        figure.add_scatter(
            x=[-move[0], move[0]], y=[-move[1], move[1]], mode="lines+markers",
            name=f"person {index + 1} moves", line={"color": colour}, marker={"size": 8},
        )  # fmt: skip
    reach = 1.15 * float(np.sqrt(np.diag(points.prior)).max())
    figure.update_xaxes(title="change of prediction 1", range=[-reach, reach])
    figure.update_yaxes(title="change of prediction 2", range=[-reach, reach], scaleanchor="x")
    return finish(figure, 400)
