"""What posterior paths spend, and which of them a budget allows: the smallest kernel scale or ridge for an epsilon."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import overload

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from ..arrays import FloatArray
from .gaussian import check_budget
from .posterior_curves import Bound, Curve, CurveSettings, Sensitivity, path_curves, require
from .renyi import LOGITS, Numbers, conversion_penalty

_CHUNK = 2048


# fmt: off
@overload
def posterior_sampling_epsilon(
    n: float, r: float, sigma: float, kappa: float, delta: float, M: float = ..., L: float = ..., eta: float = ...,
    sensitivity: Sensitivity = ..., bound: Bound = ...) -> float: ...
@overload
def posterior_sampling_epsilon(
    n: Numbers, r: Numbers, sigma: Numbers, kappa: Numbers, delta: Numbers, M: Numbers = ..., L: Numbers = ...,
    eta: Numbers = ..., sensitivity: Sensitivity = ..., bound: Bound = ...) -> float | FloatArray: ...
# fmt: on
def posterior_sampling_epsilon(
    n: Numbers,
    r: Numbers,
    sigma: Numbers,
    kappa: Numbers,
    delta: Numbers,
    M: Numbers = 1.0,
    L: Numbers = 1,
    eta: Numbers = 0.0,
    sensitivity: Sensitivity = "generic",
    bound: Bound = "proven",
) -> float | FloatArray:
    """Epsilon >= 0 of releasing L whole posterior paths at this delta, one record (input and output) being replaced.

    epsilon = min over alpha = 1 + beta/tau, beta in (0, 1), of L rho(alpha) + conversion penalty

    It falls as r grows, and as sigma grows if eta = 0. Numbers or arrays that broadcast; arrays give an array.

    Args:
        n: number of records, >= 1.
        r: square root of the effective ridge (noise variance over kernel scale squared), > 0.
        sigma: kernel scale s > 0 in units of the outputs; inf leaves only what the covariance leaks.
        kappa: smallest value of the normalised kernel, k(x, x) <= 1, over the public domain; in [0, 1].
        delta: in (0, 1).
        M: bound on the absolute outputs, > 0.
        L: number of independent paths, >= 1.
        eta: scale >= 0 of additional noise from the GP prior, in units of the outputs.
        sensitivity: "exponential_1d" holds for the exponential kernel and one input only; "exponential_1d_min" takes
            the generic bounds as well, where they are smaller.
        bound: "proven", or "published": 2 psi, the classic conversion, and a generic sensitivity that is false.

    Raises:
        ValueError: a number is out of range, or an unknown sensitivity or bound.

    Source: ``posterior_renyi`` and ``posterior_sensitivity``, after Maciazek 2026, theorem 3.1.
    """
    arrays = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in (n, r, sigma, kappa, M, eta, delta, L)))
    *model, deltas, paths = (a.ravel() for a in arrays)
    require("delta", deltas, (deltas >= 1e-30) & (deltas < 1), "in [1e-30, 1): 0 or 1 would promise nothing")
    require("L", paths, (paths >= 1) & np.isfinite(paths), "a number of paths, at least 1")
    settings = CurveSettings(**dict(zip(("n", "r", "sigma", "kappa", "M", "eta"), model, strict=True)))
    curves = path_curves(settings, sensitivity, bound)
    epsilon = np.empty(deltas.size)
    for start in range(0, deltas.size, _CHUNK):
        chunk = slice(start, start + _CHUNK)
        least = [_least_epsilon(curve.part(chunk), paths[chunk], deltas[chunk]) for curve in curves]
        epsilon[chunk] = np.maximum(0.0, np.min(least, axis=0))
    return epsilon.reshape(arrays[0].shape) if arrays[0].ndim else float(epsilon[0])


def _least_epsilon(curve: Curve, paths: FloatArray, delta: FloatArray) -> FloatArray:
    """Minimum over beta for each of m settings: logits on a grid, then two finer ones, then one parabola."""

    def objective(logits: FloatArray) -> FloatArray:
        x = expit(logits) / curve.tau
        return np.asarray(paths * curve(x) + conversion_penalty(x, delta, "tight" if curve.signed else "classic"))

    best, centre = np.full(curve.tau.shape, np.inf), np.zeros_like(curve.tau)
    for offsets in (LOGITS, LOGITS[17:24] / 4, LOGITS[17:24] / 16):
        values = objective(centre + offsets)
        best = np.minimum(best, values.min(axis=0))
        centre = centre + offsets[values.argmin(axis=0), 0]
    h = 1 / 16
    left, middle, right = objective(centre + h * np.array([[-1.0], [0.0], [1.0]]))
    bend = left - 2 * middle + right
    vertex = centre + h / 2 * np.divide(left - right, bend, out=np.zeros_like(bend), where=bend > 0)
    return np.asarray(np.minimum(best, objective(np.clip(vertex, centre - h, centre + h)[None])[0]))


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
