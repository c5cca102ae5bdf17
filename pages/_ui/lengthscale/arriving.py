"""The choice among the lengthscales that are done, shown row by row while the others are cross-validated."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpgp_core.data import Dataset
from pages._ui.lengthscale import choice, computed, figures
from pages._ui.lengthscale.choice import Budgets, Grid, Scored
from pages._ui.lengthscale.computed import Grown
from pages._ui.look import frame, pictures
from pages._ui.work import cached

_ROOM = 0.05  # decades beside the first and the last lengthscale


def scored(grid: Grid, budgets: Budgets, question: str, unit: str) -> Scored:
    """All scores; until the last is done, question, answer and pictures of those that are.

    Args:
        grid, budgets: settings.
        question: the page's title.
        unit: of the lengthscale.
    """
    scored_so_far: Scored | None = None
    with frame.growing() as fresh:
        for grown in computed.growing(grid):
            scored_so_far = grown.scored
            if len(grown.grid.lengthscales) < len(grid.lengthscales):
                with fresh():
                    frame.heading_so_far(question, so_far(grown.grid, grid, unit))
                    _show(grown, grid, budgets, unit, cached.dataset(grid.model.dataset))
    assert scored_so_far is not None  # the last one is whole
    return scored_so_far


def so_far(done: Grid, grid: Grid, unit: str) -> str:
    """The answer while candidates are still being cross-validated."""
    return (
        f"{len(done.lengthscales)} of {len(grid.lengthscales)} lengthscales are done, up to "
        f"{done.lengthscales[-1]:g} {unit}. Their errors stand. Probabilities are those of a choice among these alone, "
        "so they will still move."
    )


def _show(grown: Grown, grid: Grid, budgets: Budgets, unit: str, data: Dataset) -> None:
    table, done = choice.tabulate(grown.scored, budgets), len(grown.grid.lengthscales)
    left, right = st.columns([3, 2])
    with left:
        st.header("What would be chosen")
        picture = figures.tiles(table, grown.grid, budgets, unit, data.y_unit, len(grid.lengthscales))
        pictures.chart(picture, f"so_far_tiles_{done}", "How often each lengthscale is chosen [%], so far.")
    with right:
        st.header("What it costs")
        picture = figures.errors(table, grown.grid, budgets, unit, data.y_unit)
        picture.update_xaxes(range=np.log10(grid.lengthscales)[[0, -1]] + (-_ROOM, _ROOM))
        pictures.chart(picture, f"so_far_errors_{done}", "Error with each lengthscale, so far.")
