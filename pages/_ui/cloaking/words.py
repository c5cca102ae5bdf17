"""Words and tables of a release: the headline, its measurements, the design of its noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.arrays import FloatArray
from dpgp_core.linalg import dense_of
from dpgp_core.mechanisms import CATALOGUE
from dpgp_core.strategies.noise_design import NoiseDesign
from pages._ui.cloaking import staged
from pages._ui.cloaking.results import LEVEL, HeldOutErrors, Numbers, Result
from pages._ui.left_out import FOLDS
from pages._ui.look import offers, tables, text
from pages._ui.look.maps import TIMES, times
from pages._ui.look.plots import axis
from pages._ui.look.text import Metric
from pages._ui.model import Design, usual


def at_records(result: Result, half: FloatArray) -> float:
    """Return the median of half-widths (P,) over the rows with known outputs."""
    return float(np.median(half[: result.scene.records]))


def size(result: Result, value: float) -> str:
    """Return a difference of outputs with its unit; for prices on a map, whose logarithms are released, as a
    percentage.
    """
    return text.factor_of(value) if result.scene.is_map else f"{text.number(value)} {result.dataset.y_unit}"


def up_to(half: float) -> str:
    """Return how far a price may be off, given half of an interval for its logarithm."""
    return f"up to {times(_factor(half))} {TIMES}"


def _factor(half: float) -> float:
    return math.exp(min(half, 20.0))


class Uncertain(NamedTuple):
    """The uncertainty at a typical record.

    Attributes:
        name: name of the metric.
        meaning: explanation of the metric.
        bound: clause with {} in place of the largest value.
        halves: half-width of the interval of ``LEVEL`` in each result.
    """

    name: str
    meaning: str
    bound: str
    halves: tuple[float, ...]


_LEVEL = f"{100 * LEVEL:g}"


def uncertainty(*some: Result) -> Uncertain:
    """Return the privacy noise if all results know it; otherwise how far the curve may be from a released one."""
    noises = [each.intervals.noise for each in some]
    if any(noise is None for noise in noises):
        return Uncertain(
            "The curve is within",
            f"Half of the {_LEVEL} % range for the curve, for a typical person. Privacy noise is included.",
            f"the curve is within **{{}}** of the published one, in {_LEVEL} of 100 cases",
            tuple(at_records(each, each.intervals.curve.half) for each in some),
        )
    return Uncertain(
        "Privacy noise",
        f"How far privacy noise moves the curve for a typical person, at most, in {_LEVEL} % of releases.",
        f"privacy noise moves the curve by at most **{{}}**, in {_LEVEL} of 100 releases",
        tuple(at_records(each, each.intervals.blur) for each in some),
    )


def meanwhile(errors: HeldOutErrors | None, overlay: bool) -> str:
    """Return the note that errors with the overlay are still being computed; "" if none is missing."""
    missing = overlay and (errors is None or errors.ours is None or errors.beside is None)
    return " The errors are being computed." if missing else ""


def error(result: Result, left_out: FloatArray | None) -> str:
    """Return an error in words, or that it is not computed yet."""
    return "…" if left_out is None else size(result, float(left_out.mean()))


def name_of(design: Design) -> str:
    """Return the name of the release next to the page's own, for figures and tables."""
    return "Bayes cloaking (needs no lengthscale)" if design.in_stages else "method of 2018"


def predicts(ours: Result, errors: HeldOutErrors) -> str:
    """Return the errors of a release and of the one next to it for the headline."""
    needs_none = ", which needs no lengthscale," if ours.design.in_stages else ""
    typical = " (typical error)" if ours.scene.is_map else ""
    own, beside = error(ours, errors.ours), error(ours, errors.beside)
    said = f"{method(ours)}{needs_none} predicts {ours.dataset.privacy_unit} to within **{own}**{typical}."
    if errors.design.in_stages:
        return f"{said} Bayes cloaking needs no lengthscale: **{beside}**."
    return f"{said} The method of 2018: **{beside}**."


