"""What privacy costs an excursion set: posterior sampling against Hall's release, at equal epsilon.

    python -m benchmarks excursion_tables            # about five minutes on two cores
    python -m benchmarks excursion_tables --parts curve --curve-sets 100
    python -m benchmarks excursion_tables --scheduler tcp://10.0.0.1:8786   # searches on a Dask cluster

Every part draws training sets in three groups: settings (lengthscale, r, s) are searched on the
first, the cutoff of the non-private estimate {p >= C} is chosen on the second, the third is
reported. IoU is the median over the reported sets, for paths of the mean over their draws, with
its quartiles; "path sd" is the median over the sets of the standard deviation over draws. BCE is the
mean over the reported sets, its increase the median over them against the search without a limit.
Hall's noise gives exactly the epsilon of the posterior-sampling row above it, and so does Bayes cloaking that protects
inputs and outputs: one release about each of the first ``--bayes-sets`` reported sets (their number is in the row), the
path's kernel mixed with its neighbours and the automatic models; its set is {p >= 1/2}, and no cutoff is chosen.

"one curve" uses one target for all sets, as the published experiment does: the golden figures are
for that part and for 2-D, with the published accounting, whose rows say so.
London: settings come from simulated maps at the hexagons' positions, never from prices. The set that
a release is compared with is that of the medians themselves, so the non-private figure is in-sample.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial

import numpy as np

from benchmarks.excursion.parts import (
    DELTA_1D,
    GOLDEN,
    Part,
    accounting,
    curve_part,
    london_part,
    plumes_part,
)
from benchmarks.excursion.rows import BUDGETS, rows
from benchmarks.shared.options import options_of
from benchmarks.shared.table import show
from benchmarks.shared.timing import timed
from datasets import excursion_1d
from dpgp_core.excursion.search import search
from pages._ui.work.engine import engine

CURVE_SEED = 6  # of the 1-D targets, as published
PARTS = ("curve", "curves", "plumes", "london", "speed")
SPEED_TARGET = 20.0  # seconds, docs/targets.md; published script: 190 to 463 s


def parts(options: argparse.Namespace) -> list[Callable[[], Part]]:
    """Builders of the chosen parts."""
    chosen: list[Callable[[], Part]] = []
    o = options
    for name, one_curve in (("curve", True), ("curves", False)):
        if name in o.parts:
            chosen += [
                partial(curve_part, noise, o.curve_sets, o.curve_grid, CURVE_SEED, one_curve=one_curve)
                for noise in excursion_1d.NOISE_OF_RATIO.values()
            ]
    if "plumes" in o.parts:
        chosen += [
            partial(plumes_part, noise, o.plume_sets, o.coarse_side, o.side, o.seed) for noise in GOLDEN["plumes"]
        ]
    if "london" in o.parts:
        chosen.append(partial(london_part, o.london_sets, o.seed))
    return chosen


def speed_line(sets: int, size: int, seed: int) -> str:
    """Time the 1-D search on all of ``sets`` training sets, for all limits together."""
    targets = excursion_1d.targets(sets, seed=seed, one_curve=True, size=size)
    seconds = timed(lambda: search(targets, accounting(100, 1.0, DELTA_1D, "exponential_1d")("proven"), BUDGETS))
    limits = ", ".join("none" if math.isinf(limit) else f"{limit:g}" for limit in BUDGETS)
    return f"search, {sets} sets, {size} grid points, limits {limits}: {seconds:.1f} s (target {SPEED_TARGET:g} s)"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark and print its tables."""
    sizes = {"curve_sets": 100, "curve_grid": 800, "plume_sets": 20, "coarse_side": 24, "side": 48, "london_sets": 20}
    more = {"draws": 20, "bayes_sets": 30, "seed": 1, "scheduler": None}
    options = options_of(__doc__, argv, {"parts": PARTS}, **sizes, **more)
    try:
        with engine(options.scheduler) as executor:
            print_tables(options, executor)
    except ValueError as error:
        raise SystemExit(str(error)) from None


def print_tables(options: argparse.Namespace, executor: Executor | None) -> None:
    """Build, compute and print the chosen parts."""
    started = time.perf_counter()
    for build in parts(options):
        began = time.perf_counter()
        part = build()
        lines = rows(part, options.draws, options.seed, executor, options.bayes_sets)
        trivial = np.median(part.report.truth.mean(axis=1))  # IoU of the whole domain with a set of that share
        print(f"\n{part.title}")
        show(lines)
        print(f"the whole domain as estimate: IoU {trivial:.3f}; {time.perf_counter() - began:.1f} s", flush=True)
    if "speed" in options.parts:
        print(f"\n{speed_line(options.curve_sets, options.curve_grid, CURVE_SEED)}", flush=True)
    print(f"\ntotal {time.perf_counter() - started:.1f} s")
