"""Data sets that are simulated, and what is true of them by construction."""

import math

import numpy as np
import pytest
from scipy.special import ndtri

import datasets
from datasets import excursion_1d, growth_2d, growth_visits, plumes_2d, toy_1d
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import BayesCloaking, Cloaking


def noisy_curves(noise):
    return excursion_1d.targets(200, noise=noise, one_curve=True, size=20).y


def noisy_plumes(noise):
    return plumes_2d.load(n=20_000, noise=noise).y


@pytest.mark.parametrize("outputs", [noisy_curves, noisy_plumes])
def test_noise_is_uniform(outputs):
    error = (outputs(0.5) - 0.5 * outputs(0.0)).ravel()
    z = -ndtri(1e-6 / 4)  # two comparisons, two sides: false alarm 1e-6
    assert abs(error.mean()) <= z * 0.5 / math.sqrt(3 * error.size)
    # E u^2 = 1/12, var u^2 = 1/180 for u uniform on a unit interval about 0
    assert abs((error**2).mean() - 1 / 12) <= z * math.sqrt(1 / 180 / error.size)


def test_y_is_the_documented_curve_plus_noise():
    data = toy_1d.load(n=20_000)
    x = data.X[:, 0]
    residual = data.y - (np.sin(x) + 0.3 * np.cos(2 * x))
    assert residual.mean() == pytest.approx(0, abs=4 * 0.2 / np.sqrt(20_000))
    assert residual.std() == pytest.approx(0.2, abs=4 * 0.2 / np.sqrt(40_000))
    assert x.mean() == pytest.approx(5, abs=4 * 10 / np.sqrt(12 * 20_000))


def test_heights_and_weights_follow_the_documented_formulas():
    data = growth_2d.load(n=40_000)
    z = np.log(data.y / growth_2d.median_height(data.X[:, 0])) / 0.045
    assert z.mean() == pytest.approx(0, abs=6 / 200)
    assert z.std() == pytest.approx(1, abs=6 / 280)
    ratio = data.X[:, 1] / (data.y / 100) ** 2 / (15 + 0.035 * (data.X[:, 0] - 5) ** 2)
    assert ratio.mean() == pytest.approx(1, abs=6 * 0.13 / 200)


def test_every_girl_has_one_to_ten_rows():
    data = growth_visits.load()
    rows = np.bincount(data.person)
    assert (data.people, len(rows), data.simulated) == (1000, 1000, True)
    assert (rows.min(), rows.max()) == (1, 10)
    assert rows.mean() == pytest.approx(5.5, abs=6 * 2.9 / 1000**0.5)
    assert data.clipped_count == 0


def test_only_bayes_cloaking_accepts_several_rows():
    data = growth_visits.load(girls=20)
    assert "growth_visits" not in datasets.EXHIBITS
    assert BayesCloaking(epsilon=1.0, delta=1e-5).guarantee_for(data).rows is None
    cloaking = Cloaking(epsilon=1.0, delta=1e-5, kernel=EQ(lengthscale=5.0), noise_variance=0.1)
    with pytest.raises(ValueError, match=r"protects single rows only\. Use Bayes cloaking"):
        cloaking.release(data, np.array([[5.0]]), np.random.default_rng(0))


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.5, 0.6])
@pytest.mark.parametrize("seed", range(5))
def test_the_curve_and_noise_keep_their_bounds(noise, seed):
    clean, data = excursion_1d.load(noise=0.0, seed=seed), excursion_1d.load(noise=noise, seed=seed)
    f = excursion_1d.truth(noise=noise, seed=seed)
    signal = (1 - noise) * clean.y  # the same curve at the inputs: streams do not depend on the noise
    assert max(np.abs(f).max(), np.abs(signal).max()) == pytest.approx(1 - noise, rel=1e-12)
    assert np.abs(data.y - signal).max() <= noise + 1e-12
    assert np.abs(data.y).max() <= 1 + 1e-12


