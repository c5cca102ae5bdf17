"""Bayes cloaking that protects inputs as well as outputs: held-out error, coverage, sensitivity of the counts, seconds.

    python -m benchmarks.bayes_inputs
    python -m benchmarks.bayes_inputs --data kung --epsilons 0.2 1 5 --draws 20
    python -m benchmarks.bayes_inputs --tables seconds

held: error at records that a release did not use (the folds of the comparison page), delta = 0.01, all outputs clipped
to the bounds; mean over draws +- standard error; share of held-out outputs inside 50, 90, 95 and 99 % intervals.
seconds: processor time of one draw with n simulated records, in one and two input columns: real, exact noise; the
process's peak memory so far, the records included; and the worst certified gap of a stage (three per cent of what
privacy costs are asked for, since every draw plans its stages), with what may be avoidable of the whole expected
squared error.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import time
from collections.abc import Sequence

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # read when numpy is first imported

import numpy as np  # noqa: E402

from benchmarks.bayes_tables import DELTA, FOLD_SEED, FOLDS, LEVELS, SEED, TABLES  # noqa: E402
from dpgp_core.arrays import FloatArray  # noqa: E402
from dpgp_core.bayes.cells.known import after, linearised, start  # noqa: E402
from dpgp_core.bayes.cells.planning import Seen, plan_stage  # noqa: E402
from dpgp_core.bayes.cells.stages import cell_multipliers  # noqa: E402
from dpgp_core.data import Dataset  # noqa: E402
from dpgp_core.evaluation.cross_validation import k_folds  # noqa: E402
from dpgp_core.measurement.cells import CellCounts  # noqa: E402
from dpgp_core.measurement.integers import GRID  # noqa: E402
from dpgp_core.mechanisms.bayes_cells import CellPlan  # noqa: E402
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking  # noqa: E402
from dpgp_core.mechanisms.bayes_release import BayesRelease  # noqa: E402
from dpgp_core.strategies.strategy import Strategy  # noqa: E402

EPSILONS = (0.2, 1.0, 5.0)
SIZES = (1_000, 10**5, 10**6)


def held_out(epsilon: float, dataset: Dataset, draws: int, gap: float) -> tuple[FloatArray, FloatArray, float, float]:
    """Errors (draws,), shares inside each interval (levels,), sensitivity of the counts, seconds a draw."""
    mechanism = BayesCloaking(epsilon=epsilon, delta=DELTA, protects="inputs and outputs", gap=gap)
    residuals, inside, started = np.empty((draws, dataset.n)), list[list[float]](), time.process_time()
    half_range = dataset.output_range / dataset.y_scale / 2
    for index, test in enumerate(k_folds(dataset.n, FOLDS, np.random.default_rng(FOLD_SEED))):
        train = dataset.subset(np.delete(np.arange(dataset.n), test))
        plan = mechanism.plan_cells(train.n, x_box=dataset.x_box, half_range=half_range)
        rng = np.random.default_rng([SEED, index])
        release = mechanism.measure(plan, train, dataset.X[test], rng, draws)
        truth = dataset.clipped_y[test]
        residuals[:, test] = release.samples - truth
        ends = [release.interval(level) for level in LEVELS]
        inside.append([float(((low <= truth) & (truth <= high)).mean()) for low, high in ends])
    sensitivity = CellCounts(B=plan.B, noise_multiplier=1.0).noise.sensitivity / GRID
    seconds = (time.process_time() - started) / (draws * FOLDS)
    return np.sqrt((residuals**2).mean(axis=1)), np.mean(inside, axis=0), sensitivity, seconds


def simulated(n: int, dim: int) -> Dataset:
    """A smooth function of ``dim`` inputs with noise."""
    rng = np.random.default_rng(n + dim)
    X = rng.beta(2, 3, (n, dim))
    return Dataset(
        name="simulated",
        X=X,
        y=np.sin(7 * X[:, 0]) * 0.6 + 0.3 * X[:, -1] + 0.2 * rng.standard_normal(n),
        x_names=("a", "b")[:dim],
        x_units=("1", "1")[:dim],
        y_name="y",
        y_unit="1",
        y_bounds=(-1.5, 1.5),
        x_box=((0.0, 1.0),) * dim,
        privacy_unit="one record",
        source="simulated",
        licence="none",
        bounds_reason="simulated",
        simulated=True,
    )


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
            data, started = simulated(n, dim), time.process_time()
            mechanism = BayesCloaking(epsilon=1.0, delta=DELTA, protects="inputs and outputs")
            plan = mechanism.plan_cells(n, x_box=data.x_box, half_range=1.5)
            planned = time.process_time()
            release = mechanism.measure(plan, data, np.full((1, dim), 0.5))
            drawn = time.process_time() - planned
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # kilobytes on Linux
            gap, of_risk = worst_gap(mechanism, plan, release)
            said = f"plan {planned - started:5.2f} s, draw {drawn:5.2f} s, peak {peak:.2f} GB, "
            said += f"gap {gap:.1e}, of the risk {of_risk:.1e}"
            print(f"  {dim} inputs, n = {n:>8}: {said}", flush=True)


def main(argv: Sequence[str] | None = None) -> None:
    """Parse the options and print the tables."""
    parser = argparse.ArgumentParser(description="Tables of Bayes cloaking with private inputs.")
    parser.add_argument("--tables", nargs="+", choices=("held", "seconds"), default=["held", "seconds"])
    parser.add_argument("--data", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--epsilons", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--gap", type=float, default=1e-3)
    options = parser.parse_args(argv)
    print(f"delta {DELTA:g}, {options.draws} draws; Python {platform.python_version()}, numpy {np.__version__}")
    for name in options.data if "held" in options.tables else ():
        dataset = TABLES[name].load()
        print(f"\nheld: {name} [{dataset.y_unit}], n = {dataset.n}")
        for epsilon in options.epsilons:
            errors, inside, sensitivity, seconds = held_out(epsilon, dataset, options.draws, options.gap)
            shares = "/".join(f"{share:.2f}".lstrip("0") for share in inside)
            error = errors.std(ddof=min(1, len(errors) - 1)) / np.sqrt(len(errors))
            print(
                f"  epsilon {epsilon:<4g} {errors.mean():.3f} +- {error:.3f}   inside {shares}   "
                f"counts' sensitivity {sensitivity:.3f}   {seconds:.2f} s a draw",
                flush=True,
            )
    if "seconds" in options.tables:
        print("\nseconds: epsilon 1, real draws")
        seconds_table()


if __name__ == "__main__":
    main()
