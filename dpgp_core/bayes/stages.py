"""A stage's share of the budget, and how wide it clips outputs.

Clipping is narrow where noise dominates, and wide where people are many. Sums in a narrow interval are precise and may
be biased, in a wide one neither. Which is better depends on how people scatter, and earlier stages say that: before
each stage the width of least expected risk is taken, see ``widest``, by the numbers released so far
(``RecordFilter.next_stage``, ``CellFilter.next_stage``).

The model's noise is normal; people's is not. Sums clipped to c standard deviations about a curve show where the median
lies when c is small, and the mean when c is large. So a stage of half-width c sees alpha (f - g) + beta(c) h, with h a
smooth field that nobody knows, h ~ GP(0, (1 + mean of EQ(x_d)) / 2), lengthscales a quarter of the box (along inputs
that are categories [g = g'] replaces EQ: groups may be skewed alike or not), and

    beta(c) = sigma b ((1 - r) exp(-c / sigma) + r),    b = b0 + (1 - b0) (sigma / half range)^4,    b0 = .33, r = .12;

0 where no end can be passed. Mean and median are never more than sigma apart, and nearly that only where outcomes are
of two values; those scatter by up to half the range, and no others by nearly as much.

Four fifths of its variance are the same field in all stages, the rest is each stage's own.

E clip(r, +-c) over the standard deviation of r is .10, .07, .01 for gamma(2) at c = .75, 1.5, 3 of them, .15, .09, .03
for lognormal(.8), .25, .10, 0 for yes/no of .2, .20, .18, .15 where 3 % lie far out, 0 for normal outcomes; beta over
sigma is .18, .10, .05. An end of an interval that no outcome can pass clips nothing, whatever outcomes are like: it
counts as infinitely far.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray
from ..gp.pivoted import factorise
from ..kernels import EQ
from ..levels import LevelSide
from ..measurement.integers import GRID, strategy_integers
from ..strategies.strategy import Strategy
from ..table import Kind
from .scatter import FAR, Scatter

COUNTS_SHARE = 0.15  # of mu^2, where inputs are private
POSITIONS_SHARE = 0.02  # of it, where people are many for the budget
_LARGEST_PART = 8  # share of 1/s^2 of a stage over that of the first


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedStage:
    """Strategy, noise and width of one stage. Public.

    Attributes:
        strategy: B (r, n) with its risk, bound and gap; None where it is planned from numbers of stages before.
        noise_multiplier: s of the stage, its squares included.
        width: half-width of intervals over the predictive standard deviation; infinite for the whole range.
        widths: those that are chosen among when it is measured; () where the strategy waits for them.
    """

    strategy: Strategy | None
    noise_multiplier: float
    width: float = math.inf
    widths: tuple[float, ...] = ()

    @property
    def planned(self) -> Strategy:
        """The strategy, where there is one in advance."""
        assert self.strategy is not None
        return self.strategy


def stage_multipliers(noise_multiplier: float, stages: int) -> tuple[float, ...]:
    """s_i = s / sqrt(share_i), shares of 1/s^2 proportional to 1, 2, 4, 8, 8, ...: the early ones centre intervals."""
    parts = [min(2**i, _LARGEST_PART) for i in range(stages)]
    return tuple(noise_multiplier * math.sqrt(sum(parts) / part) for part in parts)


def counts_apart(noise_multiplier: float, *, positions: bool = False) -> tuple[float, float, float]:
    """What is measured of private inputs, and all stages together: s of counts, of positions, and of the stages.

    ``COUNTS_SHARE`` of 1/s^2 is of the counts of records in cells, ``POSITIONS_SHARE`` of their positions in them.

    Args:
        noise_multiplier: s of all.
        positions: whether they are measured; their s is infinite where they are not.
    """
    shares = COUNTS_SHARE, POSITIONS_SHARE if positions else 0.0
    each = (*shares, 1 - sum(shares))
    counts, of_positions, stages = (noise_multiplier / math.sqrt(share) if share else math.inf for share in each)
    return counts, of_positions, stages


def rescaled(planned: Sequence[PlannedStage], noise_multiplier: float) -> tuple[PlannedStage, ...]:
    """The same strategies at another budget: valid at any, if no longer the best."""
    multipliers = stage_multipliers(noise_multiplier, len(planned))
    return tuple(replace(stage, noise_multiplier=s) for stage, s in zip(planned, multipliers, strict=True))


def replayed(stage: PlannedStage, B: FloatArray, width: float | None) -> PlannedStage:
    """The stage with the strategy (r, M) and width of another draw."""
    strategy = Strategy(B=B, risk=math.nan, bound=math.nan, gap=math.nan, iterations=0)
    return replace(stage, strategy=strategy, width=math.inf if width is None else width)


def on_the_grid(strategy: Strategy) -> Strategy:
    """The strategy with B as it will be measured: multiples of 2^-20 whose columns are checked in integers."""
    return replace(strategy, B=strategy_integers(strategy.B) / GRID)


def each_column(columns: int) -> Strategy:
    """Every column by itself, B = I: valid always, and taken where released numbers make the best one fail.

    Stages are planned after the budget was charged, and whether that fails may depend on private values.
    """
    return Strategy(B=np.eye(columns), risk=math.inf, bound=0.0, gap=math.inf, iterations=0)


NARROWEST = 1e-3  # of the public range: no interval is narrower
CLIP = 0.75  # half-width of an interval over the predictive standard deviation
WIDTHS = (1.0, 4.0, math.inf)  # half-widths that a stage chooses among, over the narrowest
# The widest interval is taken, which rests on least, of those that are nearly the best: in plans and draws over
# records, by shares of the risk that the best takes away: where noise leaves most of the risk, all leave about as much.
PLANNED_TIED, DRAWN_TIED = 0.1, 0.2
TIED = 0.1  # over cells, of the risk that the stage saves
BIAS = 0.33  # b0
FAR_OUT = 0.12  # r, the share of the bias that is left in wide intervals: a few people may be far out
SAME = 0.8  # of the bias's variance, the share common to all stages
_LENGTHSCALE = 0.25  # of the box's sides
_TOLERANCE = 1e-3  # of the field's variance, left out of its features
_PIVOTS = 16  # along each side, to choose among
IntArray = NDArray[np.intp]
_FAR = 1e6  # half ranges: where an end that clips nothing is put
_TOUCHES = 1e-6  # of half the range


class Public(NamedTuple):
    """The public part of a table.

    Attributes:
        half_range: half the outputs' range, in model units.
        kind: of the outcome.
    """

    x_box: Sequence[tuple[float, float]]
    half_range: float
    kind: Kind = "number"


class Ends(NamedTuple):
    """Where outcomes are clipped, those ends put far away that none can pass, and the least distance that clips.

    Attributes:
        low, high: of residuals, or of outcomes, in model units.
        half_width: from the middle to the nearer end that clips; infinite where none does.
    """

    low: FloatArray
    high: FloatArray
    half_width: FloatArray


def widest(risks: FloatArray, more: FloatArray) -> IntArray:
    """Which of W widths, in order, every draw takes: the widest whose risk is at most ``more`` above the least.

    Args:
        risks: expected of each width (W, D).
        more: (D,).
    """
    good = risks <= risks.min(axis=0) + more
    return np.asarray(len(risks) - 1 - np.argmax(good[::-1], axis=0))


def ends_of(low: FloatArray, high: FloatArray, centre: FloatArray, half_range: float, *, cut: bool = True) -> Ends:
    """Ends of intervals [low, high] about ``centre`` of outcomes in +-half_range, all of one shape.

    Args:
        low: of outcomes, in model units.
        high: above low.
        centre: between them, the expected outcomes.
        cut: whether an outcome may lie beyond the ends at all.
    """
    least, far = _TOUCHES * half_range, _FAR * half_range
    if not cut:
        return Ends(np.full_like(low, -far), np.full_like(high, far), np.full_like(low, np.inf))
    low = np.where(low <= -half_range + least, -far, low)
    high = np.where(high >= half_range - least, far, high)
    whole = (low == -far) & (high == far)
    return Ends(low, high, np.where(whole, np.inf, np.maximum(np.minimum(centre - low, high - centre), 0.0)))


def bias_sd(half_width: FloatArray, noise_variance: FloatArray | float, half_range: float) -> FloatArray:
    """beta(c) for an expected noise variance, of the shape of half_width."""
    sd = np.sqrt(noise_variance)
    decay = np.where(np.isinf(half_width), 0.0, (1 - FAR_OUT) * np.exp(-half_width / sd) + FAR_OUT)
    share = BIAS + (1 - BIAS) * np.minimum(noise_variance / half_range**2, 1.0) ** 2
    beta: FloatArray = share * sd * decay
    return beta


def bias_of(half_width: FloatArray, scatter: Scatter, half_range: float) -> FloatArray:
    """beta(c) of D draws (D, n), people who may be far out included.

    A share p of people at a distance of sigma / sqrt(p) is p (sigma / sqrt(p) - c) of the mean, beyond c.

    Args:
        half_width: c (D, n).
        scatter: of D draws.
    """
    near = bias_sd(half_width, scatter.variance[:, None], half_range)
    if not scatter.far.any():
        return near
    square = np.maximum(1 - scatter.far.sum(axis=1, keepdims=True), 0.0) * near**2
    for share, probability, sd in zip(FAR, scatter.far.T, scatter.sd.T, strict=True):
        beyond = np.maximum(math.sqrt(share) * sd[:, None] - share * half_width, 0.0)
        square += probability[:, None] * beyond**2
    beta: FloatArray = np.sqrt(square)
    return beta


def bias_features(box: Sequence[tuple[float, float]], X: FloatArray) -> FloatArray:
    """Psi (n, q) at X (n, D): h = psi b, b ~ N(0, I). Pivots lie on the box's own sides, so X does not change them."""
    each = [_along(side, X[:, d : d + 1]) for d, side in enumerate(box)]
    return np.hstack([np.full((len(X), 1), 0.5**0.5), *(part / len(box) ** 0.5 for part in each)])


def _along(side: tuple[float, float], x: FloatArray) -> FloatArray:
    """The part that varies with one input (n, 1)."""
    if isinstance(side, LevelSide):
        return np.asarray(0.5**0.5 * (x == np.arange(side.levels)))
    low, high = side
    points = low + (high - low) * ((np.arange(_PIVOTS) + 0.5) / _PIVOTS)[:, None]
    kernel = EQ(variance=0.5, lengthscale=_LENGTHSCALE * (high - low))
    return factorise(kernel, points, _TOLERANCE).features.at(x).values()
