"""Counts of people in public cells, given noisy ones."""

from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.bayes import counts
from dpgp_core.bayes.cells import CellGrid
from dpgp_core.bayes.counts import counts_given
from dpgp_core.bayes.tuning import TUNING

GRID, N = CellGrid(box=((0.0, 1.0),), per_side=12), 600


TRUE = np.array([5, 10, 30, 60, 90, 110, 105, 80, 60, 30, 15, 5])


def test_counts_add_up_and_shares_are_not_negative():
    rng = np.random.default_rng(0)
    for noise in (0.1, 10.0, 1e4):
        found = counts_given(GRID, N, np.eye(12), noise, TRUE + noise * rng.standard_normal(12))
        assert found.mean.sum() == pytest.approx(N, rel=1e-9)
        assert (found.nonnegative >= 0).all()
        assert np.linalg.eigvalsh(found.covariance).min() > -1e-6 * found.covariance.max()


@pytest.fixture(scope="module")
def five_values():
    """30,000 people in five of 90 cells: their numbers, and what twenty releases say of them."""
    grid, n = CellGrid(box=((0.0, 1.0),), per_side=90), 30_000
    truth = np.zeros(90)
    truth[[9, 27, 45, 63, 81]] = n / 5
    B, noise, rng = np.eye(90), 12.0, np.random.default_rng(0)
    return truth, [counts_given(grid, n, B, noise, truth + noise * rng.standard_normal(90)) for _ in range(20)]


def test_empty_cells_take_no_records_from_others(five_values):
    """Cut at 0 and scaled to n again, 85 empty cells took 1.5 % of all people: 7 standard deviations of a full one."""
    truth, given = five_values
    full = truth > 0
    missing = truth.sum() - np.array([found.mean[full].sum() for found in given])
    sd = np.sqrt(given[0].covariance[np.ix_(full, full)].sum())
    assert abs(missing.mean()) < 6 * sd / np.sqrt(len(given))  # false alarm < 1e-8; it was 15 times that


def test_empty_cells_are_found_empty(five_values):
    """Each was given what its noise said, of sd 12: strategies added these people up, with their signs."""
    truth, (found, *_) = five_values
    nobody = truth == 0
    assert np.sqrt(np.mean(found.mean[nobody] ** 2)) < 0.5
    assert np.sqrt(found.covariance.diagonal()[nobody]).mean() < 1
    assert (np.abs(found.mean - truth)[~nobody] < 6 * np.sqrt(found.covariance.diagonal()[~nobody])).all()


def test_errors_of_sparse_counts_match_their_variances():
    """One of four cells holds five standard deviations of the noise: errors are as large as their variances say."""
    grid, truth, noise = CellGrid(box=((0.0, 1.0),), per_side=80), np.tile([60.0, 0.0, 0.0, 0.0], 20), 12.0
    errors, variances = [], []
    for repeat in range(20):
        z = truth + noise * np.random.default_rng(repeat).standard_normal(80)
        found = counts_given(grid, int(truth.sum()), np.eye(80), noise, z)
        errors.append(found.mean - truth)
        variances.append(found.covariance.diagonal())
    assert np.mean(errors, axis=0)[::4].mean() > -20
    assert 0.5 < np.mean(np.square(errors)) / np.mean(variances) < 1.5


def test_nonnegative_counts_have_smaller_errors():
    """Even inputs, 1.5 people a cell on average: as a Gaussian has them, errors of n^ are a tenth larger."""
    grid, errors, even = CellGrid(box=((0.0, 1.0),), per_side=26), ([], []), 1.5
    smooth = counts.density_features(grid, 39)
    K = smooth @ smooth.T + even * np.eye(26)
    H = np.vstack([np.eye(26), np.full(26, 26**-0.5)])  # the noisy counts and their sum, which is known
    gain = K @ H.T @ np.linalg.inv(H @ K @ H.T + np.diag([1.5**2] * 26 + [1e-8]))
    for repeat in range(100):  # the ratio is .91, give or take .01
        rng = np.random.default_rng(repeat)
        truth = rng.multinomial(39, np.full(26, 1 / 26)).astype(float)
        z = truth + 1.5 * rng.standard_normal(26)
        found = counts_given(grid, 39, np.eye(26), 1.5, z)
        assert found.mean.sum() == pytest.approx(39)
        gaussian = even + gain @ np.append(z - even, 0.0)
        for squares, mean in zip(errors, (found.mean, gaussian), strict=True):
            squares.append((mean - truth) ** 2)
    assert np.mean(errors[0]) < 0.95 * np.mean(errors[1])


SPARSE = {
    "half of the box": np.repeat([150.0, 0.0], 20),
    "geometric": 6500 * 0.13 * 0.87 ** np.arange(40),
}
"""Expected numbers of people in 40 cells, of which those in the last ten are below the noise."""


