"""Curves that a visitor of the comparison is likely to ask for next, for idle processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from datasets import exhibit
from pages._ui.compare import computed, contenders
from pages._ui.compare.concern import concerning
from pages._ui.compare.contenders import USUAL, Contest
from pages._ui.left_out import FOLDS
from pages._ui.look import offers
from pages._ui.work import cached
from pages._ui.work.ahead import Wish


def foresee(contest: Contest, names: Iterable[str] = USUAL) -> None:
    """Wish for the curves of this contest that are yet to come, then for those one step of a slider away.

    Args:
        contest: settings on screen.
        names: contenders that the page shows.
    """
    chosen, here = tuple(names), cached.dataset(contest.model.dataset)
    wanted: dict[tuple[Contest, str], None] = {}  # in order, each once
    for each in (contest, *neighbours(contest)):
        likely = chosen if each == contest else [name for name in chosen if name in USUAL]
        wanted |= {(concerning(each, name), name): None for name in likely}
    cached.wish(
        *(
            wish
            for concern, name in wanted
            if not computed.is_ready(concern, name)
            for wish in _wishes(concern, name, (here,))
        )
    )


def neighbours(contest: Contest) -> list[Contest]:
    """Contests one step of delta or of the lengthscale away."""
    model = contest.model
    lengths = offers.beside(exhibit(model.dataset).lengthscales, model.lengthscale)
    return [
        *(replace(contest, delta=delta) for delta in offers.beside(offers.DELTAS, contest.delta)),
        *(replace(contest, model=replace(model, lengthscale=length)) for length in lengths),
    ]


def _wishes(concern: Contest, name: str, given: tuple[object, ...]) -> Iterator[Wish]:
    if not computed.is_slow(name):
        yield Wish(contenders.curve, (concern, name), given)
        return
    for index in reversed(range(FOLDS)):  # a page that waits begins with the first: they meet half way
        yield Wish(contenders.piece, (concern, name, index), given)
