"""Bayes cloaking beside refined cloaking: held-out and in-sample error, coverage, robustness, seconds.

    python -m benchmarks bayes_tables
    python -m benchmarks bayes_tables --data kung --epsilons 0.2 1 5 --draws 100

held: error at records that a release did not use (the folds of the comparison page), delta = 0.01, all outputs clipped
to the bounds; mean over draws +- standard error. declared: one kernel with its neighbours and the automatic models.
in-sample: predictions at the records' own inputs, against their outputs.
coverage: share of held-out outputs inside the central 50, 90, 95 and 99 % intervals of "auto".
robust: !Kung age with other settings, wrong lengthscales, rough kernels, other bounds and gross outliers; refined
    cloaking beside it where its model, bounds or data change too.
seconds: processor time of one plan and of one draw.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.shared.judged import LEVELS, error_of, inside, shares, splits
from benchmarks.shared.options import options_of
from benchmarks.shared.timing import machine
from datasets import load
from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.evaluation.errors import interval_score
from dpgp_core.kernels import EQ, Matern12, Matern32, Matern52, Stationary
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from dpgp_core.mechanisms.refined_cloaking import RefinedCloaking

DELTA, SEED = 0.01, 1
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
ROBUST_EPSILONS = (0.2, 1.0, 5.0)
NOISE = 0.3
ROBUST_KERNELS = (  # the pages declare EQ with 25 years
    EQ(lengthscale=6.0),
    EQ(lengthscale=60.0),
    Matern12(lengthscale=25.0),
    Matern32(lengthscale=25.0),
    Matern52(lengthscale=25.0),
)


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
    """Residuals of all folds (draws, N), share inside each interval (levels,), score and width at 95 %, seconds."""

    residuals: FloatArray
    inside: FloatArray
    score: float
    width: float
    plan_seconds: float
    draw_seconds: float


def parts_of(dataset: Dataset, held: bool) -> list[tuple[Dataset, FloatArray, FloatArray]]:
    """Records to train on, test inputs and their outputs: of every public fold, or all records both times."""
    return splits(dataset) if held else [(dataset, dataset.X, dataset.clipped_y)]


def bayes(mechanism: BayesCloaking, dataset: Dataset, draws: int, held: bool = True) -> Result:
    """Residuals, coverage and seconds of Bayes cloaking."""
    parts = []
    for index, (train, X_test, truth) in enumerate(parts_of(dataset, held)):
        started = time.process_time()
        plan = mechanism.plan_for(train, X_test)
        planned = time.process_time()
        release = mechanism.measure(plan, train, X_test, np.random.default_rng([SEED, index]), draws)
        finished = time.process_time()
        low, high = release.interval(0.95)
        scored = float(interval_score(low, high, truth, 0.95).mean()), float((high - low).mean())
        seconds = planned - started, (finished - planned) / draws
        parts.append((release.samples - truth, np.array(inside(release, truth)), *scored, *seconds))
    residuals, *means = zip(*parts, strict=True)
    return Result(np.concatenate(residuals, axis=1), *(np.mean(each, axis=0) for each in means))


def refined(
    mechanism: RefinedCloaking, dataset: Dataset, draws: int, held: bool, epsilons: Sequence[float]
) -> list[tuple[float, float]]:
    """Errors of refined cloaking, whose plan serves every budget, and their standard errors."""
    found: list[list[FloatArray]] = [[] for _ in epsilons]
    for index, (train, X_test, truth) in enumerate(parts_of(dataset, held)):
        plan = mechanism.plan(train.X, X_test)
        for residuals, epsilon in zip(found, epsilons, strict=True):
            rng, at_epsilon = np.random.default_rng([SEED, index]), replace(mechanism, epsilon=epsilon)
            residuals.append(at_epsilon.release_planned(plan, train, X_test, rng, draws).samples - truth)
    return [error_of(np.concatenate(residuals, axis=1)) for residuals in found]


def declared(table: Table) -> dict[str, BayesCloaking]:
    """The mixtures that are compared."""
    common = {"epsilon": 1.0, "delta": DELTA}
    return {
        "Bayes, declared": BayesCloaking(**common, kernels=[table.kernel], noise_variances=[NOISE]),
        "Bayes, auto": BayesCloaking(**common),
    }


def row(label: str, errors: Sequence[tuple[float, float]], digits: int) -> None:
    """Print errors +- standard errors."""
    cells = [f"{mean:.{digits}f} +- {error:.{digits}f}" for mean, error in errors]
    print(f"  {label:<34}" + "".join(f"{cell:>18}" for cell in cells), flush=True)


def error_tables(names: Sequence[str], epsilons: Sequence[float], draws: int, tables: Sequence[str]) -> None:
    """Print error, coverage and seconds of every contender on every data set."""
    for name in names:
        table, dataset = TABLES[name], TABLES[name].load()
        for title in ("held", "in-sample"):
            if title not in tables:
                continue
            held = title == "held"
            print(f"\n{title}: {name} [{dataset.y_unit}], n = {dataset.n}, epsilon " + ", ".join(map(str, epsilons)))
            today = RefinedCloaking(
                epsilon=1.0, delta=DELTA, kernel=table.kernel, noise_variance=NOISE, clip=table.clip, within_bounds=True
            )
            row("refined", refined(today, dataset, draws, held, epsilons), table.digits)
            for label, mechanism in declared(table).items():
                results = [bayes(replace(mechanism, epsilon=epsilon), dataset, draws, held) for epsilon in epsilons]
                row(label, [error_of(result.residuals) for result in results], table.digits)
                for cell in (lambda result: shares(result.inside), _seconds):
                    print(f"  {'':<34}" + "".join(f"{cell(result):>18}" for result in results), flush=True)


def _seconds(result: Result) -> str:
    return f"{result.plan_seconds:.1f} s, {1e3 * result.draw_seconds:.0f} ms"


def score_table(draws: int) -> None:
    """Print the interval score at 95 %, the share inside, the width and the error on !Kung by age, held out."""
    print("\nscores: !Kung age [cm], held out: score, share inside, width, error")
    dataset, base = load("kung"), BayesCloaking(epsilon=1.0, delta=DELTA)
    cases = {f"epsilon {epsilon:g}": replace(base, epsilon=epsilon) for epsilon in (0.5, 1.0, 5.0, 100.0)}
    cases["epsilon 1, delta 1e-5"] = replace(base, delta=1e-5)
    cases["epsilon 1, inputs too"] = replace(base, protects="inputs and outputs")
    for label, mechanism in cases.items():
        found = bayes(mechanism, dataset, draws)
        held, (error, _) = found.inside[LEVELS.index(0.95)], error_of(found.residuals)
        print(f"  {label:<26}{found.score:6.1f}  {held:.3f} {found.width:6.1f} {error:7.2f}", flush=True)


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
        **{f"declared {kernel_name(kernel)}": (declaring(base, kernel), dataset) for kernel in ROBUST_KERNELS},
        "bounds 0 to 250 cm": (base, replace(dataset, y_bounds=(0.0, 250.0))),
        "bounds 0 to 1000 cm": (base, replace(dataset, y_bounds=(0.0, 1000.0))),
        "3 % at the upper bound, error to them too": (base, replace(dataset, y=outliers)),
    }
    for label, (mechanism, data) in cases.items():
        results = [bayes(replace(mechanism, epsilon=epsilon), data, draws) for epsilon in ROBUST_EPSILONS]
        row(label, [error_of(result.residuals) for result in results], 2)
        if mechanism is base or mechanism.kernels:
            kernel = TABLES["kung"].kernel if mechanism.kernels is None else mechanism.kernels[0]
            rival = RefinedCloaking(
                epsilon=1.0, delta=DELTA, kernel=kernel, noise_variance=NOISE, clip=1.5, within_bounds=True
            )
            row("  refined", refined(rival, data, draws, True, ROBUST_EPSILONS), 2)


def declaring(mechanism: BayesCloaking, kernel: Stationary) -> BayesCloaking:
    """The mechanism with a declared model."""
    return replace(mechanism, kernels=[kernel], noise_variances=[NOISE])


def kernel_name(kernel: Stationary) -> str:
    """Kind and lengthscale in years."""
    return f"{type(kernel).__name__}, {kernel.lengthscale:g} years"


def main(argv: Sequence[str] | None = None) -> None:
    """Parse the options and print the tables."""
    names = ("held", "in-sample", "robust", "scores")
    parser = options_of(__doc__)
    parser.add_argument("--tables", nargs="+", choices=names, default=["held", "in-sample"])
    parser.add_argument("--data", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--epsilons", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--draws", type=int, default=10)
    options = parser.parse_args(argv)
    print(machine())
    print(f"delta {DELTA:g}, {options.draws} draws")
    error_tables(options.data, options.epsilons, options.draws, options.tables)
    if "robust" in options.tables:
        robust_table(options.draws)
    if "scores" in options.tables:
        score_table(options.draws)
