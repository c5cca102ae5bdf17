"""Excursion sets of released paths and of Bayes cloaking, compared with simulated truths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from datasets import STUDIES
from datasets.exhibits import Study
from datasets.plumes_2d import SHOWN_SIDE as SIDE
from dpgp_core.accounting.gaussian import noise_multiplier, rounded_up
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.accounting.posterior_paths import posterior_sampling_epsilon
from dpgp_core.arrays import BoolArray, FloatArray
from dpgp_core.excursion.search import PathSetting, SearchSpace, search
from dpgp_core.excursion.sets import (
    binary_cross_entropy,
    choose_cutoff,
    effective_dimension,
    excursion_probability,
    iou,
    posterior_marginals,
    smoothed,
    vote_share,
)
from dpgp_core.kernels import Matern12
from dpgp_core.mechanisms import HallPosterior, PosteriorSampling, TeachingRelease
from dpgp_core.table import Dataset
from pages._ui.look.offers import RIDGES
from pages._ui.work import cached
from pages._ui.work.engine import engine

SIMULATED = 60  # further simulated paths in the distributions of IoU
MOST_EPSILON = 1e6  # beyond it, the guarantee is too weak to be worth comparing
VALIDATION_SEED, SEARCH_SEED = 101, 202
Numbers = float | FloatArray


@dataclass(frozen=True)
class View:
    """The data (study, noise, threshold) and the settings of the release.

    Attributes:
        name: name of the study.
        lengthscale: of the exponential kernel, in units of the domain.
        r, sigma, eta, L: parameters of ``PosteriorSampling``; L paths are released.
        threshold: threshold on the scale of the data.
        noise: parameter M_xi of the simulated data.
        delta: delta of the guarantee.
        seed: seed of the paths.
    """

    name: str
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
        """Exponential kernel with unit variance."""
        return Matern12(lengthscale=self.lengthscale)

    @property
    def study(self) -> Study:
        """Study of the data."""
        return STUDIES[self.name]

    @property
    def level(self) -> float:
        """Threshold in model units."""
        return 0.0 if self.study.thresholds.subtracted else self.threshold


@dataclass(frozen=True, eq=False)
class Explored:
    """Sets and errors of one view. Everything except ``paths`` and ``guarantee`` is not private.

    Attributes:
        settings: the view.
        dataset: the data.
        grid: test points (P, D).
        truth: true function (P,), in model units; NaN where it is unknown (in London, where there is no sale).
        probability: excursion probability at every test point (P,).
        cutoff: probability above which a point belongs to the estimate, chosen on separate validation data.
        paths: released paths (L, P).
        path_iou: IoU of the released paths and of further simulated ones (L + 60,).
        hall_iou: IoU of Hall's release at the same epsilon and delta (60,); empty if epsilon is unbounded.
        bce: integrated cross-entropy of ``probability``, in nats.
        d_eff: effective dimension of the fit.
        guarantee: guarantee of the L paths together.
        path_epsilon: epsilon of one path alone.
    """

    settings: View
    dataset: Dataset
    grid: FloatArray
    truth: FloatArray
    probability: FloatArray
    cutoff: float
    paths: FloatArray
    path_iou: FloatArray
    hall_iou: FloatArray
    bce: float
    d_eff: float
    guarantee: Guarantee
    path_epsilon: float

    @property
    def level(self) -> float:
        """Threshold in model units."""
        return self.settings.level

    @property
    def has_truth(self) -> BoolArray:
        """Whether the truth is known at a point (P,)."""
        return np.asarray(np.isfinite(self.truth))

    @property
    def true_set(self) -> BoolArray:
        """Set {f >= t} (P,), False where the truth is unknown."""
        return np.asarray(self.truth >= self.level)

    @property
    def estimate(self) -> BoolArray:
        """Estimate {p >= cutoff} without privacy (P,)."""
        return np.asarray(self.probability >= self.cutoff)

    @property
    def votes(self) -> FloatArray:
        """Share of the released paths above the threshold (P,). It follows from the release."""
        return vote_share(self.paths, self.level)

    def iou_of(self, inside: BoolArray) -> float:
        """Return the IoU of a set (P,) with the true one, over the points with a known truth."""
        return float(iou(inside[self.has_truth], self.true_set[self.has_truth]))

    @property
    def bayes_epsilon(self) -> float:
        """Epsilon of Bayes cloaking: that of one path as it is displayed, rounded up, so that settings share it."""
        return float(rounded_up(self.path_epsilon))

    @property
    def everything_iou(self) -> float:
        """IoU of the whole domain; a useful set has a larger one."""
        return float(self.true_set[self.has_truth].mean())


def data_of(view: View) -> tuple[Dataset, FloatArray, FloatArray]:
    """Return data set, test points and true function of a view, in model units."""
    return view.study.shown(noise=view.noise, threshold=view.threshold)


def cutoff_of(view: View) -> float:
    """Return the cutoff with the best result on simulated validation data."""
    targets = view.study.simulated(view.study.validated, noise=view.noise, seed=VALIDATION_SEED)
    sets = zip(targets.X, targets.y, strict=True)
    probabilities = [_probability(view, X, y, targets.grid, targets.threshold) for X, y in sets]
    return choose_cutoff(np.array(probabilities), targets.truth)


def _probability(view: View, X: FloatArray, y: FloatArray, grid: FloatArray, level: float) -> FloatArray:
    """Return the probability without privacy that f is above a level at every point (P,); everything in model units."""
    mean, variance = posterior_marginals(view.kernel, X, y, grid, np.array([view.r**2]))
    return excursion_probability(mean[0], view.sigma**2 * variance[0], level)


def hall_noise(view: View) -> FloatArray:
    """Return the noise (60, P) of simulated releases of Hall's mechanism, for r = 1 and a noise multiplier of 1.

    Only study, lengthscale and seed of ``view`` matter. The plan takes most of the time of a view, and the noise
    depends neither on the data nor on the budget.
    """
    dataset, grid, _ = data_of(view)
    hall = HallPosterior(kernel=view.kernel, r=1.0, epsilon=1.0, delta=0.01)
    release = hall.release(dataset, grid, np.random.default_rng([view.seed, 3]), draws=SIMULATED)
    assert isinstance(release, TeachingRelease)
    return np.asarray((release.samples - release.mean) / hall.noise_multiplier)


def hall_paths(
    noise: FloatArray, view: View, X: FloatArray, y: FloatArray, grid: FloatArray, epsilon: float
) -> FloatArray:
    """Return releases of Hall's mechanism (60, P), given their ``hall_noise``; an empty array (0, P) if the guarantee
    is too weak. Data and releases are in model units.
    """
    if epsilon > MOST_EPSILON:
        return noise[:0]
    return (view.kernel(grid, X) @ y + noise_multiplier(epsilon, view.delta) * noise) / view.r**2


def explore(noise: FloatArray, view: View) -> Explored:
    """Fit, release and compare, given the noise of Hall's releases."""
    dataset, grid, truth = data_of(view)
    y = (dataset.clipped_y - dataset.midpoint) / (dataset.output_range / 2)
    probability = _probability(view, dataset.X, y, grid, view.level)
    sampling = PosteriorSampling.for_dataset(
        dataset, kernel=view.kernel, r=view.r, sigma=view.sigma, eta=view.eta, delta=view.delta
    )
    rng, epsilon = np.random.default_rng(view.seed), sampling.guarantee.budget.epsilon
    paths = _smooth(view, sampling.release(dataset, grid, rng, draws=view.L + SIMULATED).samples)
    has_truth = np.isfinite(truth)
    inside = truth[has_truth] >= view.level
    halls = _smooth(view, hall_paths(noise, view, dataset.X, y, grid, epsilon))
    path_iou, hall_iou = (iou(each[:, has_truth] >= view.level, inside) for each in (paths, halls))
    return Explored(
        settings=view,
        dataset=dataset,
        grid=grid,
        truth=truth,
        probability=probability,
        cutoff=cutoff_of(view),
        paths=paths[: view.L],
        path_iou=path_iou,
        hall_iou=hall_iou,
        bce=float(binary_cross_entropy(probability[has_truth], inside)),
        d_eff=effective_dimension(view.kernel(dataset.X, dataset.X), view.r**2),
        guarantee=sampling.guarantee.repeated(view.L).for_unit(dataset.privacy_unit),
        path_epsilon=epsilon,
    )


