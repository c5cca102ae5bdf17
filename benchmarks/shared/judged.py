"""How releases are judged: errors over draws, and the shares of outputs inside intervals."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from dpgp_core.arrays import FloatArray
from dpgp_core.evaluation.comparison import left_out
from dpgp_core.evaluation.cross_validation import k_folds
from dpgp_core.evaluation.errors import interval_score
from dpgp_core.mechanisms.base import Mechanism, Release
from dpgp_core.table import Dataset

LEVELS = (0.5, 0.9, 0.95, 0.99)
FOLDS = 5

SEED = 1  # of the draws

Part = tuple[Dataset, FloatArray, FloatArray]
"""Records to train on, inputs (P, D) held out, their clipped outputs (P,)."""
Releasing = Callable[[Dataset, np.random.Generator, int], Release]


def splits(dataset: Dataset) -> list[Part]:
    """The public folds."""
    folds = k_folds(dataset.n, FOLDS, np.random.default_rng(0))
    return [(fold.train, fold.X_test, fold.truth) for fold in left_out(dataset, folds)]


def releasing(mechanism: Mechanism, data: Dataset, X_test: FloatArray) -> Releasing:
    """Numbered draws at X_test (P, D), planned once for the inputs of ``data``."""
    plan = mechanism.plan_for(data, X_test)
    return lambda world, rng, draws: mechanism.measure(plan, world, X_test, rng, draws)


class Judged(NamedTuple):
    """Releases of some parts of a table.

    Attributes:
        samples, truth: released values (draws, N) at inputs of N outputs (N,).
        inside: share of outputs inside the interval of each level (levels,).
        score, width: of intervals at 95 %.
        plan_seconds, draw_seconds: of a processor, for a part.
    """

    samples: FloatArray
    truth: FloatArray
    inside: FloatArray
    score: float
    width: float
    plan_seconds: float
    draw_seconds: float

    @property
    def error(self) -> tuple[float, float]:
        """Root mean squared, mean over draws and its standard error."""
        return error_of(self.samples - self.truth)


def judge(mechanism: Mechanism, parts: Sequence[Part], draws: int) -> Judged:
    """Numbered draws of each part, clipped to the bounds as a release is, judged at the outputs that it holds out."""
    samples, truths, means = list[FloatArray](), list[FloatArray](), list[list[float]]()
    for index, (train, X_test, truth) in enumerate(parts):
        clock = [time.process_time()]
        draw = releasing(mechanism, train, X_test)
        clock.append(time.process_time())
        release = draw(train, np.random.default_rng([SEED, index]), draws)
        clock.append(time.process_time())
        low, high = release.interval(0.95)
        scores = float(interval_score(low, high, truth, 0.95).mean()), float((high - low).mean())
        planned, drawn = np.diff(clock)
        means.append([*inside(release, truth), *scores, planned, drawn / draws])
        samples.append(np.clip(release.samples, *train.y_bounds))
        truths.append(truth)
    mean = np.mean(means, axis=0)
    held, rest = mean[: len(LEVELS)], mean[len(LEVELS) :]
    return Judged(np.concatenate(samples, axis=1), np.concatenate(truths), held, *map(float, rest))


def error_of(residuals: FloatArray) -> tuple[float, float]:
    """Root mean squared error of residuals (draws, N), mean over draws and its standard error."""
    errors = np.sqrt((residuals**2).mean(axis=1))
    return float(errors.mean()), float(errors.std(ddof=min(1, len(errors) - 1)) / np.sqrt(len(errors)))


def inside(release: Release, truth: FloatArray) -> list[float]:
    """Share of outputs ``truth`` (P,) inside the interval of each of ``LEVELS`` for one more output."""
    ends = [release.interval(level) for level in LEVELS]
    return [float(((low <= truth) & (truth <= high)).mean()) for low, high in ends]


def shares(found: Sequence[float] | FloatArray) -> str:
    """As printed: .50/.91/.95/.99."""
    return "/".join(f"{share:.2f}".lstrip("0") for share in found)
