"""Releases in stages: the best plan, or the nearest that is ready, and its draws."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from datasets import exhibit
from dpgp_core.arrays import FloatArray
from dpgp_core.bayes.engine import Measured, together
from dpgp_core.bayes.filter_records import record_filter
from dpgp_core.bayes.mixture import MixtureUncertainty
from dpgp_core.bayes.models import Model as Mixed
from dpgp_core.measurement.noise import Apart, NumberedDraws
from dpgp_core.mechanisms import BayesCloaking
from dpgp_core.mechanisms.bayes_cloaking import BayesPlan, BayesRelease
from dpgp_core.release import CENTILES
from dpgp_core.table import Dataset
from pages._ui.cloaking.results import LEVEL, Ends, Intervals, Numbers, Result, Scene
from pages._ui.look import offers
from pages._ui.model import PICTURE_GAP, Budget, Draw, Model, usual
from pages._ui.work import cached, waiting
from pages._ui.work.cached import Wish
from pages._ui.work.jobs import Answer


def plan_stages(dataset: Dataset, scene: Scene, budget: Budget) -> BayesPlan:
    """The best plan of every stage, each record with a column of its own; public."""
    weights = scene.at_records if budget.focus == "records" else None
    mechanism = BayesCloaking(
        epsilon=budget.epsilon, delta=budget.delta, weights=weights, gap=PICTURE_GAP, binned=False
    )
    return mechanism.plan_for(dataset, scene.X_test)


def measure(dataset: Dataset, scene: Scene, plan: BayesPlan, budget: Budget, draw: Draw) -> Numbers:
    """Numbered draws, side by side where that fits into memory; each is the same beside any others.

    Stages choose how narrowly they clip by what the curve gains where it is drawn, so all of the scene enters.
    """
    mechanism = BayesCloaking(epsilon=budget.epsilon, delta=budget.delta)

    def some(first: int, count: int) -> BayesRelease:
        rng = NumberedDraws(first, count)
        return mechanism.measure(plan, dataset, scene.X_test, rng, count, mean=False)

    try:
        released = [some(draw.seed, draw.draws)]
    except Apart:
        released = [some(number, 1) for number in range(draw.seed, draw.seed + draw.draws)]
    promise = released[0].guarantee
    measured = together([part for each in released for part in each.measured])
    return Numbers(measured, promise if len(released) == 1 else promise.repeated(draw.draws))


def models(dataset: Dataset, plan: BayesPlan, model: Model) -> tuple[Mixed, ...]:
    """The page's model, its neighbours and the automatic ones; these alone where the page's model was not touched."""
    if model == usual(model.dataset):
        return plan.models
    declared = BayesCloaking(epsilon=1.0, delta=0.01, kernels=(model.build(),), noise_variances=(model.noise,))
    return declared.models(dataset.x_box, plan.public.half_range)


def read(dataset: Dataset, X_test: FloatArray, plan: BayesPlan, measured: Measured, model: Model) -> MixtureUncertainty:
    """Prediction at X_test (P, D) from released numbers."""
    mixed = models(dataset, plan, model)
    filtered = record_filter(mixed, dataset.X, X_test, public=plan.public)
    prediction = filtered.read_and_predict(measured.stages)
    prediction = filtered.with_people(prediction, measured.distances)
    return MixtureUncertainty(outcome=dataset.outcome, prediction=prediction)


def curves(
    dataset: Dataset, scene: Scene, plan: BayesPlan, numbers: Numbers, _budget: Budget, _draw: Draw, model: Model
) -> tuple[FloatArray, Intervals]:
    """Released curves (draws, P) and their intervals, read with a model among others."""
    uncertainty = read(dataset, scene.X_test, plan, numbers.measured, model)
    ends = Ends(*uncertainty.interval(LEVEL, "outputs")), Ends(*uncertainty.interval(LEVEL, "function"))
    return uncertainty.values, Intervals(*ends, scatter=uncertainty.scatter[0])


Given = tuple[Dataset, Scene]  # of a budget


def best(budget: Budget, given: Given) -> Answer[BayesPlan]:
    """The plan that is made for a budget."""
    return cached.answer(_planning(budget), plan_stages, budget, given=given)


def soon(budget: Budget, given: Given) -> tuple[Answer[BayesPlan], Budget]:
    """The best plan if it is there soon, else the nearest one that is ready; and the budget, with that of the plan.

    The noise of any plan is scaled to the budget when it measures. A page that got the latter is made again as soon as
    the best is there. Idle processes go on with the plans of ``likely`` budgets.
    """
    near = nearest(budget)
    cached.wish(*(Wish(plan_stages, (each,), given) for each in likely(budget)))
    if near is None or near == budget:
        return best(budget, given), budget
    ready = cached.soon(_planning(budget), plan_stages, budget, given=given)
    if ready is not None:
        return ready, budget
    waiting.afterwards(lambda: best(budget, given))
    return best(near, given), replace(budget, planned_for=(near.epsilon, near.delta))


def nearest(budget: Budget) -> Budget | None:
    """Whose plan is ready, and whose noise is closest: this budget, or one of another epsilon or another delta."""
    offered = {
        budget,
        *(replace(budget, epsilon=float(epsilon)) for epsilon in offers.EPSILONS),
        *(replace(budget, delta=delta) for delta in offers.DELTAS),
    }
    noise = _noise(budget)
    by_noise = sorted(offered, key=lambda each: abs(math.log(_noise(each) / noise)))
    return next((each for each in by_noise if cached.find(plan_stages, each) is not None), None)


def likely(budget: Budget) -> list[Budget]:
    """Likely next budgets: one step of a slider away; then, where a plan takes little, the rest of epsilon's."""

    def at(epsilons: Iterable[float]) -> Iterator[Budget]:
        return (replace(budget, epsilon=float(epsilon)) for epsilon in epsilons)

    rest = offers.EPSILONS if exhibit(budget.dataset).scene == "curve" else ()
    steps = [
        *at(offers.neighbours(offers.EPSILONS, budget.epsilon)),
        *(replace(budget, delta=delta) for delta in offers.neighbours(offers.DELTAS, budget.delta)),
        *at(sorted(rest, key=lambda other: abs(math.log(other / budget.epsilon)))),
    ]
    return [each for each in dict.fromkeys(steps) if each != budget]


