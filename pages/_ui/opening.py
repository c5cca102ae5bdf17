"""Results for which every first visitor of a page would wait; `python -m benchmarks first_results` computes them.

The data are shipped and public, and the releases are simulated.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import get_args

from datasets import EXHIBITS
from dpgp_core.accounting.guarantee import Protects
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


def budgets() -> list[Budget]:
    """Return the budgets of Bayes cloaking whose errors ship.

    They have every ε: for all data sets at the usual δ, and for those with which !Kung curves and the London noise map
    open at every δ. For all others the ends of the range of noise ship, too.
    """
    names, protected = [each.name for each in EXHIBITS.values() if each.cross_validated], get_args(Protects)
    first, of_map = compute.opened()[0].model.dataset, next(iter(offers.MAP.titles))
    settings = [
        *product(names, CURVE_EPSILONS, [offers.DELTA], protected),
        *product([first, of_map], CURVE_EPSILONS, offers.DELTAS, protected),
        *((name, *end, protects) for name, end, protects in product(names, compute.ENDS, protected)),
    ]
    return [*dict.fromkeys(Budget(*each) for each in settings)]


def results() -> Iterator[Prefetch]:
    """Yield all results that take more than half a second, for the settings with which pages open."""
    yield from compute.opening_curves()
    yield from map(left_out.errors_in_advance, budgets())
    for name in (*offers.CURVE.titles, *offers.MAP.titles):
        yield from computed.opening(name)
    for exhibit in EXHIBITS.values():
        if exhibit.cross_validated or exhibit.scene is not None:
            yield from left_out.without_privacy_in_advance(exhibit.name, usual(exhibit.name))
    yield from sparse.opening([*sparse_view.DATASET.titles], DRAW)
