"""Excursion sets and the search for settings, from the cache."""

from __future__ import annotations

from dataclasses import replace

from dpgp_core.excursion.grid_search import PathSetting as Found
from pages._ui.excursion import exploration
from pages._ui.excursion.exploration import Explored, View
from pages._ui.work import cached


def explored(view: View) -> Explored:
    """Excursion sets of one view."""
    # The cutoff depends on neither threshold, paths, seed nor budget.
    plain = replace(view, L=1, eta=0.0, threshold=view.study.thresholds.start, delta=0.01, seed=1)
    cutoff = cached.value("Choosing the cutoff on simulated data", exploration.cutoff_of, plain)
    return cached.value("Drawing posterior paths", exploration.explore, view, cutoff)


def found_settings(name: str, noise: float, delta: float, paths: int, budget: float) -> Found:
    """Best settings within a budget. Raises ValueError if there are none."""
    settings = (name, noise, delta, paths, budget)
    return cached.value("Searching settings on simulated data", exploration.find_settings, *settings, reports=True)
