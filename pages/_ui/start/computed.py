"""Errors of the release that is decided about, from the cache: those of the comparison."""

from __future__ import annotations

from pages._ui.compare import computed
from pages._ui.compare.words import scale_of
from pages._ui.start.controls import Decision
from pages._ui.start.decision import Cost
from pages._ui.work import cached


def cost(chosen: Decision) -> Cost:
    """Held-out errors against epsilon, and without privacy, as the Compare page has them. Not private."""
    scale = scale_of(cached.dataset(chosen.contest.model.dataset))
    errors = scale.show(computed.curve(chosen.contest, chosen.mechanism).mean)
    return Cost(errors, float(scale.show(computed.nonprivate(chosen.contest.model))), scale)