def release_metrics(ours: Result, beside: Result | None, errors: HeldOutErrors | None) -> list[Metric]:
    """Return the metrics of a release, compared with the one next to it; errors only with the overlay."""
    guarantee, uncertain, other = ours.guarantee, uncertainty(ours), f"in {_LEVEL} of 100 releases"
    draws = f"{guarantee.releases} simulated release{'s' if guarantee.releases > 1 else ''}"
    if beside is not None and not beside.design.in_stages:
        uncertain = uncertainty(ours, beside)
        other = f"{name_of(beside.design)}: ±\u00a0{size(ours, uncertain.halves[1])}"
    return [
        *([_measured_size(ours)] if errors is None else errors_of(ours, errors)),
        Metric(f"{uncertain.name}, {_LEVEL} %", f"±\u00a0{size(ours, uncertain.halves[0])}", other, uncertain.meaning),
        spent("Spent on screen", guarantee, draws),
    ]


def spent(label: str, guarantee: Guarantee, what: str) -> Metric:
    """Return a metric with epsilon and delta of releases that are called ``what``."""
    delta = text.small(guarantee.budget.delta)
    return Metric(label, f"ε = {text.at_most(guarantee.proven_epsilon)}", f"{what}, δ = {delta}")


def within(*results: Result, of: Sequence[str] = ()) -> str:
    """Return how far a typical value is from the truth, from releases alone; ``of`` says what differs if there are
    several.
    """
    is_map = results[0].scene.is_map
    ends = [each.intervals.blur if is_map else each.intervals.curve.half for each in results]
    halves = [at_records(each, half) for each, half in zip(results, ends, strict=True)]
    many = [times(_factor(half)) if is_map else size(results[0], half) for half in halves]
    said = ", ".join(map("{} ({})".format, many, of)) if of else many[0]
    if is_map:
        return f"Privacy noise makes a typical price up to {said} {TIMES}"
    return f"The curve is known to within {said}"


def finding(result: Result) -> str:
    """Return this sentence with epsilon, as the title of a picture."""
    said = within(result)
    return f"At ε = {result.draw.epsilon:g} {said[0].lower()}{said[1:]}"


def method(result: Result) -> str:
    """Return the method's title within a sentence."""
    return text.in_sentence(offers.MECHANISM.titles[result.design.mechanism].removesuffix(" (ours)"))


def errors_of(ours: Result, errors: HeldOutErrors, kind: str = "people") -> list[Metric]:
    """Return the errors of a release, of the one next to it, and without privacy; ``kind`` names the records left
    out.
    """
    other = f"{name_of(errors.design)}: {error(ours, errors.beside)}"
    left_out = f"the same {kind} left out"
    return [
        Metric("Error", error(ours, errors.ours), other, text.help_of("Error")),
        Metric("Error without privacy", size(ours, errors.without), left_out, text.help_of("Without privacy")),
    ]


def free(result: Result) -> str:
    """Return the sentence about settings that cost no privacy."""
    if not result.numbers:
        return ""
    return "Changing kernel, lengthscale and spread of people costs no privacy; they re-read the same release."


def _measured_size(result: Result) -> Metric:
    if result.numbers:
        ranks = ranks_of(result.numbers[0])
        return Metric("Numbers measured", f"{sum(ranks)}", f"in {len(ranks)} stages")
    factor = result.linear_plan.factor
    return Metric("Directions of privacy noise", f"{factor.shape[1]}", f"of {len(factor)} test points")


def ranks_of(numbers: Numbers) -> list[int]:
    """Return how many sums of outcomes each stage of a release measures."""
    return [len(stage.B) for stage in numbers.measured.stages]


def own_title(ours: Result) -> str:
    """Return the heading of the page's own setting."""
    return f"This setting: {offers.MECHANISM.titles[ours.design.mechanism]}"


def beside_title(beside: Result) -> str:
    """Return the heading of the release next to it, which says if Hall's formula guarantees nothing."""
    if beside.design.in_stages:
        return "The answer: Bayes cloaking"
    held = beside.guarantee.established
    return "The method of 2018" if held else "The method of 2018 (no promise at this epsilon)"


OVERLAY_NOTE = "Columns marked “not private” show true data."


ERRORS_CAPTION = "Each point is the error of one simulated release."


def errors_alt(errors: HeldOutErrors) -> str:
    """Text alternative of the errors figure."""
    counts = [0 if each is None else len(each) for each in (errors.ours, errors.beside)]
    return (
        f"Each point is the error of one simulated release: {counts[0]} of this setting in orange, {counts[1]} of "
        f"{name_of(errors.design)} in pink. The blue line is the error without privacy. It takes the true data to "
        "know this."
    )