def _noise(budget: Budget) -> float:
    return BayesCloaking(epsilon=budget.epsilon, delta=budget.delta).shares("number").curve


def _planning(budget: Budget) -> str:
    return f"Planning what to measure at ε = {budget.epsilon:g}"


NOTHING_HIDDEN, _DELTA, _GAP = 1000.0, 1e-5, 0.3  # budget at which privacy noise is too small to see
LEVELS = (1, *CENTILES[:1], 5, 10, 15, *range(20, 85, 5), 85, 90, 95, *CENTILES[-1:], 99)


@dataclass(frozen=True, eq=False)
class Growth:
    """Values that so many in 100 people stay below, along the first input.

    Attributes:
        x: first inputs (G,).
        values: of each of ``LEVELS`` (L, G), in the output's unit.
    """

    x: FloatArray
    values: FloatArray

    @property
    def lines(self) -> dict[int, FloatArray]:
        """Those of a growth chart."""
        return {centile: self.values[LEVELS.index(centile)] for centile in CENTILES}

    def width(self, x: float) -> float:
        """Between the outermost lines at x, in the output's unit."""
        low, *_, high = self.lines.values()
        return float(np.interp(x, self.x, high - low))

    def below(self, x: float, y: float) -> float:
        """How many in 100 people at x lie below y; between 1 and 99."""
        quantiles = [float(np.interp(x, self.x, row)) for row in self.values]
        return float(np.interp(y, quantiles, LEVELS))


def released(
    dataset: Dataset, scene: Scene, plan: BayesPlan, numbers: Numbers, _budget: Budget, _draw: Draw, model: Model
) -> Growth:
    """From the first draw of Bayes cloaking: spends nothing beyond it."""
    X = scene.X_test[scene.grid]
    return _of(X, read(dataset, X, plan, numbers.measured.draws(slice(0, 1)), model))


def without_privacy(dataset: Dataset, scene: Scene, _name: str) -> Growth:
    """The same mixture of models when nothing is hidden. Not private."""
    X = scene.X_test[scene.grid]
    mechanism = BayesCloaking(epsilon=NOTHING_HIDDEN, delta=_DELTA, gap=_GAP).for_many_draws(dataset.n)
    plan = mechanism.plan_for(dataset, X)
    return _of(X, mechanism.measure(plan, dataset, X, np.random.default_rng(0), mean=False).uncertainty)


def by_one_noise(result: Result) -> Growth:
    """Of a method with one declared noise for everybody: normal centiles from its interval for one more person."""
    low, high = result.intervals.output.of(0)[:, result.scene.grid]
    sd = (high - low) / 2 / ndtri((1 + LEVEL) / 2)
    values = [(low + high) / 2 + ndtri(level / 100) * sd for level in LEVELS]
    return Growth(result.scene.x, np.array(values))


def _of(X: FloatArray, uncertainty: MixtureUncertainty) -> Growth:
    return Growth(X[:, 0], np.array([uncertainty.quantile(level / 100)[0] for level in LEVELS]))
