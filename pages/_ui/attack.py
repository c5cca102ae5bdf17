"""The attack page: the best known attacks, compared with the limit that the guarantee sets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

import datasets
from dpgp_core.accounting.gaussian import rounded_up
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.accounting.tradeoff import budget_tradeoff
from dpgp_core.arrays import FloatArray
from dpgp_core.attack.audit import epsilon_lower_bound
from dpgp_core.attack.linear import draw_releases, linear_attack, output_neighbours
from dpgp_core.attack.lira import Inputs, Shadows, attack_posterior_sampling
from dpgp_core.attack.roc import Estimate, Roc
from dpgp_core.kernels import Matern12
from dpgp_core.linalg import dense_of
from dpgp_core.mechanisms import PosteriorSampling
from dpgp_core.table import Dataset
from pages._ui.look import offers, text
from pages._ui.look.controls import Menu, Slider, menu
from pages._ui.look.offers import PATH_DELTAS, PATHS_RELEASED, path_controls
from pages._ui.look.plots import GUARANTEE, RISK, TRUTH, End, draw_line, faded, finish, named, ticked
from pages._ui.look.settings import Settings, control
from pages._ui.look.sidebar import delta_fits
from pages._ui.look.text import Metric
from pages._ui.model import Design, Draw, Model, mechanism_of, usual
from pages._ui.work import cached

Target = Literal["paths", "cloaking", "gp_prior"]
RATES = (0.01, 0.05, 0.10)
CONFIDENCE = 0.95
PEOPLE = 10
SEED = 1
LENGTHSCALE = 1.0


@dataclass(frozen=True)
class PathAttack:
    """The LiRA attack on posterior sampling in its published setting: n = 10, exponential kernel, target at 1/2."""

    r: float
    sigma: float
    L: int
    delta: float
    inputs: Inputs
    shadows: int

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of the L paths together."""
        sampling = PosteriorSampling(
            kernel=Matern12(lengthscale=LENGTHSCALE),
            r=self.r,
            sigma=self.sigma,
            delta=self.delta,
            n=PEOPLE,
            x_box=((0.0, 1.0),),
        )
        return sampling.guarantee.repeated(self.L)


