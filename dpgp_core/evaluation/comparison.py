"""Mechanisms on equal terms: held-out error against epsilon, and the epsilon that a target error needs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from ..arrays import FloatArray
from ..data import Dataset
from ..gp.uncertainty import NoInterval
from ..mechanisms.base import Mechanism, Plan, Planned, PlannedForBudget, Release
from .cross_validation import Folds
from .errors import rmse

LEVEL = 0.95  # of the intervals reported
_RUNG = 4.0  # factor between budgets that are planned for


class Held(NamedTuple):
    """One fold: what a mechanism may train on, where it is tested, and its public plan if it has one.

    ``by_budget`` holds the plans of a mechanism whose plan depends on the budget, by the epsilon planned for.
    """

    train: Dataset
    X_test: FloatArray
    truth: FloatArray
    plan: Plan | None
    by_budget: dict[float, Any]


class Errors(NamedTuple):
    """Held-out performance of one mechanism. Not private.

    Attributes:
        rmse: of each simulated draw over all folds (draws,), in the output's unit.
        half_width: half of the 95 % interval for an output, median over test points, in the output's unit; nan for a
            mechanism that has none.
    """

    rmse: FloatArray
    half_width: float


class Sweep(NamedTuple):
    """Held-out performance of one mechanism over a range of budgets. Not private.

    Attributes:
        errors: at each epsilon.
        seconds: of one plan and one release, mean over folds, where they ran.
    """

    errors: list[Errors]
    seconds: float


_Residuals = tuple[FloatArray, FloatArray]  # release minus truth (draws, P), and half-widths (P,)
Piece = tuple[
    list[_Residuals], float
]  # of one fold: residuals at every epsilon, and the seconds of a plan and a release


def hold_out(mechanism: Mechanism, dataset: Dataset, folds: Folds) -> list[Held]:
    """Split a data set by public folds and plan what does not depend on epsilon, once for all epsilons.

    Args:
        mechanism: any; Gaussian ones are planned here and reused at other budgets.
        dataset: all records.
        folds: test indices of each fold.
    """
    return [_held(mechanism, dataset, test) for test in folds]


def held_out_errors(
    mechanism: Mechanism, held: Sequence[Held], draws: int, seed: int, *, intervals: bool = True
) -> Errors:
    """Errors of ``draws`` simulated releases, each trained without the records that it is tested on.

    The same seed gives the same underlying draws at every epsilon, so errors are smooth in epsilon.

    Args:
        mechanism: at the budget to be judged.
        held: from ``hold_out`` of the same mechanism at any budget.
        draws: simulated releases, >= 1.
        seed: of the simulation.
        intervals: whether half-widths are wanted too; without, they are nan.

    Raises:
        ValueError: draws < 1.
    """
    return _errors(_residuals(mechanism, fold, draws, [seed, index], intervals) for index, fold in enumerate(held))


def sweep(
    mechanism: Mechanism,
    dataset: Dataset,
    folds: Folds,
    epsilons: Sequence[float],
    draws: int,
    seed: int,
    executor: Executor | None = None,
    progress: Callable[[float], None] = lambda fraction: None,
) -> Sweep:
    """Errors at every epsilon, as from ``hold_out`` and ``held_out_errors``; a fold is a piece of work by itself.

    Args:
        mechanism: at any budget.
        dataset: all records.
        folds: test indices of each fold.
        epsilons: budgets to be judged, at least one.
        draws: simulated releases, >= 1.
        seed: of the simulation; a fold's draws depend on it and on the fold's index, not on where they are made.
        executor: where folds are computed; None for here, one after the other.
        progress: called with the fraction done: after every budget of every fold here, after every fold elsewhere.

    Raises:
        ValueError: draws < 1, or an epsilon is out of range for the mechanism.
    """
    fold = partial(sweep_fold, mechanism, dataset, tuple(epsilons), draws, seed)
    pieces: list[Piece] = []
    if executor is None:
        for index, test in enumerate(folds):
            pieces.append(fold(index, test, partial(_report, progress, index, len(folds))))
    else:
        for piece in executor.map(fold, list(range(len(folds))), list(folds)):
            pieces.append(piece)
            progress(len(pieces) / len(folds))
    return gathered(pieces)


def gathered(pieces: Sequence[Piece]) -> Sweep:
    """The sweep of the folds that are done, at least one: ``sweep`` itself, if these are all."""
    by_epsilon = zip(*(residuals for residuals, _ in pieces), strict=True)
    return Sweep([_errors(parts) for parts in by_epsilon], float(np.mean([seconds for _, seconds in pieces])))


def with_epsilon(mechanism: Any, epsilon: float) -> Mechanism:
    """The same mechanism at another epsilon.

    Raises:
        ValueError: epsilon is out of range for it.
    """
    changed: Mechanism = replace(mechanism, epsilon=epsilon)
    return changed


def epsilon_for_error(
    error: Callable[[float], float], target: float, low: float = 0.05, high: float = 100.0
) -> float | None:
    """Smallest epsilon in [low, high] whose expected error is at most ``target``; None if not even ``high`` reaches it.

    Args:
        error: expected error at an epsilon; falls as epsilon grows, up to simulation noise.
        target: error wanted, in the same unit.
        low: returned if it reaches the target already.
        high: largest epsilon considered.
    """
    if error(high) > target:
        return None
    if error(low) <= target:
        return low
    root = brentq(lambda log_epsilon: error(math.exp(log_epsilon)) - target, math.log(low), math.log(high), xtol=1e-3)
    return float(math.exp(root))


def epsilon_on_curve(epsilons: Sequence[float], errors: FloatArray, target: float) -> float | None:
    """Smallest epsilon at which a curve through (epsilon, error), straight on logarithmic axes, is at most ``target``.

    Args:
        epsilons: rising (E,), E >= 1.
        errors: expected error at each (E,), > 0.
        target: error wanted, in the same unit.

    Returns:
        The epsilon; the first if that reaches the target already, None if none does.
    """
    reached = np.flatnonzero(errors <= target)
    if not len(reached):
        return None
    at = int(reached[0])
    if at == 0:
        return float(epsilons[0])
    share = math.log(errors[at - 1] / target) / math.log(errors[at - 1] / errors[at])
    return float(epsilons[at - 1] * (epsilons[at] / epsilons[at - 1]) ** share)


def _report(progress: Callable[[float], None], done: int, pieces: int, part: float) -> None:
    progress((done + part) / pieces)


def sweep_fold(
    mechanism: Mechanism,
    dataset: Dataset,
    epsilons: Sequence[float],
    draws: int,
    seed: int,
    index: int,
    test: NDArray[np.intp],
    progress: Callable[[float], None] = lambda fraction: None,
) -> Piece:
    """One fold of a sweep, for ``gathered``: indices ``test``, number ``index``; the rest is as of ``sweep``."""
    start = time.perf_counter()
    held = _held(mechanism, dataset, test)
    _residuals(mechanism, held, 1, [seed, index], intervals=False)
    seconds = time.perf_counter() - start
    found = []
    for epsilon in epsilons:
        found.append(_residuals(with_epsilon(mechanism, epsilon), held, draws, [seed, index]))
        progress(len(found) / len(epsilons))
    return found, seconds


def _held(mechanism: Mechanism, dataset: Dataset, test: NDArray[np.intp]) -> Held:
    train = dataset.subset(np.delete(np.arange(dataset.n), test))
    X_test, truth = dataset.X[test], dataset.clipped_y[test]
    plan = mechanism.plan(train.X, X_test) if isinstance(mechanism, Planned) else None
    return Held(train, X_test, truth, plan, {})


def _residuals(mechanism: Mechanism, fold: Held, draws: int, seed: list[int], intervals: bool = True) -> _Residuals:
    release = _release(mechanism, fold, np.random.default_rng(seed), draws)
    widths = _half_width(release) if intervals else np.full(len(fold.truth), np.nan)
    return release.samples - fold.truth, widths


def _half_width(release: Release) -> FloatArray:
    """Half of the 95 % interval of the first draw (P,); nan where there is none."""
    if isinstance(release.uncertainty, NoInterval):
        return np.full(len(release.X_test), np.nan)
    low, high = release.interval(LEVEL)
    return np.asarray((high[0] - low[0]) / 2)


def _errors(parts: Iterable[_Residuals]) -> Errors:
    residuals, widths = zip(*parts, strict=True)
    return Errors(rmse(np.concatenate(residuals, axis=1), np.zeros(1)), float(np.median(np.concatenate(widths))))


def _release(mechanism: Mechanism, fold: Held, rng: np.random.Generator, draws: int) -> Release:
    if isinstance(mechanism, Planned) and fold.plan is not None:
        return mechanism.release_planned(fold.plan, fold.train, fold.X_test, rng, draws)
    if isinstance(mechanism, PlannedForBudget):
        return mechanism.measure(_near(mechanism, fold), fold.train, fold.X_test, rng, draws)
    return mechanism.release(fold.train, fold.X_test, rng, draws)


def _near(mechanism: PlannedForBudget, fold: Held) -> Any:
    """The fold's plan for the power of four next to epsilon: planning is the dear part, and a plan holds at any budget.

    Which plan that is depends on epsilon alone, so errors do not depend on the order in which budgets are tried.
    """
    epsilon = _RUNG ** round(math.log(mechanism.guarantee.budget.epsilon, _RUNG))
    if epsilon not in fold.by_budget:
        planner: Any = with_epsilon(mechanism, epsilon)
        fold.by_budget[epsilon] = planner.plan_for(fold.train, fold.X_test)
    return fold.by_budget[epsilon]
