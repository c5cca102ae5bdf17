"""Bayes cloaking with private inputs: held-out error and coverage; and seconds of a release with either protection.

    python -m benchmarks bayes_inputs
    python -m benchmarks bayes_inputs --data kung --epsilons 0.2 1 5 --draws 20
    python -m benchmarks bayes_inputs --tables seconds

held: error at records that a release did not use (the folds of the comparison page), delta = 0.01, all outputs clipped
to the bounds; mean over draws +- standard error; share of held-out outputs inside 50, 90, 95 and 99 % intervals.
seconds: processor seconds of one thread for the plan and for one real release (exact noise) of n simulated records
with one, two or three inputs, public or private, and their sum as a multiple of the seconds of one Cholesky
factorisation of order 2,000 on the same machine; the number of columns of the strategies; the process's peak memory so
far, the records included; and the largest certified gap of a stage's strategy, as a share of what privacy costs, with
the share of the whole expected squared error that a better strategy might avoid.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from benchmarks.bayes.tables import DELTA, TABLES
from benchmarks.shared.apart import peak_gigabytes
from benchmarks.shared.judged import judge, shares, splits
from benchmarks.shared.options import options_of
from benchmarks.shared.simulated import simulated
from benchmarks.shared.table import show
from benchmarks.shared.timing import cholesky_seconds, machine, processor_seconds
from dpgp_core.accounting.guarantee import Protects
from dpgp_core.bayes.strategy import plan_stage
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking, BayesPlan, BayesRelease
from dpgp_core.strategies.strategy import Strategy
from dpgp_core.table import Dataset

EPSILONS = (0.2, 1.0, 5.0)
SIZES = {1: (3_000, 30_000, 10**6), 2: (3_000, 10**6), 3: (10_000, 10**6)}
"""Numbers of records, by number of inputs."""
PROTECTS: tuple[Protects, ...] = ("outputs", "inputs and outputs")


def held_rows(names: Sequence[str], epsilons: Sequence[float], draws: int) -> Iterator[dict[str, object]]:
    """Errors at held-out records."""
    for name in names:
        dataset = TABLES[name].load()
        for epsilon in epsilons:
            mechanism = BayesCloaking(epsilon=epsilon, delta=DELTA, protects="inputs and outputs")
            found = judge(mechanism, splits(dataset), draws)
            yield {
                "table": f"{name} [{dataset.y_unit}], n = {dataset.n}",
                "epsilon": epsilon,
                "error": "{:.3f} +- {:.3f}".format(*found.error),
                "inside": shares(found.inside),
                "s a draw": f"{found.draw_seconds:.2f}",
            }


def smooth(n: int, dim: int) -> Dataset:
    """A smooth function of ``dim`` inputs with noise."""
    rng = np.random.default_rng(n + dim)
    X = rng.beta(2, 3, (n, dim))
    y = np.sin(7 * X[:, 0]) * 0.6 + 0.3 * X[:, -1] + 0.2 * rng.standard_normal(n)
    return simulated(X, y, (-1.5, 1.5), ((0.0, 1.0),) * dim)


def worst_gap(mechanism: BayesCloaking, plan: BayesPlan, release: BayesRelease) -> tuple[float, float]:
    """Largest gap of the strategies that a release planned, computed again from the numbers it released.

    Returns:
        The largest certified gap, and the largest share of the whole expected squared error that may be avoidable.
    """
    [released], found = release.measured, list[Strategy]()
    assert released.counts is not None
    filtered = plan.filtered.with_counts(released.counts, released.z, released.locations)
    split, posterior = mechanism.split(plan.kind, filtered.n), filtered.prior()
    for number, (stage, share) in enumerate(zip(released.stages, split.sums, strict=True), 1):
        linear = filtered.linearised(filtered.active(posterior), stage)
        found.append(plan_stage(filtered, posterior, linear, split.multiplier(share)))
        posterior = filtered.with_squares_of_last(filtered.after(posterior, stage, linear), released.stages[:number])
    return max(each.gap for each in found), max(each.avoidable for each in found)


def seconds_rows(unit: float) -> Iterator[dict[str, object]]:
    """Seconds of the plan and of one real release, and the gaps of its strategies.

    Args:
        unit: seconds of one Cholesky factorisation.
    """
    for dim, protects in product(SIZES, PROTECTS):
        mechanism = BayesCloaking(epsilon=1.0, delta=DELTA, protects=protects)
        for n in SIZES[dim]:
            yield seconds_row(mechanism, smooth(n, dim), unit)


def seconds_row(mechanism: BayesCloaking, data: Dataset, unit: float) -> dict[str, object]:
    """One row of the table."""
    made: list[BayesPlan | BayesRelease] = []
    X_test = np.full((1, data.dim), 0.5)
    planning = processor_seconds(lambda: made.append(mechanism.plan_for(data, X_test)))
    plan = made[0]
    assert isinstance(plan, BayesPlan)
    measuring = processor_seconds(lambda: made.append(mechanism.measure(plan, data, X_test)))
    release = made[1]
    assert isinstance(release, BayesRelease)
    peak = peak_gigabytes()
    gap, of_risk = worst_gap(mechanism, plan, release)
    return {
        "inputs": data.dim,
        "protects": mechanism.protects,
        "n": data.n,
        "plan [s]": planning,
        "release [s]": measuring,
        "Cholesky": f"{(planning + measuring) / unit:.1f}",
        "columns": plan.filtered.bins.size,
        "peak [GB]": peak,
        "gap": f"{gap:.1e}",
        "of the risk": f"{of_risk:.1e}",
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables."""
    names = {"tables": ["held", "seconds"], "data": list(TABLES)}
    given = options_of(__doc__, argv, names, epsilons=list(EPSILONS), draws=4)
    print(machine())
    print(f"delta {DELTA:g}")
    if "held" in given.tables:
        print(f"\nheld: {given.draws} draws")
        show(held_rows(given.data, given.epsilons, given.draws))
    if "seconds" in given.tables:
        unit = cholesky_seconds()
        print(f"\nseconds: epsilon 1, real releases; one Cholesky factorisation of order 2,000 takes {unit:.3f} s")
        show(seconds_rows(unit))
