"""Laplace binning: the mean of every public bin, with noise for the few records that are in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..accounting.guarantee import BEYOND_ONE_RELEASE, FIXED_IN_ADVANCE, ONE_OUTPUT, Budget, Guarantee
from ..accounting.losses import PureLoss
from ..arrays import FloatArray
from ..gp.grid import BinPlan, Grid, check_bins, plan_bins
from ..gp.uncertainty import NoInterval
from ..measurement.integers import GRID, place_integers
from ..measurement.measurement import STEPS, LaplaceMeasurement
from ..measurement.noise import LaplaceNoise, with_noise
from ..measurement.statistics import Stage, Statistics
from ..table import Dataset
from .base import NotPrivate, Release, promise_for, teaching
from .recorded import EachDraw, statistics_of

ASSUMPTIONS = (
    FIXED_IN_ADVANCE[0],
    "inputs and their number are public, and so are the box and its bins",
    FIXED_IN_ADVANCE[2],
)


@dataclass(frozen=True, kw_only=True)
class BinMeans:
    """Parameters, accounting and noise common to mechanisms that release the means of bins.

    Args:
        epsilon: the budget of one draw; delta is 0.
        bins: number of bins along each dimension of the public box, or one number for all.

    Raises:
        ValueError: a parameter is out of range.
    """

    epsilon: float
    bins: int | Sequence[int]

    theorem: ClassVar[str] = (
        "Laplace mechanism (Dwork, McSherry, Nissim & Smith 2006, proposition 1) on each bin's mean; "
        "parallel composition over disjoint bins (McSherry 2009, theorem 4)"
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "bins", check_bins(self.bins))
        _ = self.guarantee

    @property
    def guarantee(self) -> Guarantee:
        """The promise for one draw, known before any data are read."""
        return Guarantee(
            budget=Budget(epsilon=self.epsilon, delta=0.0),
            loss=PureLoss(self.epsilon),
            protects="outputs",
            neighbours=ONE_OUTPUT,
            unit="one record's output",
            theorem=self.theorem,
            assumptions=ASSUMPTIONS,
            not_covered=BEYOND_ONE_RELEASE,
        )

    def plan(self, X: FloatArray, box: tuple[tuple[float, float], ...]) -> BinPlan:
        """Public plan: the bins occupied by inputs X (n, D) and the Laplace scale of each.

        Args:
            X: inputs (n, D), all inside the box.
            box: D public (low, high) pairs that the bins divide.

        Raises:
            ValueError: an input lies outside the box, or the number of columns does not fit.
        """
        return plan_bins(self.grid(box), X, self.epsilon)

    def plan_for(self, dataset: Dataset, X_test: FloatArray) -> BinPlan:
        """The same for the inputs and the box of a data set; X_test may be anything."""
        return self.plan(dataset.X, dataset.x_box)

    def release(
        self, dataset: Dataset, X_test: FloatArray, rng: np.random.Generator | None = None, draws: int = 1
    ) -> Release:
        """Release predictions at X_test (P, D), in the output's unit; see ``Mechanism`` and ``measure``."""
        return self.measure(self.plan_for(dataset, X_test), dataset, X_test, rng, draws)

    def measure(
        self,
        plan: BinPlan,
        dataset: Dataset,
        X_test: FloatArray,
        rng: np.random.Generator | None = None,
        draws: int = 1,
        *,
        mean: bool = True,
    ) -> Release:
        """Measure and map: the only step that reads outputs; see ``Planned``.

        Raises:
            ValueError: draws < 1, or a test point does not fit.
        """
        raise NotImplementedError

    def grid(self, box: tuple[tuple[float, float], ...]) -> Grid:
        """The bins of a box of D public (low, high) pairs."""
        return Grid(box=box, bins=self.bins if isinstance(self.bins, int) else tuple(self.bins))

    def measured(self, plan: BinPlan, dataset: Dataset, rng: np.random.Generator | None, draws: int) -> FloatArray:
        """Noisy sums z (draws, b) of q over each bin, q_j = (clip(y_j) - midpoint) / d in [-1/2, 1/2].

        The strategy is the bins' indicators: columns of L1 norm exactly 1. Sums are of integers, q^ = rint(2^20 q).
        With n <= 2^33 records they stay below 2^53, so adding them as floats is exact.

        Args:
            plan: from ``plan``.
            dataset: supplies y and bounds.
            rng: None for exact discrete noise; a generator for numbered draws.
            draws: how many, each with noise of its own.
        """
        noise = LaplaceNoise(sensitivity=STEPS, epsilon=self.epsilon)
        exact = [int(total) * GRID for total in self._sums(plan, dataset)]
        return with_noise(exact, noise, STEPS, rng, draws)

    def means(self, plan: BinPlan, dataset: Dataset, z: FloatArray) -> FloatArray:
        """Means of the bins (draws, b) that sums z say, in the output's unit: midpoint + d z_b / n_b."""
        return dataset.midpoint + dataset.output_range * z / plan.counts

    def exact_means(self, plan: BinPlan, dataset: Dataset) -> NotPrivate:
        """The same without noise (b,). Not private."""
        return NotPrivate(self.means(plan, dataset, self._sums(plan, dataset) / GRID))

    def noise_sds(self, plan: BinPlan, dataset: Dataset) -> FloatArray:
        """Standard deviation of the noise in each bin's mean (b,), in the output's unit: Var Lap(scale) = 2 scale^2."""
        return LaplaceNoise(sensitivity=STEPS, epsilon=self.epsilon).sd / STEPS * dataset.output_range / plan.counts

    def recorded(
        self, plan: BinPlan, dataset: Dataset, z: FloatArray, maps: Sequence[FloatArray], guarantee: Guarantee
    ) -> BinSums:
        """The released statistics, one a draw; ``maps`` (P, b) take means of bins to released values."""
        per_sum = dataset.output_range / plan.counts
        different = {id(each): each * per_sum for each in maps}
        return BinSums(
            plan=plan,
            public=dataset.public_part(),
            epsilon=self.epsilon,
            z=z,
            maps=tuple(different[id(each)] for each in maps),
            guarantee=guarantee,
        )

    def _sums(self, plan: BinPlan, dataset: Dataset) -> FloatArray:
        ends = (np.full(dataset.n, end) for end in dataset.y_bounds)
        places = place_integers(dataset.clipped_y, *ends)
        return np.asarray(
            np.bincount(plan.members, weights=places.astype(float), minlength=len(plan.counts)), dtype=float
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class BinSums(EachDraw):
    """Noisy sums over bins.

    Attributes:
        plan: the occupied bins.
        public: the data set without its outputs.
        epsilon: of one draw.
        z: noisy sums (draws, b).
        maps: of each draw (P, b): released values are midpoint + map z.
        guarantee: for all draws together.
    """

    plan: BinPlan
    public: Dataset
    epsilon: float
    z: FloatArray
    maps: tuple[FloatArray, ...]
    guarantee: Guarantee

    def __len__(self) -> int:
        return len(self.z)

    @property
    def size(self) -> int:
        """Numbers in the strategy."""
        return len(self.plan.counts) * self.public.n

    def mapped(self, draw: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """See ``EachDraw``."""
        factor = self.maps[draw]
        return np.full(len(factor), self.public.midpoint), factor, self.z[draw]

    def _of_draw(self, draw: int) -> Statistics:
        low, high = (np.full(self.public.n, end) for end in self.public.y_bounds)
        B = self.plan.weights * self.plan.counts[:, None]
        measurement = LaplaceMeasurement(B=B, low=low, high=high, bounds=self.public.y_bounds, epsilon=self.epsilon)
        return statistics_of(self.public, [Stage(measurement=measurement, z=self.z[draw])], self.guarantee)


@dataclass(frozen=True, kw_only=True)
class LaplaceBinning(BinMeans):
    """Release mean_b + Lap(d / (n_b epsilon)) for every bin; predict the value of the bin a test point is in.

    One output moves one bin's mean by at most d / n_b, so each is epsilon-DP, and no record is in two bins.
    An empty bin has the public midpoint of the bounds and no noise. The noise is Laplace, not Gaussian:
    ``noise_factor`` gives its covariance, 2 scale^2 for every bin, and equal noise within a bin.

    Args:
        epsilon, bins: see ``BinMeans``.

    Raises:
        ValueError: a parameter is out of range.

    Source: Smith et al. 2018, section 4 (the comparison); Dwork & Roth 2014, section 3.3.
    """

    label: ClassVar[str] = "Laplace bins"
    reference: ClassVar[str] = "Smith et al. 2018, section 4"

    def measure(
        self,
        plan: BinPlan,
        dataset: Dataset,
        X_test: FloatArray,
        rng: np.random.Generator | None = None,
        draws: int = 1,
        *,
        mean: bool = True,
    ) -> Release:
        """See ``BinMeans.measure``: each test point has the value of its bin."""
        guarantee = promise_for(self.guarantee, self.label, dataset).repeated(draws)
        rows, occupied = plan.rows(self.grid(dataset.x_box).index(X_test))
        z = self.measured(plan, dataset, rng, draws)
        inside = np.zeros((len(X_test), len(plan.counts)))
        inside[occupied, rows[occupied]] = 1.0
        release = Release(
            X_test=X_test,
            samples=np.where(occupied, self.means(plan, dataset, z)[:, rows], dataset.midpoint),
            guarantee=guarantee,
            statistics=self.recorded(plan, dataset, z, [inside] * draws, guarantee),
            uncertainty=NoInterval(reason="means of bins have no model of how outputs vary within a bin"),
            noise_factor=inside * self.noise_sds(plan, dataset),
        )
        if rng is None:
            return release
        return teaching(release, np.where(occupied, self.exact_means(plan, dataset)[rows], dataset.midpoint))
