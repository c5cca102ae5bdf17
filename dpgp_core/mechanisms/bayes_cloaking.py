"""Bayes cloaking: measure in stages, each for the posterior so far, and predict from the noisy numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from ..arrays import FloatArray
from ..bayes.cells import OccupiedGrid, cells_of, finer_where_used, occupied
from ..bayes.counts import Counts, Positions, public_counts
from ..bayes.engine import NOTHING, Measured, Reader, measure_distances, run_stages, together
from ..bayes.filter_cells import CellFilter, cell_filter
from ..bayes.filter_records import RecordFilter, record_filter
from ..bayes.mixture import Mixture, MixtureUncertainty, side_by_side
from ..bayes.models import Model, typical_models, visible_width
from ..bayes.planning import importance_of, plan_distances, plan_stages
from ..bayes.readers import CellReader, ExactRecords, RecordsInFloats
from ..bayes.reading import Difference, difference
from ..bayes.settings import ONE_PLAN, BayesSettings, reading_for
from ..bayes.stages import PlannedStage, Public, replayed, rescaled
from ..gp.uncertainty import Of
from ..kernels import AcrossLevels, LevelAndCurve
from ..levels import check_codes, groups_of, number_sides
from ..linalg import check_columns
from ..measurement.fit import Fit
from ..measurement.measurement import CellCounts
from ..measurement.noise import Silence
from ..measurement.statistics import CellStatistics, Statistics
from ..strategies.strategy import Strategy
from ..table import Dataset, Kind
from .base import ANY_ROWS, Draws, Hidden, Mechanism, Release, TeachingRelease

PLANNED_WITHOUT = 1e-4  # of the prior variance, left out where strategies are planned: far below every noise
LOOSER, LOOSEST = 30, 0.3  # gap of strategies over cells, planned anew for each draw: times ``gap``; at most


@dataclass(frozen=True, kw_only=True, eq=False)
class BayesPlan:
    """All measurements, as far as they can be planned before any private value is read. Public.

    Attributes:
        public: the public part of the table.
        stages: strategy and noise multiplier of each; over cells, strategies are planned from released numbers.
        distances: strategy of the distances to the curve (r, n); None where that is planned on the way, or there is
            nothing to measure.
        cells: the mixture on public cells, whose columns records share; None where every record has its own.
        counts: of cells, where inputs are public; None where they are measured, each cell by itself.
        people: of cells, whether people may have several rows; the number of records is then theirs.
    """

    models: tuple[Model, ...]
    public: Public
    stages: tuple[PlannedStage, ...]
    distances: Strategy | None = None
    cells: CellFilter | None = None
    counts: Counts | None = None
    people: bool = False

    @property
    def gap(self) -> float:
        """Largest certified gap of any stage's strategy, as a share of its cost of privacy."""
        return max(stage.planned.gap for stage in self.stages)

    @property
    def avoidable(self) -> float:
        """Largest certified share of any stage's whole expected squared error that a better strategy might avoid."""
        return max(stage.planned.avoidable for stage in self.stages)


@dataclass(frozen=True, kw_only=True, eq=False)
class BayesRelease(Release):
    """Measurements, and the mixture's predictions at P test inputs. All of it may be published.

    Attributes:
        measured: of all draws side by side; over cells, of each draw. In model units.
        statistics: of each draw, for files and refits; empty for teaching draws.
    """

    uncertainty: MixtureUncertainty
    measured: tuple[Measured, ...]
    models: tuple[Model, ...] = ()

    def difference(self, first: str, second: str, X: FloatArray, *, of: str | None = None) -> Difference:
        """The curve of one group less that of another, with intervals: see ``bayes.reading``. Spends nothing.

        Args:
            first: a level of an input that is a category.
            second: another.
            X: points (P, D); their column of that category is not read.
            of: name of the category; None where there is one.

        Raises:
            ValueError: these are numbered draws, of which nothing is kept, or there are no such groups.
        """
        if not self.statistics:
            raise ValueError("numbered draws keep no statistic to read again; make a real release, without rng")
        return difference(self.statistics[0], first, second, X, of=of, models=self.models)

    def quantile(self, probability: float, of: Of = "outputs") -> FloatArray:
        """Values (draws, P) that one further output, or f, stays below with that probability, in the output's unit.

        Args:
            probability: in (0, 1): .03, .5 and .97 are the outer centiles and the median of a growth chart.
            of: as for ``interval``.

        Raises:
            ValueError: an argument is out of range.
        """
        if not 0 < probability < 1:
            raise ValueError(f"probability must lie between 0 and 1, got {probability}; for example 0.5")
        return self.uncertainty.quantile(probability, of)

    @property
    def fit(self) -> Fit:
        """Fit of the released numbers to the models: of several draws, the one that fits worst. Public."""
        return max(self.uncertainty.prediction.fit, key=lambda each: (each.widened, each.ratio))

    @property
    def detail(self) -> str:
        """How fine a curve this release can show, of its first draw, in a sentence; "" for declared kernels. Public."""
        prediction = self.uncertainty.prediction
        kernel = self.models[0].kernel if self.models else None
        of_numbers = kernel.inner if isinstance(kernel, AcrossLevels) else kernel
        if not isinstance(of_numbers, LevelAndCurve):
            return ""
        width = visible_width(self.models, prediction.variances[0], prediction.weights[0])
        if width is None:
            return "It tells the level of the curve, and little of its shape."
        if width == 1.0:
            return "It tells the curve's level and slope. A bump narrower than the whole range might not show."
        return f"A bump narrower than 1/{round(1 / width)} of the range might not show."

    @property
    def scatter(self) -> FloatArray:
        """Standard deviation of people about the curve (draws, P), in the output's unit. Public.

        Raises:
            ValueError: the release holds none.
        """
        return self.uncertainty.scatter

    @property
    def model_weights(self) -> FloatArray:
        """Probability of each model given the release (draws, models)."""
        return self.uncertainty.prediction.weights


