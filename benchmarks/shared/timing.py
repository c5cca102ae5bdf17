"""Seconds, what to divide them by, and the machine they are of."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.linalg import cholesky


def timed(work: Callable[[], object]) -> float:
    """Seconds that one call takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def processor_seconds(work: Callable[[], object]) -> float:
    """Of one call: other work on the machine does not count."""
    started = time.process_time()
    work()
    return time.process_time() - started


def quickest(work: Callable[[], object], repeats: int) -> float:
    """Least seconds of some calls: other work on the machine only adds."""
    return min(timed(work) for _ in range(repeats))


def cholesky_seconds(size: int = 2000) -> float:
    """Processor seconds of one dense Cholesky factorisation, the least of three: a unit that machines share."""
    A = np.eye(size) + np.ones((size, size))
    return min(processor_seconds(lambda: cholesky(A, lower=True, check_finite=False)) for _ in range(3))


def machine() -> str:
    """Processor, cores, versions and thread cap."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    threads = os.environ["OPENBLAS_NUM_THREADS"]
    return (
        f"machine: {model}, {os.cpu_count()} cores, BLAS threads {threads}, "
        f"Python {platform.python_version()}, numpy {np.__version__}"
    )
