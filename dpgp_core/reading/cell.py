"""One cell of a table as the number that it stands for. No message holds a cell: it names column, line and remedy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol

from ..dates import looks_like_a_date
from .dialect import Dialect

Reader = Callable[[str, str, int], float]
"""A cell, its column and its line: the number that it stands for."""


class ReadAs(Protocol):
    """A column that is read as something other than a number, in its own way."""

    @property
    def name(self) -> str:
        """Of the column."""
        ...

    def read(self, cell: str, column: str, line: int) -> float:
        """A cell as a number; ValueError names column, line and remedy, never the cell."""
        ...


def readers_of(columns: Sequence[str], read_as: Sequence[ReadAs], dialect: Dialect) -> list[Reader]:
    """How a cell of each column is read: as a number if nothing else is said."""
    other = {each.name: each.read for each in read_as}

    def number(cell: str, column: str, line: int) -> float:
        return read_number(cell, column, line, dialect.decimal)

    return [other.get(column, number) for column in columns]


def read_number(cell: str, column: str, line: int, decimal: str = ".") -> float:
    """One cell as a finite number; ValueError names column, line and remedy, never the cell."""
    text, remedy = cell, "correct or remove that row"
    if decimal == ",":  # a point is then no decimal mark, and a number with one is not read as something else
        text = "text" if "." in cell else cell.replace(",", ".")
    # float() takes "1_000" for a thousand, but whoever wrote that meant a code; it takes digits of any script too.
    value = None if "_" in text or not text.isascii() else as_float(text)
    if value is None:
        problem = "text instead of a number" if cell.strip() else "an empty cell"
        if looks_like_a_date(cell):
            problem, remedy = "a date instead of a number", f"declare {column!r} a date: its box is then two dates"
    elif math.isfinite(value):
        return value
    else:
        problem = "a missing value (NaN)" if math.isnan(value) else "an infinite value"
    # No error is raised while another is handled: a chained one would show the cell in a traceback.
    raise ValueError(f"column {column!r} has {problem} in line {line} of the file; {remedy}")


def as_float(text: str) -> float | None:
    """Text as Python reads a number, infinite or undefined ones too; None for what is none."""
    try:
        return float(text)
    except ValueError:
        return None
