"""Bayes cloaking: measure noisy sums in stages, each planned from the earlier ones, and average GP models over them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..arrays import FloatArray
from ..bayes.cells import LocatedGrid, cells_of, finer_where_used, located_grid
from ..bayes.clusters import Bins, Clusters, clusters_of, uses_clusters
from ..bayes.counts import RecordCounts, public_counts
from ..bayes.curator import Curator
from ..bayes.engine import run
from ..bayes.filter import Filter, filter_of
from ..bayes.mixture import MixtureUncertainty, stack_draws
from ..bayes.model import Model, visible_width
from ..bayes.queries import Measured
from ..bayes.refit import Difference, difference
from ..bayes.settings import BayesSettings, outcome_model_for
from ..bayes.tuning import TUNING
from ..checks import check_share
from ..gp.uncertainty import IntervalTarget
from ..kernels import AcrossGroups, LevelAndCurve
from ..levels import check_codes, groups_of
from ..linalg import check_columns
from ..measurement.fit import Fit
from ..measurement.noise import ZeroNoise
from ..measurement.statistics import CellStatistics
from ..table import Dataset, Kind
from .base import ANY_ROWS, Draws, Mechanism, NoiselessCurve, Release, TeachingRelease


@dataclass(frozen=True, kw_only=True, eq=False)
class BayesPlan:
    """Everything that can be planned before private values are read. It is public.

    Attributes:
        kind: kind of the outcome.
        filtered: filter of the mixture on public bins, from which every stage is planned during the measurement.
        counts: number of records in each bin if inputs are public; None if counts are measured.
        people: whether every person counts once. The number of records is then that of people.
    """

    models: tuple[Model, ...]
    kind: Kind
    filtered: Filter
    counts: RecordCounts | None = None
    people: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class BayesRelease(Release):
    """Measurements of Bayes cloaking and predictions of the mixture at P test inputs. All of it may be published.

    Attributes:
        measured: measurements of each release, in model units.
        statistics: measurements of each release as they are written to files.
    """

    uncertainty: MixtureUncertainty
    measured: tuple[Measured, ...]
    models: tuple[Model, ...] = ()

    def difference(self, first: str, second: str, X: FloatArray, *, of: str | None = None) -> Difference:
        """Return the difference between the curves of two groups, with intervals. This is post-processing.

        See ``bayes.refit`` for details.

        Args:
            first: a category of a categorical input.
            second: the category whose curve is subtracted.
            X: test inputs (P, D). Their column of this categorical input is ignored.
            of: name of the categorical input; None if there is only one.

        Raises:
            ValueError: there are no such groups.
        """
        return difference(self.statistics[0], first, second, X, of=of, models=self.models)

    def quantile(self, probability: float, of: IntervalTarget = "outputs") -> FloatArray:
        """Return quantiles (draws, P) of one further output, or of f, in the unit of the output.

        Args:
            probability: in (0, 1). For example, 0.03, 0.5 and 0.97 give the outer centiles and the median of a growth
                chart.
            of: "outputs" for one further record, or "function" for the latent f.

        Raises:
            ValueError: an argument is out of range.
        """
        check_share("probability", probability)
        return self.uncertainty.quantile(probability, of)

    @property
    def fit(self) -> Fit:
        """Test of whether the released numbers fit the models; that of the worst fit if there are several releases."""
        return max(self.uncertainty.prediction.fit, key=lambda each: (each.widened, bool(each.near), each.ratio))

    @property
    def detail(self) -> str:
        """Sentence about how narrow features of the curve may be to be visible in the (first) release.

        It is "" if the kernel was declared. It is public.
        """
        prediction = self.uncertainty.prediction
        kernel = self.models[0].kernel if self.models else None
        of_numbers = kernel.inner if isinstance(kernel, AcrossGroups) else kernel
        if not isinstance(of_numbers, LevelAndCurve):
            return ""
        width = visible_width(self.models, prediction.variances[0], prediction.weights[0])
        if width is None:
            return "It shows the mean level of the curve, and little of its shape."
        if width == 1.0:
            return "It shows the mean level and slope of the curve. Narrower features may be smoothed away."
        return f"Features narrower than 1/{round(1 / width)} of the range may be smoothed away."

    @property
    def unseen_outliers(self) -> float:
        """Largest distance by which undetected outliers could move the curve, in the unit of the output. It is public.

        Outliers are undetected if the noise is larger than their effect on the measurements. Their share is at most
        this distance divided by the width of the bounds. The result is 0 if the intervals of the curve are wider on
        average, or if the models include outliers anyway.
        """
        outcome, prediction = self.uncertainty.outcome, self.uncertainty.prediction
        shift = prediction.unseen * (outcome.bounds[1] - outcome.bounds[0])
        low, high = self.interval(0.95, "function")
        return 0.0 if shift <= float((high - low).mean()) / 2 else shift

    @property
    def residual_sd(self) -> FloatArray:
        """Residual standard deviation of outputs about the curve (draws, P), in the unit of the output. It is public.

        Raises:
            ValueError: the release contains no estimate of it.
        """
        return self.uncertainty.residual_sd

    @property
    def model_weights(self) -> FloatArray:
        """Posterior probability of each model (draws, models)."""
        return self.uncertainty.prediction.weights


@dataclass(frozen=True, kw_only=True, eq=False)
class TeachingBayesRelease(BayesRelease, TeachingRelease):
    """Simulated releases of Bayes cloaking; ``mean`` is the curve from the same stages without noise, not private."""


@dataclass(frozen=True, kw_only=True)
class BayesCloaking(BayesSettings, Mechanism):
    """Release noisy sums of clipped outputs, with strategies chosen to minimise the expected error of the curve.

    The curve is the mean of outcomes clipped to the bounds. Each stage measures noisy sums of outcomes that are clipped
    to public intervals. In the first stage the interval is the whole range of the bounds. In later stages it surrounds
    the curve estimated from the stages before, and its width nearly minimises the expected error. Columns of the
    strategies have norm <= 1 and the shares of the budget add up to 1, so all measurements together are (1 / s)-GDP
    (see ``bayes.budget``). Predictions average Gaussian process models, weighted by the evidence of the sums and by the
    squared residuals. Everything computed from the measurements is post-processing.

    Records are divided into bins. If inputs are public, the bins are clusters of neighbouring records, or the distinct
    inputs if these are few. If inputs are private (``protects="inputs and outputs"``), they are cells of the box.
    A part of the budget is then spent on noisy counts of the records in the cells and, if n is large, on their
    locations within the cells. Plans use the number of records but no private inputs, and do not depend on test inputs.

    Intervals account for the bias of narrow clipping intervals, see ``bayes.clipping``. They assume that the curve is
    about as smooth as one of the models. The local dispersion of outcomes is measured as well, see
    ``bayes.dispersion``. It determines the interval of one further outcome. For yes/no outcomes it follows from the
    curve.

    If a data set identifies persons (``Dataset.person``), every person counts once, and all rows of a person are
    protected together with the noise for a single row (see ``measurement.measurement``).

    Args and errors: see ``BayesSettings``.
    """

    label: ClassVar[str] = "Bayes cloaking"
    one_plan: ClassVar[bool] = False
    max_rows: ClassVar[int] = ANY_ROWS  # the records of a bin share a column of the strategy
    many_inputs: ClassVar[int] = 3
    automatic: ClassVar[bool] = True
    measures_dispersion: ClassVar[bool] = True
    levels: ClassVar[bool] = True
    people: ClassVar[bool] = True
    simulation_type: ClassVar[type[TeachingRelease]] = TeachingBayesRelease
    reference: ClassVar[str] = "this project; composition by Dong, Roth & Su 2022"

    def plan_for(self, dataset: Dataset, X_test: FloatArray) -> BayesPlan:
        """Return the plan for the public part of a data set. X_test is not used.

        If inputs are private, only their number is used.

        Raises:
            ValueError: there are more than three private inputs, periods included, or public inputs do not match their
                declaration.
        """
        n, half_range, kind = dataset.people, dataset.half_range, dataset.y_kind
        models = self.models(dataset.x_box, half_range, outcome_model_for(kind), n)
        bins, counts = self.bins_for(dataset), None
        if not self._inputs_too:
            counts = public_counts(bins, dataset.X, dataset.person)
        gap = max(self.gap, min(TUNING.looser * self.gap, TUNING.loosest))
        return BayesPlan(
            models=models,
            kind=kind,
            filtered=filter_of(models, bins, n, half_range, clip=self.clip, gap=gap, is_binary=kind == "yes/no"),
            counts=counts,
            people=dataset.person is not None,
        )

    def bins_for(self, dataset: Dataset) -> Bins:
        """Return the public bins: cells of the box if inputs are private, else cells or clusters of the inputs."""
        box, n, public = dataset.x_box, dataset.people, not self._inputs_too
        if public:
            check_columns(np.empty((1, len(box))), dataset.X)
            check_codes(dataset.X, box)
            if uses_clusters(box, dataset.X, self.checked_periods):
                return clusters_of(box, dataset.X, self.checked_periods, dataset.person)
        grid = cells_of(box, n, self.noise_multiplier, self.checked_periods, public=public)
        return located_grid(finer_where_used(grid, dataset.X), dataset.X, dataset.person) if public else grid

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
        """See ``Mechanism``. Each stage is planned during the measurement, for the budget of this mechanism."""
        released = super().measure(plan, dataset, X_test, rng, draws, mean=mean)
        assert isinstance(released, BayesRelease)
        return released

    def release(
        self, dataset: Dataset, X_test: FloatArray, rng: np.random.Generator | None = None, draws: int = 1
    ) -> BayesRelease:
        """See ``Mechanism``."""
        return self.measure(self.plan_for(dataset, X_test), dataset, X_test, rng, draws)

    def drawn(
        self, plan: BayesPlan, dataset: Dataset, X_test: FloatArray, draws: Draws
    ) -> tuple[BayesRelease, NoiselessCurve]:
        """See ``Mechanism``."""
        if other := self._mismatch(plan, dataset):
            raise ValueError(f"the plan is for {other}; make it by plan_for() with these")
        check_columns(np.empty((1, dataset.dim)), X_test)
        check_codes(X_test, dataset.x_box, dataset.x_names)
        filtered, (count, rng, guarantee) = plan.filtered, draws
        split = self.split(plan.kind, filtered.n)
        measured, predictions, statistics = list[Measured](), [], list[CellStatistics]()
        of_one = self.guarantee_for(dataset) if rng is None else self.guarantee_for(dataset).for_simulation()
        for _ in range(count):
            curator = Curator(dataset, filtered.bins, rng)
            found, prediction = run(filtered, split, curator, plan.counts, X_test, people=plan.people)
            measured.append(found)
            predictions.append(prediction)
            statistics.append(curator.statistics(found, of_one))
        uncertainty = MixtureUncertainty(outcome=dataset.outcome, prediction=stack_draws(predictions))
        release = BayesRelease(
            X_test=X_test,
            samples=uncertainty.values,
            guarantee=guarantee,
            statistics=tuple(statistics),
            uncertainty=uncertainty,
            measured=tuple(measured),
            models=plan.models,
        )

        def hidden() -> FloatArray:
            silent = Curator(dataset, filtered.bins, ZeroNoise())
            _, prediction = run(filtered, split, silent, plan.counts, X_test, people=plan.people, like=measured[0])
            return np.asarray(replace(uncertainty, prediction=prediction).values[0])

        return release, hidden

    def _mismatch(self, plan: BayesPlan, dataset: Dataset) -> str:
        """Say what the plan was made for if it does not fit this data set or mechanism; "" if it does."""
        bins, half_range = plan.filtered.bins, plan.filtered.half_range
        if (plan.counts is not None) == self._inputs_too:
            return f"other settings than protects={self.protects!r}"
        if plan.kind != dataset.y_kind:
            return f"outcomes declared {plan.kind}, not {dataset.y_kind}"
        if not math.isclose(half_range, dataset.half_range, rel_tol=1e-9):
            return "other bounds, or another scale"
        same = dataset.x_box == bins.box and groups_of(dataset.x_box) == groups_of(bins.box)
        if dataset.people != plan.filtered.n or not same:
            return "another number of records or another box"
        if plan.people != (dataset.person is not None):
            return f"people who {'have' if plan.people else 'have not'} several rows"
        if plan.counts is None:
            return ""
        if isinstance(bins, Clusters):
            found = bins.filled(dataset.X, dataset.person).node_sums
            return "" if np.array_equal(bins.node_sums, found) else "other records"
        assert isinstance(bins, LocatedGrid)
        found = located_grid(bins, dataset.X, dataset.person).node_sums
        return "" if np.array_equal(bins.node_sums, found) else "other records"
