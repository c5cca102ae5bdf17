"""How often intervals hold what they promise: held-out real outputs, and data drawn from the declared model."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import datasets
from dpgp_core.data import Dataset
from dpgp_core.evaluation.comparison import hold_out
from dpgp_core.evaluation.cross_validation import k_folds
from dpgp_core.gp.exact import output_covariance
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import CATALOGUE
from dpgp_core.mechanisms.base import Planned
from dpgp_core.mechanisms.catalogue import Parameters

LEVELS = (0.5, 0.9, 0.95, 0.99)
EPSILONS = (0.2, 1.0, 5.0)
MODELLED = [name for name in CATALOGUE if name not in ("laplace_bins", "kernel_sum", "paths")]


def worlds(kind: str, draws: int) -> Iterator[tuple[Dataset, EQ, int]]:
    """Data sets with the kernel declared for them and the number of cells."""
    if kind == "kung":
        yield datasets.load("kung"), EQ(lengthscale=25.0), 6
    elif kind == "london_hexes":
        yield datasets.load("london_hexes"), EQ(lengthscale=15.0), 5
    else:
        data, kernel, rng = datasets.load("kung"), EQ(lengthscale=25.0), np.random.default_rng(5)
        root = np.linalg.cholesky(output_covariance(kernel, data.X, 0.3))
        for _ in range(draws):
            yield replace(data, y=data.in_data_units(root @ rng.standard_normal(data.n))), kernel, 6


def share_inside(name: str, data: Dataset, kernel: EQ, cells: int, epsilon: float, draws: int) -> np.ndarray:
    """Share of held-out outputs inside each interval, over five folds and all draws."""
    mechanism = CATALOGUE[name].build(
        Parameters(
            kernel=kernel, noise_variance=0.3, epsilon=epsilon, delta=0.01, x_box=data.x_box, n=data.n, cells=cells
        )
    )
    inside = []
    for number, fold in enumerate(hold_out(mechanism, data, k_folds(data.n, 5, np.random.default_rng(0)))):
        rng = np.random.default_rng([1, number])
        if isinstance(mechanism, Planned) and fold.plan is not None:
            found = mechanism.release_planned(fold.plan, fold.train, fold.X_test, rng, draws)
        else:
            found = mechanism.release(fold.train, fold.X_test, rng, draws)
        ends = [found.interval(level, of="outputs") for level in LEVELS]
        inside.append([((low <= fold.truth) & (fold.truth <= high)).mean() for low, high in ends])
    return np.asarray(np.mean(inside, axis=0))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    draws = parser.parse_args().draws
    print(f"share of held-out outputs inside the {', '.join(f'{level:.0%}' for level in LEVELS)} interval")
    for kind in ("kung", "london_hexes", "from the model"):
        each = 1 if kind == "from the model" else draws
        for epsilon in EPSILONS:
            for name in MODELLED:
                found = [share_inside(name, *world, epsilon, each) for world in worlds(kind, draws)]
                shares = "  ".join(f"{share:.2f}" for share in np.mean(found, axis=0))
                print(f"{kind:15} {epsilon:4g} {name:14} {shares}", flush=True)


if __name__ == "__main__":
    main()
