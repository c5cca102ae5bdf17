"""Is a released curve right, and as sure as it says, wherever the inputs stand, and however rough the curve is?

    python -m benchmarks inputs
    python -m benchmarks inputs --places five_values towns --sizes 3000 --epsilons 1 --protects inputs --repeats 6
    python -m benchmarks inputs --curves --sizes 3000 30000
    python -m benchmarks inputs --drawn --places towns diagonal --outcomes normal --sizes 300000 --epsilons 1

Inputs stand on few values, in clusters, on a part of the box; or are even, and the curve has a kink, a jump, a peak.
The curve is judged where people are: at 61 inputs drawn as theirs are. error: root mean square over all repeats;
coverage: share of these inputs at which the 95 % interval for the curve covers it, on average, and in the worst fifth
of the inputs; width: mean width of these intervals; fit_ratio: median of ``release.fit.ratio``; widening: largest
factor by which a release widened its intervals. The option --protects takes "outputs", or "inputs" for inputs and
outputs. ``--first 100`` draws other people, and other noise. ``--drawn`` draws the curve of each repeat from a
Gaussian process, of lengthscale 1/4, 1/2 and 1 of the box in turn. The columns are those of
benchmarks/results/inputs.csv.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.outcomes import DELTA, PROTECTS, along, summarised, wage
from benchmarks.shared.curves import Curves
from benchmarks.shared.options import options_of
from benchmarks.shared.simulated import simulated
from benchmarks.shared.table import show
from benchmarks.shared.timing import machine
from dpgp_core.arrays import FloatArray
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from dpgp_core.table import Dataset, Kind

JUDGED = 61
_WAVES, _LENGTHSCALES = 400, (1 / 4, 1 / 2, 1.0)  # of drawn curves
Draw = Callable[[int, np.random.Generator], FloatArray]


@dataclass(frozen=True)
class Places:
    """Where inputs stand: a draw of n of them (n, D), the box, and the names of a category's levels, if one is."""

    draw: Draw
    box: tuple[tuple[float, float], ...] = ((0.0, 1.0),)
    levels: tuple[tuple[str, ...] | None, ...] | None = None
    rows: int = 1  # of each person, at one input

    @property
    def judged(self) -> FloatArray:
        """Where the curve is judged (P, D): as people stand, in the order of the first input."""
        X = self.draw(JUDGED, np.random.default_rng(0))
        return X[np.lexsort(X.T[::-1])]


@dataclass(frozen=True)
class Outcomes:
    """Outcomes by their quantile function of (probability, curve), public bounds, kind, and what the curve is there."""

    quantile: Callable[[FloatArray, FloatArray], FloatArray]
    bounds: tuple[float, float]
    kind: Kind = "number"
    unit: float = 1.0  # of the curve, in the outcome's unit


def _values(*values: float) -> Draw:
    return lambda n, rng: rng.choice(values, n)[:, None]


def _share(first: Draw, share: float, second: Draw) -> Draw:
    def draw(n: int, rng: np.random.Generator) -> FloatArray:
        return np.where(rng.uniform(size=n)[:, None] < share, first(n, rng), second(n, rng))

    return draw


def _even(*sides: tuple[float, float]) -> Draw:
    low, high = np.array(sides).T
    return lambda n, rng: rng.uniform(low, high, (n, len(sides)))


def _scattered(centres: Sequence[Sequence[float]], sd: float, shares: Sequence[float] | None = None) -> Draw:
    """Clusters of normal scatter, cut to the unit box."""
    points = np.array(centres)

    def draw(n: int, rng: np.random.Generator) -> FloatArray:
        of = points[rng.choice(len(points), n, p=shares)]
        return np.clip(of + sd * rng.standard_normal(of.shape), 0, 1)

    return draw


def _diagonal(n: int, rng: np.random.Generator) -> FloatArray:
    x = rng.uniform(0, 1, n)
    return np.clip(np.column_stack([x, x + 0.05 * rng.standard_normal(n)]), 0, 1)


def _grid(n: int, rng: np.random.Generator) -> FloatArray:
    return np.column_stack([rng.integers(0, 9, n) / 8, rng.integers(0, 3, n) / 2])


