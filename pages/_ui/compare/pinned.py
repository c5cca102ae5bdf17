"""A pinned setting of the comparison beside the current one: its curves, and A | B in figures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

from pages._ui import left_out
from pages._ui.compare import computed, words
from pages._ui.compare.concern import concerning
from pages._ui.compare.contenders import CURVE_EPSILONS, Contest, Curve
from pages._ui.compare.controls import BINS, DATASET, INDUCING, CompareSettings
from pages._ui.compare.words import Scale
from pages._ui.look import pin, text
from pages._ui.look.text import Metric

PAGE = "compare"


class Pinned(NamedTuple):
    """What was pinned: settings, all its curves, the error without privacy, and the epsilon that each contender needs.

    Errors are not private, nor is what is needed for one.
    """

    contest: Contest
    epsilon: float
    curves: dict[str, Curve]
    nonprivate: float
    needs: dict[str, float | None]

    def moved(self, contest: Contest) -> dict[str, Curve]:
        """Curves that stand elsewhere in another contest."""
        return {
            name: curve
            for name, curve in self.curves.items()
            if concerning(self.contest, name) != concerning(contest, name)
        }


def settings(link: pin.Link) -> CompareSettings:
    """What the sidebar says at an address. Raises ValueError for what it does not offer."""
    draw, name = link.draw(), link.picked(DATASET)
    bins, inducing = link.one("bins", BINS, 10), link.one("inducing", INDUCING, 6)
    return CompareSettings(Contest(link.model(name), draw.delta, int(bins), int(inducing)), draw.epsilon)


def find(contest: Contest) -> CompareSettings | None:
    """The settings that are pinned, if they are of the dataset on screen."""
    chosen = pin.pinned(PAGE, settings)
    if chosen is not None and chosen.contest.model.dataset != contest.model.dataset:
        pin.of_other_data()
        return None
    return chosen


def run(chosen: CompareSettings, target: float, names: Iterable[str]) -> Pinned:
    """Curves of these contenders and what they need for the present target, from the cache where they were on screen.

    Args:
        chosen: what was pinned.
        target: error that both may have, in the output's unit.
        names: of the contenders that are on screen now.
    """
    contest, shown = chosen.contest, tuple(names)
    curves = {name: computed.curve(contest, name) for name in shown}
    needs = {name: computed.needed(contest, name, target) for name in shown}
    plain = left_out.without_privacy(contest.model.dataset, contest.model)
    return Pinned(contest, chosen.epsilon, curves, plain, needs)


def metrics(pinned: Pinned, now: Pinned, target: float, scale: Scale) -> list[Metric]:
    """Pinned and current figures, A | B.

    Args:
        pinned: A.
        now: B.
        target: error that both may have, in the output's unit.
        scale: writes errors.
    """
    a, b = (words.ranking(each.curves, each.epsilon)[0] for each in (pinned, now))
    best = a.title if a.name == b.name else f"{a.title} | {b.title}"
    rows = (("least error", a.error, b.error, best), ("without privacy", pinned.nonprivate, now.nonprivate, None))
    needs = [words.least_epsilon(each.needs, each.contest) for each in (pinned, now)]
    return [
        Metric("A | B: ε", f"{pinned.epsilon:g} | {now.epsilon:g}", pin.change(pinned.epsilon, now.epsilon)),
        *(
            Metric(f"A | B: {name}", f"{scale.number(one)} | {scale.shown(other)}", pin.change(one, other), whose)
            for name, one, other, whose in rows
        ),
        Metric("A | B: ε for the target", " | ".join(needs), f"error at most {scale.shown(target)}"),
    ]


def beside(table: pd.DataFrame, pinned: Pinned, scale: Scale) -> pd.DataFrame:
    """The table with the pinned error of each mechanism after its present one."""
    at = CURVE_EPSILONS.index(pinned.epsilon)
    errors = [round(float(scale.show(curve.mean[at])), 3) for curve in pinned.curves.values()]
    after = list(table.columns).index(f"error [{scale.unit}]")
    wider = table.copy()
    wider.insert(after + 1, f"pinned (A), ε = {text.number(pinned.epsilon)} [{scale.unit}]", errors)
    return wider
