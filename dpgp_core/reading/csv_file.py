"""Your own CSV file as a Dataset: streamed, checked, and never guessed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import BinaryIO

from ..data import Dataset
from ..dates import Format
from ..levels import beside_categories, levels_by_column
from .csv_table import read_dataset
from .date_inputs import date_inputs
from .workbooks.sheet import as_table
from .writing import Writing


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
    numbers: str = "1234.5",
    encoding: str | None = None,
    missing: Sequence[str | float] | None = None,
    yes: str | float | Sequence[str | float] | None = None,
    no: str | float | Sequence[str | float] | None = None,
    date_order: Format | None = None,
    ignore: Sequence[int | str] | None = None,
    sheet: str | None = None,
) -> Dataset:
    """Read columns of a file with a header line. Every cell of them is a finite number, a date or one of its levels.

    Args:
        path: of the file, a text or an Excel workbook (.xlsx); or a file object opened in binary mode (read from where
            it stands, not closed).
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
        person: name of the column that says whose row it is, where people may have several; its texts are not kept.
        levels: declared public levels of inputs that are categories, by name; see ``read_dataset``.
        separator: between values; None: the one that the header line has most of.
        numbers: how they are written: "1234.5", "1,234.5", "1234,5", "1.234,5" or "1 234,5".
        encoding: None for UTF-8, or what a byte order mark says; "cp1252" is usual on Windows.
        missing: words and codes that mean that a value is missing, such as -999, beside an empty cell, NA and the
            like: rows that lack a value are then left out, and counted in ``left_out``. None: they are refused.
        yes: words or codes that mean 1 in an outcome of yes and no; what is neither that nor ``no`` is missing.
        no: those that mean 0.
        date_order: how the file writes dates: "year-month-day", "day/month/year" or "month/day/year", with any of
            . / - and a space between them, months by number or name, and a time of day behind them or not.
        ignore: lines that are no rows of the table, such as titles above the names, units below them and notes: [2],
            or ["1-3", "63-"].
        sheet: of a workbook with several, the name of the one that holds the table.

    Returns:
        Dataset with X (n, D) and y (n,), 2 <= n <= MAX_ROWS.

    Raises:
        ValueError: a declaration does not fit, or the file cannot be read as such a table. The message names the
            column, how many rows are concerned, and a remedy for all of them, never the content of a cell.
    """
    writing = Writing(
        separator=separator,
        numbers=numbers,
        encoding=encoding,
        missing=None if missing is None else tuple(missing),
        yes=_words(yes),
        no=_words(no),
        date_order=date_order,
        ignore=None if ignore is None else tuple(ignore),
        sheet=sheet,
    )
    sides = x_box if not levels else beside_categories(x_box, levels_by_column(x, levels))
    fits = len(x) == len(sides) and not isinstance(x, str)
    dates, box = date_inputs(x, sides, order=writing.date_order) if fits else ((), tuple(sides))
    with _opened(path) as stream:
        return read_dataset(
            as_table(stream, sheet),
            x=x,
            y=y,
            y_bounds=y_bounds,
            x_box=box,
            privacy_unit=privacy_unit,
            name=name,
            x_units=x_units,
            y_unit=y_unit,
            y_scale=y_scale,
            writing=writing,
            two_valued=writing.two_valued,
            person=person,
            levels=levels,
            dates=dates,
        )


def _words(words: str | float | Sequence[str | float] | None) -> tuple[str | float, ...] | None:
    if words is None:
        return None
    return (words,) if isinstance(words, str | int | float) else tuple(words)


def _opened(path: str | Path | BinaryIO) -> AbstractContextManager[BinaryIO]:
    if not isinstance(path, (str, Path)):
        return nullcontext(path)
    try:
        return open(path, "rb")
    except OSError as error:
        raise ValueError(f"cannot open {str(path)!r}: {error.strerror}; check the path") from None
