import os
from pathlib import Path

import h3
import numpy as np
import pandas as pd
import pytest

import datasets
from datasets import build_london_hexes, hexagons, london_hexes, london_sales
from datasets.british_grid import fit_grid, to_grid

PROJECT = Path(datasets.__file__).parents[1]
SALES = Path(os.environ.get("DPGP_SHARED", PROJECT.parent / "shared" / "data")) / "london_terraced_sales_2018_2024.csv"


@pytest.fixture(scope="module")
def grid():
    """The map from longitude and latitude to grid kilometres, as the other modules make it."""
    empty = london_hexes.map_cells().query("sales == 0")
    lon_lat = np.array([h3.cell_to_latlng(cell)[::-1] for cell in empty["cell"]])
    return fit_grid(lon_lat, empty[["easting_km", "northing_km"]].to_numpy(float))


@pytest.mark.parametrize("resolution", hexagons.RESOLUTIONS)
def test_cells_are_h3s_own_over_the_whole_box(grid, resolution):
    rng = np.random.default_rng(1)
    lon_lat = np.stack([rng.uniform(-0.65, 0.6, 20_000), rng.uniform(51.2, 51.8, 20_000)], axis=1)
    X = to_grid(lon_lat, grid)
    low, high = np.array(london_hexes.X_BOX).T
    inside = ((low <= X) & (high >= X)).all(axis=1)
    cells = pd.Series([h3.latlng_to_cell(lat, lon, resolution) for lon, lat in lon_lat[inside]])
    assert len(cells) > 15_000
    table = hexagons.aggregate(X[inside], np.zeros(len(cells)), resolution=resolution).set_index("cell")["count"]
    expected = cells.value_counts().sort_index()
    assert table.index.tolist() == expected.index.tolist()
    np.testing.assert_array_equal(table, expected)


@pytest.mark.skipif(not SALES.is_file(), reason=f"no {SALES.name}; set DPGP_SHARED to the folder that holds it")
def test_real_sales_fall_into_the_cells_of_the_committed_table():
    sales = build_london_hexes.read_sales(SALES)
    table = hexagons.aggregate(
        sales[["easting_m", "northing_m"]].to_numpy(float) / 1000, sales["price_gbp"].to_numpy(float)
    )
    by_cell = sales.groupby("cell")["price_gbp"]
    assert table["cell"].tolist() == sorted(by_cell.groups)
    np.testing.assert_array_equal(table["count"], by_cell.size())
    np.testing.assert_allclose(table["mean"], by_cell.mean(), rtol=1e-12)


def test_counts_and_means_by_hand():
    hexes = london_hexes.load()
    a, b = hexes.X[10], hexes.X[200]
    table = hexagons.aggregate(np.array([a, b, a, a]), np.array([1.0, 5.0, 2.0, 6.0])).set_index("cell")
    assert table.loc[hexes.labels["cell"][10]].tolist() == [3, 3.0]
    assert table.loc[hexes.labels["cell"][200]].tolist() == [1, 5.0]
    assert len(table) == 2
    assert table["count"].dtype == np.int64


def test_blocks_do_not_change_the_result(monkeypatch):
    sales = london_sales.load(n=5_000)
    whole = hexagons.aggregate(sales.X, sales.y, resolution=8)
    monkeypatch.setattr(hexagons, "BLOCK", 777)
    parts = hexagons.aggregate(sales.X, sales.y, resolution=8)
    assert whole["cell"].tolist() == parts["cell"].tolist()
    np.testing.assert_array_equal(whole["count"], parts["count"])
    np.testing.assert_allclose(whole["mean"], parts["mean"], rtol=1e-12)


@pytest.mark.parametrize(("resolution", "most"), [(7, 300), (8, 2500)])
def test_200_000_sales_become_a_few_cells(resolution, most):
    sales = london_sales.load(n=200_000)
    table = hexagons.aggregate(sales.X, sales.y, resolution=resolution)
    assert table["count"].sum() == 200_000
    assert len(table) <= most
    assert table["cell"].is_unique
    assert table["cell"].is_monotonic_increasing
    if resolution == 7:
        true = pd.Series(sales.y).groupby(sales.labels["cell"]).mean()
        np.testing.assert_allclose(table["mean"], true.loc[table["cell"]], rtol=1e-9)


def test_corners_of_the_box_have_a_cell():
    corners = np.array([[x, y] for x in london_hexes.X_BOX[0] for y in london_hexes.X_BOX[1]])
    assert hexagons.aggregate(corners, np.zeros(4))["count"].tolist() == [1] * 4


@pytest.mark.parametrize(
    ("X", "values", "resolution", "sentence"),
    [
        ([[530.0, 180.0]], [1.0], 9, r"resolution must be one of \(7, 8\), got 9"),
        ([[530.0, 180.0]], [1.0, 2.0], 7, r"X must be \(n, 2\) and values \(n,\)"),
        ([530.0, 180.0], [1.0, 2.0], 7, r"X must be \(n, 2\)"),
        ([[530.0, 180.0], [530.0, 300.0]], [1.0, 2.0], 7, r"1 positions are outside .*; the hexagons cover London"),
        ([[530.0, np.nan]], [1.0], 8, "1 positions are outside"),
    ],
)
def test_bad_input_has_a_sentence(X, values, resolution, sentence):
    with pytest.raises(ValueError, match=sentence):
        hexagons.aggregate(np.array(X), np.array(values), resolution=resolution)
