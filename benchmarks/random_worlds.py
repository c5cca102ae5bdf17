"""Is a released curve right, and as sure as it says, in worlds that nobody had in mind? Everything is drawn at random.

    python -m benchmarks random_worlds
    python -m benchmarks random_worlds --outcomes zeros outliers --worlds 50 --first 60 --each

A world: inputs that stand on a few values, in clusters, evenly, or all of these; a curve of any lengthscale, which may
jump or bend; outcomes of one kind, from exactly on the curve to nearly all of them 0; bounds that are up to ten times
too wide; people from 200 to 50,000, and a budget. The curve is judged where people are, at 61 inputs drawn as theirs.

inside: share of these inside the 95 % interval for the curve, on average over worlds; wrong and sure: share of releases
that hold less than half of it; err over sd: geometric mean of root mean squared error over the standard deviation of
the curve; widened: share of releases that did not fit. ``--each`` prints every release.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from scipy import stats

from benchmarks.outcomes import PROTECTS
from benchmarks.shared.curves import Curves, covered
from benchmarks.shared.options import options_of
from benchmarks.shared.simulated import simulated
from benchmarks.shared.table import show
from benchmarks.shared.timing import machine
from dpgp_core.arrays import FloatArray
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from dpgp_core.table import Dataset, Kind

JUDGED, RANGE = 61, 60.0
_QUANTILES = (np.arange(2000) + 0.5) / 2000
OUTCOMES = ("normal", "exact", "heaped", "two", "gamma", "counts", "yes_no", "rare", "zeros", "outliers")
KINDS: dict[str, Kind] = {"yes_no": "yes/no", "rare": "yes/no", "counts": "count"}
Draw = Callable[[int, np.random.Generator], FloatArray]


def _part(rng: np.random.Generator) -> Draw:
    """Some of the inputs, within 0 and 1."""
    kind, k = rng.choice(["values", "clusters", "evenly", "beta", "lognormal"]), int(rng.integers(2, 31))
    points, weights = rng.uniform(0, 1, k), rng.dirichlet(np.full(k, rng.choice([0.5, 2.0, 20.0])))
    sd, low, a, b = 10 ** rng.uniform(-3, -1), rng.uniform(0, 0.5), *np.exp(rng.standard_normal(2))
    draws: dict[str, Draw] = {
        "values": lambda n, draw: draw.choice(points, n, p=weights),
        "clusters": lambda n, draw: draw.choice(points, n, p=weights) + sd * draw.standard_normal(n),
        "evenly": lambda n, draw: draw.uniform(low, 1, n),
        "beta": lambda n, draw: draw.beta(a, b, n),
        "lognormal": lambda n, draw: 0.3 * low * np.exp(sd**0.2 * draw.standard_normal(n)),
    }
    return lambda n, draw: np.clip(draws[kind](n, draw), 0, 1)


def _inputs(rng: np.random.Generator) -> Draw:
    """One part or two, rounded or not."""
    parts, share, steps = [_part(rng) for _ in range(2)], rng.choice([1.0, rng.uniform(0.1, 0.9)]), rng.choice([0, 20])

    def draw(n: int, rng: np.random.Generator) -> FloatArray:
        first = rng.uniform(size=n) < share
        x = np.where(first, parts[0](n, rng), parts[1](n, rng))
        return np.round(x * steps) / steps if steps else x

    return draw


def _curve(rng: np.random.Generator, at: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """A curve of x (n,), between .01 and .99, of some level and amplitude at the places where people are."""
    frequencies, phases = rng.standard_normal(400) / 10 ** rng.uniform(-1, 0.3), rng.uniform(0, 2 * np.pi, 400)
    heights = rng.standard_normal(400) / 200**0.5
    (step, bend), (jump, knee) = rng.uniform(-3, 3, 2) * (rng.uniform(size=2) < 0.3), rng.uniform(0.1, 0.9, 2)
    amplitude, level = 10 ** rng.uniform(-1.5, -0.4), rng.uniform(0.15, 0.7)

    def shape(x: FloatArray) -> FloatArray:
        smooth = np.cos(np.outer(x, frequencies) + phases) @ heights
        return np.asarray(smooth + step * (x > jump) + 2 * bend * np.maximum(x - knee, 0))

    mean, sd = shape(at).mean(), max(float(shape(at).std()), 1e-3)
    return lambda x: np.clip(level + amplitude * (shape(x) - mean) / sd, 0.01, 0.99)


def _outcomes(name: str, rng: np.random.Generator) -> Callable[[FloatArray, FloatArray], FloatArray]:
    """Quantile function of (probability, curve)."""
    scatter, none, heap = 10 ** rng.uniform(-1.7, -0.6), rng.uniform(0.3, 0.95), rng.choice([5.0, 10.0])

    def normal(u: FloatArray, f: FloatArray) -> FloatArray:
        return np.asarray(RANGE * (f + scatter * stats.norm.ppf(u)))

    def zeros(u: FloatArray, f: FloatArray) -> FloatArray:
        some = np.clip((u - none) / (1 - none), 1e-9, 1 - 1e-9)
        return np.where(u < none, 0.0, RANGE * f * np.exp(0.8 * stats.norm.ppf(some)))

    of: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
        "normal": normal,
        "exact": lambda u, f: RANGE * f + 0 * u,
        "heaped": lambda u, f: np.round(normal(u, f) / heap) * heap,
        "two": lambda u, f: RANGE * (f + np.where(u < 0.8, -scatter / 2, 2 * scatter)),
        "gamma": lambda u, f: RANGE * f * stats.gamma.ppf(u, 2) / 2,
        "counts": lambda u, f: np.asarray(stats.poisson.ppf(u, 6 * f), dtype=float),
        "yes_no": lambda u, f: (u > 1 - f).astype(float),
        "rare": lambda u, f: (u > 1 - 0.1 * f).astype(float),
        "zeros": zeros,
        "outliers": lambda u, f: np.where(u > 0.97, np.inf, normal(np.minimum(u / 0.97, 1 - 1e-9), f)),
    }
    return of[name]


@dataclass(frozen=True)
class RandomWorld:
    """The world of a number, and a table and a budget in it.

    Attributes:
        truth: mean of clipped outcomes at ``X`` (P,).
        X: where it is judged (P, 1).
    """

    name: str
    table: Dataset
    epsilon: float
    X: FloatArray
    truth: FloatArray


def world_of(number: int, names: Sequence[str]) -> RandomWorld:
    """Drawn by this number."""
    rng = np.random.default_rng([77, number])
    name, n, epsilon = names[number % len(names)], int(10 ** rng.uniform(2.3, 4.7)), float(rng.choice([0.2, 1, 1, 5]))
    draw, people = _inputs(rng), np.random.default_rng([78, number])
    curve, quantile = _curve(rng, draw(400, people)), _outcomes(name, rng)
    wide = float(rng.choice([1, 1, 1, 3, 10]))
    bounds = (0.0, 1.0 if name in ("yes_no", "rare") else RANGE * wide)
    x, judged = draw(n, people), draw(JUDGED, people)
    y = np.clip(quantile(people.uniform(1e-9, 1 - 1e-9, n), curve(x)), *bounds)
    truth: FloatArray = np.clip(quantile(_QUANTILES[:, None], curve(judged)), *bounds).mean(axis=0)
    table = simulated(x[:, None], y, bounds, ((0.0, 1.0),), y_kind=KINDS.get(name, "number"))
    return RandomWorld(name, table, epsilon, judged[:, None], truth)


@dataclass(frozen=True)
class Judged:
    """One release."""

    world: RandomWorld
    protects: str
    error: float
    inside: float
    fit: float
    widened: float

    @property
    def row(self) -> dict[str, object]:
        """To be shown."""
        world = self.world
        return {
            "outcomes": world.name,
            "n": len(world.table.y),
            "epsilon": world.epsilon,
            "protects": self.protects,
            "error": f"{self.error:.3g}",
            "sd": f"{world.truth.std():.3g}",
            "inside": f"{self.inside:.2f}",
            "fit": f"{self.fit:.2f}",
            "widened": f"{self.widened:.2f}",
        }


def judged(world: RandomWorld, protects: str, number: int) -> Judged:
    """A release in a world, of the noise of a number."""
    mechanism = BayesCloaking(epsilon=world.epsilon, delta=1e-5, protects=PROTECTS[protects])
    found = Curves()
    found.measure(mechanism, world.table, world.X, world.truth, np.random.default_rng([79, number]))
    rounding = 1e-9 * (world.table.y_bounds[1] - world.table.y_bounds[0])
    _, low, high = found.deviations
    inside, [fit] = covered(low - rounding, high + rounding).mean(), found.fits
    return Judged(world, protects, found.error, float(inside), fit.ratio, fit.widened)


def rows(given: Namespace) -> Iterator[dict[str, object]]:
    """One of each kind of outcomes and protection, or one a release."""
    found = []
    for number in range(given.first, given.first + given.worlds):
        world = world_of(number, given.outcomes)
        found += [judged(world, protects, number) for protects in given.protects]
        if given.each:
            yield from (each.row for each in found[-len(given.protects) :])

    def key(each: Judged) -> tuple[str, str]:
        return each.world.name, each.protects

    for (name, protects), of_kind in groupby(sorted(found, key=key), key):
        every = list(of_kind)
        inside = np.array([each.inside for each in every])
        ratios = np.array([each.error / max(float(each.world.truth.std()), 1e-3) for each in every])
        yield {
            "outcomes": name,
            "protects": protects,
            "releases": len(every),
            "inside": f"{inside.mean():.3f}",
            "wrong and sure": f"{(inside < 0.5).mean():.2f}",
            "err over sd": f"{np.exp(np.log(ratios).mean()):.3f}",
            "widened": f"{np.mean([each.widened > 1 for each in every]):.2f}",
        }


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    names = {"outcomes": list(OUTCOMES), "protects": list(PROTECTS)}
    given = options_of(__doc__, argv, names, worlds=200, first=0, each=False)
    print(machine())
    print(f"delta 1e-05, worlds {given.first} to {given.first + given.worlds - 1}")
    show(rows(given))
