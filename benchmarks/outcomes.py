"""Is a released curve right, and as sure as it says, whatever the outcomes are like? Worlds with a known curve.

    python -m benchmarks outcomes
    python -m benchmarks outcomes --worlds gamma yes_no --sizes 300 3000 --epsilons 1 --protects inputs --repeats 10
    python -m benchmarks outcomes --worlds costs_of_some rare uneven cohorts far_out --epsilons 1 --repeats 30

The curve is the mean of outcomes that are clipped to the bounds, at 41 inputs (81 on a plane). Each repeat draws its
own records and its own numbered noise. error: root mean square over all repeats; bias: root mean square error of the
mean curve of the repeats; coverage: share of points at which the 95 % interval for the curve covers it, on average, and
in the worst fifth of the inputs. ``--protects`` takes "outputs", or "inputs" for inputs and outputs; also "cloaking"
(one stage, which clips to the bounds only, outputs protected), "polynomial" (AdaSSP) and "bins" (binned means), the
last two with inputs and outputs protected, at the degree or number of bins that has the least error.

Of the worlds in the last line, which are measured only if they are named, costs_of_some has one in ten who pays
anything, with log-normal amounts; rare has 1 to 4 in 100 who answer yes, not declared as yes/no; uneven has people of
standard deviation 10 in the middle fifth of the inputs and of 1 elsewhere; cohorts has two equally large groups, 14
apart; and far_out has 3 in 100 at 600, all others below 60.
"""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy import stats

from benchmarks.shared.curves import Curves
from benchmarks.shared.options import options_of
from benchmarks.shared.simulated import simulated
from benchmarks.shared.table import show
from benchmarks.shared.timing import machine
from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.accounting.guarantee import Protects
from dpgp_core.arrays import FloatArray
from dpgp_core.evaluation.peers import settings
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from dpgp_core.mechanisms.cloaking import Cloaking
from dpgp_core.table import Dataset, Kind

DELTA, FIFTHS = 1e-5, 5
GRID, SIDE = np.linspace(0.02, 0.98, 41), np.linspace(0.05, 0.95, 9)
PEERS = ("polynomial", "bins")
PROTECTS: dict[str, Protects] = {"outputs": "outputs", "inputs": "inputs and outputs"}
_QUANTILES = (np.arange(4000) + 0.5) / 4000


@dataclass(frozen=True)
class World:
    """Outcomes by their quantile function of (probability, input), public bounds, and what they are declared to be."""

    quantile: Callable[[FloatArray, FloatArray], FloatArray]
    bounds: tuple[float, float]
    kind: Kind = "number"
    inputs: int = 1

    @property
    def grid(self) -> FloatArray:
        """Where the curve is judged (P, D), in the order of the first input."""
        return (
            GRID[:, None] if self.inputs == 1 else np.stack(np.meshgrid(SIDE, SIDE, indexing="ij"), -1).reshape(-1, 2)
        )

    def truth(self, x: FloatArray) -> FloatArray:
        """Mean of clipped outcomes at x (P,), one number an input."""
        mean: FloatArray = np.clip(self.quantile(_QUANTILES[:, None], x), *self.bounds).mean(axis=0)
        return mean

    def table(self, n: int, rng: np.random.Generator) -> Dataset:
        """N records."""
        X = rng.uniform(0, 1, (n, self.inputs))
        y = np.asarray(self.quantile(rng.uniform(0, 1, n), along(X)), dtype=float)
        return simulated(X, y, self.bounds, ((0.0, 1.0),) * self.inputs, y_kind=self.kind)


def along(X: FloatArray) -> FloatArray:
    """What outcomes depend on (n,): the input, or of two (n, 2) the first less half of what it has of the second."""
    return X[:, 0] if X.shape[1] == 1 else X[:, 0] * (1 - X[:, 1] / 2)


def wage(x: FloatArray) -> FloatArray:
    """A mean that rises, and falls a little."""
    return 15 + 12 * x + 5 * np.sin(6 * x)


def _scattered(ppf: Callable[[FloatArray], FloatArray], sd: float) -> Callable[[FloatArray, FloatArray], FloatArray]:
    """``wage`` with even scatter of mean 0 and a standard deviation, of the shape of ``ppf``."""

    @cache
    def moments() -> tuple[float, float]:
        values = ppf((np.arange(200_000) + 0.5) / 200_000)
        return values.mean(), values.std()

    def quantile(u: FloatArray, x: FloatArray) -> FloatArray:
        mean, deviation = moments()
        return wage(x) + sd / deviation * (ppf(u) - mean)

    return quantile


