"""Errors of the release that is decided about, from the cache: those of the comparison."""

from __future__ import annotations

from collections.abc import Iterator

from pages._ui import left_out
from pages._ui.compare import computed
from pages._ui.compare.words import scale_of
from pages._ui.start.controls import Decision
from pages._ui.start.decision import Cost
from pages._ui.work import cached


def costs(chosen: Decision) -> Iterator[tuple[Cost, int]]:
    """Held-out errors against epsilon, and without privacy, as the Compare page has them. Not private.

    From ever more folds as they are done, and how many these are; the last is whole.
    """
    name = chosen.contest.model.dataset
    scale = scale_of(cached.dataset(name))
    plain = float(scale.show(left_out.without_privacy(name, chosen.contest.model)))
    for grown in computed.growing(chosen.contest, chosen.mechanism):
        yield Cost(scale.show(grown.curve.mean), plain, scale), grown.folds
