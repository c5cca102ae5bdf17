"""Reader of the positions of Greater London's postcodes, from a postcode lookup that the user has downloaded.

It reads either of two public products of the United Kingdom, unzipped. A folder stands for all ``*.csv`` in it:

- ONS Postcode Directory (ONSPD) or National Statistics Postcode Lookup (NSPL): ``Data/ONSPD_<MONTH>_<YEAR>_UK.csv``
  with a header line, or the folder ``Data/multi_csv``. The columns that are read are the postcode ``pcds``, the
  position ``oseast1m`` and ``osnrth1m`` (since August 2025 ``east1m`` and ``north1m``), and the code of the district,
  ``oslaua``, ``laua`` or, since August 2025, ``lad25cd`` (with any year). It includes closed postcodes, which old sales
  need.
- OS Code-Point Open: the folder ``Data/CSV``, with a file for each postcode area and no header lines. The 10 columns
are
  postcode, positional quality, eastings, northings, country, NHS region, NHS area, county, district and ward codes.

Only postcodes in a district of Greater London (codes E09...) are kept: about 330,000, some 50 MB.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from dpgp_core.arrays import FloatArray
from dpgp_core.reading.columns import read_number
from dpgp_core.reading.rows import TableRows
from dpgp_core.reading.writing import Writing

LONDON = "E09"  # codes of the 32 boroughs and the City begin with it
Box = tuple[tuple[float, float], tuple[float, float]]

_ONSPD = (r"pcds", r"(os)?east1m", r"(osnrth|north)1m", r"(os)?laua|lad\d\dcd")
_CODE_POINT = (0, 2, 3, 8)
_CODE_POINT_WIDTH = 10
_ZIP = b"PK\x03\x04"


class Postcodes(NamedTuple):
    """Postcodes of Greater London.

    Attributes:
        row: row of ``places`` of each postcode, which is written in capitals and without spaces.
        places: easting and northing (m, 2) [km, British National Grid].
    """

    row: dict[str, int]
    places: FloatArray


class _Layout(NamedTuple):
    places: tuple[int, ...]  # of postcode, easting, northing and district in a row
    width: int
    first: list[list[str]]  # rows already read that are not a header


def read_postcodes(path: str | Path, box: Box) -> Postcodes:
    """Read the London postcodes that have a position from a lookup file, or from every CSV of a folder.

    Args:
        path: the file or the folder.
        box: public (low, high) of easting and northing [km] that all of London lies in.

    Raises:
        ValueError: it is no such lookup, or it holds no postcode of Greater London. Every message says what to do.
    """
    path = Path(path)
    files = sorted(path.glob("*.csv")) if path.is_dir() else [path]
    if not files:
        raise ValueError(
            f"the folder {str(path)!r} holds no .csv file; give the folder of the unzipped postcode lookup"
        )
    row: dict[str, int] = {}
    metres = array("i")
    for file in files:
        with opened(file, "postcode lookup") as stream:
            for postcode, easting, northing in _london(stream, box):
                row[postcode] = len(metres) // 2
                metres.extend((easting, northing))
    if not row:
        raise ValueError(
            f"the postcode lookup {path.name!r} holds no postcode of Greater London (district codes {LONDON}...); "
            "give the file of the whole country, or the folder with the files of all postcode areas"
        )
    return Postcodes(row, np.array(metres, dtype=np.float64).reshape(-1, 2) / 1000)


def plain(postcode: str) -> str:
    """Return a postcode in capitals and without spaces, in which lookups and sales differ."""
    return postcode.replace(" ", "").upper()


@contextmanager
def opened(file: Path, kind: str) -> Iterator[BinaryIO]:
    """Open a CSV for reading, and convert errors to messages that name the file."""
    try:
        stream = open(file, "rb")  # noqa: SIM115 (closed below)
    except OSError as error:
        raise ValueError(f"cannot open the {kind} {str(file)!r}: {error.strerror}; check the path") from None
    with stream:
        if stream.peek(len(_ZIP)).startswith(_ZIP):
            raise ValueError(f"the {kind} {file.name!r} is a zip file; unzip it and give what is inside")
        try:
            yield stream
        except ValueError as error:
            problem = f"{kind} {file.name!r}: {error}"
        else:
            return
    raise ValueError(problem)


def _london(stream: BinaryIO, box: Box) -> Iterator[tuple[str, int, int]]:
    """Yield (postcode, easting, northing) [m] of every London postcode with a position."""
    rows = TableRows(stream, Writing(separator=","))
    layout = _layout(next(rows, (0, []))[1])
    for line, row in chain(((1, row) for row in layout.first), rows):
        if len(row) != layout.width:
            raise ValueError(f"line {line} has {len(row)} fields instead of {layout.width}; download it again")
        postcode, easting, northing, district = (row[place] for place in layout.places)
        # If the position is unknown, the cell is empty (ONSPD) or 0 (Code-Point Open).
        if not district.startswith(LONDON) or easting.strip() in {"", "0"}:
            continue
        place = read_number(easting, "easting", line), read_number(northing, "northing", line)
        if not all(low <= metres / 1000 <= high for metres, (low, high) in zip(place, box, strict=True)):
            raise ValueError(
                f"line {line} puts a London postcode outside {box} km; is it on the British National Grid?"
            )
        yield plain(postcode), round(place[0]), round(place[1])


def _layout(row: list[str]) -> _Layout:
    titles = [title.strip().lower() for title in row]
    found = [[i for i, title in enumerate(titles) if re.fullmatch(name, title)] for name in _ONSPD]
    if all(found):
        return _Layout(tuple(places[0] for places in found), len(row), [])
    if len(row) == _CODE_POINT_WIDTH and row[2].isdigit() and row[3].isdigit():
        return _Layout(_CODE_POINT, len(row), [row])
    if not row:
        raise ValueError("the file is empty; download it again")
    raise ValueError(
        "it is neither the ONS Postcode Directory (a header with pcds, oseast1m, osnrth1m and oslaua, or east1m, "
        "north1m and lad25cd) nor OS Code-Point Open (10 columns without a header); give one of these two"
    )
