"""The one error of every page: root mean square on people left out, in fifths; and the one without privacy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from datasets import exhibit
from dpgp_core.arrays import FloatArray
from dpgp_core.evaluation.comparison import error_without_privacy
from dpgp_core.evaluation.cross_validation import k_folds
from dpgp_core.table import Dataset
from pages._ui.model import Design, Draw, Model, mechanism_of
from pages._ui.work import cached
from pages._ui.work.cached import Wish

SEED = 1  # of simulated releases
FOLDS = 5
_DOING = "Fitting without privacy"
_SHUFFLED = 0  # seed of the folds: one partition a data set, public and the same everywhere


def folds_of(dataset: Dataset) -> tuple[Any, ...]:
    """Test indices of each fold, shuffled."""
    return k_folds(dataset.n, FOLDS, np.random.default_rng(_SHUFFLED))


@dataclass(frozen=True, eq=False)
class Trio:
    """Errors of a release, of the method of 2018 and without privacy, in the output's unit. Not private.

    Attributes:
        ours, paper: of each simulated release (D,), whose mean pages quote; None while it is being computed.
    """

    ours: FloatArray | None
    paper: FloatArray | None
    without: float


def without_privacy(name: str, *models: Model) -> float:
    """The error when nothing is hidden, in the output's unit. Not private.

    Args:
        name: of the dataset.
        models: declared on the page, if any. The best of them counts where it does better than Bayes
            cloaking's, but not for data of very many people, where it takes long and does not.
    """
    wish = opening(name, *models)
    return float(cached.value(_DOING, wish.function, *wish.settings, given=wish.given))


def without_privacy_soon(name: str, *models: Model) -> float | None:
    """The same if it is there soon; else None, and it goes on."""
    wish = opening(name, *models)
    made = cached.soon(_DOING, wish.function, *wish.settings, given=wish.given)
    return None if made is None else float(made.value)


def opening(name: str, *models: Model) -> Wish:
    """The same, to be computed beforehand."""
    declared = models if exhibit(name).cross_validated else ()
    return Wish(_without_privacy, (name, declared), (cached.dataset(name),))


def _without_privacy(data: Dataset, name: str, models: tuple[Model, ...]) -> float:
    declared = [(model.build(), model.noise) for model in models]
    refined = [mechanism_of(model, Design("refined"), Draw(epsilon=1.0, delta=1e-5)) for model in models]
    return error_without_privacy(data, folds_of(data), declared, refined)
