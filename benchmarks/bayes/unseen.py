"""Bayes cloaking on tables not looked at while its defaults were chosen, beside refined cloaking and sparse DP-GP.

    python -m benchmarks bayes_unseen
    python -m benchmarks bayes_unseen --tables wine iris --mechanisms bayes bayes_cells --draws 20

Real, public tables of other fields that scikit-learn ships (it has to be installed). Bounds and boxes are round numbers
known of the quantity, not read off the table; every prior that has to be declared has a lengthscale of a quarter of the
box, a noise variance of 0.3 and a scale of a quarter of the bounds. Held-out error over five public folds, outputs and
predictions cut to the bounds, delta = 0.01: mean over draws +- standard error. Shares of held-out outputs inside the
central 50, 90, 95 and 99 % intervals. "best constant" is the mean of the training outputs, without
privacy.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np

from benchmarks.shared.judged import error_of, judge, shares, splits
from benchmarks.shared.options import options_of
from benchmarks.shared.table import show
from dpgp_core.arrays import FloatArray
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import CATALOGUE
from dpgp_core.mechanisms.catalogue import Parameters
from dpgp_core.table import Dataset, Outcome, declared_columns

DELTA, CELLS = 0.01, 6
EPSILONS = (0.2, 1.0, 5.0)
MECHANISMS = ("bayes", "bayes_cells", "refined", "sparse")
Pair = tuple[float, float]


@dataclass(frozen=True)
class Unseen:
    """Columns of a table that scikit-learn ships, with what is declared of them."""

    loader: str
    x: tuple[str, ...]
    x_box: tuple[Pair, ...]
    y: str
    y_bounds: Pair
    options: tuple[tuple[str, Any], ...] = ()


RAW = (("scaled", False),)
TABLES = {
    "diabetes": Unseen("load_diabetes", ("bmi",), ((15.0, 45.0),), "target", (0.0, 400.0), RAW),
    "diabetes_2d": Unseen("load_diabetes", ("bmi", "bp"), ((15.0, 45.0), (50.0, 140.0)), "target", (0.0, 400.0), RAW),
    "tumours": Unseen("load_breast_cancer", ("mean radius",), ((5.0, 30.0),), "mean compactness", (0.0, 0.4)),
    "tumours_2d": Unseen(
        "load_breast_cancer", ("mean radius", "mean texture"), ((5.0, 30.0), (5.0, 40.0)), "mean symmetry", (0.1, 0.3)
    ),
    "wine": Unseen("load_wine", ("alcohol",), ((10.0, 16.0),), "color_intensity", (0.0, 15.0)),
    "iris": Unseen("load_iris", ("petal length (cm)",), ((0.0, 8.0),), "petal width (cm)", (0.0, 3.0)),
}


def load(name: str) -> Dataset:
    """One of ``TABLES``."""
    return declared(name, TABLES[name])


def declared(name: str, what: Unseen) -> Dataset:
    """Columns of a table as a ``Dataset``."""
    bunch = getattr(import_module("sklearn.datasets"), what.loader)(**dict(what.options))
    columns = dict(zip(bunch.feature_names, np.asarray(bunch.data, dtype=float).T, strict=True))
    columns["target"] = np.asarray(bunch.target, dtype=float)
    low, high = what.y_bounds
    return Dataset(
        name=name,
        X=np.stack([columns[each] for each in what.x], axis=1),
        y=columns[what.y],
        columns=declared_columns(what.x, what.x_box),
        outcome=Outcome(name=what.y, bounds=what.y_bounds, scale=(high - low) / 4),
        privacy_unit="one record",
        source="scikit-learn",
        licence="BSD-3-Clause",
        bounds_reason="round numbers known of the quantity",
    )


def held_out(name: str, dataset: Dataset, epsilon: float, draws: int) -> tuple[FloatArray, FloatArray]:
    """Residuals (draws, N) of values cut to the bounds, and shares inside the intervals (levels,)."""
    parameters = Parameters(
        kernel=EQ(lengthscale=[(high - low) / 4 for low, high in dataset.x_box]),
        noise_variance=0.3,
        epsilon=epsilon,
        delta=DELTA,
        x_box=dataset.x_box,
        n=dataset.n,
        cells=CELLS,
    )
    found = judge(CATALOGUE[name].build(parameters), splits(dataset), draws)
    return np.clip(found.samples, *dataset.y_bounds) - found.truth, found.inside


def constant_error(dataset: Dataset) -> float:
    """Held-out error of the training mean. Not private."""
    residuals = [train.clipped_y.mean() - truth for train, _, truth in splits(dataset)]
    return float(np.sqrt((np.concatenate(residuals) ** 2).mean()))


def rows(given: Namespace) -> Iterator[dict[str, object]]:
    """One for each table, mechanism and budget."""
    for table in given.tables:
        dataset = load(table)
        of_table = {"table": table, "n": dataset.n, "best constant": f"{constant_error(dataset):.4g}"}
        for name, epsilon in product(given.mechanisms, given.epsilons):
            residuals, inside = held_out(name, dataset, epsilon, given.draws)
            error = "{:.4g} +- {:.2g}".format(*error_of(residuals))
            yield of_table | {"mechanism": name, "epsilon": epsilon, "error": error, "inside": shares(inside)}


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    names = {"tables": list(TABLES), "mechanisms": list(MECHANISMS)}
    show(rows(options_of(__doc__, argv, names, epsilons=list(EPSILONS), draws=20)))
