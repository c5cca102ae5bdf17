"""Excursion sets: where a function exceeds a threshold, as seen through released posterior paths."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from datasets import excursion_1d, london_excursion, plumes_2d
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.accounting.posterior_curves import Sensitivity
from dpgp_core.accounting.posterior_epsilon import posterior_sampling_epsilon
from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.excursion.grid_search import PathSetting, SearchSpace
from dpgp_core.excursion.marginals import posterior_marginals
from dpgp_core.excursion.search import search
from dpgp_core.excursion.sets import (
    BoolArray,
    Targets,
    binary_cross_entropy,
    choose_cutoff,
    effective_dimension,
    excursion_probability,
    iou,
    smoothed,
    vote_share,
)
from dpgp_core.kernels import Matern12
from dpgp_core.mechanisms import HallPosterior, PosteriorSampling
from pages._ui.work.engine import engine

SIDE = 48  # of the map grid
SIMULATED = 60  # further paths behind the distributions of IoU
MOST_EPSILON = 1e6  # beyond, nothing is promised that is worth comparing
VALIDATION = {"curve": 6, "plumes": 2, "london": 3}  # simulated targets that choose the cutoff
SEARCHED = {"curve": 16, "plumes": 3, "london": 4}  # simulated targets that settings are searched on
VALIDATION_SEED, SEARCH_SEED = 101, 202
LONDON_NOISE = london_excursion.SEARCH_NOISE
Kind = Literal["curve", "plumes", "london"]


@dataclass(frozen=True)
class View:
    """What is shown: the data (kind, noise, threshold) and the settings of the release.

    Attributes:
        kind: which data.
        lengthscale: of the exponential kernel, in units of the domain.
        r, sigma, eta, L: of ``PosteriorSampling``; L paths are released.
        threshold: on the scale of the data; for London the ln price.
        noise: M_xi of the simulated data.
        delta: of the promise.
        seed: of the paths.
    """

    kind: Kind
    lengthscale: float
    r: float
    sigma: float
    L: int
    eta: float
    threshold: float
    noise: float
    delta: float
    seed: int

    @property
    def kernel(self) -> Matern12:
        """Exponential kernel, unit variance."""
        return Matern12(lengthscale=self.lengthscale)

    @property
    def level(self) -> float:
        """Threshold in model units: London's outputs are measured from it."""
        return 0.0 if self.kind == "london" else self.threshold


@dataclass(frozen=True, eq=False)
class Explored:
    """Sets and errors of one view. Everything but ``paths`` and ``guarantee`` is not private.

    Attributes:
        dataset: the data.
        grid: test points (P, D).
        truth: true function (P,), in model units; NaN where nobody knows it (London: no sale).
        mean: posterior mean (P,).
        probability: excursion probability at every test point (P,).
        cutoff: chosen on separate validation data.
        paths: released paths (L, P).
        path_iou: of the released paths and of further simulated ones (L + 60,).
        hall_iou: of Hall's release at the same epsilon and delta (60,); empty if epsilon is unbounded.
        bce: integrated cross-entropy of ``probability``, in nats.
        d_eff: effective dimension of the fit.
        guarantee: for the L paths together.
        level: threshold in model units.
    """

    dataset: Dataset
    grid: FloatArray
    truth: FloatArray
    mean: FloatArray
    probability: FloatArray
    cutoff: float
    paths: FloatArray
    path_iou: FloatArray
    hall_iou: FloatArray
    bce: float
    d_eff: float
    guarantee: Guarantee
    level: float

    @property
    def known(self) -> BoolArray:
        """Points whose truth is known (P,)."""
        known: BoolArray = np.isfinite(self.truth)
        return known

    @property
    def true_set(self) -> BoolArray:
        """{f >= t} (P,), False where it is not known."""
        inside: BoolArray = self.truth >= self.level
        return inside

    @property
    def estimate(self) -> BoolArray:
        """Non-private estimate {p >= cutoff} (P,)."""
        inside: BoolArray = self.probability >= self.cutoff
        return inside

    @property
    def votes(self) -> FloatArray:
        """Share of the released paths above the threshold (P,). Post-processing of the release."""
        return vote_share(self.paths, self.level)

    @property
    def estimate_iou(self) -> float:
        """IoU of the non-private estimate."""
        return float(iou(self.estimate[self.known], self.true_set[self.known]))

    @property
    def everything_iou(self) -> float:
        """IoU of declaring the whole domain: what a set must beat to say anything."""
        return float(self.true_set[self.known].mean())


def data_of(view: View) -> tuple[Dataset, FloatArray, FloatArray]:
    """Dataset, test points and true function of a view, in model units."""
    if view.kind == "curve":
        return excursion_1d.load(noise=view.noise), excursion_1d.grid(), excursion_1d.truth(noise=view.noise)
    if view.kind == "plumes":
        return plumes_2d.load(noise=view.noise), plumes_2d.grid(SIDE), plumes_2d.truth(noise=view.noise, side=SIDE)
    medians = london_excursion.load(threshold=view.threshold)
    return medians, london_excursion.grid(), london_excursion.truth(medians)


