import math

import h3
import numpy as np
import pytest

from datasets import london_hexes


def test_golden_figures_of_the_300_medians():
    data = london_hexes.load()
    assert data.X.shape == (300, 2)
    assert data.labels["sales"].sum() == 1888
    assert data.clipped_y.std() == pytest.approx(0.412, abs=5e-4)  # docs/targets.md
    assert data.output_range == pytest.approx(1.79, abs=5e-3)  # docs/targets.md


def test_constants():
    data = london_hexes.load()
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


@pytest.mark.parametrize(
    ("place", "latitude", "longitude", "borough"),
    [
        ("Croydon town hall", 51.372, -0.099, "Croydon"),
        ("Romford market", 51.578, 0.182, "Havering"),
        ("Walthamstow", 51.584, -0.021, "Waltham Forest"),
        ("Wimbledon", 51.421, -0.207, "Merton"),
        ("Teddington", 51.427, -0.333, "Richmond upon Thames"),
    ],
)
def test_borough_names_stand_where_they_belong(place, latitude, longitude, borough):
    labels = london_hexes.load().labels
    near = np.isin(labels["cell"], h3.grid_disk(h3.latlng_to_cell(latitude, longitude, 7), 1))
    names, counts = np.unique(labels["borough"][near], return_counts=True)
    assert names[counts.argmax()] == borough, place


def test_borough_codes_number_the_city_and_then_the_boroughs_alphabetically():
    table = london_hexes._table("boroughs")
    assert table["borough_code"].tolist() == [f"E090000{number:02}" for number in range(1, 34)]
    assert table["borough"][0] == "City of London"
    assert table["borough"][1:].is_monotonic_increasing
    assert table["borough"].is_unique


def test_map_is_the_occupied_cells_four_rings_and_no_holes():
    table = london_hexes.map_cells()
    cells = set(table["cell"])
    occupied = london_hexes.load().labels["cell"].tolist()
    assert list(table.columns) == ["cell", "easting_km", "northing_km", "sales"]
    assert len(cells) == len(table) == 685
    assert set(table.loc[table["sales"] > 0, "cell"]) == set(occupied)
    assert {near for cell in occupied for near in h3.grid_disk(cell, 4)} <= cells
    assert all(len(polygon.holes) == 0 for polygon in h3.cells_to_h3shape(cells, tight=False))


def test_map_and_its_hexagons_lie_in_the_declared_box():
    table = london_hexes.map_cells()
    for column, (low, high) in zip(["easting_km", "northing_km"], london_hexes.X_BOX, strict=True):
        # A cell reaches at most 1.5 km from its centre.
        assert table[column].between(low + 1.5, high - 1.5).all()


def test_occupied_map_cells_stand_where_the_dataset_says():
    data = london_hexes.load()
    table = london_hexes.map_cells().set_index("cell").loc[data.labels["cell"]]
    np.testing.assert_array_equal(table[["easting_km", "northing_km"]].to_numpy(), data.X)
    np.testing.assert_array_equal(table["sales"].to_numpy(), data.labels["sales"])


def test_map_cells_returns_a_copy():
    table = london_hexes.map_cells()
    table["sales"] = -1
    assert london_hexes.map_cells()["sales"].min() == 0


def test_outlines_are_closed_lon_lat_rings_of_every_borough_with_a_hexagon():
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


def test_outlines_enclose_the_area_of_their_hexagons():
    labels = london_hexes.load().labels
    for name, rings in london_hexes.borough_outlines():
        expected = sum(_area(h3.cell_to_boundary(cell)) for cell in labels["cell"][labels["borough"] == name])
        # Rings turn one way outside and the other way round holes, so signed areas add up.
        assert abs(sum(_signed_area(ring) for ring in rings)) == pytest.approx(expected, rel=1e-6)


def _signed_area(ring):
    x, y = np.array(ring).T
    x, y = x - x[0], y - y[0]
    return (x * np.roll(y, -1) - y * np.roll(x, -1)).sum() / 2


def _area(ring):
    return abs(_signed_area(ring))
