"""Integral binning: a GP reads the noisy bin means as integrals of a smooth function, and smooths them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from ..arrays import FloatArray
from ..gp.clipping import seen
from ..gp.grid import BinPlan, IndexArray, k_FF, k_Ff, volumes
from ..gp.uncertainty import NoInterval, Of, Uncertainty, mixture_half_width, of_curves
from ..kernels import EQ
from ..table import Dataset
from .base import Release, promise_for, teaching
from .laplace_binning import BinMeans

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
        """See ``BinMeans.measure``: the GP reads the bins, so test points may lie anywhere."""
        guarantee = promise_for(self.guarantee, self.label, dataset).repeated(draws)
        z = self.measured(plan, dataset, rng, draws)
        released = (self.means(plan, dataset, z) - dataset.midpoint) / dataset.y_scale
        K = bin_covariance(self.kernel, plan, self.noise_sds(plan, dataset) / dataset.y_scale)
        K_Ff = k_Ff(self.kernel, plan.boxes, X_test) / volumes(plan.boxes)[:, None]
        fitted = [self.white_noise] * draws
        if self.fit_noise:
            fitted = fit_white_noise(K, plan, released, self.kernel_variance)
        smoothers = {white: _smoother(K, plan, K_Ff, white) for white in set(fitted)}
        first = smoothers[fitted[0]]
        samples = np.array([smoothers[white] @ value for white, value in zip(fitted, released, strict=True)])
        release = Release(
            X_test=X_test,
            samples=dataset.in_data_units(samples),
            guarantee=guarantee,
            statistics=self.recorded(plan, dataset, z, [smoothers[white] for white in fitted], guarantee),
            uncertainty=self._uncertainty(plan, dataset, X_test, first, samples),
            noise_factor=first * self.noise_sds(plan, dataset),
        )
        if rng is None:
            return release
        silent = (self.exact_means(plan, dataset) - dataset.midpoint) / dataset.y_scale
        return teaching(release, dataset.in_data_units(first @ silent))

    def _uncertainty(
        self, plan: BinPlan, dataset: Dataset, X_test: FloatArray, smoother: FloatArray, samples: FloatArray
    ) -> Uncertainty:
        if self.fit_noise:
            return NoInterval(reason="the noise of the model was fitted to the same means, which no interval counts in")
        return BinInterval(
            kernel=self.kernel,
            noise_variance=self.white_noise,
            half_range=dataset.output_range / dataset.y_scale / 2,
            plan=plan,
            X=dataset.X,
            X_test=X_test,
            smoother=smoother,
            noise_sds=self.noise_sds(plan, dataset) / dataset.y_scale,
            centre=dataset.in_data_units(samples),
            y_scale=dataset.y_scale,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class BinInterval:
    """About W m, m the noisy means of bins: f* - W m = (f* - C f) + (C f - W h) - W noise, C f = E[f* | f].

    Given f at its input, a clipped output has mean h(f) and variance v(f) (``gp.clipping.seen``). The first term is
    N(0, variance) and independent of the rest. h is the bins' mean of h(f); their noise is Gaussian of
    variance v / n_b, v the bins' mean of v(f), and Laplace noise of scale b, which is N(0, 2 b^2 E) for E exponential.
    In large tables f is drawn at some of the records of every bin.

    Attributes:
        kernel: of f, in model units.
        noise_variance: of one record about f, in squared model units.
        half_range: R, half the width of the bounds, in model units.
        plan: the occupied bins.
        X: public inputs (n, D).
        X_test: (P, D).
        smoother: W (P, b).
        noise_sds: of the privacy noise in each mean (b,), in model units.
        centre: W m (draws, P), in the output's unit.
        y_scale: model unit, in the output's unit.
    """

    kernel: EQ
    noise_variance: float
    half_range: float
    plan: BinPlan
    X: FloatArray
    X_test: FloatArray
    smoother: FloatArray
    noise_sds: FloatArray
    centre: FloatArray
    y_scale: float

    def interval(self, level: float, of: Of) -> tuple[FloatArray, FloatArray]:
        """See ``Uncertainty``; as wide for every draw."""
        shifts, variances = self._simulated
        more = self.noise_variance if of == "outputs" else 0.0
        half = self.y_scale * mixture_half_width(shifts, variances + more, level)
        return self.centre - half, self.centre + half

    @cached_property
    def _simulated(self) -> tuple[FloatArray, FloatArray]:
        """C f - W h, and the variance about it, (S, P) in model units."""
        rng, W, counts = np.random.default_rng(0), self.smoother, self.plan.counts  # of curves that are made up
        rows = _some_of_each(self.plan, rng)
        model = of_curves(self.kernel, self.X[rows], self.X_test)
        f = model.outputs(rng, _SIMULATED)
        h, v = (
            _bin_means(each, self.plan.members[rows], len(counts))
            for each in seen(f, self.noise_variance, self.half_range)
        )
        noise = v / counts + self.noise_sds**2 * rng.standard_exponential(v.shape)
        return (model.C @ f.T).T - h @ W.T, model.variance + noise @ (W**2).T


def _some_of_each(plan: BinPlan, rng: np.random.Generator) -> IndexArray:
    """Rows of at most about ``_RECORDS`` records, the same number of each bin where it has as many."""
    most = max(1, _RECORDS // len(plan.counts))
    order = rng.permutation(len(plan.members))
    order = order[np.argsort(plan.members[order], kind="stable")]
    rank = np.arange(len(order)) - (np.cumsum(plan.counts) - plan.counts)[plan.members[order]]
    return np.asarray(order[rank < most], dtype=np.intp)


def _bin_means(values: FloatArray, members: IndexArray, bins: int) -> FloatArray:
    """Means (S, b) of values (S, k) over the bins that records are members of (k,)."""
    indicator = np.equal.outer(members, np.arange(bins)).astype(float)
    return np.asarray(values @ indicator / indicator.sum(axis=0))


def bin_covariance(kernel: EQ, plan: BinPlan, noise_sds: FloatArray) -> FloatArray:
    """Prior covariance of the noisy bin means (b, b): k_FF / (volume volume') + noise_sd^2 on the diagonal.

    Args:
        kernel: prior of f, in squared model units.
        plan: the occupied bins.
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
        plan: the occupied bins.
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
