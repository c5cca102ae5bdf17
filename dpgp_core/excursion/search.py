"""Search for the hyperparameters (lengthscale, ridge, scale) that estimate excursion sets best within a privacy budget.

The constrained minimisation evaluates a coarse logarithmic grid, and then finer grids around the best point. It must
use public or simulated targets, because a search on private data would spend budget.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import ndtr

from ..arrays import FloatArray
from ..checks import check_positive
from ..kernels import Matern12
from .sets import PROBABILITY_FLOOR, Targets, posterior_marginals

EpsilonOfSetting = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
"""Function that maps broadcast arrays (lengthscale, r, scale) to epsilon; inf if there is no guarantee."""
Evaluate = Callable[[float, FloatArray, FloatArray], FloatArray]
"""Function that maps one lengthscale, r (R,) and scale (R, S) to losses (R, S)."""
Progress = Callable[[float], None]
"""Function that is called with the fraction of the work done, from 0 to 1."""
Axes = tuple[FloatArray, ...]
"""Values of lengthscale, r and scale whose product is a grid."""

_OFFSETS = np.array([-2, -1, 0, 1, 2]) / 2  # points around the best one, in units of the last grid step
_TIE = 1e-12  # relative difference of losses that is attributed to rounding errors
_HALVINGS = 20  # number of bisections of the range of log scale, for a relative accuracy of 1e-6


@dataclass(frozen=True, kw_only=True)
class PathSetting:
    """A setting of the hyperparameters, with its loss and its epsilon.

    Attributes:
        lengthscale: lengthscale of the kernel, in input units.
        r: square root of the ridge q, no unit.
        scale: scale s of posterior sampling, or noise c of Hall's release, in model units.
        bce: integrated binary cross-entropy, mean over the targets, in nats.
        epsilon: epsilon of the release.
    """

    lengthscale: float
    r: float
    scale: float
    bce: float
    epsilon: float


@dataclass(frozen=True, kw_only=True)
class SearchSpace:
    """Ranges of the search: (low, high, number of points) for each hyperparameter, evenly spaced in the logarithm.

    Raises:
        ValueError: a bound is not positive, low is above high, or there is no point.
    """

    lengthscale: tuple[float, float, int] = (0.02, 2.0, 10)
    r: tuple[float, float, int] = (0.1, 30.0, 11)
    scale: tuple[float, float, int] = (0.0005, 5.0, 12)

    def __post_init__(self) -> None:
        for name, (low, high, points) in zip(("lengthscale", "r", "scale"), self.ranges, strict=True):
            check_positive(f"low end of {name}", low)
            check_positive(f"number of points of {name}", points)
            if not low <= high < math.inf:
                raise ValueError(f"{name} must run from low to a finite high, got {low} to {high}; swap them")

    @property
    def ranges(self) -> tuple[tuple[float, float, int], ...]:
        """Ranges of lengthscale, r and scale."""
        return self.lengthscale, self.r, self.scale

    def coarse(self) -> Axes:
        """Return the axes of the coarse grid."""
        return tuple(np.geomspace(*each) for each in self.ranges)

    def around(self, setting: PathSetting, level: int) -> Axes:
        """Return the axes of refinement ``level`` >= 1: up to 5 points each, at half the previous distance."""
        axes, best = [], (setting.lengthscale, setting.r, setting.scale)
        for (low, high, points), centre in zip(self.ranges, best, strict=True):
            step = math.log(high / low) / max(points - 1, 1) / 2 ** (level - 1)
            axes.append(np.unique(np.clip(centre * np.exp(step * _OFFSETS), low, high)))
        return tuple(axes)


def minimise(
    evaluate: Evaluate,
    epsilon_of_setting: EpsilonOfSetting,
    budgets: Sequence[float],
    space: SearchSpace,
    rounds: int,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> tuple[PathSetting, ...]:
    """Find, for each budget, the setting with the smallest loss whose epsilon is within the budget.

    In addition to the scales of the grid, each pair (lengthscale, r) is evaluated at the smallest scale that a finite
    budget allows, because a constrained optimum lies there. Epsilon is assumed to decrease in the scale.

    Args:
        evaluate: computes the losses.
        epsilon_of_setting: computes epsilon.
        budgets: largest epsilons allowed; inf for no constraint.
        space: ranges of the search.
        rounds: number of refinements around the best point of each budget, each with half the distances.

    Raises:
        ValueError: no setting visited keeps within a budget.
    """
    nothing = PathSetting(lengthscale=math.nan, r=math.nan, scale=math.nan, bce=math.inf, epsilon=math.inf)
    best = [nothing] * len(budgets)
    done, work = 0.0, space.lengthscale[2] + len(budgets) * rounds * len(_OFFSETS)

    def visit(axes: Axes, share: int) -> None:
        nonlocal done
        lengthscales, r, scales = axes
        borders = _smallest_scales(epsilon_of_setting, lengthscales, r, budgets, space.scale)
        grids = [np.concatenate([np.tile(scales, (len(r), 1)), border], axis=1) for border in borders]
        # Results are compared in a fixed order, wherever they are computed, so that ties are broken in the same way.
        evaluated = (executor.map if executor else map)(evaluate, list(lengthscales), [r] * len(grids), grids)
        for lengthscale, scale, losses in zip(lengthscales, grids, evaluated, strict=True):
            epsilons = np.broadcast_to(epsilon_of_setting(np.asarray(lengthscale), r[:, None], scale), scale.shape)
            for index, budget in enumerate(budgets):
                best[index] = _better(best[index], lengthscale, r, scale, losses, epsilons, budget)
            done += share / len(lengthscales)
            if progress:
                progress(min(1.0, done / work))

    visit(space.coarse(), space.lengthscale[2])
    for setting, budget in zip(best, budgets, strict=True):
        if not math.isfinite(setting.bce):
            raise ValueError(f"no setting searched keeps epsilon <= {budget:g}; allow a larger r or scale")
    for level in range(1, rounds + 1):
        for index in range(len(budgets)):
            visit(space.around(best[index], level), len(_OFFSETS))
    return tuple(best)


def _smallest_scales(
    epsilon_of_setting: EpsilonOfSetting,
    lengthscales: FloatArray,
    r: FloatArray,
    budgets: Sequence[float],
    scale: tuple[float, float, int],
) -> FloatArray:
    """Return the smallest scale in the range that each of B finite budgets allows, or the largest scale if none does.

    The shape is (lengthscales, r, B).
    """
    limits = np.array([budget for budget in budgets if math.isfinite(budget)])
    shape = (len(lengthscales), len(r), len(limits))
    low, high = np.full(shape, math.log(scale[0])), np.full(shape, math.log(scale[1]))
    for _ in range(_HALVINGS if len(limits) else 0):
        middle = (low + high) / 2
        allowed = epsilon_of_setting(lengthscales[:, None, None], r[:, None], np.exp(middle)) <= limits
        low, high = np.where(allowed, low, middle), np.where(allowed, middle, high)
    return np.asarray(np.exp(high))


def _better(
    best: PathSetting,
    lengthscale: float,
    r: FloatArray,
    scale: FloatArray,
    losses: FloatArray,
    epsilons: FloatArray,
    budget: float,
) -> PathSetting:
    allowed = np.where(epsilons <= budget, losses, np.inf)
    # Losses that are equal up to rounding errors count as ties. Otherwise the result would depend on the processor.
    least = float(allowed.min())
    at = np.unravel_index((allowed <= least + _TIE * abs(least)).argmax(), allowed.shape)
    if not least < best.bce - _TIE * abs(least):
        return best
    return PathSetting(
        lengthscale=float(lengthscale),
        r=float(r[at[0]]),
        scale=float(scale[at]),
        bce=float(losses[at]),
        epsilon=float(epsilons[at]),
    )


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
    """Minimise the mean binary cross-entropy of p = Phi((mu_D - t) / (s sqrt(k_D))) subject to epsilon <= budget.

    One eigendecomposition per lengthscale and training set suffices for all r, and s only scales the standard
    deviation. All budgets share the coarse grid, and then the best point of each budget is refined. Points that are
    evaluated for one budget are considered for all, so a larger budget never has a larger loss.

    Args:
        targets: public or simulated training sets with their true excursion sets.
        epsilon_of_setting: computes the epsilon of a release, for arrays of settings.
        budgets: largest epsilons allowed; inf for no constraint.
        space: ranges of the search; default ``SearchSpace()``.
        rounds: number of refinements, each with half the distances.

    Returns:
        A setting for each budget.

    Raises:
        ValueError: no setting of the space keeps within a budget.
    """
    evaluate = partial(_posterior_losses, targets)
    return minimise(evaluate, epsilon_of_setting, budgets, space or SearchSpace(), rounds, progress, executor)


def _posterior_losses(targets: Targets, lengthscale: float, r: FloatArray, scale: FloatArray) -> FloatArray:
    """Return the mean loss (R, S) of posterior sampling over the targets, for r (R,) and scale (R, S), in nats."""
    kernel, total = Matern12(lengthscale=lengthscale), np.zeros(scale.shape)
    for X, y, truth in zip(targets.X, targets.y, targets.truth, strict=True):
        mean, variance = posterior_marginals(kernel, X, y, targets.grid, r * r)
        total += loss_of_margins(np.where(truth, 1, -1) * (mean - targets.threshold) / np.sqrt(variance), scale)
    return total / len(targets)


def loss_of_margins(margin: FloatArray, scale: FloatArray) -> FloatArray:
    """Return the binary cross-entropy (R, S) of p = Phi(margin / s), in nats.

    Args:
        margin: distances from the threshold (R, P), in standard deviations for s = 1, positive on the correct side.
        scale: scales s (R, S).
    """
    of_truth = ndtr(margin[:, None, :] / scale[:, :, None])
    np.clip(of_truth, PROBABILITY_FLOOR, 1 - PROBABILITY_FLOOR, out=of_truth)
    return np.asarray(-np.log(of_truth, out=of_truth).mean(axis=-1))
