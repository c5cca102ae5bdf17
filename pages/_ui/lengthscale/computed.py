"""Scores of lengthscales, from the cache, one candidate after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from dpgp_core.evaluation.cross_validation import FoldPlan
from dpgp_core.selection.exponential import SelectionTable
from pages._ui.cloaking import left_out
from pages._ui.left_out import without_privacy
from pages._ui.lengthscale import choice
from pages._ui.lengthscale.choice import Beside, Budgets, Grid, Scored
from pages._ui.model import Design, Draw, usual
from pages._ui.work import cached
from pages._ui.work.ahead import Wish

_LEAST = 2  # candidates between which there is a choice


class Grown(NamedTuple):
    """The candidates that are done, and their scores."""

    grid: Grid
    scored: Scored


def scored(grid: Grid) -> Scored:
    """Cross-validated candidates."""
    return list(growing(grid))[-1].scored


def growing(grid: Grid) -> Iterator[Grown]:
    """The same of ever more candidates as they are done, from two on; the last is whole."""
    whole = cached.find(choice.scored, grid)
    if whole is not None:
        yield Grown(grid, whole)
        return
    data, count = cached.dataset(grid.model.dataset), len(grid.lengthscales)
    _wish_for_the_last(grid)
    plans: list[FoldPlan] = []
    for candidate in grid.lengthscales:
        doing = f"Cross-validating lengthscales, {len(plans) + 1} of {count}"
        setting = grid.candidate(candidate), grid.objective
        plans.append(cached.value(doing, choice.planned, *setting, given=(data,)))
        if _LEAST <= len(plans) < count:
            so_far = replace(grid, lengthscales=grid.lengthscales[: len(plans)])
            yield Grown(so_far, choice.scored(data, plans, so_far))
    whole = cached.value("Scoring lengthscales", choice.scored, grid, given=(data, plans), here=True)
    yield Grown(grid, whole)


def beside(grid: Grid, budgets: Budgets, table: SelectionTable) -> Beside:
    """Errors of what chooses no lengthscale, at the budget of the release. Not private."""
    name = grid.model.dataset
    draw = Draw(epsilon=budgets.regression, delta=budgets.delta)
    errors = left_out.soon(usual(name), Design(), draw)
    without = min(without_privacy(name), float(table.rmse.min()))
    return Beside(None if errors is None else errors.mean, without)


def _wish_for_the_last(grid: Grid) -> None:
    """While the page asks for one candidate after the other, an idle process begins at the other end."""
    data = (cached.dataset(grid.model.dataset),)
    settings = [(grid.candidate(candidate), grid.objective) for candidate in reversed(grid.lengthscales)]
    cached.wish(*(Wish(choice.planned, each, data) for each in settings if cached.find(choice.planned, *each) is None))
