"""Errors of the comparison, from the cache."""

from __future__ import annotations

from pages._ui.compare import contenders
from pages._ui.compare.contenders import Contest, Curve
from pages._ui.model import Model
from pages._ui.work import cached


def curve(contest: Contest, name: str) -> Curve:
    """Error against epsilon of one contender."""
    data = cached.dataset(contest.model.dataset)
    concern = contenders.concerning(contest, name)
    return cached.value(
        f"Comparing: {contenders.CONTENDERS[name].title}", contenders.curve, concern, name, given=(data,)
    )


def needed(contest: Contest, name: str, target: float) -> float | None:
    """Epsilon that a contender needs for a target error, in the output's unit."""
    data = cached.dataset(contest.model.dataset)
    concern = contenders.concerning(contest, name)
    return cached.value(
        f"Solving for ε: {contenders.CONTENDERS[name].title}", contenders.needed, concern, name, target, given=(data,)
    )


def nonprivate(model: Model) -> float:
    """Held-out error without privacy, in the output's unit."""
    data = cached.dataset(model.dataset)
    return cached.value("Fitting without privacy", contenders.nonprivate, model, given=(data,))
