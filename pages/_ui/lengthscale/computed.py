"""Scores of lengthscales, from the cache."""

from __future__ import annotations

from pages._ui.lengthscale import choice
from pages._ui.lengthscale.choice import Grid, Scored
from pages._ui.work import cached


def scored(grid: Grid) -> Scored:
    """Cross-validated candidates."""
    data = cached.dataset(grid.model.dataset)
    return cached.value("Cross-validating every lengthscale", choice.score, grid, given=(data,))
