"""Best of a random number of private runs: the cost of publishing only the run with the highest score."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.special import lambertw

from ..arrays import FloatArray
from ..checks import check_share
from .gaussian import check_budget, check_delta
from .losses import PrivacyLoss

Run = TypeVar("Run")


@dataclass(frozen=True)
class ParallelLoss:
    """Releases on disjoint parts of the data, each free to use the results of those before it: the worst one counts.

    A neighbour differs in one part only; later releases of another part are post-processing of it
    (Honkela & Melkas 2021, lemma 3, for any divergence).

    Args:
        losses: one for each part.
    """

    losses: tuple[PrivacyLoss, ...]

    def epsilon(self, delta: float) -> float:
        """The largest epsilon."""
        return max(loss.epsilon(delta) for loss in self.losses)

    def rdp(self, orders: FloatArray) -> FloatArray:
        """The largest divergence at each order."""
        return np.asarray(np.max([loss.rdp(orders) for loss in self.losses], axis=0))

    def repeated(self, times: int) -> ParallelLoss:
        """Independent releases on the same parts."""
        return ParallelLoss(tuple(loss.repeated(times) for loss in self.losses))


def best_of_runs(run: Callable[[], tuple[float, Run] | None], runs: int) -> tuple[float, Run] | None:
    """The (score, result) of highest score among ``runs`` calls; None where a call is refused each time."""
    best: tuple[float, Run] | None = None
    for _ in range(runs):
        result = run()
        if result is not None and (best is None or result[0] > best[0]):
            best = result
    return best


class LiuTalwar(NamedTuple):
    """Constants of the selection with geometric stopping.

    Attributes:
        t: sqrt(2 delta) / gamma, the chance delta_2 of reaching the last draw.
        delta: of one run.
        epsilon: of one run.
        draws: T, at most so many.
    """

    t: float
    delta: float
    epsilon: float
    draws: int


def liu_talwar_constants(epsilon: float, delta: float, gamma: float) -> LiuTalwar:
    """Budget of each run for a whole selection that is (epsilon, delta)-DP.

    epsilon = 3 e + 3 sqrt(2 d),  delta = t (1 - log t),  t = sqrt(2 d) / gamma = -delta / W_-1(-delta / exp(1)),
    T = ceil(log(1/t) / gamma)

    Args:
        gamma: chance in (0, 1) of stopping after each draw.

    Raises:
        ValueError: an argument is out of range, or epsilon is too small for this delta.

    Source: Liu & Talwar 2019, theorem 3.4; Honkela & Melkas 2021, appendix C.
    """
    check_budget(epsilon, delta)
    check_share("gamma", gamma)
    t = -delta / float(lambertw(-delta / math.e, k=-1).real)
    one_delta = (gamma * t) ** 2 / 2
    one_epsilon = epsilon / 3 - math.sqrt(2 * one_delta)
    check_budget(one_epsilon, one_delta)
    return LiuTalwar(t, one_delta, one_epsilon, math.ceil(math.log(1 / t) / gamma))


def zcdp_of(epsilon: float, delta: float) -> float:
    """Rho whose zCDP implies (epsilon, delta)-DP: (sqrt(epsilon + log(1/delta)) - sqrt(log(1/delta)))^2.

    Source: Bun & Steinke 2016, proposition 1.3.
    """
    check_delta(delta)
    log_inverse = -math.log(delta)
    return (math.sqrt(epsilon + log_inverse) - math.sqrt(log_inverse)) ** 2
