"""Posterior paths and Hall's release on a grid, in batches of training sets; and the search of Hall's best setting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.arrays import FloatArray
from dpgp_core.excursion.search import (
    EpsilonOfSetting,
    PathSetting,
    Progress,
    SearchSpace,
    loss_of_margins,
    minimise,
)
from dpgp_core.excursion.sets import Targets
from dpgp_core.gp.regression import posterior
from dpgp_core.kernels import Kernel, Matern12

_LEAST_JITTER, _MOST_JITTER = 1e-12, 1e-6  # relative to the largest variance


def posterior_paths(
    kernel: Kernel, targets: Targets, ridge: float, scale: float, count: int, rng: np.random.Generator
) -> FloatArray:
    """Draw paths f ~ GP(mu_D, s^2 k_D) on the grid, (T, count, P), in model units.

    f = mu_D + s F z, F F^T = k_D, z standard normal.

    Args:
        kernel: covariance function with k(x, x) = 1.
        targets: T training sets and their grid.
        ridge: q = r^2 > 0.
        scale: s >= 0; the model's noise variance is s^2 q.
        count: paths per training set.

    Source: Maciazek 2026, eq. 1.
    """
    paths = np.empty((len(targets), count, len(targets.grid)))
    for path, X, y in zip(paths, targets.X, targets.y, strict=True):
        mean, covariance = posterior(kernel, X, y, targets.grid, ridge)
        path[:] = mean + scale * _draws(_factor(covariance), count, rng)
    return paths


def hall_mean(kernel: Kernel, X: FloatArray, y: FloatArray, grid: FloatArray, ridge: float) -> FloatArray:
    """Kernel sum (1/q) sum_i y_i k(x, x_i) at every grid point (P,), in model units. Not private."""
    return kernel(grid, X) @ y / ridge


def hall_paths(
    kernel: Kernel, targets: Targets, ridge: float, noise: float, count: int, rng: np.random.Generator
) -> FloatArray:
    """Draw (1/q)[sum_i y_i k(., x_i) + c G], G ~ GP(0, k), on the grid: (T, count, P), in model units.

    Args:
        kernel: non-negative covariance function with k(x, x) = 1.
        targets: T training sets and their grid.
        ridge: q = r^2 > 0.
        noise: c, in model units.
        count: paths per training set.

    Source: Hall, Rinaldo & Wasserman 2013, with the kernel sum as the released function.
    """
    F = _factor(kernel(targets.grid, targets.grid))
    means = [hall_mean(kernel, X, y, targets.grid, ridge) for X, y in zip(targets.X, targets.y, strict=True)]
    return np.stack([mean + noise / ridge * _draws(F, count, rng) for mean in means])


def hall_noise(epsilon: float, delta: float, M: float = 1.0, L: int = 1) -> float:
    """Noise c of L paths of Hall's release, exact for (epsilon, delta): mu = 2 M sqrt(L) / c.

    The kernel sum moves by |y k_x - y' k_x'| <= 2 M in the RKHS norm if k >= 0 and k(x, x) <= 1.

    Args:
        M: bound of |y|, in model units.
        L: paths released.

    Returns:
        c, in model units.
    """
    return 2 * M * math.sqrt(L) * noise_multiplier(epsilon, delta)


def search_hall(
    targets: Targets,
    budgets: Sequence[float],
    delta: float,
    space: SearchSpace | None = None,
    *,
    rounds: int = 3,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> tuple[PathSetting, ...]:
    """Minimise the mean BCE of Hall's release, whose noise c each budget fixes, over lengthscale and r.

    p = Phi((sum_i y_i k(x, x_i) - q t) / c): for t = 0 it does not depend on r, and the smallest r is returned.

    Args:
        targets: public or simulated training sets with their true sets.
        budgets: finite epsilons > 0.
        space: where to search; its scale is not used.
        rounds: refinements, each twice as fine.

    Returns:
        One setting per budget, with ``scale`` = c.
    """
    evaluate = partial(_hall_losses, targets)
    settings: list[PathSetting] = []
    for done, budget in enumerate(budgets):
        c = hall_noise(budget, delta)
        only_c = replace(space or SearchSpace(), scale=(c, c, 1))
        share = _share(progress, done, len(budgets))
        settings += minimise(evaluate, _constant(budget), (budget,), only_c, rounds, share, executor)
    return tuple(settings)


def _hall_losses(targets: Targets, lengthscale: float, r: FloatArray, scale: FloatArray) -> FloatArray:
    """Mean BCE over the targets of Hall's release, r (R,) and scale (R, S) -> (R, S)."""
    kernel, q, total = Matern12(lengthscale=lengthscale), (r * r)[:, None], np.zeros(scale.shape)
    for X, y, truth in zip(targets.X, targets.y, targets.truth, strict=True):
        sums = hall_mean(kernel, X, y, targets.grid, 1.0)
        total += loss_of_margins(np.where(truth, 1, -1) * (sums - q * targets.threshold), scale)
    return total / len(targets)


def _constant(epsilon: float) -> EpsilonOfSetting:
    return lambda lengthscale, r, scale: np.asarray(epsilon)


def _share(progress: Progress | None, done: int, work: int) -> Progress | None:
    """Report the progress of one of ``work`` equal parts as that of the whole."""
    return progress and (lambda fraction: progress((done + fraction) / work))


def _draws(F: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
    return rng.standard_normal((count, len(F))) @ F.T


def _factor(covariance: FloatArray) -> FloatArray:
    """Lower F with F F^T = covariance + jitter: independent noise on a release costs no privacy."""
    largest, jitter = covariance.diagonal().max(), _LEAST_JITTER
    while True:
        try:
            factor: FloatArray = cholesky(covariance + jitter * largest * np.eye(len(covariance)), lower=True)
            return factor
        except LinAlgError:
            if jitter >= _MOST_JITTER:
                raise
            jitter *= 100
