"""A CSV stream as a Dataset.

Bounds and box are declared by the caller; no default is ever computed from the file, because a bound
read off private data is itself a release. For the same reason no error message repeats a cell. Records are finite
numbers by definition: rows that lack a value in one of these columns are left out where it is declared what means
that, and refused elsewhere, also where inputs are private. Which rows are complete is public.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, TypeVar

import numpy as np

from ..arrays import FloatArray
from ..checks import check_interval
from ..data import Dataset
from ..dates import Dates
from ..levels import Category, levels_by_column, whole_box
from .columns import read_columns
from .writing import Writing

MAX_ROWS = 2_000_000  # rows beyond it are refused, not read

_TOLD_NEITHER = "{:,} of {:,} outcomes are neither the word for yes nor that for no, and are left out."
_TOLD_MOVED = (
    "{:,} of {:,} rows have an input outside its x_box and count at its edge. If they are many, check the box, its "
    "unit and the order of dates."
)
_T = TypeVar("_T")


def read_dataset(
    stream: BinaryIO,
    *,
    x: Sequence[str],
    y: str,
    y_bounds: tuple[float, float],
    x_box: Sequence[object],
    privacy_unit: str = "one record",
    name: str = "your data",
    x_units: Sequence[str] | None = None,
    y_unit: str = "",
    y_scale: float = 1.0,
    max_rows: int | None = None,
    private_inputs: bool = False,
    writing: Writing | None = None,
    two_valued: bool = False,
    person: str | None = None,
    levels: Mapping[str, Sequence[str]] | None = None,
    dates: Sequence[Dates] = (),
) -> Dataset:
    """Read columns of a file with a header line. Every cell of them is a finite number, a date or one of its levels.

    Args:
        stream: file object opened in binary mode (read from where it stands, not closed).
        x: names of the D input columns.
        y: name of the output column; values outside ``y_bounds`` are kept and counted in ``clipped_count``.
        y_bounds: public (low, high), in ``y_unit``.
        x_box: public (low, high) pairs, in ``x_units``, one for each input that is a number, and all lie inside.
        privacy_unit: whom one row is about.
        name: short display name.
        x_units: D units, or None for none.
        y_unit: unit of the output.
        y_scale: public constant in ``y_unit`` that outputs are divided by before modelling.
        max_rows: refuse the file at the first row beyond this many, or person where ``person`` is given; None for
            ``MAX_ROWS``.
        private_inputs: for mechanisms that protect inputs too: inputs outside the box are moved to its edge, and
            neither they nor a constant column are refused, as a refusal would speak of private inputs. How many are
            moved is in ``told`` alone. What is no finite number is refused all the same.
        writing: how the table is written; None for a plain CSV.
        two_valued: whether the outcome is yes or no, in the words for these where they are declared.
        person: name of the column that says whose row it is, in any text that is equal for rows of one person, but
            for spaces around it; None: every row is another person's. Its texts are kept nowhere.
        levels: declared public levels of inputs that are categories, by name. What is none of them counts as "other"
            where that is a level, and is refused elsewhere.
        dates: of the inputs, those that are dates: read strictly, as days since their first day, and so is their box.

    Returns:
        Dataset with X (n, D) and y (n,), 2 <= n <= max_rows.

    Raises:
        ValueError: a declaration does not fit, or the file cannot be read as such a table. The message names the
            column, how many rows are concerned, and a remedy for all of them, never the content of a cell.
    """
    _check_columns(x, y, person)
    bounds, of_each = _interval(y_bounds, "y_bounds"), levels_by_column(x, levels)
    sides = [None if pair is None else _interval(pair, "each entry of x_box") for pair in x_box]
    box = whole_box(sides, of_each)
    units = _units(x, x_units, dates)
    rows = MAX_ROWS if max_rows is None else max_rows
    categories = [Category(name=name, levels=each) for name, each in zip(x, of_each, strict=True) if each is not None]
    values, left_out, neither = read_columns(
        stream,
        [*x, y],
        max_rows=rows,
        writing=writing,
        person=person,
        read_as=[*dates, *categories],
        two_valued=y if two_valued else None,
        units={y: y_unit} | dict(zip(x, units, strict=True)),
    )
    X = values[:, : len(x)].copy()
    told = [_TOLD_NEITHER.format(neither, len(X) + neither)] if neither else []
    if private_inputs:
        outside, X = X, np.clip(X, *np.array(box).T)
        if moved := int((outside != X).any(axis=1).sum()):
            told.append(_TOLD_MOVED.format(moved, len(X)))
    else:
        _check_inputs(X, x, box, dates)
    return Dataset(
        name=name,
        X=X,
        y=values[:, len(x)].copy(),
        x_names=tuple(x),
        x_units=units,
        y_name=y,
        y_unit=y_unit,
        y_bounds=bounds,
        x_box=box,
        privacy_unit=privacy_unit,
        source="your own CSV file",
        licence="yours to state; this project neither keeps nor shares the file",
        bounds_reason="declared by you when the file was read; nothing was computed from its values",
        y_scale=y_scale,
        person=None if person is None else values[:, -1].astype(np.int64),
        x_levels=of_each if categories else None,
        left_out=left_out,
        told=tuple(told),
    )


def _check_columns(x: Sequence[str], y: str, person: str | None) -> None:
    if isinstance(x, str):
        raise ValueError(f"x must be a list of column names, got the text {x!r}; write x=[{x!r}]")
    if not x:
        raise ValueError("x is empty; name at least one input column")
    repeated = sorted({column for column in x if list(x).count(column) > 1})
    if repeated:
        raise ValueError(f"x names the column {repeated[0]!r} more than once; name each input column once")
    if y in x:
        raise ValueError(f"the column {y!r} is both an input (x) and the output (y); remove it from x")
    if person in {*x, y}:
        raise ValueError(f"the column {person!r} says whose row it is, and is an input or the output too; name another")


def _units(x: Sequence[str], given: Sequence[str] | None, dates: Sequence[Dates]) -> tuple[str, ...]:
    """Unit of each input; of dates it is derived."""
    units = _of_length([""] * len(x) if given is None else given, len(x), "x_units")
    derived = {each.name: each.unit for each in dates}
    return tuple(derived.get(name, unit) for name, unit in zip(x, units, strict=True))


def _of_length(entries: Sequence[_T], length: int, name: str) -> Sequence[_T]:
    if len(entries) != length:
        raise ValueError(f"{name} must have {length} entries, one per column of x, got {len(entries)}")
    return entries


def _interval(pair: Any, name: str) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in pair)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be two numbers (low, high), got {pair!r}; declare both") from None
    check_interval((low, high), name)
    return low, high


def _check_inputs(
    X: FloatArray, names: Sequence[str], box: Sequence[tuple[float, float]], dates: Sequence[Dates]
) -> None:
    of_dates = {each.name: each for each in dates}
    for column, name, (low, high) in zip(X.T, names, box, strict=True):
        outside = int(((column < low) | (column > high)).sum())
        if outside:
            ends = [of_dates[name].text(end) if name in of_dates else f"{end:g}" for end in (low, high)]
            raise ValueError(
                f"{outside} of {len(column)} rows have {name!r} outside its x_box ({', '.join(ends)}). "
                "Widen the declared box, or declare as missing what only stands for that"
            )
        if column.min() == column.max():
            raise ValueError(f"column {name!r} has the same value in every row; remove it from x")