def _outliers(at: float) -> Callable[[FloatArray, FloatArray], FloatArray]:
    """Three in a hundred are there, whatever their input."""
    return lambda u, x: np.where(u > 0.97, at, wage(x) + 5 * stats.norm.ppf(np.minimum(u / 0.97, 1 - 1e-9)))


def _costs(u: FloatArray, x: FloatArray) -> FloatArray:
    """Of a year: 94 in a hundred have none, the others a few or very many."""
    some = np.clip((u - 0.94) / 0.06, 1e-9, 1 - 1e-9)
    return np.where(u < 0.94, 0.0, (20 + 40 * x) * np.exp(0.8 * stats.norm.ppf(some)))


def _costs_of_some(u: FloatArray, x: FloatArray) -> FloatArray:
    """Costs of a year: nine in ten have none, the others a few hundred or several thousand."""
    paying = np.clip((u - 0.9) / 0.1, 1e-9, 1 - 1e-9)
    return np.where(u < 0.9, 0.0, (200 + 400 * x) * np.exp(1.2 * stats.norm.ppf(paying)))


def _cohorts(u: FloatArray, x: FloatArray) -> FloatArray:
    """One half of the people below the mean, the other above it, with a standard deviation of 2 in each."""
    within = np.clip(np.where(u < 0.5, 2 * u, 2 * u - 1), 1e-9, 1 - 1e-9)
    return wage(x) + np.where(u < 0.5, -7.0, 7.0) + 2 * stats.norm.ppf(within)


def _uneven(u: FloatArray, x: FloatArray) -> FloatArray:
    return 30 + wage(x) + np.where(np.abs(x - 0.5) < 0.1, 10.0, 1.0) * stats.norm.ppf(u)


WORLDS = {
    "normal": World(_scattered(stats.norm.ppf, 5.0), (0.0, 60.0)),
    "gamma": World(lambda u, x: wage(x) * stats.gamma.ppf(u, 2) / 2 * 0.4 + 0.6 * wage(x), (0.0, 60.0)),
    "gamma_even": World(_scattered(lambda u: stats.gamma.ppf(u, 2), 5.0), (0.0, 60.0)),
    "lognormal": World(_scattered(lambda u: stats.lognorm.ppf(u, 0.6), 5.0), (0.0, 60.0)),
    "yes_no": World(lambda u, x: (u > 0.95 - 0.3 * x).astype(float), (0.0, 1.0)),
    "yes_no_half": World(lambda u, x: (u > 0.7 - 0.4 * x).astype(float), (0.0, 1.0)),
    "counts": World(lambda u, x: stats.poisson.ppf(u, 0.5 + 1.5 * x), (0.0, 10.0)),
    "wide_bounds": World(_scattered(stats.norm.ppf, 2.0), (0.0, 100.0)),
    "heavy_tails": World(_scattered(lambda u: stats.t.ppf(u, 3), 5.0), (0.0, 60.0)),
    "two_point": World(lambda u, x: wage(x) + np.where(u > 0.8, 12.0, -3.0), (0.0, 60.0)),
    "at_a_bound": World(lambda u, x: 10 * x - 4 + 4 * stats.norm.ppf(u), (0.0, 20.0)),
    "outliers": World(_outliers(60.0), (0.0, 60.0)),
    "far_out": World(_outliers(600.0), (0.0, 600.0)),
    "costs": World(_costs, (0.0, 400.0)),
}
WORLDS |= {
    "plane": replace(WORLDS["normal"], inputs=2),
    "plane_gamma": replace(WORLDS["gamma"], inputs=2),
}
WORLDS |= {
    f"{name}, declared": replace(WORLDS[name], kind=kind)
    for name, kind in {"gamma": "amount", "counts": "count", "yes_no": "yes/no", "yes_no_half": "yes/no"}.items()
}


TAILS = {
    "costs_of_some": World(_costs_of_some, (0.0, 5000.0)),
    "rare": World(lambda u, x: (u > 0.99 - 0.03 * x).astype(float), (0.0, 1.0)),
    "uneven": World(_uneven, (0.0, 100.0)),
    "cohorts": World(_cohorts, (0.0, 60.0)),
}
"""Worlds in which intervals are known to be too narrow, or might be."""


