"""Every mechanism on one data set: held-out errors against epsilon, and the epsilon that a target error needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpgp_core.accounting.gaussian import Method
from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.evaluation.comparison import Held, epsilon_for_error, held_out_errors, hold_out, sweep, with_epsilon
from dpgp_core.evaluation.cross_validation import held_out_matrices, k_folds
from dpgp_core.evaluation.errors import rmse
from dpgp_core.mechanisms import CloakingInducing, IntegralBinning, LaplaceBinning, SparseVariational
from dpgp_core.mechanisms.base import Mechanism
from pages._ui.model import INPUT_RATIOS, PAPER_DESIGN, Design, Draw, Model, mechanism_of
from pages._ui.work.engine import engine, run_on

FOLDS = 5
FOLD_SEED = 0  # public
DRAWS = 60
SEED = 1
FEWER_DRAWS = {"Sparse DP-GP (inputs too)": 8}  # each draw is a fit of its own
CURVE_EPSILONS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0, 50.0, 100.0)
_ANY_EPSILON = 1.0  # plans do not depend on it


@dataclass(frozen=True)
class Contest:
    """Settings shared by all contenders: model, delta, bins along each dimension, number of inducing inputs."""

    model: Model
    delta: float
    bins: int
    inducing: int


def _gaussian(contest: Contest, epsilon: float) -> dict[str, Any]:
    return {
        "kernel": contest.model.build(),
        "noise_variance": contest.model.noise,
        "epsilon": epsilon,
        "delta": contest.delta,
    }


def _released(design: Design, calibration: Method = "analytic") -> Callable[[Contest, float], Mechanism]:
    """The mechanism that the other pages use for these settings."""
    return lambda contest, epsilon: mechanism_of(contest.model, design, Draw(epsilon, contest.delta, calibration))


def _inducing(contest: Contest, epsilon: float) -> Mechanism:
    return CloakingInducing(**_gaussian(contest, epsilon), n_inducing=contest.inducing)


def _sparse(contest: Contest, epsilon: float) -> Mechanism:
    dims = len(INPUT_RATIOS.get(contest.model.dataset, (1.0,)))
    return SparseVariational(
        epsilon=epsilon,
        delta=contest.delta,
        kernel=contest.model.build(),
        noise_variance=contest.model.noise,
        n_inducing=max(3, round(contest.inducing ** (1 / dims))),
    )


def _integral(contest: Contest, epsilon: float) -> Mechanism:
    lengthscale = contest.model.build().lengthscale
    return IntegralBinning(
        epsilon=epsilon, bins=contest.bins, kernel_variance=1.0, lengthscale=lengthscale, fit_noise=True
    )


CONTENDERS: dict[str, Callable[[Contest, float], Mechanism]] = {  # in order of the table
    "Refined cloaking (ours)": _released(Design("refined")),
    "Cloaking, trace + analytic (ours)": _released(Design("cloaking")),
    "Cloaking, inducing inputs": _inducing,
    "Cloaking as published": _released(PAPER_DESIGN, "hall"),
    "GP-prior noise": _released(Design("gp_prior")),
    "Sparse DP-GP (inputs too)": _sparse,
    "Laplace bins": lambda contest, epsilon: LaplaceBinning(epsilon=epsilon, bins=contest.bins),
    "Integral bins": _integral,
}


@dataclass(frozen=True, eq=False)
class Curve:
    """One contender over ``CURVE_EPSILONS``. Errors are not private.

    Attributes:
        errors: held-out RMSE of each simulated draw (E, draws), in the output's unit.
        half_width: half of the 95 % interval for an output, median over test points (E,), in the output's unit; nan
            where a mechanism has none.
        seconds: one fit and one release.
    """

    errors: FloatArray
    half_width: FloatArray
    seconds: float

    @property
    def mean(self) -> FloatArray:
        """Expected error at each epsilon (E,)."""
        means: FloatArray = self.errors.mean(axis=1)
        return means


def folds_of(dataset: Dataset) -> tuple[Any, ...]:
    """Public, shuffled folds."""
    return k_folds(dataset.n, FOLDS, np.random.default_rng(FOLD_SEED))


def prepare(dataset: Dataset, contest: Contest, name: str) -> list[Held]:
    """Plan a contender on every fold."""
    return hold_out(CONTENDERS[name](contest, _ANY_EPSILON), dataset, folds_of(dataset))


def curve(dataset: Dataset, contest: Contest, name: str) -> Curve:
    """Simulate a contender at every epsilon, on the cluster if one is configured (``engine``)."""
    mechanism = CONTENDERS[name](contest, _ANY_EPSILON)
    with engine() as executor:
        found = sweep(mechanism, dataset, folds_of(dataset), CURVE_EPSILONS, _draws(name), SEED, executor)
    errors = np.array([each.rmse for each in found.errors])
    return Curve(errors, np.array([each.half_width for each in found.errors]), found.seconds)


def needed(dataset: Dataset, contest: Contest, name: str, target: float) -> float | None:
    """Smallest epsilon whose expected held-out error is at most ``target``; None if 100 is not enough."""
    with engine() as executor:
        return run_on(executor, _needed, dataset, contest, name, target)


def _needed(dataset: Dataset, contest: Contest, name: str, target: float) -> float | None:
    held, mechanism = prepare(dataset, contest, name), CONTENDERS[name](contest, _ANY_EPSILON)

    def error(epsilon: float) -> float:
        return float(held_out_errors(with_epsilon(mechanism, epsilon), held, _draws(name), SEED).rmse.mean())

    return epsilon_for_error(error, target)


def _draws(name: str) -> int:
    return FEWER_DRAWS.get(name, DRAWS)


def nonprivate(dataset: Dataset, model: Model) -> float:
    """Held-out RMSE of the plain GP, in the output's unit. Not private."""
    folds, y = folds_of(dataset), dataset.standardised()
    matrices = held_out_matrices(model.build(), dataset.X, folds, model.noise)
    residuals = [C @ np.delete(y, test) - y[test] for C, test in zip(matrices, folds, strict=True)]
    return dataset.y_scale * float(rmse(np.concatenate(residuals), np.zeros(1)))
