"""Public queries of Bayes cloaking and their noisy answers, in model units.

Records are divided into M bins, which are cells or clusters. Public functions, such as the curve g that is subtracted
from outcomes, are stored at F nodes (``cells``). Every query has sensitivity 1, so that its noise multiplier s is also
the standard deviation of its noise. The answer z of a query is NaN or empty until the query has been measured.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import FloatArray
from ..measurement.measurement import CellCounts
from .counts import Locations, RecordCounts

NOTHING: FloatArray = np.zeros(0)


class Squares(NamedTuple):
    """Clipped squared residuals: the sum of min((y - g)^2, theta^2) / theta^2 - 1/2 over all records.

    Attributes:
        g: public curve at the nodes (F,), in model units.
        high: squared clipping threshold theta^2 of each bin (M,), in squared model units.
        s: noise multiplier.
        z: the noisy sum.
    """

    g: FloatArray
    high: FloatArray
    s: float
    z: float = np.nan


class StageMeasurement(NamedTuple):
    """One stage: noisy sums z = B q + noise of clipped residuals.

    Entry c of q is the sum of (clip(y - g, low_c, high_c) - o_c) / u_c over the records of bin c, where o_c and u_c are
    the middle and the width of the clipping interval.

    Attributes:
        B: strategy (r, M).
        low, high: clipping interval of the residuals in each bin (M,), in model units.
        s: noise multiplier.
        g: public function that is subtracted from outcomes, at the nodes (F,), in model units.
        z: noisy sums (r,).
        squares: clipped squared residuals about g, if they were measured.
        width: half-width of the intervals in predictive standard deviations; None for a release read from a file.
        clips: whether a residual may lie outside its interval.
    """

    B: FloatArray
    low: FloatArray
    high: FloatArray
    s: float
    g: FloatArray
    z: FloatArray = NOTHING
    squares: Squares | None = None
    width: float | None = None
    clips: bool = True


class Distances(NamedTuple):
    """Clipped absolute residuals ("distances" from the curve): noisy sums z = B q + noise.

    Entry c of q is the sum of min(|y - g|, theta) / theta - 1/2 over the records of bin c.

    Attributes:
        B: strategy (r, M).
        threshold: clipping threshold theta, the same in all bins, in model units.
        sd: residual standard deviation that the stages imply, in model units.
        s: noise multiplier.
        z: noisy sums (r,).
        above: noise multiplier s and noisy answer z of the number of outcomes above the curve; None if that is not
            measured.
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
        counts: the measurement of the numbers of records in the bins, or these numbers if they are public.
        z: noisy numbers of records (M,); empty if they are public.
        locations: locations of the records within cells, if they were measured.
    """

    stages: tuple[StageMeasurement, ...]
    distances: Distances | None = None
    counts: CellCounts | RecordCounts | None = None
    z: FloatArray = NOTHING
    locations: Locations | None = None
