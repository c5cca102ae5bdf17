"""What is possible under a prior: limits that no mechanism passes, and what Bayes cloaking reaches. No streamlit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import plotly.graph_objects as go
from scipy.special import ndtri

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.evaluation.limits import Limits, limits
from dpgp_core.evaluation.worlds import Reached, reached
from dpgp_core.kernels import Stationary
from pages._ui.compare.words import Scale
from pages._ui.look import text
from pages._ui.look.palette import GUARANTEE, NON_PRIVATE, OTHER, PRIVATE, faded
from pages._ui.look.plots import band, finish
from pages._ui.model import PICTURE_GAP, Model
from pages._ui.work.engine import engine

EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
WORLDS = 16
SEED = 11
OUTSIDE = 0.01  # share of the prior's outputs beyond the bounds, where they are clipped


@dataclass(frozen=True, eq=False)
class Possible:
    """Root mean square errors of f at the records, averaged over the prior (E,) for ``EPSILONS``, in the output's unit.

    Attributes:
        without_privacy: of the posterior mean.
        any: no mechanism at all is below.
        fixed: no fixed linear map with Gaussian noise is below.
        reached: Bayes cloaking over simulated worlds.
        standard_error: of ``reached``.
    """

    without_privacy: float
    any: FloatArray
    fixed: FloatArray
    reached: FloatArray
    standard_error: FloatArray


def prior_of(dataset: Dataset, model: Model) -> tuple[Stationary, float, float]:
    """Kernel, noise variance and half the range, in model units: the page's, scaled so that the bounds are honest."""
    half = dataset.output_range / dataset.y_scale / 2
    variance = (half / float(ndtri(1 - OUTSIDE / 2))) ** 2 / (1 + model.noise)
    return replace(model.build(), variance=variance), model.noise * variance, half


def possible(
    dataset: Dataset, model: Model, delta: float, *, progress: Callable[[float], None] = lambda fraction: None
) -> Possible:
    """All budgets, one after another or on the cluster (``engine``). Only inputs and what is declared are read."""
    rows: list[tuple[Limits, Reached]] = []
    with engine() as executor:
        arguments = ([value] * len(EPSILONS) for value in (dataset.X, dataset.x_box, prior_of(dataset, model), delta))
        for each in (executor.map if executor else map)(_at, *arguments, EPSILONS):
            rows.append(each)
            progress(len(rows) / len(EPSILONS))
    of_limits, of_stages = (np.array(each) * dataset.y_scale for each in zip(*rows, strict=True))
    return Possible(
        without_privacy=float(of_limits[0, 0]),
        fixed=of_limits[:, 1],
        any=of_limits[:, 2],
        reached=of_stages[:, 0],
        standard_error=of_stages[:, 1],
    )


def _at(
    X: FloatArray,
    x_box: tuple[tuple[float, float], ...],
    prior: tuple[Stationary, float, float],
    delta: float,
    epsilon: float,
) -> tuple[Limits, Reached]:
    kernel, noise, half = prior
    mu = 1 / noise_multiplier(epsilon, delta)
    bound = limits(kernel, noise, X, X, mu=mu, output_range=2 * half, gap=PICTURE_GAP)
    budget = {"epsilon": epsilon, "delta": delta}
    simulated = reached(
        kernel, noise, X, X, **budget, x_box=x_box, half_range=half, worlds=WORLDS, seed=SEED, gap=PICTURE_GAP
    )
    return bound, simulated


def figure(bounds: Possible, scale: Scale) -> go.Figure:
    """Limits under the prior and what Bayes cloaking reaches, with two standard errors either way."""
    drawn = go.Figure()
    x, floor = EPSILONS, np.full(len(EPSILONS), bounds.without_privacy)
    low, high = (scale.show(bounds.reached + side * bounds.standard_error) for side in (-2, 2))
    drawn.add_scatter(
        x=x, y=scale.show(bounds.any), name="no mechanism can do better", mode="lines",
        line={"color": GUARANTEE, "width": 2.5}, fill="tozeroy", fillcolor=faded(GUARANTEE, 0.12),
    )  # fmt: skip
    band(drawn, np.array(x), low, high, PRIVATE, 0.22)
    drawn.add_scatter(
        x=x, y=scale.show(bounds.reached), name="Bayes cloaking, simulated", mode="lines+markers",
        line={"color": PRIVATE, "width": 2.5},
    )  # fmt: skip
    drawn.add_scatter(
        x=x, y=scale.show(bounds.fixed), name="best fixed linear map with Gaussian noise", mode="lines",
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
