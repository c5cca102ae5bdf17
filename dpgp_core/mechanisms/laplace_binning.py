"""Laplace binning: the mean of every public bin, with noise for the few records that are in it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..accounting.guarantee import ONE_OUTPUT, Budget, Guarantee
from ..accounting.losses import PureLoss
from ..arrays import FloatArray
from ..data import Dataset
from ..gp.grid import BinPlan, Grid, check_bins, plan_bins
from .base import BEYOND_ONE_RELEASE, FIXED_IN_ADVANCE, NotPrivate, Release

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

    def grid(self, box: tuple[tuple[float, float], ...]) -> Grid:
        """The bins of a box of D public (low, high) pairs."""
        return Grid(box=box, bins=self.bins if isinstance(self.bins, int) else tuple(self.bins))

    def bin_noise(self, plan: BinPlan, dataset: Dataset, rng: np.random.Generator, draws: int) -> FloatArray:
        """Laplace noise of scale d / (n_b epsilon) for every occupied bin (draws, b), in the output's unit."""
        return rng.laplace(size=(draws, len(plan.scales))) * (dataset.d * plan.scales)


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

    def release(self, dataset: Dataset, X_test: FloatArray, rng: np.random.Generator, draws: int = 1) -> Release:
        """Release predictions at X_test (P, D), in the output's unit; see ``Mechanism``.

        Raises:
            ValueError: draws < 1, or an input or test point lies outside the public box.
        """
        guarantee = self.guarantee.for_unit(dataset.unit).repeated(draws)
        plan = self.plan(dataset.X, dataset.x_box)
        rows, occupied = plan.rows(self.grid(dataset.x_box).index(X_test))
        mean = np.where(occupied, plan.means(dataset.clipped_y)[rows], dataset.midpoint)
        noise = self.bin_noise(plan, dataset, rng, draws)
        noise_factor = np.zeros((len(X_test), len(plan.scales)))
        # Var Lap(scale) = 2 scale^2
        noise_factor[occupied, rows[occupied]] = math.sqrt(2) * dataset.d * plan.scales[rows[occupied]]
        return Release(
            X_test=X_test,
            mean=NotPrivate(mean),
            noise_factor=noise_factor,
            samples=mean + np.where(occupied, noise[:, rows], 0.0),
            guarantee=guarantee,
        )
