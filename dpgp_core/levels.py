"""Categorical inputs. Their categories are declared and public, and are called levels in configurations.

A column of X for a categorical input with L levels holds the index 0 ... L - 1 of a level. The side of the box along
this input is derived: (-1/2, L - 1/2), so that L equal cells have the indices as their centres. The side is a
``LevelSide``, so that code which is given only a box can recognise categorical inputs.
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

MOST_LEVELS = 20  # largest number of levels of one input
MOST_GROUPS = 40  # largest number of combinations of levels of all inputs
OTHER = "other"  # if declared, the level of all texts that are not levels themselves


class LevelSide(NamedTuple):
    """Side of a box along a categorical input with L levels: low = -1/2, high = L - 1/2."""

    low: float
    high: float

    @property
    def levels(self) -> int:
        """Number of levels L."""
        return round(self.high - self.low)


def level_number(cell: str, levels: Sequence[str]) -> float | None:
    """Return the index of the level in a cell of the table; for any other text that of "other" if declared, or None."""
    level = cell.strip()
    level = level if level in levels else OTHER
    return float(levels.index(level)) if level in levels else None


def side_of(levels: Levels) -> LevelSide:
    """Return the side of a box along an input with these levels."""
    return LevelSide(-0.5, len(levels) - 0.5)


def level_columns(box: Sequence[Interval]) -> tuple[int, ...]:
    """Return the indices of the categorical inputs of a box."""
    return tuple(d for d, side in enumerate(box) if isinstance(side, LevelSide))


def number_sides(box: Sequence[Interval]) -> tuple[Interval, ...]:
    """Return the sides of a box along the numerical inputs."""
    return tuple(side for side in box if not isinstance(side, LevelSide))


def groups_of(box: Sequence[Interval]) -> int:
    """Return the number of combinations of levels; 1 if no input is categorical."""
    return math.prod(side.levels for side in box if isinstance(side, LevelSide))


def in_every_group(box: Sequence[Interval], numbers: FloatArray) -> FloatArray:
    """Repeat numerical inputs ``numbers`` (P, D') for each of the G combinations of levels, and return points (G P, D).

    Points of one group follow each other. The levels of the last categorical input vary fastest.
    """
    categories = level_columns(box)
    codes = list(product(*(range(round(box[d][1] - box[d][0])) for d in categories)))
    points = np.empty((len(codes) * len(numbers), len(box)))
    points[:, categories] = np.repeat(codes, len(numbers), axis=0)
    points[:, [d for d in range(len(box)) if d not in categories]] = np.tile(numbers, (len(codes), 1))
    return points


def checked_levels(name: str, values: object) -> Levels:
    """Return declared levels as a tuple; raise ValueError unless they are 2 to ``MOST_LEVELS`` different texts."""
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
    """Return the levels of each of D inputs; None for an input that is a number.

    Args:
        names: names of the inputs.
        declared: levels of the categorical inputs, by name.

    Raises:
        ValueError: levels are invalid, or are declared for a name that is not an input.
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
    """Return a list with the declared side of each of D inputs; None may stand for a categorical input.

    Args:
        box: declared sides, either of all inputs or of the numerical inputs only.
        levels: levels of each input, None for a number.
        names: names of the inputs, for messages.

    Raises:
        ValueError: ``box`` has neither D entries nor one for each numerical input, declares a side of a categorical
            input (these are derived), or lacks the side of a numerical one.
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
    """Raise ValueError unless the columns of X (n, D) for categorical inputs hold indices of levels.

    The message names no record.

    Args:
        names: names of the inputs, for the message.
    """
    for d in level_columns(box):
        count, column = round(box[d][1] - box[d][0]), X[:, d]
        if not ((column >= 0) & (column < count) & (column == np.rint(column))).all():
            named = f"input {d + 1}" if names is None else repr(names[d])
            raise ValueError(
                f"{named} has {count} levels, so its column of X must hold whole numbers 0 ... {count - 1}"
            )
