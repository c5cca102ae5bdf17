"""Bayes cloaking that protects inputs as well as outputs: held-out error, coverage, seconds.

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
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from benchmarks.bayes.tables import DELTA, TABLES
from benchmarks.shared.apart import peak_gigabytes
from benchmarks.shared.judged import judge, shares, splits
from benchmarks.shared.options import options_of
from benchmarks.shared.simulated import simulated
from benchmarks.shared.table import show
from benchmarks.shared.timing import machine
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking, BayesPlan, BayesRelease
from dpgp_core.strategies.strategy import Strategy
from dpgp_core.table import Dataset

EPSILONS = (0.2, 1.0, 5.0)
GAP = 1e-3
SIZES = (1_000, 10**5, 10**6)


def held_rows(names: Sequence[str], epsilons: Sequence[float], draws: int) -> Iterator[dict[str, object]]:
    """Errors at held-out records."""
    for name in names:
        dataset = TABLES[name].load()
        for epsilon in epsilons:
            mechanism = BayesCloaking(epsilon=epsilon, delta=DELTA, protects="inputs and outputs", gap=GAP)
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
    """Of the strategies that a release planned on its way: they follow from what it released.

    Largest certified gap, and largest share of the whole expected squared error that may be avoidable.
    """
    [released], found = release.measured, list[Strategy]()
    of = plan.cells.with_counts(released.counts, released.z, released.positions)
    now = of.begin()
    multipliers = mechanism.multipliers(plan.public.kind, of.n)
    for seen, s in zip(released.stages, multipliers, strict=True):
        linear = of.linearised(now, seen)
        found.append(of.plan_stage(now, linear, s))
        now = of.after(now, seen, linear)
    return max(each.gap for each in found), max(each.avoidable for each in found)


def seconds_rows() -> Iterator[dict[str, object]]:
    """Seconds of plan and of one real draw, and the gaps of its stages."""
    for dim, n in product((1, 2), SIZES):
        data, started = smooth(n, dim), time.process_time()
        mechanism = BayesCloaking(epsilon=1.0, delta=DELTA, protects="inputs and outputs")
        plan = mechanism.plan_for(data, data.X[:1])
        planned = time.process_time()
        release = mechanism.measure(plan, data, np.full((1, dim), 0.5))
        drawn = time.process_time() - planned
        row = {"inputs": dim, "n": n, "plan [s]": planned - started, "draw [s]": drawn, "peak [GB]": peak_gigabytes()}
        gap, of_risk = worst_gap(mechanism, plan, release)
        yield row | {"gap": f"{gap:.1e}", "of the risk": f"{of_risk:.1e}"}


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
        print("\nseconds: epsilon 1, real draws")
        show(seconds_rows())
