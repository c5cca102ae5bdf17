"""Held-out error against epsilon, fold by fold, here or in other processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data import Dataset
from ..mechanisms.base import Mechanism
from .comparison import Errors, Residuals, errors_of, held_fold, residuals_of, with_epsilon
from .cross_validation import Folds

Piece = tuple[list[Residuals], float]
"""Of one fold: residuals at every epsilon, and the seconds of one plan and one release."""


class Sweep(NamedTuple):
    """Held-out performance of one mechanism over a range of budgets. Not private.

    Attributes:
        errors: at each epsilon.
        seconds: of one plan and one release, mean over folds, where they ran.
    """

    errors: list[Errors]
    seconds: float


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
    return Sweep([errors_of(parts) for parts in by_epsilon], float(np.mean([seconds for _, seconds in pieces])))


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
    held = held_fold(mechanism, dataset, test)
    residuals_of(mechanism, held, 1, [seed, index], intervals=False)
    seconds = time.perf_counter() - start
    rows = []
    for epsilon in epsilons:
        rows.append(residuals_of(with_epsilon(mechanism, epsilon), held, draws, [seed, index]))
        progress(len(rows) / len(epsilons))
    return rows, seconds


def _report(progress: Callable[[float], None], done: int, pieces: int, part: float) -> None:
    progress((done + part) / pieces)
