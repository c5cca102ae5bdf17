"""Noisy means of public bins, with Laplace noise: epsilon-DP with delta = 0 for one output.

``LaplaceBinning`` predicts the mean of the bin in which a test point lies. ``IntegralBinning`` treats the noisy means
as observations of integrals of a Gaussian process, and predicts from its posterior.
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
from ..gp.uncertainty import IntervalTarget, NoInterval, Uncertainty, curve_predictive, mixture_half_width
from ..kernels import EQ
from ..measurement.integers import GRID, output_integers
from ..measurement.measurement import STEPS, LaplaceMeasurement
from ..measurement.noise import LaplaceNoise, with_noise
from ..measurement.statistics import Stage
from ..table import Dataset
from .base import ANY_ROWS, Draws, LazyStatistics, Mechanism, NoiselessCurve, Release

ASSUMPTIONS = (
    FIXED_IN_ADVANCE[0],
    "inputs and their number are public, and so are the box and its bins",
    FIXED_IN_ADVANCE[2],
)


@dataclass(frozen=True, kw_only=True)
class BinMeans(Mechanism):
    """Base class of mechanisms that release noisy means of bins: parameters, accounting and noise.

    Args:
        epsilon: budget of one release; delta is 0.
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
        """Guarantee of one release. It is known before any data are read."""
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

    @property
    def has_interval(self) -> bool:
        """Whether its releases have intervals."""
        return False

    def plan_for(self, dataset: Dataset, X_test: FloatArray) -> BinPlan:
        """Return the public plan: the bins of the box that contain inputs. X_test is not used.

        Raises:
            ValueError: an input lies outside the box.
        """
        return plan_bins(self.grid(dataset.x_box), dataset.X)

    def drawn(
        self, plan: BinPlan, dataset: Dataset, X_test: FloatArray, draws: Draws
    ) -> tuple[Release, NoiselessCurve]:
        """See ``Mechanism``. This is the only step that reads outputs."""
        z, middle = self.measured(plan, dataset, draws.rng, draws.times), dataset.midpoint
        means = self.means(plan, dataset, z) - middle
        maps = self.maps(plan, dataset, X_test, means)
        samples = middle + np.array([each @ own for each, own in zip(maps, means, strict=True)])
        release = Release(
            X_test=X_test,
            samples=samples,
            guarantee=draws.guarantee,
            statistics=LazyBinStatistics(
                public=dataset.public_part(), guarantee=draws.guarantee, z=(z,), mechanism=self, plan=plan, maps=maps
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
        """Return, for each release, the map (P, b) from means of bins to the curve, both relative to the midpoint.

        Args:
            dataset: data set, of which only the public part is used.
            means: released means of the bins (draws, b), relative to the midpoint, in the unit of the output.
        """

    def uncertainty(
        self, plan: BinPlan, dataset: Dataset, X_test: FloatArray, factor: FloatArray, samples: FloatArray
    ) -> Uncertainty:
        """Return the object that computes the intervals about curves ``samples`` (draws, P); by default there are none.

        Args:
            dataset: data set, of which only the public part is used.
            factor: map (P, b) of the first release.
            samples: released curves (draws, P).
        """
        return NoInterval(reason="means of bins have no model of how outputs vary within a bin")

    def grid(self, box: tuple[tuple[float, float], ...]) -> Grid:
        """Return the grid of bins of a box, D public pairs (low, high)."""
        return Grid(box=box, bins=self.bins)

    def measured(self, plan: BinPlan, dataset: Dataset, rng: np.random.Generator | None, draws: int) -> FloatArray:
        """Return noisy sums z (draws, b) over each bin of q_j = (clip(y_j) - midpoint) / d, in [-1/2, 1/2].

        The rows of the strategy are the indicators of the bins, so its columns have L1 norm 1. The integers
        q^ = rint(2^20 q) are added. Their sums stay below 2^53 for n <= 2^33 records, so adding them as floats is
        exact.
        """
        noise = LaplaceNoise(sensitivity=STEPS, epsilon=self.epsilon)
        exact = [int(total) * GRID for total in self._sums(plan, dataset)]
        return with_noise(exact, noise, STEPS, rng, draws)

    def means(self, plan: BinPlan, dataset: Dataset, z: FloatArray) -> FloatArray:
        """Return the means of the bins (draws, b) from sums z, in the unit of the output: midpoint + d z_b / n_b."""
        return dataset.midpoint + dataset.output_range * z / plan.counts

    def noise_sds(self, plan: BinPlan, dataset: Dataset) -> FloatArray:
        """Return the standard deviation of the noise in the mean of each bin (b,), in the unit of the output."""
        return LaplaceNoise(sensitivity=STEPS, epsilon=self.epsilon).sd / STEPS * dataset.output_range / plan.counts

    def _sums(self, plan: BinPlan, dataset: Dataset) -> FloatArray:
        ends = (np.full(dataset.n, end) for end in dataset.y_bounds)
        q = output_integers(dataset.clipped_y, *ends)
        return np.asarray(np.bincount(plan.members, weights=q.astype(float), minlength=len(plan.counts)), dtype=float)


@dataclass(frozen=True, kw_only=True, eq=False)
class LazyBinStatistics(LazyStatistics):
    """The statistics of each release of bin means.

    Attributes:
        maps: map (P, b) of each release, from means of bins to the curve.
    """

    mechanism: BinMeans
    plan: BinPlan
    maps: Sequence[FloatArray]

    @property
    def size(self) -> int:
        """Number of entries of the strategy, the indicators of the bins."""
        return len(self.plan.counts) * self.public.n

    def stages(self, draw: int) -> list[Stage]:
        """Return the measurement and the noisy sums of one release, as a single stage."""
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
        """Return offset (P,), map (P, b) and z (b,) of one release; the offset is the midpoint."""
        factor = self.maps[draw] * (self.public.output_range / self.plan.counts)
        return np.full(len(factor), self.public.midpoint), factor, self.z[0][draw]


@dataclass(frozen=True, kw_only=True)
class LaplaceBinning(BinMeans):
    """Release mean_b + Lap(d / (n_b epsilon)) for every bin b, and predict the mean of the bin of a test point.

    One output moves the mean of its bin by at most d / n_b, so each mean is epsilon-DP, and no record is in two bins.
    The prediction for an empty bin is the public midpoint of the bounds, without noise. ``noise_factor`` gives the
    covariance of the noise, which is Laplace and not Gaussian: the variance is 2 scale^2, and test points in a bin have
    equal noise.

    Args:
        epsilon, bins: see ``BinMeans``.

    Raises:
        ValueError: a parameter is out of range.

    Source: Smith et al. 2018, section 4 (the comparison); Dwork & Roth 2014, section 3.3.
    """

    label: ClassVar[str] = "Laplace bins"
    reference: ClassVar[str] = "Smith et al. 2018, section 4"

    def maps(self, plan: BinPlan, dataset: Dataset, X_test: FloatArray, means: FloatArray) -> Sequence[FloatArray]:
        """Return the maps that give each test point the mean of its bin, and 0 (the midpoint) to empty bins."""
        rows, occupied = plan.rows(self.grid(dataset.x_box).index(X_test))
        inside = np.zeros((len(X_test), len(plan.counts)))
        inside[occupied, rows[occupied]] = 1.0
        return [inside] * len(means)


# Candidates for a fitted noise variance, relative to the variance of the kernel: 0, and a grid with steps of 12 %.
_CANDIDATES = np.concatenate([[0.0], np.geomspace(1e-6, 1e3, 184)])
_SIMULATED = 400  # number of simulated curves f; each counts twice, with its mirror image
_RECORDS = 1024  # number of records at which they are simulated, unless there are fewer records or more bins


@dataclass(frozen=True, kw_only=True)
class IntegralBinning(BinMeans):
    """Release the noisy means of ``LaplaceBinning``, and predict f from them with the integral kernel.

    Each noisy mean times the volume of its bin is an observation of the integral of f ~ GP(0, EQ) over the bin, with
    noise variance volume^2 [2 (d / (n_b epsilon))^2 + white_noise / n_b]. Empty bins are not used. The code divides
    both sides by the volumes, which does not change the predictions. Predictions are post-processing, and test points
    may lie outside the box. Their privacy noise is a sum of Laplace variables, of which ``noise_factor`` gives the
    covariance.

    Args:
        epsilon, bins: see ``BinMeans``.
        kernel_variance: variance > 0 of f, in squared model units (outputs divided by ``y_scale``).
        lengthscale: > 0, in input units; one number, or one per input dimension.
        white_noise: variance >= 0 of one record about f, in squared model units. The mean of a bin has the n_b-th part.
        fit_noise: whether ``white_noise`` is chosen for each release, by the marginal likelihood of its released
            values. ``mean`` and ``noise_factor`` are then those of the first release.

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
        """Prior covariance of f."""
        return EQ(variance=self.kernel_variance, lengthscale=self.lengthscale)

    @property
    def has_interval(self) -> bool:
        """Whether its releases have intervals."""
        return not self.fit_noise

    def maps(self, plan: BinPlan, dataset: Dataset, X_test: FloatArray, means: FloatArray) -> Sequence[FloatArray]:
        """Return the maps of the GP posterior, for each release with its own noise variance if that is fitted."""
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
            return NoInterval(reason="the noise variance was fitted to the same means; no interval accounts for that")
        public = dataset.public_part()
        return BinInterval(mechanism=self, plan=plan, public=public, X_test=X_test, smoother=factor, centre=samples)


@dataclass(frozen=True, kw_only=True, eq=False)
class BinInterval:
    """Intervals about W m, where m are the noisy means of bins and W is the map to the curve.

    The error is f* - W m = (f* - C f) + (C f - W h) - W noise, with C f = E[f* | f]. Given f at its input, a clipped
    output has mean h(f) and variance v(f) (``gp.clipping.clipped_moments``); h and v are their means over each bin. The
    first term is N(0, variance) and independent of the others. The noise of a bin is the sum of Gaussian noise of
    variance v / n_b and of Laplace noise of scale b, which is N(0, 2 b^2 E) with E exponentially distributed. In large
    tables f is simulated at a part of the records of every bin.

    Attributes:
        mechanism: mechanism with the declared prior and noise variance.
        public: public part of the data set.
        smoother: W (P, b).
        centre: released curves W m (draws, P), in the unit of the output.
    """

    mechanism: IntegralBinning
    plan: BinPlan
    public: Dataset
    X_test: FloatArray
    smoother: FloatArray
    centre: FloatArray

    def interval(self, level: float, of: IntervalTarget) -> tuple[FloatArray, FloatArray]:
        """See ``Uncertainty``. The width is the same for every release."""
        shifts, variances = self._simulated
        more = self.mechanism.white_noise if of == "outputs" else 0.0
        half = self.public.y_scale * mixture_half_width(shifts, variances + more, level)
        return self.centre - half, self.centre + half

    @cached_property
    def _simulated(self) -> tuple[FloatArray, FloatArray]:
        """Simulated C f - W h, and the variance of the remaining terms, (S, P) each, in model units."""
        rng, W, counts = np.random.default_rng(0), self.smoother, self.plan.counts  # curves are simulated, not private
        mechanism, public = self.mechanism, self.public
        rows = _sampled_rows(self.plan, rng)
        model = curve_predictive(mechanism.kernel, public.X[rows], self.X_test)
        f = model.outputs(rng, _SIMULATED)
        bins = np.equal.outer(self.plan.members[rows], np.arange(len(counts))).astype(float)
        moments = clipped_moments(f, mechanism.white_noise, public.half_range)
        h, v = (each @ bins / bins.sum(axis=0) for each in moments)
        sds = mechanism.noise_sds(self.plan, public) / public.y_scale
        noise = v / counts + sds**2 * rng.standard_exponential(v.shape)
        return (model.C @ f.T).T - h @ W.T, model.variance + noise @ (W**2).T


def _sampled_rows(plan: BinPlan, rng: np.random.Generator) -> IndexArray:
    """Return the rows of about ``_RECORDS`` random records at most, the same number from each bin if it has as many."""
    most = max(1, _RECORDS // len(plan.counts))
    order = rng.permutation(len(plan.members))
    order = order[np.argsort(plan.members[order], kind="stable")]
    rank = np.arange(len(order)) - (np.cumsum(plan.counts) - plan.counts)[plan.members[order]]
    return np.asarray(order[rank < most], dtype=np.intp)


def bin_covariance(kernel: EQ, plan: BinPlan, noise_sds: FloatArray) -> FloatArray:
    """Return the prior covariance of the noisy bin means (b, b): k_FF / (volume volume') + diag(noise_sd^2).

    Args:
        noise_sds: standard deviation of the privacy noise in each mean (b,), in model units.
    """
    size = volumes(plan.boxes)
    K = k_FF(kernel, plan.boxes, plan.boxes) / np.outer(size, size)
    # A jitter of the size of the rounding errors keeps K positive definite if epsilon is very large.
    jitter = 4 * len(K) * np.finfo(float).eps * kernel.variance
    K[np.diag_indices_from(K)] += noise_sds**2 + jitter
    return K


def fit_white_noise(K: FloatArray, plan: BinPlan, released: FloatArray, kernel_variance: float) -> list[float]:
    """Return, for each release, the white noise variance per record that maximises the marginal likelihood.

    Args:
        K: covariance of the released means without white noise (b, b), from ``bin_covariance``.
        released: noisy bin means (draws, b), in model units.
        kernel_variance: candidates are 0, and 1e-6 to 1e3 times this variance.
    """
    root = np.sqrt(plan.counts)
    # With R = diag(sqrt(n_b)), R (K + w R^-2) R = V diag(s) V^T + w I, so one eigendecomposition suffices for all w.
    s, V = eigh(root[:, None] * K * root)
    squares = ((released * root) @ V) ** 2
    totals = np.maximum(s, np.finfo(float).tiny) + kernel_variance * _CANDIDATES[:, None]
    # -2 log likelihood = sum log(s + w) + sum squares / (s + w), up to a constant
    cost = np.log(totals).sum(axis=1) + squares @ (1 / totals).T
    return [float(kernel_variance * _CANDIDATES[i]) for i in cost.argmin(axis=1)]


def _smoother(K: FloatArray, plan: BinPlan, K_Ff: FloatArray, white_noise: float) -> FloatArray:
    """Return W = K_fF (K + white_noise diag(1 / n_b))^-1 (P, b), which maps bin means to predictions."""
    noisy = K + np.diag(white_noise / plan.counts)
    return np.ascontiguousarray(cho_solve(cho_factor(noisy, lower=True, overwrite_a=True), K_Ff).T)
