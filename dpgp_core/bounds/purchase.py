"""What buying bounds costs and what it leaves, and what is promised then: public, and known before data are read."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..accounting.gaussian import epsilon_of, noise_multiplier
from ..accounting.guarantee import FIXED_IN_ADVANCE, OTHER_ROWS, Budget, Guarantee
from ..accounting.losses import GaussianLoss
from ..measurement.measurement import CellCounts
from ..table import Dataset
from .cells import RoundCells, least_people

SHARE = 0.1
LEAST_SHARE, MOST_SHARE = 0.01, 0.5
_LEAST_EPSILON = 1e-3
_DECLARED = "outputs are clipped to bounds declared without looking at them"
_BOTH_DECLARED = "inputs are clipped to a box, and outputs to bounds, declared without looking at them"
_BOUGHT = "outputs are clipped to bounds that follow from noisy counts, in cells whose unit is declared without looking"
_INSTEAD = {
    _DECLARED: (_BOUGHT,),
    _BOTH_DECLARED: ("inputs are clipped to a box declared without looking at them", _BOUGHT),
}
assert _DECLARED in FIXED_IN_ADVANCE


@dataclass(frozen=True, kw_only=True)
class Purchase:
    """How a budget is split: 1 / s_b^2 = share / s^2 for the counts, 1 / s_r^2 = (1 - share) / s^2 for the rest.

    Args:
        epsilon, delta: the whole budget.
        share: of mu^2 = 1 / s^2, that is for the bounds; from .01 to .5.

    Raises:
        ValueError: a number is out of range, or the budget is too small to be split.
    """

    epsilon: float
    delta: float
    share: float = SHARE

    def __post_init__(self) -> None:
        if not LEAST_SHARE <= self.share <= MOST_SHARE:
            raise ValueError(
                f"the share of the budget for bounds must lie in {LEAST_SHARE:g} ... {MOST_SHARE:g}, got {self.share}"
            )
        if self._left < _LEAST_EPSILON:
            raise ValueError(
                f"epsilon = {self.epsilon:g} is too small at delta = {self.delta:g} to buy bounds with a share of it. "
                "Raise epsilon, or declare bounds"
            )

    @property
    def multiplier(self) -> float:
        """s_b, the noise multiplier of the counts."""
        return self._whole / math.sqrt(self.share)

    @property
    def rest(self) -> Budget:
        """What is left for everything else, at the same delta."""
        return Budget(epsilon=self._left, delta=self.delta)

    @cached_property
    def _whole(self) -> float:
        return noise_multiplier(self.epsilon, self.delta)

    @cached_property
    def _left(self) -> float:
        return epsilon_of(self._whole / math.sqrt(1 - self.share), self.delta)

    def counts(self, cells: RoundCells, *, people: bool = False) -> CellCounts:
        """What is measured: the numbers of people in the cells, one by one."""
        return CellCounts(B=np.eye(cells.count), noise_multiplier=self.multiplier, people=people)

    def least(self, cells: RoundCells) -> int:
        """Fewest people for whom bounds can be had, see ``interval.least_people``."""
        return least_people(self.counts(cells).noise_sd, cells.count)

    def check(self, cells: RoundCells, n: int) -> None:
        """Raise ValueError if bounds of so few people, a public number, cannot be told from noise."""
        least = self.least(cells)
        if n < least:
            raise ValueError(
                f"bounds of {n} people are not to be had for {self.share:g} of epsilon = {self.epsilon:g}, delta = "
                f"{self.delta:g}. Its noise could hide a third of them; {least} people are needed. Declare bounds, or "
                "raise the share or epsilon"
            )

    def guarantee(self, dataset: Dataset) -> Guarantee:
        """The promise for the counts alone: outcomes in public cells; nothing of inputs enters."""
        several = dataset.person is not None
        loss = GaussianLoss(1 / self.multiplier)
        rows = "all rows of one person, replaced by any number of any others; number of people fixed"
        return Guarantee(
            budget=Budget(epsilon=max(loss.epsilon(self.delta), _LEAST_EPSILON), delta=self.delta),
            loss=loss,
            protects="inputs and outputs",
            neighbours=rows if several else "one record, input and output, replaced by any other; n fixed",
            unit=dataset.privacy_unit,
            theorem="noisy counts of outcomes in public cells, which one person moves by the root of 2 at most (Dong, "
            "Roth & Su 2022, corollary 3.3); analytic Gaussian mechanism (Balle & Wang 2018, theorem 8)",
            assumptions=("the cells, and the number of people, are public",),
            not_covered=("whether somebody is in the data", *(() if several else (OTHER_ROWS,))),
        )


def with_bounds_bought(whole: Guarantee) -> Guarantee:
    """The promise for a whole budget, of which a share bought the bounds: what it rests on, and what it assumes."""
    assumptions = [said for each in whole.assumptions for said in _INSTEAD.get(each, (each,))]
    return replace(
        whole,
        theorem=f"noisy counts of outcomes in public cells, which give the bounds, and {whole.theorem}",
        assumptions=tuple(assumptions),
    )