def _smooth(view: View, paths: FloatArray) -> FloatArray:
    """Apply a 2-pixel Gaussian filter to maps, which is post-processing and costs no privacy."""
    return smoothed(paths, SIDE) if view.study.scene == "field" else paths


def find_settings(
    name: str, noise: float, delta: float, L: int, budget: float, progress: Callable[[float], None] = lambda _: None
) -> PathSetting:
    """Return the best lengthscale, r and s for L paths with epsilon <= budget, found on simulated data.

    Lengthscales are evaluated on the cluster if one is configured (``engine``).

    Raises:
        ValueError: no setting keeps within the budget.
    """
    study = STUDIES[name]
    targets = study.simulated(study.searched, noise=noise, seed=SEARCH_SEED)
    epsilon = partial(epsilon_of, name, delta=delta, L=L)
    with engine() as executor:
        [best] = search(targets, epsilon, (budget,), SearchSpace(), rounds=2, progress=progress, executor=executor)
    return best


def epsilon_of(
    name: str, lengthscale: Numbers, r: Numbers, sigma: Numbers, delta: float, L: int, eta: float = 0.0
) -> FloatArray:
    """Return the epsilon of L paths with these settings, each a number or arrays of one shape."""
    study = STUDIES[name]
    kappa = np.exp(-study.diameter / np.asarray(lengthscale))  # the smallest kernel value over the domain
    epsilon = posterior_sampling_epsilon(study.n, r, sigma, kappa, delta, L=L, eta=eta, sensitivity=study.sensitivity)
    return np.asarray(epsilon, dtype=np.float64)


