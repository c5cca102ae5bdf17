"""What exactness costs: a real release's measurement and noise against the same numbers in floating point.

    python -m benchmarks measurement_cost                       # about a minute on one core
    python -m benchmarks measurement_cost --directions 5 --records 287 10000

A strategy B (r, n) with columns of length at most 1 measures n outputs. Exact: outputs and B to integers, column norms
checked, the product in integers, discrete Gaussian noise from the operating system. Float: B q + s w from a Generator,
which is not private to the last bit. Strategies of more than 5 10^7 numbers are products of rank 100, as plans of very
many records are. Seconds are the processor's, the least of a few runs of both in turn. The last columns: by how much
more the discrete noise varies than s w, and how far the integers' sums lie from B q, over s.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.shared.options import options_of
from benchmarks.shared.table import show
from benchmarks.shared.timing import machine, processor_seconds
from dpgp_core.arrays import FloatArray
from dpgp_core.linalg import FactoredMatrix, Matrix
from dpgp_core.measurement.integers import exact_sums
from dpgp_core.measurement.measurement import STEPS
from dpgp_core.measurement.noise import GaussianNoise

DIRECTIONS, RECORDS = (5, 50, 500), (287, 10_000, 1_000_000)
MULTIPLIER = 1.8779  # epsilon 1, delta 0.01
LARGEST, RANK = 5 * 10**7, 100


def strategy(r: int, n: int, rng: np.random.Generator) -> Matrix:
    """B (r, n) of columns of length 1/2 to 1; a product of rank ``RANK`` if it is large."""
    large = r * n > LARGEST
    rows = rng.standard_normal((n, min(r, RANK) if large else r))
    rows *= (rng.uniform(0.5, 1, n) / np.sqrt(np.einsum("ij,ij->i", rows, rows)))[:, None]
    if not large:
        return np.ascontiguousarray(rows.T)
    left = np.linalg.qr(rng.standard_normal((r, rows.shape[1])))[0]  # keeps lengths
    return FactoredMatrix(left, rows)


def cost(r: int, n: int) -> dict[str, object]:
    """Both ways on the same strategy and outputs."""
    rng = np.random.default_rng([r, n])
    B, y = strategy(r, n, rng), rng.uniform(-2, 2, n)
    noise = GaussianNoise(sensitivity=STEPS, noise_multiplier=MULTIPLIER)
    low, high = np.full(n, -1.0), np.full(n, 1.0)
    sums: list[int] = []

    def exactly() -> None:
        sums[:] = exact_sums(B, np.ones(n), y, low, high)
        _ = [(x + e) / STEPS for x, e in zip(sums, noise.draw(r), strict=True)]

    def in_floats() -> FloatArray:
        return np.asarray(B @ (np.clip(y, low, high) / 2)) + MULTIPLIER * rng.standard_normal(r)

    works = exactly, in_floats, lambda: noise.draw(r)
    repeats = 5 if r * n < 10**7 else 2
    exact, floating, drawing = np.min([[processor_seconds(work) for work in works] for _ in range(repeats)], axis=0)
    apart = np.array([x / STEPS for x in sums]) - np.asarray(B @ (np.clip(y, low, high) / 2))
    return {
        "r": r,
        "n": f"{n:,}",
        "exact [s]": f"{exact:.2g}",
        "float [s]": f"{floating:.2g}",
        "ratio": f"{exact / floating:.3g}",
        "of it noise [s]": f"{drawing:.2g}",
        "more noise": f"{noise.sd / (MULTIPLIER * STEPS) - 1:.0e}",
        "rounding / s": f"{np.abs(apart).max() / MULTIPLIER:.0e}",
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    given = options_of(__doc__, argv, directions=DIRECTIONS, records=RECORDS)
    print(machine())
    show(cost(r, n) for n in given.records for r in given.directions)
