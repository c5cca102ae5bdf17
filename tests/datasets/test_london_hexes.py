"""London in hexagons: their geometry, how the table was built, and what it holds."""

import math
import os
from pathlib import Path

import h3
import numpy as np
import pandas as pd
import pytest

import datasets
from datasets import build_london_hexes, london_hexes


def test_golden_figures_of_the_300_medians():
    data = london_hexes.load()
    assert data.X.shape == (300, 2)
    assert data.labels["sales"].sum() == 1888
    assert data.clipped_y.std() == pytest.approx(0.412, abs=5e-4)  # docs/targets.md
    assert data.output_range == pytest.approx(1.79, abs=5e-3)  # docs/targets.md
    assert data.y_bounds == (math.log(250_000), math.log(1_500_000))
    assert data.y_scale == 1.0
    assert data.x_box == ((490.0, 570.0), (145.0, 210.0))


def test_labels_are_cells_counts_and_borough_names():
    labels = london_hexes.load().labels
    assert all(h3.get_resolution(cell) == 7 for cell in labels["cell"])
    assert labels["sales"].min() >= 1
    assert np.issubdtype(labels["sales"].dtype, np.integer)
    assert labels["borough"].dtype.kind == "U"
    assert len(set(labels["borough"])) == 31
    assert "nan" not in labels["borough"]


def test_the_map_has_occupied_cells_and_four_rings():
    table, data = london_hexes.map_cells(), london_hexes.load()
    cells, occupied = set(table["cell"]), data.labels["cell"].tolist()
    assert list(table.columns) == ["cell", "easting_km", "northing_km", "sales"]
    assert len(cells) == len(table) == 685
    assert set(table.loc[table["sales"] > 0, "cell"]) == set(occupied)
    assert {near for cell in occupied for near in h3.grid_disk(cell, 4)} <= cells
    assert all(len(polygon.holes) == 0 for polygon in h3.cells_to_h3shape(cells, tight=False))
    for column, (low, high) in zip(["easting_km", "northing_km"], london_hexes.X_BOX, strict=True):
        # A cell reaches at most 1.5 km from its centre.
        assert table[column].between(low + 1.5, high - 1.5).all()
    there = table.set_index("cell").loc[data.labels["cell"]]
    np.testing.assert_array_equal(there[["easting_km", "northing_km"]].to_numpy(), data.X)
    np.testing.assert_array_equal(there["sales"].to_numpy(), data.labels["sales"])
    table["sales"] = -1  # a copy
    assert london_hexes.map_cells()["sales"].min() == 0


def test_outlines_are_closed_rings_of_every_borough():
    outlines = london_hexes.borough_outlines()
    assert [name for name, _ in outlines] == sorted(set(london_hexes.load().labels["borough"]))
    for _, rings in outlines:
        assert rings
        for ring in rings:
            longitude, latitude = np.array(ring).T
            assert ring[0] == ring[-1]
            assert len(ring) >= 7
            assert ((longitude > -0.7) & (longitude < 0.5)).all()
            assert ((latitude > 51.2) & (latitude < 51.8)).all()


PROJECT = Path(datasets.__file__).parents[1]
SHARED = Path(os.environ.get("DPGP_SHARED", PROJECT.parent / "shared" / "data"))
SALES = SHARED / "london_terraced_sales_2018_2024.csv"
needs_sales = pytest.mark.skipif(
    not SALES.is_file(), reason=f"no {SALES.name} in {SHARED}; set DPGP_SHARED to the folder that holds it"
)


@needs_sales
@pytest.mark.parametrize("table", ["london_hexes.csv", "london_map.csv"])
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
