"""Tables of pandas, which need not be installed, as numbers: columns of categories and of dates, as declared."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..dates import ISO, Dates, Format, declared_day
from ..levels import Category
from ..reading.cell import reader_of_yes_and_no
from ..reading.date_inputs import is_date_box
from ..reading.writing import Writing

Levels = Sequence[Sequence[str] | None] | None
Declared = str | float | Sequence[str | float] | None


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


def numbers_of(X: ArrayLike, x_box: Any, x_levels: Levels, date_order: Format | None = None) -> ArrayLike:
    """A table whose columns of texts are the numbers of their levels and whose dates are days; all else as it was.

    Args:
        X: inputs; a table has columns by position (``iloc``). An array of dates has them in all columns.
        x_box: as declared: two dates where a column is one of dates.
        x_levels: as declared.
        date_order: of dates in texts; None for year, month, day.

    Raises:
        ValueError: a text is none of the levels, or no date. The message says in how many rows, and no text.
    """
    columns: Any = getattr(X, "iloc", None)
    if columns is None or getattr(X, "ndim", 0) != 2:
        array = np.asarray(X)
        if array.dtype.kind != "M" or array.ndim != 2:
            return X
        sides = _sides(x_box, [None] * array.shape[1])
        if not all(map(is_date_box, sides)):
            return X
        return np.column_stack([_days(array[:, d], side) for d, side in enumerate(sides)])
    table: Any = X
    width = table.shape[1]
    levels = list(x_levels) if x_levels is not None and len(x_levels) == width else [None] * width
    sides = _sides(x_box, levels)
    read = [
        _column(columns[:, d], str(table.columns[d]), each, side, date_order)
        for d, (each, side) in enumerate(zip(levels, sides, strict=True))
    ]
    if all(each is None for each in read):
        return X
    return np.column_stack([np.asarray(columns[:, d]) if each is None else each for d, each in enumerate(read)])


def yes_and_no(y: ArrayLike | None, yes: Declared, no: Declared) -> ArrayLike | None:
    """Y in words for yes and no as 1 and 0, and what is neither as NaN; y as it was where no words are declared.

    Args:
        y: outcomes (n,) or (n, 1).
        yes: words or codes that mean 1.
        no: those that mean 0.
    """
    if y is None or (yes is None and no is None):
        return y
    read = reader_of_yes_and_no(Writing(yes=_words(yes), no=_words(no)))
    cells = np.asarray(y, dtype=object)
    found = [read("" if is_missing(cell) else str(cell)) for cell in cells.flat]
    return np.array([each if isinstance(each, float) else np.nan for each in found]).reshape(cells.shape)


def _words(declared: Declared) -> tuple[str | float, ...] | None:
    if declared is None:
        return None
    return (declared,) if isinstance(declared, str | int | float) else tuple(declared)


def is_missing(cell: object) -> bool:
    """Whether a cell of a table of pandas stands for none: None, NaN, NaT or NA."""
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell)


def _sides(x_box: Any, levels: Sequence[object]) -> list[object]:
    """The declared side of each column; None where there is none."""
    if is_date_box(x_box):
        return [None if each is not None else x_box for each in levels]
    left = iter(x_box if isinstance(x_box, list | tuple) else ())
    return [None if each is not None else next(left, None) for each in levels]


def _column(
    column: Any, name: str, levels: Sequence[str] | None, side: Any, date_order: Format | None
) -> np.ndarray[Any, Any] | None:
    """A column of texts or dates as numbers; None for one of numbers."""
    if levels is not None and np.asarray(column).dtype.kind not in "iufb":
        of = Category(name=name, levels=tuple(levels))
        found = [np.nan if is_missing(cell) else of.number_of(str(cell)) for cell in column]
        wrong = sum(each is None for each in found)
        if wrong:
            raise ValueError(
                f"column {name!r} has none of its levels in {wrong:,} of {len(found):,} rows; name these levels too, "
                'or declare a level "other"'
            )
        return np.array(found, dtype=float)
    if side is None or not is_date_box(side):
        return None
    values = np.asarray(column, dtype=object)
    if any(isinstance(cell, str) for cell in values):
        return _days_in_texts(values, name, side, date_order)
    local = getattr(getattr(column, "dt", None), "tz", None)  # the day is that of the clock on the wall
    return _days((column.dt.tz_localize(None) if local is not None else column).to_numpy("datetime64[ns]"), side)


def _days(moments: np.ndarray[Any, Any], side: Any) -> np.ndarray[Any, Any]:
    """Whole days since the first of a side; NaN for no date."""
    days = moments.astype("datetime64[D]")
    first = np.datetime64(declared_day("the first day of x_box", side[0]))
    return np.where(np.isnat(days), np.nan, (days - first).astype("timedelta64[D]").astype(float))


def _days_in_texts(cells: Any, name: str, side: Any, date_order: Format | None) -> np.ndarray[Any, Any]:
    """The same of dates in texts, in the declared order."""
    dates = Dates(name=name, first=side[0], format=date_order or ISO)
    found = [np.nan if is_missing(cell) else dates.days(str(cell)) for cell in cells]
    wrong = sum(each is None for each in found)
    if wrong:
        raise ValueError(
            f"column {name!r} has no date in the order {dates.format} in {wrong:,} of {len(found):,} rows; declare "
            "date_order, or leave out these rows"
        )
    return np.array(found, dtype=float)


def _in_days(side: Any) -> tuple[float, float]:
    first, last = (declared_day("each end of x_box", end) for end in side)
    return 0.0, float((last - first).days if isinstance(last, date) else 0)
