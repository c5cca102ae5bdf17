import numpy as np
import pytest

from dpgp_core.bayes.cells.grid import CellGrid
from dpgp_core.bayes.cells.measuring import CellsExactly, CellsForTeaching, CellsSilently
from dpgp_core.measurement.measurement import CellCounts, Measurement

GRID = CellGrid(box=((0.0, 10.0),), per_side=8)
B = np.eye(8)
LOW, HIGH = np.full(8, -1.0), np.full(8, 1.0)


@pytest.fixture
def data(make_dataset):
    return make_dataset(x_box=((0.0, 10.0),))


def counts(s):
    return CellCounts(B=B, noise_multiplier=s)


def residuals(s):
    return Measurement(B=B, low=LOW, high=HIGH, bounds=(-2.0, 2.0), noise_multiplier=s)


def test_without_noise_records_are_counted_and_residuals_summed(data):
    reader, g = CellsSilently(data, GRID), np.zeros(len(GRID.nodes))
    cells = GRID.place(data.X)
    np.testing.assert_allclose(reader.counts(counts(1.0)), np.bincount(cells, minlength=8))
    places = np.clip(data.standardised(), -1, 1) / 2
    expected = np.bincount(cells, weights=places, minlength=8)
    np.testing.assert_allclose(reader.residuals(residuals(1.0), g), expected, atol=1e-12)


@pytest.mark.parametrize("make", [CellsExactly, lambda *of: CellsForTeaching(*of, np.random.default_rng(1))])
def test_with_almost_no_noise_the_others_read_the_same(data, make):
    reader, silent, g = make(data, GRID), CellsSilently(data, GRID), np.zeros(len(GRID.nodes))
    np.testing.assert_allclose(reader.counts(counts(1e-6)), silent.counts(counts(1.0)), atol=1e-3)
    found, expected = reader.residuals(residuals(1e-6), g), silent.residuals(residuals(1.0), g)
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_a_real_measurement_keeps_what_was_released_and_nothing_of_the_records(data):
    reader, g = CellsExactly(data, GRID), np.zeros(len(GRID.nodes))
    z = reader.residuals(residuals(1.0), g)
    (stage,) = reader.stages
    np.testing.assert_array_equal(stage.z, z)
    assert set(vars(stage)) == {"measurement", "g", "z", "squares"}