def simulated_targets(kind: Kind, count: int, noise: float, seed: int) -> Targets:
    """Training sets like the data, with known truth, apart from them: for choosing, never for reporting."""
    if kind == "curve":
        return excursion_1d.targets(count, noise=noise, seed=seed, size=200)
    if kind == "plumes":
        return plumes_2d.targets(count, noise=noise, seed=seed, side=24)
    return london_excursion.search_targets(count, seed=seed)


def cutoff_of(view: View) -> float:
    """Cutoff that serves simulated validation data best."""
    targets = simulated_targets(view.kind, VALIDATION[view.kind], view.noise, VALIDATION_SEED)
    probabilities = []
    for X, y in zip(targets.X, targets.y, strict=True):
        mean, variance = posterior_marginals(view.kernel, X, y, targets.grid, np.array([view.r**2]))
        probabilities.append(excursion_probability(mean[0], view.sigma**2 * variance[0], targets.threshold))
    return choose_cutoff(np.array(probabilities), targets.truth)


def explore(view: View, cutoff: float) -> Explored:
    """Fit, release and compare."""
    dataset, grid, truth = data_of(view)
    y = (dataset.clipped_y - dataset.midpoint) / (dataset.output_range / 2)
    mean, variance = posterior_marginals(view.kernel, dataset.X, y, grid, np.array([view.r**2]))
    probability = excursion_probability(mean[0], view.sigma**2 * variance[0], view.level)
    sampling = PosteriorSampling.for_dataset(
        dataset, kernel=view.kernel, r=view.r, sigma=view.sigma, eta=view.eta, delta=view.delta
    )
    rng = np.random.default_rng(view.seed)
    paths = _smooth(view, sampling.release(dataset, grid, rng, draws=view.L + SIMULATED).samples)
    guarantee = sampling.guarantee.repeated(view.L).for_unit(dataset.privacy_unit)
    known = np.isfinite(truth)
    inside = truth[known] >= view.level
    return Explored(
        dataset=dataset,
        grid=grid,
        truth=truth,
        mean=mean[0],
        probability=probability,
        cutoff=cutoff,
        paths=paths[: view.L],
        path_iou=iou(paths[:, known] >= view.level, inside),
        hall_iou=_hall_iou(view, dataset, grid, (known, inside), sampling.guarantee.budget.epsilon),
        bce=float(binary_cross_entropy(probability[known], inside)),
        d_eff=effective_dimension(view.kernel(dataset.X, dataset.X), view.r**2),
        guarantee=guarantee,
        level=view.level,
    )


def _hall_iou(
    view: View, dataset: Dataset, grid: FloatArray, truth: tuple[BoolArray, BoolArray], epsilon: float
) -> FloatArray:
    """IoU of Hall's release, which protects the same, at the epsilon of one path; ``truth``: where known, inside."""
    if epsilon > MOST_EPSILON:
        return np.zeros(0)
    hall = HallPosterior(kernel=view.kernel, r=view.r, epsilon=epsilon, delta=view.delta)
    samples = hall.release(dataset, grid, np.random.default_rng([view.seed, 3]), draws=SIMULATED).samples
    return iou(_smooth(view, samples)[:, truth[0]] >= view.level, truth[1])


def _smooth(view: View, paths: FloatArray) -> FloatArray:
    """A 2-pixel Gaussian filter on maps: post-processing, free of privacy cost."""
    return smoothed(paths, SIDE) if view.kind == "plumes" else paths


def find_settings(
    kind: Kind, noise: float, delta: float, L: int, budget: float, progress: Callable[[float], None]
) -> PathSetting:
    """Best lengthscale, r and s for L paths within epsilon <= budget, searched on simulated data.

    Lengthscales are evaluated on the cluster if one is configured (``engine``).

    Raises:
        ValueError: no setting keeps within the budget.
    """
    targets = simulated_targets(kind, SEARCHED[kind], noise, SEARCH_SEED)
    n, diameter = targets.X.shape[1], math.sqrt(targets.X.shape[2])
    sensitivity: Sensitivity = "exponential_1d_min" if kind == "curve" else "generic"

    def epsilon(lengthscale: FloatArray, r: FloatArray, scale: FloatArray) -> FloatArray:
        kappa = np.exp(-diameter / lengthscale)
        return np.asarray(posterior_sampling_epsilon(n, r, scale, kappa, delta, L=L, sensitivity=sensitivity))

    with engine() as executor:
        [found] = search(targets, epsilon, (budget,), SearchSpace(), rounds=2, progress=progress, executor=executor)
    return found


def epsilon_of(kind: Kind, lengthscale: float, r: float, sigma: float, delta: float, L: int) -> float:
    """Epsilon of L paths at these settings, eta = 0."""
    n, diameter = {"curve": (100, 1.0), "plumes": (400, math.sqrt(2)), "london": (300, math.sqrt(2))}[kind]
    sensitivity: Sensitivity = "exponential_1d_min" if kind == "curve" else "generic"
    kappa = math.exp(-diameter / lengthscale)
    return float(np.asarray(posterior_sampling_epsilon(n, r, sigma, kappa, delta, L=L, sensitivity=sensitivity)))
