"""Bayes cloaking of very many records, outputs protected, inputs public: records of one cell share a column.

    python -m benchmarks bayes_binned                          # a minute or two
    python -m benchmarks bayes_binned --sizes 1000000 --epsilons 1 5
    python -m benchmarks bayes_binned --own --epsilons 0.2 1 5 # ten minutes

Simulated London sales, 20 x 20 cells, automatic models, five stages, gap 1e-2, delta 0.01. Each row runs in a process
of its own: processor seconds of one thread for the plan and for one real release (exact noise, 400 test points); peak
memory, the records included; the worst certified gap of a stage among strategies that share columns as the cells do,
and the share of the whole expected squared error that might be avoidable; the root mean square error of ln price at
2,000 other sales, whose own spread about their hexagons' medians is 0.25, and the share of them inside 95 % intervals.

``--own``: tables of some hundred records, each with a column of its own or those of a cell with one. Held-out error of
three public folds, 10 numbered draws each, and processor seconds of a plan and of a draw.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from benchmarks.shared.apart import apart, peak_gigabytes
from benchmarks.shared.judged import error_of, splits
from benchmarks.shared.options import options_of
from benchmarks.shared.table import heading, markdown
from benchmarks.shared.timing import machine
from datasets import excursion_1d, kung, london_hexes, london_sales
from dpgp_core.bayes.cells.binned import PER_SIDE
from dpgp_core.bayes.cells.grid import cells_of
from dpgp_core.data import Dataset
from dpgp_core.mechanisms import BayesCloaking

SIZES, EPSILONS = (10_000, 100_000, 1_000_000), (1.0,)
HEADER = f"{'n':>9}{'epsilon':>8}{'plan [s]':>9}{'draw [s]':>9}{'peak [GB]':>10}{'worst gap':>10}{'of risk':>9}"
HEADER += f"{'rows':>6}{'error':>8}{'95 %':>7}"

FEW = {
    "height by age": kung.load(),
    "height by age and weight": kung.load(dims=2),
    "price by place": london_hexes.load(),
    "one curve": excursion_1d.load(),
}
FOLDS, DRAWS = 3, 10
COLUMNS = ("error", "plan [s]", "draw [s]")


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


def beside(data: Dataset, epsilon: float) -> tuple[str, ...]:
    """Cells of one line: error, seconds of a plan and of a draw, with columns of their own, shared, and the ratios."""
    own, shared = (_held_out(data, epsilon, binned) for binned in (False, True))
    ratios = (b / a for a, b in zip(own, shared, strict=True))
    return tuple(f"{number:.3g}" for number in (*own, *shared, *ratios))


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
    """Print the table."""
    parser = options_of(__doc__)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--epsilons", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--own", action="store_true", help="few records: columns of their own beside shared ones")
    parser.add_argument("--one", action="store_true", help="run the one size and epsilon in this process")
    choice = parser.parse_args(argv)
    if choice.one:
        print(row(choice.sizes[0], choice.epsilons[0]))
        return
    print(machine())
    if choice.own:
        print(heading("table", "ε", *(f"{of}{what}" for of in ("", "shared: ", "ratio: ") for what in COLUMNS)))
        for name, data in FEW.items():
            for epsilon in choice.epsilons:
                print(markdown(name, f"{epsilon:g}", *beside(data, epsilon)), flush=True)
        return
    print(HEADER)
    for n in choice.sizes:
        for epsilon in choice.epsilons:
            print(apart("bayes_binned", "--one", "--sizes", str(n), "--epsilons", str(epsilon)), flush=True)
