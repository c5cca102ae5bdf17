"""Very many records with public inputs: those of one public cell share a column of B, so that n does not matter.

A stage measures z = B x + s w, x_c the sum over the records of cell c of q_j = (clip(r_j, low_c, high_c) - o_c) / u_c,
r_j = y_j - g(x_j) with g public, at the record's own public input. |q_j| <= 1/2 whatever y_j is, and inputs do not
change between neighbours: replacing y_j alone moves z by b_c (q_j' - q_j), of norm |b_c| |q_j' - q_j| <= |b_c| <= 1, c
the cell of x_j. Stage i is (1 / s_i)-GDP, and all together exactly (1 / s)-GDP with sum 1 / s_i^2 = 1 / s^2 (adaptive
composition: Dong, Roth & Su 2022, corollary 3.3). In integers, |b_c| <= 2^20 and |q_j' - q_j| <= 2^20: at most 2^40,
see ``measurement.cells``, also for people who have several rows.

The problem that is solved for B has M columns, one a cell, and is convex as the problem of n columns is: sharing only
narrows the set of X = B^T B. Bounds and gaps are for strategies that share, for f as the cells see it, and for what of
the covariance stands out from the noise (see ``planning``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...arrays import FloatArray
from ...data import Kind
from ...gp.exact import check_columns
from ...strategies.strategy import Strategy
from ..bias import Public
from ..models import typical_models
from ..plan import PlannedStage, PlannedStages
from ..scatter import split
from ..settings import BayesSettings, reading_for
from .choosing import chosen
from .counts import Counts, public_counts
from .filter import CellObserved
from .grid import cells_of
from .known import CellSetting, after, linearised, start
from .models import cell_models
from .planning import Seen, plan_for_mixture
from .spread import distances_setting, plan_distances

PER_SIDE = {1: 90, 2: 20, 3: 8}
"""Cells along each side, by the number of sides: finer than where counts have to be measured."""
_USUAL = 0.4  # of the reach, a normal distance where the reach is two standard deviations


@dataclass(frozen=True, kw_only=True, eq=False)
class BinnedPlan(PlannedStages):
    """What will be measured of records that share columns. Public, since inputs are.

    Attributes:
        setting: models on the cells, number of records, range.
        counts: of the records in the cells.
        kind: of the outcome.
        of_distances: models of the distances to the curve.
        distances: their strategy (r, M); None where there is nothing to measure.
    """

    setting: CellSetting
    counts: Counts
    kind: Kind
    of_distances: CellSetting
    distances: Strategy | None


def plan_binned(
    settings: BayesSettings, X: FloatArray, public: Public, person: NDArray[np.generic] | None = None
) -> BinnedPlan:
    """Public plan of all stages for public inputs X (n, D) in cells.

    Args:
        settings: models and budget.
        X: inputs (n, D).
        person: whose row each is (n,), public; None: every row is another person's.
        public: box of D from 1 to 3 sides, range and kind of outcome.

    Raises:
        ValueError: x_box has more than 3 sides, or not as many as X has columns.
    """
    x_box, half_range, kind = public
    grid, models = cells_of(x_box, PER_SIDE, settings.waves), settings.models(x_box, half_range, reading_for(kind))
    check_columns(np.empty((1, len(x_box))), X)
    n = len(X) if person is None else len(np.unique(person))
    setting = CellSetting(
        grid=grid,
        models=cell_models(models, grid),
        n=n,
        half_range=half_range,
        clip=settings.clip,
        gap=settings.gap,
        two_valued=kind == "yes/no",
    )
    counts, typical = public_counts(grid, X, person), replace(setting, models=cell_models(typical_models(models), grid))
    of, s = distances_setting(grid, n), settings.shares(kind).distances
    return BinnedPlan(
        setting=setting,
        counts=counts,
        stages=binned_stages(typical, counts, settings.multipliers(kind)),
        kind=kind,
        of_distances=of,
        distances=None if s is None else plan_distances(of, counts, _USUAL, s, closely=True),
    )


def binned_stages(setting: CellSetting, counts: Counts, multipliers: Sequence[float]) -> tuple[PlannedStage, ...]:
    """Strategies B (r, M) of all stages from public quantities alone, as if every z were expected.

    Args:
        setting: models to plan with, cells, range.
        counts: of the public inputs.
        multipliers: s_i of each stage.
    """
    now, planned = start(setting, counts, np.zeros(0)), list[PlannedStage]()
    weights = now.weights
    for s in multipliers:
        own, _ = split(s, not setting.biased or not planned)
        width, ends, _, known = chosen(setting, now, own, first=not planned)
        linear = linearised(setting, now, ends, known)
        so_far = Seen(setting.models, now.states, weights, linear, counts.mean)
        strategy = plan_for_mixture(so_far, own, setting.gap)
        planned.append(PlannedStage(strategy=strategy, noise_multiplier=s, width=width, widths=(width,)))
        # every mean is 0 and stays so; what z = 0 would say about the models is not expected
        observed = CellObserved(strategy.B, *ends, own, np.zeros(strategy.rank))
        now = after(setting, now, linear, observed)._replace(weights=weights)
    return tuple(planned)
