"""The public plan of Bayes cloaking, and what it releases."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import FloatArray
from ..bayes.bias import Public
from ..bayes.cells.stages import CellReleased
from ..bayes.difference import Difference, difference
from ..bayes.intervals import Mixture
from ..bayes.models import Model, seen_width, weights_of
from ..bayes.plan import PlannedStages
from ..bayes.records.stages import Observed
from ..bayes.spread import Distances
from ..data import Dataset, Kind
from ..gp.uncertainty import Of
from ..kernels import AcrossLevels, Kernel, LevelAndCurve
from ..measurement.fit import Fit
from ..strategies.strategy import Strategy
from .base import NotPrivate, Release, TeachingRelease


@dataclass(frozen=True, kw_only=True, eq=False)
class BayesPlan(PlannedStages):
    """What will be measured. Public: it depends on inputs, models, budget and range, not on any output.

    Attributes:
        models: the mixture, in model units.
        half_range: half the public range of the outputs, in model units.
        x_box: D public (low, high) pairs.
        kind: of the outcome.
        distances: strategy of the distances to the curve (r, n); None where there is nothing to measure.
    """

    models: tuple[Model, ...]
    half_range: float
    x_box: tuple[tuple[float, float], ...]
    kind: Kind = "number"
    distances: Strategy | None = None

    @property
    def public(self) -> Public:
        """What a reading needs to know of the table."""
        return Public(self.x_box, self.half_range, self.kind)

    @property
    def prior_weights(self) -> FloatArray:
        """Of the models, sum 1 (M,)."""
        return weights_of(self.models)


@dataclass(frozen=True, kw_only=True, eq=False)
class MixtureUncertainty:
    """Quantiles of the mixture of models, privacy noise and clipping included.

    Attributes:
        prediction: the mixture's, of D draws, in model units.
        bounds: public (low, high) of the output.
        midpoint: public centre of the output.
        y_scale: unit of the model, in the output's unit.
        cut: the kinds of interval that are cut to the bounds. Where a curve leaves them, outputs stand at the bound and
            say nothing of how far it is beyond; a cut interval holds the curve cut to the bounds.
        two_valued: whether outputs are at one bound or the other, as yes and no are.
    """

    prediction: Mixture
    bounds: tuple[float, float]
    midpoint: float
    y_scale: float
    cut: tuple[Of, ...] = ()
    two_valued: bool = False

    @property
    def values(self) -> FloatArray:
        """Posterior mean of each draw (draws, P), clipped to the bounds, in the output's unit."""
        return np.clip(self._in_unit(self.prediction.mean), *self.bounds)

    def interval(self, level: float, of: Of) -> tuple[FloatArray, FloatArray]:
        """See ``Uncertainty``; kinds in ``cut`` are cut to the bounds, others may pass them as outputs may."""
        return self.quantile((1 - level) / 2, of), self.quantile((1 + level) / 2, of)

    def quantile(self, probability: float, of: Of = "outputs") -> FloatArray:
        """Value (draws, P) that one more output, or f, stays below with that probability, in the output's unit."""
        if self.two_valued and of == "outputs":
            low, high = self.bounds
            return np.where((high - self.values) / (high - low) >= probability, low, high)
        quantiles = self._in_unit(self.prediction.quantile(probability, of))
        return np.clip(quantiles, *self.bounds) if of in self.cut else quantiles

    @property
    def scatter(self) -> FloatArray:
        """Standard deviation of people about the curve (draws, P), in the output's unit.

        Raises:
            ValueError: the release holds no scatter: it was made before that was measured.
        """
        if self.prediction.people is None:
            raise ValueError("the release holds no scatter: it was made before that was measured; publish again")
        return self.y_scale * np.sqrt(self.prediction.people.variance)

    def _in_unit(self, values: FloatArray) -> FloatArray:
        return self.midpoint + self.y_scale * values


@dataclass(frozen=True, kw_only=True, eq=False)
class BayesRelease(Release):
    """What was measured, and the mixture's predictions at P test inputs. All of it may be published.

    Attributes:
        uncertainty: the mixture.
        observed: the stages of every draw, in model units; none where inputs are private too.
        distances: of every draw to its curve; None where they are not measured, or inputs are private too.
        cells: counts and sums of each draw, where inputs are private too.
        statistics: of each draw, for files and refits; empty for teaching draws.
        models: the mixture that was read with.
    """

    uncertainty: MixtureUncertainty
    observed: tuple[Observed, ...]
    distances: Distances | None = None
    cells: tuple[CellReleased, ...] = ()
    models: tuple[Model, ...] = ()

    def difference(self, first: str, second: str, X: FloatArray, *, of: str | None = None) -> Difference:
        """The curve of one group less that of another, with intervals: see ``bayes.difference``. Spends nothing.

        Args:
            first: a level of an input that is a category.
            second: another.
            X: places (P, D); their column of that category is not read.
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
        """How what was released fits the models that read it: of several draws, the one that fits worst. Public."""
        return max(self.uncertainty.prediction.fit, key=lambda each: (each.widened, each.ratio))

    @property
    def detail(self) -> str:
        """How fine a curve this release can show, of its first draw, in a sentence; "" for declared kernels. Public."""
        prediction = self.uncertainty.prediction
        if not self.models or not isinstance(_inner(self.models[0]), LevelAndCurve):
            return ""
        width = seen_width(self.models, prediction.variances[0], prediction.weights[0])
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
        """Probability of each model given what was measured (draws, models)."""
        return self.uncertainty.prediction.weights


@dataclass(frozen=True, kw_only=True, eq=False)
class TeachingBayesRelease(BayesRelease, TeachingRelease):
    """Numbered draws; ``mean`` is what the same stages predict when they measure without noise. Not private."""


def _inner(model: Model) -> Kernel:
    """The kernel of the inputs that are numbers."""
    return model.kernel.inner if isinstance(model.kernel, AcrossLevels) else model.kernel


def uncertainty_of(dataset: Dataset, prediction: Mixture, cut: tuple[Of, ...] = ()) -> MixtureUncertainty:
    """The mixture in the output's unit.

    Args:
        dataset: for bounds, scale and kind of the output.
        prediction: in model units.
        cut: see ``MixtureUncertainty``.
    """
    return MixtureUncertainty(
        prediction=prediction,
        bounds=dataset.y_bounds,
        midpoint=dataset.midpoint,
        y_scale=dataset.y_scale,
        cut=cut,
        two_valued=dataset.y_kind == "yes/no",
    )


def taught(release: BayesRelease, silent: Mixture | None = None) -> BayesRelease:
    """Numbered draws, whose card says that they are no release; beside what they hide, where that is given.

    Args:
        release: of numbered draws.
        silent: what the same stages predict when they measure without noise. Not private.
    """
    card = release.guarantee.taught()
    if silent is None:
        return replace(release, guarantee=card)
    mean = NotPrivate(replace(release.uncertainty, prediction=silent).values[0])
    return TeachingBayesRelease(**{**vars(release), "guarantee": card, "mean": mean})
