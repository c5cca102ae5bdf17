"""A fitted sparse DP-GP in the output's unit: one private release, any number of predictions."""

from __future__ import annotations

from dataclasses import dataclass

from ..accounting.guarantee import Guarantee
from ..arrays import FloatArray
from .posterior import SparsePosterior
from .statistics import NoisyStatistics


@dataclass(frozen=True, kw_only=True, eq=False)
class SparseFit:
    """One private release of the statistics, and what it says anywhere: predictions cost nothing more.

    Attributes:
        statistics: what was released, in model units.
        posterior: computed from it, in model units.
        dataset_units: (y_scale, midpoint), public.
        guarantee: the promise; it covers every prediction.
    """

    statistics: NoisyStatistics
    posterior: SparsePosterior
    dataset_units: tuple[float, float]
    guarantee: Guarantee

    def predict(self, X_test: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean (P,) and variance (P,) of the latent f at X_test (P, D), in the output's unit and its square.

        The variance includes what the privacy noise leaves unknown. Both may be published.
        """
        scale, midpoint = self.dataset_units
        mean, variance = self.posterior.predict(X_test)
        return mean * scale + midpoint, variance * scale**2
