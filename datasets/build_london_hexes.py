"""Script that aggregates sales of terraced houses in London to H3 hexagons and writes ``data/london_*.csv``.

Run from the project root, with the sale-level file (which is not part of the project)::

    python -m datasets.build_london_hexes PATH/TO/london_terraced_sales_2018_2024.csv

Input columns used: price_gbp [GBP], easting_m and northing_m [m, British National Grid],
longitude and latitude [degrees, WGS 84], borough_code. The output is deterministic: rows
sorted by cell, positions to the metre.

Source of the sales: Contains HM Land Registry data (c) Crown copyright and database right
2024. Licensed under the Open Government Licence v3.0.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import h3
import numpy as np
import pandas as pd

from datasets.british_grid import centres, fit_grid, to_grid
from dpgp_core.arrays import FloatArray

RESOLUTION = 7  # hexagons of about 5 km^2: the resolution of the published London experiment
RINGS = 4  # empty rings around the occupied cells, so that the noise far from data is on the map
SALE_COLUMNS = ("price_gbp", "easting_m", "northing_m", "longitude", "latitude", "borough_code")
METRE_DECIMALS = 3  # of a kilometre


def read_sales(path: Path) -> pd.DataFrame:
    """Read the sale-level file and add the H3 ``cell`` of each sale.

    Raises:
        ValueError: a column is missing (named), or no sale is in the file.
    """
    sales = pd.read_csv(path)
    missing = [column for column in SALE_COLUMNS if column not in sales.columns]
    if missing:
        raise ValueError(f"the sales file lacks the columns {missing}; it must have {list(SALE_COLUMNS)}")
    if sales.empty:
        raise ValueError("the sales file has a header but no sales; give the complete file")
    positions = zip(sales["latitude"], sales["longitude"], strict=True)
    return sales.assign(cell=[h3.latlng_to_cell(lat, lon, RESOLUTION) for lat, lon in positions])


def aggregate(sales: pd.DataFrame) -> pd.DataFrame:
    """Aggregate sales to their cells, sorted by cell.

    Returns:
        One row per occupied cell: cell, sales (count), median_price_gbp [GBP], easting_km and
        northing_km (mean position of its sales), borough_code (most frequent; ties: lowest code).
    """
    by_cell = sales.groupby("cell", sort=True)
    hexes = pd.DataFrame(
        {
            "sales": by_cell.size(),
            "median_price_gbp": by_cell["price_gbp"].median(),
            "easting_km": (by_cell["easting_m"].mean() / 1000).round(METRE_DECIMALS),
            "northing_km": (by_cell["northing_m"].mean() / 1000).round(METRE_DECIMALS),
            "borough_code": _most_frequent_borough(sales),
        }
    )
    return hexes.rename_axis("cell").reset_index()


def _most_frequent_borough(sales: pd.DataFrame) -> pd.Series[str]:
    counts = sales.groupby(["cell", "borough_code"]).size().rename("count").reset_index()
    ranked = counts.sort_values(["cell", "count", "borough_code"], ascending=[True, False, True])
    return ranked.drop_duplicates("cell").set_index("cell")["borough_code"]


def map_table(hexes: pd.DataFrame, coefficients: FloatArray) -> pd.DataFrame:
    """Return all cells of the map, sorted: occupied ones, RINGS rings around them, and enclosed holes.

    Args:
        hexes: the result of ``aggregate``.
        coefficients: (10, 2) from ``british_grid.fit_grid``, for the centres of the empty cells.

    Returns:
        One row per cell: cell, easting_km, northing_km, sales (0 if empty). The position of an
        occupied cell is the mean of its sales, that of an empty one its centre.
    """
    empty = sorted(_cells_around(hexes["cell"].tolist()) - set(hexes["cell"]))
    positions = to_grid(centres(empty), coefficients).round(METRE_DECIMALS)
    added = pd.DataFrame({"cell": empty, "easting_km": positions[:, 0], "northing_km": positions[:, 1], "sales": 0})
    occupied = hexes[["cell", "easting_km", "northing_km", "sales"]]
    return pd.concat([occupied, added]).sort_values("cell", ignore_index=True)


def _cells_around(occupied: list[str]) -> set[str]:
    near = {cell for centre in occupied for cell in h3.grid_disk(centre, RINGS)}
    shape = h3.cells_to_h3shape(near, tight=False)
    # Filling each outer ring while ignoring its holes adds the cells that the rings enclose.
    filled = [h3.h3shape_to_cells(h3.LatLngPoly(polygon.outer), RESOLUTION) for polygon in shape]
    return near.union(*filled)


def build(sales_path: Path, output: Path) -> float:
    """Write ``london_hexes.csv`` and ``london_map.csv`` into ``output``.

    Returns:
        The largest distance [m] between a sale's own grid position and the fitted polynomial's.

    Raises:
        ValueError: the sales file lacks a column or has no rows.
    """
    sales = read_sales(sales_path)
    hexes = aggregate(sales)
    lon_lat = sales[["longitude", "latitude"]].to_numpy(dtype=np.float64)
    east_north = sales[["easting_m", "northing_m"]].to_numpy(dtype=np.float64) / 1000
    coefficients = fit_grid(lon_lat, east_north)
    output.mkdir(parents=True, exist_ok=True)
    for name, table in (("london_hexes", hexes), ("london_map", map_table(hexes, coefficients))):
        table.to_csv(output / f"{name}.csv", index=False, lineterminator="\n")
        print(f"{name}.csv: {len(table)} rows")
    residual = 1000 * np.linalg.norm(to_grid(lon_lat, coefficients) - east_north, axis=1).max()
    return float(residual)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: the sales CSV, and where to write the tables."""
    parser = argparse.ArgumentParser(description="Aggregate London's terraced sales to H3 hexagons.")
    parser.add_argument("sales", type=Path, help="sale-level CSV (not part of the project)")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("data"), help="folder to write to")
    options = parser.parse_args(arguments)
    residual = build(options.sales, options.output)
    print(f"largest residual of the longitude/latitude to grid fit: {residual:.3f} m")


if __name__ == "__main__":
    main()
