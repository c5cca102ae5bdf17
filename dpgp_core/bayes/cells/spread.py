"""How people scatter about the curve, over public cells: distances measured and read as ``bayes.spread`` has it.

One record's distance a = min(|y - g(x)|, A) counts in its own cell: z = B x + s w, x_c the sum over the records of c of
a / A - 1/2, which lies in [-1/2, 1/2]. Replacing a record, input and output, moves z by at most (|b_a| + |b_b|) / 2
<= 1, replacing an output alone by at most |b_a| <= 1, see ``measurement``; the number above the curve likewise.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray
from ...measurement.measurement import Measurement
from ...measurement.statistics import MeasuredDistances
from ...strategies.strategy import Strategy
from ..intervals import Mixture
from ..scatter import expected
from ..spread import GAP, Shares, as_read, peopled, reach_of, spread_models, spread_of, usual_distance
from ..waves import on_dates
from ..widths import CLIP
from .counts import Counts
from .filter import CellObserved, Linear, linearise
from .grid import CellGrid
from .known import CellSetting, Posterior, after, cell_mixture, curve, mean_square, start
from .models import cell_models
from .planning import Seen, plan_for_mixture, plan_stage
from .stages import Reader


def distances_setting(grid: CellGrid, n: int) -> CellSetting:
    """Models of 2 (a / A - usual) on the grid, from the box alone.

    Args:
        grid: public cells.
        n: number of records.
    """
    models = cell_models(on_dates(spread_models(grid.box), grid.periods), grid)
    return CellSetting(grid=grid, models=models, n=n, half_range=1.0, clip=CLIP, gap=GAP)


def plan_distances(setting: CellSetting, counts: Counts, usual: float, s: float, *, closely: bool) -> Strategy:
    """What to measure of distances, once it is known where records are: public.

    Args:
        setting: of the distances.
        counts: of the records, as released, or public.
        usual: expected a / A.
        s: noise multiplier.
        closely: planned once for all draws, rather than anew for each.
    """
    now = start(setting, counts, np.zeros(0))
    seen = Seen(setting.models, now.states, now.weights, _linear(setting, now, usual), counts.numbers)
    return (plan_for_mixture if closely else plan_stage)(seen, s, setting.gap)


def measure_distances(
    setting: CellSetting, of: CellSetting, now: Posterior, shares: Shares, reader: Reader, B: FloatArray | None = None
) -> MeasuredDistances:
    """Measure distances to the curve that the stages gave.

    Args:
        setting: of the stages.
        of: of the distances, see ``distances_setting``.
        now: what the stages say.
        shares: noise multipliers.
        reader: measures.
        B: planned in advance (r, M), or None.
    """
    assert shares.distances is not None
    g, counts = curve(setting, now), now.counts
    square = counts.numbers @ mean_square(setting, now, g) / counts.numbers.sum()
    reach = reach_of(np.array([square]), setting.half_range)
    sd = np.sqrt(np.array([expected(now.scatter, setting.half_range)]))
    if B is None:
        usual = float(usual_distance(sd, reach)[0])
        B = plan_distances(of, counts, usual, shares.distances, closely=False).B
    far = np.full(setting.grid.size, reach[0])
    measurement = Measurement(
        B=B, low=0 * far, high=far, bounds=(0.0, float(reach[0])), noise_multiplier=shares.distances
    )
    return reader.distances(measurement, g, float(sd[0]), _count(setting.grid, shares))


def with_people(
    of: CellSetting, counts: Counts, measured: MeasuredDistances, prediction: Mixture, X_test: FloatArray
) -> Mixture:
    """A prediction of the curve at X_test (P, D), with what distances say of people there: spends nothing.

    Args:
        of: of the distances.
        counts: of the records.
        measured: as released.
        prediction: of one draw.
        X_test: where.
    """
    seen = as_read(measured)
    usual = usual_distance(seen.sd, seen.reach)
    now, B = start(of, counts, np.zeros(0)), seen.B
    nothing = np.zeros(len(of.grid.nodes))
    one = np.ones(of.grid.size)
    observed = CellObserved(B, -one, one, nothing, seen.s, seen.z[0])
    known = after(of, now, _linear(of, now, float(usual[0])), observed)
    spread = spread_of(cell_mixture(of.models, known, X_test), usual[:, None], seen.reach)
    return peopled(prediction, spread, seen, of.n)


def _count(grid: CellGrid, shares: Shares) -> Measurement | None:
    if shares.above is None:
        return None
    one = np.ones(grid.size)
    return Measurement(B=one[None], low=0 * one, high=one, bounds=(0.0, 1.0), noise_multiplier=shares.above)


def _linear(setting: CellSetting, now: Posterior, usual: float) -> tuple[Linear, ...]:
    """Sums of a / A - 1/2 = (v + 2 usual - 1) / 2 of the v = 2 (a / A - usual) that models speak of; nothing is cut."""
    centre, one = 2 * usual - 1, np.ones(setting.grid.size)
    seen = (-one - centre, one - centre, np.zeros(len(setting.grid.nodes)))
    pairs = zip(setting.models, now.states, strict=True)
    # ends at the edge of the range count as infinitely far (see ``bias``): both are, of the smaller range
    return tuple(linearise(m, setting.grid, now.counts, state, seen, 1 - abs(centre), 1.0) for m, state in pairs)
