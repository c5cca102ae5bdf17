"""Search for the lengthscale, ridge and scale that describe excursion sets best, within a privacy budget.

Settings are chosen on public or simulated targets; a search on private data would have to be paid for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import ndtr

from ..accounting.gaussian import noise_multiplier
from ..arrays import FloatArray
from ..kernels import Kernel, Matern12
from .grid_search import EpsilonOfSetting, PathSetting, Progress, SearchSpace, minimise
from .marginals import hall_mean, posterior_marginals
from .sets import PROBABILITY_FLOOR, Targets


def exponential(lengthscale: float) -> Kernel:
    """The exponential kernel, unit variance; lengthscale in input units."""
    return Matern12(lengthscale=lengthscale)


def search(
    targets: Targets,
    epsilon_of_setting: EpsilonOfSetting,
    budgets: Sequence[float] = (math.inf,),
    space: SearchSpace | None = None,
    *,
    rounds: int = 3,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> tuple[PathSetting, ...]:
    """Minimise the mean BCE of p = Phi((mu_D - t) / (s sqrt(k_D))) subject to epsilon <= each budget.

    One eigendecomposition per lengthscale and training set serves every r; s only scales the
    deviation. The coarse grid serves all budgets, then each budget's best point is refined;
    a point visited for one budget counts for all, so a looser budget is never worse.

    Args:
        targets: public or simulated training sets with their true sets.
        epsilon_of_setting: cost of a release, vectorised.
        budgets: largest epsilons allowed; inf for no constraint.
        space: where to search.
        rounds: refinements, each twice as fine.
        progress: called with the fraction done.
        executor: where the lengthscales of a grid are evaluated; None for here, one after the other.

    Returns:
        One setting per budget.

    Raises:
        ValueError: no setting of the space keeps within a budget.
    """
    evaluate = partial(_posterior_losses, targets)
    return minimise(evaluate, epsilon_of_setting, budgets, space or SearchSpace(), rounds, progress, executor)


def hall_noise(epsilon: float, delta: float, M: float = 1.0, L: int = 1) -> float:
    """Noise c of L paths of Hall's release, exact for (epsilon, delta): mu = 2 M sqrt(L) / c.

    The kernel sum moves by |y k_x - y' k_x'| <= 2 M in the RKHS norm if k >= 0 and k(x, x) <= 1.

    Args:
        epsilon: of the guarantee, > 0.
        delta: of the guarantee, in (0, 1).
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
        delta: in (0, 1).
        space: where to search; its scale is not used.
        rounds: refinements, each twice as fine.
        progress: called with the fraction done.
        executor: where the lengthscales of a grid are evaluated; None for here, one after the other.

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


def _posterior_losses(targets: Targets, lengthscale: float, r: FloatArray, scale: FloatArray) -> FloatArray:
    """Mean BCE over the targets of posterior sampling, r (R,) and scale (R, S) -> (R, S)."""
    kernel, total = exponential(lengthscale), np.zeros(scale.shape)
    for X, y, truth in zip(targets.X, targets.y, targets.truth, strict=True):
        mean, variance = posterior_marginals(kernel, X, y, targets.grid, r * r)
        total += _bce(np.where(truth, 1, -1) * (mean - targets.threshold) / np.sqrt(variance), scale)
    return total / len(targets)


def _hall_losses(targets: Targets, lengthscale: float, r: FloatArray, scale: FloatArray) -> FloatArray:
    """Mean BCE over the targets of Hall's release, r (R,) and scale (R, S) -> (R, S)."""
    kernel, q, total = exponential(lengthscale), (r * r)[:, None], np.zeros(scale.shape)
    for X, y, truth in zip(targets.X, targets.y, targets.truth, strict=True):
        sums = hall_mean(kernel, X, y, targets.grid, 1.0)
        total += _bce(np.where(truth, 1, -1) * (sums - q * targets.threshold), scale)
    return total / len(targets)


def _constant(epsilon: float) -> EpsilonOfSetting:
    return lambda lengthscale, r, scale: np.asarray(epsilon)


def _share(progress: Progress | None, done: int, work: int) -> Progress | None:
    """Report the progress of one of ``work`` equal parts as that of the whole."""
    return progress and (lambda fraction: progress((done + fraction) / work))


def _bce(margin: FloatArray, scale: FloatArray) -> FloatArray:
    """BCE (R, S) of Phi(margin / s), s (R, S), margin (R, P) positive on the right side of the threshold."""
    of_truth = ndtr(margin[:, None, :] / scale[:, :, None])
    np.clip(of_truth, PROBABILITY_FLOOR, 1 - PROBABILITY_FLOOR, out=of_truth)
    loss: FloatArray = -np.log(of_truth, out=of_truth).mean(axis=-1)
    return loss
