"""Fits, curves and choices of the sparse page, from the cache."""

from __future__ import annotations

from pages._ui.sparse import fitting
from pages._ui.sparse.fitting import Choices, Curves, Fits, SparseSetting
from pages._ui.work import cached


def fits(setting: SparseSetting) -> Fits:
    """Private and plain fits."""
    return cached.value("Fitting the sparse model", fitting.fits, setting)


def curves(setting: SparseSetting) -> Curves:
    """Errors against epsilon."""
    return cached.value("Releasing at every epsilon", fitting.curves, setting, reports=True)


def choices(setting: SparseSetting) -> Choices:
    """Private choices of hyperparameters."""
    return cached.value("Choosing hyperparameters", fitting.choices, setting, reports=True)
