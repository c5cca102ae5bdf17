"""All that reads records measures what it is asked, with noise of its own, and keeps what was released alone."""

import numpy as np
import pytest

from dpgp_core.bayes import filter_records
from dpgp_core.bayes.cells import CellGrid
from dpgp_core.bayes.engine import StageMeasurement, Squares, run_stages, together
from dpgp_core.bayes.filter_records import record_filter
from dpgp_core.bayes.model import auto_models
from dpgp_core.bayes.planning import plan_stages
from dpgp_core.bayes.readers import RecordReader, ExactRecords, RecordsInFloats, measured_of
from dpgp_core.bayes.clipping import OutcomeInfo, stage_multipliers
from dpgp_core.measurement.measurement import CellCounts
from dpgp_core.measurement.noise import Silence
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking


def numbered(data, draws):
    rng = np.random.default_rng(0)
    return RecordsInFloats(data.standardised(), lambda rows: rng.standard_normal((draws, rows)))


@pytest.fixture
def data(make_dataset):
    return make_dataset()


def test_sums_and_squares_are_measured_with_their_own_noise(data):
    """Mean and spread over exact and teaching draws, within 6 standard errors."""
    draws, s, y = 200, 0.7, data.standardised()
    B = np.random.default_rng(1).standard_normal((3, 12)) / 8

    def asked(draws):
        ones = np.ones((draws, 12))
        return StageMeasurement(B, -0.4 * ones, 0.7 * ones, s), Squares(0.1 * ones, 0.09 * ones, s)

    def measured(reader, sums, squares):
        return reader.sums(sums).z, reader.squares(squares).z

    exact = ExactRecords(data)
    real = zip(*(measured(exact, *asked(1)) for _ in range(draws)), strict=True)
    of_sums = (np.clip(y, -0.4, 0.7) - 0.15) / 1.1 @ B.T
    of_squares = (np.minimum((y - 0.1) ** 2, 0.09) / 0.09 - 0.5).sum()
    for found in (measured(numbered(data, draws), *asked(draws)), map(np.concatenate, real)):
        for z, mean in zip(found, (of_sums, of_squares), strict=True):
            assert np.abs(z.mean(axis=0) - mean).max() < 6 * s / np.sqrt(draws)
            assert np.abs(z.std(axis=0) / s - 1).max() < 6 / np.sqrt(2 * draws)


@pytest.fixture
def filtered(data):
    half_range = 2.0 / data.y_scale
    models = auto_models(data.x_box, half_range)[3:5]
    return record_filter(models, data.X, np.array([[2.0], [7.0]]), public=OutcomeInfo(data.x_box, half_range))


@pytest.mark.parametrize("largest", [1, 500, 10**9])
def test_reading_in_portions_is_reading_at_once(filtered, data, monkeypatch, largest):
    planned = plan_stages(filtered, stage_multipliers(0.5, 3), gap=0.1)
    observed, posterior = run_stages(filtered, planned, numbered(data, 5), draws=5)
    monkeypatch.setattr(filter_records, "_LARGEST", largest)
    again, whole = filtered.read_and_predict(observed), filtered.predict(posterior)
    for name in ("means", "variances", "weights"):
        np.testing.assert_allclose(getattr(again, name), getattr(whole, name), rtol=1e-7, atol=1e-10)


@pytest.fixture
def release(make_dataset):
    mechanism = BayesCloaking(epsilon=1.0, delta=0.01, stages=2, gap=0.1)
    return mechanism.release(make_dataset(), np.array([[2.0], [7.0]]), draws=2)


def test_stacked_releases_are_draws_side_by_side(release):
    parts = [measured_of(statistics) for statistics in release.statistics]
    both = together(parts)
    assert [stage.z.shape[0] for stage in both.stages] == [2, 2]
    for draw, alone in enumerate(parts):
        for name in ("low", "high", "z"):
            for stage, single in zip(both.draws(slice(draw, draw + 1)).stages, alone.stages, strict=True):
                np.testing.assert_array_equal(getattr(stage, name), getattr(single, name))
    np.testing.assert_array_equal(both.distances.z, np.concatenate([part.distances.z for part in parts]))


GRID = CellGrid(box=((0.0, 10.0),), per_side=8)
ABOUT = np.zeros((1, len(GRID.nodes)))


@pytest.fixture
def in_cells(make_dataset):
    return make_dataset(x_box=((0.0, 10.0),))


def counts(s):
    return CellCounts(B=np.eye(8), noise_multiplier=s)


def residuals(s):
    return StageMeasurement(np.eye(8), -np.ones((1, 8)), np.ones((1, 8)), s, g=ABOUT)


@pytest.mark.parametrize("noise", [Silence(), None, np.random.default_rng(1)], ids=["silent", "real", "numbered"])
def test_with_almost_no_noise_records_are_counted_and_residuals_summed(in_cells, noise):
    reader, cells = RecordReader(in_cells, GRID, noise), GRID.index(in_cells.X)
    np.testing.assert_allclose(reader.counts(counts(1e-6)), np.bincount(cells, minlength=8), atol=1e-4)
    expected = np.bincount(cells, weights=np.clip(in_cells.standardised(), -1, 1) / 2, minlength=8)
    np.testing.assert_allclose(reader.sums(residuals(1e-6)).z[0], expected, atol=1e-5)
