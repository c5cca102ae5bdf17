"""Controls, figures and words of the sparse page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go

from datasets import EXHIBITS, exhibit
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.accounting.ledger import Ledger
from dpgp_core.table import Dataset
from pages._ui.cloaking.figures import on_axes
from pages._ui.left_out import FOLDS
from pages._ui.look import about as pictured
from pages._ui.look import offers, text
from pages._ui.look.about import About
from pages._ui.look.controls import Menu, Slider, menu
from pages._ui.look.offers import of_datasets
from pages._ui.look.plots import (
    BINS,
    HEIGHT,
    NON_PRIVATE,
    OTHER,
    PRIVATE,
    SPARSE,
    TRUTH,
    axis,
    band,
    draw_line,
    finish,
    input_axis,
    named_lines,
    ticked,
)
from pages._ui.look.settings import control
from pages._ui.look.sidebar import Promise, delta_fits
from pages._ui.look.tables import NO_VALUES, NOT_PRIVATE
from pages._ui.look.text import Metric
from pages._ui.sparse.compute import (
    BAYES_DRAWS,
    CONTENDERS,
    CURVE_EPSILONS,
    KINDS,
    LEVEL,
    LEVELS,
    REPEATS,
    Curves,
    Fits,
    SparseSetting,
    defaults,
    load,
)

SparseView = Literal["fits", "errors"]
DATASET = of_datasets(
    "sparse_data",
    (
        exhibit
        for simulated in (True, False)
        for exhibit in EXHIBITS.values()
        if exhibit.sparse is not None and exhibit.simulated == simulated
    ),
)
VIEW: Menu[SparseView] = menu("Show", "sparse_view", {"fits": "Fits and calibration", "errors": "Errors against ε"})


def _inducing(chosen: Any) -> Slider[int]:
    start, label = defaults(chosen.dataset), "Inducing inputs along each input"
    return Slider(f"inducing_{chosen.dataset}", label, start.start, start.inducing, help="Public.", section="Model")


def _noise(chosen: Any) -> Slider[float]:
    return replace(offers.NOISE, key=f"noise_{chosen.dataset}", default=defaults(chosen.dataset).noise, help=None)


def _lengthscale(chosen: Any) -> Slider[float]:
    label = f"Lengthscale [{exhibit(chosen.dataset).unit}]"
    return replace(offers.lengthscale(chosen.dataset), label=label, help=None, section="Model")


@dataclass(frozen=True, kw_only=True)
class SparseSettings(Promise):
    """Whole sidebar: the release, which of its figures is shown, and whether the overlay is on."""

    dataset: str = control(DATASET, below=lambda chosen: delta_fits(chosen, load(chosen.dataset).n))
    overlay: bool = control(offers.OVERLAY)
    view: SparseView = control(VIEW)
    lengthscale: float = control(_lengthscale)
    noise: float = control(_noise)
    inducing: int = control(_inducing)
    number: int = control(replace(offers.DRAW, section="Model"))

    @property
    def release(self) -> SparseSetting:
        """Settings of the release."""
        return SparseSetting(
            self.dataset,
            float(self.lengthscale),
            float(self.noise),
            self.inducing,
            float(self.epsilon),
            float(self.delta),
            self.number,
        )


_LOOKS = {  # name, colour and dash
    "ours": ("ours: whitened", SPARSE, "solid"),
    "paper": ("the paper's", OTHER, "dash"),
    "naive": ("noise ignored", BINS, "dot"),
    "bayes": ("Bayes cloaking", PRIVATE, "longdash"),
}
_SHORT = {"ours: whitened": "ours"}  # at the end of a line


def fit(fits: Fits) -> go.Figure:
    """Draw the released curves, intervals of our method and of Bayes cloaking, and the inducing inputs."""
    data, figure, bayes = fits.dataset, go.Figure(), fits.bayes
    mean = fits.means["ours"]
    for opacity, of, subject in ((0.12, KINDS[0], f"one more {data.y_name}"), (0.28, KINDS[1], "the curve")):
        name, half = f"ours, {100 * LEVEL:g} %: {subject}", fits.halves[of]
        band(figure, fits.x, mean - half, mean + half, SPARSE, opacity, name)
    draw_line(figure, fits.x, fits.means["paper"], *_LOOKS["paper"])
    draw_line(figure, fits.x, mean, *_LOOKS["ours"])
    band(figure, fits.x, bayes.low, bayes.high, PRIVATE, 0.15, "Bayes cloaking, 95 %")
    draw_line(figure, fits.x, bayes.mean, *_LOOKS["bayes"])
    figure.add_scatter(
        x=fits.inducing,
        y=np.full_like(fits.inducing, data.y_bounds[0] - 0.3 * data.output_range),
        mode="markers",
        name="inducing inputs",
        meta=NO_VALUES,
        marker={"symbol": "triangle-up", "size": 9, "color": TRUTH},
    )
    return named_lines(on_axes(figure, data, fits.x), _SHORT)


def differences(fits: Fits) -> go.Figure:
    """Draw each released curve minus the one without privacy, with bands for the curves."""
    data, figure, x, bayes = fits.dataset, go.Figure(), fits.x, fits.bayes
    ours, half = fits.means["ours"] - fits.plain, fits.halves[KINDS[1]]
    low, high = bayes.low - fits.plain, bayes.high - fits.plain
    band(figure, x, ours - half, ours + half, SPARSE, 0.15, f"ours: whitened, {100 * LEVEL:g} %")
    band(figure, x, low, high, PRIVATE, 0.22, f"Bayes cloaking, {100 * LEVEL:g} %")
    lines = {"paper": fits.means["paper"] - fits.plain, "ours": ours, "bayes": bayes.mean - fits.plain}
    draw_line(figure, x, np.zeros_like(x), "without privacy", NON_PRIVATE)
    for method, values in lines.items():
        draw_line(figure, x, values, *_LOOKS[method])
    furthest = float(np.abs([low, high, ours - half, ours + half, *lines.values()]).max())
    most = min(1.05 * furthest, data.output_range)
    figure.update_xaxes(title=input_axis(data), range=[x[0], x[-1]])
    figure.update_yaxes(title=axis("away from the curve without privacy", data.y_unit), range=[-most, most])
    figure.update_traces(meta=NOT_PRIVATE)
    return named_lines(finish(figure, HEIGHT), _SHORT)


def calibration(fits: Fits) -> go.Figure:
    """Draw the share of outputs left out inside each central interval against its level."""
    figure = go.Figure()
    figure.add_scatter(x=100 * LEVELS, y=100 * LEVELS, name="perfect", line={"color": TRUTH, "dash": "dot"})
    for contender in CONTENDERS:
        name, colour, dash = _LOOKS[contender]
        line = {"color": colour, "dash": dash}
        figure.add_scatter(x=100 * LEVELS, y=100 * fits.coverage[contender], name=name, line=line)
    figure.update_xaxes(title="central interval [%]", range=[0, 100])
    figure.update_yaxes(title="people left out inside [%]", range=[0, 100])
    return named_lines(finish(figure, 470), _SHORT)


def against_epsilon(curves: Curves, quantity: str, without: float) -> go.Figure:
    """Draw error or log-likelihood on people left out against epsilon, for both variants and Bayes cloaking."""
    figure, is_error = go.Figure(), quantity == "error"
    for contender, values in (curves.rmse if is_error else curves.likelihood).items():
        draw_line(figure, CURVE_EPSILONS, values, *_LOOKS[contender])
    figure.update_traces(mode="lines+markers")
    if is_error:
        ends = [min(CURVE_EPSILONS), max(CURVE_EPSILONS)]
        figure.add_scatter(x=ends, y=[without] * 2, name="without privacy", line={"color": NON_PRIVATE, "width": 2})
    title = axis("error", curves.dataset.y_unit) if is_error else "log-likelihood of a person left out [nats]"
    figure.update_xaxes(title="ε: more private → more accurate", **ticked(CURVE_EPSILONS))
    figure.update_yaxes(title=title, rangemode="tozero" if is_error else "normal")
    return named_lines(finish(figure, 420), _SHORT)


AGAINST_EPSILON = (  # quantity, key and caption of the figures against epsilon
    ("error", "sparse_errors", "Smaller ε hides more."),
    ("likelihood", "sparse_likelihood", "Error and width of intervals together. More is better."),
)


_NEAR = 0.03  # largest difference between level and coverage of a range that is called right
_PLURAL = {"age": "ages"}


def question(data: Dataset) -> str:
    """Return the title."""
    return f"What if {_PLURAL.get(data.x_names[0], 'the inputs')} must be hidden too?"


def about(fits: Fits, guarantee: Guarantee) -> About:
    """Return the description of the fits for their export figure."""
    made = "our sparse GP, the paper's and Bayes cloaking: three simulated releases, each at this budget; together more"
    hidden = " and ".join([*fits.dataset.x_names, fits.dataset.y_name])
    finding = f"Three methods that hide {hidden} at ε = {guarantee.budget.epsilon:g}"
    return pictured.of_release(fits.dataset, guarantee, made, fit_alt(fits), finding=finding)


def answer(fits: Fits, setting: SparseSetting, without: float | None) -> str:
    """Return the headline sentences; errors only with the overlay, compared with the one ``without`` privacy."""
    if without is None:
        return (
            f"Hiding both at ε = {setting.epsilon:g}, one release predicts everywhere. It protects a person's "
            "inputs as well as the outcome."
        )
    unit, error = fits.dataset.y_unit, {method: text.number(each) for method, each in fits.rmse.items()}
    return (
        f"Hiding both at ε = {setting.epsilon:g}, Bayes cloaking has an error of **{error['bayes']} {unit}**, and our "
        f"sparse GP of {error['ours']}."
    )


def metrics(fits: Fits, setting: SparseSetting, without: float | None) -> list[Metric]:
    """Return errors, coverage of the 95 % range, and epsilon."""
    unit, error = fits.dataset.y_unit, {name: text.number(each) for name, each in fits.rmse.items()}
    protects = Metric("Protects", "inputs, outputs", "one person's row replaced")
    promise = Metric("ε of one release", f"{setting.epsilon:g}", f"δ = {text.small(setting.delta)}")
    if without is None:
        return [protects, promise]
    inside = {name: float(each[-1]) for name, each in fits.coverage.items()}
    return [
        Metric(
            "Error, Bayes cloaking",
            f"{error['bayes']} {unit}",
            f"our sparse GP {error['ours']}, the paper's {error['paper']}",
            text.help_of("Error"),
        ),
        Metric(
            "Error without privacy",
            f"{text.number(without)} {unit}",
            "no privacy noise",
            text.help_of("Without privacy"),
        ),
        Metric(
            "Coverage of the 95 % range",
            text.percent(inside["bayes"]),
            f"{_judgement(inside['bayes'])}; our sparse GP {text.percent(inside['ours'])}",
            "Share of people left out whose value lies inside. Below 95 % the range is too narrow, far above it is "
            "too cautious: both are faults.",
        ),
        promise,
    ]


def _judgement(share: float) -> str:
    """Return whether the coverage of a range fits its level ``LEVELS[-1]``, in words."""
    if share > LEVELS[-1] + _NEAR:
        return "too cautious"
    return "too narrow" if share < LEVELS[-1] - _NEAR else "as it should"


def steps(setting: SparseSetting, fits: Fits) -> list[tuple[str, str]]:
    """Return the computation with the current numbers."""
    mechanism, data = setting.mechanism(), fits.dataset
    noise, m = mechanism.noise(data), len(mechanism.inducing_inputs(data))
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
            "noisy counts of the records in public cells, if there are many also their mean locations, then noisy "
            "sums of clipped residuals in stages. Models with many lengthscales and noise variances are averaged, and "
            "the band is a 95 % interval for the curve. Inputs and outputs are protected, as by the sparse DP-GP",
        ),
        (
            "Error",
            f"root mean square on people left out, in {FOLDS} public parts; {REPEATS} releases about the others each, "
            f"{BAYES_DRAWS} of Bayes cloaking, or the releases of Compare. Without privacy: Bayes cloaking's models on "
            "the exact outputs, or the sparse GP itself where that does better",
        ),
    ]


def differences_alt(fits: Fits) -> str:
    """Text alternative of the differences, with their values."""
    ours, paper, bayes = fits.means["ours"], fits.means["paper"], fits.bayes.mean
    curves = {"our sparse GP": ours, "the paper's": paper, "Bayes cloaking": bayes}
    away = ", ".join(f"{name} {text.number(np.abs(curve - fits.plain).mean())}" for name, curve in curves.items())
    return (
        "Difference of each published curve from the one without privacy, with 95 % bands. On average: "
        f"{away} {fits.dataset.y_unit}."
    )


def fit_alt(fits: Fits) -> str:
    """Text alternative of the fits."""
    return (
        f"Published curves. Outer bands are for one more {fits.dataset.y_name} ({100 * LEVEL:g} %), inner ones for the "
        "curve. The paper's intervals are too narrow, so none are drawn. Triangles: inducing inputs."
    )


def table_note(view: str, released: Sequence[Guarantee]) -> str:
    """Return the note on the table; in the first view the table has three releases, and the note their total cost."""
    if view != "fits":
        return "Errors are computed from true data, so they are not private."
    delta = released[0].budget.delta
    together = Ledger(entries=[("", each) for each in released]).epsilon(delta)
    return (
        "Three releases about the same people: our sparse GP, the paper's, Bayes cloaking. Together, publishing all "
        f"costs ε = {text.at_most(together)} at δ = {text.small(delta)}."
    )
