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
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.linalg import cholesky

from benchmarks.shared.apart import apart, peak_gigabytes
from benchmarks.shared.options import options_of
from benchmarks.shared.table import columns
from benchmarks.shared.timing import machine, quickest
from datasets import london_sales
from dpgp_core.gp.exact import output_covariance
from dpgp_core.gp.pivoted import factorise
from dpgp_core.kernels import EQ
from dpgp_core.strategies.noise_design import design_noise
from pages._ui.work.engine import engine

LENGTHSCALE, NOISE_VARIANCE = 15.0, 0.3
SIZES = (1_000, 10_000, 100_000, 1_000_000)
HEADER = (
    "n",
    "factor",
    "C",
    "trace",
    "logdet",
    "total [s]",
    "CPU [s]",
    "peak [GB]",
    "pivots",
    "residual",
    "rank",
    "gap",
)


@dataclass(frozen=True, kw_only=True)
class Row:
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
    def total(self) -> float:
        """Seconds of everything, both objectives."""
        return self.factor + self.matrix + self.trace + self.logdet

    @property
    def release(self) -> float:
        """Seconds that one release needs: C and the default objective."""
        return self.factor + self.matrix + self.trace

    @property
    def flops(self) -> float:
        """Of ``release``, counted over records: V by a triangular solve, its QR factorisation, and the passes."""
        return self.n * self.pivots * (3.0 * self.pivots + 2.0 * self.rank * self.trace_passes)

    def cells(self) -> tuple[str, ...]:
        """As printed."""
        seconds = [f"{s:.3f}" for s in (self.factor, self.matrix, self.trace, self.logdet, self.total)]
        rest = (
            f"{self.cpu:.2f}",
            f"{self.peak:.2f}",
            f"{self.pivots}",
            f"{self.residual:.1e}",
            f"{self.rank}",
            f"{self.gap:.1e}",
        )
        return f"{self.n:,}", *seconds, *rest


class Pool(ThreadPoolExecutor):
    """Threads that count the passes asked of them."""

    passes = 0

    def map(self, fn: Callable[..., Any], *iterables: Iterable[Any], **options: Any) -> Iterator[Any]:
        """As ``ThreadPoolExecutor.map``."""
        self.passes += 1
        return super().map(fn, *iterables, **options)


def measure(n: int, test_points: int, threads: int, scheduler: str | None = None) -> Row:
    """Run one size in this process, its passes on threads or on a cluster."""
    data, kernel = london_sales.load(n=n), EQ(lengthscale=LENGTHSCALE)
    low, high = np.array(data.x_box).T
    X_test = np.random.default_rng(0).uniform(low, high, (test_points, 2))
    started = time.process_time()
    with Pool(threads) as local, engine(scheduler) as cluster:
        pool = cluster or local
        clock = [time.perf_counter()]
        factored = factorise(kernel, data.X, executor=pool)
        clock.append(time.perf_counter())
        C = factored.matrix(X_test, NOISE_VARIANCE)
        clock.append(time.perf_counter())
        before = local.passes
        trace = design_noise(C, "trace", executor=pool)
        passes = local.passes - before
        clock.append(time.perf_counter())
        logdet = design_noise(C, "logdet", executor=pool)
        clock.append(time.perf_counter())
    factor, matrix, by_trace, by_logdet = np.diff(clock)
    return Row(
        n=n,
        factor=factor,
        matrix=matrix,
        trace=by_trace,
        logdet=by_logdet,
        cpu=time.process_time() - started,
        peak=peak_gigabytes(),
        pivots=factored.rank,
        residual=factored.residual,
        rank=trace.rank,
        gap=max(trace.gap, logdet.gap),
        trace_passes=passes,
    )


def measure_apart(n: int, test_points: int, threads: int, scheduler: str | None = None) -> Row:
    """Run one size in a process of its own."""
    options = ["--sizes", str(n), "--one", "--test-points", str(test_points), "--threads", str(threads)]
    options += ["--scheduler", scheduler] if scheduler else []
    return Row(**json.loads(apart("scale", *options)))


def growth(rows: Sequence[Row]) -> float | None:
    """Exponent of the total time between the largest size and one a hundredth of it."""
    times = {row.n: row.total for row in rows}
    largest = max(times)
    return math.log(times[largest] / times[largest // 100], 100) if largest // 100 in times else None


def floor_seconds(n: int) -> float:
    """Seconds of one dense Cholesky factorisation of K for n records, the faster of two."""
    K = output_covariance(EQ(lengthscale=LENGTHSCALE), london_sales.load(n=n).X, NOISE_VARIANCE)
    return quickest(lambda: cholesky(K, lower=True, check_finite=False), 2)


def report(rows: Sequence[Row], at_floor: Row, cholesky_seconds: float) -> str:
    """The table and what follows from it."""
    cells = [HEADER, *(row.cells() for row in rows)]
    lines = [columns(cells, right=True)]
    exponent, largest = growth(rows), max(rows, key=lambda row: row.n)
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
    """Run the benchmark and print its table."""
    parser = options_of(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of records")
    parser.add_argument("--test-points", type=int, default=400)
    parser.add_argument("--threads", type=int, default=2, help="threads over blocks of records")
    parser.add_argument("--scheduler", help="tcp://host:port of a Dask cluster that runs the passes instead")
    parser.add_argument("--floor", type=int, default=london_sales.N_PUBLISHED, help="records of the dense Cholesky")
    parser.add_argument("--one", action="store_true", help="run the one size in this process and print it as JSON")
    options = parser.parse_args(argv)
    if options.one:
        print(json.dumps(asdict(measure(options.sizes[0], options.test_points, options.threads, options.scheduler))))
        return
    print(machine())
    rows = [measure_apart(n, options.test_points, options.threads, options.scheduler) for n in options.sizes]
    at_floor = measure_apart(options.floor, options.test_points, 1)
    print(report(rows, at_floor, floor_seconds(options.floor)))
