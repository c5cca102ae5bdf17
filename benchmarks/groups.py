"""What groups gain by being released together: simulated heights of two groups, one of them small.

    python -m benchmarks groups

Error of each group's curve [cm] and share of its points inside the 95 % interval, from one release with a category
("together") and from one release of each group's records alone ("apart"). Both spend the same epsilon: where one
output changes, one of the two tables does. With ages and groups hidden too, "apart" spends as little only if nobody
changes groups, so "together" promises more there. One of them may be much "rougher" than the other, which models of
one lengthscale for all took for smooth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from benchmarks.shared.curves import Curves
from benchmarks.shared.options import options_of
from benchmarks.shared.simulated import simulated
from benchmarks.shared.table import show
from dpgp_core.accounting.guarantee import Protects
from dpgp_core.arrays import FloatArray
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from dpgp_core.table import Dataset

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


def measured(mechanism: BayesCloaking, case: tuple[int, float, str], repeats: int) -> dict[str, list[Curves]]:
    """Of the large and the small group: their curves together, and apart."""
    n, share, kind = case
    places = [np.stack([AGES, np.full(len(AGES), float(group))], axis=1) for group in (0, 1)]
    truths = [height(each[:, 0], each[:, 1], kind) for each in places]
    found = {way: [Curves() for _ in places] for way in ("together", "apart")}
    for repeat in range(repeats):
        rng = np.random.default_rng([n, repeat])
        data = people(n, share, kind, rng)
        joint = mechanism.release(data, np.vstack(places), rng)
        for group, curves in enumerate(found["together"]):
            curves.add(joint, truths[group], slice(group * len(AGES), (group + 1) * len(AGES)))
        for group, curves in enumerate(found["apart"]):
            curves.measure(mechanism, of_group(data, group), AGES[:, None], truths[group], rng)
    return found


def rows(kinds: Sequence[str], repeats: int) -> Iterator[dict[str, object]]:
    """One a case."""
    both: tuple[Protects, ...] = ("outputs", "inputs and outputs")
    for protects in both:
        mechanism = BayesCloaking(epsilon=1.0, delta=1e-5, protects=protects)
        for n, share in CASES:
            for kind in kinds:
                found = measured(mechanism, (n, share, kind), repeats)
                cells = {f"{LEVELS[g]}: {way}": found[way][g] for g in (0, 1) for way in found}
                yield {"people": n, "share": share, "groups": kind, "protects": protects} | cells


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    options = options_of(__doc__, argv, names={"kinds": list(APART)}, repeats=6)
    print(f"{options.repeats} repeats, epsilon 1, delta 1e-5: error [cm] (share inside)")
    show(rows(options.kinds, options.repeats))
