"""Bayes cloaking of very many records, outputs protected, inputs public: records of one cell share a column.

    python -m benchmarks bayes_binned                          # a minute or two
    python -m benchmarks bayes_binned --sizes 1000000 --epsilons 1 5

Simulated London sales, 20 x 20 cells, automatic models, five stages, gap 1e-2, delta 0.01. Each row runs in a process
of its own: processor seconds of one thread for the plan and for one real release (exact noise, 400 test points); peak
memory, the records included; the worst certified gap of a stage among strategies that share columns as the cells do,
and the share of the whole expected squared error that might be avoidable; the root mean square error of ln price at
2,000 other sales, whose own spread about their hexagons' medians is 0.25, and the share of them inside 95 % intervals.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from benchmarks.shared.apart import apart, peak_gigabytes
from benchmarks.shared.options import options_of
from benchmarks.shared.timing import machine
from datasets import london_sales
from dpgp_core.bayes.cells.binned import PER_SIDE
from dpgp_core.bayes.cells.grid import cells_of
from dpgp_core.mechanisms import BayesCloaking

SIZES, EPSILONS = (10_000, 100_000, 1_000_000), (1.0,)
HEADER = f"{'n':>9}{'epsilon':>8}{'plan [s]':>9}{'draw [s]':>9}{'peak [GB]':>10}{'worst gap':>10}{'of risk':>9}"
HEADER += f"{'rows':>6}{'error':>8}{'95 %':>7}"


def row(n: int, epsilon: float) -> str:
    """One line of the table, measured in this process."""
    data, others = london_sales.load(n=n), london_sales.load(n=2_000, seed=1)
    mechanism = BayesCloaking(epsilon=epsilon, delta=0.01, gap=1e-2, binned=True)
    points = cells_of(data.x_box, PER_SIDE).centres
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
    rows = sum(stage.strategy.rank for stage in plan.stages)
    planned, drawn = np.diff(clock)
    return (
        f"{n:9,}{epsilon:8g}{planned:9.1f}{drawn:9.1f}{peak:10.2f}{plan.gap:10.1e}{plan.avoidable:9.1e}"
        f"{rows:6}{error:8.4f}{inside:7.3f}"
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = options_of(__doc__)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--epsilons", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--one", action="store_true", help="run the one size and epsilon in this process")
    choice = parser.parse_args(argv)
    if choice.one:
        print(row(choice.sizes[0], choice.epsilons[0]))
        return
    print(machine())
    print(HEADER)
    for n in choice.sizes:
        for epsilon in choice.epsilons:
            print(apart("bayes_binned", "--one", "--sizes", str(n), "--epsilons", str(epsilon)), flush=True)
