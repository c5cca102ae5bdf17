"""Which posterior paths a budget allows: the smallest kernel scale, or the smallest ridge, for a target epsilon."""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import brentq

from .calibration import check_budget
from .posterior_renyi import Sensitivity
from .renyi import posterior_sampling_epsilon


def posterior_sampling_sigma(
    epsilon: float,
    n: int,
    r: float,
    kappa: float,
    delta: float,
    M: float = 1.0,
    L: int = 1,
    sensitivity: Sensitivity = "generic",
) -> float:
    """Smallest kernel scale s for which L posterior paths without additional noise are (epsilon, delta)-DP.

    Args:
        epsilon: target, > 0.
        n: number of records, >= 1.
        r: square root of the effective ridge, > 0.
        kappa: smallest kernel value over the public domain, in [0, 1].
        delta: in (0, 1).
        M: bound on the absolute outputs, > 0.
        L: number of independent paths, >= 1.
        sensitivity: see ``posterior_sampling_epsilon``.

    Raises:
        ValueError: as there; or the covariance alone leaks more than epsilon, so that no s is large enough.
    """
    check_budget(epsilon, delta)

    def spent(sigma: float) -> float:
        return posterior_sampling_epsilon(n, r, sigma, kappa, delta, M, L, 0.0, sensitivity)

    if spent(math.inf) >= epsilon:
        raise ValueError(
            f"no scale s reaches epsilon = {epsilon:g} at r = {r:g}: the covariance alone leaks {spent(math.inf):.3g}; "
            "use a larger r, fewer paths or a larger epsilon"
        )
    return _smallest(spent, epsilon)


def posterior_sampling_r(
    epsilon: float,
    n: int,
    sigma: float,
    kappa: float,
    delta: float,
    M: float = 1.0,
    L: int = 1,
    eta: float = 0.0,
    sensitivity: Sensitivity = "generic",
) -> float:
    """Smallest r (root of the ridge) for which L posterior paths are (epsilon, delta)-DP.

    Args:
        epsilon: target, > 0.
        n: number of records, >= 1.
        sigma: kernel scale s > 0, or inf, in units of the outputs.
        kappa: smallest kernel value over the public domain, in [0, 1].
        delta: in (0, 1).
        M: bound on the absolute outputs, > 0.
        L: number of independent paths, >= 1.
        eta: scale >= 0 of additional noise from the GP prior, in units of the outputs.
        sensitivity: see ``posterior_sampling_epsilon``.

    Raises:
        ValueError: as there.
    """
    check_budget(epsilon, delta)
    return _smallest(lambda r: posterior_sampling_epsilon(n, r, sigma, kappa, delta, M, L, eta, sensitivity), epsilon)


def _smallest(spent: Callable[[float], float], epsilon: float) -> float:
    # ``spent`` falls from infinity to below epsilon: bracket by factors of 4, then the root in log, rounded up
    low = high = 1.0
    while spent(low) <= epsilon:
        low /= 4
    while spent(high) > epsilon:
        high *= 4
    value = math.exp(brentq(lambda t: spent(math.exp(t)) - epsilon, math.log(low), math.log(high), xtol=1e-12))
    step = 1e-12
    while spent(value) > epsilon:
        value *= 1 + step
        step *= 2
    return value
