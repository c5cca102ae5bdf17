"""Bought bounds: bounds of the outcome that are computed from noisy counts, for which a share of the budget is spent.

The measurement is N + s_b Delta w, where N are the numbers of people in K public cells of outcomes (``cells``). A
person who moves from one cell to another changes N by sqrt(2), so Delta = sqrt(2), which is computed in integers. If
people have several rows, each of a person's m rows counts 1 / m. A person then contributes a point of the convex hull
of the unit vectors, and two points of the hull are no further apart than two of its corners (``measurement``). The
histogram is therefore (1 / s_b)-GDP. With

    1 / s_b^2 = share / s^2,    1 / s_r^2 = (1 - share) / s^2

it composes exactly with all measurements that the rest of the budget pays for: 1 / s_b^2 + 1 / s_r^2 = 1 / s^2, which
is (epsilon, delta) (Dong, Roth & Su 2022, corollary 3.3; later measurements may depend on earlier ones). The bounds are
computed from the noisy counts and from public numbers, so they are as public as declared bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..accounting.gaussian import epsilon_of, noise_multiplier
from ..accounting.guarantee import FIXED_IN_ADVANCE, OTHER_ROWS, Budget, Guarantee
from ..accounting.losses import GaussianLoss
from ..arrays import FloatArray
from ..levels import Interval
from ..measurement.integers import person_weights
from ..measurement.measurement import CellCounts
from ..table import Dataset, Outcome
from .cells import RoundCells, Run, bounding_cells, least_people, passes_alarm, sides_of

SHARE = 0.1
LEAST_SHARE, MOST_SHARE = 0.01, 0.5
_LEAST_EPSILON = 1e-3
_NARROW = 1e-6
REASON = "bought with a share of the budget: they follow from noisy counts"
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
    """The purchase of bounds, which precedes all other measurements. It is public, and known before data are read.

    Args:
        epsilon: whole budget; that of one row if the mechanism protects single rows.
        share: share of mu^2 = 1 / s^2 that is spent on the bounds, from 0.01 to 0.5.
        unit: smallest size of an outcome that matters, for example a cent.
        outcome: description of the outcome. Bought bounds lie within its bounds.
        log: whether logarithms will be measured, so that bounds must be above 0.
        people: whether people may have several rows. They then count once each.

    Raises:
        ValueError: a number is out of range, outcomes are yes/no, or the budget is too small to be split.
    """

    epsilon: float
    delta: float
    share: float = SHARE
    unit: float
    outcome: Outcome
    log: bool = False
    people: bool = False

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
        _ = self.widest  # raises an error now, before the budget is spent, if bounds within these could be invalid

    @cached_property
    def multiplier(self) -> float:
        """Noise multiplier s_b of the counts."""
        return noise_multiplier(self.epsilon, self.delta) / math.sqrt(self.share)

    @property
    def rest(self) -> Budget:
        """Budget for everything else, with the same delta."""
        return Budget(epsilon=self._left, delta=self.delta)

    @cached_property
    def _left(self) -> float:
        """Epsilon of the noise multiplier s_r at delta."""
        return epsilon_of(noise_multiplier(self.epsilon, self.delta) / math.sqrt(1 - self.share), self.delta)

    @cached_property
    def cells(self) -> RoundCells:
        """The K public cells of outcomes."""
        return RoundCells(unit=self.unit, sides=sides_of(self.outcome.kind, log=self.log))

    @cached_property
    def counts(self) -> CellCounts:
        """Measurement of the number of people in each cell."""
        return CellCounts(B=np.eye(self.cells.count), noise_multiplier=self.multiplier, people=self.people)

    @cached_property
    def widest(self) -> Outcome:
        """Outcome with the widest bounds that can be bought. A release that can be planned for these can be for all."""
        return self._within(_cut(self.cells.widest, self.outcome.bounds))

    @property
    def least(self) -> int:
        """Smallest number of people for whom bounds can be bought, see ``cells.least_people``."""
        return least_people(self.counts.noise_sd, self.cells.count)

    def check(self, n: int) -> None:
        """Raise ValueError if n, the public number of people, is too small to distinguish their bounds from noise."""
        if n < self.least:
            raise ValueError(
                f"bounds of {n} people are not to be had for {self.share:g} of epsilon = {self.epsilon:g}, delta = "
                f"{self.delta:g}. Its noise could hide a third of them; {self.least} people are needed. Declare "
                "bounds, or raise the share or epsilon"
            )

    def measure(self, dataset: Dataset, rng: np.random.Generator | None = None) -> OutcomeCounts:
        """Measure the counts. This is the only step that reads outcomes, and spends budget that must be counted before.

        Args:
            dataset: data set with the outcomes as they were read.
        """
        cells, weights = self.cells.of(dataset.y), None if dataset.person is None else person_weights(dataset.person)
        counts = self.counts
        z = counts.measure(cells, None, weights) if rng is None else counts.teaching(cells, rng, 1, weights)[0]
        return OutcomeCounts(purchase=self, counts=z, n=dataset.people)

    def guarantee(self, unit: str) -> Guarantee:
        """Return the guarantee of the counts alone, which do not use inputs.

        Args:
            unit: privacy unit, for example "one person's wage".
        """
        loss = GaussianLoss(1 / self.multiplier)
        rows = "all rows of one person, replaced by any number of any others; number of people fixed"
        return Guarantee(
            budget=Budget(epsilon=max(loss.epsilon(self.delta), _LEAST_EPSILON), delta=self.delta),
            loss=loss,
            protects="inputs and outputs",
            neighbours=rows if self.people else "one record, input and output, replaced by any other; n fixed",
            unit=unit,
            theorem="noisy counts of outcomes in public cells, which one person moves by the root of 2 at most (Dong, "
            "Roth & Su 2022, corollary 3.3); analytic Gaussian mechanism (Balle & Wang 2018, theorem 8)",
            assumptions=("the cells, and the number of people, are public",),
            not_covered=("whether somebody is in the data", *(() if self.people else (OTHER_ROWS,))),
        )

    def _within(self, bounds: Interval) -> Outcome:
        """Return the outcome with these bounds. Its scale is a quarter of their width, in the unit that is measured."""
        outcome = replace(self.outcome, bounds=bounds, log=self.log)
        return replace(outcome, scale=outcome.measured.width / 4)


@dataclass(frozen=True, kw_only=True, eq=False)
class OutcomeCounts:
    """Noisy counts of outcomes, and the bounds computed from them. All of it may be published.

    Attributes:
        purchase: description of the measurement.
        counts: noisy numbers of people in the cells (K,).
    """

    purchase: Purchase
    counts: FloatArray
    n: int

    @cached_property
    def _run(self) -> Run:
        """First and last cell within the bounds."""
        return bounding_cells(self.counts, self.purchase.counts.noise_sd, self.n, self.purchase.cells.ends)

    @property
    def interval(self) -> Interval:
        """Bounds (low, high), round multiples of the unit; the widest possible bounds if these would be too narrow."""
        return _cut(self.purchase.cells.interval(*self._run), self.purchase.widest.bounds)

    @property
    def outcome(self) -> Outcome:
        """The outcome with these bounds."""
        return self.purchase._within(self.interval)

    @property
    def off_scale(self) -> bool:
        """Whether the bounds reach an end of the scale. Outcomes may then lie far beyond it and would be clipped."""
        return self.purchase.cells.reaches_end(*self._run)

    @property
    def clear(self) -> bool:
        """Whether some counts are clearly above the noise; if not, the bounds are a guess."""
        return passes_alarm(self.counts, self.purchase.counts.noise_sd)


@dataclass(frozen=True, kw_only=True, eq=False)
class BoughtBounds(OutcomeCounts):
    """Bought bounds, with the data set that has them. Everything except ``dataset`` may be published.

    If the bounds are ``off_scale``, a larger unit should be declared.

    Attributes:
        dataset: the records with these bounds, and a quarter of their width as scale. A mechanism with the budget
            ``rest`` may use it.
    """

    dataset: Dataset

    @property
    def rest(self) -> Budget:
        """Budget that is left for a release."""
        return self.purchase.rest

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of the counts alone. ``together`` gives that of the counts and a release."""
        return self.purchase.guarantee(self.dataset.privacy_unit)

    def together(self, rest: Guarantee) -> Guarantee:
        """Return the guarantee of the counts and a release within these bounds together: their values of mu^2 add up.

        Raises:
            ValueError: the noise of the release is not Gaussian.
        """
        if not isinstance(rest.loss, GaussianLoss):
            raise ValueError("bounds are bought with Gaussian noise, which adds up exactly with Gaussian noise only")
        loss = GaussianLoss(math.hypot(1 / self.purchase.multiplier, rest.loss.mu))
        delta = rest.budget.delta
        return with_bounds_bought(replace(rest, loss=loss, budget=Budget(epsilon=loss.epsilon(delta), delta=delta)))


