"""Bayes cloaking beside refined cloaking: held-out and in-sample error, coverage, robustness, seconds.

    python -m benchmarks.bayes_tables
    python -m benchmarks.bayes_tables --data kung --epsilons 0.2 1 5 --draws 100

held: error at records that a release did not use (the folds of the comparison page), delta = 0.01, all outputs clipped
to the bounds; mean over draws +- standard error. declared: one kernel with its neighbours and the automatic models.
in-sample: predictions at the records' own inputs, against their outputs.
coverage: share of held-out outputs inside the central 50, 90, 95 and 99 % intervals of "auto".
robust: !Kung age with other settings, other bounds and gross outliers.
seconds: processor time of one plan and of one draw.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # read when numpy is first imported

import numpy as np  # noqa: E402

from datasets import load  # noqa: E402
from dpgp_core.arrays import FloatArray  # noqa: E402
from dpgp_core.data import Dataset  # noqa: E402
from dpgp_core.evaluation.cross_validation import k_folds  # noqa: E402
from dpgp_core.kernels import EQ, Stationary  # noqa: E402
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking  # noqa: E402
from dpgp_core.mechanisms.refined_cloaking import RefinedCloaking  # noqa: E402

DELTA, FOLDS, FOLD_SEED, SEED = 0.01, 5, 0, 1
LEVELS = (0.5, 0.9, 0.95, 0.99)
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
ROBUST_EPSILONS = (0.2, 1.0, 5.0)
NOISE = 0.3


@dataclass(frozen=True)
class Table:
    """A data set, the model that pages declare for it, and their clip bound of refined cloaking over the noise."""

    load: Callable[[], Dataset]
    kernel: Stationary
    digits: int
    clip: float = 1.5


TABLES = {
    "kung": Table(lambda: load("kung"), EQ(lengthscale=25.0), 2),
    "kung_2d": Table(lambda: load("kung", dims=2), EQ(lengthscale=[25.0, 15.0]), 2),
    "london_hexes": Table(lambda: load("london_hexes"), EQ(lengthscale=[15.0, 15.0]), 3, 0.375 / NOISE**0.5),
}


@dataclass(frozen=True)
class Result:
    """Residuals of all folds (draws, N), share inside each interval (levels,), processor seconds."""

    residuals: FloatArray
    inside: FloatArray
    plan_seconds: float
    draw_seconds: float

    def error(self) -> tuple[float, float]:
        """Root mean squared error and its standard error over draws."""
        errors = np.sqrt((self.residuals**2).mean(axis=1))
        return float(errors.mean()), float(errors.std() / np.sqrt(len(errors)))


def held_out(mechanism: BayesCloaking | RefinedCloaking, dataset: Dataset, draws: int) -> Result:
    """Residuals at every record from releases that did not use it."""
    parts = []
    for index, test in enumerate(k_folds(dataset.n, FOLDS, np.random.default_rng(FOLD_SEED))):
        train = dataset.subset(np.delete(np.arange(dataset.n), test))
        parts.append(_one(mechanism, train, dataset.X[test], dataset.clipped_y[test], draws, [SEED, index]))
    return Result(
        np.concatenate([part.residuals for part in parts], axis=1),
        np.mean([part.inside for part in parts], axis=0),
        float(np.mean([part.plan_seconds for part in parts])),
        float(np.mean([part.draw_seconds for part in parts])),
    )


def in_sample(mechanism: BayesCloaking | RefinedCloaking, dataset: Dataset, draws: int) -> Result:
    """Residuals at the records' own inputs."""
    return _one(mechanism, dataset, dataset.X, dataset.clipped_y, draws, [SEED])


def _one(
    mechanism: BayesCloaking | RefinedCloaking,
    train: Dataset,
    X_test: FloatArray,
    truth: FloatArray,
    draws: int,
    seed: Sequence[int],
) -> Result:
    rng, started = np.random.default_rng(seed), time.process_time()
    if isinstance(mechanism, RefinedCloaking):
        samples = mechanism.release(train, X_test, rng, draws).samples
        return Result(samples - truth, np.full(len(LEVELS), np.nan), time.process_time() - started, np.nan)
    plan = mechanism.plan(train.X, X_test, x_box=train.x_box, half_range=train.d / train.y_scale / 2)
    planned = time.process_time()
    release = mechanism.measure(plan, train, X_test, rng, draws)
    finished = time.process_time()
    ends = [release.interval(level) for level in LEVELS]
    inside = np.array([((low <= truth) & (truth <= high)).mean() for low, high in ends])
    return Result(release.samples - truth, inside, planned - started, (finished - planned) / draws)


