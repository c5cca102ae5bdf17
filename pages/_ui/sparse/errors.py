"""The sparse DP-GP page: held-out errors and coverage of simulated releases. Not private."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.evaluation.errors import coverage, nlpd, rmse
from dpgp_core.gp.variational import posterior
from dpgp_core.sparse.interval import SparseInterval
from dpgp_core.sparse.statistics import add_noise
from pages._ui.sparse import contender
from pages._ui.sparse.setting import LEVELS, Contender, Method, SparseSetting, load, split

REPEATS = 20
CURVE_EPSILONS = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)


def held_out(
    setting: SparseSetting, method: Method, epsilon: float, train: Dataset, test: Dataset
) -> tuple[float, float, FloatArray]:
    """Mean held-out RMSE, log-likelihood per record, and coverage (19,) over ``REPEATS`` simulated releases."""
    mechanism = setting.mechanism(method, epsilon)
    sums = mechanism.exact_statistics(train)
    errors, likelihoods, inside = [], [], []
    for repeat in range(REPEATS):
        rng = np.random.default_rng([setting.seed, repeat, 7])
        fit = mechanism.fit_statistics(add_noise(*sums, mechanism.noise(train), rng), train)
        mean, variance = fit.predict(test.X)
        total = variance + setting.noise * train.y_scale**2
        errors.append(float(rmse(mean, test.clipped_y)))
        likelihoods.append(-nlpd(mean, total, test.clipped_y))
        inside.append([coverage(mean, total, test.clipped_y, float(level)) for level in LEVELS])
    return float(np.mean(errors)), float(np.mean(likelihoods)), np.mean(inside, axis=0)


def coverage_of_intervals(setting: SparseSetting, train: Dataset, test: Dataset) -> FloatArray:
    """Share of held-out outputs inside our intervals of each level (19,) over ``REPEATS`` releases. Not private."""
    release = setting.mechanism().release(train, test.X, np.random.default_rng([setting.seed, 8]), REPEATS)
    assert isinstance(release.uncertainty, SparseInterval)
    reached = release.uncertainty.level_of(test.clipped_y, "outputs")
    return np.asarray((reached.ravel() <= LEVELS[:, None]).mean(axis=1))


@dataclass(frozen=True, eq=False)
class Curves:
    """Held-out error and log-likelihood over ``CURVE_EPSILONS`` for each method. Not private."""

    dataset: Dataset
    rmse: dict[Contender, FloatArray]
    likelihood: dict[Contender, FloatArray]
    plain: float


def curves(setting: SparseSetting, progress: Callable[[float], None] = lambda _: None) -> Curves:
    """Errors at every epsilon: our variant, the paper's, and Bayes cloaking."""
    data = load(setting.dataset)
    train, test = split(data)
    Z = setting.mechanism().inducing_inputs(data)
    held, _ = posterior(setting.kernel, train.X, train.standardised(), test.X, Z, setting.noise)
    errors: dict[Contender, FloatArray] = {}
    likelihood: dict[Contender, FloatArray] = {}
    compared: tuple[Contender, ...] = ("ours", "paper", "bayes")
    for method in compared:
        found: list[tuple[float, float]] = []
        for epsilon in CURVE_EPSILONS:
            found.append(_judged(setting, method, epsilon, train, test))
            progress((len(errors) + len(found) / len(CURVE_EPSILONS)) / len(compared))
        errors[method] = np.array([each[0] for each in found])
        likelihood[method] = np.array([each[1] for each in found])
    return Curves(data, errors, likelihood, float(rmse(train.in_data_units(held), test.clipped_y)))


def _judged(
    setting: SparseSetting, method: Contender, epsilon: float, train: Dataset, test: Dataset
) -> tuple[float, float]:
    if method == "bayes":
        found = contender.held_out(setting.bayes(epsilon), train, test, (), setting.seed)
        return found.rmse, found.likelihood
    return held_out(setting, method, epsilon, train, test)[:2]