def buy_bounds(
    dataset: Dataset,
    unit: float,
    *,
    epsilon: float,
    delta: float,
    share: float = SHARE,
    log: bool = False,
    rng: np.random.Generator | None = None,
) -> BoughtBounds:
    """Buy bounds for the outcomes of a data set. Its declared bounds need only be wide enough.

    If there is a ledger, the whole budget must be entered before this call.

    Args:
        dataset: data set. Its ``y_kind`` and ``person`` are used, and the bounds that are bought lie within
            ``y_bounds``.
        unit: declared and public smallest size of an outcome that matters, for example a cent.
        epsilon: whole budget.
        delta: delta of this budget.
        share: share of mu^2 that is spent on the bounds, from 0.01 to 0.5.
        log: whether logarithms will be measured, so that the bounds must be above 0.
        rng: None for a real measurement; a generator for a simulated one.

    Raises:
        ValueError: a number is out of range, outcomes are yes/no, or there are too few people.
    """
    purchase = Purchase(
        epsilon=epsilon,
        delta=delta,
        share=share,
        unit=unit,
        outcome=dataset.outcome,
        log=log,
        people=dataset.person is not None,
    )
    purchase.check(dataset.people)
    counts = purchase.measure(dataset, rng)
    low, high = counts.interval
    outcome = replace(dataset.outcome, bounds=(low, high), scale=(high - low) / 4)
    bought = replace(dataset, outcome=outcome, bounds_reason=REASON)
    return BoughtBounds(purchase=purchase, counts=counts.counts, n=counts.n, dataset=bought)


def with_bounds_bought(whole: Guarantee) -> Guarantee:
    """Return the guarantee of a release with bought bounds, whose theorem and assumptions mention the noisy counts."""
    assumptions = [new for each in whole.assumptions for new in _INSTEAD.get(each, (each,))]
    return replace(
        whole,
        theorem=f"noisy counts of outcomes in public cells, which give the bounds, and {whole.theorem}",
        assumptions=tuple(assumptions),
    )


def _cut(bounds: Interval, widest: Interval) -> Interval:
    """Return the intersection of bounds with the widest ones; the widest ones if it would be too narrow."""
    low, high = max(bounds[0], widest[0]), min(bounds[1], widest[1])
    return (low, high) if high - low > _NARROW * max(abs(low), abs(high)) else widest
