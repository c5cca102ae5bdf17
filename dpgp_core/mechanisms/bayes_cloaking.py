"""Bayes cloaking: measure what the prior cannot know, in stages, and predict from the noisy numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import FloatArray
from ..bayes.bias import Public
from ..bayes.cells.counts import Counts
from ..bayes.models import typical_models, weights_of
from ..bayes.plan import rescaled
from ..bayes.records.measuring import Setting, measure_exactly, measure_for_teaching, measure_silently
from ..bayes.records.places import places_of
from ..bayes.records.planning import importance_of, plan_stages
from ..bayes.records.spread import plan_spread, with_people
from ..bayes.refit import read
from ..bayes.settings import BayesSettings, reading_for
from ..bayes.spread import PlannedDistances
from ..data import Dataset, Kind
from ..gp.exact import check_columns
from ..levels import check_codes, number_sides
from ..measurement.statistics import CellStatistics, Statistics
from .bayes_cells import AnyBayesPlan, CellPlan, measure_cells, plan_cells
from .bayes_release import BayesPlan, BayesRelease, taught, uncertainty_of

PLANNED_WITHOUT = 1e-4  # of the prior variance, left out of what strategies are planned with: far below every noise


@dataclass(frozen=True, kw_only=True)
class BayesCloaking(BayesSettings):
    """Release r noisy sums of clipped outputs, chosen so that the curve predicted from them is best.

    The curve is the mean of outputs clipped to the bounds. Intervals assume a bias of narrower clips as ``bayes.bias``
    has it, and a curve about as smooth as one of the models.

    How people scatter about the curve, and so the range for one more of them, is measured too (see ``bayes.spread``);
    for outcomes declared yes or no it follows from the curve.

    Stage i measures B_i q + s_i w, q_j in [-1/2, 1/2] the place of y_j in a public interval: the whole range at first,
    later one around the curve that earlier stages predict, as wide as promises least risk. Columns of B_i have norm
    <= 1, so with sum 1 / s_i^2 = 1 / s^2 all stages together are (1 / s)-GDP (see ``bayes.records.stages``); a tenth of
    each goes to a sum of squares (see ``bayes.scatter``). Predictions average Gaussian process models by their evidence
    and by the squares; anything computed from the measurements is free.

    Where inputs are private too (``protects="inputs and outputs"``), a share of 1 / s^2 goes to noisy counts of the
    records in public cells, and the stages measure sums over the records of each cell (see ``bayes.cells.stages``).
    Nothing is planned from inputs then but their number, and test points do not enter. Very many records with public
    inputs share the columns of their cells (see ``bayes.cells.binned``).

    Where a data set says whose row each is (``Dataset.person``), everybody counts once, and all rows of one person are
    hidden together at the price of one (see ``measurement.measurement``).

    Args and errors: see ``BayesSettings``.
    """

    label: ClassVar[str] = "Bayes cloaking"
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
        """Public plan: what each stage measures. Seconds; everything else is milliseconds.

        Args:
            X: inputs (n, D).
            X_test: test inputs (P, D).
            x_box: D public (low, high) pairs.
            half_range: half the public range of the outputs, in model units.
            kind: of the outcome.

        Raises:
            ValueError: shapes disagree, ``weights`` does not fit X_test, or inputs are private.
        """
        if self._inputs_too:
            raise ValueError("plan() reads inputs, which are private here; use plan_for(), which reads their number")
        check_columns(X, X_test)
        check_codes(X, x_box)
        check_codes(X_test, x_box)
        if self.shares_columns(len(X), len(number_sides(x_box))):
            raise ValueError("plan() gives every record a column of its own; use plan_for(), which gives cells one")
        models, shares = self.models(x_box, half_range, reading_for(kind)), self.shares(kind)
        planned_for = typical_models(models)
        stages = plan_stages(
            places_of(
                planned_for,
                X,
                X_test if self.targets == "test" else np.vstack([X_test, X]),
                public=Public(x_box, half_range, kind),
                tolerance=PLANNED_WITHOUT,
            ),
            weights_of(planned_for),
            half_range,
            self.multipliers(kind),
            clip=self.clip,
            importance=importance_of(self.weights, len(X_test), len(X) if self.targets == "both" else 0),
            gap=self.gap,
        )
        return BayesPlan(
            models=models,
            stages=stages,
            half_range=half_range,
            x_box=tuple(x_box),
            kind=kind,
            distances=None if shares.distances is None else plan_spread(x_box, X, X_test, shares.distances),
        )

    def release(
        self, dataset: Dataset, X_test: FloatArray, rng: np.random.Generator | None = None, draws: int = 1
    ) -> BayesRelease:
        """Plan, measure and predict at X_test (P, D).

        Args:
            dataset: the records.
            X_test: test inputs (P, D).
            rng: None for a real release, measured in integers with noise from the operating system; a generator for
                numbered teaching draws.
            draws: independent draws; more than one composes.

        Raises:
            ValueError: draws < 1, or shapes disagree.
        """
        return self.measure(self.plan_for(dataset, X_test), dataset, X_test, rng, draws)

    def plan_for(self, dataset: Dataset, X_test: FloatArray) -> AnyBayesPlan:
        """``plan`` or ``plan_cells`` with what is public of a data set; nothing private is read."""
        public = Public(dataset.x_box, dataset.output_range / dataset.y_scale / 2, dataset.y_kind)
        if self._inputs_too:
            return plan_cells(self, dataset.people, public, people=dataset.person is not None)
        if self._over_cells(dataset):
            people = dataset.person is not None
            return plan_cells(self, dataset.people, public, people=people, X=dataset.X, person=dataset.person)
        return self.plan(dataset.X, X_test, **public._asdict())

    def measure(
        self,
        plan: AnyBayesPlan,
        dataset: Dataset,
        X_test: FloatArray,
        rng: np.random.Generator | None = None,
        draws: int = 1,
        *,
        mean: bool = True,
    ) -> BayesRelease:
        """Measure as planned: the only step that reads what is private. At another budget, s_i are rescaled.

        Args:
            plan: for these records, range and about this budget. Over cells, later stages are planned on the way.
            dataset: the records.
            X_test: test inputs (P, D), not necessarily as planned.
            rng: as for ``release``.
            draws: as for ``release``.
            mean: whether numbered draws come beside what they hide, which takes one more run of all stages.

        Raises:
            ValueError: draws < 1, shapes disagree, or the plan is for other data or other protection.
        """
        as_asked = isinstance(plan, self._kind_of_plan(dataset))
        if not as_asked or (isinstance(plan, CellPlan) and isinstance(plan.counts, Counts) == self._inputs_too):
            raise ValueError(
                f"the plan is not for protects={self.protects!r}, binned={self.binned}; make it by plan_for()"
            )
        if plan.kind != dataset.y_kind:
            raise ValueError(
                f"the plan is for outcomes declared {plan.kind}, not {dataset.y_kind}; make it by plan_for()"
            )
        if not isinstance(plan, BayesPlan):
            return measure_cells(self, plan, dataset, X_test, rng, draws, mean)
        check_codes(X_test, dataset.x_box, dataset.x_names)
        guarantee = self.promise_for(dataset)
        together = guarantee.repeated(draws)
        setting = self._setting(plan, dataset.X, X_test)
        if rng is None:
            predicted = measure_exactly(setting, dataset, guarantee, draws)
        else:
            predicted = measure_for_teaching(setting, dataset, rng, draws)
        prediction = with_people(predicted.prediction, predicted.distances, plan.public, dataset.X, X_test)
        uncertainty = uncertainty_of(dataset, prediction)
        release = BayesRelease(
            X_test=X_test,
            samples=uncertainty.values,
            guarantee=together,
            statistics=predicted.statistics,
            uncertainty=uncertainty,
            observed=predicted.observed,
            distances=predicted.distances,
            models=plan.models,
        )
        if rng is None:
            return release
        return taught(release, measure_silently(setting, dataset).prediction if mean else None)

    def reread(self, statistics: Statistics | CellStatistics, X_test: FloatArray) -> FloatArray:
        """Values (P,) that a released statistic gives at X_test (P, D), in the output's unit. Spends nothing.

        Args:
            statistics: of a release with these models.
            X_test: test inputs (P, D).
        """
        low, high = statistics.bounds
        half_range = (high - low) / statistics.y_scale / 2
        people = statistics.n if isinstance(statistics, CellStatistics) else None
        models = self.models(statistics.x_box, half_range, statistics.reading, people)
        mean = read(statistics, models).at(X_test).curve.mean[0]
        values: FloatArray = np.clip(statistics.midpoint + statistics.y_scale * mean, low, high)
        return values

    def _kind_of_plan(self, dataset: Dataset) -> type:
        return CellPlan if self._inputs_too or self._over_cells(dataset) else BayesPlan

    def _over_cells(self, dataset: Dataset) -> bool:
        """Whether records with public inputs share the columns of their cells: if many, or if people have several."""
        if dataset.person is None:
            return self.shares_columns(dataset.n, len(number_sides(dataset.x_box)))
        if self.binned is False or self._aimed:
            raise ValueError(
                "people have several rows here, which share columns over cells: leave weights, targets and binned out"
            )
        return True

    def _setting(self, plan: BayesPlan, X: FloatArray, X_test: FloatArray) -> Setting:
        shares = self.shares(plan.kind)
        return Setting(
            planned=rescaled(plan.stages, shares.curve),
            places=places_of(plan.models, X, X_test, public=plan.public),
            prior_weights=plan.prior_weights,
            half_range=plan.half_range,
            distances=None if plan.distances is None else PlannedDistances(plan.distances, shares),
        )
