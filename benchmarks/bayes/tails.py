"""Does a released curve keep its promise where a few people make up most of the mean, or where people differ unevenly?

    python -m benchmarks bayes_tails
    python -m benchmarks bayes_tails --worlds costs --sizes 3000 --protects outputs --repeats 10

costs: one in ten pays anything, and the amounts are log-normal (bounds 0 to 5,000). rare: 1 to 4 in 100 answer yes,
which is not declared as yes/no. uneven: the standard deviation of people is 10 in the middle fifth of the inputs and 1
elsewhere. cohorts: two equally large groups of people, 14 apart. far_out: 3 in 100 are at 600, all others lie below 60.

The curve, repeats, error and coverage are as in `outcomes`; +- is the standard error of the coverage. half_width is the
mean half-width of the 95 % intervals of the curve.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from scipy import stats

from benchmarks.outcomes import DELTA, PROTECTS, WORLDS, World, contender, judged, wage
from benchmarks.shared.options import options_of
from benchmarks.shared.table import show
from benchmarks.shared.timing import machine
from dpgp_core.arrays import FloatArray

_PAYING, _SPREAD = 0.1, 1.2  # share of people who pay, and standard deviation of the logarithm of what they pay
_APART = 14.0  # distance of the two cohorts


def _costs(u: FloatArray, x: FloatArray) -> FloatArray:
    """Of a year: nine in ten have none, the others a few hundred or several thousand."""
    paying = np.clip((u - 1 + _PAYING) / _PAYING, 1e-9, 1 - 1e-9)
    return np.where(u < 1 - _PAYING, 0.0, (200 + 400 * x) * np.exp(_SPREAD * stats.norm.ppf(paying)))


def _cohorts(u: FloatArray, x: FloatArray) -> FloatArray:
    """One half of the people below the mean, the other above it, with a standard deviation of 2 in each."""
    within = np.clip(np.where(u < 0.5, 2 * u, 2 * u - 1), 1e-9, 1 - 1e-9)
    return wage(x) + _APART * np.where(u < 0.5, -0.5, 0.5) + 2 * stats.norm.ppf(within)


TAILS = {
    "costs": World(_costs, (0.0, 5000.0)),
    "rare": World(lambda u, x: (u > 0.99 - 0.03 * x).astype(float), (0.0, 1.0)),
    "uneven": World(
        lambda u, x: 30 + wage(x) + np.where(np.abs(x - 0.5) < 0.1, 10.0, 1.0) * stats.norm.ppf(u), (0.0, 100.0)
    ),
    "cohorts": World(_cohorts, (0.0, 60.0)),
    "far_out": WORLDS["far_out"],
}


def rows(given: Namespace) -> Iterator[dict[str, object]]:
    """One for each world, number of people and protection."""
    for name, n, which in product(given.worlds, given.sizes, given.protects):
        world = TAILS[name]
        found = judged(world, n, contender(which, given.epsilon, world), given.repeats)
        yield {
            "world": name,
            "n": n,
            "protects": which,
            "coverage": f"{found.inside:.2f} +- {found.of_inside:.2f}",
            "worst fifth": f"{found.least:.2f}",
            "error": f"{found.error:.3g}",
            "half_width": f"{found.width / 2:.3g}",
        }


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    names = {"worlds": list(TAILS), "protects": list(PROTECTS)}
    given = options_of(__doc__, argv, names, sizes=[3000, 30_000], epsilon=1.0, repeats=30)
    print(machine())
    print(f"epsilon {given.epsilon:g}, delta {DELTA:g}, {given.repeats} repeats")
    show(rows(given))
