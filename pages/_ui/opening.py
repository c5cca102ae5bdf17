"""Results for which every first visitor of a page would wait; `python -m benchmarks first_results` computes them.

The data are shipped and public, and the releases are simulated.
"""

from __future__ import annotations

from collections.abc import Iterator

from datasets import EXHIBITS
from pages._ui import left_out
from pages._ui.cloaking import computed
from pages._ui.compare import compute
from pages._ui.compare.contenders import CURVE_EPSILONS
from pages._ui.look import offers
from pages._ui.model import Budget, Draw, usual
from pages._ui.sparse import compute as sparse
from pages._ui.sparse import view as sparse_view
from pages._ui.work.cached import Prefetch

DRAW = Draw(epsilon=1.0, delta=offers.DELTA)


def opening_errors(name: str) -> Iterator[Prefetch]:
    """Yield the errors of Bayes cloaking one step of δ away from the usual one; see ``compute.opening_curves`` too."""
    for delta in offers.neighbours(offers.DELTAS, offers.DELTA):
        for epsilon in CURVE_EPSILONS:
            yield left_out.opening_errors(Budget(name, epsilon, delta))


def results() -> Iterator[Prefetch]:
    """Yield all results that take more than half a second, for the settings with which pages open."""
    yield from compute.opening_curves()
    for menu in (offers.CURVE, offers.MAP):
        yield from opening_errors(next(iter(menu.titles)))
        for name in menu.titles:
            yield from computed.opening(name)
    for exhibit in EXHIBITS.values():
        if exhibit.cross_validated or exhibit.scene is not None:
            yield from left_out.opening(exhibit.name, usual(exhibit.name))
    yield from sparse.opening([*sparse_view.DATASET.titles], DRAW)
