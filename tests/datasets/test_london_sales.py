import h3
import numpy as np
import pytest

from datasets import london_hexes, london_sales
from datasets.british_grid import fit_grid


def test_size_label_and_box():
    data = london_sales.load()
    assert data.X.shape == (4766, 2)
    assert data.simulated
    assert data.source.startswith("simulated from real hexagon medians")
    assert data.x_box == london_hexes.load().x_box
    assert data.y_bounds == london_hexes.Y_BOUNDS


def test_every_sale_lies_in_the_hexagon_it_names():
    data = london_sales.load(n=2000)
    # The independent route back: the inverse polynomial, fitted here to the map's empty cells.
    empty = london_hexes.map_cells().query("sales == 0")
    centres = np.array([h3.cell_to_latlng(cell)[::-1] for cell in empty["cell"]])
    grid = empty[["easting_km", "northing_km"]].to_numpy()
    powers = _powers(grid)
    coefficients, *_ = np.linalg.lstsq(powers, centres, rcond=None)
    lon_lat = _powers(data.X) @ coefficients
    cells = [h3.latlng_to_cell(latitude, longitude, 7) for longitude, latitude in lon_lat]
    # Straight sides against h3's geodesics, and a metre of fit: only points on an edge may differ.
    assert np.mean(np.array(cells) == data.labels["cell"]) > 0.998


def test_positions_are_uniform_in_the_hexagon():
    corners = np.array([[np.cos(t), np.sin(t)] for t in np.arange(6) * np.pi / 3])
    points = london_sales._uniform_in_hexagons(np.broadcast_to(corners, (40_000, 6, 2)), np.random.default_rng(3))
    # Side 1: each coordinate has mean 0 and variance 5/24; the inner hexagon of half size holds a quarter.
    np.testing.assert_allclose(points.mean(axis=0), 0, atol=4 * np.sqrt(5 / 24 / 40_000))
    np.testing.assert_allclose(np.cov(points.T), np.eye(2) * 5 / 24, atol=0.005)
    normals = np.array([[np.cos(t), np.sin(t)] for t in np.pi / 6 + np.arange(6) * np.pi / 3])
    depth = (points @ normals.T).max(axis=1) / (np.sqrt(3) / 2)
    assert depth.max() <= 1 + 1e-12
    assert np.mean(depth < 0.5) == pytest.approx(0.25, abs=4 * np.sqrt(0.25 * 0.75 / 40_000))


def test_ln_prices_scatter_about_the_cells_median():
    data, hexes = london_sales.load(n=20_000), london_hexes.load()
    median = dict(zip(hexes.labels["cell"], hexes.y, strict=True))
    residual = data.y - np.array([median[cell] for cell in data.labels["cell"]])
    assert residual.mean() == pytest.approx(0, abs=4 * 0.25 / np.sqrt(20_000))
    assert residual.std() == pytest.approx(0.25, abs=4 * 0.25 / np.sqrt(40_000))


def test_cells_are_drawn_in_proportion_to_their_sales():
    data, hexes = london_sales.load(n=50_000), london_hexes.load()
    share = np.array([np.mean(data.labels["cell"] == cell) for cell in hexes.labels["cell"]])
    expected = hexes.labels["sales"] / hexes.labels["sales"].sum()
    z = (share - expected) / np.sqrt(expected * (1 - expected) / 50_000)
    assert np.abs(z).max() < 5


def test_grid_fit_needs_enough_points():
    with pytest.raises(ValueError, match="at least 10 points, got 3"):
        fit_grid(np.zeros((3, 2)), np.zeros((3, 2)))


def _powers(grid):
    u, v = ((grid - [530, 180]) / 30).T
    return np.stack([u**i * v**j for i in range(5) for j in range(5 - i)], axis=1)
