"""Very many records with public inputs: those of one public cell share a column of B, so that n does not matter.

A stage measures z = B x + s w, x_c the sum over the records of cell c of q_j = (clip(r_j, low_c, high_c) - o_c) / u_c,
r_j = y_j - g(x_j) with g public, at the record's own public input. |q_j| <= 1/2 whatever y_j is, and inputs do not
change between neighbours: replacing y_j alone moves z by b_c (q_j' - q_j), of norm |b_c| |q_j' - q_j| <= |b_c| <= 1, c
the cell of x_j. Stage i is (1 / s_i)-GDP, and all together exactly (1 / s)-GDP with sum 1 / s_i^2 = 1 / s^2 (adaptive
composition: Dong, Roth & Su 2022, corollary 3.3). In integers, |b_c| <= 2^20 and |q_j' - q_j| <= 2^20: at most 2^40,
see ``measurement.cells``.

The problem that is solved for B has M columns, one a cell, and is convex as the problem of n columns is: sharing only
narrows the set of X = B^T B. Bounds and gaps are for strategies that share, and for f as the cells see it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..stages import PlannedStage
from .counts import Counts
from .filter import CellObserved
from .grid import CellGrid
from .planning import plan_stage
from .stages import CellSetting, after, intervals, linearised, start

CELLS_PER_SIDE = {1: 90, 2: 20, 3: 8}


def fine_cells_of(box: Sequence[tuple[float, float]]) -> CellGrid:
    """Finer cells than where counts cost: 90 along one side, 20 along each of two, 8 along each of three.

    Raises:
        ValueError: the box has more than 3 sides.
    """
    return CellGrid(box=tuple(box), per_side=CELLS_PER_SIDE.get(len(box), 2))


def plan_binned(setting: CellSetting, counts: Counts, multipliers: Sequence[float]) -> tuple[PlannedStage, ...]:
    """Strategies B (r, M) of all stages from public quantities alone, as if every z were expected.

    Args:
        setting: models to plan with, cells, range.
        counts: of the public inputs.
        multipliers: s_i of each stage.
    """
    nothing = np.zeros(0)
    now, planned = start(setting, counts, nothing), list[PlannedStage]()
    weights = now.weights
    for s in multipliers:
        low, high, g = intervals(setting, now, first=not planned)
        linear = linearised(setting, now, (low, high, g))
        strategy = plan_stage(setting.models, now.states, weights, linear, counts.mean, s, setting.gap)
        planned.append(PlannedStage(strategy=strategy, noise_multiplier=s))
        # every mean is 0 and stays so; what z = 0 would say about the models is not expected
        observed = CellObserved(strategy.B, low, high, g, s, np.zeros(strategy.rank))
        now = after(setting, now, linear, observed)._replace(weights=weights)
    return tuple(planned)
