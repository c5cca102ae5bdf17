"""A strategy: what is measured, and how far that is from the best that could be."""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Strategy:
    """The rows of B are measured: z = B y + noise. Public, made before any output is read.

    Attributes:
        B: strategy matrix (r, n); every column norm <= 1, so changing one record moves B y by at most its own change.
        risk: expected weighted squared error of the prediction from z, in squared model units.
        bound: no strategy has a smaller risk than this (certified), in the same units.
        gap: (risk - bound) / (risk - risk without privacy): how much of what privacy costs might be avoidable. 0 where
            privacy costs nothing.
        iterations: evaluations of the risk that were used.
    """

    B: FloatArray
    risk: float
    bound: float
    gap: float
    iterations: int

    @property
    def avoidable(self) -> float:
        """(risk - bound) / risk: how much of the whole risk might be avoidable."""
        return max(self.risk - self.bound, 0.0) / self.risk if self.risk > 0 else 0.0

    @property
    def rank(self) -> int:
        """Number r of combinations measured."""
        return int(self.B.shape[0])
