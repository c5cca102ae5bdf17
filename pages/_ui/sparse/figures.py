"""Figures and tables of the sparse DP-GP page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpgp_core.arrays import FloatArray
from pages._ui.cloaking.figures import on_axes
from pages._ui.look.palette import BINS, NON_PRIVATE, OTHER, PRIVATE, SPARSE, TRUTH, faded
from pages._ui.look.plots import HEIGHT, axis, band, finish, named_lines, ticked
from pages._ui.sparse.choosing import CHOICE_EPSILONS, Choices
from pages._ui.sparse.errors import CURVE_EPSILONS, Curves
from pages._ui.sparse.fitting import KINDS, LEVEL, Fits
from pages._ui.sparse.setting import LEVELS, METHODS, Contender, Method

_LOOKS: dict[Contender, tuple[str, str, str]] = {
    "ours": ("ours: whitened", SPARSE, "solid"),
    "paper": ("the paper's", OTHER, "dash"),
    "naive": ("noise ignored", BINS, "dot"),
    "bayes": ("Bayes cloaking", PRIVATE, "longdash"),
}
_SHORT = {  # at a line's end
    "ours: whitened": "ours",
    "Evidence: free (ours)": "evidence, free",
    "All kernels together, exponential mechanism": "all together",
    "Liu-Talwar (the paper)": "Liu-Talwar",
}
_CHOOSER_LOOKS = ((SPARSE, "solid"), (BINS, "dot"), (OTHER, "dash"))


def fit(fits: Fits) -> go.Figure:
    """Private fits, intervals about ours and of Bayes cloaking, and the inducing inputs."""
    data, figure = fits.dataset, go.Figure()
    for opacity, of, subject in ((0.12, KINDS[0], f"one more {data.y_name}"), (0.28, KINDS[1], "the curve")):
        name = f"ours, {100 * LEVEL:g} %: {subject}"
        mean, half = fits.means["ours"], fits.halves[of]
        band(figure, fits.x, mean - half, mean + half, _LOOKS["ours"][1], opacity, name)
    drawn: tuple[Method, ...] = ("paper", "ours")
    for method in drawn:
        name, colour, dash = _LOOKS[method]
        figure.add_scatter(x=fits.x, y=fits.means[method], name=name, line={"color": colour, "dash": dash})
    name, colour, dash = _LOOKS["bayes"]
    bayes = fits.bayes
    band(figure, fits.x, bayes.low, bayes.high, colour, 0.15, f"{name}, 95 %")
    figure.add_scatter(x=fits.x, y=bayes.mean, name=name, line={"color": colour, "dash": dash})
    figure.add_scatter(
        x=fits.inducing, y=np.full_like(fits.inducing, data.y_bounds[0] - 0.3 * data.output_range), mode="markers",
        name="inducing inputs", marker={"symbol": "triangle-up", "size": 9, "color": TRUTH},
    )  # fmt: skip
    return named_lines(on_axes(figure, data, fits.x), _SHORT)


def beside_the_curve(fits: Fits) -> go.Figure:
    """How far each private curve is from the one without privacy, which is the line at 0; in bands where curves are."""
    data, figure = fits.dataset, go.Figure()
    name, colour, dash = _LOOKS["ours"]
    ours, half = fits.means["ours"] - fits.plain, fits.halves[KINDS[1]]
    band(figure, fits.x, ours - half, ours + half, colour, 0.15, f"{name}, {100 * LEVEL:g} %")
    bayes, low, high = fits.bayes, fits.bayes.low - fits.plain, fits.bayes.high - fits.plain
    band(figure, fits.x, low, high, _LOOKS["bayes"][1], 0.22, f"{_LOOKS['bayes'][0]}, {100 * LEVEL:g} %")
    figure.add_scatter(x=fits.x, y=np.zeros_like(fits.x), name="without privacy", line={"color": NON_PRIVATE})
    drawn: dict[Contender, FloatArray] = {
        "paper": fits.means["paper"] - fits.plain,
        "ours": ours,
        "bayes": bayes.mean - fits.plain,
    }
    for method, values in drawn.items():
        name, colour, dash = _LOOKS[method]
        figure.add_scatter(x=fits.x, y=values, name=name, line={"color": colour, "dash": dash})
    most = max(float(np.abs(each).max()) for each in (low, high, ours - half, ours + half, *drawn.values()))
    most = min(1.05 * most, data.output_range)
    figure.update_xaxes(title=axis(data.x_names[0], data.x_units[0]), range=[fits.x[0], fits.x[-1]])
    figure.update_yaxes(title=axis("away from the curve without privacy", data.y_unit), range=[-most, most])
    return named_lines(finish(figure, HEIGHT), _SHORT)


def calibration(fits: Fits) -> go.Figure:
    """Share of held-out outputs inside each central interval against its level."""
    figure = go.Figure()
    figure.add_scatter(x=100 * LEVELS, y=100 * LEVELS, name="perfect", line={"color": TRUTH, "dash": "dot"})
    judged: tuple[Contender, ...] = (*METHODS, "bayes")
    for method in judged:
        name, colour, dash = _LOOKS[method]
        figure.add_scatter(
            x=100 * LEVELS, y=100 * fits.coverage[method], name=name, line={"color": colour, "dash": dash}
        )
    figure.update_xaxes(title="central interval [%]", range=[0, 100])
    figure.update_yaxes(title="people left out inside [%]", range=[0, 100])
    return named_lines(finish(figure, 470), _SHORT)


def against_epsilon(curves: Curves, quantity: str, without: float) -> go.Figure:
    """Held-out error or log-likelihood against epsilon, both variants and Bayes cloaking."""
    unit = curves.dataset.y_unit
    values: dict[Contender, FloatArray] = curves.rmse if quantity == "error" else curves.likelihood
    figure = go.Figure()
    for method, line in values.items():
        name, colour, dash = _LOOKS[method]
        figure.add_scatter(
            x=CURVE_EPSILONS, y=line, name=name, mode="lines+markers", line={"color": colour, "dash": dash}
        )
    if quantity == "error":
        ends = [min(CURVE_EPSILONS), max(CURVE_EPSILONS)]
        figure.add_scatter(x=ends, y=[without] * 2, name="without privacy", line={"color": NON_PRIVATE, "width": 2})
    title = axis("error", unit) if quantity == "error" else "log-likelihood of a person left out [nats]"
    figure.update_xaxes(title="ε: more private → more accurate", **ticked(CURVE_EPSILONS))
    figure.update_yaxes(title=title, rangemode="tozero" if quantity == "error" else "normal")
    return named_lines(finish(figure, 420), _SHORT)


def choice_errors(choices: Choices) -> go.Figure:
    """Held-out error after each private choice against epsilon."""
    figure = go.Figure()
    for (name, line), (colour, dash) in zip(choices.rmse.items(), _CHOOSER_LOOKS, strict=True):
        figure.add_scatter(
            x=CHOICE_EPSILONS, y=line, name=name, mode="lines+markers", line={"color": colour, "dash": dash}
        )
    figure.update_xaxes(title="ε of choice and fit together", **ticked(CHOICE_EPSILONS))
    figure.update_yaxes(title=axis("error", choices.dataset.y_unit), rangemode="tozero")
    return named_lines(finish(figure, 420), _SHORT)


def choice_shares(choices: Choices) -> go.Figure:
    """How often each lengthscale is chosen, by method and epsilon."""
    figure = go.Figure()
    labels = [f"ε = {epsilon:g}" for epsilon in CHOICE_EPSILONS]
    for (name, shares), (colour, _) in zip(choices.lengthscales.items(), _CHOOSER_LOOKS, strict=True):
        for j, length in enumerate(choices.candidates):
            figure.add_bar(
                x=labels, y=100 * shares[:, j], name=f"{name}: {length:g}", offsetgroup=name,
                marker={"color": faded(colour, 0.35 + 0.3 * j)}, showlegend=False,
                hovertemplate=f"{name}<br>lengthscale {length:g}: %{{y:.0f}} %<extra></extra>",
            )  # fmt: skip
    figure.update_layout(barmode="relative")
    figure.update_yaxes(title="chosen [%]; darker is longer", range=[0, 100])
    return finish(figure, 420)


def fit_table(fits: Fits) -> pd.DataFrame:
    """One row a grid point: what three private releases say there. Publishing all spends all."""
    columns = {axis(fits.dataset.x_names[0], fits.dataset.x_units[0]): fits.x}
    unit = fits.dataset.y_unit
    columns[f"{_LOOKS['ours'][0]}: mean [{unit}]"] = fits.means["ours"]
    for of, subject in zip(KINDS, (f"one more {fits.dataset.y_name}", "the curve"), strict=True):
        columns[f"ours, ± {100 * LEVEL:g} %: {subject} [{unit}]"] = fits.halves[of]
    columns[f"{_LOOKS['paper'][0]}: mean [{unit}]"] = fits.means["paper"]
    name = _LOOKS["bayes"][0]
    columns[f"{name}: mean [{unit}]"] = fits.bayes.mean
    columns[f"{name}, 95 % from [{unit}]"], columns[f"{name}, to [{unit}]"] = fits.bayes.low, fits.bayes.high
    return pd.DataFrame(columns).round(4)


def curve_table(curves: Curves) -> pd.DataFrame:
    """One row an epsilon. Not private."""
    columns: dict[str, Sequence[float] | FloatArray] = {"ε": CURVE_EPSILONS}
    for method, line in curves.rmse.items():
        columns[f"{_LOOKS[method][0]}: error [{curves.dataset.y_unit}] (not private)"] = line.round(4)
        columns[f"{_LOOKS[method][0]}: log-likelihood (not private)"] = curves.likelihood[method].round(4)
    return pd.DataFrame(columns)


def choice_table(choices: Choices) -> pd.DataFrame:
    """One row an epsilon. Not private."""
    columns: dict[str, Sequence[float] | FloatArray] = {"ε": CHOICE_EPSILONS}
    for name, line in choices.rmse.items():
        columns[f"{name}: error [{choices.dataset.y_unit}] (not private)"] = line.round(4)
    return pd.DataFrame(columns)
