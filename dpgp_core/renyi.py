"""Renyi differential privacy: curves on a fixed grid of orders, and their conversion to (epsilon, delta)."""

from __future__ import annotations

import numpy as np

from .calibration import check_delta
from .data import FloatArray

ORDERS: FloatArray = 1 + np.geomspace(1e-3, 1e5, 400)
"""Orders alpha > 1 on which curves are added up. A minimum over fewer orders is larger, so still valid."""


def rdp_epsilon(rdp: FloatArray, delta: float, orders: FloatArray = ORDERS) -> float:
    """Smallest epsilon >= 0 that a Renyi curve gives at this delta.

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
    penalty = np.log1p(-1 / orders) - (np.log(delta) + np.log(orders)) / (orders - 1)
    return max(0.0, float((rdp + penalty).min()))
