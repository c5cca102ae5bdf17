"""Inputs that are categories: such a column of X holds the number of one of its declared public levels, 0 ... L - 1.

The side of the box along it is derived, (-1/2, L - 1/2): each level's number lies in the middle of an L-th of it. The
side itself says that it is one of levels, so that whatever is made from a box alone is right for them too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from . import checks
from .arrays import FloatArray

Levels = tuple[str, ...]
Interval = tuple[float, float]

Side = TypeVar("Side")

MOST_LEVELS = 20  # of one input
MOST_GROUPS = 40  # combinations of levels of all inputs
OTHER = "other"  # the level that takes what is none of the others


class LevelSide(NamedTuple):
    """Side of a box along an input of L levels: low = -1/2, high = L - 1/2."""

    low: float
    high: float

    @property
    def levels(self) -> int:
        """L."""
        return round(self.high - self.low)


@dataclass(frozen=True, kw_only=True)
class Category:
    """A column of a table that holds levels.

    Args:
        name: of the column.
        levels: declared.
    """

    name: str
    levels: Levels

    def number_of(self, cell: str) -> float | None:
        """The number of the level that a cell holds; what is none is "other" where that is declared, or None."""
        level = cell.strip()
        level = level if level in self.levels else OTHER
        return float(self.levels.index(level)) if level in self.levels else None


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


def checked_levels(name: str, values: object) -> Levels:
    """Levels as declared: 2 to ``MOST_LEVELS`` different texts. ValueError says which are not.

    Args:
        name: of the input.
        values: what was declared.
    """
    texts = checks.texts(f"levels of {name!r}", values)
    if not 2 <= len(texts) <= MOST_LEVELS:
        raise ValueError(
            f"an input that is a category must have 2 ... {MOST_LEVELS} levels, {name!r} has {len(texts)}; "
            f"put rare ones into a level {OTHER!r}, or leave the input out"
        )
    repeated = next((level for level in texts if texts.count(level) > 1), None)
    if repeated is not None:
        raise ValueError(f"{name!r} has the level {checks.shown(repeated)} more than once; name each level once")
    return texts


def levels_by_column(names: Sequence[str], declared: Mapping[str, object] | None) -> tuple[Levels | None, ...]:
    """For each of D inputs its levels, or None where it is a number.

    Args:
        names: of the inputs.
        declared: levels by name of those that are categories.

    Raises:
        ValueError: levels are none that can be, there are too many combinations, or no input is a number.
    """
    by_name = {} if declared is None else declared
    if not isinstance(by_name, Mapping):
        raise ValueError(f"levels must name inputs and their levels, got {checks.shown(by_name)}")
    unknown = next((name for name in by_name if name not in names), None)
    if unknown is not None:
        raise ValueError(f"levels are declared for {checks.shown(unknown)}, which is no input; name it in x too")
    levels = tuple(checked_levels(name, by_name[name]) if name in by_name else None for name in names)
    check_levels(levels)
    return levels


def check_levels(levels: Sequence[Levels | None]) -> None:
    """Raise ValueError unless at least one input is a number, and the combinations of levels are few enough."""
    if all(each is not None for each in levels):
        raise ValueError("every input is a category; at least one must be a number")
    groups = math.prod(len(each) for each in levels if each is not None)
    if groups > MOST_GROUPS:
        raise ValueError(
            f"the levels of all inputs have {groups} combinations, more than {MOST_GROUPS}, the limit. "
            "Declare fewer levels, or fewer inputs with levels"
        )


def whole_box(box: Sequence[Interval | None], levels: Sequence[Levels | None]) -> tuple[Interval, ...]:
    """The box of all D inputs, the sides along categories being derived.

    Args:
        box: a side for each input, those of categories None or as derived; or for each input that is a number.
        levels: of each input; None where it is a number.

    Raises:
        ValueError: there are neither as many sides as inputs nor as inputs that are numbers, or one is missing.
    """
    numbers, box = sum(each is None for each in levels), beside_categories(box, levels)
    if len(box) != len(levels):
        which = " that is a number" if numbers < len(levels) else ""
        raise ValueError(f"x_box must have {numbers} entries, one per column of x{which}, got {len(box)}")
    return tuple(_side(side, each) for side, each in zip(box, levels, strict=True))


def beside_categories(box: Sequence[Side], levels: Sequence[Levels | None]) -> list[Side | None]:
    """A side for each input, those of categories None where they were left out; other lists as they are."""
    if len(box) != sum(each is None for each in levels):
        return list(box)
    sides = iter(box)
    return [next(sides) if each is None else None for each in levels]


def check_codes(X: FloatArray, box: Sequence[Interval], names: Sequence[str] | None = None) -> None:
    """Raise ValueError unless columns of categories hold numbers of levels; no record is named.

    Args:
        X: inputs (n, D).
        box: of the D inputs.
        names: theirs, for the sentence.
    """
    for d in level_columns(box):
        count, column = round(box[d][1] - box[d][0]), X[:, d]
        if not ((column >= 0) & (column < count) & (column == np.rint(column))).all():
            named = f"input {d + 1}" if names is None else repr(names[d])
            raise ValueError(
                f"{named} has {count} levels, so its column of X must hold whole numbers 0 ... {count - 1}"
            )


def _side(side: Interval | None, levels: Levels | None) -> Interval:
    if levels is None:
        if side is None:
            raise ValueError("x_box has no entry for an input that is a number; declare (low, high), or its levels")
        return side
    derived = side_of(levels)
    if side is not None and tuple(side) != tuple(derived):
        raise ValueError(
            f"x_box of an input with {len(levels)} levels is derived; leave it out, got {checks.shown(list(side))}"
        )
    return derived
