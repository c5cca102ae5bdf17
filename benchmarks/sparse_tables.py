"""Sparse DP-GP: error of f, calibration, and seconds of a fit.

    python -m benchmarks sparse_tables
    python -m benchmarks sparse_tables --tables error --repeats 10

error: f(x) = sin(2x) / (2x) on [-4, 4], n = 1024, 9 inducing inputs on [-3, 3], EQ l = 1, sigma = 0.1, R_y = 1.2,
delta = 1e-4; root mean squared error of f at the training inputs, mean over repeats, and those of docs/targets.md.
calibration: f drawn from the GP, 512 training and 512 test points, 15 inducing inputs on [-3.5, 3.5], R_y = 3: share
of noisy test outputs, and of f itself, inside the central intervals.
speed: one fit, best of three; the data are generated in blocks as they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import ndtri

from benchmarks.shared.options import options_of
from benchmarks.shared.simulated import simulated
from benchmarks.shared.timing import machine, quickest
from datasets import load
from dpgp_core.arrays import FloatArray
from dpgp_core.evaluation.errors import rmse
from dpgp_core.gp.inducing import BLOCK, sum_statistics
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import SparseVariational
from dpgp_core.sparse.statistics import add_noise
from dpgp_core.table import Dataset, declared_columns

DELTA = 1e-4
LEVELS = (0.5, 0.9, 0.95, 0.99)
ERROR_EPSILONS = (1.0, 2.0, 5.0, 10.0)
GOLDEN_ERROR = {"paper": (0.169, 0.124, 0.083, 0.053), "whitened": (0.087, 0.059, 0.036, 0.027)}
GOLDEN_COVERAGE = {"paper": (0.12, 0.30, 0.36, 0.47), "whitened": (0.54, 0.93, 0.97, 1.0)}


def wave(x: FloatArray) -> FloatArray:
    """The paper's function sin(2x) / (2x), any shape."""
    return np.sinc(2 * x / np.pi)


def noisy(x: FloatArray, f: FloatArray, sigma: float, R_y: float, rng: np.random.Generator) -> Dataset:
    """Noisy observations of f (n,) at x (n,) as a data set with public bounds +-R_y and box [-4, 4]."""
    return simulated(x[:, None], f + sigma * rng.standard_normal(len(x)), (-R_y, R_y), ((-4.0, 4.0),))


def noisy_wave(n: int, seed: int) -> Dataset:
    """N points of the paper's function with noise 0.1."""
    rng = np.random.default_rng([seed, 0])
    x = rng.uniform(-4, 4, n)
    return noisy(x, wave(x), 0.1, 1.2, rng)


def inducing(m: int, reach: float) -> list[list[float]]:
    """M inducing inputs on a regular grid over +-reach."""
    return [[float(z)] for z in np.linspace(-reach, reach, m)]


def model(epsilon: float, **changes: object) -> SparseVariational:
    """The mechanism of the first experiment, with changes."""
    base = SparseVariational(
        epsilon=epsilon, delta=DELTA, kernel=EQ(), noise_variance=0.01, Z=inducing(9, 3.0), variant="whitened"
    )
    return replace(base, **changes)


def error_of(mechanism: SparseVariational, seed: int) -> float:
    """RMSE of f at the training inputs in one repeat."""
    data = noisy_wave(1024, seed)
    return float(rmse(mechanism.fit(data, np.random.default_rng([seed, 1])).predict(data.X)[0], wave(data.X[:, 0])))


def row(label: str, values: Sequence[float] | FloatArray, digits: int = 3) -> None:
    """Print one row of a table."""
    print(f"  {label:<34}" + "".join(f"{value:>9.{digits}f}" for value in values))


def error_table(repeats: int) -> None:
    """Print RMSE of f against epsilon, both variants."""
    print(f"\nerror: RMSE of f, mean of {repeats} repeats")
    row("epsilon", ERROR_EPSILONS, 0)
    options: dict[str, dict[str, object]] = {
        "whitened": {},
        "paper": {"variant": "paper"},
    }
    for label, changes in options.items():
        errors = [[error_of(model(e, **changes), seed) for seed in range(repeats)] for e in ERROR_EPSILONS]
        row(label, np.mean(errors, axis=1))
        row("  standard error", np.std(errors, axis=1) / np.sqrt(repeats), 4)
        if label in GOLDEN_ERROR:
            row("  given", GOLDEN_ERROR[label])