@pytest.mark.parametrize("density", SPARSE)
def test_sparse_cells_do_not_add_up_to_too_many(density):
    """Cells with fewer people than the noise adds are as many as the others nearby: 20 releases, fixed seeds.

    If every count followed the prior of all cells, they would add up to 75 and 48 people too many.
    """
    grid, noise, last = CellGrid(box=((0.0, 1.0),), per_side=40), 14.0, slice(30, None)
    errors = []
    for repeat in range(20):
        rng = np.random.default_rng(repeat)
        truth = rng.poisson(SPARSE[density]).astype(float)
        z = truth + noise * rng.standard_normal(40)
        found = counts_given(grid, int(truth.sum()), np.eye(40), noise, z)
        assert found.mean.sum() == pytest.approx(truth.sum())
        errors.append(float((found.mean - truth)[last].sum()))
    assert abs(np.mean(errors)) < 30  # the noise alone has a standard error of 10


def test_plentiful_counts_are_as_if_no_cell_were_sparse(monkeypatch):
    """To the last bit, whereas counts of a half that is empty change."""

    def given():
        found = [counts_given(grid, int(truth.sum()), np.eye(40), 14.0, truth + noise) for truth in (even, half)]
        return [np.concatenate([each.mean, each.covariance.ravel()]) for each in found]

    grid, even, half = CellGrid(box=((0.0, 1.0),), per_side=40), np.full(40, 75.0), SPARSE["half of the box"]
    noise = 14.0 * np.random.default_rng(0).standard_normal(40)
    with_sparse = given()
    monkeypatch.setattr(counts, "TUNING", replace(TUNING, sparse=np.inf))
    without = given()
    assert np.array_equal(with_sparse[0], without[0])
    assert not np.allclose(with_sparse[1], without[1], rtol=0.1)


@pytest.mark.parametrize("noise", [1e-9, 1e-3, 1.0, 1e3, 1e9])
@pytest.mark.parametrize("shift", [-1e12, -1e3, 0.0, 1e3, 1e12])
def test_any_released_counts_can_be_read(noise, shift):
    """Nothing may fail after it was charged, however unlikely the noise."""
    for B in (np.eye(12), np.full((1, 12), 0.1)):
        for n in (1, 10**6):
            found = counts_given(GRID, n, B, noise, np.full(len(B), shift))
            assert np.isfinite(found.mean).all()
            assert np.isfinite(found.covariance).all()
            assert found.covariance.diagonal().min() >= -1e-9 * (1 + n)


def test_variances_of_counts_are_calibrated():
    """Standardised errors of Gaussian counts have variance 1: 400 worlds of 12 cells, within six standard errors."""
    rng, M = np.random.default_rng(1), 12
    centres = GRID.centres
    K = 2 * 50**2 * np.exp(-0.5 * ((centres - centres.T) / 0.15) ** 2) + 50 * np.eye(M)
    # given that they add up to n
    K -= np.outer(K.sum(axis=0), K.sum(axis=0)) / K.sum()
    values, vectors = np.linalg.eigh(K)
    worlds = 50 + (rng.standard_normal((400, M)) * np.sqrt(np.maximum(values, 0))) @ vectors.T
    B, noise = np.eye(12) / 1e3, 0.05  # noise as strong as the prior: nothing is cut at zero on average
    scores = []
    for N_cells in worlds[(worlds > 0).all(axis=1)]:
        found = counts_given(GRID, N, B, noise, B @ N_cells + noise * rng.standard_normal(len(B)))
        scores.append((found.mean - N_cells) ** 2 / found.covariance.diagonal())
    assert len(scores) > 20
    assert 0.3 < np.mean(scores) < 1.6


@pytest.mark.parametrize("kind", ["log-normal", "half of the box", "one heap"])
def test_counts_fit_their_model_for_all_inputs(kind):
    """Of tau ten times apart |w|^2 was up to 2.4 times its number, and intervals were widened though all was right."""
    for repeat in range(5):
        rng = np.random.default_rng(repeat)
        X = {
            "log-normal": lambda rng=rng: np.minimum(0.1 * np.exp(0.6 * rng.standard_normal((30_000, 1))), 1.0),
            "half of the box": lambda rng=rng: rng.uniform(0, 0.5, (30_000, 1)),
            "one heap": lambda rng=rng: np.where(rng.random((30_000, 1)) < 0.7, 0.5, rng.random((30_000, 1))),
        }[kind]()
        grid = CellGrid(box=((0.0, 1.0),), per_side=90)
        z = np.bincount(grid.index(X), minlength=90) + 13.0 * rng.standard_normal(90)
        square, numbers = counts_given(grid, 30_000, np.eye(90), 13.0, z).misfit
        assert 0.6 < square / numbers < 1.3
