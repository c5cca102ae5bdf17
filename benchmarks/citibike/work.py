"""One unit of work of ``citibike/table.py``: a method with one setting on one replicate, at every privacy level."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from datasets import citibike
from dpgp_core.arrays import FloatArray
from dpgp_core.evaluation.errors import rmse
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import Cloaking, IntegralBinning, LaplaceBinning
from dpgp_core.table import Dataset

LENGTHSCALES = (0.78125, 0.3125, 0.125, 0.05, 0.02)  # degrees
BINS = (10, 6, 3)  # along each of the 4 dimensions
INTEGRAL_LENGTHSCALE = 0.05  # degrees
NOISE_VARIANCE = (1605 / 1581) ** 2  # sigma_n^2 in units of the kernel's variance; y_scale is 1581 s
DELTA = 0.01
EPSILONS = (1.0, 0.5, 0.2)
LEVELS = ("no DP", *(f"epsilon {epsilon:g}" for epsilon in EPSILONS))
NO_NOISE = 1e6  # an epsilon at which the integral kernel's Laplace variance is nothing
PUBLISHED = {"objective": "logdet", "calibration": "hall"}
OURS = "cloaking"
THEIRS = "cloaking, published"
INTEGRAL = "integral binning"
SIMPLE = "simple binning"


@dataclass(frozen=True, kw_only=True)
class Task:
    """One unit of work: a method with one setting on one replicate, at every privacy level.

    ``setting`` is the lengthscale in degrees or the number of bins along each dimension.
    """

    method: str
    setting: float
    replicate: int
    seed: int
    train: int
    test: int
    draws: int
    file: str | None

    @property
    def key(self) -> str:
        """Every parameter, as one line of text."""
        return json.dumps(asdict(self), sort_keys=True)


def compute(task: Task) -> list[float]:
    """Return the error in seconds at each of ``LEVELS``; a pure function of the task."""
    training, X_test, truth = journeys(task)
    if task.method in (OURS, THEIRS):
        return _cloaking(task, training, X_test, truth)
    errors = []
    for epsilon in (NO_NOISE, *EPSILONS):
        mechanism = _binning(task, epsilon)
        released = mechanism.release(training, X_test, _generator(task, epsilon), task.draws)
        values = released.mean[None] if epsilon == NO_NOISE else released.samples
        errors.append(float(rmse(values, truth).mean()))
    return errors


def _binning(task: Task, epsilon: float) -> LaplaceBinning | IntegralBinning:
    if task.method == SIMPLE:
        return LaplaceBinning(epsilon=epsilon, bins=int(task.setting))
    return IntegralBinning(
        epsilon=epsilon,
        bins=int(task.setting),
        kernel_variance=1.0,
        lengthscale=INTEGRAL_LENGTHSCALE,
        white_noise=NOISE_VARIANCE,
    )


def _cloaking(task: Task, training: Dataset, X_test: FloatArray, truth: FloatArray) -> list[float]:
    form: dict[str, Any] = PUBLISHED if task.method == THEIRS else {}
    model = {"kernel": EQ(lengthscale=task.setting), "noise_variance": NOISE_VARIANCE}
    mechanisms = [Cloaking(epsilon=epsilon, delta=DELTA, **model, **form) for epsilon in EPSILONS]
    plan = mechanisms[0].plan(training.X, X_test)  # the same for every privacy level
    errors: list[float] = []
    for mechanism in mechanisms:
        rng = _generator(task, mechanism.epsilon)
        released = mechanism.measure(plan, training, X_test, rng, task.draws)
        errors = errors or [float(rmse(released.mean, truth))]
        errors.append(float(rmse(released.samples, truth).mean()))
    return errors


def journeys(task: Task) -> tuple[Dataset, FloatArray, FloatArray]:
    """Training journeys, test inputs (P, 4) and clipped test durations (P,): the same for every method."""
    sample = np.random.SeedSequence([task.seed, task.replicate])
    n = task.train + task.test
    if task.file is None:
        drawn = citibike.load(n=n, seed=int(sample.generate_state(1)[0]))
        chosen = np.arange(n)
    else:
        drawn = _whole_file(task.file)
        if drawn.n < n:
            raise ValueError(f"the file has {drawn.n} journeys in the box, {n} are needed; lower --train or --test")
        chosen = np.random.default_rng(sample).choice(drawn.n, size=n, replace=False)
    fitted, tested = chosen[: task.train], chosen[task.train :]
    training = replace(drawn, X=drawn.X[fitted], y=drawn.y[fitted])
    return training, drawn.X[tested], drawn.clipped_y[tested]


@lru_cache(maxsize=1)
def _whole_file(file: str) -> Dataset:
    return citibike.load_file(file)


def _generator(task: Task, epsilon: float) -> np.random.Generator:
    """Noise of its own for every unit of work and privacy level."""
    return np.random.default_rng(
        [task.seed, task.replicate, *task.method.encode(), *f"{task.setting} {epsilon}".encode()]
    )


def rows(*, published: bool) -> list[tuple[str, float]]:
    """(method, setting) of each row, in the order of the paper's table."""
    cloaking = [OURS, THEIRS] if published else [OURS]
    settings = [(method, setting) for method in cloaking for setting in LENGTHSCALES]
    return settings + [(method, float(bins)) for method in (INTEGRAL, SIMPLE) for bins in BINS]
