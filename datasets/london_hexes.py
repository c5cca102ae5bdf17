"""Median prices of terraced houses in London's hexagons, and the map of the hexagons.

``build_london_hexes.py`` aggregated 1,888 sales of terraced houses of 2018-2024 to H3 cells of resolution 7. A record
is the median of a hexagon. A guarantee for this data set therefore protects a median, and not a single sale. The
positions of the hexagons with sales, and the numbers of sales, are public here.

Source of the sales: Contains HM Land Registry data (c) Crown copyright and database right
2024. Licensed under the Open Government Licence v3.0.
"""

from __future__ import annotations

import math
from pathlib import Path

import h3
import numpy as np
import pandas as pd

from datasets.exhibits import Exhibit
from dpgp_core.table import Dataset, Outcome, declared_columns

NAME = "london_hexes"
TITLE = "London price hexagons"
FAMILY = "london"  # the same sales, as single sales or as medians of hexagons
Y_BOUNDS = (math.log(250_000), math.log(1_500_000))  # ln GBP
Y_SCALE = 1.0  # ln GBP
X_BOX = ((490.0, 570.0), (145.0, 210.0))  # km: Greater London and about 10 km around it
SOURCE = "Contains HM Land Registry data (c) Crown copyright and database right 2024"
LICENCE = "Open Government Licence v3.0"
BOUNDS_REASON = "declared price range, GBP 250,000 to 1,500,000: round figures known before looking at these sales"

Ring = list[list[float]]

_DATA = Path(__file__).with_name("data")


def load() -> Dataset:
    """Load ln(median price in GBP) of the 300 occupied hexagons.

    Returns:
        X (300, 2): mean easting and northing [km] of the hexagon's sales, British National
        Grid; y (300,) [ln GBP]; labels: ``cell`` (H3 index, str), ``sales`` (int), ``borough`` (name, str).
    """
    hexes = _table("london_hexes")
    return Dataset(
        name=NAME,
        X=hexes[["easting_km", "northing_km"]].to_numpy(dtype=np.float64),
        y=np.log(hexes["median_price_gbp"].to_numpy(dtype=np.float64)),
        columns=declared_columns(("easting", "northing"), X_BOX, units=("km", "km")),
        outcome=Outcome(name="ln median price", unit="ln GBP", bounds=Y_BOUNDS, scale=Y_SCALE),
        privacy_unit="one hexagon's median price",
        source=f"{SOURCE}; medians by H3 cell of resolution 7, terraced houses, 2018-2024",
        licence=LICENCE,
        bounds_reason=BOUNDS_REASON,
        labels={
            "cell": hexes["cell"].to_numpy(dtype=np.str_),
            "sales": hexes["sales"].to_numpy(dtype=np.int64),
            "borough": _borough_names(hexes).to_numpy(dtype=np.str_),
        },
    )


def map_cells() -> pd.DataFrame:
    """Return all cells of the map: occupied ones, 4 rings around them, and those in enclosed holes.

    Returns:
        A table with columns cell (H3 index), easting_km, northing_km [km] and sales (0 if empty). The position of an
        occupied cell is the mean of its sales, that of an empty one its centre.
    """
    return _table("london_map")


def greater_london() -> frozenset[str]:
    """Return the occupied cells of the map and one ring around them, which figures show."""
    occupied = map_cells().query("sales > 0")["cell"]
    return frozenset(near for cell in occupied for near in h3.grid_disk(cell, 1))


def borough_outlines() -> list[tuple[str, list[Ring]]]:
    """Return the outline of each borough, as the union of its hexagons, for figures.

    Returns:
        (borough name, rings), sorted by name. A ring is a closed list of [longitude, latitude] in degrees. Holes and
        detached parts have rings of their own. The City of London and Westminster are missing because they have no
        hexagon; there are 31 boroughs.
    """
    hexes = _table("london_hexes")
    cells = hexes["cell"].groupby(_borough_names(hexes))
    return [(str(name), _rings(group.tolist())) for name, group in cells]


def _rings(cells: list[str]) -> list[Ring]:
    polygons = h3.cells_to_geo(cells, tight=False)["coordinates"]
    return [[[lon, lat] for lon, lat in ring] for polygon in polygons for ring in polygon]


def _borough_names(hexes: pd.DataFrame) -> pd.Series[str]:
    names = _table("boroughs").set_index("borough_code")["borough"]
    return hexes["borough_code"].map(names)


def _table(name: str) -> pd.DataFrame:
    return pd.read_csv(_DATA / f"{name}.csv")


EXHIBITS = (
    Exhibit(
        name=NAME,
        title=TITLE,
        load=load,
        unit="km",
        lengthscales=(2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0, 30.0, 40.0),
        lengthscale=15.0,
        side_by_side=(4.0, 12.0, 30.0),
        ratios=(1.0, 1.0),
        scene="map",
        residual_bound=0.375,  # prices are assumed to be within a factor of 1.45 of a smooth map
    ),
)
