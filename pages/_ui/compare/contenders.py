"""Every mechanism on one data set: held-out errors against epsilon, and the epsilon that a target error needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from datasets import exhibit
from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.evaluation.comparison import (
    Held,
    Piece,
    Sweep,
    gathered,
    held_out_errors,
    hold_out,
    sweep,
    sweep_fold,
    with_epsilon,
)
from dpgp_core.evaluation.errors import epsilon_for_error, epsilon_on_curve
from dpgp_core.mechanisms import CATALOGUE
from dpgp_core.mechanisms.base import Mechanism
from dpgp_core.mechanisms.catalogue import Parameters
from pages._ui.left_out import SEED, folds_of
from pages._ui.model import PICTURE_GAP, Model, clip_of
from pages._ui.work.engine import engine, run_on

CURVE_EPSILONS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0, 50.0, 100.0)
_ANY_EPSILON = 1.0  # of a mechanism before it is given one


@dataclass(frozen=True)
class Contest:
    """Settings shared by all contenders: model, delta, bins along each dimension, number of inducing inputs."""

    model: Model
    delta: float
    bins: int
    inducing: int


CONTENDERS = {name: entry for name, entry in CATALOGUE.items() if entry.compared}
"""Rows of the catalogue by name, in order of the table."""

BY_WAIT = tuple(sorted(CONTENDERS, key=lambda name: (CONTENDERS[name].on_request, CONTENDERS[name].automatic)))
"""Names in the order of computing: those whose curve takes longest come last."""

USUAL = tuple(name for name in BY_WAIT if not CONTENDERS[name].on_request)
"""Those of them that need not be asked for."""


def contender(contest: Contest, name: str, epsilon: float) -> Mechanism:
    """The mechanism of a contender at an epsilon."""
    ratios = exhibit(contest.model.dataset).ratios
    return CONTENDERS[name].build(
        Parameters(
            kernel=contest.model.build(),
            noise_variance=contest.model.noise,
            epsilon=epsilon,
            delta=contest.delta,
            x_box=((0.0, 1.0),) * len(ratios),  # how many inputs there are is all that is used of it here
            cells=contest.bins,
            inducing=contest.inducing,
            clip=clip_of(contest.model),
            fit_noise=True,
            gap=PICTURE_GAP,
        )
    )


@dataclass(frozen=True, eq=False)
class Curve:
    """One contender over ``CURVE_EPSILONS``. Errors are not private.

    Attributes:
        errors: held-out RMSE of each simulated draw (E, draws), in the output's unit.
        half_width: half of the 95 % interval for an output, median over test points (E,), in the output's unit; nan
            where a mechanism has none.
        half_score: half of the interval score (E,), in the output's unit; nan likewise.
        seconds: one fit and one release.
    """

    errors: FloatArray
    half_width: FloatArray
    half_score: FloatArray
    seconds: float

    @property
    def mean(self) -> FloatArray:
        """Expected error at each epsilon (E,)."""
        means: FloatArray = self.errors.mean(axis=1)
        return means

    @property
    def standard_error(self) -> FloatArray:
        """Of that mean, over the draws (E,)."""
        draws = self.errors.shape[1]
        errors: FloatArray = self.errors.std(axis=1, ddof=1) / np.sqrt(draws)
        return errors


def prepare(dataset: Dataset, contest: Contest, name: str) -> list[Held]:
    """Plan a contender on every fold."""
    return hold_out(contender(contest, name, _ANY_EPSILON), dataset, folds_of(dataset))


def curve(
    dataset: Dataset, contest: Contest, name: str, *, progress: Callable[[float], None] = lambda fraction: None
) -> Curve:
    """Simulate a contender at every epsilon, on the cluster if one is configured (``engine``)."""
    mechanism = contender(contest, name, _ANY_EPSILON)
    with engine() as executor:
        draws = CONTENDERS[name].simulated
        return _curve(sweep(mechanism, dataset, folds_of(dataset), CURVE_EPSILONS, draws, SEED, executor, progress))


def piece(
    dataset: Dataset,
    contest: Contest,
    name: str,
    index: int,
    *,
    progress: Callable[[float], None] = lambda fraction: None,
) -> Piece:
    """The same on one fold, here: the first of a slow curve can be drawn while the others are computed."""
    mechanism, draws = contender(contest, name, _ANY_EPSILON), CONTENDERS[name].simulated
    test = folds_of(dataset)[index]
    return sweep_fold(mechanism, dataset, CURVE_EPSILONS, draws, SEED, index, test, progress)


def joined(pieces: Sequence[Piece], contest: Contest, name: str) -> Curve:
    """The curve over the folds that are done; over all of them it is ``curve(contest, name)``."""
    return _curve(gathered(pieces))


def _curve(swept: Sweep) -> Curve:
    errors = np.array([each.rmse for each in swept.errors])
    half_width, half_score = np.array([(each.half_width, each.half_score) for each in swept.errors]).T
    return Curve(errors, half_width, half_score, swept.seconds)


def read_off(errors: Curve, target: float) -> float | None:
    """Smallest epsilon at which a curve is at most ``target``, between its points on logarithmic axes."""
    return epsilon_on_curve(CURVE_EPSILONS, errors.mean, target)


def needed(dataset: Dataset, contest: Contest, name: str, target: float) -> float | None:
    """Smallest epsilon whose expected held-out error is at most ``target``; None if 100 is not enough."""
    with engine() as executor:
        return run_on(executor, _needed, dataset, contest, name, target)


def _needed(dataset: Dataset, contest: Contest, name: str, target: float) -> float | None:
    held, mechanism = prepare(dataset, contest, name), contender(contest, name, _ANY_EPSILON)

    def error(epsilon: float) -> float:
        tried, draws = with_epsilon(mechanism, epsilon), CONTENDERS[name].simulated
        return float(held_out_errors(tried, held, draws, SEED, intervals=False).rmse.mean())

    return epsilon_for_error(error, target)
