import math

import numpy as np
import pytest
from scipy.special import ndtri

import datasets
from datasets import plumes_2d


def test_defaults():
    data = datasets.load("plumes_2d")
    assert data.X.shape == (400, 2)
    assert data.simulated
    assert data.y_bounds == (-1.0, 1.0)
    assert data.privacy_unit == "one sensor's position and reading"


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_the_field_spans_its_range_on_the_grid(seed, noise):
    f = plumes_2d.truth(noise=noise, seed=seed)
    assert (f.min(), f.max()) == pytest.approx((noise - 1, 1 - noise))


@pytest.mark.parametrize("seed", range(5))
def test_readings_keep_their_bounds(seed):
    clean, data = plumes_2d.load(noise=0.0, seed=seed), plumes_2d.load(noise=0.3, seed=seed)
    np.testing.assert_array_equal(clean.X, data.X)
    assert np.abs(data.y - 0.7 * clean.y).max() <= 0.3
    assert np.abs(data.y).max() <= 1


def test_noise_is_uniform():
    clean, data = plumes_2d.load(n=20_000, noise=0.0), plumes_2d.load(n=20_000, noise=0.5)
    error = data.y - 0.5 * clean.y
    z = -ndtri(1e-6 / 4)  # two comparisons, two sides: false alarm 1e-6
    assert abs(error.mean()) <= z * 0.5 / math.sqrt(3 * error.size)
    assert abs((error**2).mean() - 1 / 12) <= z * math.sqrt(1 / 180 / error.size)


def test_truth_is_the_field_of_the_data():
    # the field changes by less than 0.2 over half a grid step: gain 5, width 0.17 at least
    data, f = plumes_2d.load(noise=0.0, n=50), plumes_2d.truth(noise=0.0)
    nearest = np.linalg.norm(plumes_2d.grid()[:, None] - data.X, axis=2).argmin(axis=0)
    assert np.abs(f[nearest] - data.y).max() < 0.2


def test_the_field_is_smooth_and_has_at_most_two_peaks():
    for seed in range(10):
        f = plumes_2d.truth(noise=0.0, seed=seed).reshape(64, 64)
        inner = f[1:-1, 1:-1]
        around = [f[1 + a : 63 + a, 1 + b : 63 + b] for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)]
        assert np.all([inner > each for each in around], axis=0).sum() <= 2
        assert np.abs(np.diff(f, axis=0)).max() < 0.25


def test_grid_runs_over_the_second_coordinate_first():
    np.testing.assert_allclose(plumes_2d.grid(3)[:4], [[0, 0], [0, 0.5], [0, 1], [0.5, 0]])


def test_targets_are_independent_maps_on_any_grid():
    coarse, fine = plumes_2d.targets(3, n=20, side=8), plumes_2d.targets(3, n=20, side=15)
    assert coarse.X.shape == (3, 20, 2)
    assert coarse.truth.shape == (3, 64)
    np.testing.assert_allclose(coarse.y, fine.y, atol=1e-12)
    np.testing.assert_array_equal(coarse.truth.reshape(3, 8, 8), fine.truth.reshape(3, 15, 15)[:, ::2, ::2])
    assert len(np.unique(coarse.truth, axis=0)) == 3


def test_true_sets_are_neither_empty_nor_everything():
    share = plumes_2d.targets(30, n=5, side=20).truth.mean(axis=1)
    assert 0.05 < share.min() < share.max() < 0.8


def test_targets_at_given_places():
    X = np.random.default_rng(1).random((30, 2))
    batch = plumes_2d.targets_at(X, 4, noise=0.2)
    np.testing.assert_array_equal(batch.X, np.tile(X, (4, 1, 1)))
    np.testing.assert_array_equal(batch.grid, X)
    noiseless = plumes_2d.targets_at(X, 4, noise=0.0)
    np.testing.assert_array_equal(noiseless.truth, noiseless.y >= 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plumes_2d.targets(0), "n and count must be at least 1 and seed at least 0, got n=400, count=0"),
        (lambda: plumes_2d.truth(noise=1.0), "noise must be at least 0 and below 1, got 1.0"),
    ],
)
def test_bad_options_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
