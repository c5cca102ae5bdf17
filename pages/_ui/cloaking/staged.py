"""Simulated releases of Bayes cloaking: the numbers that each releases, and the curves read from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from dpgp_core.arrays import FloatArray
from dpgp_core.bayes.filter import Filter, filter_of
from dpgp_core.bayes.mixture import MixtureUncertainty, stack_draws
from dpgp_core.bayes.model import Model as Mixed
from dpgp_core.bayes.queries import Measured
from dpgp_core.bayes.refit import ReleasePosterior
from dpgp_core.bayes.settings import outcome_model_for
from dpgp_core.mechanisms import BayesCloaking
from dpgp_core.release import CENTILES
from dpgp_core.table import Dataset
from pages._ui.cloaking.results import LEVEL, Ends, Intervals, Numbers, Result, Scene
from pages._ui.model import Budget, Draw, Model, usual


def measure(dataset: Dataset, scene: Scene, budget: Budget, number: int) -> Numbers:
    """Simulate a release with the pseudo-random noise of its number.

    Its last stage leaves the posterior from which its own models read it, so it is read here and not once more.
    """
    mechanism, X = budget.mechanism, scene.X_test
    release = mechanism.measure(mechanism.plan_for(dataset, X), dataset, X, np.random.default_rng(number), mean=False)
    [curve], intervals = _curves(release.uncertainty)
    along = replace(release.uncertainty, prediction=release.uncertainty.prediction.at(scene.grid))
    released = release.measured[0], release.statistics[0], release.guarantee
    return Numbers(*released, curve, intervals, None if scene.is_map else along)


def models(dataset: Dataset, budget: Budget, model: Model) -> tuple[Mixed, ...]:
    """Return the models that read a release: the automatic ones, and the page's with its neighbours if a visitor
    changed it.
    """
    mechanism = budget.mechanism
    if model != usual(model.dataset):
        mechanism = replace(mechanism, kernels=(model.build(),), noise_variances=(model.noise,))
    return mechanism.models(dataset.x_box, dataset.half_range, outcome_model_for(dataset.y_kind), dataset.people)


def filter_for(dataset: Dataset, budget: Budget, model: Model) -> Filter:
    """Return the filter that reads a release: the automatic one, or one with the page's model among the others."""
    plan = budget.mechanism.plan_for(dataset, dataset.X)
    if model == usual(model.dataset):
        return plan.filtered
    return filter_of(
        models(dataset, budget, model),
        plan.filtered.bins,
        plan.filtered.n,
        plan.filtered.half_range,
        is_binary=plan.filtered.is_binary,
    )


def read(
    dataset: Dataset,
    X_test: FloatArray,
    measured: Sequence[Measured],
    budget: Budget,
    model: Model,
    progress: Callable[[float], None] = lambda fraction: None,
) -> MixtureUncertainty:
    """Predict at X_test (P, D) from the numbers of several releases. This costs no privacy."""
    filtered, parts = filter_for(dataset, budget, model), []
    for each in measured:
        parts.append(_posterior(dataset, filtered, each).at(X_test).curve)
        progress(len(parts) / len(measured))
    return MixtureUncertainty(outcome=dataset.outcome, prediction=stack_draws(parts))


def curves(
    dataset: Dataset,
    scene: Scene,
    numbers: Sequence[Numbers],
    budget: Budget,
    _draw: Draw,
    model: Model,
    *,
    progress: Callable[[float], None] = lambda fraction: None,
) -> tuple[FloatArray, Intervals]:
    """Return released curves (draws, P) and their intervals, read with a model among others."""
    return _curves(read(dataset, scene.X_test, [each.measured for each in numbers], budget, model, progress))


def _curves(uncertainty: MixtureUncertainty) -> tuple[FloatArray, Intervals]:
    ends = Ends(*uncertainty.interval(LEVEL, "outputs")), Ends(*uncertainty.interval(LEVEL, "function"))
    return uncertainty.values, Intervals(*ends, residual_sd=uncertainty.residual_sd[0])


