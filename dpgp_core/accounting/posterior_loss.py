"""The privacy loss of posterior paths, in the form in which the ledger adds it to others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import FloatArray
from .posterior_curves import Curve, CurveSettings, Sensitivity, path_curves, require
from .posterior_epsilon import posterior_sampling_epsilon


@dataclass(frozen=True, kw_only=True)
class PosteriorLoss:
    """L whole paths of a GP posterior, one record (input and output) being replaced. Composes by Renyi curves.

    Args:
        n, r, sigma, kappa, M, L, eta, sensitivity: see ``renyi.posterior_sampling_epsilon``.

    Raises:
        ValueError: a number is out of range, or an unknown sensitivity.

    Source: ``posterior_renyi``, after Maciazek 2026, theorem 3.1.
    """

    n: int
    r: float
    sigma: float
    kappa: float
    M: float = 1.0
    L: int = 1
    eta: float = 0.0
    sensitivity: Sensitivity = "generic"

    def __post_init__(self) -> None:
        require("L", np.asarray(self.L), np.asarray(self.L >= 1), "a number of paths, at least 1")
        self._curves()

    def epsilon(self, delta: float) -> float:
        """Smallest epsilon that the proven curve gives at this delta in (0, 1)."""
        return posterior_sampling_epsilon(
            self.n, self.r, self.sigma, self.kappa, delta, self.M, self.L, self.eta, self.sensitivity
        )

    def rdp(self, orders: FloatArray) -> FloatArray:
        """Proven Renyi bound of all L paths at orders alpha > 1 (k,); inf where it is not finite."""
        return np.asarray(self.L * np.min([curve.or_infinity(orders - 1) for curve in self._curves()], axis=0))

    def repeated(self, times: int) -> PosteriorLoss:
        """Independent further paths of the same posterior, or of posteriors with the same settings."""
        return replace(self, L=self.L * times)

    def _curves(self) -> list[Curve]:
        names = ("n", "r", "sigma", "kappa", "M", "eta")
        settings = CurveSettings(**{name: np.asarray(getattr(self, name), dtype=float) for name in names})
        return path_curves(settings, self.sensitivity)
