"""Bayes cloaking that protects inputs as well as outputs: held-out error, coverage, sensitivity of the counts, seconds.

    python -m benchmarks bayes_inputs
    python -m benchmarks bayes_inputs --data kung --epsilons 0.2 1 5 --draws 20
    python -m benchmarks bayes_inputs --tables seconds

held: error at records that a release did not use (the folds of the comparison page), delta = 0.01, all outputs clipped
to the bounds; mean over draws +- standard error; share of held-out outputs inside 50, 90, 95 and 99 % intervals.
seconds: processor time of one draw with n simulated records, in one and two input columns: real, exact noise; the
process's peak memory so far, the records included; and the worst certified gap of a stage (three per cent of what
privacy costs are asked for, since every draw plans its stages), with what may be avoidable of the whole expected
squared error.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from benchmarks.bayes.tables import DELTA, SEED, TABLES
from benchmarks.shared.apart import peak_gigabytes
from benchmarks.shared.judged import error_of, inside, shares, splits
from benchmarks.shared.options import options_of
from benchmarks.shared.simulated import simulated
from benchmarks.shared.timing import machine
from dpgp_core.arrays import FloatArray
from dpgp_core.bayes.cells.known import after, linearised, start
from dpgp_core.bayes.cells.planning import Seen, plan_stage
from dpgp_core.bayes.cells.stages import cell_multipliers
from dpgp_core.data import Dataset
from dpgp_core.measurement.cells import CellCounts
from dpgp_core.measurement.integers import GRID
from dpgp_core.mechanisms.bayes_cells import CellPlan, plan_cells
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from dpgp_core.mechanisms.bayes_release import BayesRelease
from dpgp_core.strategies.strategy import Strategy

EPSILONS = (0.2, 1.0, 5.0)
GAP = 1e-3
SIZES = (1_000, 10**5, 10**6)


def held_out(epsilon: float, dataset: Dataset, draws: int) -> tuple[FloatArray, FloatArray, float, float]:
    """Residuals (draws, N), shares inside each interval (levels,), sensitivity of the counts, seconds a draw."""
    mechanism = BayesCloaking(epsilon=epsilon, delta=DELTA, protects="inputs and outputs", gap=GAP)
    residuals, held, started = list[FloatArray](), list[list[float]](), time.process_time()
    half_range = dataset.output_range / dataset.y_scale / 2
    for index, (train, X_test, truth) in enumerate(splits(dataset)):
        plan = plan_cells(mechanism, train.n, dataset.x_box, half_range, "number")
        release = mechanism.measure(plan, train, X_test, np.random.default_rng([SEED, index]), draws)
        residuals.append(release.samples - truth)
        held.append(inside(release, truth))
    sensitivity = CellCounts(B=plan.B, noise_multiplier=1.0).noise.sensitivity / GRID
    seconds = (time.process_time() - started) / (draws * len(held))
    return np.concatenate(residuals, axis=1), np.mean(held, axis=0), sensitivity, seconds


def smooth(n: int, dim: int) -> Dataset:
    """A smooth function of ``dim`` inputs with noise."""
    rng = np.random.default_rng(n + dim)
    X = rng.beta(2, 3, (n, dim))
    y = np.sin(7 * X[:, 0]) * 0.6 + 0.3 * X[:, -1] + 0.2 * rng.standard_normal(n)
    return simulated(X, y, (-1.5, 1.5), ((0.0, 1.0),) * dim)


def worst_gap(mechanism: BayesCloaking, plan: CellPlan, release: BayesRelease) -> tuple[float, float]:
    """Of the strategies that a release planned on its way: they follow from what it released.

    Largest certified gap, and largest share of the whole expected squared error that may be avoidable.
    """
    setting, [released], found = plan.setting, release.cells, list[Strategy]()
    now = start(setting, released.counts, released.z)
    multipliers = cell_multipliers(mechanism.noise_multiplier, mechanism.stages)[1]
    for seen, s in zip(released.stages, multipliers, strict=True):
        linear = linearised(setting, now, (seen.low, seen.high, seen.g))
        so_far = Seen(setting.models, now.states, now.weights, linear, now.counts.mean)
        found.append(plan_stage(so_far, s, setting.gap))
        now = after(setting, now, linear, seen)
    return max(each.gap for each in found), max(each.avoidable for each in found)


def seconds_table() -> None:
    """Print seconds of plan and of one real draw, and the gaps of its stages."""
    for dim in (1, 2):
        for n in SIZES:
            data, started = smooth(n, dim), time.process_time()
            mechanism = BayesCloaking(epsilon=1.0, delta=DELTA, protects="inputs and outputs")
            plan = plan_cells(mechanism, n, data.x_box, 1.5, "number")
            planned = time.process_time()
            release = mechanism.measure(plan, data, np.full((1, dim), 0.5))
            drawn = time.process_time() - planned
            peak = peak_gigabytes()
            gap, of_risk = worst_gap(mechanism, plan, release)
            said = f"plan {planned - started:5.2f} s, draw {drawn:5.2f} s, peak {peak:.2f} GB, "
            said += f"gap {gap:.1e}, of the risk {of_risk:.1e}"
            print(f"  {dim} inputs, n = {n:>8}: {said}", flush=True)


def main(argv: Sequence[str] | None = None) -> None:
    """Parse the options and print the tables."""
    parser = options_of(__doc__)
    parser.add_argument("--tables", nargs="+", choices=("held", "seconds"), default=["held", "seconds"])
    parser.add_argument("--data", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--epsilons", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--draws", type=int, default=4)
    options = parser.parse_args(argv)
    print(machine())
    print(f"delta {DELTA:g}, {options.draws} draws")
    for name in options.data if "held" in options.tables else ():
        dataset = TABLES[name].load()
        print(f"\nheld: {name} [{dataset.y_unit}], n = {dataset.n}")
        for epsilon in options.epsilons:
            residuals, held, sensitivity, seconds = held_out(epsilon, dataset, options.draws)
            mean, error = error_of(residuals)
            print(
                f"  epsilon {epsilon:<4g} {mean:.3f} +- {error:.3f}   inside {shares(held)}   "
                f"counts' sensitivity {sensitivity:.3f}   {seconds:.2f} s a draw",
                flush=True,
            )
    if "seconds" in options.tables:
        print("\nseconds: epsilon 1, real draws")
        seconds_table()