_SCALES, _FINER = np.geomspace(1e-5, 100.0, 64), 2


def settings_for(
    name: str, lengthscale: float, r: float, delta: float, L: int, eta: float, epsilon: float
) -> tuple[float, float]:
    """Return r and s of L paths that cost ``epsilon``: the smallest r on offer, from ``r`` on, that can, and its
    smallest s.

    s has four digits, rounded up. With eta = 0, epsilon falls in s; otherwise the smallest of the tried values is
    returned.

    Raises:
        ValueError: no r on offer can keep within epsilon.
    """
    for ridge in (each for each in RIDGES if each >= r):
        cost = partial(epsilon_of, name, lengthscale, ridge, delta=delta, L=L, eta=eta)
        tried = _SCALES
        for _ in range(_FINER):
            kept = np.flatnonzero(cost(tried) <= epsilon)
            if not len(kept):
                break
            tried = np.geomspace(tried[max(kept[0] - 1, 0)], tried[kept[0]], len(_SCALES))
        else:
            tried = np.array([float(rounded_up(each, 4)) for each in (*tried, _SCALES[-1])])
            return ridge, float(tried[np.flatnonzero(cost(tried) <= epsilon)[0]])
    raise ValueError(f"no r up to {RIDGES[-1]:g} keeps within epsilon = {epsilon:g}")


def explored(view: View) -> Explored:
    """Return the excursion sets of one view."""
    of_noise = replace(of_data(view), threshold=start_of(view), noise=view.study.noise, delta=0.01)
    noise = cached.value("Drawing the noise of kernel sums", hall_noise, of_noise)
    return cached.value("Drawing posterior paths", explore, view, given=(noise,))


def start_of(view: View) -> float:
    """Return the threshold in data units with which the page opens."""
    return view.study.thresholds.level_of(view.study.thresholds.start)


def of_data(view: View) -> View:
    """Return the view for results that depend on the data; r, s and, in most studies, the threshold do not matter."""
    threshold = view.threshold if view.study.thresholds.subtracted else start_of(view)
    return replace(view, r=1.0, sigma=1.0, L=1, eta=0.0, threshold=threshold)
