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
from ..levels import level_columns
from ..measurement.statistics import CellStatistics, Reading, Statistics
from ..seasons import Periods, check_periods, periodic
from ..table import Dataset, Kind
from .cells import MOST
from .models import AUTO_NOISE_SDS, LITTLE, NOISE_SDS_BEFORE, YES_NO_SDS, Model, auto_models, models_of, rough_share
from .spread import Shares, split_budget
from .stages import CLIP, counts_apart, stage_multipliers
from .waves import with_waves

MOST_STAGES = 10
STAGES, STAGES_OF_FEW, FEW = 6, 3, 30
"""Stages by default; and where people to a unit of noise, n / s, are fewer than that.

Where little can be learnt, intervals stay as wide as the bounds and there is nothing to look closer at; each small
stage is then planned for the level, which the next one tells better. Of 300 people at epsilon .2 (n / s = 18) curves
err by 6.3 in six stages, 4.9 in three and 4.7 in two; at epsilon .5 (46) by 3.2, 3.2 and 3.3 (``python -m benchmarks
inputs``)."""
MANY_TO_PLACE = 100  # people to a unit of noise, from which positions in cells are measured
MANY_RECORDS = 100
"""Above, records of one cell share a column by default, and stages are planned on the way.

Of 300, curves err by a twentieth less so over all kinds of inputs, and a tenth more where inputs are even; intervals
hold where they held .87, and a plane takes a quarter of the time. Of 100 both are alike (``python -m benchmarks
inputs``)."""
ONE_PLAN = 400  # records up to which many numbered draws are made of one plan, which takes seconds less
NOISE_SDS_OF = {"any outcomes": AUTO_NOISE_SDS, "yes/no": YES_NO_SDS, "normal outcomes": NOISE_SDS_BEFORE}
FEWER_SDS_OF = {
    "any outcomes": (1 / 32, 1 / 12, 1 / 4, 1.0),
    "yes/no": (1 / 4, 1 / 2, 1.0),
    "normal outcomes": NOISE_SDS_BEFORE,
}
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


def noise_sds_for(reading: Reading, x_box: Sequence[tuple[float, float]], people: float | None) -> tuple[float, ...]:
    """Noises of the mixture, over half the range; fewer where it has a model for each share of groups too.

    Args:
        people: how many share the columns of cells; None where every record has a column of its own.

    Groups have three models for one, and time with them. The least noise must be there all the same: without it small
    counts of two groups, 30,000 people, erred by .4 for .04 (``python -m benchmarks inputs --places groups``).
    """
    if level_columns(x_box):
        return FEWER_SDS_OF[reading]
    little = (LITTLE,) if reading == "any outcomes" and people is not None else ()
    return (*little, *NOISE_SDS_OF[reading])


def _for_people(words: str) -> str:
    """The same with the number of people, which is public where they count once, for that of records."""
    return words.replace("the number of records", "the number of people")


