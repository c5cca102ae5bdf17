"""The dashboard's own processes beside Dask's local cluster: what a page waits for.

    python -m benchmarks engines

Two processes each, with what pages need loaded. Medians of repeats that take turns. Memory is what the processes hold
(proportional set size: shared pages are counted once). The newcomer comes while others' tasks of ten processor seconds
hold all processes; then these tasks are cancelled, as when their visitors have moved on, and the next one is timed.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

import numpy as np

from benchmarks.server.report import resident_megabytes
from benchmarks.shared.options import options_of
from benchmarks.shared.table import show
from benchmarks.shared.timing import timed
from pages._ui.work import engine

COUNT, LONG, HELD = 2, 10.0, 4.0
LOADED = "pages._ui.cloaking.results"


class Engine(NamedTuple):
    """How to have an owner's function run, and how to end a task."""

    submit: Callable[..., Future[Any]]
    cancel: Callable[[Future[Any]], object]


@contextmanager
def own() -> Iterator[Engine]:
    """The processes of ``pages/_ui/work``."""
    from pages._ui.work.workers import Workers

    workers = Workers(COUNT, spare=COUNT)
    workers.begin()
    try:
        yield Engine(lambda owner, work: workers.submit(work, owner=owner), lambda task: task.cancel())
    finally:
        workers.stop()


@contextmanager
def dask() -> Iterator[Engine]:
    """A local cluster."""
    from distributed import Client, LocalCluster

    options = {"n_workers": COUNT, "threads_per_worker": 1, "dashboard_address": None, "preload": [LOADED]}
    with LocalCluster(**options) as cluster, Client(cluster, set_as_default=False) as client:
        yield Engine(lambda owner, work: client.submit(work, pure=False), lambda task: task.cancel())


def small() -> str:
    """A task that needs what pages need."""
    from pages._ui.cloaking import results

    return results.__name__


def large() -> np.ndarray:
    """20 MB."""
    return np.ones(2_500_000)


def long() -> None:
    """Ten seconds of a processor."""
    end = time.process_time() + LONG
    while time.process_time() < end:
        pass


def measured(make: Callable[[], AbstractContextManager[Engine]]) -> dict[str, float]:
    """One row's figures of one engine."""
    begun = time.perf_counter()
    with make() as at:
        at.submit("a", small).result()
        found = {"first result after its start [s]": time.perf_counter() - begun}
        for each in [at.submit(owner, small) for owner in range(4 * COUNT)]:
            each.result()
        found["a small task [ms]"] = 1e3 * _usual(lambda: at.submit("a", small).result(), 30)
        found["a result of 20 MB [ms]"] = 1e3 * _usual(lambda: at.submit("a", large).result(), 5)
        own_size = resident_megabytes(os.getpid(), started=False)
        found["memory of all processes [MB]"] = resident_megabytes(os.getpid()) - own_size
        tasks = [at.submit(owner, long) for owner in range(COUNT)]
        time.sleep(HELD)
        found["a newcomer beside two long tasks [s]"] = timed(lambda: at.submit("new", small).result())
        tasks += [at.submit(owner, long) for owner in range(COUNT, 2 * COUNT)]
        time.sleep(HELD / 4)
        for each in tasks:
            at.cancel(each)
        found["the next task after these were cancelled [s]"] = timed(lambda: at.submit("next", small).result())
    return found


def _usual(work: Callable[[], object], repeats: int) -> float:
    return statistics.median(timed(work) for _ in range(repeats))


def main(argv: Sequence[str] | None = None) -> None:
    """Print a row for each figure: own processes, Dask's, their ratio."""
    repeats = options_of(__doc__, argv, repeats=3).repeats
    engine.cap_threads()
    runs = [(measured(own), measured(dask)) for _ in range(repeats)]
    figures = {
        figure: [statistics.median(run[which][figure] for run in runs) for which in (0, 1)] for figure in runs[0][0]
    }
    show(
        {"": figure, "own processes": ours, "Dask's": theirs, "ratio": f"{theirs / ours:.2g}"}
        for figure, (ours, theirs) in figures.items()
    )