def _groups(n: int, rng: np.random.Generator) -> FloatArray:
    """Two thirds at five values of the lower half, one third even over the box."""
    group = (rng.uniform(size=n) < 1 / 3).astype(float)
    five = rng.choice((0.05, 0.15, 0.25, 0.35, 0.45), n)
    return np.column_stack([np.where(group == 0, five, rng.uniform(0, 1, n)), group])


PLANE = ((0.0, 1.0), (0.0, 1.0))
TOWNS = ((0.12, 0.2), (0.2, 0.75), (0.45, 0.4), (0.5, 0.85), (0.7, 0.15), (0.8, 0.6), (0.9, 0.9))
PLACES = {
    "even": Places(_even((0, 1))),
    "five_values": Places(_values(0.1, 0.3, 0.5, 0.7, 0.9)),
    "even_ages": Places(_values(*np.linspace(0.2, 0.9, 13))),
    "heaped": Places(
        _share(
            lambda n, rng: rng.integers(0, 11, n)[:, None] / 10,
            0.4,
            lambda n, rng: rng.integers(0, 101, n)[:, None] / 100,
        )
    ),
    "one_heap": Places(_share(_values(0.5), 0.7, _even((0, 1)))),
    "integers": Places(lambda n, rng: rng.integers(0, 21, n)[:, None] / 20),
    "half": Places(_even((0, 0.5))),
    "normal_inputs": Places(_scattered([[0.5]], 0.1)),
    "lognormal_inputs": Places(lambda n, rng: np.minimum(0.1 * np.exp(0.6 * rng.standard_normal((n, 1))), 1.0)),
    "two_clusters": Places(_scattered([[0.1], [0.9]], 0.01)),
    "four_visits": Places(_scattered([[0.05], [0.3], [0.55], [0.95]], 0.008)),
    "plane_even": Places(_even(*PLANE), PLANE),
    "towns": Places(_scattered(TOWNS, 0.01, (0.35, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05)), PLANE),
    "nine_by_three": Places(_grid, PLANE),
    "diagonal": Places(_diagonal, PLANE),
    "groups": Places(_groups, ((0.0, 1.0),), (None, ("women", "men"))),
    "people": Places(_values(0.1, 0.3, 0.5, 0.7, 0.9), rows=3),
}


OUTCOMES = {
    "normal": Outcomes(lambda u, f: f + 5 * stats.norm.ppf(u), (0.0, 60.0)),
    "gamma": Outcomes(lambda u, f: f * (0.6 + 0.2 * stats.gamma.ppf(u, 2)), (0.0, 60.0)),
    "yes_no": Outcomes(lambda u, f: (u > 1 - f).astype(float), (0.0, 1.0), "yes/no", 1 / 60),
    "counts": Outcomes(lambda u, f: stats.poisson.ppf(u, f), (0.0, 121.0), "count", 1 / 6),
    "wide_bounds": Outcomes(lambda u, f: stats.poisson.ppf(u, f), (0.0, 10_000.0), "count", 1 / 6),
}

CURVES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "smooth": wage,
    "kink": lambda x: 20 + 30 * np.maximum(x - 0.52, 0),
    "jump": lambda x: 18 + 12 * (x > 0.52),
    "peak": lambda x: 20 + 15 * np.exp(-0.5 * ((x - 0.52) / 0.015) ** 2),
    "waves": lambda x: 25 + 6 * np.sin(2 * np.pi * 9 * x),
    "decay": lambda x: 20 + 25 * np.exp(-x / 0.03),
}
_QUANTILES = (np.arange(2000) + 0.5) / 2000


