"""The explored release and its refits: the shipped one from the cache, a visitor's own in the session alone."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from datasets import exhibit
from dpgp_core.bayes.reading import Difference, difference
from dpgp_core.levels import groups_of
from pages._ui.cloaking import computed as cloaking
from pages._ui.cloaking import staged
from pages._ui.cloaking.results import Draws
from pages._ui.explore import posterior, statistic
from pages._ui.explore.posterior import Filtered
from pages._ui.explore.statistic import Explored, Teaching
from pages._ui.model import Budget
from pages._ui.session import Slot
from pages._ui.work import cached

POINTS = 200  # of a grid, where nobody asked for others
_FEW, _LEAST = 4, 50  # groups that have all points of a grid; points of each, where there are many groups
_BETWEEN = 100  # places of a difference
_BEYOND = (
    "the released numbers are so far from what the models of this page expect that nothing can be computed from them; "
    "fetch the files again from whoever released them, or refit them with the library"
)


@dataclass(frozen=True, eq=False)
class Taken:
    """A published release as files.

    Attributes:
        name: shown to who explores it only.
        files: content by name.
        digest: tells whether it is another one.
    """

    name: str
    files: Mapping[str, bytes] = field(repr=False)
    digest: str


EXPLORED: Slot[Taken] = Slot("own_explored")
EXPLORED_REFIT: Slot[tuple[tuple[str, Any], Any]] = Slot("own_explored_refit")
EXPLORED_APART: Slot[tuple[tuple[str, tuple[int, int]], Difference]] = Slot("own_explored_apart")
EXPLORED_FILES: Slot[int] = Slot("own_explored_files")  # a new number empties the uploader
EXPLORED_SETTINGS: Slot[frozenset[str]] = Slot("own_explored_settings")  # all that were looked at


def taken(name: str, files: Mapping[str, bytes]) -> Taken:
    """Files with what tells them apart."""
    digest = hashlib.sha256()
    for each, content in sorted(files.items()):
        digest.update(f"{each} {len(content)} ".encode() + content)
    return Taken(name, files, digest.hexdigest())


class Refit(NamedTuple):
    """Settings of a refit, which displays of it share: a kernel, and how fine the grid is."""

    kernel: str
    points: int


def teaching(taught: Teaching) -> Explored:
    """A numbered draw; plans do not depend on its number. Of a curve it is the draw that its own page shows."""
    data = cached.dataset(taught.dataset)
    if exhibit(taught.dataset).scene == "curve":
        budget = Budget(taught.dataset, "records", taught.epsilon, taught.delta)
        plan, scene = cloaking.plan_of(budget), cloaking.scene(taught.dataset)
        numbers = cached.value("Measuring", staged.measure, Draws(budget, taught.draw, 1), given=(data, scene, plan))
        return cached.value("Measuring", statistic.of_numbers, taught, given=(data, plan, numbers))
    plan = cached.value("Planning what to measure", statistic.planned, replace(taught, draw=1), given=(data,))
    return cached.value("Measuring", statistic.measured, taught, given=(data, plan))


def refitted(taught: Teaching, refit: Refit) -> Filtered:
    """The draw read under all models."""
    return cached.value("Reading the release again", refit_over_box, refit, taught, given=(teaching(taught),))


def own(taken: Taken, refit: Refit) -> tuple[Explored, Filtered]:
    """A visitor's release, read under all models; kept in this session, nowhere else.

    Raises:
        ValueError: it cannot be read.
    """
    key, kept = (taken.digest, refit), EXPLORED_REFIT.find()
    if kept is None or kept[0] != key:
        kept = (key, cached.of_one_session("Reading the release again", _own, taken.files, refit))
        EXPLORED_REFIT.put(kept)
    return kept[1]


def drop() -> None:
    """Forget a visitor's release."""
    EXPLORED.pop()
    EXPLORED_REFIT.pop()
    EXPLORED_APART.pop()


def refit_over_box(explored: Explored, refit: Refit, _taught: Teaching | None = None) -> Filtered:
    """A release read under all models on a grid over its box."""
    box = explored.statistics.x_box
    X_test = posterior.grid_over(box, max(_LEAST, refit.points // max(1, groups_of(box) // _FEW)))
    return posterior.filtered(explored.statistics, refit.kernel, posterior.shares_of(box), X_test)


def apart(explored: Explored, taught: Teaching | None, taken: Taken | None, two: tuple[int, int]) -> Difference:
    """One group's curve less another's, by number: from what was released, so it is free."""
    if taught is not None:
        return cached.value("Comparing two groups", _apart, two, taught, given=(explored,))
    assert taken is not None
    key, kept = (taken.digest, two), EXPLORED_APART.find()
    if kept is None or kept[0] != key:
        kept = key, cached.of_one_session("Comparing two groups", _apart, explored, two)
        EXPLORED_APART.put(kept)
    return kept[1]


def _apart(explored: Explored, two: tuple[int, int], _taught: Teaching | None = None) -> Difference:
    statistics = explored.statistics
    [levels] = [each for each in statistics.x_levels or () if each is not None]
    grid = posterior.grid_over(statistics.x_box, _BETWEEN)[:_BETWEEN]
    return difference(statistics, levels[two[0]], levels[two[1]], grid)


def _own(files: Mapping[str, bytes], refit: Refit) -> tuple[Explored, Filtered]:
    explored = statistic.opened(files)
    try:
        with np.errstate(all="ignore"):
            read = refit_over_box(explored, refit)
    except (ArithmeticError, ValueError):  # scipy's are among them
        raise ValueError(_BEYOND) from None
    if not read.is_finite:
        raise ValueError(_BEYOND)
    return explored, read