def reading_for(kind: Kind) -> Reading:
    """How a release of such outcomes is to be read."""
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
        weights: public importance of each test input (P,), >= 0, not all zero; default uniform.
        stages: number of stages, from 1 to 10; None: six, or two where people are few for the budget.
        clip: half-width of an interval over the predictive standard deviation, > 0.
        binned: records of one public cell share a column of every strategy, so that a million of them (1 to 3 input
            columns, inputs public) cost hardly more than a thousand. Aimed at where records are, every stage planned
            from numbers released before. None: above 100 records, where that has a meaning; a plan that exists is
            measured as it is. Many numbered draws of one plan are faster where it is False.
        periods: of each input, in its unit, or None for an input that has none: a curve that repeats every week or year
            is looked for too, and cells are divided by it. None: nothing does.
        gap: of each strategy, as a share of the cost of privacy; a loose one costs accuracy, never privacy. Over cells,
            where each draw plans its stages, thirty times as loose, up to three tenths.

    Raises:
        ValueError: a parameter is out of range.
    """

    epsilon: float
    delta: float
    protects: Protects = "outputs"
    kernels: Sequence[Stationary] | None = None
    noise_variances: Sequence[float] | None = None
    weights: Sequence[float] | None = None
    stages: int | None = None
    clip: float = CLIP
    binned: bool | None = None
    gap: float = 1e-3
    periods: Sequence[float | None] | None = None

    def __post_init__(self) -> None:
        _ = self.noise_multiplier, self.waves
        check_positive("clip", self.clip)
        check_positive("gap", self.gap)
        if self.protects not in ("outputs", "inputs and outputs"):
            raise ValueError(f"protects must be 'outputs' or 'inputs and outputs', got {self.protects!r}")
        if self._inputs_too and self.binned:
            raise ValueError("binned is for public inputs; protects='inputs and outputs' uses cells in any case")
        if (self._inputs_too or self.binned) and self.weights is not None:
            name = "binned" if self.binned else "protects='inputs and outputs'"
            raise ValueError(f"weights have no meaning for {name}; leave them out")
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
    def waves(self) -> Periods:
        """``periods``; () where no input has one."""
        return check_periods(self.periods, len(self.periods or ()))

    @property
    def _inputs_too(self) -> bool:
        return self.protects == "inputs and outputs"

    def shares(self, kind: Kind) -> Shares:
        """Noise multipliers of the stages for the curve together, and of the distances about it."""
        return split_budget(self.noise_multiplier, kind)

    def multipliers(self, kind: Kind, people: int) -> tuple[float, ...]:
        """Noise multipliers of the stages; where inputs are private, of the budget left by the counts."""
        return stage_multipliers(self.curve_multiplier(kind, people), self.stages_of(kind, people))

    def curve_multiplier(self, kind: Kind, people: int) -> float:
        """Noise multiplier of all stages together."""
        return self._apart(kind, people)[2] if self._inputs_too else self.shares(kind).curve

    def counts_multiplier(self, kind: Kind, people: int) -> float:
        """Noise multiplier of the counts of records in cells, where inputs are private."""
        return self._apart(kind, people)[0]

    def positions_multiplier(self, kind: Kind, people: int) -> float:
        """Noise multiplier of people's positions in cells, all sides together, where inputs are private; or infinity.

        They are measured where people are many for the budget: else noise leaves open where in its cell a crowd is.
        """
        return self._apart(kind, people)[1]

    def _apart(self, kind: Kind, people: int) -> tuple[float, float, float]:
        many = people >= MANY_TO_PLACE * self.noise_multiplier and not self.waves
        return counts_apart(self.shares(kind).curve, positions=many)

    def stages_of(self, kind: Kind, people: int) -> int:
        """Number of stages, from public numbers.

        Where outcomes are 0 or 1 there is one stage, which takes the whole range: none can be clipped, and so a second
        has nowhere to look closer.
        """
        if kind == "yes/no":
            return 1
        if self.stages is not None:
            return self.stages
        return STAGES_OF_FEW if people < FEW * self.noise_multiplier else STAGES

    def shares_columns(self, n: int, inputs: int) -> bool:
        """Whether n records of some public numbers as inputs share columns by cells: if ``binned``, or if many."""
        if self.binned is not None:
            return self.binned
        sides = inputs + len(periodic(self.waves))
        return n > MANY_RECORDS and sides in MOST and not self._inputs_too and self.weights is None

    def models(
        self,
        x_box: Sequence[tuple[float, float]],
        half_range: float,
        reading: Reading = "any outcomes",
        people: int | None = None,
    ) -> tuple[Model, ...]:
        """The mixture, in model units.

        Args:
            reading: kind of outcomes that a release was made for.
            people: how many share the columns of cells, where rough curves can be seen; None where every record has a
                column of its own, and fewer models serve many draws of one plan.
        """
        noises = noise_sds_for(reading, x_box, people)
        if reading == "normal outcomes" and not self.kernels:  # of 0.1, read as it was
            return with_waves(auto_models(x_box, half_range, noises), x_box, half_range, self.waves, noises)
        rough = None if people is None else rough_share(people, self.noise_multiplier)
        plain = models_of(self.kernels or (), self.noise_variances, x_box, half_range, noises, rough)
        return with_waves(plain, x_box, half_range, self.waves, noises, rough)

    def models_of_release(self, statistics: Statistics | CellStatistics) -> tuple[Model, ...]:
        """The mixture, in model units, that a release of this mechanism was read with when it was made."""
        low, high = statistics.bounds
        people = statistics.n if isinstance(statistics, CellStatistics) else None
        return self.models(statistics.x_box, (high - low) / statistics.y_scale / 2, statistics.reading, people)
