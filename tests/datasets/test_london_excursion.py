import math

import numpy as np
import pytest

import datasets
from datasets import london_excursion, london_hexes


def test_y_is_the_clipped_distance_from_the_threshold():
    data, hexes = datasets.load("london_excursion", threshold=13.2), london_hexes.load()
    np.testing.assert_allclose(data.y, np.clip(hexes.y - 13.2, -1, 1))
    assert data.y_bounds == (-1.0, 1.0)
    assert not data.simulated


def test_coordinates_are_fractions_of_the_declared_box():
    data, hexes = london_excursion.load(), london_hexes.load()
    (west, east), (south, north) = hexes.x_box
    np.testing.assert_allclose(data.X * [east - west, north - south] + [west, south], hexes.X)
    assert data.X.min() > 0
    assert data.X.max() < 1


@pytest.fixture
def altered(monkeypatch):
    """Alter the table of hexagons."""
    table = london_hexes._table

    def alter(change):
        monkeypatch.setattr(
            london_hexes, "_table", lambda name: change(table(name)) if name == "london_hexes" else table(name)
        )

    return alter


def test_scaling_does_not_depend_on_where_the_hexagons_lie(altered):
    whole = london_excursion.load()
    altered(lambda table: table.head(50))
    np.testing.assert_allclose(london_excursion.load().X, whole.X[:50])


def test_the_grid_is_the_box_whatever_the_records_are(altered):
    whole, cells = london_excursion.grid(), set(london_excursion.cells())
    assert cells > set(london_hexes.load().labels["cell"])
    assert whole.min() >= 0
    assert whole.max() <= 1
    # hexagons of 5.2 km^2 fill the box of 80 km x 65 km
    assert len(whole) == pytest.approx(80 * 65 / 4.65, rel=0.15)
    altered(lambda table: table.head(50))
    np.testing.assert_array_equal(london_excursion.grid(), whole)


def test_truth_stands_where_a_sale_is():
    data, cells = london_excursion.load(), london_excursion.cells()
    truth = london_excursion.truth(data)
    assert np.isfinite(truth).sum() == data.n
    assert truth[cells.index(data.labels["cell"][7])] == data.y[7]


def test_search_targets_lie_on_the_public_grid_and_see_neither_price_nor_place(altered):
    batch = london_excursion.search_targets(3)
    assert {tuple(row) for row in batch.grid.tolist()} < {tuple(row) for row in london_excursion.grid().tolist()}
    assert batch.y.shape == (3, 300)
    altered(lambda table: table.assign(median_price_gbp=3 * table["median_price_gbp"], easting_km=530.0))
    np.testing.assert_array_equal(london_excursion.search_targets(3).y, batch.y)


@pytest.mark.parametrize("threshold", [math.nan, math.inf])
def test_bad_threshold_is_refused(threshold):
    with pytest.raises(ValueError, match="threshold must be a finite ln price"):
        london_excursion.load(threshold=threshold)
