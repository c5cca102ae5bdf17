"""Tables of pandas, which need not be installed, as numbers: columns of categories and of dates, as declared."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..dates import declared_day
from ..levels import Category
from ..reading.date_inputs import is_date_box

Levels = Sequence[Sequence[str] | None] | None


def box_of_numbers(x_box: Any) -> Any:
    """A declared box whose sides of two dates are in days since the first of them; other sides as they were.

    Raises:
        ValueError: an end is no date.
    """
    if is_date_box(x_box):
        return _in_days(x_box)
    if not isinstance(x_box, list | tuple):
        return x_box
    return [_in_days(side) if is_date_box(side) else side for side in x_box]


def numbers_of(X: ArrayLike, x_box: Any, x_levels: Levels) -> ArrayLike:
    """A table whose columns of texts are the numbers of their levels and whose dates are days; all else as it was.

    Args:
        X: inputs; a table has columns by position (``iloc``).
        x_box: as declared: two dates where a column is one of dates.
        x_levels: as declared.

    Raises:
        ValueError: a text is none of the levels. The message says in how many rows, and no text.
    """
    columns: Any = getattr(X, "iloc", None)
    if columns is None or getattr(X, "ndim", 0) != 2:
        return X
    table: Any = X
    width = table.shape[1]
    levels = list(x_levels) if x_levels is not None and len(x_levels) == width else [None] * width
    sides = _sides(x_box, levels)
    read = [
        _column(columns[:, d], str(table.columns[d]), each, side)
        for d, (each, side) in enumerate(zip(levels, sides, strict=True))
    ]
    if all(each is None for each in read):
        return X
    return np.column_stack([np.asarray(columns[:, d]) if each is None else each for d, each in enumerate(read)])


def _sides(x_box: Any, levels: Sequence[object]) -> list[object]:
    """The declared side of each column; None where there is none."""
    if is_date_box(x_box):
        return [None if each is not None else x_box for each in levels]
    left = iter(x_box if isinstance(x_box, list | tuple) else ())
    return [None if each is not None else next(left, None) for each in levels]


def _column(column: Any, name: str, levels: Sequence[str] | None, side: Any) -> np.ndarray[Any, Any] | None:
    """A column of texts or dates as numbers; None for one of numbers."""
    if levels is not None and np.asarray(column).dtype.kind not in "iufb":
        of = Category(name=name, levels=tuple(levels))
        found = [of.number_of(str(cell)) for cell in column]
        wrong = sum(each is None for each in found)
        if wrong:
            raise ValueError(
                f"column {name!r} has none of its levels in {wrong:,} of {len(found):,} rows; name these levels too, "
                'or declare a level "other"'
            )
        return np.array(found, dtype=float)
    if side is not None and is_date_box(side):
        days = column.to_numpy(dtype="datetime64[ns]").astype("datetime64[D]")
        first = np.datetime64(declared_day("the first day of x_box", side[0]))
        return np.where(np.isnat(days), np.nan, (days - first).astype("timedelta64[D]").astype(float))
    return None


def _in_days(side: Any) -> tuple[float, float]:
    first, last = (declared_day("each end of x_box", end) for end in side)
    return 0.0, float((last - first).days if isinstance(last, date) else 0)
