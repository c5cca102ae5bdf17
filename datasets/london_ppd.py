"""Real sales in Greater London: HM Land Registry's Price Paid Data, joined to a postcode lookup.

The project downloads nothing. Download two public files yourself and give their paths::

    datasets.load("london_ppd", ppd="pp-2018.csv", postcodes="ONSPD_FEB_2024_UK.csv", year=2018)

- ``ppd``: the yearly file ``pp-<YEAR>.csv`` (or ``pp-complete.csv``) from the page "Price Paid Data downloads" of
  https://www.gov.uk/government/statistical-data-sets/price-paid-data-downloads (columns: ``files.price_paid``).
- ``postcodes``: the ONS Postcode Directory, https://geoportal.statistics.gov.uk, or the folder of OS Code-Point Open,
  https://osdatahub.os.uk/downloads/open/CodePointOpen (columns: ``files.postcodes``).

The data set contains standard sales (category A, not deleted) of the chosen property types and year whose postcode is
in one of the 32 boroughs or the City. The position of a sale is that of its postcode, which a few neighbours share.
Files are read line by line, so that only London's postcodes and the selected sales are in memory.

A row is a sale. A house that was sold twice has two rows. Each sale is protected separately, and not the house.

Sources: Contains HM Land Registry data (c) Crown copyright and database right. Contains OS data (c) Crown
copyright and database right. Contains Royal Mail data (c) Royal Mail copyright and database right. Source: Office for
National Statistics. All licensed under the Open Government Licence v3.0.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from datasets import london_hexes
from datasets.exhibits import Exhibit
from datasets.files.postcodes import read_postcodes
from datasets.files.price_paid import Sales, read_sales
from dpgp_core.table import Dataset, Outcome, declared_columns

NAME = "london_ppd"
TITLE = "London sales (Price Paid Data)"
FAMILY = "london"  # the same sales, as single sales or as medians of hexagons
DECLARED_YEARS = range(2018, 2025)  # years for which the price range of ``london_hexes`` was declared
SOURCE = (
    "Contains HM Land Registry data, OS data (c) Crown copyright and database right, Royal Mail data (c) Royal Mail "
    "copyright and database right; Office for National Statistics"
)


def load(
    *,
    ppd: str | Path,
    postcodes: str | Path,
    year: int | None = None,
    property_types: str = "T",
    price_bounds: tuple[float, float] | None = None,
) -> Dataset:
    """Read the sales of Greater London from files that you have downloaded.

    Args:
        ppd: path of the unzipped price-paid file.
        postcodes: path of the unzipped postcode lookup, a CSV or a folder of CSVs.
        year: year of the transfer, or None for all years of the file.
        property_types: letters of D (detached), S (semi-detached), T (terraced), F (flat), O (other).
        price_bounds: public (low, high) [GBP] to which prices are clipped. Declare round numbers without looking at
            these files; statistics of the register are not allowed, as they are computed from the same sales. None for
            the range declared for 2018 to 2024. There is no default for other years, because their prices are
            different.

    Returns:
        X (n, 2): easting and northing [km] of each sale's postcode; y (n,): ln(price in GBP), n >= 2.

    Raises:
        ValueError: a file is not the expected one (the message says which, and what to give instead), an option is
            invalid, or fewer than 2 sales are left. No message repeats a cell of the price-paid file.
    """
    y_bounds, reason = _bounds(year, price_bounds)
    sales = read_sales(ppd, read_postcodes(postcodes, london_hexes.X_BOX), year=year, property_types=property_types)
    return Dataset(
        name=NAME,
        X=sales.X,
        y=np.log(sales.price),
        columns=declared_columns(("easting", "northing"), london_hexes.X_BOX, units=("km", "km")),
        outcome=Outcome(name="ln price", unit="ln GBP", bounds=y_bounds, scale=london_hexes.Y_SCALE),
        privacy_unit="one sale's price",
        source=f"{SOURCE}. {_how_many(sales, year, property_types)}",
        licence=london_hexes.LICENCE,
        bounds_reason=reason,
    )


def _bounds(year: int | None, prices: tuple[float, float] | None) -> tuple[tuple[float, float], str]:
    """Return the bounds [ln GBP] and the reason why they are public. They are declared, never computed from files.

    Raises:
        ValueError: none are declared for these years, or they are not an interval of prices.
    """
    if prices is not None:
        low, high = prices
        if not 0 < low < high < math.inf:
            raise ValueError(f"price_bounds must be two prices 0 < low < high in GBP, got {prices}")
        return (math.log(low), math.log(high)), f"declared by you: GBP {low:,.0f} to {high:,.0f}"
    if year in DECLARED_YEARS:
        return london_hexes.Y_BOUNDS, london_hexes.BOUNDS_REASON
    years = "all years of a file" if year is None else f"{year}"
    raise ValueError(
        f"no price range is declared for {years}; give price_bounds=(low, high) in GBP, round figures that you would "
        "declare without having seen these sales"
    )


def _how_many(sales: Sales, year: int | None, property_types: str) -> str:
    of_year = "of all years of the file" if year is None else f"of {year}"
    return (
        f"{len(sales.price)} standard sales {of_year}, property types {property_types}; "
        f"{sales.unknown} more lack a position, as their postcodes are not in the lookup"
    )


EXHIBITS: tuple[Exhibit, ...] = ()  # no page shows it, because it needs files of the user
