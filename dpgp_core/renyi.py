"""Renyi differential privacy: curves on a grid of orders, their conversion to (epsilon, delta), posterior sampling."""

from __future__ import annotations

from typing import Literal, TypeAlias, overload

import numpy as np
from scipy.special import expit

from .calibration import check_delta
from .data import FloatArray
from .posterior_renyi import Bound, Curve, Sensitivity, Settings, path_curves, require

Numbers: TypeAlias = "float | FloatArray"

ORDERS: FloatArray = 1 + np.geomspace(1e-3, 1e5, 400)
"""Orders alpha > 1 on which curves are added up. A minimum over fewer orders is larger, so still valid."""

_LOGITS = np.arange(-20.0, 9.0)[:, None]  # of beta; delta >= 1e-30 keeps the best 1 - beta above 0.007
_CHUNK = 2048


def conversion_penalty(x: Numbers, delta: Numbers, conversion: Literal["tight", "classic"] = "tight") -> FloatArray:
    """What a Renyi bound at order alpha = 1 + x pays to become an epsilon at this delta.

    tight: log(1 - 1/alpha) - (log delta + log alpha) / (alpha - 1)    classic: log(1/delta) / (alpha - 1)

    The tight one is smaller at every order. Arguments broadcast.

    Source: Canonne, Kamath & Steinke 2020, proposition 12; Mironov 2017, proposition 3.
    """
    if conversion == "classic":
        return np.asarray(-np.log(delta) / x)
    log_order = np.log1p(x)
    return np.asarray(np.log(x) - log_order - (np.log(delta) + log_order) / x)


def rdp_epsilon(rdp: FloatArray, delta: float, orders: FloatArray = ORDERS) -> float:
    """Smallest epsilon >= 0 that a Renyi curve gives at this delta, by the tight conversion.

    epsilon = min_alpha rdp(alpha) + log(1 - 1/alpha) - (log delta + log alpha) / (alpha - 1)

    Args:
        rdp: curve at ``orders`` (k,); inf where the divergence is not finite.
        delta: in (0, 1).
        orders: orders alpha > 1 (k,).

    Raises:
        ValueError: delta is outside (0, 1).

    Source: Canonne, Kamath & Steinke 2020, proposition 12.
    """
    check_delta(delta)
    return max(0.0, float((rdp + conversion_penalty(orders - 1, delta)).min()))


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
    settings = Settings(**dict(zip(("n", "r", "sigma", "kappa", "M", "eta"), model, strict=True)))
    curves = path_curves(settings, sensitivity, bound)
    epsilon = np.empty(deltas.size)
    for start in range(0, deltas.size, _CHUNK):
        chunk = slice(start, start + _CHUNK)
        found = [_least_epsilon(curve.part(chunk), paths[chunk], deltas[chunk]) for curve in curves]
        epsilon[chunk] = np.maximum(0.0, np.min(found, axis=0))
    return epsilon.reshape(arrays[0].shape) if arrays[0].ndim else float(epsilon[0])


def _least_epsilon(curve: Curve, paths: FloatArray, delta: FloatArray) -> FloatArray:
    """Minimum over beta for each of m settings: logits on a grid, then two finer ones, then one parabola."""

    def objective(logits: FloatArray) -> FloatArray:
        x = expit(logits) / curve.tau
        return np.asarray(paths * curve(x) + conversion_penalty(x, delta, "tight" if curve.signed else "classic"))

    best, centre = np.full(curve.tau.shape, np.inf), np.zeros_like(curve.tau)
    for offsets in (_LOGITS, _LOGITS[17:24] / 4, _LOGITS[17:24] / 16):
        values = objective(centre + offsets)
        best = np.minimum(best, values.min(axis=0))
        centre = centre + offsets[values.argmin(axis=0), 0]
    h = 1 / 16
    left, middle, right = objective(centre + h * np.array([[-1.0], [0.0], [1.0]]))
    bend = left - 2 * middle + right
    vertex = centre + h / 2 * np.divide(left - right, bend, out=np.zeros_like(bend), where=bend > 0)
    return np.asarray(np.minimum(best, objective(np.clip(vertex, centre - h, centre + h)[None])[0]))
