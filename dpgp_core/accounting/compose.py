"""What several releases spend together."""

from __future__ import annotations

import math

import numpy as np

from .gaussian import LEAST_DELTA, epsilon_of
from .losses import ApproximateLoss, GaussianLoss, PrivacyLoss, PureLoss
from .renyi import ORDERS, rdp_epsilon


def compose(losses: list[PrivacyLoss], delta: float) -> float:
    """Smallest epsilon proven for all losses together at this delta in (0, 1); 0 for none.

    A single loss gives its own epsilon. Gaussian losses compose exactly. If others are among them, the smaller of
    two valid bounds: Renyi curves added up; exact Gaussian total plus the sum of the pure epsilons. Approximate
    losses take their epsilons and their deltas off the top (basic composition), and the rest is proven at the
    delta left over; inf if none is.

    Args:
        losses: what was spent; later ones may have been chosen after seeing earlier releases.
        delta: in (0, 1).

    Raises:
        ValueError: delta is outside (0, 1).
    """
    if len(losses) == 1:
        return losses[0].epsilon(delta)
    approximate = [loss for loss in losses if isinstance(loss, ApproximateLoss)]
    if approximate:
        left = delta - sum(loss.times * loss.approximate_delta for loss in approximate)
        rest: list[PrivacyLoss] = [loss for loss in losses if not isinstance(loss, ApproximateLoss)]
        if left < -1e-9 * delta or (rest and left < LEAST_DELTA):
            return math.inf
        spent = sum(loss.times * loss.approximate_epsilon for loss in approximate)
        return spent + (compose(rest, left) if rest else 0.0)
    gaussian = [loss.mu for loss in losses if isinstance(loss, GaussianLoss)]
    pure = [loss for loss in losses if isinstance(loss, PureLoss)]
    exact = epsilon_of(1 / math.hypot(*gaussian), delta) if gaussian else 0.0
    if len(gaussian) == len(losses):
        return exact
    renyi = rdp_epsilon(np.sum([loss.rdp(ORDERS) for loss in losses], axis=0), delta)
    if len(gaussian) + len(pure) < len(losses):
        return renyi
    return min(renyi, exact + sum(loss.times * loss.pure_epsilon for loss in pure))
