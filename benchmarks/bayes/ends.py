"""Is a curve right next to a mass at the end of an input, on a plateau of a tenth of the range, and at kinks?

    python -m benchmarks bayes_ends
    python -m benchmarks bayes_ends --worlds mass --protects inputs --repeats 12

mass: 395 people, of whom 29 in 100 have no absences and a mean grade of 8.4; all others have one of 11 to 12. plateau:
2,900 buildings whose log-normal price rises with the year of building, but is level, and up to 55 higher, from 1985 to
1994. kinks: 6,500 people of geometric ages, whose weight rises fast up to 6 years, slower up to 15, and hardly then.
thin: the same people, of whom one in a hundred is older than 60 years, so that noise hides how many people are there.

The curve is judged at whole numbers, where all records are. coverage: share of them at which the 95 % interval for the
curve covers it, on average over the releases; there: the same at the places that the world is about, which are 0 to 2
absences, 1985 to 1994, up to 30 years, and from 61 years on. error and half_width: root mean square error and mean
half-width there. fit: in how many of the releases the fit noticed a misfit.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy import stats

from benchmarks.outcomes import DELTA, PROTECTS
from benchmarks.shared.curves import Curves, covered
from benchmarks.shared.options import options_of
from benchmarks.shared.simulated import simulated
from benchmarks.shared.table import show
from benchmarks.shared.timing import machine
from dpgp_core.arrays import FloatArray
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from dpgp_core.table import Dataset

_QUANTILES = (np.arange(4000) + 0.5) / 4000


@dataclass(frozen=True)
class World:
    """n people, their inputs (n,), and outcomes by their quantile function of (probability, input)."""

    n: int
    inputs: Callable[[np.random.Generator, int], FloatArray]
    outcomes: Callable[[FloatArray, FloatArray], FloatArray]
    box: tuple[float, float]
    bounds: tuple[float, float]
    there: tuple[float, float]  # first and last place that the world is about

    @property
    def places(self) -> FloatArray:
        """Where the curve is judged (P,)."""
        return np.arange(self.box[0], self.box[1] + 1)

    @property
    def truth(self) -> FloatArray:
        """Mean of clipped outcomes at these places (P,)."""
        return np.asarray(np.clip(self.outcomes(_QUANTILES[:, None], self.places), *self.bounds).mean(axis=0))

    def table(self, rng: np.random.Generator) -> Dataset:
        """One table of n people."""
        x = self.inputs(rng, self.n)
        y = np.clip(self.outcomes(rng.uniform(0, 1, self.n), x), *self.bounds)
        return simulated(x[:, None], y, self.bounds, (self.box,))


def _absences(rng: np.random.Generator, n: int) -> FloatArray:
    return np.where(rng.random(n) < 0.29, 0.0, np.minimum(rng.geometric(1 / 8, n), 40))


def _grades(u: FloatArray, x: FloatArray) -> FloatArray:
    """Three in ten of those who were never absent did not sit the examination, and have grades of about 0."""
    failed = np.where(x == 0, 0.3, 0.0)
    of_failed = np.clip(u / np.maximum(failed, 1e-9), 1e-9, 1 - 1e-9)
    of_others = np.clip((u - failed) / (1 - failed), 1e-9, 1 - 1e-9)
    return np.where(u < failed, 3 * stats.norm.ppf(of_failed), 12 - 0.08 * x + 3 * stats.norm.ppf(of_others))


def _prices(u: FloatArray, x: FloatArray) -> FloatArray:
    level = np.where((x >= 1985) & (x < 1995), 215.0, 90 + 1.1 * (x - 1920))
    return np.asarray(level * np.exp(-0.06 + 0.35 * stats.norm.ppf(u)))


def _weights(u: FloatArray, x: FloatArray) -> FloatArray:
    return np.interp(x, [0, 6, 15, 80], [10.0, 58.0, 85.0, 130.5]) + 7 * stats.norm.ppf(u)


ENDS = {
    "mass": World(395, _absences, _grades, (0.0, 40.0), (0.0, 20.0), (0.0, 2.0)),
    "plateau": World(
        2900,
        lambda rng, n: rng.integers(1920, 2011, n).astype(float),
        _prices,
        (1920.0, 2010.0),
        (0.0, 800.0),
        (1985.0, 1994.0),
    ),
    "kinks": World(
        6500,
        lambda rng, n: np.minimum(rng.geometric(1 / 14, n) - 1.0, 80.0),
        _weights,
        (0.0, 80.0),
        (0.0, 150.0),
        (0.0, 30.0),
    ),
}
ENDS["thin"] = replace(ENDS["kinks"], there=(61.0, 80.0))


def rows(given: Namespace) -> Iterator[dict[str, object]]:
    """One for each world and protection."""
    for name, which in product(given.worlds, given.protects):
        world = ENDS[name]
        mechanism = BayesCloaking(epsilon=given.epsilon, delta=DELTA, protects=PROTECTS[which])
        found, truth = Curves(), world.truth
        for repeat in range(given.repeats):
            rng = np.random.default_rng([world.n, repeat])
            found.measure(mechanism, world.table(rng), world.places[:, None], truth, rng)
        curves, low, high = found.deviations
        there = (world.there[0] <= world.places) & (world.places <= world.there[1])
        inside = covered(low, high)
        yield {
            "world": name,
            "protects": which,
            "coverage": f"{inside.mean():.2f}",
            "there": f"{inside[:, there].mean():.2f}",
            "error": f"{np.sqrt((curves[:, there] ** 2).mean()):.3g}",
            "half_width": f"{(high - low)[:, there].mean() / 2:.3g}",
            "fit": f"{sum(not fit.fits for fit in found.fits)} of {given.repeats}",
        }


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    names = {"worlds": list(ENDS), "protects": list(PROTECTS)}
    given = options_of(__doc__, argv, names, epsilon=1.0, repeats=12)
    print(machine())
    print(f"epsilon {given.epsilon:g}, delta {DELTA:g}, {given.repeats} repeats")
    show(rows(given))
