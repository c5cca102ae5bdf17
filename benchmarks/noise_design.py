"""Time and quality of the cloaking noise: this project's solver against the published gradient descent.

    python -m benchmarks noise_design            # a few seconds
    python -m benchmarks noise_design --steps 100 --starts 3

Problem: !Kung heights (n = 287), P = 200 test ages -50 ... 150, EQ kernel of 25 years, noise
variance 0.3 of the kernel's. Everything is per unit change of one output, in units of the kernel's
standard deviation, and single-threaded.

"Algorithm 2" is findLambdas of Smith et al. 2018, supplement, written from the paper: lambda starts
Uniform(0.1, 0.9); repeat lambda <- lambda - 0.05 (1 - Tr M^+ c_j c_j^T) for every j, with
M = sum_j lambda_j c_j c_j^T, until no lambda changes by more than 1e-5. Three liberties, all in its
favour. The loop over j is one matrix product, and M^+ uses that M is symmetric: neither changes an
iterate beyond rounding. Negative lambdas are set to 0 after each step, as the paper's text requires
(lambda >= 0) though its listing does not; "as printed" is the listing without that, whose lambdas run
off to minus infinity. "literal loop" is the same step with the paper's loop over j and its trace of a
product: `--literal-steps 1000` runs it to the end (a minute or two), fewer are timed and multiplied out.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from statistics import median

import numpy as np

from benchmarks.shared.options import options_of
from benchmarks.shared.table import show
from benchmarks.shared.timing import machine, timed
from datasets import kung
from dpgp_core.arrays import FloatArray
from dpgp_core.gp.regression import cloaking_matrix
from dpgp_core.kernels import EQ
from dpgp_core.strategies.noise_design import NoiseDesign, ObjectiveName, design_noise

LEARNING_RATE = 0.05
STOP = 1e-5
REPEATS = 30  # of our solver, for the median


def pseudo_inverse(M: FloatArray) -> tuple[FloatArray, int]:
    """M^+ of symmetric M (P, P) and the rank it keeps, with numpy's classic cut-off 1e-15."""
    values, vectors = np.linalg.eigh(M)
    kept = np.abs(values) > 1e-15 * np.abs(values).max()
    V = vectors[:, kept]
    inverse: FloatArray = (V / values[kept]) @ V.T
    return inverse, int(kept.sum())


def gradient(lambdas: FloatArray, C: FloatArray) -> FloatArray:
    """CalcGradient for all j at once: -c_j^T M^+ c_j + 1."""
    inverse, _ = pseudo_inverse((C * lambdas) @ C.T)
    shifts: FloatArray = np.einsum("ij,ij->j", C, inverse @ C)
    return 1 - shifts


def literal_gradient(lambdas: FloatArray, C: FloatArray) -> FloatArray:
    """CalcGradient as printed: a loop over j with -Tr(M^+ c_j c_j^T) + 1."""
    inverse = np.linalg.pinv((C * lambdas) @ C.T, rcond=1e-15)
    return np.array([1 - np.trace(inverse @ np.outer(c, c)) for c in C.T])


def algorithm_2(
    C: FloatArray,
    steps: int,
    rng: np.random.Generator,
    *,
    gradient: Callable[[FloatArray, FloatArray], FloatArray] = gradient,
    smallest: float = 0.0,
) -> tuple[FloatArray, int, bool]:
    """Return findLambdas' weights (n,), the steps it took, and whether it met its own criterion.

    Args:
        C: cloaking matrix (P, n).
        steps: most steps.
        rng: source of the start.
        gradient: one of the two forms above.
        smallest: lower limit of every lambda; minus infinity for the listing as printed.
    """
    lambdas: FloatArray = rng.uniform(0.1, 0.9, (C.shape[1],))
    for step in range(1, steps + 1):
        before = lambdas
        lambdas = np.maximum(before - LEARNING_RATE * gradient(before, C), smallest)
        if np.abs(lambdas - before).max() <= STOP:
            return lambdas, step, True
    return lambdas, steps, False


def rescaled_quality(lambdas: FloatArray, C: FloatArray, space: NoiseDesign) -> tuple[float | None, float | None]:
    """Return (log|M|, tr M / P) of M on the kept space of ``space``, rescaled to a largest shift of exactly 1.

    With U^T C = diag(s) V^T: U^T M U = diag(s) Q diag(s), Q = V^T diag(lambda) V, which is well conditioned.
    """
    B = space.basis.T @ C
    s = np.linalg.norm(B, axis=1)
    V = B / s[:, None]
    Q = (V * lambdas) @ V.T
    if np.linalg.eigvalsh(Q).min() <= 0:
        return None, None  # negative lambdas made it no covariance
    D2 = np.einsum("ij,ij->j", V, np.linalg.solve(Q, V)).max()
    logdet = np.linalg.slogdet(Q)[1] + 2 * np.log(s).sum() + len(s) * np.log(D2)
    return float(logdet), float(D2 * (s**2 @ np.diag(Q)) / len(C))