@dataclass(frozen=True)
class OutputAttack:
    """The likelihood-ratio attack on one Gaussian release; its most exposed record takes either bound."""

    model: Model
    mechanism: Literal["cloaking", "gp_prior"]
    draw: Draw
    trials: int

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of the release that is attacked."""
        promise: Guarantee = mechanism_of(self.model, Design(self.mechanism), self.draw).guarantee
        return promise.for_unit(datasets.exhibit(self.model.dataset).load().privacy_unit)


@dataclass(frozen=True, eq=False)
class Attacked:
    """Scores of an attack, and the guarantee.

    Attributes:
        roc: ROC curve of the simulated attack.
        guarantee: guarantee with which the attack is compared.
        epsilon_lower: lower bound on epsilon that the attack proves, at 95 % confidence.
    """

    roc: Roc
    guarantee: Guarantee
    epsilon_lower: float

    @property
    def held(self) -> bool:
        """Whether the attack does not refute the guarantee."""
        return self.epsilon_lower <= self.guarantee.budget.epsilon

    def found(self, rate: float) -> Estimate:
        """Return the share of targets found [%] if this share of the innocent is accused."""
        return Estimate(*(100 * each for each in self.roc.power_at(rate, CONFIDENCE)))

    def most(self, rate: float) -> float:
        """Return the largest share of targets found [%] that the guarantee allows at this share of innocent people
        accused.
        """
        return 100 * float(allowed(self.guarantee, np.array([rate]))[0])


def attack_paths(attack: PathAttack) -> Attacked:
    """Train LiRA, the likelihood-ratio attack, and evaluate it."""
    shadows = Shadows(
        r=attack.r, sigma=attack.sigma, L=attack.L, n=PEOPLE, lengthscale=LENGTHSCALE, inputs=attack.inputs
    )
    roc = attack_posterior_sampling(shadows, np.random.default_rng(SEED), attack.shadows)
    order = np.random.default_rng([SEED, 2])  # scores are sorted, but the bound needs them in a random order
    inside, outside = order.permutation(roc.inside), order.permutation(roc.outside)
    bound = epsilon_lower_bound(inside, outside, attack.delta, CONFIDENCE)
    return Attacked(roc, attack.guarantee, bound)


def attack_outputs(dataset: Dataset, attack: OutputAttack) -> Attacked:
    """Attack the record with the largest shift at the training inputs, by the exact test for this noise."""
    mechanism = mechanism_of(attack.model, Design(attack.mechanism), attack.draw)
    plan = mechanism.plan(dataset.X, dataset.X)
    shifts = np.linalg.lstsq(plan.factor, dense_of(plan.weights), rcond=1e-13)[0]
    record = int((shifts**2).sum(axis=0).argmax())
    pair = output_neighbours(dataset, record)
    rng = np.random.default_rng(attack.draw.seed)
    linear = linear_attack(*(mechanism.measure(plan, data, dataset.X, rng) for data in pair))
    inside, outside = (
        np.concatenate([linear.score(s) for s in draw_releases(mechanism, data, dataset.X, rng, attack.trials)])
        for data in pair
    )
    bound = epsilon_lower_bound(inside, outside, attack.draw.delta, CONFIDENCE)
    return Attacked(Roc.of(inside, outside), attack.guarantee, bound)


def allowed(guarantee: Guarantee, rate: FloatArray) -> FloatArray:
    """Return the largest true positive rates that (epsilon, delta) allows at these false positive rates."""
    return 1 - budget_tradeoff(rate, guarantee.budget.epsilon, guarantee.budget.delta)


def attacked(attack: PathAttack | OutputAttack) -> Attacked:
    """Return the result of LiRA on posterior paths, or of the best attack on a Gaussian release."""
    if isinstance(attack, PathAttack):
        return cached.value("Attacking with shadow data sets", attack_paths, attack)
    data = cached.dataset(attack.model.dataset)
    return cached.value("Attacking simulated releases", attack_outputs, attack, given=(data,))


SHADOWS = (1000, 3000, 10000)
TARGET: Menu[Target] = menu(
    "Attack on",
    "attack_on",
    {
        "cloaking": "Cloaked !Kung curve",
        "gp_prior": "!Kung curve with GP-prior noise",
        "paths": "Posterior paths (LiRA)",
    },
)
INPUTS: Menu[Inputs] = menu(
    "Other people",
    "inputs",
    {"halves": "Balanced around the target", "uniform": "Anywhere"},
    help="Where the inputs of the other nine people lie.",
    section="Attack",
)
_RELEASES = Slider("shadows", "Simulated releases", SHADOWS[-1], SHADOWS, section="Attack")
_SETS = replace(_RELEASES, label="Shadow data sets", help="Simulated data like the real one, of each kind.")
_RIDGE, _SCALE = path_controls(1, 0.5, "attack_")


def _of_paths(chosen: Any) -> bool:
    return bool(chosen.target == "paths")


def _of_outputs(chosen: Any) -> bool:
    return not _of_paths(chosen)


def _delta_fits(chosen: Any) -> None:
    if _of_outputs(chosen):
        delta_fits(chosen, cached.dataset("kung").n)


@dataclass(frozen=True, kw_only=True)
class AttackSettings(Settings):
    """Sidebar of the attack page: target, budget, and settings of the attack."""

    target: Target = control(TARGET)
    epsilon: float = control(offers.EPSILON, when=_of_outputs)
    delta: float = control(offers.PROMISED, when=_of_outputs)
    r: float = control(_RIDGE, when=_of_paths)
    sigma: float = control(_SCALE, when=_of_paths)
    paths: int = control(replace(PATHS_RELEASED, key="attack_paths", section="Attack"), when=_of_paths)
    path_delta: float = control(
        replace(offers.PROMISED, key="attack_delta", options=PATH_DELTAS, default=0.01, help=None, section="Attack"),
        when=_of_paths,
    )
    trials: int = control(lambda chosen: _SETS if _of_paths(chosen) else _RELEASES)
    inputs: Inputs = control(INPUTS, when=_of_paths)
    overlay: bool = control(offers.OVERLAY, below=_delta_fits)

    @property
    def attack(self) -> PathAttack | OutputAttack:
        """The attack to compute."""
        if self.target == "paths":
            ridge, scale, delta = float(self.r), float(self.sigma), float(self.path_delta)
            return PathAttack(ridge, scale, self.paths, delta, self.inputs, self.trials)
        draw = Draw(float(self.epsilon), float(self.delta))
        return OutputAttack(usual("kung"), self.target, draw, self.trials)


_POINTS = 400  # points of the ROC curve that are drawn
_LEAST = 0.5  # in 100: of fewer, chance alone puts the attack above the limit or below it
_TICKS = (_LEAST, 1, 5, 10, 50, 100)


def roc_figure(attacked: Attacked, logarithmic: bool) -> go.Figure:
    """Draw targets found against innocent people accused, both in per cent."""
    false, true = attacked.roc.curve()
    keep = np.unique(np.linspace(0, len(false) - 1, _POINTS).astype(int))
    rate = np.geomspace(1e-4, 1, 200)
    most = allowed(attacked.guarantee, rate)
    figure = go.Figure()
    draw_line(figure, 100 * rate, 100 * most, "the guarantee allows", GUARANTEE, "dash")
    draw_line(figure, 100 * false[keep], 100 * true[keep], "this attack", RISK, width=2.5)
    draw_line(figure, 100 * rate, 100 * rate, "guessing", TRUTH, "dot")
    powers = [attacked.found(level) for level in RATES]
    figure.add_scatter(
        x=[100 * level for level in RATES],
        y=[each.value for each in powers],
        mode="markers",
        name="95 % range",
        marker={"color": RISK, "size": 7},
        error_y={
            "array": [each.high - each.value for each in powers],
            "arrayminus": [each.value - each.low for each in powers],
            "color": faded(RISK, 0.7),
        },
    )
    kind: dict[str, Any] = {"type": "linear", "range": [0, 100]}
    if logarithmic:
        kind = ticked(_TICKS) | {"range": [np.log10(_LEAST), 2]}
    figure.update_xaxes(title="innocent people accused [%]", **kind)
    figure.update_yaxes(title="targets found [%]", **kind)
    # All lines end at 100 %: their names stand below each other, the highest line's first
    ends = (End(1 - at / 1000, line.name, line.line.color) for at, line in enumerate(figure.data[:3]))
    return named(finish(figure, 400), ends)


_DIGITS = 3
BLAMED = 0.05  # innocent people that are accused, in the sentence


def metrics(attacked: Attacked) -> list[Metric]:
    """Return the area under the curve, the targets found, and the guaranteed and proven epsilon."""
    auc, found, budget = attacked.roc.auc(CONFIDENCE), attacked.found(RATES[0]), attacked.guarantee.budget
    low, value, high = (f"{text.number(each)} %" for each in (found.low, found.value, found.high))
    return [
        Metric(
            "Area under the curve", f"{auc.value:.3f}", f"95 % range {auc.low:.3f} to {auc.high:.3f}; guessing has 0.5"
        ),
        Metric(f"Targets found, {100 * RATES[0]:g} % of the innocent accused", value, f"{low} to {high}"),
        Metric("ε promised", text.at_most(budget.epsilon), f"δ = {text.small(budget.delta)}"),
        Metric("ε proven by this attack", f"≥ {text.at_least(attacked.epsilon_lower)}", "95 % confidence"),
    ]


TITLE = "What can an attacker tell about one person?"

_WHO = "Targets are people in the data: the attack asks who took part, because inputs are hidden here too."
_WHICH_ANSWER = (
    "The attack asks what a person answered, not who took part. Worst case: targets have the largest allowed value, "
    "others the smallest."
)


def answer(attacked: Attacked, paths: bool) -> str:
    """Return the sentences below the question. With ``paths`` the attacker asks who took part."""
    more = "" if attacked.held else " **The attack refutes the promise.**"
    if attacked.held and attacked.found(BLAMED).value > attacked.most(BLAMED):
        more = f" It finds more only by chance, in {len(attacked.roc.inside):,} simulated releases."
    return (
        f"Accusing {100 * BLAMED:g} % of the innocent, the attack finds **{_found(attacked, BLAMED)} %** of targets; "
        f"the guarantee allows {_allowed(attacked, BLAMED)}.{more} {_WHO if paths else _WHICH_ANSWER}"
    )


def _found(attacked: Attacked, rate: float) -> str:
    """Return the share of targets found [%], with as many digits as the limit, so that it does not look larger."""
    return text.number(attacked.found(rate).value, _DIGITS)


def _allowed(attacked: Attacked, rate: float) -> str:
    """Return the share of targets that the guarantee allows to be found, rounded up so that the sentence stays true."""
    return f"{text.at_most(attacked.most(rate), _DIGITS)} %"


def caption(attacked: Attacked) -> str:
    """Return the description of the picture for screen readers, with its values."""
    values = " ".join(
        f"Accusing {100 * rate:g} % of the innocent it finds {_found(attacked, rate)} % of targets; "
        f"the guarantee allows {_allowed(attacked, rate)}."
        for rate in RATES
    )
    held = "stays below what is promised (green, dashed), as it must"
    refuted = "finds more than is promised (green, dashed)"
    return f"The attack (solid) {held if attacked.held else refuted}. {values}"


LOGARITHMIC = "The same, stretched on the left: a real attacker needs few false accusations."

TABLE_NOTE = "Columns marked “not private” are computed with true data."


def table(attacked: Attacked) -> pd.DataFrame:
    """Return the share of targets found at the usual rates of false accusations, and the limit of the guarantee."""
    rows = []
    for rate in RATES:
        found = attacked.found(rate)
        rows.append(
            {
                "innocent people accused [%]": 100 * rate,
                "the guarantee allows [%]": float(rounded_up(attacked.most(rate), 4)),
                "targets found [%] (not private)": round(found.value, 2),
                "95 % range from [%] (not private)": round(found.low, 2),
                "to [%] (not private)": round(found.high, 2),
            }
        )
    return pd.DataFrame(rows)


def steps(attacked: Attacked, paths: bool) -> list[tuple[str, str]]:
    """How the attack works, with its numbers."""
    inside, outside = len(attacked.roc.inside), len(attacked.roc.outside)
    lira = "LiRA: the likelihood ratio of the released values at the target. Densities are fitted to simulated data"
    linear = "the likelihood ratio of two neighbouring data sets under the known noise. It is linear in the release"
    return [
        ("Attack", lira if paths else linear),
        ("Trials", f"{inside:,} releases with the person and {outside:,} without, all fresh"),
        (
            "Proven epsilon",
            "the threshold is chosen on half of the scores and tested once on the other half (Clopper-Pearson)",
        ),
    ]
