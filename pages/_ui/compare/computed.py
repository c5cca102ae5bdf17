"""Errors of the comparison, from the cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dpgp_core.data import Dataset
from dpgp_core.evaluation.comparison import Piece
from pages._ui.cloaking import computed as cloaking
from pages._ui.compare import built, contenders, peers, possible, released
from pages._ui.compare.concern import concerning
from pages._ui.compare.contenders import CONTENDERS, Contest, Curve
from pages._ui.compare.peers import Found
from pages._ui.compare.possible import Possible
from pages._ui.compare.released import Drawn
from pages._ui.left_out import FOLDS
from pages._ui.work import cached, engine

_MANY = max(entry.simulated for entry in CONTENDERS.values())  # draws of those that are quick


class Grown(NamedTuple):
    """A curve, and on how many of the folds."""

    curve: Curve
    folds: int


def dataset(contest: Contest) -> Dataset:
    """What the contest is about."""
    return cached.dataset(contest.model.dataset)


def curve(contest: Contest, name: str) -> Curve:
    """Error against epsilon of one contender."""
    return list(growing(contest, name))[-1].curve


def growing(contest: Contest, name: str, progress: str = "Errors of ") -> Iterator[Grown]:
    """The same from ever more folds as they are done, where each takes long; the last is whole.

    Args:
        contest: settings.
        name: of the contender.
        progress: before its title, on the bar while the page waits.
    """
    concern, folds = concerning(contest, name), FOLDS
    if (whole := _whole(concern, name)) is not None:
        yield Grown(whole, folds)
        return
    data, progress = dataset(contest), f"{progress}{CONTENDERS[name].title}"
    if not is_slow(name):
        yield Grown(cached.value(progress, contenders.curve, concern, name, given=(data,)), folds)
        return
    pieces: list[Piece] = []
    for index in range(folds):
        doing = f"{progress}, fold {index + 1} of {folds}"
        pieces.append(cached.value(doing, contenders.piece, concern, name, index, given=(data,)))
        if len(pieces) < folds:
            yield Grown(contenders.joined(pieces, concern, name), len(pieces))
    yield Grown(cached.value(progress, contenders.joined, concern, name, given=(pieces,), here=True), folds)


def is_ready(contest: Contest, name: str) -> bool:
    """Whether the curve of a contender is there without waiting."""
    return _whole(concerning(contest, name), name) is not None


def is_slow(name: str) -> bool:
    """Whether a contender's curve is computed fold by fold: each of its draws is a fit, and there is no cluster."""
    return CONTENDERS[name].simulated < _MANY and not engine.elsewhere()


def _whole(concern: Contest, name: str) -> Curve | None:
    found = cached.find(contenders.joined if is_slow(name) else contenders.curve, concern, name)
    return built.find(concern, name) if found is None else found


def needed(contest: Contest, name: str, target: float) -> float | None:
    """Epsilon that a contender needs for a target error, in the output's unit; where solving is slow, off its curve."""
    if contenders.CONTENDERS[name].automatic:
        return contenders.read_off(curve(contest, name), target)
    data = cached.dataset(contest.model.dataset)
    doing = f"Solving for ε: {contenders.CONTENDERS[name].title}"
    concern = concerning(contest, name)
    return cached.value(doing, contenders.needed, concern, name, target, given=(data,))


def release(contest: Contest, name: str, epsilon: float) -> Drawn:
    """One numbered draw of a contender."""
    given = dataset(contest), cloaking.scene(contest.model.dataset)
    doing = f"Drawing a release of {CONTENDERS[name].title}"
    return cached.value(doing, released.drawn, concerning(contest, name), name, epsilon, given=given)


def otherwise(contest: Contest, epsilon: float) -> tuple[Found, ...]:
    """What one might otherwise pick, at its best."""
    doing = "Trying polynomials and binned means"
    return cached.value(doing, peers.found, contest.model.dataset, contest.delta, epsilon, given=(dataset(contest),))


def limits(contest: Contest) -> Possible:
    """What is possible under the page's prior at its delta."""
    data, doing = cached.dataset(contest.model.dataset), "Asking what is possible under the prior"
    return cached.value(doing, possible.possible, contest.model, contest.delta, given=(data,))
