"""What is wrong with a column as what it is declared to be: to be said as soon as it is chosen."""

from __future__ import annotations

from typing import BinaryIO, Literal

from ..dates import Dates, Format
from .cell import ReadAs
from .csv_rows import read_columns
from .csv_table import MAX_ROWS
from .dialect import dialect_of

ColumnKind = Literal["number", "date", "category"]
MOST_LEVELS = 20
_ANY_DAY = "2000-01-01"


class _Category:
    """Reads texts; each new one is a level."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._levels = dict[str, int]()

    def read(self, cell: str, column: str, line: int) -> float:
        """The number of a level."""
        level = cell.strip()
        if not level:
            raise ValueError(
                f"column {column!r} has an empty cell in line {line} of the file; write a level there, such as "
                "'unknown', or remove that row"
            )
        found = self._levels.setdefault(level, len(self._levels))
        if found >= MOST_LEVELS:
            raise ValueError(
                f"column {column!r} has more than {MOST_LEVELS} different entries by line {line} of the file; declare "
                "it a number or a date if it is one, or group them"
            )
        return float(found)


def column_problem(
    stream: BinaryIO, column: str, kind: ColumnKind, *, dialect: str = "comma", date_format: Format = "iso"
) -> str | None:
    """The first thing that is wrong with a column as a number, a date or a category; None if nothing is.

    One pass over the stream, for whoever holds the table: it says in which line, and never what stands there.

    Args:
        stream: the table, in binary mode.
        column: its name.
        kind: what it is declared to be.
        dialect: "comma"; "semicolon", which goes with decimal commas; or "tab".
        date_format: how dates are written.

    Raises:
        ValueError: kind, dialect or date_format is unknown.
    """
    if kind not in ("number", "date", "category"):
        raise ValueError(f"kind must be number, date or category, got {kind!r}")
    dates = Dates(name=column, first=_ANY_DAY, format=date_format)
    read_as: dict[str, tuple[ReadAs, ...]] = {"number": (), "date": (dates,), "category": (_Category(column),)}
    declared = dialect_of(dialect)
    try:
        read_columns(stream, [column], max_rows=MAX_ROWS, dialect=declared, read_as=read_as[kind])
    except ValueError as error:
        return str(error)
    return None
