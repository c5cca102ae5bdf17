"""Time and memory of C and its noise against the number of records: 1,000 to 1,000,000.

    python -m benchmarks scale                     # two minutes or so on two cores
    python -m benchmarks scale --sizes 1000 10000 --threads 1

Problem: simulated London sales (two inputs), EQ kernel of 15 km, noise variance 0.3 of the kernel's, 400 test
points spread evenly over the map's box. Each size runs in a process of its own, so that its peak memory is its
own. BLAS has one thread; passes over blocks of records share a pool of ``--threads``.

Columns: seconds of the pivoted Cholesky (factor), of C in factored form, of the noise by both objectives; total =
all of them; CPU = processor seconds of all threads; peak memory of the process; pivots, what they leave out of the
trace, directions of noise; largest certified gap of the two. Below: growth with n between the largest size and a
hundredth of it, and the floor: one dense Cholesky factorisation at n = 4,766, an exact GP's own cost.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cholesky

from benchmarks.shared.apart import apart, peak_gigabytes
from benchmarks.shared.options import options_of
from benchmarks.shared.table import show
from benchmarks.shared.timing import machine, quickest
from datasets import london_sales
from dpgp_core.gp.pivoted import factorise
from dpgp_core.gp.regression import output_covariance
from dpgp_core.kernels import EQ
from dpgp_core.strategies.noise_design import design_noise

LENGTHSCALE, NOISE_VARIANCE = 15.0, 0.3
SIZES = (1_000, 10_000, 100_000, 1_000_000)


class Row(NamedTuple):
    """One size; seconds unless said otherwise.

    Attributes:
        n: records.
        factor, matrix, trace, logdet: seconds of each stage.
        cpu: processor seconds of all that, which other work on the machine does not stretch.
        peak: largest memory of the process in GB.
        pivots, residual: rank of V and tr(K_ff - V V^T) / tr K_ff.
        rank, gap: directions of noise and largest certified gap of the two objectives.
        trace_passes: passes over all columns that the trace objective took.
    """

    n: int
    factor: float
    matrix: float
    trace: float
    logdet: float
    cpu: float
    peak: float
    pivots: int
    residual: float
    rank: int
    gap: float
    trace_passes: int

    @property
    def release(self) -> float:
        """Seconds that one release needs: C and the default objective."""
        return self.factor + self.matrix + self.trace

    @property
    def total(self) -> float:
        """Seconds of everything, both objectives."""
        return self.release + self.logdet

    @property
    def flops(self) -> float:
        """Of ``release``, counted over records: V by a triangular solve, its QR factorisation, and the passes."""
        return self.n * self.pivots * (3.0 * self.pivots + 2.0 * self.rank * self.trace_passes)

    def cells(self) -> dict[str, object]:
        """As printed."""
        return {
            "n": f"{self.n:,}",
            "factor": f"{self.factor:.3f}",
            "C": f"{self.matrix:.3f}",
            "trace": f"{self.trace:.3f}",
            "logdet": f"{self.logdet:.3f}",
            "total [s]": f"{self.total:.3f}",
            "CPU [s]": f"{self.cpu:.2f}",
            "peak [GB]": f"{self.peak:.2f}",
            "pivots": self.pivots,
            "residual": f"{self.residual:.1e}",
            "rank": self.rank,
            "gap": f"{self.gap:.1e}",
        }


class Pool(ThreadPoolExecutor):
    """Threads that count the passes asked of them."""

    passes = 0

    def map(self, fn: Callable[..., Any], *iterables: Iterable[Any], **options: Any) -> Iterator[Any]:
        """As ``ThreadPoolExecutor.map``."""
        self.passes += 1
        return super().map(fn, *iterables, **options)


def measure(n: int, test_points: int, threads: int) -> Row:
    """Run one size in this process."""
    data, kernel = london_sales.load(n=n), EQ(lengthscale=LENGTHSCALE)
    low, high = np.array(data.x_box).T
    X_test = np.random.default_rng(0).uniform(low, high, (test_points, 2))
    started = time.process_time()
    with Pool(threads) as pool:
        clock = [time.perf_counter()]
        factored = factorise(kernel, data.X, executor=pool)
        clock.append(time.perf_counter())
        C = factored.matrix(X_test, NOISE_VARIANCE)
        clock.append(time.perf_counter())
        before = pool.passes
        trace = design_noise(C, "trace", executor=pool)
        passes = pool.passes - before
        clock.append(time.perf_counter())
        logdet = design_noise(C, "logdet", executor=pool)
        clock.append(time.perf_counter())
    rank, gap = trace.rank, max(trace.gap, logdet.gap)
    cpu, shape = time.process_time() - started, (factored.rank, factored.residual)
    return Row(n, *map(float, np.diff(clock)), cpu, peak_gigabytes(), *shape, rank, gap, passes)


def measure_apart(n: int, test_points: int, threads: int) -> Row:
    """Run one size in a process of its own."""
    options = ["--sizes", str(n), "--one", "--test-points", str(test_points), "--threads", str(threads)]
    return Row(*json.loads(apart("scale", *options)))


def growth(rows: Sequence[Row]) -> float | None:
    """Exponent of the total time between the largest size and one a hundredth of it."""
    times = {row.n: row.total for row in rows}
    largest = max(times)
    return math.log(times[largest] / times[largest // 100], 100) if largest // 100 in times else None


def floor_seconds(n: int) -> float:
    """Seconds of one dense Cholesky factorisation of K for n records, the faster of two."""
    K = output_covariance(EQ(lengthscale=LENGTHSCALE), london_sales.load(n=n).X, NOISE_VARIANCE)
    return quickest(lambda: cholesky(K, lower=True, check_finite=False), 2)


def conclusions(rows: Sequence[Row], at_floor: Row, cholesky_seconds: float) -> str:
    """What follows from the table."""
    lines, exponent, largest = list[str](), growth(rows), max(rows, key=lambda row: row.n)
    if exponent is not None:
        lines.append(f"growth from n = {largest.n // 100:,} to {largest.n:,}: n^{exponent:.2f}")
    rate = at_floor.n**3 / 3 / cholesky_seconds
    lines.append(
        f"floor, n = {at_floor.n:,}: one dense Cholesky {cholesky_seconds:.3f} s ({rate / 1e9:.1f} Gflop/s); C and "
        f"trace design {at_floor.release:.3f} s, {at_floor.release / cholesky_seconds:.2f} of it (target 1)"
    )
    lines.append(
        f"n = {largest.n:,}: {largest.flops / 1e9:.1f} Gflop counted, {largest.flops / rate:.2f} s at that rate on one "
        f"core; took {largest.release:.2f} s. One pass over V reads {8 * largest.n * largest.pivots / 1e9:.2f} GB"
    )
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table and what follows from it; with --one a row of it, as JSON, made in this process."""
    sizes = {"sizes": SIZES, "test_points": 400, "threads": 2, "floor": london_sales.N_PUBLISHED}
    given = options_of(__doc__, argv, **sizes, one=False)
    if given.one:
        print(json.dumps(measure(given.sizes[0], given.test_points, given.threads)))
        return
    print(machine())
    rows = list[Row]()

    def measured() -> Iterator[dict[str, object]]:
        for n in given.sizes:
            rows.append(measure_apart(n, given.test_points, given.threads))
            yield rows[-1].cells()

    show(measured())
    at_floor = measure_apart(given.floor, given.test_points, 1)
    print(conclusions(rows, at_floor, floor_seconds(given.floor)))
