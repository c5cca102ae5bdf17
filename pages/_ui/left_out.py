"""The error that all pages show: the root mean square error by five-fold cross-validation, with and without privacy.

Every page that shows an error of Bayes cloaking takes it from ``simulated_errors``. The simulated releases behind it
run the code of a real release, including the planning of stages; only their noise is pseudo-random.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from datasets import exhibit
from dpgp_core.arrays import FloatArray
from dpgp_core.bayes.queries import Measured
from dpgp_core.evaluation.comparison import (
    HeldOutFold,
    Residuals,
    error_of_methods,
    error_without_privacy,
    gathered,
    hold_out,
    left_out,
    residuals_of,
)
from dpgp_core.evaluation.cross_validation import k_folds
from dpgp_core.mechanisms import CATALOGUE
from dpgp_core.table import Dataset
from pages._ui.model import Budget, Design, Draw, Model, mechanism_of
from pages._ui.work import cached
from pages._ui.work.cached import Get, Prefetch

SEED = 1  # seed of simulated releases
FOLDS = 5
REFINED = Design("refined")
_SHUFFLED = 0  # seed of the folds; each data set has one public partition


def folds_of(dataset: Dataset) -> tuple[Any, ...]:
    """Return the test indices of each fold, in random order."""
    return k_folds(dataset.n, FOLDS, np.random.default_rng(_SHUFFLED))


class FoldResiduals(NamedTuple):
    """Residuals of simulated releases of Bayes cloaking at the people of one fold, which they leave out. Not private.

    Attributes:
        residuals: residuals of each release.
        seconds: duration of one release.
    """

    residuals: Residuals
    seconds: float


@dataclass(frozen=True, eq=False)
class Errors:
    """Errors of Bayes cloaking at one budget over all folds. They are not private.

    Attributes:
        errors: root mean square of each simulated release (D,), in the output's unit.
        half_width: half-width of the 95 % interval for an output, as the median over people left out, in the output's
            unit.
        half_score: half of the interval score of these intervals, in the output's unit.
        seconds: duration of one release.
    """

    errors: FloatArray
    half_width: float
    half_score: float
    seconds: float


def released(mechanism: Any, data: Dataset, X_test: FloatArray, rng: np.random.Generator, draws: int = 1) -> Any:
    """Return simulated releases without the curve without noise, which takes about as long for Bayes cloaking."""
    return mechanism.measure(mechanism.plan_for(data, X_test), data, X_test, rng, draws, mean=False)


def catalogue_name(budget: Budget) -> str:
    """Return the name of Bayes cloaking in the catalogue, which depends on what it protects."""
    return "bayes" if budget.protects == "outputs" else "bayes_cells"


def _fold(dataset: Dataset, index: int) -> HeldOutFold:
    [fold] = left_out(dataset, (folds_of(dataset)[index],))
    return fold


def fold_residuals(dataset: Dataset, budget: Budget, index: int) -> FoldResiduals:
    """Simulate releases that leave out one fold, and evaluate them on this fold."""
    start, draws = time.perf_counter(), CATALOGUE[catalogue_name(budget)].simulated
    residuals = residuals_of(budget.mechanism, _fold(dataset, index), draws, [SEED, index])
    return FoldResiduals(residuals, (time.perf_counter() - start) / draws)


def joined(parts: list[FoldResiduals], _budget: Budget) -> Errors:
    """Return the errors over all folds at one budget, given the residuals of each fold."""
    found = gathered([([part.residuals], part.seconds) for part in parts])
    return Errors(found.errors[0], float(found.half_width[0]), float(found.half_score[0]), found.seconds)


class FoldMeasurements(NamedTuple):
    """Measurements of the same releases, from which curves under other models are computed.

    Attributes:
        fold: the records that these releases leave out. Their outputs are private.
        measured: measurements of each release.
    """

    fold: HeldOutFold
    measured: tuple[Measured, ...]


def fold_measurements(dataset: Dataset, budget: Budget, index: int) -> FoldMeasurements:
    """Make the releases of ``fold_residuals`` again and return their measurements."""
    fold, draws, mechanism = _fold(dataset, index), CATALOGUE[catalogue_name(budget)].simulated, budget.mechanism
    rng = np.random.default_rng([SEED, index])
    release = released(mechanism, fold.train, fold.X_test, rng, draws)
    # the residual variance does not affect an error
    return FoldMeasurements(fold, tuple(each._replace(distances=None) for each in release.measured))


def of_all_folds(get: Get, function: Callable[..., Any], budget: Budget) -> list[Any] | None:
    """Return the results of ``fold_residuals`` or ``fold_measurements`` for all folds; None if ``get`` returns None."""
    data, title = cached.dataset(budget.dataset), CATALOGUE[catalogue_name(budget)].title
    requests = [Prefetch(function, (budget, index), (data,)) for index in range(FOLDS)]
    return cached.all_of(get, f"Simulating {title}", requests)


def missing_folds(function: Callable[..., Any], budget: Budget) -> Iterator[Prefetch]:
    """Yield the folds that are not computed yet, the last first; nothing if the errors are computed."""
    if function is fold_residuals and cached.find(joined, budget) is not None:
        return
    for index in reversed(range(FOLDS)):
        if cached.find(function, budget, index) is None:
            yield Prefetch(function, (budget, index), (cached.dataset(budget.dataset),))


def simulated_errors(budget: Budget, get: Get = cached.answer) -> Errors | None:
    """Return the errors of Bayes cloaking at a budget, the same on every page; None if ``get`` returns None."""
    found = cached.find(joined, budget)
    if found is None:
        parts = of_all_folds(get, fold_residuals, budget)
        if parts is None:
            return None
        found = cached.value("Joining the parts", joined, budget, given=(parts,), here=True)
    return found


def errors_in_advance(budget: Budget) -> Prefetch:
    """Return the request for these errors, so that they can be computed in advance."""
    data = cached.dataset(budget.dataset)
    return Prefetch(joined, (budget,), ([fold_residuals(data, budget, index) for index in range(FOLDS)],))


def without_privacy(name: str, *models: Model) -> float:
    """Return the error without privacy noise, in the output's unit. It is not private.

    Args:
        name: name of the data set.
        models: models declared on the page, if any. The best of them counts if its error is smaller than that of the
            models of Bayes cloaking. Data of very many people are excluded, because there it is slow and never smaller.
    """
    found = _smallest_error(cached.answer, name, models)
    assert found is not None  # the page waits for it
    return found


def without_privacy_soon(name: str, *models: Model) -> float | None:
    """Return this error if it is ready soon; otherwise return None while the computation goes on."""
    return _smallest_error(cached.soon, name, models)


def _smallest_error(get: Get, name: str, models: tuple[Model, ...]) -> float | None:
    """Return the smallest of these errors; None if ``get`` returns None."""
    made = get("Fitting without privacy", _of_mixture, name, given=(cached.dataset(name),))
    if made is None:
        return None
    errors = [float(made.value)]
    for model in _declared(name, models):
        error = _declared_error(get, model)
        if error is None:
            return None
        errors.append(error)
    return min(errors)


def _declared_error(get: Get, model: Model) -> float | None:
    """Return the error without privacy of what a page declares, which follows at once from the plans for the folds."""
    found = cached.find(_of_declared, model)
    if found is None and (held := plans_held(get, model, REFINED)) is not None:
        given = cached.dataset(model.dataset), held
        return cached.value("Fitting without privacy", _of_declared, model, given=given, here=True)
    return found


def _declared(name: str, models: tuple[Model, ...]) -> tuple[Model, ...]:
    return models if exhibit(name).cross_validated else ()


def without_privacy_in_advance(name: str, *models: Model) -> list[Prefetch]:
    """Return the requests for the errors whose minimum is ``without_privacy``, so that they can be computed in advance.

    The slow request, for the models of Bayes cloaking, does not depend on what the page declares.
    """
    data, declared = cached.dataset(name), _declared(name, models)
    given = [(data, hold(data, each, REFINED)) for each in declared]
    each = [Prefetch(_of_declared, (model,), plans) for model, plans in zip(declared, given, strict=True)]
    return [Prefetch(_of_mixture, (name,), (data,)), *each]


def _of_mixture(data: Dataset, _name: str) -> float:
    return error_without_privacy(data, folds_of(data))


def _of_declared(data: Dataset, held: list[HeldOutFold], model: Model) -> float:
    refined = mechanism_of(model, REFINED, Draw(epsilon=1.0, delta=1e-5))
    return error_of_methods(data, folds_of(data), [(model.build(), model.noise)], [refined], held)


def hold(data: Dataset, model: Model, design: Design) -> list[HeldOutFold]:
    """Return plans for each fold. They do not depend on the budget."""
    return hold_out(mechanism_of(model, design, Draw(epsilon=1.0, delta=0.01)), data, folds_of(data))


def plans_held(get: Get, model: Model, design: Design) -> list[HeldOutFold] | None:
    """Return these plans; None if ``get`` returns None."""
    title = CATALOGUE[design.mechanism].title
    made = get(f"Leaving people out: {title}", hold, model, design, given=(cached.dataset(model.dataset),))
    held: list[HeldOutFold] | None = None if made is None else made.value
    return held
