"""Reader of sales from HM Land Registry's Price Paid Data, which reads line by line and joins London's postcodes.

The files have no header line, and every row has the 16 quoted columns of ``COLUMNS``, in that order. The published
codes are: property type D detached, S semi-detached, T terraced, F flat, O other; category A standard sale at full
value, B repossessions, transfers to companies and similar; record status A added, C changed, D deleted (C and D occur
in the monthly files only).

Filters do not use the price, so the selection of sales and their number reveal nothing about prices. Prices of rows
that are left out are not parsed.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from datasets.files.postcodes import Postcodes, opened, plain
from dpgp_core.arrays import FloatArray
from dpgp_core.reading.columns import read_number
from dpgp_core.reading.rows import TableRows
from dpgp_core.reading.writing import Writing

MAX_SALES = 2_000_000  # largest number of selected sales; files with more are refused
FIRST_YEAR = 1995  # first year of the published data
COLUMNS = (
    "transaction identifier",
    "price",
    "date of transfer",
    "postcode",
    "property type",
    "old/new",
    "duration",
    "PAON",
    "SAON",
    "street",
    "locality",
    "town/city",
    "district",
    "county",
    "PPD category type",
    "record status",
)
TYPES = "DSTFO"

_PRICE, _DATE, _POSTCODE, _TYPE, _COUNTY, _CATEGORY, _STATUS = 1, 2, 3, 4, 13, 14, 15
_CODES = {_TYPE: tuple(TYPES), _CATEGORY: ("A", "B"), _STATUS: ("A", "C", "D")}
_DELETED = "deleted again"
_ADDITIONAL = "not standard sales (category B)"
_OTHER_YEAR = "of another year"
_OTHER_TYPE = "of another property type"
_NO_POSTCODE = "without a postcode"
_UNKNOWN = "in Greater London with a postcode that the lookup does not have"
_ELSEWHERE = "outside Greater London"
_ORDER = (_DELETED, _ADDITIONAL, _OTHER_YEAR, _OTHER_TYPE, _NO_POSTCODE, _UNKNOWN, _ELSEWHERE)
_REMEDY = "give pp-<YEAR>.csv or pp-complete.csv as published, without a header line and with its columns in order"


class Sales(NamedTuple):
    """The selected sales, and the reasons why others were left out.

    Attributes:
        X: easting and northing (n, 2) [km] of each sale's postcode.
        price: (n,) [GBP].
        left_out: number of rows by reason, in the order of the filters. Public, because no reason depends on prices.
    """

    X: FloatArray
    price: FloatArray
    left_out: dict[str, int]

    @property
    def unknown(self) -> int:
        """Number of sales in Greater London whose postcode is not in the lookup."""
        return self.left_out.get(_UNKNOWN, 0)


def read_sales(file: str | Path, postcodes: Postcodes, *, year: int | None, property_types: str) -> Sales:
    """Read the standard sales of the given property types in Greater London.

    Args:
        file: path of an unzipped ``pp-<YEAR>.csv`` or ``pp-complete.csv``.
        postcodes: from ``read_postcodes``.
        year: year of the transfer, or None for all years of the file.
        property_types: one or more letters of TYPES.

    Raises:
        ValueError: the file is not such a table, or more than MAX_SALES or fewer than 2 sales are selected. The message
            names column and line, but never the content of a cell.
    """
    if not property_types or set(property_types) - set(TYPES):
        raise ValueError(f"property_types must be letters of {TYPES!r}, for example 'T' for terraced houses")
    if year is not None and not FIRST_YEAR <= year <= date.max.year:
        raise ValueError(f"year must be {FIRST_YEAR} or later, or None for all years of the file, got {year}")
    reasons = Counter[str]()
    rows, prices = array("l"), array("d")
    with opened(Path(file), "price-paid file") as stream:
        for line, row in _checked(stream):
            place = postcodes.row.get(plain(row[_POSTCODE]), -1)
            reason = _reason(row, year, property_types, known=place >= 0)
            if reason is not None:
                reasons[reason] += 1
                continue
            if len(rows) == MAX_SALES:
                raise ValueError(f"it has more than {MAX_SALES} such sales, the limit; choose a year")
            rows.append(place)
            prices.append(_price(row[_PRICE], line))
    left_out = {reason: reasons[reason] for reason in _ORDER if reasons[reason]}
    if len(rows) < 2:
        raise ValueError(_too_few(len(rows), left_out))
    return Sales(postcodes.places[np.array(rows)], np.array(prices), left_out)


def _reason(row: list[str], year: int | None, property_types: str, *, known: bool) -> str | None:
    """Return the reason why a row is left out, or None. Only public columns are used."""
    if row[_STATUS] == "D":
        return _DELETED
    if row[_CATEGORY] != "A":
        return _ADDITIONAL
    if year is not None and row[_DATE][:4] != str(year):
        return _OTHER_YEAR
    if row[_TYPE] not in property_types:
        return _OTHER_TYPE
    if not row[_POSTCODE].strip():
        return _NO_POSTCODE
    if known:
        return None
    return _UNKNOWN if row[_COUNTY].strip().upper() == "GREATER LONDON" else _ELSEWHERE


def _checked(stream: BinaryIO) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, row) of every sale; raise ValueError unless the table is Price Paid Data in the published layout."""
    for line, row in TableRows(stream, Writing(separator=",")):
        if len(row) != len(COLUMNS):
            raise ValueError(f"line {line} has {len(row)} fields where Price Paid Data have {len(COLUMNS)}; {_REMEDY}")
        for place, codes in _CODES.items():
            if row[place] not in codes:
                raise ValueError(_wrong(line, place, f"is none of {', '.join(codes)}"))
        if not _is_date(row[_DATE]):
            raise ValueError(_wrong(line, _DATE, "is no date like 2018-01-31 00:00"))
        yield line, row


def _wrong(line: int, place: int, problem: str) -> str:
    return f"column {place + 1} ({COLUMNS[place]}) {problem} in line {line}; {_REMEDY}"


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text[:10])
    except ValueError:
        return False
    return True


def _price(cell: str, line: int) -> float:
    price = read_number(cell, COLUMNS[_PRICE], line)
    if price > 0:
        return price
    raise ValueError(
        f"column {_PRICE + 1} (price) has a value that is not above 0 in line {line}; correct or remove it"
    )


def _too_few(kept: int, left_out: dict[str, int]) -> str:
    read = kept + sum(left_out.values())
    if not read:
        return "the price-paid file is empty; download it again"
    counts = "; ".join(f"{count} {reason}" for reason, count in left_out.items())
    return (
        f"at least 2 sales are needed, but the filters leave {kept} of the {read} in the price-paid file. "
        f"Left out: {counts}. Choose another year or other property types, or a newer postcode lookup"
    )
