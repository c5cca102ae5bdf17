"""Errors of the comparison, from the cache."""

from __future__ import annotations

from pages._ui.compare import contenders, possible
from pages._ui.compare.contenders import Contest, Curve
from pages._ui.compare.possible import Possible
from pages._ui.model import Model
from pages._ui.work import cached


def curve(contest: Contest, name: str) -> Curve:
    """Error against epsilon of one contender."""
    data = cached.dataset(contest.model.dataset)
    place = f"{contenders.BY_WAIT.index(name) + 1} of {len(contenders.BY_WAIT)}"
    what = f"Comparing, {place}: {contenders.CONTENDERS[name].title}"
    return cached.value(what, contenders.curve, *_concern(contest, name), given=(data,), reports=True)


def is_ready(contest: Contest, name: str) -> bool:
    """Whether the curve of a contender is there without waiting."""
    return cached.is_kept(contenders.curve, *_concern(contest, name))


def _concern(contest: Contest, name: str) -> tuple[Contest, str]:
    return contenders.concerning(contest, name), name


def needed(contest: Contest, name: str, target: float) -> float | None:
    """Epsilon that a contender needs for a target error, in the output's unit; where solving is slow, off its curve."""
    if contenders.CONTENDERS[name].automatic:
        return contenders.read_off(curve(contest, name), target)
    data = cached.dataset(contest.model.dataset)
    what = f"Solving for ε: {contenders.CONTENDERS[name].title}"
    return cached.value(what, contenders.needed, *_concern(contest, name), target, given=(data,))


def nonprivate(model: Model) -> float:
    """Held-out error without privacy, in the output's unit."""
    data = cached.dataset(model.dataset)
    return cached.value("Fitting without privacy", contenders.nonprivate, model, given=(data,))


def limits(contest: Contest) -> Possible:
    """What is possible under the page's prior at its delta."""
    data, what = cached.dataset(contest.model.dataset), "Asking what is possible under the prior"
    return cached.value(what, possible.possible, contest.model, contest.delta, given=(data,), reports=True)
