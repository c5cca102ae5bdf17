"""Bayes cloaking beside refined cloaking: held-out and in-sample error, coverage, robustness, seconds.

    python -m benchmarks bayes_tables
    python -m benchmarks bayes_tables --tables held --data kung --mechanisms auto --epsilons 0.2 1 5 --draws 20

held: error at records that a release did not use (the folds of the comparison page), delta = 0.01, all outputs clipped
to the bounds; mean over draws +- standard error. "refined" is refined cloaking; "declared" and "auto" are Bayes
cloaking with one declared kernel, its neighbours and the automatic models, and with the automatic models alone.
in-sample: predictions at the records' own inputs, against their outputs.
coverage: share of held-out outputs inside the central 50, 90, 95 and 99 % intervals of "auto".
robust: !Kung age with other settings, wrong lengthscales, rough kernels, other bounds and gross outliers; refined
    cloaking beside it where its model, bounds or data change too.
seconds: processor time of one plan and of one draw.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from benchmarks.shared.judged import LEVELS, SEED, Judged, Part, judge, shares, splits
from benchmarks.shared.options import options_of
from benchmarks.shared.table import show
from benchmarks.shared.timing import machine
from datasets import load
from dpgp_core.kernels import EQ, Matern12, Matern32, Matern52, Stationary
from dpgp_core.mechanisms.base import Mechanism
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from dpgp_core.mechanisms.cloaking import RefinedCloaking
from dpgp_core.table import Dataset

DELTA = 0.01
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
ROBUST_EPSILONS = (0.2, 1.0, 5.0)
NOISE = 0.3
CONTENDERS = ("refined", "declared", "auto")
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


def rival(kernel: Stationary, clip: float = 1.5) -> RefinedCloaking:
    """Refined cloaking with a declared model."""
    return RefinedCloaking(epsilon=1.0, delta=DELTA, kernel=kernel, noise_variance=NOISE, clip=clip)


def contenders(table: Table) -> dict[str, Mechanism]:
    """What is compared, by its name in ``CONTENDERS``."""
    auto = BayesCloaking(epsilon=1.0, delta=DELTA)
    return dict(zip(CONTENDERS, (rival(table.kernel, table.clip), declaring(auto, table.kernel), auto), strict=True))


Cell = Callable[[Judged], str]


def error(digits: int) -> Cell:
    """Error +- standard error."""
    return lambda found: "{0:.{2}f} +- {1:.{2}f}".format(*found.error, digits)


def row(
    label: str, mechanism: Mechanism, parts: Sequence[Part], epsilons: Sequence[float], draws: int, **cells: Cell
) -> Iterator[dict[str, object]]:
    """One line for each way to judge a mechanism, with a cell for each epsilon."""
    found = {epsilon: judge(replace(mechanism, epsilon=epsilon), parts, draws) for epsilon in epsilons}
    for what, cell in cells.items():
        yield {"": label, "shown": what} | {f"ε = {epsilon:g}": cell(each) for epsilon, each in found.items()}


def error_table(name: str, held: bool, given: Namespace) -> Iterator[dict[str, object]]:
    """Error of the mechanisms asked for on a data set; coverage and seconds of Bayes cloaking."""
    table, dataset = TABLES[name], TABLES[name].load()
    parts = splits(dataset) if held else [(dataset, dataset.X, dataset.clipped_y)]
    more: dict[str, Cell] = {
        "inside": lambda found: shares(found.inside),
        "seconds": lambda found: f"{found.plan_seconds:.1f} s, {1e3 * found.draw_seconds:.0f} ms",
    }
    found = contenders(table)
    for label in given.mechanisms:
        cells = {"error": error(table.digits)} | (more if isinstance(found[label], BayesCloaking) else {})
        yield from row(label, found[label], parts, given.epsilons, given.draws, **cells)


def score_table(draws: int) -> Iterator[dict[str, object]]:
    """The interval score at 95 %, the share inside, the width and the error on !Kung by age, held out."""
    dataset, base = load("kung"), BayesCloaking(epsilon=1.0, delta=DELTA)
    cases = {f"epsilon {epsilon:g}": replace(base, epsilon=epsilon) for epsilon in (0.5, 1.0, 5.0, 100.0)}
    cases["epsilon 1, delta 1e-5"] = replace(base, delta=1e-5)
    cases["epsilon 1, inputs too"] = replace(base, protects="inputs and outputs")
    for label, mechanism in cases.items():
        found = judge(mechanism, splits(dataset), draws)
        held = f"{found.inside[LEVELS.index(0.95)]:.3f}"
        widths = {"score": f"{found.score:.1f}", "inside": held, "width": f"{found.width:.1f}"}
        yield {"": label} | widths | {"error": f"{found.error[0]:.2f}"}


def robust_table(draws: int) -> Iterator[dict[str, object]]:
    """Held-out errors on !Kung age with other settings, bounds, outliers."""
    dataset, base = load("kung"), BayesCloaking(epsilon=1.0, delta=DELTA)
    rng = np.random.default_rng(SEED)
    outliers = dataset.y.copy()
    outliers[rng.choice(dataset.n, round(0.03 * dataset.n), replace=False)] = dataset.y_bounds[1]
    cases: dict[str, tuple[BayesCloaking, Dataset]] = {
        "auto": (base, dataset),
        **{f"{stages} stages": (replace(base, stages=stages), dataset) for stages in (1, 3, 7)},
        **{f"clip {clip}": (replace(base, clip=clip), dataset) for clip in (0.5, 1.0, 1.5)},
        **{f"declared {kernel_name(kernel)}": (declaring(base, kernel), dataset) for kernel in ROBUST_KERNELS},
        "bounds 0 to 250 cm": (base, _within(dataset, (0.0, 250.0))),
        "bounds 0 to 1000 cm": (base, _within(dataset, (0.0, 1000.0))),
        "3 % at the upper bound, error to them too": (base, replace(dataset, y=outliers)),
    }
    for label, (mechanism, data) in cases.items():
        beside = {label: mechanism}
        if mechanism is base or mechanism.kernels:
            beside["refined"] = rival(TABLES["kung"].kernel if mechanism.kernels is None else mechanism.kernels[0])
        for name, each in beside.items():
            yield from row(name, each, splits(data), ROBUST_EPSILONS, draws, error=error(2))


def _within(dataset: Dataset, bounds: tuple[float, float]) -> Dataset:
    """The same records with other bounds."""
    return replace(dataset, outcome=replace(dataset.outcome, bounds=bounds))


def declaring(mechanism: BayesCloaking, kernel: Stationary) -> BayesCloaking:
    """The mechanism with a declared model."""
    return replace(mechanism, kernels=[kernel], noise_variances=[NOISE])


def kernel_name(kernel: Stationary) -> str:
    """Kind and lengthscale in years."""
    return f"{type(kernel).__name__}, {kernel.lengthscale:g} years"


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables."""
    names = {"tables": ["held", "in-sample", "robust", "scores"], "data": list(TABLES), "mechanisms": list(CONTENDERS)}
    given = options_of(__doc__, argv, names, tables=["held", "in-sample"], epsilons=list(EPSILONS), draws=10)
    print(machine())
    print(f"delta {DELTA:g}, {given.draws} draws")
    for name, title in product(given.data, ("held", "in-sample")):
        if title in given.tables:
            dataset = TABLES[name].load()
            print(f"\n{title}: {name} [{dataset.y_unit}], n = {dataset.n}")
            show(error_table(name, title == "held", given))
    if "robust" in given.tables:
        print("\nrobust: !Kung age [cm], held out")
        show(robust_table(given.draws))
    if "scores" in given.tables:
        print("\nscores: !Kung age [cm], held out")
        show(score_table(given.draws))
