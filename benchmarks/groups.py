"""What groups gain by being released together: simulated heights of two groups, one of them small.

    python -m benchmarks groups

Error of each group's curve [cm] and share of its points inside the 95 % interval, from one release with a category
("together") and from one release of each group's records alone ("apart"). Both spend the same epsilon: where one
output changes, one of the two tables does. With ages and groups hidden too, "apart" spends as little only if nobody
changes groups, so "together" promises more there. Groups are taken for about as smooth as each other: of one that is
much "rougher" than the other, too little is known, and intervals say so too late.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.shared.options import options_of
from benchmarks.shared.simulated import simulated
from dpgp_core.accounting.guarantee import Protects
from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from dpgp_core.mechanisms.bayes_release import BayesRelease

AGES = np.linspace(0.5, 19.5, 39)
LEVELS = ("large", "small")
SCATTER = 7.0  # cm, of people about their group's curve
APART: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "alike": lambda age: 0 * age,
    "7 cm apart": lambda age: 7 + 0 * age,
    "apart from 12": lambda age: 14 / (1 + np.exp(14 - age)),
    "nothing alike": lambda age: 75 - 90 * (1 - np.exp(-age / 8)) + 20 * np.sin(age / 3),
    "rougher": lambda age: 75 - 90 * (1 - np.exp(-age / 8)) + 20 * np.sin(age),
}
CASES = ((600, 0.1), (600, 0.5), (3000, 0.1), (3000, 0.5))


class Found(NamedTuple):
    """Root mean squared error [cm] and share inside, for the large and the small group."""

    error: FloatArray
    inside: FloatArray


def height(age: FloatArray, small: FloatArray, kind: str) -> FloatArray:
    """Mean height [cm] at ages [years], ``small`` being 1 in the small group."""
    return 75 + 90 * (1 - np.exp(-age / 8)) + small * APART[kind](age)


def people(n: int, share: float, kind: str, rng: np.random.Generator) -> Dataset:
    """Heights of n people, a share of them in the small group."""
    age, small = rng.uniform(0, 20, n), (np.arange(n) < share * n).astype(float)
    y = height(age, small, kind) + SCATTER * rng.standard_normal(n)
    X = np.stack([age, small], axis=1)
    return simulated(X, y, (40.0, 220.0), ((0.0, 20.0),), y_scale=40.0, x_levels=(None, LEVELS))


def of_group(data: Dataset, group: int) -> Dataset:
    """The records of one group, without what group they are of."""
    rows = data.X[:, 1] == group
    return simulated(data.X[rows][:, :1], data.y[rows], data.y_bounds, data.x_box[:1], y_scale=40.0)


def measured(mechanism: BayesCloaking, case: tuple[int, float, str], repeats: int) -> tuple[Found, Found]:
    """Together, and apart."""
    n, share, kind = case
    places = [np.stack([AGES, np.full(len(AGES), float(group))], axis=1) for group in (0, 1)]
    truth = np.stack([height(each[:, 0], each[:, 1], kind) for each in places])
    squares, inside = np.zeros((2, repeats, 2)), np.zeros((2, repeats, 2))
    for repeat in range(repeats):
        rng = np.random.default_rng([n, repeat])
        data = people(n, share, kind, rng)
        joint = mechanism.release(data, np.vstack(places), rng)
        ends = joint.interval(0.95, "function")
        found = [(joint.samples[0].reshape(2, -1), *(end[0].reshape(2, -1) for end in ends))]
        alone = [mechanism.release(of_group(data, group), AGES[:, None], rng) for group in (0, 1)]
        both = [np.stack(each) for each in zip(*((a.samples[0], *_ends(a)) for a in alone), strict=True)]
        for way, (value, low, high) in enumerate([*found, (both[0], both[1], both[2])]):
            squares[way, repeat] = ((value - truth) ** 2).mean(axis=1)
            inside[way, repeat] = ((low <= truth) & (truth <= high)).mean(axis=1)
    together, apart = (Found(np.sqrt(squares[way].mean(axis=0)), inside[way].mean(axis=0)) for way in (0, 1))
    return together, apart


def _ends(release: BayesRelease) -> tuple[FloatArray, FloatArray]:
    low, high = release.interval(0.95, "function")
    return low[0], high[0]


def main(argv: Sequence[str] | None = None) -> None:
    """Parse the options and print a row for each case."""
    parser = options_of(__doc__)
    parser.add_argument("--repeats", type=int, default=6)
    parser.add_argument("--kinds", nargs="+", choices=list(APART), default=list(APART))
    parser.add_argument("--epsilon", type=float, default=1.0)
    options = parser.parse_args(argv)
    print(f"{options.repeats} repeats, epsilon = {options.epsilon:g}, delta = 1e-5: error [cm] (share inside)")
    print("people  small  groups          protects            large: together  apart          small: together  apart")
    both: tuple[Protects, ...] = ("outputs", "inputs and outputs")
    for protects in both:
        binned = True if protects == "outputs" else None
        mechanism = BayesCloaking(epsilon=options.epsilon, delta=1e-5, protects=protects, binned=binned)
        for n, share in CASES:
            for kind in options.kinds:
                found = measured(mechanism, (n, share, kind), options.repeats)
                cells = [f"{f.error[g]:5.2f} ({f.inside[g]:.2f})" for g in (0, 1) for f in found]
                print(f"{n:>6} {share:>6g}  {kind:14s}  {protects:18s}  " + "   ".join(cells), flush=True)
