"""The attack LiRA against posterior sampling: golden rows, measured and given, and its wall time.

    python -m benchmarks lira                        # a few seconds
    python -m benchmarks lira --seeds 5 --inputs uniform

Given rows: docs/targets.md, made by running the published script with seed 0; the first with its documented
10,000 shadows, the others with 3,000 (replaying the script's random numbers gives their AUC to the digit). Both runs
are random, so "z" divides the difference of the AUCs by the standard error of both together.

The published script needs 129 s for one setting with 10,000 shadows of each hypothesis and L = 3, on another machine;
the time of one dense Cholesky factorisation tells how fast this one is.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from benchmarks.shared.options import options_of
from benchmarks.shared.timing import cholesky_seconds, machine
from dpgp_core.attack.lira import Inputs, Shadows, attack_posterior_sampling
from dpgp_core.attack.roc import Estimate, Roc

PUBLISHED_SECONDS = 129.0
RATES = (0.01, 0.05, 0.1)
REPEATS = 3  # timed runs, for the median


@dataclass(frozen=True, kw_only=True)
class Golden:
    """One given row: the setting, the shadows it was made with, the AUC and the powers at ``RATES``, if given."""

    r: float
    sigma: float
    L: int
    shadows: int
    auc: float
    powers: tuple[float, ...] = ()


GOLDEN = (
    Golden(r=0.1, sigma=0.5, L=3, shadows=10_000, auc=0.958, powers=(0.287, 0.716, 0.880)),
    Golden(r=1.0, sigma=0.5, L=1, shadows=3_000, auc=0.657),
    Golden(r=2.0, sigma=0.5, L=1, shadows=3_000, auc=0.555),
    Golden(r=1.0, sigma=2.0, L=100, shadows=3_000, auc=0.794),
)


def measure(row: Golden, inputs: Inputs, seed: int, count: int) -> tuple[Roc, float]:
    """Run one attack: its curve and the seconds it took."""
    started = time.perf_counter()
    shadows = Shadows(r=row.r, sigma=row.sigma, L=row.L, inputs=inputs)
    roc = attack_posterior_sampling(shadows, np.random.default_rng(seed), count)
    return roc, time.perf_counter() - started


def z_score(measured: Estimate, row: Golden, count: int) -> float:
    """Difference of the AUCs over the standard error of both runs; the given one's is scaled by its shadows."""
    error = (measured.high - measured.low) / (2 * 1.96)
    return (measured.value - row.auc) / (error * math.sqrt(1 + count / row.shadows))


def shown(estimate: Estimate) -> str:
    """Value and 95 % interval."""
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def lines(row: Golden, roc: Roc, seconds: float, seed: int, count: int) -> list[str]:
    """One line for the AUC and one for each power."""
    setting = f"r {row.r:<4g} sigma {row.sigma:<4g} L {row.L:<4d} seed {seed:<3d}"
    auc = roc.auc()
    found = [
        f"{setting} AUC        {shown(auc)}  given {row.auc:.3f}  z {z_score(auc, row, count):+.1f}  {seconds:.2f} s"
    ]
    for i, rate in enumerate(RATES):
        given = f"  given {row.powers[i]:.3f}" if row.powers else ""
        found.append(f"{setting} TPR at {rate:3.0%} {shown(roc.power_at(rate))}{given}")
    return found


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark and print its table."""
    names = {"inputs": ("halves", "uniform")}
    options = options_of(__doc__, argv, names, inputs="halves", shadows=10_000, seed=0, seeds=1, cholesky=2000)

    print(machine())
    print(f"inputs {options.inputs}, {options.shadows} shadows to fit and to test, of each hypothesis; 95 % intervals")
    for row in GOLDEN:
        for seed in range(options.seed, options.seed + options.seeds):
            roc, seconds = measure(row, options.inputs, seed, options.shadows)
            print("\n".join(lines(row, roc, seconds, seed, options.shadows)))
    ours = median(measure(GOLDEN[0], options.inputs, options.seed, options.shadows)[1] for _ in range(REPEATS))
    unit = cholesky_seconds(options.cholesky)
    print(
        f"wall time, {options.shadows} shadows, L = 3: {ours:.2f} s, that is {ours / unit:.1f} times one dense "
        f"Cholesky of size {options.cholesky} on this machine ({unit:.3f} s)"
    )
    ratio = PUBLISHED_SECONDS / ours
    print(f"published script, another machine, 10,000 shadows: {PUBLISHED_SECONDS:.0f} s, {ratio:.0f} times ours")
