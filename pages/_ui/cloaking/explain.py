"""The computation with the current numbers put in."""

from __future__ import annotations

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.gp.inference import Inference
from dpgp_core.mechanisms.bayes_cloaking import BayesPlan
from dpgp_core.strategies.noise_design import NoiseDesign
from pages._ui.cloaking import words
from pages._ui.cloaking.design_words import carriers
from pages._ui.cloaking.results import Result
from pages._ui.left_out import FOLDS
from pages._ui.look import text
from pages._ui.model import Design, Draw, Model, usual

Steps = list[tuple[str, str]]
ERROR = (
    "Error",
    f"root mean square on people left out, in {FOLDS} public parts: each part is predicted from a release about the "
    "others. Bayes cloaking is simulated 8 times, methods that add noise once 60 times. Without privacy: the same "
    "models on the exact outputs of the others, or the sidebar's model where that does better",
)


def explain(result: Result) -> Steps:
    """What was computed for a result, in order."""
    model, design, draw = result.chosen
    plan = result.plan
    if isinstance(plan, BayesPlan):
        before, after = [_models(plan, model, result.dataset.x_units[0])], _measured(plan, words.planned_for(result))
    else:
        before, after = [_matrix(result, model)], _noise(plan.design, design)
    return [*before, *_budget(result, draw), *after, ("Time", _times(result))]


def _matrix(result: Result, model: Model) -> tuple[str, str]:
    P, n = result.linear_plan.weights.shape
    return (
        "Cloaking matrix",
        f"C = K₍*f₎ (K₍ff₎ + {model.noise:g} I)⁻¹, {P} test points × {n} records; {model.kernel}, "
        f"lengthscale {model.lengthscale:g} {result.dataset.x_units[0]}; {_inference(result.fit.inference)}",
    )


def _models(plan: BayesPlan, model: Model, unit: str) -> tuple[str, str]:
    if model == usual(model.dataset):
        return (
            "Models",
            f"{len(plan.models)} Gaussian processes made from bounds and box. The released numbers themselves say how "
            "much each counts. A model that is set in the sidebar joins them",
        )
    return (
        "Models",
        f"{len(plan.models)} Gaussian processes: the sidebar's {model.kernel} of lengthscale {model.lengthscale:g} "
        f"{unit} and noise {model.noise:g}, with half and twice of both, and those made from bounds and box. The "
        "released numbers themselves say how much each counts, so a wrong lengthscale costs little",
    )


def _budget(result: Result, draw: Draw) -> Steps:
    data, (low, high) = result.dataset, result.dataset.y_bounds
    return [
        (
            "Largest change of one person",
            f"d = {text.number(data.output_range, 4)} {data.y_unit}, from the declared bounds {low:.4g} to {high:.4g} "
            f"{data.y_unit} ({data.bounds_reason})",
        ),
        (
            "Noise multiplier",
            f"s′ = {text.number(noise_multiplier(draw.epsilon, draw.delta, draw.calibration, unproven=True), 4)} "
            f"from ε = {draw.epsilon:g}, δ = {text.small(draw.delta)} ({draw.calibration})",
        ),
    ]


def _measured(plan: BayesPlan, other: str) -> Steps:
    best = f"of the best there is for {other}, which it was planned for" if other else "of the best there is"
    ranks = [stage.planned.rank for stage in plan.stages]
    return [
        (
            "Measured",
            f"{' + '.join(map(str, ranks))} = {sum(ranks)} noisy weighted sums of the outputs, in {len(ranks)} stages. "
            "The first takes them as they are. Each later one takes what is left of them near the curve that is known "
            "by then. No person moves any stage by more than 1, in units that the noise is calibrated to",
        ),
        (
            "Certificate",
            f"what each stage measures is within {100 * plan.gap:.2g} % {best}, as a share of what privacy costs. It "
            "was planned from inputs, bounds and box: the sidebar's model only reads the numbers. "
            "Moving it spends nothing: a real release can be read again with any other, for ever",
        ),
    ]


def _times(result: Result) -> str:
    return ", ".join(
        f"{stage} {1000 * took.seconds:.1f} ms ({'computed' if took.computed else 'cached'})"
        for stage, took in result.times.items()
    )


def _inference(inference: Inference) -> str:
    if inference.residual is None:
        return "exact, by one Cholesky factorisation"
    return (
        f"low-rank: {inference.rank} pivots, which leave {inference.residual:.0e} of K₍ff₎'s trace out; the noise is "
        "calibrated to this C, so privacy is exact"
    )


def _noise(noise: NoiseDesign | None, design: Design) -> Steps:
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
            "everybody's shift c_jᵀ M⁺ c_j is at most 1",
        ),
        (
            "Certificate",
            f"within {100 * noise.gap:.2g} % of the optimum after {noise.iterations} Newton steps; "
            f"{carriers(noise)} people carry the noise (λ above 1 % of the largest)",
        ),
        (
            "Dropped by the rank tolerance",
            f"{text.small(float(f'{noise.dropped_energy:.0e}')) if noise.dropped_energy > 0 else 'nothing'} of C's "
            "energy, from noise and mean alike",
        ),
    ]
