"""Fits, curves and choices of the sparse page, from the cache."""

from __future__ import annotations

from pages._ui.sparse import choosing, errors, fitting
from pages._ui.sparse.choosing import Choices
from pages._ui.sparse.errors import Curves
from pages._ui.sparse.fitting import Fits
from pages._ui.sparse.setting import SparseSetting
from pages._ui.work import cached


def fits(setting: SparseSetting) -> Fits:
    """Private and plain fits."""
    return cached.value("Fitting the sparse model", fitting.fits, setting)


def curves(setting: SparseSetting) -> Curves:
    """Errors against epsilon."""
    return cached.value("Releasing at every epsilon", errors.curves, setting)


def choices(setting: SparseSetting) -> Choices:
    """Private choices of hyperparameters."""
    return cached.value("Choosing hyperparameters", choosing.choices, setting)


def without_privacy(setting: SparseSetting, plain: float) -> float:
    """The error when nothing is hidden, in the output's unit. Not private.

    Args:
        setting: whose dataset is on screen.
        plain: of the sparse Gaussian process itself, which counts where it does better.
    """
    return min(plain, cached.value("Fitting without privacy", errors.without_privacy, setting.dataset))
