"""Declarations of an estimator, and conversion of arrays and tables to numbers according to them.

Declarations are never inferred from data. Tables are those of pandas, which need not be installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import FloatArray, lattice
from ..dates import Dates, Format
from ..levels import in_every_group, level_number
from ..reading.columns import reader_of_yes_and_no
from ..reading.writing import Declared, Writing, as_float
from ..table import Column, declared_columns, is_date_box

_CURVE, _MAP, _MORE = 65, 17, 512  # points in one dimension, along each side in two dimensions, and in total in more


def columns_of_X(
    names: Sequence[str],
    x_box: Any,
    x_levels: Sequence[Sequence[str] | None] | None,
    order: Format | None = None,
) -> tuple[Column, ...]:
    """Return the descriptions of the D columns of X.

    Args:
        names: names of the columns.
        x_box: one side for all columns that are not categories, or one for each of them: (low, high), or two dates.
        x_levels: categories of each column, None for a number; None if no column is a category.
        order: format of dates in texts; None for "year-month-day".

    Raises:
        ValueError: lists have different lengths, or a side or levels are invalid.
    """
    if x_levels is not None and len(x_levels) != len(names):
        raise ValueError(f"x_levels must have {len(names)} entries, one per column of X, got {len(x_levels)}")
    numbers = len(names) if x_levels is None else sum(each is None for each in x_levels)
    sides = list(x_box)
    if len(sides) == 2 and (is_date_box(x_box) or np.ndim(sides[0]) == np.ndim(sides[1]) == 0):
        sides = [tuple(x_box)] * numbers
    if len(sides) != numbers or any(np.shape(side) != (2,) for side in sides):
        raise ValueError(
            f"x_box must be one (low, high) pair for all columns of X, or {numbers} of them, one for each; "
            f"got shape {(len(sides), *np.shape(sides[0])) if sides else (0,)}"
        )
    return declared_columns(names, sides, levels=x_levels, order=order)


def check_inside(X: FloatArray, columns: Sequence[Column]) -> None:
    """Raise ValueError if a row of public inputs X (n, D) lies outside the box."""
    box = tuple(each.box for each in columns)
    lows, highs = np.array(box).T
    outside = int(((lows > X) | (highs < X)).any(axis=1).sum())
    if outside:
        raise ValueError(
            f"{outside} of {len(X)} rows of X lie outside x_box, {box}; declare the whole domain, or leave them out"
        )


def grid_of(columns: Sequence[Column]) -> FloatArray:
    """Return public points that fill a box (P, D): evenly spaced in one or two dimensions, else quasi-random.

    If some inputs are categories, the points of the other inputs are repeated for each combination of categories.

    Source: in more than two dimensions x_k = frac(1/2 + k (g^-1, ..., g^-D)), g^(D+1) = g + 1 (Roberts 2018,
    R-sequence).
    """
    spread = _spread(np.array([each.box for each in columns if each.levels is None]))
    return in_every_group([each.box for each in columns], spread)


def _spread(box: FloatArray) -> FloatArray:
    """Return points (P, D) that fill the box (D, 2) of the numerical inputs."""
    lows, highs = box.T
    dim = len(lows)
    if dim <= 2:
        unit = lattice([np.linspace(0.0, 1.0, _CURVE if dim == 1 else _MAP)] * dim)
    else:
        g = 1.0
        for _ in range(60):  # the iteration is a contraction and converges to rounding errors
            g = (1 + g) ** (1 / (dim + 1))
        unit = (0.5 + np.arange(1, _MORE + 1)[:, None] * g ** -np.arange(1.0, dim + 1)) % 1.0
    return np.asarray(lows + unit * (highs - lows))


def table_in_numbers(X: ArrayLike, columns: Sequence[Column]) -> ArrayLike:
    """Convert categories to their indices and dates to days; leave everything else unchanged.

    Args:
        X: inputs, as an array or a table (an object with ``iloc``). If an array holds dates, all its columns do.
        columns: descriptions of the columns.

    Raises:
        ValueError: a text is not a declared category, or not a date. The message says in how many rows, without the
            text.
    """
    table: Any = X
    by_position = getattr(table, "iloc", None)
    if by_position is None or getattr(table, "ndim", 0) != 2:
        array = np.asarray(X)
        if array.dtype.kind != "M" or array.ndim != 2 or not all(each.dates for each in columns):
            return X
        pairs = zip(array.T, columns, strict=False)
        return np.column_stack([_days(values, each.dates) for values, each in pairs if each.dates])
    pairs = zip(range(table.shape[1]), columns, strict=False)
    read = [_column(by_position[:, d], str(table.columns[d]), each) for d, each in pairs]
    if all(each is None for each in read) or len(read) < table.shape[1]:
        return X
    return np.column_stack([np.asarray(by_position[:, d]) if each is None else each for d, each in enumerate(read)])


def _column(cells: Any, name: str, column: Column) -> np.ndarray[Any, Any] | None:
    """Convert a column of categories or dates to numbers; return None for a column of numbers."""
    values, levels, dates = np.asarray(cells, dtype=object), column.levels, column.dates
    if levels is not None and np.asarray(cells).dtype.kind not in "iufb":
        numbers = [np.nan if is_missing(cell) else level_number(str(cell), levels) for cell in values]
        remedy = 'none of its levels in {}; name these levels too, or declare a level "other"'
    elif dates is not None and any(isinstance(cell, str) for cell in values):
        numbers = [np.nan if is_missing(cell) else dates.days(str(cell)) for cell in values]
        remedy = f"no date in the order {dates.format} in {{}}; declare date_order, or leave out these rows"
    elif dates is not None:
        local = getattr(getattr(cells, "dt", None), "tz", None)  # the day is that of the local time
        return _days((cells.dt.tz_localize(None) if local is not None else cells).to_numpy("datetime64[ns]"), dates)
    else:
        return None
    if wrong := sum(each is None for each in numbers):
        raise ValueError(f"column {name!r} has {remedy.format(f'{wrong:,} of {len(numbers):,} rows')}")
    return np.array(numbers, dtype=float)


def _days(moments: np.ndarray[Any, Any], dates: Dates) -> np.ndarray[Any, Any]:
    """Return whole days since the first day; NaN for missing dates."""
    days = moments.astype("datetime64[D]")
    return np.where(np.isnat(days), np.nan, (days - np.datetime64(dates.first)).astype("timedelta64[D]").astype(float))


def outcomes_in_numbers(y: ArrayLike | None, yes: Declared, no: Declared) -> ArrayLike | None:
    """Convert declared words for yes and no to 1 and 0, and anything else to NaN; return y if none are declared.

    Args:
        y: outcomes (n,) or (n, 1).
        yes: words or codes that mean 1.
        no: words or codes that mean 0.
    """
    if y is None or (yes is None and no is None):
        return y
    read = reader_of_yes_and_no(Writing(yes=yes, no=no))
    cells = np.asarray(y, dtype=object)
    numbers = [read("" if is_missing(cell) else str(cell)) for cell in cells.flat]
    return np.array([each if isinstance(each, float) else np.nan for each in numbers]).reshape(cells.shape)


def is_missing(cell: object) -> bool:
    """Whether a cell of a pandas table is missing: None, NaN, NaT or NA."""
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell)


def matrix_of(X: ArrayLike) -> FloatArray:
    """Return X as finite floats (n, D), with n and D at least 1.

    Raises:
        ValueError: X has another shape, or a cell is not a finite number.
        TypeError: X is sparse, or a cell cannot be converted to a number.
    """
    array = _floats("X", X)
    width_of(array)
    return array


def width_of(X: Any) -> int:
    """Return the number of columns of X; raise ValueError unless X is a matrix with rows and columns."""
    shape = X.shape if hasattr(X, "toarray") else np.asarray(X).shape
    if len(shape) != 2:
        raise ValueError(
            f"X must have two dimensions, rows and columns, got shape {shape}. Reshape your data: X[:, None] "
            "makes a column of a vector"
        )
    for count, named in zip(shape, ("sample", "feature"), strict=True):
        if count < 1:
            raise ValueError(f"Found array with 0 {named}(s) (shape={shape}) while a minimum of 1 is required.")
    return int(shape[1])


def column_of(y: ArrayLike | None, n: int) -> FloatArray:
    """Return y as finite floats (n,). No message repeats a value.

    Raises:
        ValueError: y has another shape, or a cell is not a finite number.
        TypeError: y is sparse, or a cell cannot be converted to a number.
    """
    if y is None:
        raise ValueError("the estimator requires y to be passed, but the target y is None")
    array = _floats("y", y)
    if array.shape == (n, 1):  # a column of a table
        array = array[:, 0]
    if array.shape != (n,):
        raise ValueError(f"y must have one number for each of the {n} rows of X, shape ({n},), got {array.shape}")
    return array


def names_of(X: object) -> tuple[str, ...] | None:
    """Return the column names of a table if all are strings, else None."""
    names = tuple(getattr(X, "columns", ()))
    return names if names and all(isinstance(name, str) for name in names) else None


def _as_floats(name: str, array: Any) -> FloatArray:
    """Return an array as floats, with missing values of pandas as NaN. No message repeats a value."""
    if array.dtype == object and array.size:
        array = np.array([np.nan if is_missing(each) else each for each in array.flat], dtype=object).reshape(
            array.shape
        )
    try:
        floats: FloatArray = array.astype(float)
    except ValueError:
        count = max(sum(isinstance(each, str) and as_float(each) is None for each in array.flat), 1)
    else:
        return floats
    remedy = "declare yes and no if it is an outcome of these" if name == "y" else "declare x_levels if it holds groups"
    raise ValueError(f"{name} has text instead of a number in {count:,} of {array.size:,} cells; {remedy}")


def _floats(name: str, values: ArrayLike) -> FloatArray:
    if hasattr(values, "toarray"):
        raise TypeError(f"{name} is sparse, and sparse data are not supported; pass {name}.toarray()")
    array = np.asarray(values)
    dates = array.dtype == object and any(isinstance(each, date) for each in array.flat)
    if dates or array.dtype.kind in "mM":
        raise ValueError(f"{name} holds dates, and the estimator takes numbers; give it days since a public first day")
    if np.iscomplexobj(array):
        raise ValueError(f"Complex data not supported: {name} must be of real numbers")
    floats = _as_floats(name, array)
    for holds, named in ((np.isnan, "NaN, a missing value,"), (np.isinf, "infinity (inf)")):
        count = int(holds(floats).sum())
        if count:
            raise ValueError(f"{name} must be finite, and holds {named} {count:,} times; leave out or fill such rows")
    return floats
