"""Buy bounds: a first stage spends a share of the budget on noisy counts of outcomes, and bounds follow from them.

Measured are N + s_b Delta w, N the numbers of people in K public cells of outcomes (``cells``). A person who moves from
one cell to another moves N by the root of 2, whatever the outcome is: Delta = sqrt(2), in integers. Where people
have several rows, each row counts 1 / m of its person's m rows, and a person adds a point of the convex hull of the
unit vectors, no further from another than its corners are (``measurement``). So the histogram is (1 / s_b)-GDP,
and with

    1 / s_b^2 = share / s^2,    1 / s_r^2 = (1 - share) / s^2

it composes exactly with all measurements of the rest of the budget within the bounds: 1 / s_b^2 + 1 / s_r^2 = 1 / s^2,
that is (epsilon, delta) (Dong, Roth & Su 2022, corollary 3.3; later measurements may depend on earlier ones). Bounds
are computed from the noisy counts and from public numbers, and are then as public as declared ones.
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
from .cells import RoundCells, Run, holding, least_people, passes_alarm, sides_of

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
    """The first stage of a release whose bounds are bought; public, and known before data are read.

    Args:
        epsilon, delta: the whole budget, of one row where noise is made for one.
        share: of mu^2 = 1 / s^2, that is for the bounds; from .01 to .5.
        unit: the smallest size of an outcome that matters, for example a cent.
        outcome: as it is read; bounds that are bought lie within its bounds.
        log: whether logarithms will be taken, so that bounds must lie above 0.
        people: whether people may have several rows, and count once each.

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
        _ = self.widest  # whatever is bought lies within: nothing may fail once it is

    @cached_property
    def multiplier(self) -> float:
        """s_b, the noise multiplier of the counts."""
        return noise_multiplier(self.epsilon, self.delta) / math.sqrt(self.share)

    @property
    def rest(self) -> Budget:
        """The budget for everything else, at the same delta."""
        return Budget(epsilon=self._left, delta=self.delta)

    @cached_property
    def _left(self) -> float:
        """The epsilon of s_r."""
        return epsilon_of(noise_multiplier(self.epsilon, self.delta) / math.sqrt(1 - self.share), self.delta)

    @cached_property
    def cells(self) -> RoundCells:
        """Of the outcomes (K)."""
        return RoundCells(unit=self.unit, sides=sides_of(self.outcome.kind, log=self.log))

    @cached_property
    def counts(self) -> CellCounts:
        """Measurement of the numbers of people in the cells, one by one."""
        return CellCounts(B=np.eye(self.cells.count), noise_multiplier=self.multiplier, people=self.people)

    @cached_property
    def widest(self) -> Outcome:
        """The outcome within the widest bounds that can be bought: a plan for these is one for any."""
        return self._within(_cut(self.cells.widest, self.outcome.bounds))

    @property
    def least(self) -> int:
        """Fewest people for whom bounds can be had, see ``cells.least_people``."""
        return least_people(self.counts.noise_sd, self.cells.count)

    def check(self, n: int) -> None:
        """Raise ValueError if bounds of so few people, a public number, cannot be distinguished from noise."""
        if n < self.least:
            raise ValueError(
                f"bounds of {n} people are not to be had for {self.share:g} of epsilon = {self.epsilon:g}, delta = "
                f"{self.delta:g}. Its noise could hide a third of them; {self.least} people are needed. Declare "
                "bounds, or raise the share or epsilon"
            )

    def measure(self, dataset: Dataset, rng: np.random.Generator | None = None) -> OutcomeCounts:
        """Count: the only step that reads outcomes. Whoever keeps a ledger has spent the whole budget before.

        Args:
            dataset: outcomes as they are read.
        """
        cells, weights = self.cells.of(dataset.y), None if dataset.person is None else person_weights(dataset.person)
        counts = self.counts
        z = counts.measure(cells, None, weights) if rng is None else counts.teaching(cells, rng, 1, weights)[0]
        return OutcomeCounts(purchase=self, counts=z, n=dataset.people)

    def without_noise(self, dataset: Dataset) -> OutcomeCounts:
        """The counts as they are, each row for 1 / n of all people. Not private: for who holds the data."""
        counts = np.bincount(self.cells.of(dataset.y), minlength=self.cells.count).astype(float)
        return OutcomeCounts(purchase=self, counts=counts * (dataset.people / dataset.n), n=dataset.people)

    def guarantee(self, unit: str) -> Guarantee:
        """The promise for the counts alone: outcomes in public cells; nothing of inputs enters.

        Args:
            unit: the unit hidden, for example "one person's wage".
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
        """The outcome within these bounds, and a quarter of their width as it is measured for its scale."""
        outcome = replace(self.outcome, bounds=bounds, log=self.log)
        return replace(outcome, scale=outcome.measured.width / 4)


@dataclass(frozen=True, kw_only=True, eq=False)
class OutcomeCounts:
    """Noisy counts of outcomes, and the bounds from them; all of it may be published.

    Attributes:
        counts: noisy counts of people (K,).
    """

    purchase: Purchase
    counts: FloatArray
    n: int

    @cached_property
    def _run(self) -> Run:
        """The first and the last cell of the bounds."""
        return holding(self.counts, self.purchase.counts.noise_sd, self.n, self.purchase.cells.ends)

    @property
    def interval(self) -> Interval:
        """The bounds (low, high), round numbers of the unit; the widest ones, if next to nothing is within them."""
        return _cut(self.purchase.cells.interval(*self._run), self.purchase.widest.bounds)

    @property
    def outcome(self) -> Outcome:
        """The outcome with these bounds."""
        return self.purchase._within(self.interval)

    @property
    def off_scale(self) -> bool:
        """Whether people are counted at an end of the scale: they may lie far beyond, and be clipped, all of them."""
        return self.purchase.cells.reaches_end(*self._run)

    @property
    def clear(self) -> bool:
        """Whether people rise above the noise; if not, the bounds are a guess."""
        return passes_alarm(self.counts, self.purchase.counts.noise_sd)


@dataclass(frozen=True, kw_only=True, eq=False)
class BoughtBounds(OutcomeCounts):
    """Bounds and their counts; all but ``dataset`` may be published. Where it is ``off_scale``, another unit is wanted.

    Attributes:
        dataset: the records with these bounds, and a quarter of their width as scale, for a mechanism with ``rest``.
    """

    dataset: Dataset

    @property
    def rest(self) -> Budget:
        """The budget that is left."""
        return self.purchase.rest

    @property
    def guarantee(self) -> Guarantee:
        """Of the counts alone; ``together`` is of them and of a release after them."""
        return self.purchase.guarantee(self.dataset.privacy_unit)

    def together(self, rest: Guarantee) -> Guarantee:
        """The promise for the counts and a release within these bounds: mu^2 adds up.

        Raises:
            ValueError: its noise is not Gaussian.
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
    """Buy bounds for the outcomes of a data set, whose declared bounds need only be wide enough.

    Whoever keeps a ledger spends the whole budget on it first.

    Args:
        dataset: the records; ``y_kind`` and ``person`` are heeded, and the bounds bought lie within ``y_bounds``.
        unit: the smallest size of an outcome that matters, declared and public, for example a cent.
        epsilon, delta: the whole budget.
        share: of mu^2, that is for the bounds.
        log: whether logarithms will be taken, so that the bounds must lie above 0.

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
    """The promise for a whole budget, of which a share bought the bounds: its theorem and its assumptions."""
    assumptions = [new for each in whole.assumptions for new in _INSTEAD.get(each, (each,))]
    return replace(
        whole,
        theorem=f"noisy counts of outcomes in public cells, which give the bounds, and {whole.theorem}",
        assumptions=tuple(assumptions),
    )


def _cut(bounds: Interval, widest: Interval) -> Interval:
    """The part of bounds within the widest ones; these, if next to nothing is."""
    low, high = max(bounds[0], widest[0]), min(bounds[1], widest[1])
    return (low, high) if high - low > _NARROW * max(abs(low), abs(high)) else widest
