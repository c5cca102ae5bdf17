"""The attack page: what the best known attacks achieve, against what the guarantee allows."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpgp_core.attack import draw_releases, linear_attack, output_neighbours
from dpgp_core.audit import epsilon_lower_bound
from dpgp_core.data import Dataset, FloatArray
from dpgp_core.kernels import Matern12
from dpgp_core.lira import Inputs, Shadows, attack_posterior_sampling
from dpgp_core.mechanisms import PosteriorSampling
from dpgp_core.privacy import Guarantee
from dpgp_core.roc import Estimate, Roc
from dpgp_core.tradeoff import budget_tradeoff
from pages._ui import text
from pages._ui.analysis import Design, Draw, Model, mechanism_of
from pages._ui.figures import finish
from pages._ui.metric import Metric
from pages._ui.palette import GUARANTEE, RISK, TRUTH, faded

RATES = (0.01, 0.05, 0.10)
CONFIDENCE = 0.95
_N = 10
_LENGTHSCALE = 1.0
_POINTS = 400  # of the ROC that are drawn


@dataclass(frozen=True)
class PathAttack:
    """LiRA against posterior sampling in the published setting: n = 10, exponential kernel, target at 1/2."""

    r: float
    sigma: float
    L: int
    delta: float
    inputs: Inputs
    shadows: int
    seed: int

    @property
    def guarantee(self) -> Guarantee:
        """The promise for the L paths together."""
        sampling = PosteriorSampling(
            kernel=Matern12(lengthscale=_LENGTHSCALE),
            r=self.r,
            sigma=self.sigma,
            delta=self.delta,
            n=_N,
            x_box=((0.0, 1.0),),
        )
        return sampling.guarantee.repeated(self.L)


@dataclass(frozen=True)
class OutputAttack:
    """The likelihood-ratio attack on one Gaussian release, between the two bounds of its most exposed record."""

    model: Model
    mechanism: Literal["cloaking", "gp_prior"]
    draw: Draw
    trials: int


@dataclass(frozen=True, eq=False)
class Attacked:
    """Scores of an attack and what was promised.

    Attributes:
        roc: of the simulated attack.
        guarantee: the promise it is held against.
        epsilon_lower: what the releases prove about epsilon, at 95 % confidence.
        seconds: wall time of the attack.
    """

    roc: Roc
    guarantee: Guarantee
    epsilon_lower: float
    seconds: float


def attack_paths(attack: PathAttack) -> Attacked:
    """Fit and evaluate LiRA."""
    start = time.perf_counter()
    shadows = Shadows(r=attack.r, sigma=attack.sigma, L=attack.L, n=_N, lengthscale=_LENGTHSCALE, inputs=attack.inputs)
    roc = attack_posterior_sampling(shadows, np.random.default_rng(attack.seed), attack.shadows)
    seconds = time.perf_counter() - start
    return Attacked(roc, attack.guarantee, _lower_bound(roc, attack.delta, attack.seed), seconds)


def attack_outputs(dataset: Dataset, attack: OutputAttack) -> Attacked:
    """Attack the record whose shift is largest, at the training inputs; the exact test for this noise."""
    start = time.perf_counter()
    mechanism = mechanism_of(attack.model, Design(attack.mechanism), attack.draw)
    plan = mechanism.plan(dataset.X, dataset.X)
    shifts = np.linalg.lstsq(plan.factor, plan.weights, rcond=1e-13)[0]
    record = int((shifts**2).sum(axis=0).argmax())
    pair = output_neighbours(dataset, record)
    rng = np.random.default_rng(attack.draw.seed)
    known = [mechanism.release_planned(plan, data, dataset.X, rng) for data in pair]
    linear = linear_attack(*known)
    scores = [
        np.concatenate([linear.score(s) for s in draw_releases(mechanism, data, dataset.X, rng, attack.trials)])
        for data in pair
    ]
    guarantee = mechanism.guarantee.for_unit(dataset.unit)
    roc = Roc.of(*scores)
    bound = epsilon_lower_bound(scores[0], scores[1], attack.draw.delta, CONFIDENCE)
    return Attacked(roc, guarantee, bound, time.perf_counter() - start)


def _lower_bound(roc: Roc, delta: float, seed: int) -> float:
    """Audit bound from the sorted scores, put into random order first."""
    rng = np.random.default_rng([seed, 2])
    return epsilon_lower_bound(rng.permutation(roc.inside), rng.permutation(roc.outside), delta, CONFIDENCE)


def allowed(guarantee: Guarantee, rate: FloatArray) -> FloatArray:
    """Largest true positive rate that (epsilon, delta) allows at false positive rates."""
    return 1 - budget_tradeoff(rate, guarantee.budget.epsilon, guarantee.budget.delta)


def roc_figure(attacked: Attacked, logarithmic: bool) -> go.Figure:
    """True against false positive rate; on log axes the small rates that matter are visible."""
    false, true = attacked.roc.curve()
    keep = np.unique(np.linspace(0, len(false) - 1, _POINTS).astype(int))
    rate = np.geomspace(1e-4, 1, 200)
    figure = go.Figure()
    figure.add_scatter(
        x=rate,
        y=allowed(attacked.guarantee, rate),
        name="most that (ε, δ) allows",
        line={"color": GUARANTEE, "dash": "dash"},
    )
    figure.add_scatter(x=false[keep], y=true[keep], name="attack", line={"color": RISK, "width": 2.5})
    figure.add_scatter(x=rate, y=rate, name="guessing", line={"color": TRUTH, "dash": "dot"})
    low, high = [], []
    for level in RATES:
        estimate = attacked.roc.power_at(level, CONFIDENCE)
        low.append(estimate.value - estimate.low)
        high.append(estimate.high - estimate.value)
    figure.add_scatter(
        x=RATES,
        y=[attacked.roc.power_at(level).value for level in RATES],
        mode="markers",
        name="with 95 % interval",
        marker={"color": RISK, "size": 7},
        error_y={"array": high, "arrayminus": low, "color": faded(RISK, 0.7)},
    )
    kind: dict[str, Any] = {"type": "log", "range": [-4, 0]} if logarithmic else {"type": "linear", "range": [0, 1]}
    if logarithmic:
        kind |= {"dtick": 1, "exponentformat": "power"}
    figure.update_xaxes(title="false positive rate: accused though absent", **kind)
    figure.update_yaxes(title="true positive rate: found when present", **kind)
    return finish(figure, 430)


def metrics(attacked: Attacked) -> list[Metric]:
    """AUC, power at 1 %, promised and proven epsilon."""
    auc, power = attacked.roc.auc(CONFIDENCE), attacked.roc.power_at(0.01, CONFIDENCE)
    return [
        Metric("Area under the curve", f"{auc.value:.3f}", f"95 % interval {auc.low:.3f} to {auc.high:.3f}"),
        Metric(
            "Found at 1 % false alarms",
            text.percent(power.value),
            f"{text.percent(power.low)} to {text.percent(power.high)}",
        ),
        Metric(
            "ε promised", text.number(attacked.guarantee.budget.epsilon, 3), f"δ = {attacked.guarantee.budget.delta:g}"
        ),
        Metric("ε proven by this attack", f"≥ {text.number(attacked.epsilon_lower, 3)}", "95 % confidence"),
    ]


def answer(attacked: Attacked) -> str:
    """The plain sentence under the question."""
    power = attacked.roc.power_at(0.05, CONFIDENCE)
    limit = float(allowed(attacked.guarantee, np.array([0.05]))[0])
    verdict = (
        "The attack stays below what is promised, as it must."
        if attacked.epsilon_lower <= attacked.guarantee.budget.epsilon
        else "**The attack refutes the claim.**"
    )
    return (
        f"At 5 % false alarms this attack finds **{text.percent(power.value)}** of those who are there; "
        f"ε = {text.number(attacked.guarantee.budget.epsilon, 3)} would allow "
        f"{text.percent(limit)}, guessing 5.0 %. {verdict}"
    )


def table(attacked: Attacked) -> pd.DataFrame:
    """Power with intervals at the usual false-alarm rates, beside what is allowed."""
    rows = []
    for rate in RATES:
        estimate: Estimate = attacked.roc.power_at(rate, CONFIDENCE)
        rows.append(
            {
                "false positive rate [%]": 100 * rate,
                "true positive rate [%]": round(100 * estimate.value, 2),
                "95 % low [%]": round(100 * estimate.low, 2),
                "95 % high [%]": round(100 * estimate.high, 2),
                "allowed by (ε, δ) [%]": round(100 * float(allowed(attacked.guarantee, np.array([rate]))[0]), 2),
            }
        )
    return pd.DataFrame(rows)


def steps(attacked: Attacked, paths: bool) -> list[tuple[str, str]]:
    """How the attack works, with its numbers."""
    count = len(attacked.roc.inside)
    first = (
        ("Attack", "LiRA: likelihood ratio of the released values at the target, densities fitted to shadow data sets")
        if paths
        else ("Attack", "likelihood ratio of two neighbouring data sets under the known noise: linear in the release")
    )
    return [
        first,
        ("Trials", f"{count:,} releases with the record and {len(attacked.roc.outside):,} without, all fresh"),
        ("Proven epsilon", "threshold chosen on half the scores, tested once on the other half, Clopper-Pearson"),
        ("Time", f"{attacked.seconds:.2f} s"),
    ]
