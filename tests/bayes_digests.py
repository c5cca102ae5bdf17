"""What Bayes cloaking computes, for ``tests.digests``: every option, as numbered draws and as real releases.

Real releases have noise that is known here, so that what integers make of outputs is held too, and what is read of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unittest import mock

import numpy as np

from dpgp_core import EQ, BayesCloaking, Matern32, RefinedCloaking, difference, refit
from dpgp_core.accounting.guarantee import Protects
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
    "solid": ((0.0, 10.0), (-2.0, 2.0), (0.0, 1.0)),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "one stage": {"stages": 1},
    "wide clips": {"stages": 2, "clip": 1.5},
    "kernel given": {"kernels": [Matern32(lengthscale=2.0)], "noise_variances": [0.2]},
    "kernels given": {"kernels": [EQ(lengthscale=2.0), Matern32(lengthscale=1.0)]},
    "a week": {"periods": [7.0]},
}
WAYS: dict[str, tuple[Protects, int]] = {
    "few places": ("outputs", 30),
    "many places": ("outputs", 200),
    "inputs too": ("inputs and outputs", 200),
}
"""What is protected, and the number of records. The first have a bin for each distinct input, the second clusters or,
with groups and a period, equal cells with known locations, and the last equal cells."""


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
        release.residual_sd,
        release.model_weights,
        [fit.ratio, fit.threshold, fit.widened, fit.likeliest, len(release.detail)],
    ]


def released(mechanism: BayesCloaking, data: Dataset) -> list[Any]:
    """Two simulated releases, their curve without noise, a real release, and its refit, difference and reading."""
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


def read_of_records() -> list[Any]:
    """The posterior given a release of refined cloaking, whose strategies have a column for each record."""
    mechanism = RefinedCloaking(epsilon=2.0, delta=1e-3, kernel=EQ(lengthscale=2.0), noise_variance=0.3)
    data = made("one", "number", 30)
    X_test = at(data.x_box)
    with mock.patch.object(GaussianNoise, "draw", _known):
        [statistics] = mechanism.release(data, X_test).statistics
    kernels = [EQ(lengthscale=2.0), Matern32(lengthscale=1.0)]
    found = refit(statistics, kernels=kernels, noise_variances=[0.1, 0.4], X_test=X_test)
    return [found.mean, found.weights, *found.interval(0.9), *found.interval(0.9, "outputs")]


def cases() -> Iterator[tuple[str, Callable[[], list[Any]]]]:
    """Every option with few or many public places and with private inputs; every kind of outcome and box; people."""
    yield "bayes, columns of records", read_of_records
    rows = [("number", "one", each) for each in OPTIONS if each != "a week"]
    rows += [(kind, "one", "plain") for kind in CURVES if kind != "number"]
    rows += [("number", "plane", "plain"), ("amount", "groups", "plain"), ("number", "week", "a week")]
    for way in WAYS:
        for kind, sides, option in rows:
            yield _case(way, kind, sides, option)
        yield _case(way, "amount", "one", "plain", people=True)


def _case(way: str, kind: str, sides: str, option: str, *, people: bool = False) -> tuple[str, Callable[[], list[Any]]]:
    protects, n = WAYS[way]
    options: dict[str, Any] = {"stages": 3, **OPTIONS[option]}
    mechanism = BayesCloaking(epsilon=2.0, delta=1e-3, protects=protects, **options)
    name = ", ".join(["bayes", way, kind, sides, option, *(["people"] if people else [])])
    return name, partial(released, mechanism, made(sides, kind, n, people))
