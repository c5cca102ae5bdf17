"""Reader of the operator's monthly journey files (CSV or zip), which reads line by line.

There are two layouts. Until January 2021 a row has the duration in seconds (``tripduration``) and columns such as
"start station latitude", in some months with capitals. Since then it has ``started_at``, ``ended_at`` and columns such
as ``start_lat``.
"""

from __future__ import annotations

import zipfile
import zlib
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from dpgp_core.arrays import FloatArray
from dpgp_core.reading.columns import read_number
from dpgp_core.reading.rows import TableRows
from dpgp_core.reading.writing import Writing

MAX_ROWS = 6_000_000  # largest number of rows of a file, more than any month so far has

# names of columns in lower case, without spaces and underscores
_OLD = ("startstationlatitude", "startstationlongitude", "endstationlatitude", "endstationlongitude", "tripduration")
_NEW = ("startlat", "startlng", "endlat", "endlng", "startedat", "endedat")
_EMPTY = {"", "NULL", "\\N"}  # unknown positions


def read_journeys(file: str | Path, box: tuple[tuple[float, float], ...]) -> tuple[FloatArray, FloatArray]:
    """Read every journey whose four coordinates are known and inside the box.

    Args:
        file: path of a CSV, or of a zip with one or more CSVs of journeys.
        box: public (low, high) of start latitude, start longitude, end latitude, end longitude, in degrees.

    Returns:
        X (n, 4) in degrees and y (n,) in seconds, n >= 2.

    Raises:
        ValueError: the file is no such table, has more than MAX_ROWS rows, or fewer than 2 journeys in the
            box. The message names column and line, never the content of a cell.
    """
    low, high = np.array(box).T
    values, n = array("d"), 0
    with _reported(Path(file)):
        for n, journey in enumerate(chain.from_iterable(map(_journeys, _streams(Path(file)))), start=1):
            if n > MAX_ROWS:
                raise ValueError(f"the file has more than {MAX_ROWS} rows, the limit; take a shorter period")
            if journey and all(a <= c <= b for a, c, b in zip(low, journey, high, strict=False)):
                values.extend(journey)
    table = np.array(values).reshape(-1, 5)
    if len(table) < 2:
        raise ValueError(
            f"{len(table)} of the file's {n} journeys have both stations inside the box {box}; "
            "at least 2 are needed, is it a file of New York's journeys?"
        )
    return table[:, :4].copy(), table[:, 4].copy()


def _journeys(stream: BinaryIO) -> Iterator[tuple[float, ...]]:
    """Yield (four coordinates, seconds) of every row, or () where a coordinate is not known."""
    rows = TableRows(stream, Writing(separator=","))
    _, header = next(rows, (0, []))
    titles = ["".join(title.lower().split()).replace("_", "") for title in header]
    columns = next((layout for layout in (_OLD, _NEW) if set(layout) <= set(titles)), None)
    if columns is None:
        raise ValueError(
            "the file has neither the columns of the operator's files until 2021 ('tripduration', 'start station "
            "latitude', ...) nor those since ('started_at', 'ended_at', 'start_lat', ...); is it a journey file?"
        )
    places = [titles.index(column) for column in columns]
    for line, row in rows:
        if len(row) != len(header):
            raise ValueError(f"line {line} has {len(row)} fields where the header has {len(header)}; download it again")
        cells = [row[place] for place in places]
        if any(cell.strip() in _EMPTY for cell in cells[:4]):
            yield ()
            continue
        where = [read_number(cell, header[place], line) for cell, place in zip(cells[:4], places, strict=False)]
        if columns is _OLD:
            yield (*where, read_number(cells[4], header[places[4]], line))
        else:
            start, end = (_time(row[place], header[place], line) for place in places[4:])
            yield (*where, (end - start).total_seconds())


def _time(cell: str, column: str, line: int) -> datetime:
    try:
        return datetime.fromisoformat(cell.strip()).replace(tzinfo=None)
    except ValueError:
        pass
    # Outside the except block: a chained error would show the cell in a traceback.
    raise ValueError(f"column {column!r} has no date and time like 2021-02-01 08:30:00 in line {line} of the file")


def _streams(file: Path) -> Iterator[BinaryIO]:
    """Yield the file, or every CSV of the zip, opened in binary mode."""
    if not zipfile.is_zipfile(file):
        with open(file, "rb") as stream:
            yield stream
        return
    with zipfile.ZipFile(file) as archive:
        names = [name for name in archive.namelist() if name.lower().endswith(".csv") and "__MACOSX" not in name]
        if not names:
            raise ValueError(f"the zip file {file.name!r} holds no CSV; take the operator's monthly file")
        for name in names:
            with archive.open(name) as stream:
                yield cast(BinaryIO, stream)


@contextmanager
def _reported(file: Path) -> Iterator[None]:
    """Convert errors of the file system and of the archive to messages for the user."""
    try:
        yield
    except OSError as error:
        raise ValueError(f"cannot open {str(file)!r}: {error.strerror or error}; check the path") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError):
        problem = f"the zip file {file.name!r} is damaged, encrypted or of an unknown kind; download it again"
    else:
        return
    raise ValueError(problem)
