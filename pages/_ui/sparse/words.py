"""Words of the sparse DP-GP page: title, lead, figures, captions, how it is computed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.accounting.ledger import Ledger
from pages._ui.left_out import FOLDS
from pages._ui.look import glossary, sheet, text
from pages._ui.look.sheet import About
from pages._ui.look.text import Metric
from pages._ui.sparse.errors import BAYES_DRAWS, REPEATS
from pages._ui.sparse.fitting import LEVEL, Fits
from pages._ui.sparse.setting import LEVELS, SparseSetting

_NEAR = 0.03  # how far from its level a range may hold and be called right


def question(fits: Fits) -> str:
    """The title."""
    return f"What if {_PLURAL.get(fits.dataset.x_names[0], 'the inputs')} must be hidden too?"


_PLURAL = {"age": "ages"}


def about(fits: Fits, guarantee: Guarantee) -> About:
    """What is said of the fits where they go."""
    made = "our sparse GP, the paper's and Bayes cloaking: three example draws, each at this budget; together more"
    return sheet.of_release(fits.dataset, guarantee, made, fit_alt(fits))


def answer(fits: Fits, setting: SparseSetting, without: float | None) -> str:
    """The plain sentences under the question; errors only under the overlay, with the one ``without`` privacy."""
    if without is None:
        return (
            f"Hiding both at epsilon = {setting.epsilon:g}, one release predicts everywhere. It hides what somebody's "
            "inputs are as well as their outcome."
        )
    unit, error = fits.dataset.y_unit, {method: text.number(each) for method, each in fits.rmse.items()}
    return (
        f"Hiding both at epsilon = {setting.epsilon:g}, the error is **{error['bayes']} {unit}** with Bayes cloaking, "
        f"{error['ours']} with our sparse GP and {error['paper']} with the paper's. Without privacy it is "
        f"{text.number(without)}."
    )


def metrics(fits: Fits, setting: SparseSetting, without: float | None) -> list[Metric]:
    """Errors, how the 95 % range does, epsilon."""
    unit, last = fits.dataset.y_unit, len(LEVELS) - 1
    promise = [
        Metric("Protects", "inputs, outputs", "one person's row replaced"),
        Metric("ε of one release", f"{setting.epsilon:g}", f"δ = {text.small(setting.delta)}"),
    ]
    if without is None:
        return promise
    inside = fits.coverage
    return [
        Metric(
            "Error, Bayes cloaking",
            f"{text.number(fits.rmse['bayes'])} {unit}",
            f"our sparse GP {text.number(fits.rmse['ours'])}, the paper's {text.number(fits.rmse['paper'])}",
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


def steps(setting: SparseSetting, fits: Fits) -> list[tuple[str, str]]:
    """The computation with the current numbers put in."""
    mechanism = setting.mechanism()
    noise = mechanism.noise(fits.dataset)
    m = len(mechanism.inducing_inputs(fits.dataset))
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
            "lengthscale and noise are averaged over; its band is where the curve is. Inputs and outputs are "
            "protected, as by the sparse DP-GP",
        ),
        (
            "Error",
            f"root mean square on people left out, in {FOLDS} public parts; {REPEATS} releases about the others each, "
            f"{BAYES_DRAWS} of Bayes cloaking. Without privacy: Bayes cloaking's models on the exact outputs, or "
            "the sparse GP itself where that does better",
        ),
    ]


def beside_alt(fits: Fits) -> str:
    """What the picture of the differences shows, with its values."""
    unit = fits.dataset.y_unit
    curves = {
        "our sparse GP": fits.means["ours"],
        "the paper's": fits.means["paper"],
        "Bayes cloaking": fits.bayes.mean,
    }
    away = ", ".join(
        f"{name} {text.number(float(np.abs(curve - fits.plain).mean()))} {unit}" for name, curve in curves.items()
    )
    return f"How far each published curve is from the one without privacy: on average {away}. Bands: where curves are."


def fit_alt(fits: Fits) -> str:
    """What the picture of the fits shows."""
    return (
        f"Published curves. Outer bands hold one more {fits.dataset.y_name} ({100 * LEVEL:g} %), inner ones the curve. "
        "The paper's bands do not hold, so it has none. Triangles: inducing inputs."
    )


def table_note(view: str, released: Sequence[Guarantee]) -> str:
    """What the table holds: on the first view three releases, which cost what they cost together."""
    if view != "fits":
        return "It takes the true data to know an error."
    delta = released[0].budget.delta
    together = Ledger(entries=[("", each) for each in released]).epsilon(delta)
    return (
        "Three releases about the same people: our sparse GP, the paper's, Bayes cloaking. Together, publishing all "
        f"costs ε = {text.at_most(together)} at δ = {text.small(delta)}."
    )
