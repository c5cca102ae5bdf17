"""A table in a file as a ``Dataset``: streamed, checked, and never guessed from.

Bounds and box are declared by the caller; no default is ever computed from the file, because a bound
read off private data is itself a release. For the same reason no error message repeats a cell. Records are finite
numbers by definition: rows that lack a value in one of these columns are left out where words are declared for
them, and refused elsewhere, also where inputs are private. Which rows are complete is public.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ..arrays import FloatArray
from ..dates import Format
from ..levels import levels_by_column
from ..table import Column, Dataset, Notice, Outcome, declared_columns, pair_of
from .columns import read_columns
from .kinds import as_text
from .writing import AS_USUAL, Declared, Writing, words

MAX_ROWS = 2_000_000  # rows beyond it are refused, not read


def read_csv(
    path: str | Path | BinaryIO,
    *,
    x: Sequence[str],
    y: str,
    y_bounds: tuple[float, float],
    x_box: Sequence[tuple[float, float] | tuple[str, str] | None],
    privacy_unit: str = "one record",
    name: str = "your data",
    x_units: Sequence[str] | None = None,
    y_unit: str = "",
    y_scale: float = 1.0,
    person: str | None = None,
    levels: Mapping[str, Sequence[str]] | None = None,
    separator: str | None = None,
    numbers: str | None = None,
    notations: Sequence[str] | None = None,
    encoding: str | None = None,
    missing: Sequence[str | float] | None = None,
    yes: Declared = None,
    no: Declared = None,
    date_order: Format | None = None,
    ignore: Sequence[int | str] | None = None,
    sheet: str | None = None,
) -> Dataset:
    """Read columns of a file with a header line. Every cell of them is a finite number, a date or one of its levels.

    Args:
        path: of the file; or a file object opened in binary mode (read from its position, not closed). It is a text, a
            workbook (.xlsx, .xls, .xlsb, .ods), a file of Stata, SPSS or SAS, a Parquet or Arrow file, or one of these
            packed (.gz, .zip). All but texts need the extra ``files``.
        x: names of the D input columns.
        y: name of the output column; values outside ``y_bounds`` are kept and counted in ``clipped_count``.
        y_bounds: public (low, high), in ``y_unit``.
        x_box: public (low, high) pairs, in ``x_units``, one for each input that is no category; all inputs lie inside.
            Two dates, such as ("2019-01-01", "2023-12-31"), make an input one of dates: X then holds days since the
            first of them.
        privacy_unit: whom one row is about.
        name: short display name.
        x_units: D units, or None for none.
        y_unit: unit of the output.
        y_scale: public constant in ``y_unit`` that outputs are divided by before modelling.
        person: name of the column that says whose row it is, where people may have several, in any text that is equal
            for rows of one person, but for spaces around it; its texts are not kept.
        levels: declared public levels of inputs that are categories, by name. Any other text counts as "other"
            where that is a level, and is refused elsewhere.
        separator: how the table is written: this and the following are described at ``Writing``.
        numbers: one of ``NUMBERS``; None for "1234.5", unless every fraction of a column has exactly three digits.
        notations: further ones that are read, some of ``NOTATIONS``.
        encoding: None for UTF-8, or that of a byte order mark.
        missing: words and codes for a missing value; None: a row that lacks one is refused.
        yes: words or codes that mean 1 in an outcome of yes and no.
        no: those that mean 0.
        date_order: one of ``ORDERS``.
        ignore: lines that are no rows of the table.
        sheet: of a workbook with several.

    Returns:
        Dataset with X (n, D) and y (n,), 2 <= n <= MAX_ROWS.

    Raises:
        ValueError: a declaration does not fit, or the file cannot be read as such a table. The message names the
            column, how many rows are concerned, and a remedy for all of them, never the content of a cell.
    """
    writing = Writing(
        separator=separator,
        numbers=numbers,
        notations=None if notations is None else tuple(notations),
        encoding=encoding,
        missing=None if missing is None else tuple(missing),
        yes=words(yes),
        no=words(no),
        date_order=date_order,
        ignore=None if ignore is None else tuple(ignore),
        sheet=sheet,
    )
    _check_names(x, y, person)
    columns = declared_columns(x, x_box, units=x_units, levels=levels_by_column(x, levels), order=writing.date_order)
    outcome = Outcome(name=y, unit=y_unit, bounds=pair_of(y_bounds, "y_bounds"), scale=y_scale)
    with _opened(path) as stream:
        table = as_text(stream, sheet, columns=[*x, y, *([] if person is None else [person])])
        return read_dataset(
            table.stream, columns, outcome, privacy_unit=privacy_unit, name=name, writing=writing, person=person
        )


def read_dataset(
    stream: BinaryIO,
    columns: tuple[Column, ...],
    outcome: Outcome,
    *,
    privacy_unit: str = "one record",
    name: str = "your data",
    writing: Writing = AS_USUAL,
    person: str | None = None,
    max_rows: int | None = None,
    private_inputs: bool = False,
) -> Dataset:
    """Read a table as it is declared: see ``read_csv``.

    Args:
        columns: the inputs; dates are read strictly, as days since their first day.
        outcome: the output, as it is read.
        max_rows: refuse the file at the first row beyond this many, or person where ``person`` is given; None for
            ``MAX_ROWS``.
        private_inputs: for mechanisms that protect inputs too: inputs outside the box are moved to its edge, and
            neither they nor a constant column are refused, as a refusal would speak of private inputs. How many are
            moved is in ``notices`` alone. Cells that are no finite number are refused all the same.

    Raises:
        ValueError: as ``read_csv`` does.
    """
    most, dim = MAX_ROWS if max_rows is None else max_rows, len(columns)
    read = read_columns(stream, columns, outcome.name, outcome.unit, max_rows=most, writing=writing, person=person)
    X, n, notices = read.values[:, :dim].copy(), len(read.values), list[Notice]()
    if read.neither:
        neither = (
            f"{read.neither:,} of {n + read.neither:,} outcomes are neither the word for yes nor that for no, and "
        )
        notices.append(Notice(read.neither, n + read.neither, f"{neither}are left out."))
    if (lacking := read.rows - n) > n:
        notices.append(Notice(lacking, read.rows, f"{lacking:,} of {read.rows:,} rows lack a value and are left out."))
    if private_inputs:
        outside, X = X, np.clip(X, *np.array([each.box for each in columns]).T)
        if moved := int((outside != X).any(axis=1).sum()):
            outside_box = f"{moved:,} of {n:,} rows have an input outside its x_box and count at its edge. If they are "
            checked = "many, check the box, its unit, how numbers are written, and the order of dates."
            notices.append(Notice(moved, n, outside_box + checked))
    else:
        _check_inputs(X, columns)
    return Dataset(
        name=name,
        X=X,
        y=read.values[:, dim].copy(),
        columns=columns,
        outcome=outcome,
        privacy_unit=privacy_unit,
        source="your own CSV file",
        licence="yours to state; this project neither keeps nor shares the file",
        bounds_reason="declared by you when the file was read; nothing was computed from its values",
        person=None if person is None else read.values[:, -1].astype(np.int64),
        left_out=read.left_out,
        rows_left_out=read.nameless if person is not None and private_inputs else read.rows - n,
        notices=tuple(notices),
    )


def _check_names(x: Sequence[str], y: str, person: str | None) -> None:
    """Raise ValueError unless the columns that are named are different ones, with at least one input."""
    if isinstance(x, str):
        raise ValueError(f"x must be a list of column names, got the text {x!r}; write x=[{x!r}]")
    if not x:
        raise ValueError("x is empty; name at least one input column")
    repeated = next((column for column in x if list(x).count(column) > 1), None)
    if repeated is not None:
        raise ValueError(f"x names the column {repeated!r} more than once; name each input column once")
    if y in x:
        raise ValueError(f"the column {y!r} is both an input (x) and the output (y); remove it from x")
    if person in {*x, y}:
        raise ValueError(f"the column {person!r} says whose row it is, and is an input or the output too; name another")


def _check_inputs(X: FloatArray, columns: Sequence[Column]) -> None:
    for values, column in zip(X.T, columns, strict=True):
        low, high = column.box
        outside = int(((values < low) | (values > high)).sum())
        if outside:
            ends = [column.text(end) if column.dates else f"{end:g}" for end in (low, high)]
            raise ValueError(
                f"{outside} of {len(values)} rows have {column.name!r} outside its x_box ({', '.join(ends)}). "
                "Check its unit, how numbers are written, and the order of dates. Widen the declared box, or declare "
                "as missing what only stands for that"
            )
        if values.min() == values.max():
            raise ValueError(f"column {column.name!r} has the same value in every row; remove it from x")


def _opened(path: str | Path | BinaryIO) -> AbstractContextManager[BinaryIO]:
    if not isinstance(path, (str, Path)):
        return nullcontext(path)
    try:
        return open(path, "rb")
    except OSError as error:
        raise ValueError(f"cannot open {str(path)!r}: {error.strerror}; check the path") from None
