"""Bounds that are bought, beside bounds that are declared: five tables of different scale.

    python -m benchmarks bounds

For each number of people: bounds bought with a tenth of mu^2 (the median by width, and the widest), share of people
outside, and the error of the curve by Bayes cloaking (inputs public) with the rest of the budget, over the error with
declared bounds and the whole budget. Error is against the mean of outcomes clipped to the declared bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from benchmarks.shared.options import options_of
from benchmarks.shared.simulated import simulated
from benchmarks.shared.table import show
from dpgp_core.arrays import FloatArray
from dpgp_core.bounds.buying import buy_bounds
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from dpgp_core.table import Dataset, Kind

AGES = np.linspace(20, 60, 21)
MANY = 4000  # simulated people at each age, for the truth


class Table(NamedTuple):
    """Outcomes by age, the smallest size that matters, and what an expert would declare."""

    unit: float
    kind: Kind
    declared: tuple[float, float]
    draw: Callable[[FloatArray, np.random.Generator], FloatArray]


def _wave(age: FloatArray) -> FloatArray:
    return np.sin((age - 20) / 12)


TABLES = {
    "wages [pounds]": Table(
        0.01,
        "amount",
        (0.0, 200_000.0),
        lambda a, rng: np.exp(10 + 0.3 * _wave(a) + 0.5 * rng.standard_normal(a.shape)),
    ),
    "heights [cm]": Table(
        1.0, "number", (100.0, 220.0), lambda a, rng: 165 + 8 * _wave(a) + 9 * rng.standard_normal(a.shape)
    ),
    "visits [count]": Table(1.0, "count", (0.0, 50.0), lambda a, rng: 1.0 * rng.poisson(4 + 3 * _wave(a))),
    "lab value [1e-6 mol/l]": Table(
        1e-10, "number", (0.0, 3e-5), lambda a, rng: 3e-6 * np.exp(0.4 * _wave(a) + 0.5 * rng.standard_normal(a.shape))
    ),
    "profits [1e9 pounds]": Table(
        1000.0, "number", (-2e10, 2e10), lambda a, rng: 1e9 * (2 * _wave(a) + rng.standard_t(4, a.shape))
    ),
}


def people(table: Table, n: int, rng: np.random.Generator) -> Dataset:
    """N people of any age, with bounds that an expert would declare."""
    age = rng.uniform(20, 60, n)
    low, high = table.declared
    y, box = table.draw(age, rng), ((20.0, 60.0),)
    return simulated(age[:, None], y, table.declared, box, y_scale=(high - low) / 4, y_kind=table.kind)


def error(dataset: Dataset, epsilon: float, delta: float, truth: FloatArray, rng: np.random.Generator) -> float:
    """Mean squared error of the curve."""
    mechanism = BayesCloaking(epsilon=epsilon, delta=delta)
    found = mechanism.measure(mechanism.plan_for(dataset, AGES[:, None]), dataset, AGES[:, None], rng, mean=False)
    return float(((found.samples[0] - truth) ** 2).mean())


def row(name: str, n: int, epsilon: float, delta: float, repeats: int) -> dict[str, object]:
    """One line of the table."""
    table, seed = TABLES[name], np.random.default_rng(0)
    truth = np.clip(table.draw(np.repeat(AGES, MANY), seed), *table.declared).reshape(-1, MANY).mean(axis=1)
    declared, bought, outside, widths = [], [], [], []
    for repeat in range(repeats):
        rng = np.random.default_rng([n, repeat])
        data = people(table, n, rng)
        wide = (0.0 if table.kind != "number" else -1e15, 1e15)
        found = buy_bounds(
            replace(data, outcome=replace(data.outcome, bounds=wide)), table.unit, epsilon=epsilon, delta=delta, rng=rng
        )
        low, high = found.interval
        widths.append(found.interval)
        outside.append(((data.y < low) | (data.y > high)).mean())
        declared.append(error(data, epsilon, delta, truth, rng))
        bought.append(error(found.dataset, found.rest.epsilon, delta, truth, rng))
    ordered = sorted(widths, key=lambda ends: ends[1] - ends[0])
    usual, widest = (f"{low:.3g} ... {high:.3g}" for low, high in (ordered[len(ordered) // 2], ordered[-1]))
    return {
        "table": name,
        "people": n,
        "bounds bought": usual,
        "widest": widest,
        "outside": f"{100 * np.mean(outside):.1f} % (at most {100 * max(outside):.1f})",
        "error, declared": f"{float(np.sqrt(np.mean(declared))):.2g}",
        "bought / declared": f"{float(np.sqrt(np.mean(bought) / np.mean(declared))):.2f}",
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    given = options_of(__doc__, argv, repeats=12, epsilon=1.0, delta=1e-5, people=[300, 1000, 5000])
    print(f"epsilon = {given.epsilon:g}, delta = {given.delta:g}, {given.repeats} repeats")
    show(row(name, n, given.epsilon, given.delta, given.repeats) for name in TABLES for n in given.people)
