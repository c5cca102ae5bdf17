"""Bayes cloaking on tables not looked at while its defaults were chosen, beside refined cloaking and sparse DP-GP.

    python -m benchmarks bayes_unseen
    python -m benchmarks bayes_unseen --tables wine iris --draws 20

Real, public tables of other fields that scikit-learn ships (it has to be installed). Bounds and boxes are round numbers
known of the quantity, not read off the table; every prior that has to be declared has a lengthscale of a quarter of the
box, a noise variance of 0.3 and a scale of a quarter of the bounds. Held-out error over five public folds, outputs and
predictions cut to the bounds, delta = 0.01: mean over draws +- standard error. Shares of held-out outputs inside the
central 50, 90, 95 and 99 % intervals of Bayes cloaking. "best constant" is the mean of the training outputs, without
privacy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.shared.judged import error_of, inside, releasing, shares, splits
from benchmarks.shared.options import options_of
from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import CATALOGUE, BayesCloaking
from dpgp_core.mechanisms.entry import Parameters

DELTA, SEED, CELLS = 0.01, 1, 6
GAP = 0.02  # of what privacy costs, that planning for public inputs leaves: it takes most of the time
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


_RAW = (("scaled", False),)
TABLES = {
    "diabetes": Unseen("load_diabetes", ("bmi",), ((15.0, 45.0),), "target", (0.0, 400.0), _RAW),
    "diabetes_2d": Unseen("load_diabetes", ("bmi", "bp"), ((15.0, 45.0), (50.0, 140.0)), "target", (0.0, 400.0), _RAW),
    "tumours": Unseen("load_breast_cancer", ("mean radius",), ((5.0, 30.0),), "mean compactness", (0.0, 0.4)),
    "tumours_2d": Unseen(
        "load_breast_cancer", ("mean radius", "mean texture"), ((5.0, 30.0), (5.0, 40.0)), "mean symmetry", (0.1, 0.3)
    ),
    "wine": Unseen("load_wine", ("alcohol",), ((10.0, 16.0),), "color_intensity", (0.0, 15.0)),
    "iris": Unseen("load_iris", ("petal length (cm)",), ((0.0, 8.0),), "petal width (cm)", (0.0, 3.0)),
}


def load(name: str) -> Dataset:
    """The table as a ``Dataset``."""
    what = TABLES[name]
    bunch = getattr(import_module("sklearn.datasets"), what.loader)(**dict(what.options))
    columns = dict(zip(bunch.feature_names, np.asarray(bunch.data, dtype=float).T, strict=True))
    columns["target"] = np.asarray(bunch.target, dtype=float)
    low, high = what.y_bounds
    return Dataset(
        name=name,
        X=np.stack([columns[each] for each in what.x], axis=1),
        y=columns[what.y],
        x_names=what.x,
        x_units=("",) * len(what.x),
        y_name=what.y,
        y_unit="",
        y_bounds=what.y_bounds,
        x_box=what.x_box,
        privacy_unit="one record",
        source="scikit-learn",
        licence="BSD-3-Clause",
        bounds_reason="round numbers known of the quantity",
        y_scale=(high - low) / 4,
    )


def held_out(name: str, dataset: Dataset, epsilon: float, draws: int) -> tuple[FloatArray, FloatArray | None]:
    """Residuals (draws, N), and shares inside the intervals (levels,) of mechanisms that find their models."""
    entry, low_high = CATALOGUE[name], dataset.y_bounds
    parameters = Parameters(
        kernel=EQ(lengthscale=[(high - low) / 4 for low, high in dataset.x_box]),
        noise_variance=0.3,
        epsilon=epsilon,
        delta=DELTA,
        x_box=dataset.x_box,
        n=dataset.n,
        cells=CELLS,
    )
    mechanism, residuals, held = entry.build(parameters), [], []
    if isinstance(mechanism, BayesCloaking) and mechanism.protects == "outputs":
        mechanism = replace(mechanism, gap=GAP)
    for index, (train, X_test, truth) in enumerate(splits(dataset)):
        release = releasing(mechanism, train, X_test)(train, np.random.default_rng([SEED, index]), draws)
        residuals.append(np.clip(release.samples, *low_high) - truth)
        if entry.automatic:
            held.append(inside(release, truth))
    return np.concatenate(residuals, axis=1), np.mean(held, axis=0) if held else None


def constant_error(dataset: Dataset) -> float:
    """Held-out error of the training mean. Not private."""
    residuals = [train.clipped_y.mean() - truth for train, _, truth in splits(dataset)]
    return float(np.sqrt((np.concatenate(residuals) ** 2).mean()))


def main(argv: Sequence[str] | None = None) -> None:
    """Parse the options and print the table."""
    parser = options_of(__doc__)
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--mechanisms", nargs="+", choices=MECHANISMS, default=list(MECHANISMS))
    parser.add_argument("--epsilons", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--draws", type=int, default=20)
    options = parser.parse_args(argv)
    for table in options.tables:
        dataset = load(table)
        print(f"{table}: n = {dataset.n}, best constant {constant_error(dataset):.4g}")
        for name in options.mechanisms:
            for epsilon in options.epsilons:
                residuals, held = held_out(name, dataset, epsilon, options.draws)
                mean, error = error_of(residuals)
                said = "" if held is None else f"inside {shares(held)}"
                print(f"  {name:12} epsilon {epsilon:<4g} {mean:.4g} +- {error:.2g}   {said}", flush=True)
