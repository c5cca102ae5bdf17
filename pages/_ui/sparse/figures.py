"""Figures, tables and words of the sparse DP-GP page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.accounting.ledger import Ledger
from dpgp_core.arrays import FloatArray
from pages._ui.folds import FOLDS
from pages._ui.look import glossary, text
from pages._ui.look.metric import Metric
from pages._ui.look.palette import BINS, GUARANTEE, NON_PRIVATE, OTHER, PRIVATE, TRUTH, faded
from pages._ui.look.plots import axis, band, finish
from pages._ui.sparse import contender
from pages._ui.sparse.choosing import CHOICE_EPSILONS, Choices
from pages._ui.sparse.errors import CURVE_EPSILONS, REPEATS, Curves
from pages._ui.sparse.fitting import KINDS, LEVEL, Fits
from pages._ui.sparse.setting import LEVELS, METHODS, Contender, Method, SparseSetting

_LOOKS: dict[Contender, tuple[str, str, str]] = {
    "ours": ("ours: whitened", PRIVATE, "solid"),
    "paper": ("the paper's", OTHER, "dash"),
    "naive": ("noise ignored", BINS, "dot"),
    "bayes": ("Bayes cloaking", GUARANTEE, "longdash"),
}
_CHOOSER_LOOKS = ((PRIVATE, "solid"), (BINS, "dot"), (OTHER, "dash"))
_MOST_POINTS = 600  # of the data that are drawn
_NEAR = 0.03  # how far from its level a range may hold and be called right


def fit(found: Fits, overlay: bool) -> go.Figure:
    """Private fits, intervals about ours and of Bayes cloaking, and the inducing inputs."""
    data, figure = found.dataset, go.Figure()
    for opacity, of, what in ((0.12, KINDS[0], f"one more {data.y_name}"), (0.28, KINDS[1], "the curve")):
        name = f"ours, {100 * LEVEL:g} %: {what}"
        mean, half = found.means["ours"], found.halves[of]
        band(figure, found.x, mean - half, mean + half, _LOOKS["ours"][1], opacity, name)
    drawn: tuple[Method, ...] = ("paper", "ours")
    for method in drawn:
        name, colour, dash = _LOOKS[method]
        figure.add_scatter(x=found.x, y=found.means[method], name=name, line={"color": colour, "dash": dash})
    name, colour, dash = _LOOKS["bayes"]
    bayes = found.bayes
    figure.add_scatter(
        x=[*found.x, *found.x[::-1]], y=[*bayes.high, *bayes.low[::-1]], fill="toself",
        fillcolor=faded(colour, 0.15), line={"width": 0}, name=f"{name}, 95 %", hoverinfo="skip",
    )  # fmt: skip
    figure.add_scatter(x=found.x, y=bayes.mean, name=name, line={"color": colour, "dash": dash})
    if overlay:
        rows = np.linspace(0, data.n - 1, min(data.n, _MOST_POINTS)).astype(int)
        figure.add_scatter(
            x=data.X[rows, 0], y=data.y[rows], name="true data", mode="markers",
            marker={"color": TRUTH, "symbol": "circle-open", "size": 4},
        )  # fmt: skip
        figure.add_scatter(x=found.x, y=found.plain, name="without privacy", line={"color": NON_PRIVATE})
    low, high = data.y_bounds
    figure.add_scatter(
        x=found.inducing, y=np.full_like(found.inducing, low - 0.3 * data.output_range), mode="markers",
        name="inducing inputs", marker={"symbol": "triangle-up", "size": 9, "color": TRUTH},
    )  # fmt: skip
    figure.update_xaxes(title=axis(data.x_names[0], data.x_units[0]), range=[found.x[0], found.x[-1]])
    figure.update_yaxes(
        title=axis(data.y_name, data.y_unit), range=[low - 0.35 * data.output_range, high + 0.35 * data.output_range]
    )
    figure = finish(figure, 470)
    return figure.update_layout(legend={"y": -0.2, "yanchor": "top"}, margin={"b": 150})


def fit_alt(found: Fits) -> str:
    """Text alternative of the fits."""
    return (
        f"Private fits: ours orange, the paper's purple and dashed. About ours, {100 * LEVEL:g} % intervals for "
        f"one more {found.dataset.y_name} and for the curve, privacy noise included; the paper's do not hold. "
        "Bayes cloaking green, with that for the curve."
    )


def calibration(found: Fits) -> go.Figure:
    """Share of held-out outputs inside each central interval against its level."""
    figure = go.Figure()
    figure.add_scatter(x=100 * LEVELS, y=100 * LEVELS, name="perfect", line={"color": TRUTH, "dash": "dot"})
    judged: tuple[Contender, ...] = (*METHODS, "bayes")
    for method in judged:
        name, colour, dash = _LOOKS[method]
        figure.add_scatter(
            x=100 * LEVELS, y=100 * found.coverage[method], name=name, line={"color": colour, "dash": dash}
        )
    figure.update_xaxes(title="central interval [%]", range=[0, 100])
    figure.update_yaxes(title="people left out inside [%]", range=[0, 100])
    return finish(figure, 470)


def against_epsilon(found: Curves, what: str, without: float) -> go.Figure:
    """Held-out error or log-likelihood against epsilon, both variants and Bayes cloaking."""
    unit = found.dataset.y_unit
    values: dict[Contender, FloatArray] = found.rmse if what == "error" else found.likelihood
    figure = go.Figure()
    for method, line in values.items():
        name, colour, dash = _LOOKS[method]
        figure.add_scatter(
            x=CURVE_EPSILONS, y=line, name=name, mode="lines+markers", line={"color": colour, "dash": dash}
        )
    if what == "error":
        figure.add_hline(y=without, line={"color": NON_PRIVATE, "width": 2})
    title = axis("error", unit) if what == "error" else "log-likelihood of a person left out [nats]"
    figure.update_xaxes(title="ε: more private → more accurate", type="log")
    figure.update_yaxes(title=title, rangemode="tozero" if what == "error" else "normal")
    return finish(figure, 420)


def choice_errors(found: Choices) -> go.Figure:
    """Held-out error after each private choice against epsilon."""
    figure = go.Figure()
    for (name, line), (colour, dash) in zip(found.rmse.items(), _CHOOSER_LOOKS, strict=True):
        figure.add_scatter(
            x=CHOICE_EPSILONS, y=line, name=name, mode="lines+markers", line={"color": colour, "dash": dash}
        )
    figure.update_xaxes(title="ε of choice and fit together", type="log")
    figure.update_yaxes(title=axis("error", found.dataset.y_unit), rangemode="tozero")
    return finish(figure, 420)


def choice_shares(found: Choices) -> go.Figure:
    """How often each lengthscale is chosen, by method and epsilon."""
    figure = go.Figure()
    labels = [f"ε = {epsilon:g}" for epsilon in CHOICE_EPSILONS]
    for (name, shares), (colour, _) in zip(found.lengthscales.items(), _CHOOSER_LOOKS, strict=True):
        for j, length in enumerate(found.candidates):
            figure.add_bar(
                x=labels, y=100 * shares[:, j], name=f"{name}: {length:g}", offsetgroup=name,
                marker={"color": faded(colour, 0.35 + 0.3 * j)}, showlegend=False,
                hovertemplate=f"{name}<br>lengthscale {length:g}: %{{y:.0f}} %<extra></extra>",
            )  # fmt: skip
    figure.update_layout(barmode="relative")
    figure.update_yaxes(title="chosen [%]; darker is longer", range=[0, 100])
    return finish(figure, 420)


def fit_table(found: Fits) -> pd.DataFrame:
    """One row a grid point: what three private releases say there. Publishing all spends all."""
    columns = {axis(found.dataset.x_names[0], found.dataset.x_units[0]): found.x}
    unit = found.dataset.y_unit
    columns[f"{_LOOKS['ours'][0]}: mean [{unit}]"] = found.means["ours"]
    for of, what in zip(KINDS, (f"one more {found.dataset.y_name}", "the curve"), strict=True):
        columns[f"ours, ± {100 * LEVEL:g} %: {what} [{unit}]"] = found.halves[of]
    columns[f"{_LOOKS['paper'][0]}: mean [{unit}]"] = found.means["paper"]
    name = _LOOKS["bayes"][0]
    columns[f"{name}: mean [{unit}]"] = found.bayes.mean
    columns[f"{name}, 95 % from [{unit}]"], columns[f"{name}, to [{unit}]"] = found.bayes.low, found.bayes.high
    return pd.DataFrame(columns).round(4)


def table_note(view: str, released: Sequence[Guarantee]) -> str:
    """What the table holds: on the first view three releases, which cost what they cost together."""
    if view != "fits":
        return "Errors are computed with held-out true data: not private."
    delta = released[0].budget.delta
    together = Ledger(entries=[("", each) for each in released]).epsilon(delta)
    return (
        f"Three private releases of the same records, ours, the paper's and Bayes cloaking: publishing all costs ε = "
        f"{text.at_most(together)} at δ = {text.small(delta)}."
    )


def curve_table(found: Curves) -> pd.DataFrame:
    """One row an epsilon. Not private."""
    columns: dict[str, Sequence[float] | FloatArray] = {"ε": CURVE_EPSILONS}
    for method, line in found.rmse.items():
        columns[f"{_LOOKS[method][0]}: error [{found.dataset.y_unit}] (not private)"] = line.round(4)
        columns[f"{_LOOKS[method][0]}: log-likelihood (not private)"] = found.likelihood[method].round(4)
    return pd.DataFrame(columns)


def choice_table(found: Choices) -> pd.DataFrame:
    """One row an epsilon. Not private."""
    columns: dict[str, Sequence[float] | FloatArray] = {"ε": CHOICE_EPSILONS}
    for name, line in found.rmse.items():
        columns[f"{name}: error [{found.dataset.y_unit}] (not private)"] = line.round(4)
    return pd.DataFrame(columns)


def question(found: Fits) -> str:
    """The title."""
    return f"What if {_PLURAL.get(found.dataset.x_names[0], 'the inputs')} must be hidden too?"


_PLURAL = {"age": "ages"}


def answer(found: Fits, setting: SparseSetting, without: float | None) -> str:
    """The plain sentences under the question; errors only under the overlay, with the one ``without`` privacy."""
    if without is None:
        return (
            f"Hiding both at epsilon = {setting.epsilon:g}, one release predicts everywhere. It hides what somebody's "
            "inputs are as well as their outcome."
        )
    unit, error = found.dataset.y_unit, {method: text.number(each) for method, each in found.rmse.items()}
    return (
        f"Hiding both at epsilon = {setting.epsilon:g}, the error is **{error['bayes']} {unit}** with Bayes cloaking, "
        f"{error['ours']} with our sparse GP and {error['paper']} with the paper's. Without privacy it is "
        f"{text.number(without)}."
    )


def metrics(found: Fits, setting: SparseSetting, without: float | None) -> list[Metric]:
    """Errors, how the 95 % range does, epsilon."""
    unit, last = found.dataset.y_unit, len(LEVELS) - 1
    promise = [
        Metric("Protects", "inputs, outputs", "one person's row replaced"),
        Metric("ε of one release", f"{setting.epsilon:g}", f"δ = {text.small(setting.delta)}"),
    ]
    if without is None:
        return promise
    inside = found.coverage
    return [
        Metric(
            "Error, Bayes cloaking",
            f"{text.number(found.rmse['bayes'])} {unit}",
            f"our sparse GP {text.number(found.rmse['ours'])}, the paper's {text.number(found.rmse['paper'])}",
            glossary.help_of("Error"),
        ),
        Metric(
            "Error without privacy", f"{text.number(without)} {unit}", "nothing hidden",
            glossary.help_of("Without privacy"),
        ),
        Metric(
            "A range of 95 % holds",
            text.percent(inside["bayes"][last]),
            f"{_judgement(inside['bayes'][last])}; our sparse GP {text.percent(inside['ours'][last])}",
            "Share of people left out whose value lies inside. Below 95 % the range is too narrow, far above it is "
            "too cautious: both are faults.",
        ),
        promise[1],
    ]  # fmt: skip


def _judgement(held: float) -> str:
    """Whether a range that should hold ``LEVELS[-1]`` of people does."""
    if held > LEVELS[-1] + _NEAR:
        return "too cautious"
    return "too narrow" if held < LEVELS[-1] - _NEAR else "as it should"


def steps(setting: SparseSetting, found: Fits) -> list[tuple[str, str]]:
    """The computation with the current numbers put in."""
    mechanism = setting.mechanism()
    noise = mechanism.noise(found.dataset)
    m = len(mechanism.inducing_inputs(found.dataset))
    return [
        (
            "Released",
            f"A = Σ y φ(x) ({m} numbers) and B = Σ φ(x) φ(x)ᵀ ({m * (m + 1) // 2} numbers), |φ| ≤ 1, φ = L⁻¹ k(Z, x)",
        ),
        ("Noise", f"standard deviation {text.number(noise.sa)} on A and {text.number(noise.sb)} on B, in model units"),
        ("Posterior", "errors in variables: the noise on B counts as noise on the features; no regulariser is needed"),
        ("The paper's", "unwhitened sums and a regulariser λ, whose bias is why its intervals are too narrow"),
        (
            "Bayes cloaking",
            "noisy counts of the records in public cells, then noisy sums of clipped residuals, five times; "
            "lengthscale and noise are averaged over; its band is the curve's 95 % interval. Inputs and outputs are "
            "protected, as by the sparse DP-GP",
        ),
        (
            "Error",
            f"root mean square on people left out, in {FOLDS} public parts; {REPEATS} releases about the others each, "
            f"{contender.DRAWS} of Bayes cloaking. Without privacy: Bayes cloaking's models on the exact outputs, or "
            "the sparse GP itself where that does better",
        ),
    ]
