"""Private choice of the lengthscale on !Kung and London hexagons: probabilities, errors, total spent, seconds.

    python -m benchmarks selection_table
    python -m benchmarks selection_table --dataset kung --selection-epsilon 0.5 --objective logdet --calibration hall

For each lengthscale and regression epsilon: the probability that the exponential mechanism chooses it when its
utility is the expected squared error of the private release at that epsilon; the held-out RMSE without and with
noise; the expected RMSE after the private choice; and what choice and release spend together. Folds are public and
shuffled by a public seed. Lengthscales and noise variance (0.3 of the kernel's) are public.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.shared.options import options_of
from benchmarks.shared.timing import machine
from datasets import load
from dpgp_core.accounting.gaussian import Method, noise_multiplier
from dpgp_core.accounting.losses import GaussianLoss, compose
from dpgp_core.arrays import FloatArray
from dpgp_core.evaluation.cross_validation import FoldPlan, k_folds, plan_folds
from dpgp_core.kernels import EQ
from dpgp_core.selection.exponential import SelectionTable, selection_guarantee, selection_table
from dpgp_core.selection.scores import grid_scores, published_sensitivity, sse_sensitivity
from dpgp_core.strategies.noise_design import ObjectiveName
from dpgp_core.table import Dataset

DELTA = 0.01
NOISE_VARIANCE = 0.3
EPSILONS = (math.inf, 10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One data set's grid: lengthscales in input units, folds, and the number format of its errors."""

    lengthscales: tuple[float, ...]
    folds: int
    digits: int


PROBLEMS = {
    "kung": Problem(lengthscales=(1.0, 3.0, 9.0, 27.0, 81.0, 243.0, 729.0), folds=11, digits=1),
    "london_hexes": Problem(lengthscales=(2.0, 4.0, 8.0, 15.0, 30.0, 60.0), folds=10, digits=3),
}


def timed_plans(
    dataset: Dataset, problem: Problem, objective: ObjectiveName, seed: int
) -> tuple[list[FoldPlan], list[float]]:
    """Plan every lengthscale; return the plans and the seconds each took."""
    folds = k_folds(dataset.n, problem.folds, np.random.default_rng(seed))
    plans, seconds = [], []
    for lengthscale in problem.lengthscales:
        started = time.perf_counter()
        plans.append(plan_folds(EQ(lengthscale=lengthscale), dataset.X, folds, NOISE_VARIANCE, objective))
        seconds.append(time.perf_counter() - started)
    return plans, seconds


def total_spent(selection_epsilon: float, epsilon: float, calibration: Method) -> float:
    """Total epsilon of one choice and one release at ``DELTA``; inf if the release has no noise."""
    if epsilon == math.inf:
        return math.inf
    release = GaussianLoss(1 / noise_multiplier(epsilon, DELTA, calibration, unproven=True))
    return compose([selection_guarantee(selection_epsilon).loss, release], DELTA)


def row(label: str, values: Sequence[float] | FloatArray, digits: int, starred: Sequence[bool] | None = None) -> str:
    """Lay out one row of the table."""
    stars = starred if starred is not None else [False] * len(values)
    cells = [f"{value:.{digits}f}{'*' if star else ' '}" for value, star in zip(values, stars, strict=True)]
    return f"{label:<22}" + "".join(f"{cell:>9}" for cell in cells)


def print_table(table: SelectionTable, problem: Problem, dataset: Dataset, spent: Sequence[float]) -> None:
    """Print probabilities (most likely starred), then errors (smallest starred), then what is spent."""
    labels = [f"  {lengthscale:g} {dataset.x_units[0]}" for lengthscale in problem.lengthscales]
    headings = ["none" if epsilon == math.inf else f"{epsilon:g}" for epsilon in table.epsilons]
    print(f"{'regression epsilon':<22}" + "".join(f"{heading:>8} " for heading in headings))
    print("probability of choice [%]")
    likeliest = table.probabilities.argmax(axis=0)
    for r, label in enumerate(labels):
        print(row(label, 100 * table.probabilities[r], 1, (likeliest == r).tolist()))
    print(f"expected held-out RMSE [{dataset.y_unit}]; column none: without noise")
    best = table.private_rmse.argmin(axis=0)
    for r, label in enumerate(labels):
        print(row(label, table.private_rmse[r], problem.digits, (best == r).tolist()))
    print(row("after private choice", table.selected_rmse, problem.digits))
    print(row("total epsilon", spent, 2))


def run(name: str, options: argparse.Namespace) -> None:
    """Compute and print one data set's table."""
    dataset, problem = load(name), PROBLEMS[name]
    plans, seconds = timed_plans(dataset, problem, options.objective, options.seed)
    d = dataset.output_range / dataset.y_scale
    started = time.perf_counter()
    scores = grid_scores(plans, dataset, None if math.isinf(options.clip) else options.clip * d)
    scoring = time.perf_counter() - started
    started = time.perf_counter()
    table = selection_table(scores, options.selection_epsilon, EPSILONS, DELTA, options.calibration, unproven=True)
    tabulating = time.perf_counter() - started
    setting = f"{options.objective} + {options.calibration}, delta = {DELTA}"
    print(f"\n{name}: n = {dataset.n}, {problem.folds} folds, {setting}")
    print(
        f"sensitivity / d^2: used {scores.sensitivity / d**2:.2f}; clipped at B = d {sse_sensitivity(plans, 1.0):.2f}, "
        f"at 4 d {sse_sensitivity(plans, 1.0, 4.0):.2f}; published (invalid) {published_sensitivity(plans, 1.0):.2f}"
    )
    spent = [total_spent(options.selection_epsilon, e, options.calibration) for e in EPSILONS]
    print_table(table, problem, dataset, spent)
    print("seconds per lengthscale: " + ", ".join(f"{s:.3f}" for s in seconds))
    milliseconds = f"scores and sensitivity {1e3 * scoring:.0f} ms; table {1e3 * tabulating:.1f} ms"
    print(f"all lengthscales {sum(seconds):.2f} s; {milliseconds}")


def main(argv: Sequence[str] | None = None) -> None:
    """Parse the options and print the tables."""
    names = {"dataset": list(PROBLEMS), "objective": ["trace", "logdet"], "calibration": ["analytic", "hall"]}
    one = {"dataset": None, "objective": "trace", "calibration": "analytic"}
    options = options_of(__doc__, argv, names, **one, selection_epsilon=1.0, clip=math.inf, seed=0)
    print(machine())
    print(f"selection epsilon {options.selection_epsilon:g}, exponential mechanism")
    if options.calibration == "hall":
        print("Hall's formula is not proven above epsilon 1: columns above that are no promise")
    for name in PROBLEMS if options.dataset is None else [options.dataset]:
        run(name, options)