@dataclass(frozen=True)
class World:
    """Inputs, a curve, and outcomes about it."""

    places: Places
    curve: Callable[[FloatArray], FloatArray]
    outcomes: Outcomes
    along: Callable[[FloatArray], FloatArray] = along

    def truth(self, X: FloatArray) -> FloatArray:
        """Mean of clipped outcomes at X (P, D): (P,)."""
        f = self.outcomes.unit * self.curve(self.along(X))
        mean: FloatArray = np.clip(self.outcomes.quantile(_QUANTILES[:, None], f), *self.outcomes.bounds).mean(axis=0)
        return mean

    def table(self, n: int, rng: np.random.Generator) -> Dataset:
        """N people."""
        X = np.repeat(self.places.draw(n, rng), self.places.rows, axis=0)
        f = self.outcomes.unit * self.curve(self.along(X))
        y = np.clip(
            np.asarray(self.outcomes.quantile(rng.uniform(0, 1, len(X)), f), dtype=float), *self.outcomes.bounds
        )
        more: dict[str, Any] = {"y_kind": self.outcomes.kind}
        if self.places.levels is not None:
            more["x_levels"] = self.places.levels
        if self.places.rows > 1:
            more["person"] = np.repeat(np.arange(n), self.places.rows)
        return simulated(X, y, self.outcomes.bounds, self.places.box, **more)


def drawn_curve(dim: int, repeat: int) -> Callable[[FloatArray], FloatArray]:
    """A function of X (n, D) about 28, of standard deviation 8, by random features of an EQ kernel (Rahimi 2007)."""
    rng = np.random.default_rng([7, repeat])
    frequencies = rng.standard_normal((_WAVES, dim)) / _LENGTHSCALES[repeat % 3]
    phases, heights = rng.uniform(0, 2 * np.pi, _WAVES), rng.standard_normal(_WAVES) * (2 / _WAVES) ** 0.5
    return lambda X: np.clip(28 + 8 * np.cos(X @ frequencies.T + phases) @ heights, 5, 55)


def measured(
    world: World, n: int, mechanism: BayesCloaking, repeats: Iterable[int], drawn: bool = False
) -> dict[str, str]:
    """One mechanism in one world, in repeats of these numbers; each with a curve of its own if it is ``drawn``."""
    X, releases = world.places.judged, Curves()
    if world.curve is not wage:
        X = np.linspace(0.01, 0.99, JUDGED)[:, None]
    for repeat in repeats:
        rng = np.random.default_rng([n, repeat])
        if drawn:
            world = replace(world, curve=drawn_curve(X.shape[1], repeat), along=np.asarray)
        releases.measure(mechanism, world.table(n, rng), X, world.truth(X), rng)
    found = summarised(*releases.deviations, np.zeros(len(X)))
    columns = {"error": "error", "inside": "coverage", "least": "coverage_worst_fifth", "width": "width"}
    return {column: f"{getattr(found, name):.3g}" for name, column in columns.items()} | {
        "fit_ratio": f"{np.median([fit.ratio for fit in releases.fits]):.2f}",
        "widening": f"{max(fit.widened for fit in releases.fits):.2f}",
    }


def rows(given: Namespace) -> Iterator[dict[str, object]]:
    """One a case."""
    cases = (
        product(["even"], ["normal"], CURVES)
        if given.curves
        else product(given.places, given.outcomes, ["drawn" if given.drawn else "smooth"])
    )
    for (where, of, curve), n, epsilon, which in product(cases, given.sizes, given.epsilons, given.protects):
        world = World(PLACES[where], CURVES.get(curve, wage), OUTCOMES[of])
        mechanism = BayesCloaking(epsilon=epsilon, delta=DELTA, protects=PROTECTS[which])
        case = {"inputs": where, "outcome": of, "curve": curve, "n": n, "epsilon": epsilon, "delta": f"{DELTA:g}"}
        yield (
            case
            | {"protects": PROTECTS[which], "repeats": given.repeats}
            | measured(world, n, mechanism, range(given.first, given.first + given.repeats), given.drawn)
        )


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    names = {"places": list(PLACES), "outcomes": list(OUTCOMES), "protects": list(PROTECTS)}
    numbers: dict[str, list[float]] = {"sizes": [300, 3000, 30_000, 300_000], "epsilons": [0.2, 1.0, 5.0]}
    given = options_of(__doc__, argv, names, **numbers, repeats=6, first=0, curves=False, drawn=False)
    given.sizes = [int(n) for n in given.sizes]
    print(machine())
    show(rows(given))
