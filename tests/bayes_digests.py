"""What Bayes cloaking computes, for ``tests.digests``: every option, as numbered draws and as real releases.

Real releases have noise that is known here, so that what integers make of outputs is held too, and what is read of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unittest import mock

import numpy as np

from dpgp_core import EQ, BayesCloaking, Matern32, difference, refit
from dpgp_core.levels import LevelSide
from dpgp_core.measurement.noise import GaussianNoise
from dpgp_core.table import Dataset
from tests.core.tables import read_again, table

_RNG = np.random.default_rng
CURVES = {
    "number": lambda x, rng: 20 + 8 * np.sin(x) + 4 * rng.standard_normal(len(x)),
    "amount": lambda x, rng: 6 * rng.gamma(2.0, 1 + 0.1 * x),
    "count": lambda x, rng: rng.poisson(3 + x).astype(float),
    "yes/no": lambda x, rng: (rng.uniform(size=len(x)) < 0.2 + 0.05 * x).astype(float),
}
SIDES = {
    "one": ((0.0, 10.0),),
    "plane": ((0.0, 10.0), (-2.0, 2.0)),
    "groups": ((0.0, 10.0), LevelSide(-0.5, 2.5)),
    "week": ((0.0, 40.0),),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "one stage": {"stages": 1},
    "wide clips": {"stages": 2, "clip": 1.5},
    "kernel given": {"kernels": [Matern32(lengthscale=2.0)], "noise_variances": [0.2]},
    "kernels given": {"kernels": [EQ(lengthscale=2.0), Matern32(lengthscale=1.0)]},
    "a week": {"periods": [7.0]},
    "weighed": {"weights": [1.0] * 4 + [0.1] * 3},
}
RECORDS, CELLS, INPUTS = {"binned": False, "gap": 0.1}, {"binned": True}, {"protects": "inputs and outputs"}


def made(sides: str, kind: str, n: int, people: bool = False) -> Dataset:
    """A table of numbers made up."""
    box, rng = SIDES[sides], _RNG([n, len(sides), len(kind)])
    X = np.column_stack([rng.integers(0, s.levels, n) if isinstance(s, LevelSide) else rng.uniform(*s, n) for s in box])
    bounds = (0.0, 1.0) if kind == "yes/no" else (0.0, 40.0)
    named: dict[str, Any] = {"x_names": tuple("xgh"[: len(box)]), "x_units": ("m",) * len(box)}
    if sides == "groups":
        named["x_levels"] = (None, ("a", "b", "c"))
    if people:
        named["person"] = rng.integers(0, n // 2, n)
    y = CURVES[kind](X[:, 0] % 7, rng)
    return table(X.astype(float), y, y_bounds=bounds, x_box=box, y_scale=bounds[1] / 3, y_kind=kind, **named)


def at(box: Any) -> Any:
    """Seven test inputs in a box."""
    return np.column_stack(
        [np.arange(7) % s.levels if isinstance(s, LevelSide) else np.linspace(*s, 7) for s in box]
    ).astype(float)


def _known(noise: GaussianNoise, size: int, bits: Any = None) -> list[int]:
    """Noise that follows from its size and scale alone."""
    return [round(noise.sd * float(each)) for each in _RNG(size).standard_normal(size)]


def _of_release(release: Any, kind: str) -> list[Any]:
    fit = release.fit
    return [
        release.samples,
        *release.interval(0.95, "outputs"),
        *release.interval(0.5, "function"),
        release.quantile(0.03),
        release.scatter,
        release.model_weights,
        [fit.ratio, fit.threshold, fit.widened, fit.likeliest, len(release.detail)],
    ]


def released(mechanism: BayesCloaking, data: Dataset) -> list[Any]:
    """Numbered draws beside what they hide, a real release, and what a refit, a difference and a reading make of it."""
    X_test = at(data.x_box)
    plan = mechanism.plan_for(data, X_test)
    drawn = mechanism.measure(plan, data, X_test, _RNG(1), 2)
    with mock.patch.object(GaussianNoise, "draw", _known):
        real = mechanism.measure(plan, data, X_test)
    [statistics] = real.statistics
    again = refit(statistics, kernels=[EQ(lengthscale=2.0)], noise_variances=[0.1, 0.4], X_test=X_test)
    groups = []
    if data.x_levels is not None:
        apart = difference(statistics, "a", "c", X_test)
        groups = [apart.mean, *apart.interval(0.9)]
    return [
        *_of_release(drawn, data.y_kind),
        drawn.mean,
        *_of_release(real, data.y_kind),
        [each.noise_sd for each in statistics.measurements],
        read_again(mechanism, statistics, X_test),
        again.mean,
        *again.interval(0.9),
        *again.interval(0.9, "outputs"),
        *groups,
    ]


def cases() -> Iterator[tuple[str, Callable[[], list[Any]]]]:
    """Every option of inputs that are public, shared or private; every kind of outcome, of box, and people."""
    rows = [("number", "one", each) for each in OPTIONS if each != "a week"]
    rows += [(kind, "one", "plain") for kind in CURVES if kind != "number"]
    rows += [("number", "plane", "plain"), ("amount", "groups", "plain"), ("number", "week", "a week")]
    for how, options in (("records", RECORDS), ("cells", CELLS), ("inputs too", INPUTS)):
        for kind, sides, option in rows:
            if how == "records" or "weights" not in OPTIONS[option]:
                yield _case(how, options, kind, sides, option)
        if how != "records":
            yield _case(how, options, "amount", "one", "plain", people=True)


def _case(
    how: str, options: dict[str, Any], kind: str, sides: str, option: str, people: bool = False
) -> tuple[str, Callable[[], list[Any]]]:
    mechanism = BayesCloaking(**{"epsilon": 2.0, "delta": 1e-3, "stages": 3, **options, **OPTIONS[option]})
    data = made(sides, kind, 30 if how == "records" else 200, people)
    name = ", ".join(["bayes", how, kind, sides, option, *(["people"] if people else [])])
    return name, partial(released, mechanism, data)
