import numpy as np
import pytest

from dpgp_core.bayes.cells.counts import counts_given, plan_counts
from dpgp_core.bayes.cells.grid import CellGrid
from dpgp_core.measurement.measurement import CellCounts

GRID, N = CellGrid(box=((0.0, 1.0),), per_side=12), 600
TRUE = np.array([5, 10, 30, 60, 90, 110, 105, 80, 60, 30, 15, 5])


@pytest.fixture(scope="module")
def strategy():
    return plan_counts(GRID, N, 2.0, 0.05)


def test_columns_are_no_longer_than_one(strategy):
    assert (np.linalg.norm(strategy, axis=0) <= 1).all()
    assert CellCounts(B=strategy, noise_multiplier=2.0).noise.sensitivity <= 2 << 20


def test_counts_known_almost_exactly_are_found(strategy):
    found = counts_given(GRID, N, np.eye(12), 1e-3, TRUE.astype(float))
    np.testing.assert_allclose(found.mean, TRUE, atol=0.02)
    assert found.covariance.diagonal().max() < 1e-4


def test_counts_add_up_and_shares_are_not_negative(strategy):
    rng = np.random.default_rng(0)
    for noise in (0.1, 10.0, 1e4):
        found = counts_given(GRID, N, strategy, noise, strategy @ TRUE + noise * rng.standard_normal(len(strategy)))
        assert found.mean.sum() == pytest.approx(N, rel=1e-9)
        assert (found.numbers >= 0).all()
        assert np.linalg.eigvalsh(found.covariance).min() > -1e-6 * found.covariance.max()


def test_empty_cells_take_nobody_from_full_ones():
    """Cut at 0 and scaled to n again, 85 empty cells took 1.5 % of all people: 7 standard deviations of a full one."""
    grid, n = CellGrid(box=((0.0, 1.0),), per_side=90), 30_000
    truth = np.zeros(90)
    truth[[9, 27, 45, 63, 81]] = n / 5
    B, noise, rng = plan_counts(grid, n, 10.0, 0.1), 12.0, np.random.default_rng(0)
    given = [counts_given(grid, n, B, noise, B @ truth + noise * rng.standard_normal(len(B))) for _ in range(20)]
    full = truth > 0
    missing = n - np.array([found.mean[full].sum() for found in given])
    sd = np.sqrt(given[0].covariance[np.ix_(full, full)].sum())
    assert abs(missing.mean()) < 6 * sd / np.sqrt(len(given))  # false alarm < 1e-8; it was 15 times that


def test_their_variances_hold_on_counts_from_the_prior(strategy):
    """Standardised errors of Gaussian counts have variance 1: 400 worlds of 12 cells, within six standard errors."""
    rng, M = np.random.default_rng(1), 12
    centres = GRID.centres
    K = 2 * 50**2 * np.exp(-0.5 * ((centres - centres.T) / 0.15) ** 2) + 50 * np.eye(M)
    # given that they add up to n
    K -= np.outer(K.sum(axis=0), K.sum(axis=0)) / K.sum()
    values, vectors = np.linalg.eigh(K)
    worlds = 50 + (rng.standard_normal((400, M)) * np.sqrt(np.maximum(values, 0))) @ vectors.T
    B, noise = strategy / 1e3, 0.05  # noise as strong as the prior: nothing is cut at zero on average
    scores = []
    for N_cells in worlds[(worlds > 0).all(axis=1)]:
        found = counts_given(GRID, N, B, noise, B @ N_cells + noise * rng.standard_normal(len(B)))
        scores.append((found.mean - N_cells) ** 2 / found.covariance.diagonal())
    assert len(scores) > 20
    assert 0.3 < np.mean(scores) < 1.6


def test_few_records_and_much_noise_leave_a_strategy_that_tells_cells_apart():
    grid = CellGrid(box=((-2.0, 12.0),), per_side=45)
    counts = CellCounts(B=plan_counts(grid, 12, 500.0, 0.1), noise_multiplier=500.0)
    assert counts.noise.sensitivity > 1 << 19


def test_with_little_noise_counts_on_a_curve_are_known_cell_by_cell():
    """Nothing smooth describes records on the diagonal; what is measured of the rest must be every cell's own."""
    grid, per_side = CellGrid(box=((0.0, 1.0),) * 2, per_side=8), 8
    truth = np.where(np.eye(per_side, dtype=bool), 20.0, 0.0).ravel()
    B = plan_counts(grid, int(truth.sum()), 0.3, 0.1)
    rng, errors = np.random.default_rng(0), []
    for _ in range(20):
        found = counts_given(grid, int(truth.sum()), B, 0.5, B @ truth + 0.5 * rng.standard_normal(len(B)))
        errors.append(found.mean - truth)
    assert len(B) > grid.size / 2
    assert np.sqrt(np.mean(np.square(errors))) < 2.0
