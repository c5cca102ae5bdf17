import os
from pathlib import Path

import h3
import numpy as np
import pandas as pd
import pytest

import datasets
from datasets import build_london_hexes
from datasets.british_grid import fit_grid

PROJECT = Path(datasets.__file__).parents[1]
SHARED = Path(os.environ.get("DPGP_SHARED", PROJECT.parent / "shared" / "data"))
SALES = SHARED / "london_terraced_sales_2018_2024.csv"
TABLES = ("london_hexes.csv", "london_map.csv")

needs_sales = pytest.mark.skipif(
    not SALES.is_file(), reason=f"no {SALES.name} in {SHARED}; set DPGP_SHARED to the folder that holds it"
)


@needs_sales
@pytest.mark.parametrize("table", TABLES)
def test_committed_tables_are_what_the_script_writes(table, tmp_path, capsys):
    build_london_hexes.main([str(SALES), "--output", str(tmp_path)])
    assert (tmp_path / table).read_bytes() == (PROJECT / "datasets" / "data" / table).read_bytes()
    printed = capsys.readouterr().out
    assert f"{table}: " in printed
    assert float(printed.split()[-2]) < 0.1  # metres: the rounding of the sales' own positions


def _sales(rows):
    """Sales at the centres of cells, on a made-up grid that is linear in longitude and latitude."""
    columns = ["price_gbp", "easting_m", "northing_m", "longitude", "latitude", "borough_code"]
    values = []
    for cell, price, borough, east_shift in rows:
        latitude, longitude = h3.cell_to_latlng(cell)
        easting, northing = 530_000 + 69_000 * longitude + east_shift, 111_000 * (latitude - 50)
        values.append((price, easting, northing, longitude, latitude, borough))
    return pd.DataFrame(values, columns=columns)


CENTRE = h3.latlng_to_cell(51.5, -0.1, 7)
NEXT = sorted(set(h3.grid_disk(CENTRE, 1)) - {CENTRE})[0]


@pytest.fixture
def sales(tmp_path):
    rows = [
        (CENTRE, 100, "E09000009", 0),
        (CENTRE, 300, "E09000002", 10),
        (CENTRE, 900, "E09000009", 20),
        (NEXT, 200, "E09000005", 0),
        (NEXT, 500, "E09000003", 0),
    ]
    _sales(rows).to_csv(tmp_path / "sales.csv", index=False)
    return build_london_hexes.read_sales(tmp_path / "sales.csv")


def test_aggregation_by_hand(sales):
    hexes = build_london_hexes.aggregate(sales).set_index("cell")
    assert list(hexes.index) == sorted([CENTRE, NEXT])
    assert hexes["sales"].to_dict() == {CENTRE: 3, NEXT: 2}
    assert hexes["median_price_gbp"].to_dict() == {CENTRE: 300, NEXT: 350}
    assert hexes.loc[CENTRE, "borough_code"] == "E09000009"  # two sales of three
    assert hexes.loc[NEXT, "borough_code"] == "E09000003"  # a tie, broken by code
    longitude = h3.cell_to_latlng(CENTRE)[1]
    assert hexes.loc[CENTRE, "easting_km"] == pytest.approx(530 + 69 * longitude + 0.010, abs=6e-4)


def test_aggregation_does_not_depend_on_the_order_of_the_sales(sales):
    pd.testing.assert_frame_equal(
        build_london_hexes.aggregate(sales[::-1]), build_london_hexes.aggregate(sales), check_exact=True
    )


def _map(cells):
    """The map where each of these cells has one sale."""
    sales = _sales([(cell, 100, "E09000009", 0) for cell in cells])
    lon_lat = sales[["longitude", "latitude"]].to_numpy()
    coefficients = fit_grid(lon_lat, sales[["easting_m", "northing_m"]].to_numpy() / 1000)
    return build_london_hexes.map_table(build_london_hexes.aggregate(sales.assign(cell=cells)), coefficients)


def test_map_fills_rings_and_enclosed_holes():
    ring = h3.grid_ring(CENTRE, 8)  # 4 rings inwards leave a hole of radius 3 round the centre
    table = _map(ring)
    assert set(table["cell"]) == set(h3.grid_disk(CENTRE, 12))
    assert table["cell"].is_monotonic_increasing
    assert set(table.loc[table["sales"] > 0, "cell"]) == set(ring)


def test_empty_cells_stand_at_their_centres():
    table = _map(h3.grid_disk(CENTRE, 3)).query("sales == 0")
    centres = np.array([h3.cell_to_latlng(cell) for cell in table["cell"]])
    np.testing.assert_allclose(table["easting_km"], 530 + 69 * centres[:, 1], atol=6e-4)
    np.testing.assert_allclose(table["northing_km"], 111 * (centres[:, 0] - 50), atol=6e-4)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("price_gbp,date\n1,2018-01-03\n", "lacks the columns"),
        ("price_gbp,easting_m,northing_m,longitude,latitude,borough_code\n", "no sales"),
    ],
    ids=["missing columns", "no rows"],
)
def test_a_wrong_sales_file_is_refused(text, message, tmp_path):
    path = tmp_path / "sales.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        build_london_hexes.read_sales(path)
