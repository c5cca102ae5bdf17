"""The output as it is declared, and as it is measured: itself, or its natural logarithm.

Taking logarithms first costs no privacy: y_j -> ln(clip(y_j, bounds)) is a public function of one record alone, so
tables that differ in one record still do, and its result lies within the logarithms of the bounds, which is all that
the proof of a mechanism asks of an output. Going back by exp is a public function of what was released.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...arrays import FloatArray

MOST_RATIO = 1e12  # of bounds whose logarithm is measured


@dataclass(frozen=True, kw_only=True)
class OutputScale:
    """Both ways between the output as declared and as measured.

    Args:
        bounds: public (low, high), in ``unit``; above 0 where ``log``.
        unit: as declared.
        log: whether the natural logarithm is measured.

    Raises:
        ValueError: the bounds have no logarithms, or are too far apart.
    """

    bounds: tuple[float, float]
    unit: str
    log: bool

    def __post_init__(self) -> None:
        low, high = self.bounds
        if self.log and low <= 0:
            raise ValueError(f"y_bounds must lie above 0 where logarithms are measured, got low = {low:g}; raise it")
        if self.log and high / low > MOST_RATIO * (1 + 1e-9):
            raise ValueError(
                f"y_bounds are a factor {high / low:g} apart, more than {MOST_RATIO:g}; narrow them for log"
            )

    @property
    def measured_bounds(self) -> tuple[float, float]:
        """Public (low, high) of what is measured."""
        low, high = self.bounds
        return (math.log(low), math.log(high)) if self.log else self.bounds

    @property
    def measured_unit(self) -> str:
        """Unit of what is measured, for example "ln GBP"."""
        return f"ln {self.unit}".strip() if self.log else self.unit

    def measured(self, y: FloatArray) -> FloatArray:
        """Outputs (n,) as they are measured; each by itself, so that a neighbour's differ in one."""
        return np.log(np.clip(y, *self.bounds)) if self.log else y

    def declared(self, values: FloatArray) -> FloatArray:
        """Released values of any shape in ``unit``: of a curve of logarithms the median, ends of intervals as such.

        What passes the bounds by more than their ratio, where noise is all there is, is cut there.
        """
        if not self.log:
            return values
        low, high = self.measured_bounds
        return np.asarray(np.exp(np.clip(values, 2 * low - high, 2 * high - low)))
