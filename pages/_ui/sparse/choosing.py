"""The sparse DP-GP page: hyperparameters chosen privately, and what each way of choosing leads to. Not private."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from datasets import exhibit
from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import SparseVariational
from dpgp_core.selection.hyperparameters import Candidate, HyperparameterChoice, choose_by_evidence, choose_jointly
from dpgp_core.selection.repeated import choose_liu_talwar
from pages._ui.left_out import FOLDS
from pages._ui.sparse.errors import error_of
from pages._ui.sparse.setting import SparseSetting, load, parts

CHOICE_EPSILONS = (1.0, 3.0, 10.0, 30.0)
FACTORS = (0.5, 1.0, 2.0)  # of the lengthscale and of the noise variance: the candidates of a private choice


@dataclass(frozen=True, eq=False)
class Choices:
    """What private choices of hyperparameters lead to, over ``CHOICE_EPSILONS``. Not private.

    Attributes:
        rmse: error on people left out after each choice (E,), by name.
        lengthscales: share of choices for each candidate lengthscale (E, 3), by name; refusals count for none.
        candidates: lengthscales of the first input.
    """

    dataset: Dataset
    rmse: dict[str, FloatArray]
    lengthscales: dict[str, FloatArray]
    candidates: tuple[float, ...]


CHOOSERS: dict[
    str, Callable[[SparseVariational, list[Candidate], Dataset, np.random.Generator], HyperparameterChoice]
] = {
    "Evidence: free (ours)": choose_by_evidence,
    "All kernels together, exponential mechanism": choose_jointly,
    "Liu-Talwar (the paper)": lambda mechanism, candidates, data, rng: choose_liu_talwar(
        replace(mechanism, variant="paper"), candidates, data, rng
    ),
}


def choices(setting: SparseSetting, progress: Callable[[float], None] = lambda _: None) -> Choices:
    """Choose lengthscale and noise variance privately, about each part of the people, at every epsilon."""
    data = load(setting.dataset)
    ratios = exhibit(setting.dataset).ratios
    lengthscales = tuple(setting.lengthscale * factor for factor in FACTORS)
    grid = [
        Candidate(
            kernel=EQ(lengthscale=tuple(length * ratio for ratio in ratios)), noise_variance=setting.noise * factor
        )
        for length in lengthscales
        for factor in FACTORS
    ]
    errors: dict[str, FloatArray] = {}
    shares: dict[str, FloatArray] = {}
    for name, choose in CHOOSERS.items():
        errors[name] = np.zeros(len(CHOICE_EPSILONS))
        shares[name] = np.zeros((len(CHOICE_EPSILONS), len(FACTORS)))
        for i, epsilon in enumerate(CHOICE_EPSILONS):
            base = replace(setting.mechanism(epsilon=epsilon), kernel=grid[0].kernel)
            rows = []
            for index, (train, test) in enumerate(parts(data)):
                choice = choose(base, grid, train, np.random.default_rng([setting.seed, index, i]))
                mean = np.full(test.n, test.midpoint) if choice.fit is None else choice.fit.predict(test.X)[0]
                rows.append((mean - test.clipped_y)[None])
                if choice.index is not None:
                    shares[name][i, choice.index // len(FACTORS)] += 1 / FOLDS
            errors[name][i] = error_of(rows)
            progress((len(errors) - 1 + (i + 1) / len(CHOICE_EPSILONS)) / len(CHOOSERS))
    return Choices(data, errors, shares, lengthscales)
