"""Bayes cloaking: measure what the prior cannot know, in stages, and predict from the noisy numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from ..accounting.gaussian import noise_multiplier
from ..accounting.guarantee import ONE_OUTPUT, Budget, Guarantee, Protects
from ..accounting.losses import GaussianLoss
from ..arrays import FloatArray
from ..bayes.intervals import mixture_of
from ..bayes.measuring import Setting, measure_exactly, measure_for_teaching, measure_silently
from ..bayes.models import Model, models_of, places_of, typical_models, weights_of
from ..bayes.planning import importance_of, plan_stages, rescaled, stage_multipliers
from ..bayes.released import observed_of
from ..bayes.stages import CLIP, posterior
from ..checks import check_positive
from ..data import Dataset
from ..gp.exact import check_columns
from ..kernels import Stationary
from ..measurement.statistics import Statistics
from .base import BEYOND_ONE_RELEASE, FIXED_IN_ADVANCE, TEACHING, NotPrivate
from .bayes_release import BayesPlan, BayesRelease, MixtureUncertainty, TeachingBayesRelease

MOST_STAGES = 10


@dataclass(frozen=True, kw_only=True)
class BayesCloaking:
    """Release r noisy sums of clipped outputs, chosen so that the curve predicted from them is best.

    Stage i measures B_i q + s_i w, q_j in [-1/2, 1/2] the place of y_j in a public interval: the whole range at first,
    later one around the curve that earlier stages predict. Columns of B_i have norm <= 1, so with sum 1 / s_i^2 =
    1 / s^2 all stages together are (1 / s)-GDP (see ``bayes.stages``). Predictions average Gaussian process models by
    their evidence; anything computed from the measurements is free.

    Args:
        epsilon, delta: the budget of one draw.
        protects: "outputs".
        kernels: declared covariances, in squared model units; each is mixed with its neighbours and with the automatic
            models. None: the automatic models alone, made from box and bounds.
        noise_variances: one per kernel, in squared model units; None: those of the automatic models.
        weights: public importance of each target (P,), >= 0, not all zero; default uniform.
        stages: number of stages, from 1 to 10.
        clip: half-width of an interval over the predictive standard deviation, > 0.
        targets: where the curve should be good: "test", at the test inputs; "both", there and at the records.
        gap: of each strategy, as a share of what privacy costs; a loose one costs accuracy, never privacy.

    Raises:
        ValueError: a parameter is out of range.
    """

    epsilon: float
    delta: float
    protects: Protects = "outputs"
    kernels: Sequence[Stationary] | None = None
    noise_variances: Sequence[float] | None = None
    weights: Sequence[float] | None = None
    stages: int = 5
    clip: float = CLIP
    targets: Literal["test", "both"] = "test"
    gap: float = 1e-3

    label: ClassVar[str] = "Bayes cloaking"
    reference: ClassVar[str] = "this project; composition by Dong, Roth & Su 2022"

    def __post_init__(self) -> None:
        _ = self.noise_multiplier
        check_positive("clip", self.clip)
        check_positive("gap", self.gap)
        if self.protects != "outputs":
            raise ValueError(f"protects must be 'outputs', got {self.protects!r}")
        if self.targets not in ("test", "both"):
            raise ValueError(f"targets must be 'test' or 'both', got {self.targets!r}")
        if not 1 <= self.stages <= MOST_STAGES:
            raise ValueError(f"stages must be a whole number from 1 to {MOST_STAGES}, got {self.stages}")
        given, kernels = self.noise_variances, self.kernels
        if given is not None and len(given) != len(kernels or ()):
            raise ValueError(f"noise_variances must have one entry per kernel, {len(kernels or ())}, got {len(given)}")

    @property
    def noise_multiplier(self) -> float:
        """Noise scale s of all stages together: they are (1 / s)-GDP."""
        return noise_multiplier(self.epsilon, self.delta)

    @property
    def guarantee(self) -> Guarantee:
        """The promise for one draw of all stages together, known before any output is read."""
        return Guarantee(
            budget=Budget(epsilon=self.epsilon, delta=self.delta),
            loss=GaussianLoss(1 / self.noise_multiplier),
            protects=self.protects,
            neighbours=ONE_OUTPUT,
            unit="one record's output",
            theorem=f"{self.stages} adaptive Gaussian measurements of sensitivity 1, composed exactly (Dong, Roth & Su "
            "2022, corollary 3.3); analytic Gaussian mechanism (Balle & Wang 2018, theorem 8)",
            assumptions=FIXED_IN_ADVANCE,
            not_covered=BEYOND_ONE_RELEASE,
        )

    def models(self, x_box: Sequence[tuple[float, float]], half_range: float) -> tuple[Model, ...]:
        """The mixture, in model units.

        Args:
            x_box: D public (low, high) pairs.
            half_range: half the public range of the outputs, in model units.
        """
        return models_of(self.kernels or (), self.noise_variances, x_box, half_range)

    def plan(
        self, X: FloatArray, X_test: FloatArray, *, x_box: Sequence[tuple[float, float]], half_range: float
    ) -> BayesPlan:
        """Public plan: what each stage measures. Seconds; everything else is milliseconds.

        Args:
            X: inputs (n, D).
            X_test: test inputs (P, D).
            x_box: D public (low, high) pairs.
            half_range: half the public range of the outputs, in model units.

        Raises:
            ValueError: shapes disagree, or ``weights`` does not fit X_test.
        """
        check_columns(X, X_test)
        models = self.models(x_box, half_range)
        planned_for = typical_models(models)
        stages = plan_stages(
            places_of(planned_for, X, X_test if self.targets == "test" else np.vstack([X_test, X])),
            weights_of(planned_for),
            half_range,
            stage_multipliers(self.noise_multiplier, self.stages),
            clip=self.clip,
            importance=importance_of(self.weights, len(X_test), len(X) if self.targets == "both" else 0),
            gap=self.gap,
        )
        return BayesPlan(models=models, stages=stages, half_range=half_range)

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

    def plan_for(self, dataset: Dataset, X_test: FloatArray) -> BayesPlan:
        """``plan`` with box and range of a data set; its outputs are not read."""
        half_range = dataset.output_range / dataset.y_scale / 2
        return self.plan(dataset.X, X_test, x_box=dataset.x_box, half_range=half_range)

    def measure(
        self,
        plan: BayesPlan,
        dataset: Dataset,
        X_test: FloatArray,
        rng: np.random.Generator | None = None,
        draws: int = 1,
    ) -> BayesRelease:
        """Measure as planned: the only step that reads the outputs. At another budget than planned, s_i are rescaled.

        Args:
            plan: for these records, range and about this budget.
            dataset: the records.
            X_test: test inputs (P, D), not necessarily as planned.
            rng: as for ``release``.
            draws: as for ``release``.

        Raises:
            ValueError: draws < 1, or shapes disagree.
        """
        guarantee = self.guarantee.for_unit(dataset.privacy_unit)
        together = guarantee.repeated(draws)
        setting = self._setting(plan, dataset.X, X_test)
        if rng is None:
            found = measure_exactly(setting, dataset, guarantee, draws)
        else:
            found = measure_for_teaching(setting, dataset, rng, draws)
        uncertainty = MixtureUncertainty(
            prediction=found.prediction,
            bounds=dataset.y_bounds,
            midpoint=dataset.midpoint,
            y_scale=dataset.y_scale,
        )
        release = BayesRelease(
            X_test=X_test,
            samples=uncertainty.values,
            guarantee=together,
            statistics=found.statistics,
            uncertainty=uncertainty,
            observed=found.observed,
        )
        if rng is None:
            return release
        silent = replace(uncertainty, prediction=measure_silently(setting, dataset).prediction)
        card = replace(release.guarantee, not_covered=(TEACHING, *release.guarantee.not_covered))
        mean = NotPrivate(silent.values[0])
        return TeachingBayesRelease(**{**vars(release), "guarantee": card, "mean": mean})

    def reread(self, statistics: Statistics, X_test: FloatArray) -> FloatArray:
        """Values (P,) that a released statistic gives at X_test (P, D), in the output's unit. Spends nothing.

        Args:
            statistics: of a release with these models.
            X_test: test inputs (P, D).
        """
        low, high = statistics.bounds
        models = self.models(statistics.x_box, (high - low) / statistics.y_scale / 2)
        places = places_of(models, statistics.X, X_test)
        outcome = posterior(observed_of(statistics), places, weights_of(models))
        mean = mixture_of(places, outcome.states, outcome.weights).mean[0]
        values: FloatArray = np.clip(statistics.midpoint + statistics.y_scale * mean, low, high)
        return values

    def _setting(self, plan: BayesPlan, X: FloatArray, X_test: FloatArray) -> Setting:
        return Setting(
            planned=rescaled(plan.stages, self.noise_multiplier),
            places=places_of(plan.models, X, X_test),
            prior_weights=plan.prior_weights,
            half_range=plan.half_range,
            clip=self.clip,
        )
