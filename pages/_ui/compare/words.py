"""The comparison in tables and words: what each mechanism protects, who wins, which epsilon a target needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.data import Dataset
from pages._ui.compare.contenders import CONTENDERS, CURVE_EPSILONS, Contest, Curve, contender
from pages._ui.left_out import FOLDS
from pages._ui.look import text


def protects(contest: Contest, name: str, epsilon: float) -> str:
    """What a contender protects and whether its promise holds at this epsilon."""
    guarantee = contender(contest, name, epsilon).guarantee
    if not guarantee.established:
        return f"{guarantee.protects}; not established at this ε"
    delta = "pure ε (δ = 0)" if guarantee.budget.delta == 0 else f"δ = {text.small(contest.delta)}"
    return f"{guarantee.protects}; {delta}"


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

    def shown(self, value: float) -> str:
        """From the output's unit to words."""
        return f"{self.number(value)} {self.short}"

    def number(self, value: float) -> str:
        """The same without its unit."""
        return text.number(self.show(value))

    def back(self, shown: float) -> float:
        """From what is shown to the output's unit."""
        return float(np.log1p(shown / 100)) if self.logarithmic else shown


def scale_of(dataset: Dataset) -> Scale:
    """Log prices are shown as a percentage of the price, everything else in its own unit."""
    return Scale("% of the price", logarithmic=True) if dataset.y_unit.startswith("ln ") else Scale(dataset.y_unit)


def need_in_words(contest: Contest, name: str, need: float | None) -> str:
    """Epsilon needed, or why there is none to name."""
    if need is None:
        return "more than 100"
    held = contender(contest, name, need).guarantee.established
    return text.at_most(need) if held else f"{text.at_most(need)} (no promise: Hall’s formula above epsilon 1)"


def table(
    curves: dict[str, Curve], contest: Contest, epsilon: float, scale: Scale, needs: dict[str, float | None]
) -> pd.DataFrame:
    """One row a contender at one epsilon of the curve."""
    at, unit = CURVE_EPSILONS.index(epsilon), scale.unit
    unbeaten = front(curves, contest, epsilon)
    rows = []
    for name, curve in curves.items():
        low, high = np.percentile(curve.errors[at], [10, 90])
        wider = curve.mean[at] + curve.standard_error[at]
        rows.append(
            {
                "mechanism": CONTENDERS[name].title,
                "protects": protects(contest, name, epsilon),
                "unbeaten": "★" if name in unbeaten else "",
                f"error [{unit}]": round(float(scale.show(curve.mean[at])), 3),
                f"± standard error [{unit}]": float(f"{scale.show(wider) - scale.show(curve.mean[at]):.2g}"),
                "draws": curve.errors.shape[1],
                f"10 % of draws below [{unit}]": round(float(scale.show(low)), 3),
                f"90 % of draws below [{unit}]": round(float(scale.show(high)), 3),
                f"95 % interval, ± [{unit}]": round(float(scale.show(curve.half_width[at])), 3),
                f"95 % interval score, ± [{unit}]": round(float(scale.show(curve.half_score[at])), 3),
                "seconds": round(curve.seconds, 4),
                "ε needed for the target": need_in_words(contest, name, needs[name]),
            }
        )
    return pd.DataFrame(rows)


class Ranked(NamedTuple):
    """A contender and its error, in the output's unit."""

    name: str
    error: float

    @property
    def title(self) -> str:
        """As it is shown."""
        return CONTENDERS[self.name].title


def error_of(curves: dict[str, Curve], name: str, epsilon: float) -> float:
    """Error of a contender at one epsilon of the curve."""
    return float(curves[name].mean[CURVE_EPSILONS.index(epsilon)])


def ranking(curves: dict[str, Curve], epsilon: float) -> list[Ranked]:
    """Contenders by error at one epsilon, best first."""
    return sorted((Ranked(name, error_of(curves, name, epsilon)) for name in curves), key=lambda ranked: ranked.error)


def lead(
    curves: dict[str, Curve],
    contest: Contest,
    epsilon: float,
    scale: Scale,
    nonprivate: float,
    target: float,
    needs: dict[str, float | None],
) -> str:
    """The answer once every curve is there: the best, the next, without privacy, and what the target needs."""
    best, runner_up = ranking(curves, epsilon)[:2]
    return (
        f"At epsilon = {epsilon:g}: {best.title}, **{scale.shown(best.error)}**. "
        f"Next is {runner_up.title}, {scale.shown(runner_up.error)}. "
        f"Without privacy: {scale.shown(nonprivate)}. {reachable(needs, contest, scale.shown(target))}"
    )


def so_far(curves: dict[str, Curve], epsilon: float, scale: Scale, name: str, folds: int, of: int) -> str:
    """The answer while some curves are still being computed.

    Args:
        curves: those that are there.
        epsilon: where they are ranked.
        scale: writes errors.
        name: of the contender that is being computed.
        folds: how many of its folds are done; 0: it is not among ``curves``.
        of: how many curves there will be.
    """
    done = {each: curve for each, curve in curves.items() if each != name}
    coming = f"**{CONTENDERS[name].title}** is being computed"
    if folds:
        coming += f", so far on {folds} of {FOLDS} parts of the people: it will still move"
    if not done:
        return f"{coming}."
    best = ranking(done, epsilon)[0]
    return (
        f"{len(done)} of {of} methods are done. Of those **{best.title}** has the smallest error at epsilon = "
        f"{epsilon:g}, {scale.shown(best.error)}. {coming}."
    )


def guarantee(contest: Contest, name: str, epsilon: float, unit: str) -> Guarantee:
    """The promise of a contender at this epsilon."""
    return contender(contest, name, epsilon).guarantee.for_unit(unit)


def _cheapest(needs: dict[str, float | None], contest: Contest) -> tuple[str, float] | None:
    """The contender that keeps its promise at the least epsilon that reaches the target."""
    held = [(name, need) for name, need in needs.items() if need is not None]
    held = [(name, need) for name, need in held if contender(contest, name, need).guarantee.established]
    return min(held, key=lambda pair: pair[1]) if held else None


def least_epsilon(needs: dict[str, float | None], contest: Contest) -> str:
    """Least epsilon that reaches the target with a promise that holds."""
    cheapest = _cheapest(needs, contest)
    return "not reachable" if cheapest is None else f"ε = {text.at_most(cheapest[1])}"


def reachable(needs: dict[str, float | None], contest: Contest, target: str) -> str:
    """The inverse question in words."""
    cheapest = _cheapest(needs, contest)
    if cheapest is None:
        return f"For an error of {target} no epsilon up to 100 is enough."
    by = CONTENDERS[cheapest[0]].title
    return f"For an error of {target} you need epsilon = {text.at_most(cheapest[1])}, with {by}."


def front(curves: dict[str, Curve], contest: Contest, epsilon: float) -> frozenset[str]:
    """Contenders that keep their promise and that no other beats: smaller error, protecting as much.

    Args:
        curves: of the contenders.
        contest: their settings.
        epsilon: one of ``CURVE_EPSILONS``.
    """
    at = CURVE_EPSILONS.index(epsilon)
    held = [name for name in curves if contender(contest, name, epsilon).guarantee.established]

    def beats(rival: str, name: str) -> bool:
        one, other = CONTENDERS[rival], CONTENDERS[name]
        as_safe = one.private_inputs >= other.private_inputs and one.pure >= other.pure
        return as_safe and bool(curves[rival].mean[at] < curves[name].mean[at])

    return frozenset(name for name in held if not any(beats(rival, name) for rival in held))
