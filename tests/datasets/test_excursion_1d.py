import math

import numpy as np
import pytest
from scipy.special import ndtri

import datasets
from datasets import excursion_1d


def test_defaults():
    data = datasets.load("excursion_1d")
    assert data.X.shape == (100, 1)
    assert data.simulated
    assert data.y_bounds == (-1.0, 1.0)
    assert data.privacy_unit == "one person's position and value"


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.5, 0.6])
@pytest.mark.parametrize("seed", range(5))
def test_the_curve_has_its_sup_norm_over_grid_and_inputs_and_the_noise_its_bound(noise, seed):
    clean, data = excursion_1d.load(noise=0.0, seed=seed), excursion_1d.load(noise=noise, seed=seed)
    f = excursion_1d.truth(noise=noise, seed=seed)
    signal = (1 - noise) * clean.y  # the same curve at the inputs: streams do not depend on the noise
    assert max(np.abs(f).max(), np.abs(signal).max()) == pytest.approx(1 - noise, rel=1e-12)
    assert np.abs(data.y - signal).max() <= noise + 1e-12
    assert np.abs(data.y).max() <= 1 + 1e-12


def test_noise_is_uniform():
    batch = excursion_1d.targets(200, noise=0.5, one_curve=True, size=20)
    clean = excursion_1d.targets(200, noise=0.0, one_curve=True, size=20)
    error = (batch.y - 0.5 * clean.y).ravel()
    z = -ndtri(1e-6 / 4)  # two comparisons, two sides: false alarm 1e-6
    assert abs(error.mean()) <= z * 0.5 / math.sqrt(3 * error.size)
    # E u^2 = 1/12, var u^2 = 1/180 for u uniform on a unit interval about 0
    assert abs((error**2).mean() - 1 / 12) <= z * math.sqrt(1 / 180 / error.size)


@pytest.mark.parametrize(("ratio", "noise"), excursion_1d.NOISE_OF_RATIO.items())
def test_published_noise_to_signal_ratios(ratio, noise):
    assert noise / (1 - noise) == pytest.approx(ratio, abs=0.005)


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


def test_more_targets_begin_with_the_same():
    few, many = excursion_1d.targets(2, size=50), excursion_1d.targets(5, size=50)
    np.testing.assert_array_equal(few.y, many.y[:2])


def test_the_published_target_covers_two_thirds():
    # seed 6 with 100 training sets and 800 points, as in the published README's command
    assert excursion_1d.targets(100, one_curve=True).truth[0].mean() == pytest.approx(0.6775)


@pytest.mark.parametrize("noise", [-0.1, 1.0, math.nan])
def test_bad_noise_is_refused(noise):
    with pytest.raises(ValueError, match="noise must be at least 0 and below 1"):
        excursion_1d.truth(noise=noise)


def test_no_targets_are_refused():
    with pytest.raises(ValueError, match="count must be at least 1, got 0"):
        excursion_1d.targets(0)
