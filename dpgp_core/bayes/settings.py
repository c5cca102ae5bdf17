"""Settings of Bayes cloaking, the guarantee that follows from them, and the models and stages that they imply."""

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
from ..measurement.statistics import CellStatistics, OutcomeModel
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
OWN_ROWS = "the declared column identifies people: somebody who has two names in it is protected as two people"
WHO_IS_WHO = "which rows belong to one person, and how many rows everybody has"
FIXED_WITHOUT_RECORDS = (
    "models, cells and every setting are fixed in advance or chosen without the private records",
    "the number of records and the test points are public",
    "inputs are clipped to a box, and outputs to bounds, declared without looking at them",
)
BEYOND_PRIVATE_INPUTS = (
    "whether somebody is in the data: the number of records is public",
    OTHER_ROWS,
    "settings chosen after looking at results",
    "further releases, unless the ledger adds them up",
)


def noise_sds_for(outcome_model: OutcomeModel, x_box: Sequence[tuple[float, float]]) -> tuple[float, ...]:
    """Return the noise standard deviations of the models, over half the range of the outcomes.

    Args:
        outcome_model: "yes/no" or "any outcomes".
        x_box: declared (low, high) of each input, or its categories.
    """
    if level_columns(x_box):
        return TUNING.yes_no_sds_of_groups if outcome_model == "yes/no" else TUNING.noise_sds_of_groups
    if outcome_model == "yes/no":
        return TUNING.yes_no_sds
    return TUNING.noise_sds_of_three if len(number_sides(x_box)) >= 3 else TUNING.noise_sds


def outcome_model_for(kind: Kind) -> OutcomeModel:
    """Return the model of outcomes of this kind."""
    return "yes/no" if kind == "yes/no" else "any outcomes"


@dataclass(frozen=True, kw_only=True)
class BayesSettings:
    """Settings of ``BayesCloaking``, and the guarantee that follows from them.

    Args:
        epsilon, delta: the budget of one release.
        protects: "outputs" if inputs are public, "inputs and outputs" if they are private. Private inputs need one to
            three numerical inputs, and sums over equal cells of the box are measured.
        kernels: declared covariance functions, in squared model units. Each is mixed with kernels of half and twice its
            lengthscale, and with the models that follow from box and bounds. None to use only the latter.
        noise_variances: declared noise variance for each kernel, in squared model units; None for several values that
            follow from the bounds.
        stages: number of stages, from 1 to 10; None for six, or three if there are few people for the budget.
        clip: half-width of the narrowest clipping interval in predictive standard deviations, positive.
        gap: relative gap of each strategy, positive. A large gap costs accuracy, never privacy. Strategies are planned
            during each release, so that the solver stops at thirty times this gap, or at 0.3 if that is smaller.
        periods: period of each input in its unit, or None for an input without one. The models then include curves that
            repeat every week or year, for example, and cells are divided by phase. None if no input has a period.

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
        """Noise multiplier s of a release: all its measurements together are (1 / s)-GDP."""
        return noise_multiplier(self.epsilon, self.delta)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one release that protects single rows. It is known before any private value is read."""
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

    def guarantee_for(self, dataset: Dataset) -> Guarantee:
        """Return the guarantee of one release of a data set; for people, if the data set identifies them."""
        return self.promise_to(dataset.privacy_unit, people=dataset.person is not None)

    def promise_to(self, unit: str, *, people: bool) -> Guarantee:
        """Return the guarantee of one release with its privacy unit.

        Args:
            unit: name of the privacy unit.
            people: whether all rows of a person are protected together, or each row by itself.
        """
        card = self.guarantee.for_unit(unit)
        if not people:
            return card

        def for_people(words: str) -> str:
            return words.replace("the number of records", "the number of people")

        public = () if self._inputs_too else (WHO_IS_WHO,)
        return replace(
            card,
            rows=None,
            neighbours=ONE_PERSON if self._inputs_too else ONE_PERSONS_OUTPUTS,
            assumptions=(OWN_ROWS, *map(for_people, card.assumptions)),
            not_covered=(*public, *(for_people(each) for each in card.not_covered if each != OTHER_ROWS)),
        )

    @property
    def checked_periods(self) -> Periods:
        """``periods`` after validation; () if no input has one."""
        return check_periods(self.periods, len(self.periods or ()))

    @property
    def _inputs_too(self) -> bool:
        return self.protects == "inputs and outputs"

    def split(self, kind: Kind, people: int) -> BudgetSplit:
        """Return how the budget is split over the measurements. It follows from public numbers.

        Args:
            kind: kind of the outcome.
            people: number of records, or of people if each counts once.
        """
        s, inputs_too = self.noise_multiplier, self._inputs_too
        located = people >= TUNING.many_to_locate * s and not self.checked_periods
        return split_budget(s, kind, self.stages_of(kind, people), inputs_too=inputs_too, locations=located)

    def stages_of(self, kind: Kind, people: int) -> int:
        """Return the number of stages. Arguments are those of ``split``.

        For yes/no outcomes there is one stage: every outcome is at one end of the range, so that no interval narrower
        than the range would contain it, and later stages could not be more precise than the first.
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
        outcome_model: OutcomeModel = "any outcomes",
        people: float = 0.0,
    ) -> tuple[Model, ...]:
        """Return the models of the mixture, in model units.

        Args:
            x_box: declared (low, high) of each input, or its categories.
            half_range: half the range of the outcomes, in model units.
            outcome_model: "yes/no" or "any outcomes".
            people: number of records, or of people if each counts once, see ``model.rough_share``.
        """
        noises = noise_sds_for(outcome_model, x_box)
        rough = rough_share(people, self.noise_multiplier)
        plain = models_of(self.kernels or (), self.noise_variances, x_box, half_range, noises, rough)
        return with_periodic_models(plain, x_box, half_range, self.checked_periods, noises, rough)

    def models_of_release(self, statistics: CellStatistics) -> tuple[Model, ...]:
        """Return the models, in model units, with which this mechanism made a release."""
        low, high = statistics.bounds
        half_range = (high - low) / statistics.y_scale / 2
        return self.models(statistics.x_box, half_range, statistics.outcome_model, statistics.n)
