"""Public queries of Bayes cloaking and their noisy answers, in model units.

M is the number of columns of a strategy, which are cells or clusters, and F the number of nodes at which public
functions are stored, see ``cells``. The answer of a query is NaN or empty until the query has been measured.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import FloatArray
from ..measurement.measurement import CellCounts
from .counts import Counts, Positions

NOTHING: FloatArray = np.zeros(0)


class Squares(NamedTuple):
    """Clipped squared residuals: the sum of min((y - g)^2, high) / high - 1/2 over all records.

    Attributes:
        g: public curve at the nodes (F,), in model units.
        high: squared clipping threshold A_c^2 of the residuals of each column (M,), in squared model units.
        s: standard deviation of the noise.
        z: the noisy sum.
    """

    g: FloatArray
    high: FloatArray
    s: float
    z: float = np.nan


class StageMeasurement(NamedTuple):
    """One stage: noisy sums z = B x + s w of clipped residuals.

    Entry c of x adds up the location of each residual y - g of column c in the clipping interval, from -1/2 to 1/2.

    Attributes:
        B: strategy (r, M).
        low, high: clipping interval of the residuals in each column (M,), in model units.
        noise_multiplier: standard deviation s of the noise on each entry of z.
        g: public function that is subtracted from outcomes, at the nodes (F,), in model units.
        z: noisy sums (r,).
        squares: clipped squared residuals about g, if they were measured.
        width: half-width of the intervals over the predictive standard deviation; None for a release read from a file.
        clips: whether a residual may lie outside its interval.
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
    """Clipped absolute residuals ("distances" from the curve): sums of min(|y - g|, A) / A - 1/2.

    Attributes:
        B: strategy (r, M).
        threshold: clipping threshold A, in model units.
        sd: residual standard deviation that the stages imply, in model units.
        s: standard deviation of the noise on each entry of z.
        z: noisy sums (r,).
        above: (s, z) for the number of outcomes above the curve: the standard deviation of the noise, and the noisy
            number; None if it is not measured.
    """

    B: FloatArray
    threshold: float
    sd: float
    s: float
    z: FloatArray = NOTHING
    above: tuple[float, float] | None = None


class Measured(NamedTuple):
    """All measurements of one release.

    Attributes:
        stages: the stages in the order in which they were measured.
        distances: absolute residuals about the curve that the stages determine, if they were measured.
        counts: how the numbers of records in cells were measured, or these numbers if they are public.
        z: noisy numbers of records (M,); empty if they are public.
        positions: locations of the records within cells, if they were measured.
    """

    stages: tuple[StageMeasurement, ...]
    distances: Distances | None = None
    counts: CellCounts | Counts | None = None
    z: FloatArray = NOTHING
    positions: Positions | None = None
