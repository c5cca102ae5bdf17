"""Bounds that are bought, beside bounds that are declared: five tables of different scale.

    python -m benchmarks.bounds

For each number of people: bounds bought with a tenth of mu^2 (those of the first repeat), share of people outside them,
and the error of the curve by Bayes cloaking (inputs public) with the rest of the budget, over the error with declared
bounds and the whole budget. Error is against the mean of outcomes clipped to the declared bounds.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # read when numpy is first imported

import numpy as np  # noqa: E402

from dpgp_core.arrays import FloatArray  # noqa: E402
from dpgp_core.bounds.buying import buy_bounds  # noqa: E402
from dpgp_core.data import Dataset, Kind  # noqa: E402
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking  # noqa: E402

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
    return Dataset(
        name="made up",
        X=age[:, None],
        y=table.draw(age, rng),
        x_names=("age",),
        x_units=("years",),
        y_name="outcome",
        y_unit="",
        y_bounds=table.declared,
        x_box=((20.0, 60.0),),
        privacy_unit="one person",
        source="simulated",
        licence="MIT",
        bounds_reason="an expert's",
        y_scale=(high - low) / 4,
        y_kind=table.kind,
        simulated=True,
    )


def error(dataset: Dataset, epsilon: float, delta: float, truth: FloatArray, rng: np.random.Generator) -> float:
    """Mean squared error of the curve."""
    mechanism = BayesCloaking(epsilon=epsilon, delta=delta, gap=0.01)
    found = mechanism.measure(mechanism.plan_for(dataset, AGES[:, None]), dataset, AGES[:, None], rng, mean=False)
    return float(((found.samples[0] - truth) ** 2).mean())


def row(name: str, n: int, epsilon: float, delta: float, repeats: int) -> str:
    """One line of the table."""
    table, seed = TABLES[name], np.random.default_rng(0)
    truth = np.clip(table.draw(np.repeat(AGES, MANY), seed), *table.declared).reshape(-1, MANY).mean(axis=1)
    declared, bought, outside, widths = [], [], [], []
    for repeat in range(repeats):
        rng = np.random.default_rng([n, repeat])
        data = people(table, n, rng)
        wide = (0.0 if table.kind != "number" else -1e15, 1e15)
        found = buy_bounds(replace(data, y_bounds=wide), table.unit, epsilon=epsilon, delta=delta, rng=rng)
        low, high = found.interval
        widths.append(found.interval)
        outside.append(((data.y < low) | (data.y > high)).mean())
        declared.append(error(data, epsilon, delta, truth, rng))
        bought.append(error(found.dataset, found.rest.epsilon, delta, truth, rng))
    ends = f"{widths[0][0]:.3g} ... {widths[0][1]:.3g}"
    most, ratio = 100 * max(outside), float(np.sqrt(np.mean(bought) / np.mean(declared)))
    rmse = float(np.sqrt(np.mean(declared)))
    return f"| {name} | {n} | {ends} | {100 * np.mean(outside):.1f} % (at most {most:.1f}) | {rmse:.2g} | {ratio:.2f} |"


def main(argv: Sequence[str] | None = None) -> None:
    """Parse the options and print a row for each case."""
    parser = argparse.ArgumentParser(description="What bought bounds cost.")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--delta", type=float, default=1e-5)
    parser.add_argument("--people", type=int, nargs="+", default=[300, 1000, 5000])
    options = parser.parse_args(argv)
    print(f"epsilon = {options.epsilon:g}, delta = {options.delta:g}, {options.repeats} repeats")
    print("| table | people | bounds bought first | outside | error, declared | error, bought / declared |")
    print("|---|---|---|---|---|---|")
    for name in TABLES:
        for n in options.people:
            print(row(name, n, options.epsilon, options.delta, options.repeats), flush=True)


if __name__ == "__main__":
    main()
