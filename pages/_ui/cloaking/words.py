"""Results to tables and to the figures quoted in sentences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.gp.inference import Inference
from dpgp_core.linalg.blocks import dense_of
from dpgp_core.strategies.noise_design import NoiseDesign
from pages._ui.cloaking.pipeline import LEVEL, SIMULATED_DRAWS, Result
from pages._ui.look import glossary, text
from pages._ui.look.metric import Metric
from pages._ui.look.plots import axis
from pages._ui.model import Design, Draw, Model


def noise_at_records(result: Result) -> float:
    """Half of the privacy noise's interval of ``LEVEL``, median over the rows with a known truth."""
    return float(np.median(result.halves.noise[: result.outcome.scene.records]))


Shown = Callable[[float], str]  # formats a value in the output's unit


def answer(ours: Result, paper: Result, draw: Draw, overlay: bool, shown: Shown, what: str) -> str:
    """The plain sentence under the question. Errors need the true data, so without the overlay it is about noise."""
    setting = f"At ε = {draw.epsilon:g} and δ = {text.small(draw.delta)} "
    if not overlay:
        return (
            f"{setting}privacy moves the curve at a typical record by at most **{shown(noise_at_records(ours))}** in "
            f"{100 * LEVEL:g} of 100 releases; the published method needs {shown(noise_at_records(paper))}."
        )
    return (
        f"{setting}{what} is off by about **{shown(ours.outcome.mean_rmse)}** (root mean square); "
        f"without privacy {shown(ours.outcome.nonprivate_rmse)}, with the published method "
        f"{shown(paper.outcome.mean_rmse)}."
    )


def release_metrics(ours: Result, paper: Result, overlay: bool, shown: Shown) -> list[Metric]:
    """The figures above a release, against the published method; errors only under the overlay."""
    guarantee = ours.outcome.release.guarantee
    draws = f"{guarantee.releases} draw{'s' if guarantee.releases > 1 else ''}"
    errors = [
        Metric(
            "Error of one release",
            shown(ours.outcome.mean_rmse),
            f"published {shown(paper.outcome.mean_rmse)}",
            glossary.OWN.help,
        ),
        Metric("Error without privacy", shown(ours.outcome.nonprivate_rmse), glossary.OWN.beside, glossary.OWN.help),
    ]
    directions = [
        Metric("Directions of noise", f"{ours.plan.factor.shape[1]}", f"of {len(ours.plan.factor)} test points")
    ]
    return [
        *(errors if overlay else directions),
        Metric(
            f"Noise, typical record, {100 * LEVEL:g} %",
            f"≤ {shown(noise_at_records(ours))}",
            f"published ≤ {shown(noise_at_records(paper))}",
        ),
        Metric(
            "Spent on screen",
            f"ε = {text.at_most(guarantee.proven_epsilon)}",
            f"{draws}, δ = {text.small(guarantee.budget.delta)}",
        ),
    ]


def published_title(paper: Result) -> str:
    """Heading of the comparison; says so where Hall's formula is no promise."""
    held = paper.outcome.release.guarantee.established
    return "The published method" if held else "The published method (not established here)"


OVERLAY_NOTE = "Columns marked “not private” are the educational overlay."
ERRORS_ALT = (
    f"Errors of {SIMULATED_DRAWS} simulated releases: this setting orange, the published method purple. "
    "Computed with the true data, so not private."
)


def curve_table(result: Result, overlay: bool, pinned: Result | None = None) -> pd.DataFrame:
    """One row a grid point: released draws, noise, a pinned draw; what is not private only under the overlay."""
    data, release = result.dataset, result.outcome.release
    grid = slice(result.outcome.scene.records, None)
    columns = {axis(data.x_names[0], data.x_units[0]): release.X_test[grid, 0]}
    for index, sample in enumerate(release.samples, 1):
        columns[f"private draw {index} [{data.y_unit}]"] = sample[grid]
    if pinned is not None:
        columns[f"pinned (A) [{data.y_unit}]"] = pinned.outcome.release.samples[0, grid]
    for what, half in (("the curve", result.halves.curve), (f"one more {data.y_name}", result.halves.output)):
        columns[f"± {100 * LEVEL:g} %: {what} [{data.y_unit}]"] = half[grid]
    columns[f"± {100 * LEVEL:g} %: privacy noise [{data.y_unit}]"] = result.halves.noise[grid]
    if overlay:
        columns[f"fit without noise [{data.y_unit}] (not private)"] = result.outcome.nonprivate[grid]
    return pd.DataFrame(columns).round(4)


def curves_alt(result: Result, colour: str) -> str:
    """Text alternative of the curves figure."""
    data, release = result.dataset, result.outcome.release
    grid = slice(result.outcome.scene.records, None)
    x, half = release.X_test[grid, 0], result.halves.output[grid]
    least, most = int(half.argmin()), int(half.argmax())
    return (
        f"{data.y_name.capitalize()} against {data.x_names[0]}. The {100 * LEVEL:g} % interval for one more "
        f"{data.y_name} about a released curve ({colour}), privacy noise included, is narrowest, "
        f"± {text.number(half[least])} {data.y_unit}, at {text.number(x[least])} {data.x_units[0]} and widest, "
        f"± {text.number(half[most])} {data.y_unit}, at {text.number(x[most], 3)} {data.x_units[0]}."
    )


