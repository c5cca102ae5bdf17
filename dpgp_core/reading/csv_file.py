"""Read a table from a file as a ``Dataset``: row by row, with all cells checked, and without guesses.

Bounds and box are declared by the caller. They are never computed from the file, because a bound that depends on
private data would itself be a release. For the same reason no error message repeats a cell. Every record consists of
finite numbers. If words for missing values are declared, rows that lack a value in one of the columns are left out;
otherwise such a file is refused, also if its inputs are private. Which rows are complete is public.
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
from .writing import AS_USUAL, Declared, Writing

MAX_ROWS = 2_000_000  # a file with more rows is refused


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
    """Read columns of a file with a header line. Every cell must be a finite number, a date or a declared category.

    Args:
        path: path of the file, or a file object opened in binary mode (read from its position, not closed). The file is
            text, a workbook (.xlsx, .xls, .xlsb, .ods), a file of Stata, SPSS or SAS, a Parquet or Arrow file, or one
            of these packed (.gz, .zip). All but text need the extra ``files``.
        x: names of the D input columns.
        y: name of the output column; values outside ``y_bounds`` are kept and counted in ``clipped_count``.
        y_bounds: public (low, high), in ``y_unit``.
        x_box: public (low, high) pairs in ``x_units``, one for each input, None for a categorical one; all inputs must
            lie inside. If the pair consists of dates, such as ("2019-01-01", "2023-12-31"), the input holds dates: X
            then holds days since the first of the two.
        privacy_unit: what one row describes.
        name: short display name.
        x_units: D units, or None if there are none.
        y_unit: unit of the output.
        y_scale: public constant in ``y_unit`` that outputs are divided by before modelling.
        person: name of the column that identifies the person of a row, if people may have several rows. Rows of one
            person have equal texts there, apart from surrounding spaces. The texts are not kept.
        levels: declared public categories of categorical inputs, by name of the input. Any other text counts as "other"
            if that is a category; otherwise the file is refused.
        separator, numbers, notations, encoding, missing, yes, no, date_order, ignore, sheet: how the table is written;
            see ``Writing``. None for a table as usual, in which no value is missing.

    Returns:
        Dataset with X (n, D) and y (n,), 2 <= n <= MAX_ROWS.

    Raises:
        ValueError: a declaration does not fit, or the file cannot be read as declared. The message names the column,
            the number of rows concerned and a remedy for all of them, never the content of a cell.
    """
    writing = Writing(
        separator=separator,
        numbers=numbers,
        notations=notations,
        encoding=encoding,
        missing=missing,
        yes=yes,
        no=no,
        date_order=date_order,
        ignore=ignore,
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
    """Read a table with the given declarations; see ``read_csv``.

    Args:
        columns: the inputs. Dates are read strictly in the declared order, as days since the first day of the box.
        outcome: the output, in the unit of the table.
        privacy_unit: what one row describes.
        name: short display name.
        person: name of the column that identifies the person of a row; None if there is none.
        max_rows: largest number of rows, or of people if ``person`` is given; None for ``MAX_ROWS``.
        private_inputs: whether the mechanism protects the inputs too. Inputs outside the box are then moved to its
            edge, and a constant column is accepted, because a refusal would reveal something about private inputs. Only
            ``notices`` says how many were moved. Cells that are not finite numbers are refused in any case.
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
    """Raise ValueError unless the named columns are all different and at least one of them is an input."""
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
        raise ValueError(f"the column {person!r} identifies people, and is an input or the output too; name another")


def _check_inputs(X: FloatArray, columns: Sequence[Column]) -> None:
    for values, column in zip(X.T, columns, strict=True):
        low, high = column.box
        outside = int(((values < low) | (values > high)).sum())
        if outside:
            ends = [column.text(end) if column.dates else f"{end:g}" for end in (low, high)]
            raise ValueError(
                f"{outside} of {len(values)} rows have {column.name!r} outside its x_box ({', '.join(ends)}). "
                "Check its unit, how numbers are written, and the order of dates. Widen the declared box, or declare "
                "as missing the codes that mean that"
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
