"""Bayes cloaking of very many records, outputs protected, inputs public: records of one cell share a column.

    python -m benchmarks bayes_binned                          # a minute or two
    python -m benchmarks bayes_binned --sizes 1000000 --epsilons 1 5
    python -m benchmarks bayes_binned --own --epsilons 0.2 1 5 # ten minutes

Simulated London sales, automatic models, six stages planned on the way, delta 0.01. Each row runs in a process of its
own: processor seconds of one thread for the plan and for one real release (exact noise, 400 test points); peak memory,
the records included; cells, and rows of all strategies together; the root mean square error of ln price at 2,000 other
sales, whose own spread about their hexagons' medians is 0.25, and the share of them inside 95 % intervals.

``--own``: tables of some hundred records, each with a column of its own or those of a cell with one. Held-out error of
three public folds, 10 numbered draws each, and processor seconds of a plan and of a draw.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from itertools import product

import numpy as np

from benchmarks.shared.apart import apart, peak_gigabytes
from benchmarks.shared.judged import error_of, splits
from benchmarks.shared.options import options_of
from benchmarks.shared.table import show
from benchmarks.shared.timing import machine
from datasets import excursion_1d, kung, london_hexes, london_sales
from dpgp_core.bayes.cells import CellGrid
from dpgp_core.mechanisms import BayesCloaking
from dpgp_core.table import Dataset

SIZES, EPSILONS = (10_000, 100_000, 1_000_000), (1.0,)
FEW = {
    "height by age": kung.load(),
    "height by age and weight": kung.load(dims=2),
    "price by place": london_hexes.load(),
    "one curve": excursion_1d.load(),
}
FOLDS, DRAWS = 3, 10
COLUMNS = ("error", "plan [s]", "draw [s]")


def row(n: int, epsilon: float) -> dict[str, object]:
    """One line of the table, measured in this process."""
    data, others = london_sales.load(n=n), london_sales.load(n=2_000, seed=1)
    mechanism = BayesCloaking(epsilon=epsilon, delta=0.01, gap=1e-2, binned=True)
    points = CellGrid(box=data.x_box, per_side=20).centres
    clock = [time.process_time()]
    plan = mechanism.plan_for(data, points)
    clock.append(time.process_time())
    mechanism.measure(plan, data, points)
    clock.append(time.process_time())
    peak = peak_gigabytes()
    release = mechanism.measure(plan, data, others.X)
    error = float(np.sqrt(((release.samples[0] - others.clipped_y) ** 2).mean()))
    low, high = release.interval(0.95)
    inside = float(((low[0] <= others.clipped_y) & (others.clipped_y <= high[0])).mean())
    return {
        "n": f"{n:,}",
        "epsilon": epsilon,
        "plan [s]": f"{clock[1] - clock[0]:.1f}",
        "draw [s]": f"{clock[2] - clock[1]:.1f}",
        "peak [GB]": f"{peak:.2f}",
        "cells": plan.cells.grid.size,
        "rows": sum(len(stage.B) for stage in release.measured[0].stages),
        "error": f"{error:.4f}",
        "95 %": f"{inside:.3f}",
    }


def beside(data: Dataset, epsilon: float) -> dict[str, object]:
    """Error, seconds of a plan and of a draw: with columns of their own, shared, and the ratios."""
    own, shared = (_held_out(data, epsilon, binned) for binned in (False, True))
    ratios = tuple(b / a for a, b in zip(own, shared, strict=True))
    of = zip(("", "shared: ", "ratio: "), (own, shared, ratios), strict=True)
    return {f"{way}{what}": number for way, numbers in of for what, number in zip(COLUMNS, numbers, strict=True)}


def _held_out(data: Dataset, epsilon: float, binned: bool) -> tuple[float, float, float]:
    mechanism = BayesCloaking(epsilon=epsilon, delta=0.01, gap=1e-2, binned=binned)
    residuals, seconds = [], np.zeros(2)
    for fold, (train, X, y) in enumerate(splits(data)[:FOLDS]):
        clock = [time.process_time()]
        plan = mechanism.plan_for(train, X)
        clock.append(time.process_time())
        release = mechanism.measure(plan, train, X, np.random.default_rng(fold), DRAWS, mean=False)
        clock.append(time.process_time())
        residuals.append(release.samples - y)
        seconds += np.diff(clock) / FOLDS
    return error_of(np.hstack(residuals))[0], seconds[0], seconds[1] / DRAWS


def main(argv: Sequence[str] | None = None) -> None:
    """Print a table; with --one a row of it, as JSON, made in this process."""
    given = options_of(__doc__, argv, sizes=SIZES, epsilons=EPSILONS, own=False, one=False)
    if given.one:
        print(json.dumps(row(given.sizes[0], given.epsilons[0])))
        return
    print(machine())
    if given.own:
        few = product(FEW.items(), given.epsilons)
        show({"table": name, "ε": epsilon} | beside(data, epsilon) for (name, data), epsilon in few)
        return
    options = (("--one", "--sizes", str(n), "--epsilons", str(e)) for n, e in product(given.sizes, given.epsilons))
    show(json.loads(apart("bayes_binned", *each)) for each in options)