def contenders(table: Table, epsilon: float) -> dict[str, BayesCloaking | RefinedCloaking]:
    """What is compared."""
    common = {"epsilon": epsilon, "delta": DELTA}
    return {
        "refined": RefinedCloaking(
            **common, kernel=table.kernel, noise_variance=NOISE, clip=table.clip, within_bounds=True
        ),
        "Bayes, declared": BayesCloaking(**common, kernels=[table.kernel], noise_variances=[NOISE]),
        "Bayes, auto": BayesCloaking(**common),
    }


def row(label: str, results: Sequence[Result], digits: int) -> None:
    """Print errors +- standard errors."""
    cells = [f"{mean:.{digits}f} +- {error:.{digits}f}" for mean, error in (result.error() for result in results)]
    print(f"  {label:<34}" + "".join(f"{cell:>18}" for cell in cells), flush=True)


def error_tables(names: Sequence[str], epsilons: Sequence[float], draws: int, tables: Sequence[str]) -> None:
    """Print error, coverage and seconds of every contender on every data set."""
    for name in names:
        table, dataset = TABLES[name], TABLES[name].load()
        for title, evaluate in (("held", held_out), ("in-sample", in_sample)):
            if title not in tables:
                continue
            print(f"\n{title}: {name} [{dataset.y_unit}], n = {dataset.n}, epsilon " + ", ".join(map(str, epsilons)))
            for label in contenders(table, 1.0):
                results = [evaluate(contenders(table, epsilon)[label], dataset, draws) for epsilon in epsilons]
                row(label, results, table.digits)
                if label != "refined" and title == "held":
                    print(f"  {'':<34}" + "".join(f"{_shares(result):>18}" for result in results), flush=True)
                    print(f"  {'':<34}" + "".join(f"{_seconds(result):>18}" for result in results), flush=True)


def _shares(result: Result) -> str:
    return "/".join(f"{share:.2f}".lstrip("0") for share in result.inside)


def _seconds(result: Result) -> str:
    return f"{result.plan_seconds:.1f} s, {1e3 * result.draw_seconds:.0f} ms"


def robust_table(draws: int) -> None:
    """Print held-out errors on !Kung age with other settings, bounds, outliers."""
    print("\nrobust: !Kung age [cm], held out, epsilon " + ", ".join(map(str, ROBUST_EPSILONS)))
    dataset, base = load("kung"), BayesCloaking(epsilon=1.0, delta=DELTA)
    rng = np.random.default_rng(SEED)
    outliers = dataset.y.copy()
    outliers[rng.choice(dataset.n, round(0.03 * dataset.n), replace=False)] = dataset.y_bounds[1]
    cases: dict[str, tuple[BayesCloaking, Dataset]] = {
        "auto": (base, dataset),
        **{f"{stages} stages": (replace(base, stages=stages), dataset) for stages in (1, 3, 7)},
        **{f"clip {clip}": (replace(base, clip=clip), dataset) for clip in (0.5, 1.0, 1.5)},
        "declared l = 60": (replace(base, kernels=[EQ(lengthscale=60.0)], noise_variances=[NOISE]), dataset),
        "bounds 0 to 250 cm": (base, replace(dataset, y_bounds=(0.0, 250.0))),
        "bounds 0 to 1000 cm": (base, replace(dataset, y_bounds=(0.0, 1000.0))),
        "3 % at the upper bound, error to them too": (base, replace(dataset, y=outliers)),
    }
    for label, (mechanism, data) in cases.items():
        row(label, [held_out(replace(mechanism, epsilon=e), data, draws) for e in ROBUST_EPSILONS], 2)


def main(argv: Sequence[str] | None = None) -> None:
    """Parse the options and print the tables."""
    names = ("held", "in-sample", "robust")
    parser = argparse.ArgumentParser(description="Tables of Bayes cloaking.")
    parser.add_argument("--tables", nargs="+", choices=names, default=["held", "in-sample"])
    parser.add_argument("--data", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--epsilons", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--draws", type=int, default=10)
    options = parser.parse_args(argv)
    print(f"delta {DELTA:g}, {options.draws} draws; Python {platform.python_version()}, numpy {np.__version__}")
    error_tables(options.data, options.epsilons, options.draws, options.tables)
    if "robust" in options.tables:
        robust_table(options.draws)


if __name__ == "__main__":
    main()
