"""How far released curves are from a true one, and how often their intervals cover it."""

from __future__ import annotations

import numpy as np

from dpgp_core.arrays import FloatArray
from dpgp_core.measurement.fit import Fit
from dpgp_core.mechanisms.base import Mechanism, Release
from dpgp_core.mechanisms.bayes_cloaking import BayesRelease
from dpgp_core.table import Dataset

LEVEL = 0.95


class Curves:
    """Simulated releases whose true curves are known.

    Attributes:
        fits: what each release by Bayes cloaking says of its fit.
    """

    def __init__(self) -> None:
        self._deviations, self.fits = list[list[FloatArray]](), list[Fit]()

    def measure(
        self, mechanism: Mechanism, data: Dataset, X: FloatArray, truth: FloatArray, rng: np.random.Generator
    ) -> None:
        """Make one release at X (P, D), where the true curve is ``truth`` (P,), and count it."""
        self.add(mechanism.measure(mechanism.plan_for(data, X), data, X, rng, mean=False), truth)

    def add(self, release: Release, truth: FloatArray, places: slice = slice(None)) -> None:
        """Count one more release; at some of its places, where the true curve is ``truth`` (P,)."""
        low, high = release.interval(LEVEL, "function")
        self._deviations.append([each[0][places] - truth for each in (release.samples, low, high)])
        if isinstance(release, BayesRelease):
            self.fits.append(release.fit)

    def __str__(self) -> str:
        """Return error and coverage as they are printed."""
        return f"{self.error:.2f} ({self.inside.mean():.2f})"

    @property
    def deviations(self) -> FloatArray:
        """Released curves, and lower and upper ends of their intervals, minus the true curves (3, releases, P)."""
        return np.stack(self._deviations, axis=1)

    @property
    def error(self) -> float:
        """Root mean square error."""
        return float(np.sqrt((self.deviations[0] ** 2).mean()))

    @property
    def inside(self) -> FloatArray:
        """Share of each release's places that its intervals cover (releases,)."""
        return covered(*self.deviations[1:]).mean(axis=1)


def covered(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return where intervals cover the truth, from their ends minus the truth."""
    return np.asarray((low <= 0) & (high >= 0), dtype=float)
