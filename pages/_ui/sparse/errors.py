"""The sparse DP-GP page: errors and coverage on people left out, of simulated releases. Not private."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from datasets import EXHIBITS
from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.evaluation.baseline import error_without_privacy
from dpgp_core.evaluation.errors import coverage, nlpd, rmse
from dpgp_core.gp.inducing import posterior
from dpgp_core.mechanisms.bayes_cloaking import BayesRelease
from dpgp_core.sparse.posterior import SparseInterval
from dpgp_core.sparse.statistics import add_noise
from pages._ui.left_out import folds_of
from pages._ui.sparse.setting import LEVELS, Contender, Method, SparseSetting, load, parts

REPEATS = 8
BAYES_DRAWS = 1  # about each part of the people: each plans its stages anew
CURVE_EPSILONS = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)


class Judged(NamedTuple):
    """Performance on people left out, mean over simulated releases. Not private.

    Attributes:
        rmse: in the output's unit.
        likelihood: log-likelihood of one of them.
        inside: share of outputs inside each central interval (19,).
    """

    rmse: float
    likelihood: float
    inside: FloatArray


def judged(setting: SparseSetting, method: Method, epsilon: float, data: Dataset) -> Judged:
    """A variant of the sparse DP-GP over ``REPEATS`` simulated releases."""
    mechanism = setting.mechanism(method, epsilon)
    missed, likelihoods, inside = [], [], []
    for index, (train, test) in enumerate(parts(data)):
        sums = mechanism.exact_statistics(train)
        rows = []
        for repeat in range(REPEATS):
            rng = np.random.default_rng([setting.seed, repeat, index, 7])
            fit = mechanism.fit_statistics(add_noise(*sums, mechanism.noise(train), rng), train)
            mean, variance = fit.predict(test.X)
            total = variance + setting.noise * train.y_scale**2
            rows.append(mean - test.clipped_y)
            likelihoods.append(-nlpd(mean, total, test.clipped_y))
            inside.append([coverage(mean, total, test.clipped_y, float(level)) for level in LEVELS])
        missed.append(np.array(rows))
    return Judged(error_of(missed), float(np.mean(likelihoods)), np.mean(inside, axis=0))


def coverage_of_intervals(setting: SparseSetting, data: Dataset) -> FloatArray:
    """Share of people left out inside our intervals of each level (19,) over ``REPEATS`` releases. Not private."""
    inside = []
    for index, (train, test) in enumerate(parts(data)):
        rng = np.random.default_rng([setting.seed, index, 8])
        release = setting.mechanism().release(train, test.X, rng, REPEATS)
        assert isinstance(release.uncertainty, SparseInterval)
        reached = release.uncertainty.level_of(test.clipped_y, "outputs")
        inside.append(np.asarray((reached.ravel() <= LEVELS[:, None]).mean(axis=1)))
    held: FloatArray = np.mean(inside, axis=0)
    return held


def with_nothing_hidden(setting: SparseSetting, data: Dataset) -> float:
    """Error of the sparse Gaussian process itself, in the output's unit. Not private."""
    Z, missed = setting.mechanism().inducing_inputs(data), []
    for train, test in parts(data):
        held, _ = posterior(setting.kernel, train.X, train.standardised(), test.X, Z, setting.noise)
        missed.append(train.in_data_units(held)[None] - test.clipped_y)
    return error_of(missed)


def without_privacy(name: str) -> float:
    """Error when nothing is hidden, with the models of Bayes cloaking, in the output's unit. Not private."""
    data = load(name)
    clipped = name in EXHIBITS and EXHIBITS[name].cross_validated
    return error_without_privacy(data, folds_of(data), clipped=clipped)


def error_of(missed: Sequence[FloatArray]) -> float:
    """Root mean square over all parts, mean over draws.

    Args:
        missed: prediction minus truth (draws, P) of each part.
    """
    return float(rmse(np.concatenate(missed, axis=1), np.zeros(1)).mean())


@dataclass(frozen=True, eq=False)
class Curves:
    """Error and log-likelihood on people left out over ``CURVE_EPSILONS`` for each method. Not private."""

    dataset: Dataset
    rmse: dict[Contender, FloatArray]
    likelihood: dict[Contender, FloatArray]
    plain: float


def curves(setting: SparseSetting, progress: Callable[[float], None] = lambda _: None) -> Curves:
    """Errors at every epsilon: our variant, the paper's, and Bayes cloaking."""
    data = load(setting.dataset)
    errors: dict[Contender, FloatArray] = {}
    likelihood: dict[Contender, FloatArray] = {}
    compared: tuple[Contender, ...] = ("ours", "paper", "bayes")
    for method in compared:
        rows: list[Judged] = []
        for epsilon in CURVE_EPSILONS:
            judge = bayes(setting, epsilon, data) if method == "bayes" else judged(setting, method, epsilon, data)
            rows.append(judge)
            progress((len(errors) + len(rows) / len(CURVE_EPSILONS)) / len(compared))
        errors[method] = np.array([each.rmse for each in rows])
        likelihood[method] = np.array([each.likelihood for each in rows])
    return Curves(data, errors, likelihood, with_nothing_hidden(setting, data))


def bayes(setting: SparseSetting, epsilon: float, data: Dataset, levels: Sequence[float] = ()) -> Judged:
    """Bayes cloaking that protects the same, over ``BAYES_DRAWS`` releases."""
    missed, likelihoods, inside = [], [], []
    for index, (train, test) in enumerate(parts(data)):
        rng = np.random.default_rng([setting.seed, index, 5])
        release = setting.bayes(epsilon).release(train, test.X, rng, BAYES_DRAWS)
        missed.append(release.samples - test.clipped_y)
        likelihoods.append(_likelihood(release, test))
        inside.append([_share_inside(release, test, level) for level in levels])
    return Judged(error_of(missed), float(np.mean(likelihoods)), np.mean(inside, axis=0))


def _share_inside(release: BayesRelease, test: Dataset, level: float) -> float:
    """Share of people left out whose outputs lie inside the central interval of a level."""
    low, high = release.interval(level)
    return float(((low <= test.clipped_y) & (test.clipped_y <= high)).mean())


def _likelihood(release: BayesRelease, test: Dataset) -> float:
    """Mean log density of the outputs under the mixture of models, in their unit."""
    mixture = release.uncertainty.prediction
    variances = mixture.variances + mixture.noise_variances[:, None]
    squares = (test.standardised() - mixture.means) ** 2 / variances
    with np.errstate(divide="ignore"):  # a weight of 0 leaves its model out
        weighted = np.log(mixture.weights)[:, :, None] - 0.5 * (squares + np.log(2 * np.pi * variances))
    return float(logsumexp(weighted, axis=1).mean() - np.log(test.y_scale))
