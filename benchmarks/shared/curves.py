"""How far released curves are from a true one, and how often their intervals hold it."""

from __future__ import annotations

import numpy as np

from dpgp_core.arrays import FloatArray
from dpgp_core.mechanisms.bayes_cloaking import BayesRelease


class Curves:
    """Releases of one curve.

    Args:
        truth: the curve (P,), in the output's unit.
    """

    def __init__(self, truth: FloatArray) -> None:
        self._truth, self._squares, self._held = truth, list[float](), list[float]()

    def add(self, release: BayesRelease, places: slice = slice(None)) -> None:
        """Count one more, of one draw; at some of its places (P)."""
        low, high = release.interval(0.95, "function")
        self._squares.append(float(((release.samples[0][places] - self._truth) ** 2).mean()))
        self._held.append(float(((low[0][places] <= self._truth) & (self._truth <= high[0][places])).mean()))

    def __str__(self) -> str:
        """As printed."""
        return f"{self.error:.2f} ({self.inside:.2f})"

    @property
    def error(self) -> float:
        """Root mean squared, in the output's unit."""
        return float(np.sqrt(np.mean(self._squares)))

    @property
    def inside(self) -> float:
        """Share of places inside the 95 % interval."""
        return float(np.mean(self._held))