def row(
    method: str,
    seconds: float,
    unit: float,
    objective: str = "logdet",
    rank: int | str = "-",
    gap: float | None = None,
    quality: tuple[float | None, float | None] = (None, None),
) -> dict[str, object]:
    """One line; times are compared with ``unit``, those of our log-det solver: the same problem. None is a dash."""

    def number(value: float | None, form: str) -> str:
        return "-" if value is None else format(value, form)

    return {
        "method": method,
        "objective": objective,
        "seconds": format(seconds, ".4f" if seconds < 1 else ".1f"),
        "rank": rank,
        "gap": number(gap, ".1e"),
        "log det M": number(quality[0], ".3f"),
        "mean sq. noise": number(quality[1], ".5f"),
        "time / ours": format(seconds / unit, ",.0f" if seconds > 3 * unit else ".1f"),
    }


def our_seconds(C: FloatArray, objective: ObjectiveName) -> float:
    """Of ``design_noise`` with its defaults, median of ``REPEATS`` runs."""
    return median(timed(lambda: design_noise(C, objective)) for _ in range(REPEATS))


def our_row(C: FloatArray, objective: ObjectiveName, unit: float) -> dict[str, object]:
    """Our solver."""
    seconds, design = our_seconds(C, objective), design_noise(C, objective)
    quality = float(2 * np.linalg.slogdet(design.root)[1]), float(design.variance().mean())
    return row("ours, gap 1e-3", seconds, unit, objective, design.rank, design.gap, quality)


def published_row(
    C: FloatArray, unit: float, space: NoiseDesign, steps: int, seed: int, smallest: float = 0.0
) -> dict[str, object]:
    """Run Algorithm 2 once."""
    started = time.perf_counter()
    lambdas, used, converged = algorithm_2(C, steps, np.random.default_rng(seed), smallest=smallest)
    seconds = time.perf_counter() - started
    inverse, rank = pseudo_inverse((C * lambdas) @ C.T)
    method = "Algorithm 2" if smallest == 0 else "Algorithm 2 as printed"
    method += f", seed {seed}, {used} steps" + ("" if converged else ", not converged")
    gap = float(np.einsum("ij,ij->j", C, inverse @ C).max() - 1)
    return row(method, seconds, unit, rank=rank, gap=gap, quality=rescaled_quality(lambdas, C, space))


def literal_row(C: FloatArray, unit: float, steps: int, literal_steps: int, seed: int) -> dict[str, object]:
    """Time a few literal steps and multiply out; no result, only a time."""
    few = min(literal_steps, steps)
    seconds = timed(lambda: algorithm_2(C, few, np.random.default_rng(seed), gradient=literal_gradient)) / few
    more = f", extrapolated from {few} to {steps} steps" if few < steps else ""
    return row(f"Algorithm 2, literal loop{more}", seconds * steps, unit)


def rows(C: FloatArray, given: Namespace) -> Iterator[dict[str, object]]:
    """One a method."""
    design, unit = design_noise(C, "logdet"), our_seconds(C, "logdet")
    for objective in ("logdet", "trace"):
        yield our_row(C, objective, unit)
    for seed in range(given.seed, given.seed + given.starts):
        yield published_row(C, unit, design, given.steps, seed)
    yield published_row(C, unit, design, given.steps, given.seed, smallest=-np.inf)
    yield literal_row(C, unit, given.steps, given.literal_steps, given.seed)


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    given = options_of(__doc__, argv, steps=1000, seed=0, starts=1, literal_steps=3)
    X, ages = kung.load().X, np.linspace(-50, 150, 200)[:, None]

    def matrix() -> FloatArray:
        return cloaking_matrix(EQ(lengthscale=25.0), X, ages, 0.3)

    C = matrix()
    print(machine())
    milliseconds = 1e3 * median(timed(matrix) for _ in range(REPEATS))
    print(f"cloaking matrix C {C.shape}: {milliseconds:.1f} ms, not counted below")
    show(rows(C, given))
    print(
        "log det M and mean squared noise: after exact rescaling, on the dimensions that ours keeps. "
        "gap: ours certified, Algorithm 2 max c^T M^+ c - 1. "
        "A dash: negative lambdas, so M is no covariance."
    )