class Found(NamedTuple):
    """Of one case: error, bias, share inside and its standard error, least share of a fifth, width of intervals."""

    error: float
    bias: float
    inside: float
    of_inside: float
    least: float
    width: float


def summarised(curves: FloatArray, low: FloatArray, high: FloatArray, truth: FloatArray) -> Found:
    """Curves and ends (repeats, P) against truth (P,)."""
    inside = (low <= truth) & (truth <= high)
    fifths = np.array_split(inside, FIFTHS, axis=1)
    return Found(
        error=float(np.sqrt(((curves - truth) ** 2).mean())),
        bias=float(np.sqrt(((curves.mean(axis=0) - truth) ** 2).mean())),
        inside=float(inside.mean()),
        of_inside=float(inside.mean(axis=1).std() / len(inside) ** 0.5),
        least=min(float(fifth.mean()) for fifth in fifths),
        width=float((high - low).mean()),
    )


def judged(world: World, n: int, mechanism: BayesCloaking | Cloaking, repeats: int) -> Found:
    """One mechanism in one world."""
    found, truth = Curves(), world.truth(along(world.grid))
    for repeat in range(repeats):
        rng = np.random.default_rng([n, repeat])
        found.measure(mechanism, world.table(n, rng), world.grid, truth, rng)
    return summarised(*found.deviations, np.zeros(len(truth)))


def hindsight(name: str, n: int, epsilon: float, which: str, repeats: int) -> Found:
    """A peer with the setting of least error, of which nothing is known but its curve."""
    world, s = WORLDS[name], noise_multiplier(epsilon, DELTA)
    found = []
    for peer in settings(world.inputs)[PEERS.index(which)]:
        curves = []
        for repeat in range(repeats):
            rng = np.random.default_rng([n, repeat])
            table = world.table(n, rng)
            sums = peer.sums(table)
            z = sums + s * rng.standard_normal(len(sums))
            curves.append(peer.predict(z[None], s, table, world.grid)[0])
        unknown = np.full((repeats, len(world.grid)), np.nan)
        found.append(summarised(np.array(curves), unknown, unknown, world.truth(along(world.grid))))
    best = min(found, key=lambda each: each.error)
    return best._replace(inside=math.nan, least=math.nan)


def contender(which: str, epsilon: float, world: World) -> BayesCloaking | Cloaking:
    """Bayes cloaking by what it protects, or "cloaking" of outputs."""
    if which in PROTECTS:
        return BayesCloaking(epsilon=epsilon, delta=DELTA, protects=PROTECTS[which])
    low, high = world.bounds  # outputs of the table are in units of 1
    kernel = EQ(lengthscale=0.25, variance=(high - low) ** 2 / 12)
    return Cloaking(epsilon=epsilon, delta=DELTA, kernel=kernel, noise_variance=(0.1 * (high - low)) ** 2)


def rows(given: Namespace) -> Iterator[dict[str, object]]:
    """One a case."""
    for name, n, epsilon, which in product(given.worlds, given.sizes, given.epsilons, given.protects):
        if which in PEERS:
            found = hindsight(name, n, epsilon, which, given.repeats)
        else:
            world = (WORLDS | TAILS)[name]
            found = judged(world, n, contender(which, epsilon, world), given.repeats)
        columns = {
            "inside": "coverage",
            "of_inside": "coverage_standard_error",
            "least": "coverage_worst_fifth",
        }
        cells = {columns.get(field, field): f"{number:.4f}" for field, number in found._asdict().items()}
        yield {"world": name, "n": n, "epsilon": epsilon, "protects": which} | cells


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    names = {"worlds": [*WORLDS, *TAILS], "protects": [*PROTECTS, "cloaking", *PEERS]}
    numbers: dict[str, list[float]] = {"sizes": [300, 3000, 30_000], "epsilons": [0.2, 1.0, 5.0]}
    given = options_of(__doc__, argv, names, **numbers, worlds=list(WORLDS), protects=list(PROTECTS), repeats=10)
    print(machine())
    print(f"delta {DELTA:g}, {given.repeats} repeats")
    show(rows(given))