@dataclass(frozen=True, kw_only=True, eq=False)
class TeachingBayesRelease(BayesRelease, TeachingRelease):
    """Numbered draws; ``mean`` is the prediction of the same stages without noise. Not private."""


@dataclass(frozen=True, kw_only=True)
class BayesCloaking(BayesSettings, Mechanism):
    """Release r noisy sums of clipped outputs, chosen so that the curve predicted from them is best.

    The curve is the mean of outputs clipped to the bounds. Intervals assume a bias of narrower clips, see
    ``bayes.stages``, and a curve about as smooth as one of the models.

    How people scatter about the curve, and so the range for one more of them, is measured too (see ``bayes.spread``);
    for outcomes declared yes or no it follows from the curve.

    Stage i measures B_i q + s_i w, q_j in [-1/2, 1/2] being y_j scaled to a public interval: the whole range at first,
    later one around the curve that earlier stages predict, as wide as promises least risk. Columns of B_i have norm
    <= 1, so with sum 1 / s_i^2 = 1 / s^2 all stages together are (1 / s)-GDP (see ``bayes.engine``); a tenth of
    each goes to a sum of squares (see ``bayes.scatter``). Predictions average Gaussian process models by their evidence
    and by the squares; anything computed from the measurements is free.

    Where inputs are private too (``protects="inputs and outputs"``), a share of 1 / s^2 goes to noisy counts of the
    records in public cells, for many people another to where in their cells they stand, and the stages measure sums
    over the records of each cell (see ``bayes.filter_cells``). Nothing is planned from inputs then but their number,
    and test points do not enter. Very many records with public inputs share the columns of their cells.

    Where a data set says whose row each is (``Dataset.person``), everybody counts once, and all rows of one person are
    hidden together at the price of one (see ``measurement.measurement``).

    Args and errors: see ``BayesSettings``.
    """

    label: ClassVar[str] = "Bayes cloaking"
    one_plan: ClassVar[bool] = False
    max_rows: ClassVar[int] = ANY_ROWS  # those of one cell share a column, see ``bayes.filter_cells``
    many_inputs: ClassVar[int] = 3
    automatic: ClassVar[bool] = True
    scatter: ClassVar[bool] = True
    levels: ClassVar[bool] = True
    people: ClassVar[bool] = True
    taught: ClassVar[type[TeachingRelease]] = TeachingBayesRelease
    reference: ClassVar[str] = "this project; composition by Dong, Roth & Su 2022"

    def plan(
        self,
        X: FloatArray,
        X_test: FloatArray,
        *,
        x_box: Sequence[tuple[float, float]],
        half_range: float,
        kind: Kind = "number",
    ) -> BayesPlan:
        """Public plan of each stage. Seconds; everything else is milliseconds.

        Raises:
            ValueError: shapes disagree, ``weights`` does not fit X_test, or inputs are private.
        """
        if self._inputs_too:
            raise ValueError("plan() reads inputs, which are private here; use plan_for(), which reads their number")
        check_columns(X, X_test)
        check_codes(X, x_box)
        check_codes(X_test, x_box)
        if self.binned:
            raise ValueError("plan() gives every record a column of its own; use plan_for(), which gives cells one")
        models, shares = self.models(x_box, half_range, reading_for(kind)), self.shares(kind)
        public = Public(tuple(x_box), half_range, kind)
        typical = record_filter(typical_models(models), X, X_test, public=public, tolerance=PLANNED_WITHOUT)
        stages = plan_stages(
            typical,
            self.multipliers(kind, len(X)),
            clip=self.clip,
            importance=importance_of(self.weights, len(X_test)),
            gap=self.gap,
        )
        return BayesPlan(
            models=models,
            public=public,
            stages=stages,
            distances=None if shares.distances is None else plan_distances(typical, shares.distances),
        )

    def release(
        self, dataset: Dataset, X_test: FloatArray, rng: np.random.Generator | None = None, draws: int = 1
    ) -> BayesRelease:
        """See ``Mechanism``."""
        return self.measure(self.plan_for(dataset, X_test), dataset, X_test, rng, draws)

    def for_many_draws(self, n: int) -> Self:
        """See ``Mechanism``: up to 400 records, over records."""
        one_plan = self.binned is None and not self._inputs_too and n <= ONE_PLAN
        return replace(self, binned=False) if one_plan else self

    def plan_for(self, dataset: Dataset, X_test: FloatArray) -> BayesPlan:
        """The plan for the public part of a data set; nothing private is read."""
        public = Public(dataset.x_box, dataset.half_range, dataset.y_kind)
        if self._over_cells(dataset):
            return self._plan_cells(dataset, public)
        return self.plan(dataset.X, X_test, **public._asdict())

    def _plan_cells(self, dataset: Dataset, public: Public) -> BayesPlan:
        """Public plan over cells: their models, and the counts where inputs are public.

        Where inputs are private, the number of people is all that is read.
        """
        n, (x_box, half_range, kind) = dataset.people, public
        grid = cells_of(x_box, n, self.noise_multiplier, self.waves, public=not self._inputs_too)
        gap = max(self.gap, min(LOOSER * self.gap, LOOSEST))
        counts = None
        if not self._inputs_too:
            check_columns(np.empty((1, len(x_box))), dataset.X)
            grid = occupied(finer_where_used(grid, dataset.X), dataset.X, dataset.person)
            counts = public_counts(grid, dataset.X, dataset.person)
        models, two_valued = self.models(x_box, half_range, reading_for(kind), n), kind == "yes/no"
        return BayesPlan(
            models=models,
            public=public,
            stages=tuple(PlannedStage(strategy=None, noise_multiplier=s) for s in self.multipliers(kind, n)),
            cells=cell_filter(models, grid, n, half_range, clip=self.clip, gap=gap, two_valued=two_valued),
            counts=counts,
            people=dataset.person is not None,
        )

    def measure(
        self,
        plan: BayesPlan,
        dataset: Dataset,
        X_test: FloatArray,
        rng: np.random.Generator | None = None,
        draws: int = 1,
        *,
        mean: bool = True,
    ) -> BayesRelease:
        """See ``Mechanism``. At another budget, s_i are rescaled; over cells, later stages are planned on the way."""
        released = super().measure(plan, dataset, X_test, rng, draws, mean=mean)
        assert isinstance(released, BayesRelease)
        return released

    def drawn(self, plan: BayesPlan, dataset: Dataset, X_test: FloatArray, draws: Draws) -> tuple[BayesRelease, Hidden]:
        """See ``Mechanism``: as many draws side by side as fit."""
        if other := self._mismatch(plan, dataset):
            raise ValueError(f"the plan is for {other}; make it by plan_for() with these")
        check_columns(np.empty((1, len(plan.public.x_box))), X_test)
        check_codes(X_test, dataset.x_box, dataset.x_names)
        filtered: RecordFilter | CellFilter
        if plan.cells is None:
            filtered = record_filter(plan.models, dataset.X, X_test, public=plan.public)
        else:
            filtered = plan.cells.at(X_test)
        (count, rng, promise), batch = draws, 1
        if rng is not None:
            batch = filtered.batch_size(sum(stage.planned.rank for stage in plan.stages if stage.strategy))
        parts, predictions, statistics = list[Measured](), list[Mixture](), list[Statistics | CellStatistics]()
        for done in range(0, count, batch):
            some = min(batch, count - done)
            reader = _reader(plan, dataset, rng, some)
            measured, prediction = self.run(plan, filtered, reader, some)
            parts.append(measured)
            predictions.append(prediction)
            if rng is None and not isinstance(reader, RecordsInFloats):
                statistics.append(reader.statistics(measured, self.promise_for(dataset)))
        cut: tuple[Of, ...] = () if plan.cells is None else ("outputs", "function")
        uncertainty = MixtureUncertainty(outcome=dataset.outcome, prediction=side_by_side(predictions), cut=cut)
        release = BayesRelease(
            X_test=X_test,
            samples=uncertainty.values,
            guarantee=promise,
            statistics=tuple(statistics),
            uncertainty=uncertainty,
            measured=(together(parts),) if plan.cells is None else tuple(parts),
            models=plan.models,
        )

        def hidden() -> FloatArray:
            silent = self.run(plan, filtered, _reader(plan, dataset, Silence(), 1), 1, like=parts[0])[1]
            return np.asarray(replace(uncertainty, prediction=silent).values[0])

        return release, hidden

    def run(
        self,
        plan: BayesPlan,
        filtered: RecordFilter | CellFilter,
        reader: Reader,
        draws: int,
        like: Measured | None = None,
    ) -> tuple[Measured, Mixture]:
        """All measurements of one budget, of draws side by side, and their prediction.

        Args:
            filtered: the mixture on records or cells, and at the test inputs.
            reader: the only part that reads records.
            draws: how many; one over cells.
            like: another draw over cells, whose strategies are taken instead of planning anew.
        """
        kind = plan.public.kind
        shares, stages = self.shares(kind), rescaled(plan.stages, self.curve_multiplier(kind, filtered.n))
        B = None if plan.distances is None else plan.distances.B
        counts: CellCounts | Counts | None = None
        z, positions = NOTHING, None
        if isinstance(filtered, CellFilter):
            counts = plan.counts
            if counts is None:
                noise = self.counts_multiplier(kind, filtered.n)
                counts = CellCounts(B=np.eye(filtered.grid.size), noise_multiplier=noise, people=plan.people)
                z = reader.counts(counts)
            if self._inputs_too and (s := self.positions_multiplier(kind, filtered.n)) < math.inf:
                positions = reader.positions(Positions(s * len(filtered.grid.numbers) ** 0.5))
            filtered = filtered.with_counts(counts, z, positions)
            if like is not None:
                pairs = zip(stages, like.stages, strict=True)
                stages = tuple(replayed(stage, draw.B, draw.width) for stage, draw in pairs)
                B = None if like.distances is None else like.distances.B
        observations, posterior = run_stages(filtered, stages, reader, draws)
        distances = None if shares.distances is None else measure_distances(filtered, posterior, shares, reader, B)
        prediction = filtered.with_people(filtered.predict(posterior), distances)
        return Measured(observations, distances, counts, z, positions), prediction

    def _over_cells(self, dataset: Dataset, *, planned: bool | None = None) -> bool:
        """Whether records share the columns of cells: if inputs are private, if many, or if people have several.

        Where all that is free, as a plan that exists has it (``planned``).
        """
        if self._inputs_too:
            return True
        if dataset.person is None:
            if planned is not None and self.binned is None and self.weights is None:
                return planned
            return self.shares_columns(dataset.n, len(number_sides(dataset.x_box)))
        if self.binned is False or self.weights is not None:
            raise ValueError(
                "people have several rows here, which share columns over cells: leave weights and binned out"
            )
        return True

    def _mismatch(self, plan: BayesPlan, dataset: Dataset) -> str:
        """The first difference of a plan from these records or this protection; "" for none."""
        inputs_public, cells = plan.counts is not None, plan.cells
        over_cells = self._over_cells(dataset, planned=cells is not None)
        if (cells is not None) != over_cells or (over_cells and inputs_public == self._inputs_too):
            return f"other settings than protects={self.protects!r}, binned={self.binned}"
        x_box, half_range, kind = plan.public
        if kind != dataset.y_kind:
            return f"outcomes declared {kind}, not {dataset.y_kind}"
        if not math.isclose(half_range, dataset.half_range, rel_tol=1e-9):
            return "other bounds, or another scale"
        if cells is None:
            return ""
        same = dataset.x_box == cells.grid.box and groups_of(dataset.x_box) == groups_of(x_box)
        if dataset.people != cells.n or not same:
            return "another number of records or another box"
        if plan.people != (dataset.person is not None):
            return f"people who {'have' if plan.people else 'have not'} several rows"
        if plan.counts is None:
            return ""
        assert isinstance(cells.grid, OccupiedGrid)
        found = occupied(cells.grid, dataset.X, dataset.person)
        return "" if np.array_equal(cells.grid.places, found.places) else "other records"


def _reader(
    plan: BayesPlan, dataset: Dataset, rng: np.random.Generator | None, draws: int
) -> ExactRecords | RecordsInFloats | CellReader:
    """Of so many numbered draws; for real where there is no generator."""
    if plan.cells is not None:
        return CellReader(dataset, plan.cells.grid, rng)
    if rng is None:
        return ExactRecords(dataset)
    return RecordsInFloats(dataset.standardised(), lambda rows: rng.standard_normal((draws, rows)))
