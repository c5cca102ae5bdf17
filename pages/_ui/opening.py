"""Results for which every first visitor of a page would wait; `python -m benchmarks first_results` computes them.

The data are shipped and public, and the releases are simulated.
"""

from __future__ import annotations

from collections.abc import Iterator

from datasets import EXHIBITS
from pages._ui import left_out
from pages._ui.cloaking import computed
from pages._ui.compare import compute
from pages._ui.look import offers
from pages._ui.model import Draw, usual
from pages._ui.sparse import compute as sparse
from pages._ui.sparse import view as sparse_view
from pages._ui.work.cached import Prefetch

DRAW = Draw(epsilon=1.0, delta=offers.DELTA)


def results() -> Iterator[Prefetch]:
    """Yield all results that take more than half a second, for the settings with which pages open."""
    yield from compute.opening_curves()
    for menu in (offers.CURVE, offers.MAP):
        yield from computed.opening(next(iter(menu.titles)))
    for exhibit in EXHIBITS.values():
        if exhibit.cross_validated:
            yield from left_out.opening(exhibit.name, usual(exhibit.name))
    yield from sparse.opening([*sparse_view.DATASET.titles], DRAW)