def _posterior(dataset: Dataset, filtered: Filter, measured: Measured) -> ReleasePosterior:
    """Return a simulated release, read as the core reads a release."""
    return ReleasePosterior(models=(), x_box=dataset.x_box, filtered=filtered, measured=measured)


def noise_half(dataset: Dataset, scene: Scene, first: Numbers, budget: Budget, _draw: Draw, model: Model) -> FloatArray:
    """Return half of the range (P,) in which privacy noise moves a released curve, in the output's unit. It costs no
    privacy.

    With probability ``LEVEL``, the curve that exact answers to the same queries would give is within this distance of
    the released one. It is the normal quantile of ``LEVEL`` times the standard deviation of their difference given the
    released numbers, widened if these do not fit the models. Only released numbers enter.
    """
    posterior = _posterior(dataset, filter_for(dataset, budget, model), first.measured)
    [fit] = posterior.at(scene.X_test[:1]).curve.fit
    sd = fit.widened * np.sqrt(posterior.noise_variance(scene.X_test))
    return np.asarray(ndtri((1 + LEVEL) / 2) * dataset.y_scale * sd)


LARGE_EPSILON, _DELTA = 1000.0, 1e-5  # budget at which privacy noise is too small to see
LEVELS = (1, *CENTILES[:1], 5, 10, 15, *range(20, 85, 5), 85, 90, 95, *CENTILES[-1:], 99)


@dataclass(frozen=True, eq=False)
class Growth:
    """Centiles of people along the first input.

    Attributes:
        x: first inputs (G,).
        values: each of the centiles ``LEVELS`` (L, G), in the output's unit.
    """

    x: FloatArray
    values: FloatArray

    @property
    def lines(self) -> dict[int, FloatArray]:
        """Centiles of a growth chart."""
        return {centile: self.values[LEVELS.index(centile)] for centile in CENTILES}

    def width(self, x: float) -> float:
        """Return the distance of the outermost centiles at x, in the output's unit."""
        low, *_, high = self.lines.values()
        return float(np.interp(x, self.x, high - low))

    def below(self, x: float, y: float) -> float:
        """Return the percentage of people at x who are below y, between 1 and 99."""
        quantiles = [float(np.interp(x, self.x, row)) for row in self.values]
        return float(np.interp(y, quantiles, LEVELS))


def released(dataset: Dataset, scene: Scene, first: Numbers, budget: Budget, _draw: Draw, model: Model) -> Growth:
    """Return the centiles from the first release of Bayes cloaking. This costs no further privacy."""
    X, along = scene.X_test[scene.grid], first.along
    if along is None or model != usual(model.dataset):
        along = read(dataset, X, [first.measured], budget, model)
    return _of(X, along)


def without_privacy(dataset: Dataset, scene: Scene, _name: str) -> Growth:
    """Return the centiles from the same mixture of models without privacy noise. They are not private."""
    X = scene.X_test[scene.grid]
    mechanism = BayesCloaking(epsilon=LARGE_EPSILON, delta=_DELTA)
    plan = mechanism.plan_for(dataset, X)
    return _of(X, mechanism.measure(plan, dataset, X, np.random.default_rng(0), mean=False).uncertainty)


def by_one_noise(result: Result) -> Growth:
    """Return normal centiles for a method with one declared noise variance, from its interval for one more person."""
    low, high = result.intervals.output.of(0)[:, result.scene.grid]
    sd = (high - low) / 2 / ndtri((1 + LEVEL) / 2)
    values = [(low + high) / 2 + ndtri(level / 100) * sd for level in LEVELS]
    return Growth(result.scene.x, np.array(values))


def _of(X: FloatArray, uncertainty: MixtureUncertainty) -> Growth:
    return Growth(X[:, 0], np.array([uncertainty.quantile(level / 100)[0] for level in LEVELS]))
