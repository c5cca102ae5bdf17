"""Table 1 of Smith et al. 2018: errors of cloaking and of binning on journey durations, by privacy level.

    python -m benchmarks citibike_table                                # 3 replicates, two local processes
    python -m benchmarks citibike_table --replicates 30 --workers 4 --published
    python -m benchmarks citibike_table --scheduler tcp://10.0.0.1:8786   # on Dask: pip install -e '.[cluster]'

Each replicate draws 4900 training and 100 test journeys; durations are clipped to [0, 2000] s. Methods:
cloaking (trace objective, analytic calibration) with EQ lengthscales of 0.02 to 0.78125 degrees; the same as
published (log-det, Hall) with --published; simple and integral binning with 3^4, 6^4 and 10^4 bins, the integral
kernel with 0.05 degrees. Kernel sd 1581 s, noise sd 1605 s, delta 0.01 for cloaking (binning is pure, delta 0).
An error is the root mean square over the test journeys, averaged over --draws noise draws; "no DP" adds no noise.
The interval is Student's 95 % over replicates. Journeys are simulated unless --file names a file of the operator.

Every finished unit of work is a line of the --out file, keyed by all its parameters: start the same command again
and only what is missing is computed. A unit has its own seeded generator, so that where it runs changes nothing.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, as_completed
from pathlib import Path

import numpy as np
from scipy.stats import t as student

from benchmarks.citibike.work import LEVELS, OURS, THEIRS, Task, compute, rows
from benchmarks.shared.options import options_of
from benchmarks.shared.results import finished, keep
from benchmarks.shared.table import show
from dpgp_core.arrays import FloatArray
from pages._ui.work.engine import engine

# ---- running


def run(tasks: Sequence[Task], out: Path, executor: Executor | None) -> None:
    """Compute what ``out`` does not hold yet, and append each result as it comes."""
    done = finished(out)
    missing = [task for task in tasks if task.key not in done]
    started = time.monotonic()
    progress(len(tasks) - len(missing), len(tasks), len(missing), started)
    for left, (task, errors) in zip(range(len(missing) - 1, -1, -1), executed(missing, executor), strict=True):
        keep(out, task.key, errors)
        progress(len(tasks) - left, len(tasks), len(missing), started)
    print(file=sys.stderr)


def progress(done: int, total: int, missing: int, started: float) -> None:
    """Draw the bar on stderr, with an estimate of the rest from the units of this run."""
    computed, spent = done - (total - missing), time.monotonic() - started
    rest = f"about {spent / computed * (total - done):.0f} s left" if computed else f"{missing} to compute"
    bar = "#" * (30 * done // total)
    print(f"\r[{bar:<30}] {done}/{total}, {spent:.0f} s, {rest}   ", end="", file=sys.stderr, flush=True)


def executed(tasks: Sequence[Task], executor: Executor | None) -> Iterator[tuple[Task, list[float]]]:
    """Yield each task with its errors, as they are done; without an executor one after the other."""
    if executor is None:
        yield from ((task, compute(task)) for task in tasks)
        return
    futures = {executor.submit(compute, task): task for task in tasks}
    yield from ((futures[future], future.result()) for future in as_completed(futures))


# ---- the table


def summary(tasks: Sequence[Task], results: dict[str, list[float]]) -> Iterator[dict[str, object]]:
    """Mean error and half width of the 95 % interval of every row, in seconds."""
    for method, setting in dict.fromkeys((task.method, task.setting) for task in tasks):
        errors = [results[task.key] for task in tasks if (task.method, task.setting) == (method, setting)]
        name = f"{setting:g} degrees" if method in (OURS, THEIRS) else f"{setting:g}^4 bins"
        cells = {level: interval(each) for level, each in zip(LEVELS, np.array(errors).T, strict=True)}
        yield {"method": method, "setting": name} | cells


def interval(errors: FloatArray) -> str:
    """Mean +- Student's 95 % half width over replicates; one replicate has no width."""
    n = len(errors)
    if n == 1:
        return f"{errors[0]:.0f}"
    return f"{errors.mean():.0f} +- {student.ppf(0.975, n - 1) * errors.std(ddof=1) / np.sqrt(n):.0f}"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the protocol and print its table."""
    options = options_of(
        __doc__,
        argv,
        **{"replicates": 3, "train": 4900, "test": 100, "draws": 10, "seed": 2018, "file": None, "published": False},
        **{"out": Path("citibike_table.jsonl"), "workers": min(2, os.cpu_count() or 1), "scheduler": None},
    )
    if min(options.replicates, options.train, options.test, options.draws, options.workers) < 1 or options.seed < 0:
        raise SystemExit("--replicates, --train, --test, --draws and --workers must be at least 1, --seed at least 0")
    shared = {name: getattr(options, name) for name in ("seed", "train", "test", "draws", "file")}
    tasks = [
        Task(method=method, setting=setting, replicate=replicate, **shared)
        for replicate in range(options.replicates)
        for method, setting in rows(published=options.published)
    ]
    started = time.monotonic()
    try:
        with engine(options.scheduler, options.workers) as executor:
            run(tasks, options.out, executor)
        table = list(summary(tasks, finished(options.out)))
    except ValueError as error:
        raise SystemExit(str(error)) from None
    kind = "simulated journeys" if options.file is None else "journeys of the file"
    print(f"RMSE in seconds, mean +- 95 % interval over {options.replicates} replicates; {kind}, ", end="")
    print(f"{options.train} to train, {options.test} to test, {options.draws} noise draws each")
    show(table)
    print(f"{time.monotonic() - started:.0f} s")
