"""The sparse DP-GP page: private fits along the first input, and the non-private one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.evaluation.baseline import without_privacy
from dpgp_core.gp.uncertainty import Of
from pages._ui.sparse import errors
from pages._ui.sparse.errors import Judged
from pages._ui.sparse.setting import LEVELS, METHODS, Contender, Method, SparseSetting, load

GRID_POINTS = 161
LEVEL = 0.95
KINDS: tuple[Of, ...] = ("outputs", "function")


@dataclass(frozen=True, eq=False)
class Shown:
    """One release. It may be published.

    Attributes:
        mean: of the curve (P,), in the output's unit.
        low, high: its interval at ``LEVEL``.
    """

    mean: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False)
class Fits:
    """Private fits along the first input, and the non-private one.

    Attributes:
        dataset: all records.
        x: grid (P,), first input; other inputs stand at the middle of their box.
        means: private prediction of each method (P,); may be published.
        halves: of ours, halves of the intervals of ``LEVEL`` for the curve and for one more output (P,); the paper's
            posterior does not hold at its level, so it has none.
        plain: the curve without privacy (P,). Not private.
        inducing: first coordinates of the inducing inputs.
        rmse: error of each method on people left out. Not private.
        plain_rmse: the same of the sparse Gaussian process with nothing hidden. Not private.
        coverage: share of people left out inside each central interval, per method (19,). Not private.
        bayes: the release of Bayes cloaking; may be published.
    """

    dataset: Dataset
    x: FloatArray
    means: dict[Method, FloatArray]
    halves: dict[Of, FloatArray]
    plain: FloatArray
    inducing: FloatArray
    rmse: dict[Contender, float]
    plain_rmse: float
    coverage: dict[Contender, FloatArray]
    bayes: Shown


def grid_of(dataset: Dataset) -> FloatArray:
    """Points (P, D) along the first input, the others at the middle of the public box."""
    low, high = np.array(dataset.x_box).T
    points = np.tile((low + high) / 2, (GRID_POINTS, 1))
    points[:, 0] = np.linspace(low[0], high[0], GRID_POINTS)
    return points


def fits(setting: SparseSetting) -> Fits:
    """One release of every method on all records; errors and calibration on people left out."""
    data = load(setting.dataset)
    points = grid_of(data)
    made = {
        method: setting.mechanism(method).release(data, points, np.random.default_rng(setting.seed))
        for method in METHODS
    }
    ends = {of: made["ours"].interval(LEVEL, of) for of in KINDS}
    Z = setting.mechanism().inducing_inputs(data)
    contenders: dict[Contender, Judged] = {
        method: errors.judged(setting, method, setting.epsilon, data) for method in METHODS
    }
    contenders["bayes"] = errors.bayes(setting, setting.epsilon, data, LEVELS.tolist())
    inside = {method: each.inside for method, each in contenders.items()}
    inside["ours"] = errors.coverage_of_intervals(setting, data)
    bayes = setting.bayes().release(data, points, np.random.default_rng([setting.seed, 3]))
    return Fits(
        dataset=data,
        x=points[:, 0],
        means={method: release.samples[0] for method, release in made.items()},
        halves={of: (high - low)[0] / 2 for of, (low, high) in ends.items()},
        plain=without_privacy(data, points),
        inducing=np.unique(Z[:, 0]),
        rmse={method: each.rmse for method, each in contenders.items()},
        plain_rmse=errors.with_nothing_hidden(setting, data),
        coverage=inside,
        bayes=Shown(bayes.samples[0], *(end[0] for end in bayes.interval(LEVEL, "function"))),
    )