def cloaking_answer(result: Result) -> str:
    """One sentence on the real data, with its numbers."""
    data, noise = result.dataset, _design(result)
    heavy = _carriers(noise)
    return (
        f"{data.n} records, {len(result.fit.C)} test points: the noise has only **{noise.rank} independent "
        f"directions**, and the **{heavy} records** with the largest λ decide its shape."
    )


def certificate(result: Result) -> list[Metric]:
    """What proves the design: largest shift, gap, rank."""
    noise = _design(result)
    # |L^+ a_j|^2 over every record j, evaluated here and now on the values that are released
    shifts = np.linalg.lstsq(result.plan.factor, dense_of(result.plan.weights), rcond=1e-14)[0]
    largest = float((shifts**2).sum(axis=0).max())
    return [
        Metric("Largest shift of any record", f"{largest:.6f}", "must not exceed 1"),
        Metric("Distance from the optimum", f"{100 * noise.gap:.2f} %", "certified upper bound"),
        Metric("Directions of noise", f"{noise.rank}", f"of {len(result.fit.C)} test points"),
        Metric("Newton steps", f"{noise.iterations}", f"objective {noise.objective}"),
    ]


def record_table(result: Result) -> pd.DataFrame:
    """One row a record: public inputs and its weight in the noise."""
    data, noise = result.dataset, _design(result)
    columns = {
        axis(name, unit): data.X[:, i] for i, (name, unit) in enumerate(zip(data.x_names, data.x_units, strict=True))
    }
    columns["λ, share of the total"] = (noise.lambdas / noise.lambdas.sum()).round(6)
    columns["|c|, pull on all test points"] = np.linalg.norm(dense_of(result.fit.C), axis=0).round(6)
    return pd.DataFrame(columns).sort_values("λ, share of the total", ascending=False)


C_ALT = "Cloaking matrix: how far each prediction moves when one record's output changes by one unit."
M_ALT = "Correlation of the privacy noise between test points: noise at nearby points moves together."


def lambda_alt(result: Result) -> str:
    """Text alternative of the stems."""
    noise = _design(result)
    return (
        f"Weight of each record in the noise. {_carriers(noise)} of {len(noise.lambdas)} records have more than "
        "1 % of the largest weight; they sit at the edges and in sparse places, where one person moves the curve most."
    )


def _design(result: Result) -> NoiseDesign:
    assert result.plan.design is not None
    return result.plan.design


def _carriers(noise: NoiseDesign) -> int:
    return int((noise.lambdas > 0.01 * noise.lambdas.max()).sum())


def explain(result: Result, model: Model, design: Design, draw: Draw) -> list[tuple[str, str]]:
    """The computation with the current numbers put in."""
    data, plan = result.dataset, result.plan
    P, n = plan.weights.shape
    low, high = data.y_bounds
    rows = [
        (
            "Cloaking matrix",
            f"C = K₍*f₎ (K₍ff₎ + {model.noise:g} I)⁻¹, {P} test points × {n} records; {model.kernel}, "
            f"lengthscale {model.lengthscale:g} {data.x_units[0]}; {_explain_inference(result.fit.inference)}",
        ),
        (
            "Largest change of one record",
            f"d = {text.number(data.output_range, 4)} {data.y_unit}, from the declared bounds {low:.4g} to {high:.4g} "
            f"{data.y_unit} ({data.bounds_reason})",
        ),
        (
            "Noise multiplier",
            f"s′ = {text.number(noise_multiplier(draw.epsilon, draw.delta, draw.calibration, unproven=True), 4)} "
            f"from ε = {draw.epsilon:g}, δ = {text.small(draw.delta)} ({draw.calibration})",
        ),
        *_explain_noise(plan.design, design),
    ]
    timing = ", ".join(
        f"{stage} {1000 * seconds:.1f} ms ({'computed' if stage in result.computed else 'cached'})"
        for stage, seconds in result.seconds.items()
    )
    return [*rows, ("Time", timing)]


def _explain_inference(inference: Inference) -> str:
    if inference.residual is None:
        return "exact, by one Cholesky factorisation"
    return (
        f"low-rank: {inference.rank} pivots, which leave {inference.residual:.0e} of K₍ff₎'s trace out; the noise is "
        "calibrated to this C, so privacy is exact"
    )


def _explain_noise(noise: NoiseDesign | None, design: Design) -> list[tuple[str, str]]:
    if noise is None:
        return [
            (
                "Noise",
                "s′ Δ G, G from the GP prior, Δ the exact RKHS sensitivity: valid at any later test point",
            )
        ]
    return [
        (
            "Noise",
            f"(d s′)² M, M of rank {noise.rank} from the {design.objective} objective; "
            "every record's shift c_jᵀ M⁺ c_j is at most 1",
        ),
        (
            "Certificate",
            f"within {100 * noise.gap:.2g} % of the optimum after {noise.iterations} Newton steps; "
            f"{_carriers(noise)} records carry the noise (λ above 1 % of the largest)",
        ),
        (
            "Dropped by the rank tolerance",
            f"{noise.dropped_energy:.1e} of C's energy, from noise and mean alike",
        ),
    ]
