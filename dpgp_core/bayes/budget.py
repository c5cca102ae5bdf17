"""How one privacy budget is split over everything that Bayes cloaking measures.

"Budget" in docs/bayes_cloaking.md describes the split. A part with the share p of 1 / s^2 has the noise multiplier
s / sqrt(p) and is (sqrt(p) / s)-GDP. Parts are measured one after another, each query a function of numbers released
before, so all of them together are exactly (1 / s)-GDP if the shares add up to 1 (adaptive composition: Dong, Roth & Su
2022, corollary 3.3). ``BudgetSplit`` checks that they do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..table import Kind
from .tuning import TUNING

_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True)
class BudgetSplit:
    """Shares of 1 / s^2 of all measurements of one release; 0 for what is not measured.

    Args:
        noise_multiplier: s of the whole release.
        counts: share of the counts of records in cells.
        locations: share of the locations of records within cells, all sides together.
        sums: share of the sums of clipped outcomes of each stage, without that of its squared residuals.
        squares: share of the squared residuals of each stage; 0 for the first.
        dispersion: share of the distances from the curve.
        above: share of the number of outcomes above the curve.

    Raises:
        ValueError: a share is negative, or the shares do not add up to 1.
    """

    noise_multiplier: float
    counts: float
    locations: float
    sums: tuple[float, ...]
    squares: tuple[float, ...]
    dispersion: float
    above: float

    def __post_init__(self) -> None:
        parts = (self.counts, self.locations, *self.sums, *self.squares, self.dispersion, self.above)
        if min(parts) < 0 or abs(math.fsum(parts) - 1) > _ROUNDING:
            raise ValueError(f"the shares of the budget must not be negative and must add up to 1, got {parts}")

    def multiplier(self, share: float) -> float:
        """Return the noise multiplier of a part with this share, which is infinite for a share of 0."""
        return self.noise_multiplier / math.sqrt(share) if share else math.inf


def split_budget(
    noise_multiplier: float, kind: Kind, stages: int, *, inputs_too: bool = False, locations: bool = False
) -> BudgetSplit:
    """Split a budget over all measurements of a release.

    Args:
        noise_multiplier: s of the whole release.
        kind: kind of the outcome.
        stages: number of stages.
        inputs_too: whether inputs are private.
        locations: whether locations within cells are measured.
    """
    dispersion = 0.0 if kind == "yes/no" else TUNING.dispersion_share
    above = 0.0 if kind in ("yes/no", "number") else TUNING.above_share
    curve = 1 - dispersion - above
    counts = TUNING.counts_share * curve if inputs_too else 0.0
    of_locations = TUNING.locations_share * curve if inputs_too and locations else 0.0
    parts = [min(2**i, TUNING.largest_stage) for i in range(stages)]
    each = [(curve - counts - of_locations) * part / sum(parts) for part in parts]
    squares = [0.0, *(TUNING.squares_share * share for share in each[1:])]
    return BudgetSplit(
        noise_multiplier=noise_multiplier,
        counts=counts,
        locations=of_locations,
        sums=tuple(share - square for share, square in zip(each, squares, strict=True)),
        squares=tuple(squares),
        dispersion=dispersion,
        above=above,
    )