@pytest.mark.parametrize(("ratio", "noise"), excursion_1d.NOISE_OF_RATIO.items())
def test_published_noise_to_signal_ratios(ratio, noise):
    assert noise / (1 - noise) == pytest.approx(ratio, abs=0.005)


@pytest.mark.full
def test_the_path_has_the_exponential_covariance():
    rng = np.random.default_rng(1)
    x = np.array([0.7, 0.0, 0.2, 1.0])
    paths = np.array([excursion_1d._path(x, rng) for _ in range(20_000)])
    C = np.exp(-np.abs(x[:, None] - x))
    z = -ndtri(1e-6 / 20)  # ten comparisons, two sides: false alarm 1e-6
    assert (np.abs(paths.T @ paths / len(paths) - C) <= 1.05 * z * np.sqrt((1 + C**2) / len(paths))).all()


def test_truth_is_the_curve_of_the_data():
    # kernel exp(-d): increments over d <= 1 / 1600 have sd <= sqrt(2 d) = 0.036 before rescaling
    data, f = excursion_1d.load(noise=0.0), excursion_1d.truth(noise=0.0)
    nearest = f[np.abs(excursion_1d.grid() - data.X[:, 0]).argmin(axis=0)]
    assert np.sqrt(np.mean((nearest - data.y) ** 2)) < 0.05


def test_targets_have_their_own_curves_or_one():
    own, one = excursion_1d.targets(4, size=100), excursion_1d.targets(4, size=100, one_curve=True)
    assert own.X.shape == one.X.shape == (4, 100, 1)
    assert len(np.unique(own.truth, axis=0)) == 4
    assert len(np.unique(one.truth, axis=0)) == 1
    assert len(np.unique(one.X[:, 0])) == 4


@pytest.mark.parametrize("one_curve", [False, True])
def test_true_sets_are_screened(one_curve):
    for inside in excursion_1d.targets(20, size=400, one_curve=one_curve).truth:
        pieces = int((np.diff(inside.astype(int), prepend=0) == 1).sum())
        assert 0.1 <= inside.mean() <= 0.9
        assert pieces <= 13
        assert inside.mean() / pieces >= 0.05


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


def test_truth_is_the_field_of_the_data():
    # the field changes by less than 0.2 over half a grid step: gain 5, width 0.17 at least
    data, f = plumes_2d.load(noise=0.0, n=50), plumes_2d.truth(noise=0.0)
    nearest = np.linalg.norm(plumes_2d.grid()[:, None] - data.X, axis=2).argmin(axis=0)
    assert np.abs(f[nearest] - data.y).max() < 0.2


def test_grid_runs_over_the_second_coordinate_first():
    np.testing.assert_allclose(plumes_2d.grid(3)[:4], [[0, 0], [0, 0.5], [0, 1], [0.5, 0]])


def test_targets_are_independent_maps_on_any_grid():
    coarse, fine = plumes_2d.targets(3, n=20, side=8), plumes_2d.targets(3, n=20, side=15)
    assert coarse.X.shape == (3, 20, 2)
    assert coarse.truth.shape == (3, 64)
    np.testing.assert_allclose(coarse.y, fine.y, atol=1e-12)
    np.testing.assert_array_equal(coarse.truth.reshape(3, 8, 8), fine.truth.reshape(3, 15, 15)[:, ::2, ::2])
    assert len(np.unique(coarse.truth, axis=0)) == 3


def test_targets_are_at_given_inputs():
    X = np.random.default_rng(1).random((30, 2))
    batch = plumes_2d.targets_at(X, 4, noise=0.2)
    np.testing.assert_array_equal(batch.X, np.tile(X, (4, 1, 1)))
    np.testing.assert_array_equal(batch.grid, X)
    noiseless = plumes_2d.targets_at(X, 4, noise=0.0)
    np.testing.assert_array_equal(noiseless.truth, noiseless.y >= 0)
