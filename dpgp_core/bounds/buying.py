"""Buy bounds: spend a share of the budget on a noisy histogram of outcomes, and take the bounds from it.

Measured are N + s_b Delta w, N the numbers of people in K public cells of outcomes (``cells``). A person who moves from
one cell to another moves N by the root of 2, whatever the outcome is: Delta = sqrt(2), found in integers. Where people
have several rows, each row counts 1 / m of its person's m rows, and a person adds a point of the convex hull of the
unit vectors, no further from another than its corners are (``measurement``). So the histogram is (1 / s_b)-GDP,
and with

    1 / s_b^2 = share / s^2,    1 / s_r^2 = (1 - share) / s^2

it composes exactly with whatever the rest of the budget measures within the bounds: 1 / s_b^2 + 1 / s_r^2 = 1 / s^2,
that is (epsilon, delta) (Dong, Roth & Su 2022, corollary 3.3; later measurements may depend on earlier ones). Bounds
are computed from the noisy counts and from public numbers, and are then as public as declared ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..accounting.guarantee import Budget, Guarantee
from ..accounting.losses import GaussianLoss
from ..arrays import FloatArray
from ..measurement.integers import person_weights
from ..table import Dataset
from .cells import RoundCells, Run, holding, is_seen, sides_of
from .purchase import SHARE, Purchase, with_bounds_bought

_NARROW = 1e-6
REASON = "bought with a share of the budget: they follow from noisy counts"


@dataclass(frozen=True, kw_only=True, eq=False)
class OutcomeCounts:
    """Noisy counts of outcomes, and the bounds that follow; all of it may be published.

    Attributes:
        cells: of the outcomes (K).
        counts: noisy counts of people (K,).
        noise_sd: of each.
        n: number of people, public.
        within: declared (low, high) that bounds stay in.
    """

    cells: RoundCells
    counts: FloatArray
    noise_sd: float
    n: int
    within: tuple[float, float]

    @property
    def interval(self) -> tuple[float, float]:
        """The bounds (low, high)."""
        return cut(self.cells.interval(*self._held), self.within)

    @property
    def off_scale(self) -> bool:
        """Whether people were found at an end of the scale: they may lie far beyond, and be clipped, all of them."""
        return self.cells.reaches_end(*self._held)

    @property
    def _held(self) -> Run:
        """The first and the last cell of the bounds."""
        return holding(self.counts, self.noise_sd, self.n, self.cells.ends)

    @property
    def clear(self) -> bool:
        """Whether people stood out of the noise; if not, the bounds are a guess."""
        return is_seen(self.counts, self.noise_sd)


@dataclass(frozen=True, kw_only=True, eq=False)
class BoughtBounds:
    """What was bought; all but ``dataset`` may be published.

    Attributes:
        counts: the noisy counts, whose bounds these are.
        guarantee: of the counts alone; ``together`` is of them and of what comes after.
        rest: the budget that is left.
        dataset: the records with these bounds, and a quarter of their width as scale, for a mechanism with ``rest``.
    """

    counts: OutcomeCounts
    guarantee: Guarantee
    rest: Budget
    dataset: Dataset

    @property
    def interval(self) -> tuple[float, float]:
        """(low, high) for the outcomes, round numbers of the declared unit."""
        return self.counts.interval

    @property
    def clear(self) -> bool:
        """Whether people stood out of the noise; if not, the bounds are a guess."""
        return self.counts.clear

    @property
    def off_scale(self) -> bool:
        """Whether people were found at an end of the scale; then what follows is of no use: another unit is wanted."""
        return self.counts.off_scale

    def together(self, rest: Guarantee) -> Guarantee:
        """The promise for the counts and a release within these bounds: mu^2 adds up.

        Args:
            rest: of that release.

        Raises:
            ValueError: its noise is not Gaussian.
        """
        if not (isinstance(rest.loss, GaussianLoss) and isinstance(self.guarantee.loss, GaussianLoss)):
            raise ValueError("bounds are bought with Gaussian noise, which adds up exactly with Gaussian noise only")
        loss = GaussianLoss(math.hypot(self.guarantee.loss.mu, rest.loss.mu))
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
        epsilon: of the whole budget.
        delta: of the whole budget.
        share: of mu^2, that is for the bounds.
        log: whether logarithms will be taken, so that the bounds must lie above 0.
        rng: None for a real release, in integers with noise from the operating system; a generator for a numbered
            draw, for teaching only.

    Raises:
        ValueError: a number is out of range, outcomes are yes/no, or there are too few people.
    """
    purchase = Purchase(epsilon=epsilon, delta=delta, share=share)
    cells = RoundCells(unit=unit, sides=sides_of(dataset.y_kind, log=log))
    purchase.check(cells, dataset.people)
    counts = count_outcomes(purchase, cells, dataset, rng)
    low, high = counts.interval
    outcome = replace(dataset.outcome, bounds=(low, high), scale=(high - low) / 4)
    return BoughtBounds(
        counts=counts,
        guarantee=purchase.guarantee(dataset),
        rest=purchase.rest,
        dataset=replace(dataset, outcome=outcome, bounds_reason=REASON),
    )


def count_outcomes(
    purchase: Purchase, cells: RoundCells, dataset: Dataset, rng: np.random.Generator | None = None
) -> OutcomeCounts:
    """Measure the counts: the only step that reads outcomes.

    Args:
        purchase: what they cost.
        cells: of the outcomes.
        dataset: the records.
        rng: as for ``buy_bounds``.
    """
    counts = purchase.counts(cells, people=dataset.person is not None)
    where = cells.of(dataset.y)
    weights = None if dataset.person is None else person_weights(dataset.person)
    z = counts.measure(where, None, weights) if rng is None else counts.teaching(where, rng, 1, weights)[0]
    return OutcomeCounts(cells=cells, counts=z, noise_sd=counts.noise_sd, n=dataset.people, within=dataset.y_bounds)


def cut(found: tuple[float, float], declared: tuple[float, float]) -> tuple[float, float]:
    """What of the bounds found lies within the declared ones; these, if next to nothing does."""
    low, high = max(found[0], declared[0]), min(found[1], declared[1])
    return (low, high) if high - low > _NARROW * max(abs(low), abs(high)) else declared
