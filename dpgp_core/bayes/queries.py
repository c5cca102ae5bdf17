"""Public queries of Bayes cloaking and their noisy answers, in model units. All of it is public.

M is the number of columns of a strategy: cells or clusters of records. F is the number of nodes at which public
functions are known, see ``cells``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..arrays import FloatArray
from ..measurement.measurement import CellCounts
from ..table import Kind
from .counts import Counts, Positions

NOTHING: FloatArray = np.zeros(0)


class OutcomeInfo(NamedTuple):
    """The public part of a table.

    Attributes:
        x_box: declared box of the inputs.
        half_range: half the range of the outcomes, in model units.
        kind: of the outcome.
    """

    x_box: Sequence[tuple[float, float]]
    half_range: float
    kind: Kind = "number"

    @property
    def is_binary(self) -> bool:
        """Whether every outcome is at one end of the range, as yes and no are."""
        return self.kind == "yes/no"


class Squares(NamedTuple):
    """The sum of min((y - g)^2, high) / high - 1/2 over all records.

    Attributes:
        g: public curve at the nodes (F,), in model units.
        high: clipping threshold of the squares, of each column (M,), in squared model units.
        s: standard deviation of the noise.
        z: the noisy number, once it is measured.
    """

    g: FloatArray
    high: FloatArray
    s: float
    z: float = np.nan


class StageMeasurement(NamedTuple):
    """One stage: the query and, with z, its noisy answer.

    Attributes:
        B: strategy (r, M).
        low, high: clipping interval of the residuals y - g in each column (M,).
        noise_multiplier: s; of a release, the standard deviation of the noise on each entry of z.
        g: public function that is subtracted from outcomes, at the nodes (F,).
        z: noisy measurements (r,), once they are made.
        squares: squared residuals about g, if they were measured.
        width: half-width of the intervals over the predictive standard deviation; not needed for reading.
        clips: whether an outcome may lie beyond the ends of the intervals.
    """

    B: FloatArray
    low: FloatArray
    high: FloatArray
    noise_multiplier: float
    g: FloatArray
    z: FloatArray = NOTHING
    squares: Squares | None = None
    width: float | None = None
    clips: bool = True


class Distances(NamedTuple):
    """Clipped distances from the curve, sums of min(|y - g|, A) / A - 1/2.

    Attributes:
        B: strategy (r, M).
        threshold: clipping threshold A, in model units.
        sd: residual standard deviation as far as the stages for the curve determine it, in model units.
        s: standard deviation of the noise on each entry of z.
        z: noisy sums (r,), once they are measured.
        above: standard deviation of the noise, and the noisy number of outcomes above the curve, if it is measured.
    """

    B: FloatArray
    threshold: float
    sd: float
    s: float
    z: FloatArray = NOTHING
    above: tuple[float, float] | None = None


class Measured(NamedTuple):
    """Everything that one budget measured.

    Attributes:
        stages: one after another.
        distances: of outcomes from the curve that the stages gave, if they were measured.
        counts: measurement of the numbers of records in cells, or these numbers where they are public.
        z: noisy counts (M,); none where they are public.
        positions: locations of the records within cells, if they were measured.
    """

    stages: tuple[StageMeasurement, ...]
    distances: Distances | None = None
    counts: CellCounts | Counts | None = None
    z: FloatArray = NOTHING
    positions: Positions | None = None
