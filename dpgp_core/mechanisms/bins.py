"""Means of public bins, with noise for the few records that are in each, which hide one output at delta = 0.

``LaplaceBinning`` gives each test point the mean of its bin. In ``IntegralBinning`` a GP reads the noisy means as
integrals of a smooth function, and smooths them.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from ..accounting.guarantee import BEYOND_ONE_RELEASE, FIXED_IN_ADVANCE, ONE_OUTPUT, Budget, Guarantee
from ..accounting.losses import PureLoss
from ..arrays import FloatArray
from ..gp.clipping import clipped_moments
from ..gp.grid import BinPlan, Grid, IndexArray, check_bins, k_FF, k_Ff, plan_bins, volumes
from ..gp.uncertainty import IntervalTarget, NoInterval, Uncertainty, mixture_half_width, of_curves
from ..kernels import EQ
from ..measurement.integers import GRID, output_integers
from ..measurement.measurement import STEPS, LaplaceMeasurement
from ..measurement.noise import LaplaceNoise, with_noise
from ..measurement.statistics import Stage
from ..table import Dataset
from .base import ANY_ROWS, Draws, EachDraw, Hidden, Mechanism, Release

ASSUMPTIONS = (
    FIXED_IN_ADVANCE[0],
    "inputs and their number are public, and so are the box and its bins",
    FIXED_IN_ADVANCE[2],
)


@dataclass(frozen=True, kw_only=True)
class BinMeans(Mechanism):
    """Parameters, accounting and noise common to mechanisms that release the means of bins.

    Args:
        epsilon: the budget of one draw; delta is 0.
        bins: number of bins along each dimension of the public box, or one number for all.

    Raises:
        ValueError: a parameter is out of range.
    """

    epsilon: float
    bins: int | Sequence[int]

    pure: ClassVar[bool] = True
    uses_cells: ClassVar[bool] = True
    max_rows: ClassVar[int] = ANY_ROWS
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

    def plan_for(self, dataset: Dataset, X_test: FloatArray) -> BinPlan:
        """Public plan: the bins of the box that inputs occupy; X_test may be anything.

        Raises:
            ValueError: an input lies outside the box.
        """
        return plan_bins(self.grid(dataset.x_box), dataset.X)

    def drawn(self, plan: BinPlan, dataset: Dataset, X_test: FloatArray, draws: Draws) -> tuple[Release, Hidden]:
        """See ``Mechanism``: the only step that reads outputs."""
        z, middle = self.measured(plan, dataset, draws.rng, draws.times), dataset.midpoint
        means = self.means(plan, dataset, z) - middle
        maps = self.maps(plan, dataset, X_test, means)
        samples = middle + np.array([each @ own for each, own in zip(maps, means, strict=True)])
        release = Release(
            X_test=X_test,
            samples=samples,
            guarantee=draws.promise,
            statistics=EachDrawOfBins(
                public=dataset.public_part(), guarantee=draws.promise, z=(z,), mechanism=self, plan=plan, maps=maps
            ),
            uncertainty=self.uncertainty(plan, dataset, X_test, maps[0], samples),
            noise_factor=maps[0] * self.noise_sds(plan, dataset),
        )

        def hidden() -> FloatArray:
            silent = self.means(plan, dataset, self._sums(plan, dataset) / GRID)
            return middle + maps[0] @ (silent - middle)

        return release, hidden

    @abstractmethod
    def maps(self, plan: BinPlan, dataset: Dataset, X_test: FloatArray, means: FloatArray) -> Sequence[FloatArray]:
        """Of each draw (P, b): from means of bins to released values, both about the midpoint; one array if equal."""

    def uncertainty(
        self, plan: BinPlan, dataset: Dataset, X_test: FloatArray, factor: FloatArray, samples: FloatArray
    ) -> Uncertainty:
        """Behind ``Release.interval``, for values (draws, P) by the first draw's map (P, b); by default none."""
        return NoInterval(reason="means of bins have no model of how outputs vary within a bin")

    def grid(self, box: tuple[tuple[float, float], ...]) -> Grid:
        """The bins of a box of D public (low, high) pairs."""
        return Grid(box=box, bins=self.bins)

    def measured(self, plan: BinPlan, dataset: Dataset, rng: np.random.Generator | None, draws: int) -> FloatArray:
        """Noisy sums z (draws, b) of q over each bin, q_j = (clip(y_j) - midpoint) / d in [-1/2, 1/2].

        The strategy is the bins' indicators: columns of L1 norm exactly 1. Sums are of integers, q^ = rint(2^20 q).
        With n <= 2^33 records they stay below 2^53, so adding them as floats is exact.
        """
        noise = LaplaceNoise(sensitivity=STEPS, epsilon=self.epsilon)
        exact = [int(total) * GRID for total in self._sums(plan, dataset)]
        return with_noise(exact, noise, STEPS, rng, draws)

    def means(self, plan: BinPlan, dataset: Dataset, z: FloatArray) -> FloatArray:
        """Means of the bins (draws, b) from sums z, in the output's unit: midpoint + d z_b / n_b."""
        return dataset.midpoint + dataset.output_range * z / plan.counts

    def noise_sds(self, plan: BinPlan, dataset: Dataset) -> FloatArray:
        """Standard deviation of the noise in each bin's mean (b,), in the output's unit: Var Lap(scale) = 2 scale^2."""
        return LaplaceNoise(sensitivity=STEPS, epsilon=self.epsilon).sd / STEPS * dataset.output_range / plan.counts

    def _sums(self, plan: BinPlan, dataset: Dataset) -> FloatArray:
        ends = (np.full(dataset.n, end) for end in dataset.y_bounds)
        q = output_integers(dataset.clipped_y, *ends)
        return np.asarray(np.bincount(plan.members, weights=q.astype(float), minlength=len(plan.counts)), dtype=float)


