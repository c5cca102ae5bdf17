import numpy as np
import pytest

from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import SparseVariational

X_TEST = np.linspace(0, 10, 5)[:, None]
MECHANISM = SparseVariational(epsilon=1.0, delta=0.01, kernel=EQ(lengthscale=2.0), noise_variance=0.3, n_inducing=8)


def test_without_clipping_intervals_are_those_of_the_posterior(make_dataset):
    data = make_dataset(y_bounds=(-40.0, 42.0), y_scale=2.0)  # 18 prior standard deviations
    fit = MECHANISM.fit(data, np.random.default_rng(1))
    low, high = MECHANISM.release(data, X_TEST, np.random.default_rng(1)).interval(0.9, "function")
    mean, variance = fit.predict(X_TEST)
    np.testing.assert_allclose((low + high)[0] / 2, mean, rtol=1e-10)
    # 400 made-up curves: standard error of a variance 7 %, less here, where most is computed
    np.testing.assert_allclose((high - low)[0] / 2, 1.645 * np.sqrt(variance), rtol=0.1)


def test_bounds_that_clip_widen_them(make_dataset):
    data = make_dataset()
    whole, cut = (
        MECHANISM.release(each, X_TEST, np.random.default_rng(1)).interval(0.99, "function")
        for each in (make_dataset(y_bounds=(-9.0, 11.0), y_scale=2.0), make_dataset(y_bounds=(0.0, 2.0), y_scale=2.0))
    )
    assert data.midpoint == 1.0
    noise_free = 2 * 2.0 * 1.5  # of what bounds of half a standard deviation leave: f beyond them is not seen
    assert (cut[1] - cut[0]).min() > noise_free
    assert (whole[1] - whole[0]).shape == (1, 5)


def test_the_level_of_an_end_is_the_intervals(make_dataset):
    release = MECHANISM.release(make_dataset(), X_TEST, np.random.default_rng(2), draws=3)
    for of in ("outputs", "function"):
        low, high = release.interval(0.9, of)
        for draw in range(3):
            for end in (low, high):
                found = release.uncertainty.level_of(end[draw], of)[draw]
                assert found == pytest.approx(np.full(5, 0.9), abs=2e-3)
