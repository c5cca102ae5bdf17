"""Renyi differential privacy: curves on a grid of orders, their conversion to (epsilon, delta), posterior sampling."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from ..arrays import FloatArray
from .gaussian import check_delta

Numbers: TypeAlias = "float | FloatArray"

ORDERS: FloatArray = 1 + np.geomspace(1e-3, 1e5, 400)
"""Orders alpha > 1 on which curves are added up. A minimum over fewer orders is larger, so still valid."""

LOGITS = np.arange(-20.0, 9.0)[:, None]  # of beta; delta >= 1e-30 keeps the best 1 - beta above 0.007


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