def drawn_from_prior(seed: int, sigma: float) -> tuple[Dataset, Dataset, FloatArray]:
    """512 training and 512 test points of a function drawn from the GP, and f at the test points."""
    rng = np.random.default_rng([seed, 2])
    x = rng.uniform(-4, 4, 1024)
    covariance = EQ()(x[:, None], x[:, None]) + 1e-8 * np.eye(1024)
    f = np.linalg.cholesky(covariance) @ rng.standard_normal(1024)
    data = noisy(x, f, sigma, 3.0, rng)
    return data.subset(np.arange(512)), data.subset(np.arange(512, 1024)), f[512:]


def inside(mean: FloatArray, variance: FloatArray, truth: FloatArray) -> list[float]:
    """Share of the truths inside each central interval of ``LEVELS``."""
    return [float(np.mean(np.abs(truth - mean) <= ndtri((1 + a) / 2) * np.sqrt(variance))) for a in LEVELS]


def calibration_table(repeats: int, epsilon: float, sigma: float) -> None:
    """Print coverage of noisy outputs and of f for every way to state the posterior's covariance."""
    print(f"\ncalibration: share inside the central interval, epsilon {epsilon:g}, sigma {sigma:g}, {repeats} repeats")
    row("level", LEVELS, 2)
    drawn = [drawn_from_prior(seed, sigma) for seed in range(repeats)]
    ways: dict[str, dict[str, object]] = {
        "whitened": {},
        "paper": {"variant": "paper", "covariance": "paper"},
        "paper with cross terms": {"variant": "paper"},
        "naive": {"variant": "paper", "covariance": "naive"},
    }
    for label, changes in ways.items():
        outputs, functions = [], []
        for seed, (train, test, f) in enumerate(drawn):
            mechanism = model(epsilon, Z=inducing(15, 3.5), noise_variance=sigma**2, **changes)
            mean, variance = mechanism.fit(train, np.random.default_rng([seed, 3])).predict(test.X)
            outputs.append(inside(mean, variance + sigma**2, test.y))
            functions.append(inside(mean, variance, f))
        row(f"{label}: y", np.mean(outputs, axis=0), 2)
        row(f"{label}: f", np.mean(functions, axis=0), 2)
        if label in GOLDEN_COVERAGE:
            row("  given", GOLDEN_COVERAGE[label], 2)


def streamed(n: int) -> Iterator[tuple[FloatArray, FloatArray]]:
    """N records of a 2-D curve, generated in blocks as they are read."""
    rng = np.random.default_rng(0)
    for start in range(0, n, BLOCK):
        X = rng.uniform(0, 1, (min(BLOCK, n - start), 2))
        yield X, wave(8 * (X[:, 0] - 0.5)) * X[:, 1]


def speed_table(sizes: Sequence[int]) -> None:
    """Print seconds of a fit of the growth data, 9 inducing inputs, and of the streaming pass at larger sizes."""
    growth = load("growth_2d")
    kernel = EQ(lengthscale=[3.0, 15.0])
    mechanism = SparseVariational(epsilon=1.0, delta=DELTA, kernel=kernel, noise_variance=0.05, n_inducing=3)
    seconds = quickest(lambda: mechanism.fit(growth, np.random.default_rng(0)), 3)
    print(f"\nspeed: growth_2d, n = {growth.n}, 9 inducing inputs: one fit {seconds:.4f} s (target 0.02 s)")
    sides = declared_columns(growth.x_names, ((0.0, 1.0), (0.0, 1.0)), units=growth.x_units)
    box = replace(growth, columns=sides, outcome=replace(growth.outcome, bounds=(-1.0, 1.0), scale=1.0))
    unit = replace(mechanism, kernel=EQ(lengthscale=0.3))

    def one_fit(n: int) -> None:
        A, B = sum_statistics(unit.features(box), streamed(n))
        unit.fit_statistics(add_noise(A, B, unit.noise(box), np.random.default_rng(0)), box)

    for n in sizes:
        generated = quickest(lambda n=n: sum(len(y) for _, y in streamed(n)), 3)
        seconds = quickest(partial(one_fit, n), 3)
        print(f"  streaming n = {n:>9,}: {seconds:.3f} s, of which generating the records {generated:.3f} s")


def main(argv: Sequence[str] | None = None) -> None:
    """Parse the options and print the tables."""
    names = ("error", "calibration", "speed")
    sizes = [10_000, 100_000, 1_000_000]
    options = options_of(__doc__, argv, {"tables": names}, repeats=40, sizes=sizes)
    print(machine())
    print(f"delta {DELTA:g}")
    tables: dict[str, Callable[[], None]] = {
        "error": lambda: error_table(options.repeats),
        "calibration": lambda: calibration_table(options.repeats, 1.0, 0.1),
        "speed": lambda: speed_table(options.sizes),
    }
    for name in names:
        if name in options.tables:
            tables[name]()
