"""Seconds and certified gaps of whole plans of Bayes cloaking, five stages, automatic models.

    python -m benchmarks bayes_planning                       # some minutes; london_sales takes most of them
    python -m benchmarks bayes_planning --data kung --gaps 1e-3
    python -m benchmarks bayes_planning --data iris wine --epsilons 0.2 1 5    # tables that scikit-learn ships

Targets are a regular grid over the box. Processor seconds of one thread, and in units of a Cholesky factorisation of
size 2,000. The worst gap of five stages is the share of what privacy costs that might be avoidable; "of risk" is the
same as a share of the whole expected squared error.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from benchmarks.bayes import unseen
from benchmarks.shared.options import options_of
from benchmarks.shared.table import show
from benchmarks.shared.timing import cholesky_seconds, machine
from datasets import load
from dpgp_core.mechanisms import BayesCloaking
from dpgp_core.table import Dataset

DIMS: dict[str, dict[str, int]] = {"kung2": {"dims": 2}}  # of columns that are not the data set's own
SHIPPED = ("kung", "kung2", "london_hexes", "london_sales", "toy_1d")


def table(name: str) -> Dataset:
    """One of ``SHIPPED``, or of the tables nobody looked at."""
    if name in unseen.TABLES:
        return unseen.load(name)
    return load(name.removesuffix("2"), **DIMS.get(name, {}))


def rows(
    names: Sequence[str], epsilons: Sequence[float], gaps: Sequence[float], unit: float
) -> Iterator[dict[str, object]]:
    """One a plan; ``unit`` is the seconds of a Cholesky factorisation."""
    for name in names:
        data = table(name)
        axes = [np.linspace(low, high, 100 if data.dim == 1 else 14) for low, high in data.x_box]
        X_test = np.stack(np.meshgrid(*axes), -1).reshape(-1, data.dim)
        for epsilon, gap in product(epsilons, gaps):
            start = time.process_time()
            plan = BayesCloaking(epsilon=epsilon, delta=0.01, gap=gap, binned=False).plan_for(data, X_test)
            seconds = time.process_time() - start
            found = [stage.planned for stage in plan.stages]
            yield {
                "data": name,
                "n": data.n,
                "epsilon": epsilon,
                "asked": gap,
                "rows": sum(each.rank for each in found),
                "steps": sum(each.iterations for each in found),
                "worst gap": f"{plan.gap:.1e}",
                "of risk": f"{plan.avoidable:.1e}",
                "seconds": f"{seconds:.2f}",
                "Cholesky": f"{seconds / unit:.1f}",
            }


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    names = {"data": [*SHIPPED, *unseen.TABLES]}
    given = options_of(__doc__, argv, names, data=SHIPPED, epsilons=[0.25, 1.0, 4.0, 16.0, 64.0], gaps=[1e-3, 1e-2])
    unit = cholesky_seconds()
    print(machine())
    print(f"Cholesky(2000): {unit:.3f} s")
    show(rows(given.data, given.epsilons, given.gaps, unit))
