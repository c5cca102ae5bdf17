"""Curvature from the last steps: the two-loop recursion of L-BFGS (Nocedal and Wright 2006, algorithm 7.4)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import FloatArray

_MEMORY = 15  # steps remembered
_CURVED = 1e-10  # s . y above this share of |s| |y| counts as upward curvature


class LimitedMemory:
    """The last steps and changes of slope, and what they say of the curvature (L-BFGS two-loop recursion)."""

    def __init__(self) -> None:
        self._pairs: list[tuple[FloatArray, FloatArray, float]] = []

    def __len__(self) -> int:
        return len(self._pairs)

    def add(self, s: FloatArray, y: FloatArray) -> None:
        """Remember a step s and the change y of the slope along it; not where they show no upward curvature."""
        product = float(np.vdot(s, y))
        if product > _CURVED * np.sqrt(float(np.vdot(s, s)) * float(np.vdot(y, y))):
            self._pairs = [*self._pairs[1 - _MEMORY :], (s, y, 1 / product)]

    def clear(self) -> None:
        """Forget everything."""
        self._pairs = []

    def applied(self, slope: FloatArray, first: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Approximate inverse Hessian times slope; ``first`` applies the initial one, up to a factor."""
        q, steps = slope.copy(), []
        for s, y, rho in reversed(self._pairs):
            steps.append(rho * float(np.vdot(s, q)))
            q -= steps[-1] * y
        q = first(q)
        if self._pairs:
            _, y, rho = self._pairs[-1]
            q /= rho * float(np.vdot(y, first(y)))
        for (s, y, rho), a in zip(self._pairs, reversed(steps), strict=True):
            q += (a - rho * float(np.vdot(y, q))) * s
        return q
