"""Every mechanism on one data set: held-out errors against epsilon, and the epsilon that a target error needs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpgp_core.comparison import Held, epsilon_for_error, held_out_errors, hold_out, with_epsilon
from dpgp_core.cross_validation import held_out_matrices, k_folds
from dpgp_core.data import Dataset, FloatArray
from dpgp_core.mechanisms import Cloaking, CloakingInducing, GPPrior, IntegralBinning, LaplaceBinning, RefinedCloaking
from dpgp_core.mechanisms.base import Mechanism
from dpgp_core.privacy import Guarantee
from dpgp_core.utility import rmse
from pages._ui import text
from pages._ui.analysis import RESIDUAL_BOUNDS, Model

FOLDS = 5
FOLD_SEED = 0  # public
DRAWS = 60
SEED = 1
CURVE_EPSILONS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0, 50.0, 100.0)
_ANY_EPSILON = 1.0  # plans do not depend on it


@dataclass(frozen=True)
class Contest:
    """Settings shared by all contenders: model, delta, bins along each dimension, number of inducing inputs."""

    model: Model
    delta: float
    bins: int
    inducing: int


def _gaussian(contest: Contest, epsilon: float) -> dict[str, Any]:
    return {
        "kernel": contest.model.build(),
        "noise_variance": contest.model.noise,
        "epsilon": epsilon,
        "delta": contest.delta,
    }


def _refined(contest: Contest, epsilon: float) -> Mechanism:
    noise_sd = contest.model.noise**0.5
    clip = RESIDUAL_BOUNDS.get(contest.model.dataset, 1.5 * noise_sd) / noise_sd
    return RefinedCloaking(**_gaussian(contest, epsilon), clip=clip)


def _published(contest: Contest, epsilon: float) -> Mechanism:
    return Cloaking(**_gaussian(contest, epsilon), objective="logdet", calibration="hall", unproven=True)


def _inducing(contest: Contest, epsilon: float) -> Mechanism:
    return CloakingInducing(**_gaussian(contest, epsilon), n_inducing=contest.inducing)


def _integral(contest: Contest, epsilon: float) -> Mechanism:
    lengthscale = contest.model.build().lengthscale
    return IntegralBinning(
        epsilon=epsilon, bins=contest.bins, kernel_variance=1.0, lengthscale=lengthscale, fit_noise=True
    )


CONTENDERS: dict[str, Callable[[Contest, float], Mechanism]] = {  # in order of the table
    "Refined cloaking (ours)": _refined,
    "Cloaking, trace + analytic (ours)": lambda contest, epsilon: Cloaking(**_gaussian(contest, epsilon)),
    "Cloaking, inducing inputs": _inducing,
    "Cloaking as published": _published,
    "GP-prior noise": lambda contest, epsilon: GPPrior(**_gaussian(contest, epsilon)),
    "Laplace bins": lambda contest, epsilon: LaplaceBinning(epsilon=epsilon, bins=contest.bins),
    "Integral bins": _integral,
}


@dataclass(frozen=True, eq=False)
class Curve:
    """One contender over ``CURVE_EPSILONS``. Errors are not private.

    Attributes:
        errors: held-out RMSE of each simulated draw (E, draws), in the output's unit.
        noise_sd: median noise at the test points (E,), in the output's unit.
        seconds: one fit and one release.
    """

    errors: FloatArray
    noise_sd: FloatArray
    seconds: float

    @property
    def mean(self) -> FloatArray:
        """Expected error at each epsilon (E,)."""
        means: FloatArray = self.errors.mean(axis=1)
        return means


def folds_of(dataset: Dataset) -> tuple[Any, ...]:
    """Public, shuffled folds."""
    return k_folds(dataset.n, FOLDS, np.random.default_rng(FOLD_SEED))


def prepare(dataset: Dataset, contest: Contest, name: str) -> list[Held]:
    """Plan a contender on every fold."""
    return hold_out(CONTENDERS[name](contest, _ANY_EPSILON), dataset, folds_of(dataset))


def curve(dataset: Dataset, contest: Contest, name: str) -> Curve:
    """Simulate a contender at every epsilon."""
    start = time.perf_counter()
    held = prepare(dataset, contest, name)
    mechanism = CONTENDERS[name](contest, _ANY_EPSILON)
    held_out_errors(mechanism, held, 1, SEED)
    seconds = (time.perf_counter() - start) / FOLDS
    found = [held_out_errors(with_epsilon(mechanism, e), held, DRAWS, SEED) for e in CURVE_EPSILONS]
    return Curve(np.array([f.rmse for f in found]), np.array([f.noise_sd for f in found]), seconds)


def needed(dataset: Dataset, contest: Contest, name: str, target: float) -> float | None:
    """Smallest epsilon whose expected held-out error is at most ``target``; None if 100 is not enough."""
    held, mechanism = prepare(dataset, contest, name), CONTENDERS[name](contest, _ANY_EPSILON)

    def error(epsilon: float) -> float:
        return float(held_out_errors(with_epsilon(mechanism, epsilon), held, DRAWS, SEED).rmse.mean())

    return epsilon_for_error(error, target)


def nonprivate(dataset: Dataset, model: Model) -> float:
    """Held-out RMSE of the plain GP, in the output's unit. Not private."""
    folds, y = folds_of(dataset), dataset.standardised()
    matrices = held_out_matrices(model.build(), dataset.X, folds, model.noise)
    residuals = [C @ np.delete(y, test) - y[test] for C, test in zip(matrices, folds, strict=True)]
    return dataset.y_scale * float(rmse(np.concatenate(residuals), np.zeros(1)))


