"""Your own CSV file as a Dataset: streamed, checked, and never guessed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from ..data import Dataset
from ..dates import Format
from ..levels import beside_categories, levels_by_column
from .csv_table import read_dataset
from .date_inputs import date_inputs
from .dialect import dialect_of


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
    dialect: str = "comma",
    person: str | None = None,
    levels: Mapping[str, Sequence[str]] | None = None,
    date_format: Format = "iso",
) -> Dataset:
    """Read columns of a UTF-8 file with a header line. Every cell of them is a finite number, or one of its levels.

    Args:
        path: of the file, or a file object opened in binary mode (read from where it stands, not closed).
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
        dialect: "comma"; "semicolon", which goes with decimal commas; or "tab".
        person: name of the column that says whose row it is, where people may have several; its texts are not kept.
        levels: declared public levels of inputs that are categories, by name; see ``read_dataset``.
        date_format: how the file writes dates: "iso", as 2024-03-01; or "day.month.year".

    Returns:
        Dataset with X (n, D) and y (n,), 2 <= n <= MAX_ROWS.

    Raises:
        ValueError: a declaration does not fit, or the file cannot be read as such a table. The
            message names the column and the line of the file, never the content of a cell.
    """
    declared = dialect_of(dialect)
    sides = x_box if not levels else beside_categories(x_box, levels_by_column(x, levels))
    dates, box = date_inputs(x, sides) if len(x) == len(sides) and not isinstance(x, str) else ((), tuple(sides))
    dates = tuple(replace(each, format=date_format) for each in dates)
    with _opened(path) as stream:
        return read_dataset(
            stream,
            x=x,
            y=y,
            y_bounds=y_bounds,
            x_box=box,
            privacy_unit=privacy_unit,
            name=name,
            x_units=x_units,
            y_unit=y_unit,
            y_scale=y_scale,
            dialect=declared,
            person=person,
            levels=levels,
            dates=dates,
        )


def _opened(path: str | Path | BinaryIO) -> AbstractContextManager[BinaryIO]:
    if not isinstance(path, (str, Path)):
        return nullcontext(path)
    try:
        return open(path, "rb")
    except OSError as error:
        raise ValueError(f"cannot open {str(path)!r}: {error.strerror}; check the path") from None
