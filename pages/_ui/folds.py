"""The folds of every held-out error that pages compare: one partition a data set, public and the same everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpgp_core.data import Dataset
from dpgp_core.evaluation.cross_validation import k_folds

FOLDS = 5
_SEED = 0  # public


def folds_of(dataset: Dataset) -> tuple[Any, ...]:
    """Test indices of each fold, shuffled."""
    return k_folds(dataset.n, FOLDS, np.random.default_rng(_SEED))
