"""What it costs to promise to people who have several rows, and not to rows: simulated children.

    python -m benchmarks people

Each is measured 1 to 10 times. Error of the growth curve [cm] and share of its points inside the 95 % interval. "row"
is no promise to a child; "k = 10" is group privacy: noise for ten rows, where nobody has more. "people" counts
everybody once, and protects ages too; "ages public" does not.

Then the processor time of a release with ages hidden, for as many people with other numbers of rows, over that of one
row each: rows are hidden, so the time may not tell them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.shared.curves import Curves
from benchmarks.shared.options import options_of
from benchmarks.shared.simulated import simulated
from benchmarks.shared.table import show
from dpgp_core.accounting.gaussian import epsilon_of, noise_multiplier
from dpgp_core.arrays import FloatArray
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from dpgp_core.table import Dataset

AGES = np.linspace(0.5, 19.5, 39)
CASES = ((100, 0.5, 0.01), (300, 0.5, 0.01), (300, 1.0, 0.01), (300, 5.0, 0.01), (1000, 1.0, 1e-5), (1000, 5.0, 1e-5))
MOST, BETWEEN, WITHIN = 10, 5.0, 2.0  # rows of a child; cm between children, and between measurements of one


def height(age: FloatArray) -> FloatArray:
    """Mean height [cm] at ages [years]."""
    return 75 + 90 * (1 - np.exp(-age / 8))


def children(rows: NDArray[np.int64], rng: np.random.Generator) -> Dataset:
    """Heights of children, each measured so many times at any age."""
    count = len(rows)
    person = np.repeat(np.arange(count), rows)
    age = rng.uniform(0, 20, len(person))
    own, error = rng.normal(0, BETWEEN, count)[person], rng.normal(0, WITHIN, len(person))
    y = height(age) + own + error
    return simulated(age[:, None], y, (40.0, 200.0), ((0.0, 20.0),), y_scale=40.0, person=person)


def measured(mechanism: BayesCloaking, count: int, repeats: int, *, people: bool) -> Curves:
    """Releases of one case."""
    found = Curves()
    for repeat in range(repeats):
        rng = np.random.default_rng([count, repeat])
        data = children(rng.integers(1, MOST + 1, count), rng)
        data = data if people else replace(data, person=None)
        found.measure(mechanism, data, AGES[:, None], height(AGES), rng)
    return found


def rows_of(count: int, rng: np.random.Generator) -> dict[str, NDArray[np.int64]]:
    """Numbers of rows of so many people, in several ways."""
    one = np.ones(count, dtype=np.int64)
    return {
        "1 each": one,
        "1 to 4": rng.integers(1, 5, count),
        "10 each": 10 * one,
        "50 each": 50 * one,
        "1,000 of one": np.r_[1000, one[1:]],
    }


def times(count: int, repeats: int) -> dict[str, float]:
    """Median processor time [s] of a release, the tables taking turns."""
    rng = np.random.default_rng(count)
    tables = {name: children(rows, rng) for name, rows in rows_of(count, rng).items()}
    mechanism = BayesCloaking(epsilon=1.0, delta=1e-5, protects="inputs and outputs")
    spent: dict[str, list[float]] = {name: [] for name in tables}
    for repeat in range(repeats + 1):
        for name, data in tables.items():
            begin = time.process_time()
            mechanism.release(data, AGES[:, None], np.random.default_rng(repeat))
            spent[name].append(time.process_time() - begin)
    return {name: float(np.median(each[1:])) for name, each in spent.items()}  # the first loads what all need


def rows(repeats: int) -> Iterator[dict[str, object]]:
    """One a case."""
    for count, epsilon, delta in CASES:
        row = BayesCloaking(epsilon=epsilon, delta=delta, protects="inputs and outputs")
        group = replace(row, epsilon=epsilon_of(MOST * noise_multiplier(epsilon, delta), delta))
        yield {
            "people": count,
            "epsilon": epsilon,
            "delta": delta,
            "row": measured(row, count, repeats, people=False),
            "ages hidden": measured(row, count, repeats, people=True),
            "ages public": measured(replace(row, protects="outputs"), count, repeats, people=True),
            f"k = {MOST}": measured(group, count, repeats, people=False),
        }


def main(argv: Sequence[str] | None = None) -> None:
    """Print both tables."""
    repeats = options_of(__doc__, argv, repeats=6).repeats
    print(f"{repeats} repeats: error [cm] (share inside)")
    show(rows(repeats))
    print()
    found = times(1200, 2 * repeats)
    show({"rows of 1,200 people": name, "time over that of 1 each": s / found["1 each"]} for name, s in found.items())
