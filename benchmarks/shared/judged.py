"""How releases are judged: errors over draws, and the shares of outputs inside intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.evaluation.cross_validation import k_folds
from dpgp_core.mechanisms.base import Mechanism, Planned, PlannedForBudget, Release

LEVELS = (0.5, 0.9, 0.95, 0.99)
FOLDS = 5

Releasing = Callable[[Dataset, np.random.Generator, int], Release]


def splits(dataset: Dataset) -> list[tuple[Dataset, FloatArray, FloatArray]]:
    """Of each public fold: records to train on, inputs (P, D) held out, their clipped outputs (P,)."""
    everybody = np.arange(dataset.n)
    folds = k_folds(dataset.n, FOLDS, np.random.default_rng(0))
    return [(dataset.subset(np.delete(everybody, test)), dataset.X[test], dataset.clipped_y[test]) for test in folds]


def releasing(mechanism: Mechanism, data: Dataset, X_test: FloatArray) -> Releasing:
    """Numbered draws at X_test (P, D), planned once for the inputs of ``data`` where there is a plan."""
    if isinstance(mechanism, Planned):
        plan = mechanism.plan(data.X, X_test)
        return lambda world, rng, draws: mechanism.release_planned(plan, world, X_test, rng, draws)
    if isinstance(mechanism, PlannedForBudget):
        budgeted = mechanism.plan_for(data, X_test)
        return lambda world, rng, draws: mechanism.measure(budgeted, world, X_test, rng, draws)
    return lambda world, rng, draws: mechanism.release(world, X_test, rng, draws)


def error_of(residuals: FloatArray) -> tuple[float, float]:
    """Root mean squared error of residuals (draws, N), mean over draws and its standard error."""
    errors = np.sqrt((residuals**2).mean(axis=1))
    return float(errors.mean()), float(errors.std(ddof=min(1, len(errors) - 1)) / np.sqrt(len(errors)))


def inside(release: Release, truth: FloatArray) -> list[float]:
    """Share of outputs ``truth`` (P,) inside the interval of each of ``LEVELS`` for one more output."""
    ends = [release.interval(level) for level in LEVELS]
    return [float(((low <= truth) & (truth <= high)).mean()) for low, high in ends]


def shares(found: Sequence[float] | FloatArray) -> str:
    """As printed: .50/.91/.95/.99."""
    return "/".join(f"{share:.2f}".lstrip("0") for share in found)