def protects(contest: Contest, name: str, epsilon: float) -> str:
    """What a contender protects and whether its promise holds at this epsilon."""
    guarantee = CONTENDERS[name](contest, epsilon).guarantee
    if not guarantee.established:
        return f"{guarantee.protects}; not established at this ε"
    return f"{guarantee.protects}; {'pure ε (δ = 0)' if guarantee.budget.delta == 0 else f'δ = {contest.delta:g}'}"


@dataclass(frozen=True)
class Scale:
    """How errors are shown: in the output's unit, or log prices as a share of the price."""

    unit: str
    logarithmic: bool = False

    @property
    def short(self) -> str:
        """The unit without explanation."""
        return "%" if self.logarithmic else self.unit

    def show(self, value: Any) -> Any:
        """From the output's unit to what is shown."""
        return 100 * np.expm1(np.minimum(value, 20)) if self.logarithmic else value

    def back(self, shown: float) -> float:
        """From what is shown to the output's unit."""
        return float(np.log1p(shown / 100)) if self.logarithmic else shown


def scale_of(dataset: Dataset) -> Scale:
    """Log prices are shown as a percentage of the price, everything else in its own unit."""
    return Scale("% of the price", logarithmic=True) if dataset.y_unit.startswith("ln ") else Scale(dataset.y_unit)


def need_in_words(contest: Contest, name: str, need: float | None) -> str:
    """Epsilon needed, or why there is none to name."""
    if need is None:
        return "not reachable, even at ε = 100"
    held = CONTENDERS[name](contest, need).guarantee.established
    return text.number(need, 3) if held else f"{text.number(need, 3)} (no promise: Hall's formula above 1)"


def table(
    curves: dict[str, Curve], contest: Contest, epsilon: float, scale: Scale, needs: dict[str, float | None]
) -> pd.DataFrame:
    """One row a contender at one epsilon of the curve."""
    at, unit = CURVE_EPSILONS.index(epsilon), scale.unit
    rows = []
    for name, found in curves.items():
        low, high = np.percentile(found.errors[at], [10, 90])
        rows.append(
            {
                "mechanism": name,
                "protects": protects(contest, name, epsilon),
                f"error [{unit}]": round(float(scale.show(found.mean[at])), 3),
                f"10 % of draws below [{unit}]": round(float(scale.show(low)), 3),
                f"90 % of draws below [{unit}]": round(float(scale.show(high)), 3),
                f"noise sd [{unit}]": round(float(scale.show(found.noise_sd[at])), 3),
                "seconds": round(found.seconds, 4),
                "ε needed for the target": need_in_words(contest, name, needs[name]),
            }
        )
    return pd.DataFrame(rows)


class Ranked(NamedTuple):
    """A contender and its expected error, in the output's unit."""

    name: str
    error: float


def error_of(curves: dict[str, Curve], name: str, epsilon: float) -> float:
    """Expected error of a contender at one epsilon of the curve."""
    return float(curves[name].mean[CURVE_EPSILONS.index(epsilon)])


def ranking(curves: dict[str, Curve], epsilon: float) -> list[Ranked]:
    """Contenders by expected error at one epsilon, best first."""
    return sorted((Ranked(name, error_of(curves, name, epsilon)) for name in curves), key=lambda ranked: ranked.error)


def guarantee(contest: Contest, name: str, epsilon: float, unit: str) -> Guarantee:
    """The promise of a contender at this epsilon."""
    return CONTENDERS[name](contest, epsilon).guarantee.for_unit(unit)


def _cheapest(needs: dict[str, float | None], contest: Contest) -> tuple[str, float] | None:
    """The contender that keeps its promise at the least epsilon that reaches the target."""
    held = [(name, need) for name, need in needs.items() if need is not None]
    held = [(name, need) for name, need in held if CONTENDERS[name](contest, need).guarantee.established]
    return min(held, key=lambda pair: pair[1]) if held else None


def least_epsilon(needs: dict[str, float | None], contest: Contest) -> str:
    """Least epsilon that reaches the target with a promise that holds."""
    cheapest = _cheapest(needs, contest)
    return "not reachable" if cheapest is None else f"ε = {text.number(cheapest[1], 3)}"


def reachable(needs: dict[str, float | None], contest: Contest, target: str) -> str:
    """The inverse question in words."""
    cheapest = _cheapest(needs, contest)
    if cheapest is None:
        return f"An error of at most {target} is not reachable with any of them, even at ε = 100."
    return f"An error of at most {target} needs ε = {text.number(cheapest[1], 3)}, with {cheapest[0]}."


TABLE_NOTE = (
    "Errors are held out and not private. ε needed: found by root-finding on the expected error. "
    "Choosing the number of bins, or any setting, by looking at this table is not private either."
)
EXPLANATION = [
    ("Error", f"root mean square over {FOLDS} public folds, trained without the records tested; {DRAWS} draws each"),
    ("Same draws", "every ε uses the same underlying noise, so curves are smooth and the root is well defined"),
    ("Seconds", "one fit and one release on this server, folds averaged"),
    ("Bins", "regular over the public box; an empty bin says the midpoint of the bounds"),
    ("Inducing inputs", "k-means on the public inputs, seed fixed"),
    ("Refined cloaking", "clips residuals at a public bound; its guarantee composes two releases"),
]
