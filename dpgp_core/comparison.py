"""Mechanisms on equal terms: held-out error against epsilon, and the epsilon that a target error needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from .cross_validation import Folds
from .data import Dataset, FloatArray
from .mechanisms.base import Mechanism, Plan, Planned, Release
from .utility import rmse


class Held(NamedTuple):
    """One fold: what a mechanism may train on, where it is tested, and its public plan if it has one."""

    train: Dataset
    X_test: FloatArray
    truth: FloatArray
    plan: Plan | None


class Errors(NamedTuple):
    """Held-out performance of one mechanism. Not private.

    Attributes:
        rmse: of each simulated draw over all folds (draws,), in the output's unit.
        noise_sd: median standard deviation of the privacy noise at the test points, in the output's unit.
    """

    rmse: FloatArray
    noise_sd: float


def hold_out(mechanism: Mechanism, dataset: Dataset, folds: Folds) -> list[Held]:
    """Split a data set by public folds and plan what does not depend on epsilon, once for all epsilons.

    Args:
        mechanism: any; Gaussian ones are planned here and reused at other budgets.
        dataset: all records.
        folds: test indices of each fold.
    """
    held = []
    for test in folds:
        train = dataset.subset(np.delete(np.arange(dataset.n), test))
        X_test, truth = dataset.X[test], dataset.clipped_y[test]
        plan = mechanism.plan(train.X, X_test) if isinstance(mechanism, Planned) else None
        held.append(Held(train, X_test, truth, plan))
    return held


def held_out_errors(mechanism: Mechanism, held: Sequence[Held], draws: int, seed: int) -> Errors:
    """Errors of ``draws`` simulated releases, each trained without the records that it is tested on.

    The same seed gives the same underlying draws at every epsilon, so errors are smooth in epsilon.

    Args:
        mechanism: at the budget to be judged.
        held: from ``hold_out`` of the same mechanism at any budget.
        draws: simulated releases, >= 1.
        seed: of the simulation.

    Raises:
        ValueError: draws < 1.
    """
    residuals, noise = [], []
    for index, fold in enumerate(held):
        release = _release(mechanism, fold, np.random.default_rng([seed, index]), draws)
        residuals.append(release.samples - fold.truth)
        noise.append(release.noise_sd)
    return Errors(rmse(np.concatenate(residuals, axis=1), np.zeros(1)), float(np.median(np.concatenate(noise))))


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


def _release(mechanism: Mechanism, fold: Held, rng: np.random.Generator, draws: int) -> Release:
    if isinstance(mechanism, Planned) and fold.plan is not None:
        return mechanism.release_planned(fold.plan, fold.train, fold.X_test, rng, draws)
    return mechanism.release(fold.train, fold.X_test, rng, draws)