def rows_of(figure: go.Figure, result: Result) -> pd.DataFrame:
    """Return the numbers of the curve's picture, with the noise if it is added once."""
    noise, name = result.intervals.noise, f"privacy noise, {_LEVEL} %, ± [{result.dataset.y_unit}]"
    return tables.of_figure(figure, more=None if noise is None else {name: noise[result.scene.grid]})


CURVES_CAPTION = f"Inner band: {_LEVEL} % interval for the average. Outer band: range for one more person."


def curves_alt(result: Result, colour: str, overlay: bool) -> str:
    """Text alternative of the curves figure."""
    data, scene = result.dataset, result.scene
    x, half = scene.x, result.intervals.output.half[scene.grid]
    least, most = int(half.argmin()), int(half.argmax())
    return (
        f"{colour.capitalize()} line: the published curve, {_trend(result)}. Inner band: {_LEVEL} % interval "
        f"for the average. Outer band: the range for one more person ({_LEVEL} %). It is "
        f"± {text.number(half[least])} {data.y_unit} at {text.number(x[least])} {data.x_units[0]} and "
        f"± {text.number(half[most])} {data.y_unit} at {text.number(x[most], 3)}."
        + (" Circles: true data." if overlay else "")
    )


def _trend(result: Result) -> str:
    """Return the first released curve in words: its values at the beginning, in the middle and at the end."""
    data, x, y = result.dataset, result.scene.x, result.samples[0, result.scene.grid]
    first, middle, last = (
        f"{text.number(y[at], 3)} {data.y_unit} at {text.number(x[at], 2)}" for at in (0, len(x) // 3, len(x) - 1)
    )
    return f"{first}, {middle}, {last} {data.x_units[0]}"


Step = tuple[str, str]  # a name, and what is computed
Steps = list[Step]
ERROR = (
    "Error",
    f"root mean square on people left out, in {FOLDS} public parts: each part is predicted from a release about the "
    f"others. Bayes cloaking is simulated {CATALOGUE['bayes'].simulated} times, methods that add noise once "
    f"{CATALOGUE['refined'].simulated} times. Without privacy: the same models on the exact outputs of the others, or "
    "the sidebar's model where that does better",
)


def explain(result: Result) -> Steps:
    """Return how a result is computed, in order."""
    data, draw, (low, high) = result.dataset, result.draw, result.dataset.y_bounds
    before, after = _in_stages(result) if result.numbers else _at_once(result)
    multiplier = noise_multiplier(draw.epsilon, draw.delta, draw.calibration, unproven=True)
    return [
        before,
        (
            "Largest change of one person",
            f"d = {text.number(data.output_range, 4)} {data.y_unit}, from the declared bounds {low:.4g} to {high:.4g} "
            f"{data.y_unit} ({data.bounds_reason})",
        ),
        (
            "Noise multiplier",
            f"s = {text.number(multiplier, 4)} "
            f"from ε = {draw.epsilon:g}, δ = {text.small(draw.delta)} ({draw.calibration})",
        ),
        *after,
    ]


def _in_stages(result: Result) -> tuple[Step, Steps]:
    """Return the models that read the measurements of Bayes cloaking, and the numbers of the first release."""
    model, budget = result.model, result.budget
    assert budget is not None
    many = f"{len(staged.models(result.dataset, budget, model))} Gaussian processes"
    if model == usual(model.dataset):
        read = (
            f"{many} made from bounds and box. The released numbers themselves say how "
            "much each counts. A model that is set in the sidebar joins them"
        )
    else:
        read = (
            f"{many}: the sidebar's {model.kernel} of lengthscale {model.lengthscale:g} "
            f"{result.dataset.x_units[0]} and noise {model.noise:g}, with half and twice of both, and those made from "
            "bounds and box. The released numbers themselves say how much each counts, so a wrong lengthscale costs "
            "little"
        )
    ranks = ranks_of(result.numbers[0])
    return ("Models", read), [
        (
            "Measured",
            f"{' + '.join(map(str, ranks))} = {sum(ranks)} noisy weighted sums of the outputs, in {len(ranks)} stages. "
            "The first stage clips outputs to the bounds. Each later one clips them to a narrower interval around the "
            "curve that is known by then. No person moves any stage by more than 1, in units that the noise is "
            "calibrated to",
        ),
        (
            "Plan",
            "before each stage, its sums and intervals are chosen from inputs, bounds, box and the numbers released so "
            "far, as in a real release. The sidebar's model only reads the numbers. Moving it spends nothing: a real "
            "release can be read again with any other, for ever",
        ),
    ]


def _at_once(result: Result) -> tuple[Step, Steps]:
    """Return the cloaking matrix, the noise that is added once, and the certificate of its design."""
    model, inference, noise = result.model, result.fit.inference, result.linear_plan.design
    P, n = result.linear_plan.weights.shape
    solved = "exact, by one Cholesky factorisation"
    if inference.residual is not None:
        solved = (
            f"low-rank: {inference.rank} pivots, which leave {inference.residual:.0e} of K₍ff₎'s trace out; the noise "
            "is calibrated to this C, so privacy is exact"
        )
    matrix = (
        "Cloaking matrix",
        f"C = K₍*f₎ (K₍ff₎ + {model.noise:g} I)⁻¹, {P} test points × {n} records; {model.kernel}, "
        f"lengthscale {model.lengthscale:g} {result.dataset.x_units[0]}; {solved}",
    )
    if noise is None:
        drawn = "s Δ G, G from the GP prior, Δ the exact RKHS sensitivity: valid at any later test point"
        return matrix, [("Noise", drawn)]
    dropped = text.small(float(f"{noise.dropped_energy:.0e}")) if noise.dropped_energy > 0 else "nothing"
    return matrix, [
        (
            "Noise",
            f"(d s)² M, M of rank {noise.rank} from the {result.design.objective} objective; "
            "no person moves the curve by more than it hides, c_jᵀ M⁺ c_j ≤ 1 for every j",
        ),
        (
            "Certificate",
            f"within {100 * noise.gap:.2g} % of the optimum after {noise.iterations} Newton steps; "
            f"{carriers(noise)} people carry the noise (λ above 1 % of the largest)",
        ),
        ("Dropped by the rank tolerance", f"{dropped} of C's energy, from noise and mean alike"),
    ]


def cloaking_answer(result: Result) -> str:
    """Return a sentence about the real data, with numbers."""
    data, noise = result.dataset, result.noise_design
    heavy = carriers(noise)
    return (
        f"The privacy noise for {len(result.fit.C)} predictions has only **{noise.rank} independent directions**. Of "
        f"{data.n} people, **{heavy}** decide its shape: those with the largest λ."
    )


def certificate(result: Result) -> list[Metric]:
    """Return the metrics that prove the design optimal: largest shift, gap, rank."""
    noise = result.noise_design
    # |L^+ a_j|^2 for every record j, evaluated for the values that are released
    shifts = np.linalg.lstsq(result.linear_plan.factor, dense_of(result.linear_plan.weights), rcond=1e-14)[0]
    largest = float((shifts**2).sum(axis=0).max())
    return [
        Metric("Largest shift of any person", text.number(largest, 4), "must not exceed 1"),
        Metric("Optimality gap", f"{text.at_most(100 * noise.gap, 2)} %", "certified upper bound"),
        Metric("Directions of privacy noise", f"{noise.rank}", f"of {len(result.fit.C)} test points"),
        Metric("Newton steps", f"{noise.iterations}", f"objective {noise.objective}"),
    ]


def record_table(result: Result) -> pd.DataFrame:
    """Return a row for each record: public inputs, and its weight in the noise."""
    data, noise = result.dataset, result.noise_design
    columns = dict(zip(map(axis, data.x_names, data.x_units), data.X.T, strict=True))
    columns["λ, share of the total"] = (noise.lambdas / noise.lambdas.sum()).round(6)
    columns["|c|, pull on all test points"] = np.linalg.norm(dense_of(result.fit.C), axis=0).round(6)
    return pd.DataFrame(columns).sort_values("λ, share of the total", ascending=False)


C_ALT = "Cloaking matrix: how far each prediction moves when one person's output changes by one unit."
M_ALT = "Correlation of the privacy noise between test points: noise at nearby points moves together."
LAMBDA_CAPTION = "Those at the edges and in sparse places weigh most: there one person moves the curve most."


def lambda_alt(result: Result) -> str:
    """Text alternative of the stems."""
    noise = result.noise_design
    return (
        f"Weight of each person in the noise. {carriers(noise)} of {len(noise.lambdas)} have more than 1 % of the "
        "largest weight. They are at the edges and in sparse places, where one person moves the curve most."
    )


def carriers(noise: NoiseDesign) -> int:
    """Return the number of records with more than 1 % of the largest weight."""
    return int((noise.lambdas > 0.01 * noise.lambdas.max()).sum())
