"""Inputs that are categories: such a column of X holds the number of one of its declared public levels, 0 ... L - 1.

The side of the box along it is derived, (-1/2, L - 1/2): each level's number lies in the middle of an L-th of it. The
side itself says that it is one of levels, so that cells and models made from a box alone are right for them too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from . import checks
from .arrays import FloatArray

Levels = tuple[str, ...]
Interval = tuple[float, float]

MOST_LEVELS = 20  # of one input
MOST_GROUPS = 40  # combinations of levels of all inputs
OTHER = "other"  # the level that takes any other text


class LevelSide(NamedTuple):
    """Side of a box along an input of L levels: low = -1/2, high = L - 1/2."""

    low: float
    high: float

    @property
    def levels(self) -> int:
        """L."""
        return round(self.high - self.low)


def level_number(cell: str, levels: Sequence[str]) -> float | None:
    """The number of the level that a cell holds; any other text is "other" where that is declared, or None."""
    level = cell.strip()
    level = level if level in levels else OTHER
    return float(levels.index(level)) if level in levels else None


def side_of(levels: Levels) -> LevelSide:
    """The side of a box along an input with these levels."""
    return LevelSide(-0.5, len(levels) - 0.5)


def level_columns(box: Sequence[Interval]) -> tuple[int, ...]:
    """Which of D inputs are categories."""
    return tuple(d for d, side in enumerate(box) if isinstance(side, LevelSide))


def number_sides(box: Sequence[Interval]) -> tuple[Interval, ...]:
    """The sides of a box along inputs that are numbers."""
    return tuple(side for side in box if not isinstance(side, LevelSide))


def groups_of(box: Sequence[Interval]) -> int:
    """Combinations of levels: 1 where no input is a category."""
    return math.prod(side.levels for side in box if isinstance(side, LevelSide))


def in_every_group(box: Sequence[Interval], numbers: FloatArray) -> FloatArray:
    """Points (G P, D) of one group after the other: for each combination of levels, ``numbers`` (P, D') of the rest.

    The levels of the last category run fastest.
    """
    categories = level_columns(box)
    codes = list(product(*(range(round(box[d][1] - box[d][0])) for d in categories)))
    points = np.empty((len(codes) * len(numbers), len(box)))
    points[:, categories] = np.repeat(codes, len(numbers), axis=0)
    points[:, [d for d in range(len(box)) if d not in categories]] = np.tile(numbers, (len(codes), 1))
    return points


def checked_levels(name: str, values: object) -> Levels:
    """Levels as declared: 2 to ``MOST_LEVELS`` different texts. ValueError says which are not."""
    texts = checks.texts(f"levels of {name!r}", values)
    if not 2 <= len(texts) <= MOST_LEVELS:
        raise ValueError(
            f"an input that is a category must have 2 ... {MOST_LEVELS} levels, {name!r} has {len(texts)}; "
            f"put rare ones into a level {OTHER!r}, or leave the input out"
        )
    repeated = next((level for level in texts if texts.count(level) > 1), None)
    if repeated is not None:
        raise ValueError(f"{name!r} has the level {checks.excerpt(repeated)} more than once; name each level once")
    return texts


def levels_by_column(names: Sequence[str], declared: Mapping[str, object] | None) -> tuple[Levels | None, ...]:
    """For each of D inputs its levels, or None where it is a number.

    Args:
        declared: levels by name of those that are categories.

    Raises:
        ValueError: levels are none that can be, or of no input.
    """
    by_name = {} if declared is None else declared
    if not isinstance(by_name, Mapping):
        raise ValueError(f"levels must name inputs and their levels, got {checks.excerpt(by_name)}")
    unknown = next((name for name in by_name if name not in names), None)
    if unknown is not None:
        raise ValueError(f"levels are declared for {checks.excerpt(unknown)}, which is no input; name it in x too")
    return tuple(checked_levels(name, by_name[name]) if name in by_name else None for name in names)


def check_levels(levels: Sequence[Levels | None]) -> None:
    """Raise ValueError unless at least one input is a number, and the combinations of levels are few enough."""
    if all(each is not None for each in levels):
        raise ValueError(
            "every input is a category; at least one must be a number: write ranges such as 30-34 as their middles"
        )
    groups = math.prod(len(each) for each in levels if each is not None)
    if groups > MOST_GROUPS:
        raise ValueError(
            f"the levels of all inputs have {groups} combinations, more than {MOST_GROUPS}, the limit. "
            "Declare fewer levels, or fewer inputs with levels"
        )


def sides_of_inputs(box: Sequence[Any], levels: Sequence[Any], names: Sequence[str]) -> list[Any]:
    """A declared side for each of D inputs, of a list that may leave categories out, whose sides are derived.

    Raises:
        ValueError: there are neither as many sides as inputs nor as inputs that are numbers, a category has a side of
            its own, or a number has none.
    """
    numbers = sum(each is None for each in levels)
    if len(box) not in (numbers, len(levels)):
        which = " that is a number" if numbers < len(levels) else ""
        raise ValueError(f"x_box must have {numbers} entries, one per column of x{which}, got {len(box)}")
    left = iter(box)
    whole = list(box) if len(box) == len(levels) else [next(left) if each is None else None for each in levels]
    for name, side, each in zip(names, whole, levels, strict=True):
        if each is None and side is None:
            raise ValueError(f"x_box has no entry for {name!r}, which is a number; declare (low, high), or its levels")
        if each is not None and side not in (None, side_of(each), [*side_of(each)]):
            raise ValueError(f"x_box has an entry for {name!r}, which is a category; its side is derived, leave it out")
    return whole


def check_codes(X: FloatArray, box: Sequence[Interval], names: Sequence[str] | None = None) -> None:
    """Raise ValueError unless columns of categories hold numbers of levels; no record is named.

    Args:
        names: theirs, for the sentence.
    """
    for d in level_columns(box):
        count, column = round(box[d][1] - box[d][0]), X[:, d]
        if not ((column >= 0) & (column < count) & (column == np.rint(column))).all():
            named = f"input {d + 1}" if names is None else repr(names[d])
            raise ValueError(
                f"{named} has {count} levels, so its column of X must hold whole numbers 0 ... {count - 1}"
            )
