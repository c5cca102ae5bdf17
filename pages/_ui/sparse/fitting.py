"""The sparse DP-GP page: private fits along the first input, and the non-private one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.evaluation.errors import rmse
from dpgp_core.gp.uncertainty import Of
from dpgp_core.gp.variational import posterior
from pages._ui.sparse import contender
from pages._ui.sparse.contender import Shown
from pages._ui.sparse.errors import coverage_of_intervals, held_out
from pages._ui.sparse.setting import LEVELS, METHODS, Contender, Method, SparseSetting, load, split

GRID_POINTS = 161
LEVEL = 0.95
KINDS: tuple[Of, ...] = ("outputs", "function")


@dataclass(frozen=True, eq=False)
class Fits:
    """Private fits along the first input, and the non-private one.

    Attributes:
        dataset: all records.
        x: grid (P,), first input; other inputs stand at the middle of their box.
        means: private prediction of each method (P,); may be published.
        halves: of ours, halves of the intervals of ``LEVEL`` for the curve and for one more output (P,); the paper's
            posterior does not hold at its level, so it has none.
        plain: non-private sparse mean (P,).
        inducing: first coordinates of the inducing inputs.
        rmse: held-out RMSE of each method's fit on half the records, and ``plain`` without privacy. Not private.
        coverage: share of held-out outputs inside each central interval, per method (19,). Not private.
        bayes: the release of Bayes cloaking; may be published.
    """

    dataset: Dataset
    x: FloatArray
    means: dict[Method, FloatArray]
    halves: dict[Of, FloatArray]
    plain: FloatArray
    inducing: FloatArray
    rmse: dict[str, float]
    coverage: dict[Contender, FloatArray]
    bayes: Shown


def grid_of(dataset: Dataset) -> FloatArray:
    """Points (P, D) along the first input, the others at the middle of the public box."""
    low, high = np.array(dataset.x_box).T
    points = np.tile((low + high) / 2, (GRID_POINTS, 1))
    points[:, 0] = np.linspace(low[0], high[0], GRID_POINTS)
    return points


def fits(setting: SparseSetting) -> Fits:
    """One release of every method on all records; calibration on held-out halves, averaged over releases."""
    data = load(setting.dataset)
    points = grid_of(data)
    made = {
        method: setting.mechanism(method).release(data, points, np.random.default_rng(setting.seed))
        for method in METHODS
    }
    ends = {of: made["ours"].interval(LEVEL, of) for of in KINDS}
    Z = setting.mechanism().inducing_inputs(data)
    plain, _ = posterior(setting.kernel, data.X, data.standardised(), points, Z, setting.noise)
    train, test = split(data)
    held, _ = posterior(setting.kernel, train.X, train.standardised(), test.X, Z, setting.noise)
    errors: dict[str, float] = {"plain": float(rmse(train.in_data_units(held), test.clipped_y))}
    inside: dict[Contender, FloatArray] = {}
    for method in METHODS:
        errors[method], _, inside[method] = held_out(setting, method, setting.epsilon, train, test)
    inside["ours"] = coverage_of_intervals(setting, train, test)
    other = contender.held_out(setting.bayes(), train, test, LEVELS.tolist(), setting.seed)
    errors["bayes"], inside["bayes"] = other.rmse, other.inside
    return Fits(
        dataset=data,
        x=points[:, 0],
        means={method: release.samples[0] for method, release in made.items()},
        halves={of: (high - low)[0] / 2 for of, (low, high) in ends.items()},
        plain=data.in_data_units(plain),
        inducing=np.unique(Z[:, 0]),
        rmse=errors,
        coverage=inside,
        bayes=contender.shown(setting.bayes(), data, points, setting.seed),
    )
