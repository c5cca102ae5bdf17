"""What a user might otherwise pick, beside the contenders: its best setting in hindsight. No streamlit here."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.data import Dataset
from dpgp_core.evaluation.peers import in_hindsight, settings
from pages._ui.compare.words import Scale
from pages._ui.left_out import folds_of

DRAWS, SEED = 60, 1
NOTE = (
    f"What one might otherwise pick, at the same epsilon and delta; inputs are hidden too. Mean error of {DRAWS} draws "
    "with the degree, or the number of bins, that turned out best here. Nobody can choose it so well, for looking is "
    "not private. AdaSSP: Wang 2018."
)


class Found(NamedTuple):
    """A mechanism with its best setting, and its error in the output's unit. Not private."""

    title: str
    error: float


def found(dataset: Dataset, name: str, delta: float, epsilon: float) -> tuple[Found, ...]:
    """Polynomials and binned means, each at its best, on the data set of that name."""
    s, folds = noise_multiplier(epsilon, delta), folds_of(dataset)
    best = (in_hindsight(tried, dataset, folds, s, DRAWS, SEED) for tried in settings(dataset.X.shape[1]))
    return tuple(Found(each.peer.title, float(each.errors.mean())) for each in best)


def table(rows: tuple[Found, ...], scale: Scale) -> pd.DataFrame:
    """One row a mechanism."""
    errors = [round(float(scale.show(each.error)), 3) for each in rows]
    return pd.DataFrame({"mechanism": [each.title for each in rows], f"error [{scale.unit}]": errors})
