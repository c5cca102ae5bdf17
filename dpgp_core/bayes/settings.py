"""Settings of Bayes cloaking, and its promise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ..accounting.gaussian import noise_multiplier
from ..accounting.guarantee import (
    BEYOND_ONE_RELEASE,
    FIXED_IN_ADVANCE,
    ONE_OUTPUT,
    OTHER_ROWS,
    Budget,
    Guarantee,
    Protects,
)
from ..accounting.losses import GaussianLoss
from ..checks import check_positive
from ..kernels import Stationary
from ..levels import level_columns, number_sides
from ..measurement.statistics import CellStatistics, Reading
from ..seasons import Periods, check_periods
from ..table import Dataset, Kind
from .budget import BudgetSplit, split_budget
from .model import Model, models_of, rough_share
from .periodic import with_periodic_models
from .tuning import TUNING

MOST_STAGES = 10
ONE_RECORD = "one record, input and output, replaced by any other; n fixed"
ONE_PERSON = "all rows of one person, inputs and outputs, replaced by any number of any others; number of people fixed"
ONE_PERSONS_OUTPUTS = "the outputs of all rows of one person replaced by any others; everything else fixed"
OWN_ROWS = "the declared column says whose row each is: who is in it under two names is hidden as two people"
WHO_IS_WHO = "whose row each is, and how many rows everybody has"
FIXED_WITHOUT_RECORDS = (
    "models, cells and every setting are fixed in advance or chosen without the private records",
    "the number of records and the test points are public",
    "inputs are clipped to a box, and outputs to bounds, declared without looking at them",
)
BEYOND_PRIVATE_INPUTS = (
    "whether somebody is in the data: the number of records is public",
    OTHER_ROWS,
    "settings chosen after looking at results",
    "further draws or other releases, unless the ledger adds them up",
)


def noise_sds_for(reading: Reading, x_box: Sequence[tuple[float, float]]) -> tuple[float, ...]:
    """Noise standard deviations of the mixture, over half the range; fewer if there are groups."""
    if level_columns(x_box):
        return TUNING.yes_no_sds_of_groups if reading == "yes/no" else TUNING.noise_sds_of_groups
    if reading == "yes/no":
        return TUNING.yes_no_sds
    return TUNING.noise_sds_of_three if len(number_sides(x_box)) >= 3 else TUNING.noise_sds


def _for_people(words: str) -> str:
    """The same with the number of people, which is public where they count once, for that of records."""
    return words.replace("the number of records", "the number of people")


def reading_for(kind: Kind) -> Reading:
    """How a release of outcomes of this kind is read."""
    return "yes/no" if kind == "yes/no" else "any outcomes"


@dataclass(frozen=True, kw_only=True)
class BayesSettings:
    """Settings of ``BayesCloaking``, and the guarantee that follows from them.

    Args:
        epsilon, delta: the budget of one draw.
        protects: "outputs", where inputs are public; "inputs and outputs", where they are not: then sums over public
            cells of the box are measured (1 to 3 input columns), aimed at where the records are.
        kernels: declared covariances, in squared model units; each is mixed with its neighbours and with the automatic
            models. None: the automatic models alone, made from box and bounds.
        noise_variances: one per kernel, in squared model units; None: those of the automatic models.
        stages: number of stages, from 1 to 10; None: six, or three if there are few people for the budget.
        clip: half-width of an interval over the predictive standard deviation, > 0.
        periods: of each input, in its unit, or None for an input that has none. The models then include curves that
            repeat every week or year, and cells are divided by phase. None: no input has a period.
        gap: relative gap of each strategy; a large one costs accuracy, never privacy. Strategies are planned anew in
            each release, so the solver stops at thirty times this gap, up to 0.3.

    Raises:
        ValueError: a parameter is out of range.
    """

    epsilon: float
    delta: float
    protects: Protects = "outputs"
    kernels: Sequence[Stationary] | None = None
    noise_variances: Sequence[float] | None = None
    stages: int | None = None
    clip: float = TUNING.clip
    gap: float = 1e-3
    periods: Sequence[float | None] | None = None

    def __post_init__(self) -> None:
        _ = self.noise_multiplier, self.checked_periods
        check_positive("clip", self.clip)
        check_positive("gap", self.gap)
        if self.protects not in ("outputs", "inputs and outputs"):
            raise ValueError(f"protects must be 'outputs' or 'inputs and outputs', got {self.protects!r}")
        if self.stages is not None and not 1 <= self.stages <= MOST_STAGES:
            raise ValueError(f"stages must be a whole number from 1 to {MOST_STAGES}, got {self.stages}")
        given, kernels = self.noise_variances, self.kernels
        if given is not None and len(given) != len(kernels or ()):
            raise ValueError(f"noise_variances must have one entry per kernel, {len(kernels or ())}, got {len(given)}")

    @cached_property
    def noise_multiplier(self) -> float:
        """Noise scale s of all stages together: they are (1 / s)-GDP."""
        return noise_multiplier(self.epsilon, self.delta)

    @property
    def guarantee(self) -> Guarantee:
        """The promise for one draw of all stages together, known before any output is read."""
        inputs_too = self._inputs_too
        counts = "noisy counts of records in public cells and " if inputs_too else ""
        return Guarantee(
            budget=Budget(epsilon=self.epsilon, delta=self.delta),
            loss=GaussianLoss(1 / self.noise_multiplier),
            protects=self.protects,
            neighbours=ONE_RECORD if inputs_too else ONE_OUTPUT,
            unit="one record" if inputs_too else "one record's output",
            theorem=f"{counts}adaptive Gaussian measurements of sensitivity 1, composed exactly (Dong, Roth & "
            "Su 2022, corollary 3.3); analytic Gaussian mechanism (Balle & Wang 2018, theorem 8)",
            assumptions=FIXED_WITHOUT_RECORDS if inputs_too else FIXED_IN_ADVANCE,
            not_covered=BEYOND_PRIVATE_INPUTS if inputs_too else BEYOND_ONE_RELEASE,
        )

    def promise_for(self, dataset: Dataset) -> Guarantee:
        """The promise for one draw of a data set: to people, where it says whose row each is."""
        return self.promise_to(dataset.privacy_unit, people=dataset.person is not None)

    def promise_to(self, unit: str, *, people: bool) -> Guarantee:
        """The promise for one draw, naming whom it is to: to people with all their rows, or to every row by itself."""
        card = self.guarantee.for_unit(unit)
        if not people:
            return card
        public = () if self._inputs_too else (WHO_IS_WHO,)
        return replace(
            card,
            rows=None,
            neighbours=ONE_PERSON if self._inputs_too else ONE_PERSONS_OUTPUTS,
            assumptions=(OWN_ROWS, *map(_for_people, card.assumptions)),
            not_covered=(*public, *(_for_people(each) for each in card.not_covered if each != OTHER_ROWS)),
        )

    @property
    def checked_periods(self) -> Periods:
        """``periods``; () where no input has one."""
        return check_periods(self.periods, len(self.periods or ()))

    @property
    def _inputs_too(self) -> bool:
        return self.protects == "inputs and outputs"

    def split(self, kind: Kind, people: int) -> BudgetSplit:
        """Shares of the budget that each measurement takes, from public numbers.

        Locations in cells are measured if there are many people for the budget; otherwise noise would leave open where
        in their cells the records are.
        """
        located = (
            self._inputs_too and people >= TUNING.many_to_locate * self.noise_multiplier and not self.checked_periods
        )
        return split_budget(
            self.noise_multiplier, kind, self.stages_of(kind, people), inputs_too=self._inputs_too, locations=located
        )

    def stages_of(self, kind: Kind, people: int) -> int:
        """Number of stages, from public numbers.

        Where outcomes are 0 or 1 there is one stage, which takes the whole range: none can be clipped, and so a second
        has nowhere to look closer.
        """
        if kind == "yes/no":
            return 1
        if self.stages is not None:
            return self.stages
        return TUNING.stages_of_few if people < TUNING.few * self.noise_multiplier else TUNING.stages

    def models(
        self,
        x_box: Sequence[tuple[float, float]],
        half_range: float,
        reading: Reading = "any outcomes",
        people: float = 0.0,
    ) -> tuple[Model, ...]:
        """The mixture, in model units.

        Args:
            reading: kind of outcomes that a release was made for.
            people: number of people; with enough of them for the budget, rough curves and small deviations from the
                mean level can be seen.
        """
        noises = noise_sds_for(reading, x_box)
        rough = rough_share(people, self.noise_multiplier)
        plain = models_of(self.kernels or (), self.noise_variances, x_box, half_range, noises, rough)
        return with_periodic_models(plain, x_box, half_range, self.checked_periods, noises, rough)

    def models_of_release(self, statistics: CellStatistics) -> tuple[Model, ...]:
        """The mixture, in model units, that a release of this mechanism was read with when it was made."""
        low, high = statistics.bounds
        half_range = (high - low) / statistics.y_scale / 2
        return self.models(statistics.x_box, half_range, statistics.reading, statistics.n)