@dataclass(frozen=True, kw_only=True, eq=False)
class EachDrawOfBins(EachDraw):
    """The statistics of draws, from noisy sums over bins.

    Attributes:
        maps: of each draw (P, b), from means of bins to released values.
    """

    mechanism: BinMeans
    plan: BinPlan
    maps: Sequence[FloatArray]

    @property
    def size(self) -> int:
        """Numbers in the strategy: the bins' indicators."""
        return len(self.plan.counts) * self.public.n

    def stages(self, draw: int) -> list[Stage]:
        """The noisy sums of one draw, as measured by the bins' indicators."""
        public, plan = self.public, self.plan
        low, high = (np.full(public.n, end) for end in public.y_bounds)
        measurement = LaplaceMeasurement(
            B=plan.weights * plan.counts[:, None],
            low=low,
            high=high,
            bounds=public.y_bounds,
            epsilon=self.mechanism.epsilon,
        )
        return [Stage(measurement=measurement, z=self.z[0][draw])]

    def mapped(self, draw: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Offset, map and z of one draw: the middle of the bounds, and the map of d z_b / n_b."""
        factor = self.maps[draw] * (self.public.output_range / self.plan.counts)
        return np.full(len(factor), self.public.midpoint), factor, self.z[0][draw]


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

    def maps(self, plan: BinPlan, dataset: Dataset, X_test: FloatArray, means: FloatArray) -> Sequence[FloatArray]:
        """Each test point has the mean of its bin, and 0 where there is none."""
        rows, occupied = plan.rows(self.grid(dataset.x_box).index(X_test))
        inside = np.zeros((len(X_test), len(plan.counts)))
        inside[occupied, rows[occupied]] = 1.0
        return [inside] * len(means)


# Candidates for a fitted noise variance, in units of the kernel's: none, then steps of 12 %.
_CANDIDATES = np.concatenate([[0.0], np.geomspace(1e-6, 1e3, 184)])
_SIMULATED = 400  # made-up curves f; each counts twice, with its mirror image
_RECORDS = 1024  # at which they are drawn, unless there are fewer records or more bins


@dataclass(frozen=True, kw_only=True)
class IntegralBinning(BinMeans):
    """Release the noisy means of ``LaplaceBinning``, and predict f from them with the integral kernel.

    Each noisy mean times its bin's volume observes the integral of f ~ GP(0, EQ) over the bin, with noise
    variance volume^2 [2 (d / (n_b epsilon))^2 + white_noise / n_b]. Both sides are divided by the volumes here,
    which changes no prediction. Empty bins are not used. All this is post-processing: it costs no privacy,
    and test points may lie outside the box. The privacy noise of the predictions is a sum of Laplace variables,
    not Gaussian: ``noise_factor`` gives its covariance.

    Args:
        epsilon, bins: see ``BinMeans``.
        kernel_variance: variance > 0 of f, in squared model units (outputs divided by ``y_scale``).
        lengthscale: > 0, in input units; one number, or one per input dimension.
        white_noise: variance >= 0 of one record about f, in squared model units; a bin's mean has 1 / n_b of it.
        fit_noise: choose ``white_noise`` anew for each draw by the marginal likelihood of its released values.
            ``mean`` and ``noise_factor`` of the release are then those of the first draw's choice.

    Raises:
        ValueError: a parameter is out of range, or ``white_noise`` is both given and fitted.

    Source: Smith et al. 2018, section 4 and supplement, "Integral Kernel".
    """

    kernel_variance: float
    lengthscale: float | Sequence[float]
    white_noise: float = 0.0
    fit_noise: bool = False

    label: ClassVar[str] = "Integral bins"
    reference: ClassVar[str] = "Smith et al. 2018, section 4"
    kernel_names: ClassVar[tuple[str, ...]] = ("EQ",)
    theorem: ClassVar[str] = f"{BinMeans.theorem}; the GP sees released values only (post-processing)"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "lengthscale", self.kernel.lengthscale)
        if not (math.isfinite(self.white_noise) and self.white_noise >= 0):
            raise ValueError(f"white_noise must be a finite number of at least 0, got {self.white_noise}")
        if self.fit_noise and self.white_noise:
            raise ValueError(f"white_noise is fitted, but {self.white_noise} is given too; leave one of the two out")

    @property
    def kernel(self) -> EQ:
        """The prior of f."""
        return EQ(variance=self.kernel_variance, lengthscale=self.lengthscale)

    def maps(self, plan: BinPlan, dataset: Dataset, X_test: FloatArray, means: FloatArray) -> Sequence[FloatArray]:
        """The GP reads the bins, so test points may lie anywhere; by each draw's own noise where that is fitted."""
        K = bin_covariance(self.kernel, plan, self.noise_sds(plan, dataset) / dataset.y_scale)
        K_Ff = k_Ff(self.kernel, plan.boxes, X_test) / volumes(plan.boxes)[:, None]
        fitted = [self.white_noise] * len(means)
        if self.fit_noise:
            fitted = fit_white_noise(K, plan, means / dataset.y_scale, self.kernel_variance)
        smoothers = {white: _smoother(K, plan, K_Ff, white) for white in set(fitted)}
        return [smoothers[white] for white in fitted]

    def uncertainty(
        self, plan: BinPlan, dataset: Dataset, X_test: FloatArray, factor: FloatArray, samples: FloatArray
    ) -> Uncertainty:
        """See ``BinMeans``."""
        if self.fit_noise:
            return NoInterval(reason="the noise of the model was fitted to the same means, which no interval counts in")
        public = dataset.public_part()
        return BinInterval(mechanism=self, plan=plan, public=public, X_test=X_test, smoother=factor, centre=samples)


@dataclass(frozen=True, kw_only=True, eq=False)
class BinInterval:
    """About W m, m the noisy means of bins: f* - W m = (f* - C f) + (C f - W h) - W noise, C f = E[f* | f].

    Given f at its input, a clipped output has mean h(f) and variance v(f) (``gp.clipping.clipped_moments``). The first
    term is N(0, variance) and independent of the rest. h is the bins' mean of h(f); their noise is Gaussian of
    variance v / n_b, v the bins' mean of v(f), and Laplace noise of scale b, which is N(0, 2 b^2 E) for E exponential.
    In large tables f is drawn at some of the records of every bin.

    Attributes:
        mechanism: whose prior and noise are declared.
        smoother: W (P, b).
        centre: W m (draws, P), in the output's unit.
    """

    mechanism: IntegralBinning
    plan: BinPlan
    public: Dataset
    X_test: FloatArray
    smoother: FloatArray
    centre: FloatArray

    def interval(self, level: float, of: IntervalTarget) -> tuple[FloatArray, FloatArray]:
        """See ``Uncertainty``; as wide for every draw."""
        shifts, variances = self._simulated
        more = self.mechanism.white_noise if of == "outputs" else 0.0
        half = self.public.y_scale * mixture_half_width(shifts, variances + more, level)
        return self.centre - half, self.centre + half

    @cached_property
    def _simulated(self) -> tuple[FloatArray, FloatArray]:
        """C f - W h, and the variance about it, (S, P) in model units."""
        rng, W, counts = np.random.default_rng(0), self.smoother, self.plan.counts  # of curves that are made up
        mechanism, public = self.mechanism, self.public
        rows = _sampled_rows(self.plan, rng)
        model = of_curves(mechanism.kernel, public.X[rows], self.X_test)
        f = model.outputs(rng, _SIMULATED)
        bins = np.equal.outer(self.plan.members[rows], np.arange(len(counts))).astype(float)
        moments = clipped_moments(f, mechanism.white_noise, public.half_range)
        h, v = (each @ bins / bins.sum(axis=0) for each in moments)
        sds = mechanism.noise_sds(self.plan, public) / public.y_scale
        noise = v / counts + sds**2 * rng.standard_exponential(v.shape)
        return (model.C @ f.T).T - h @ W.T, model.variance + noise @ (W**2).T


def _sampled_rows(plan: BinPlan, rng: np.random.Generator) -> IndexArray:
    """Rows of at most about ``_RECORDS`` records, the same number of each bin where it has as many."""
    most = max(1, _RECORDS // len(plan.counts))
    order = rng.permutation(len(plan.members))
    order = order[np.argsort(plan.members[order], kind="stable")]
    rank = np.arange(len(order)) - (np.cumsum(plan.counts) - plan.counts)[plan.members[order]]
    return np.asarray(order[rank < most], dtype=np.intp)


def bin_covariance(kernel: EQ, plan: BinPlan, noise_sds: FloatArray) -> FloatArray:
    """Prior covariance of the noisy bin means (b, b): k_FF / (volume volume') + noise_sd^2 on the diagonal.

    Args:
        kernel: prior of f, in squared model units.
        noise_sds: of the privacy noise in each mean (b,), in model units.
    """
    size = volumes(plan.boxes)
    K = k_FF(kernel, plan.boxes, plan.boxes) / np.outer(size, size)
    # K is exact to rounding; a diagonal of that size keeps it positive definite when epsilon is huge
    jitter = 4 * len(K) * np.finfo(float).eps * kernel.variance
    K[np.diag_indices_from(K)] += noise_sds**2 + jitter
    return K


def fit_white_noise(K: FloatArray, plan: BinPlan, released: FloatArray, kernel_variance: float) -> list[float]:
    """White noise per record of the largest marginal likelihood, for each draw of released bin means.

    Args:
        K: covariance of the released means without white noise (b, b), from ``bin_covariance``.
        released: noisy bin means (draws, b), in model units.
        kernel_variance: sets the range of candidates, 0 and 1e-6 ... 1e3 times it.
    """
    root = np.sqrt(plan.counts)
    # With R = diag(sqrt(n_b)), R (K + w R^-2) R = V diag(s) V^T + w I: one decomposition serves every w.
    s, V = eigh(root[:, None] * K * root)
    squares = ((released * root) @ V) ** 2
    totals = np.maximum(s, np.finfo(float).tiny) + kernel_variance * _CANDIDATES[:, None]
    # -2 log likelihood = sum log(s + w) + sum squares / (s + w), up to a constant
    cost = np.log(totals).sum(axis=1) + squares @ (1 / totals).T
    return [float(kernel_variance * _CANDIDATES[i]) for i in cost.argmin(axis=1)]


def _smoother(K: FloatArray, plan: BinPlan, K_Ff: FloatArray, white_noise: float) -> FloatArray:
    """W = K_fF (K + white_noise diag(1 / n_b))^-1 (P, b): predictions per unit of the bin means."""
    noisy = K + np.diag(white_noise / plan.counts)
    return np.ascontiguousarray(cho_solve(cho_factor(noisy, lower=True, overwrite_a=True), K_Ff).T)
