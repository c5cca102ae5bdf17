import numpy as np
import pytest

from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import SparseVariational

X_TEST = np.linspace(-2, 12, 9)[:, None]


def sparse(**changes):
    arguments = {"epsilon": 1.0, "delta": 0.01, "kernel": EQ(lengthscale=2.0), "noise_variance": 0.3, "n_inducing": 6}
    return SparseVariational(**{**arguments, **changes})


def test_one_release_serves_all_test_points(make_dataset):
    data, mechanism = make_dataset(), sparse()
    fit = mechanism.fit(data, np.random.default_rng(1))
    mean, variance = fit.predict(X_TEST)
    later, _ = fit.predict(X_TEST[3:5])
    np.testing.assert_allclose(later, mean[3:5], rtol=1e-12)
    released = mechanism.release(data, X_TEST, np.random.default_rng(1))
    np.testing.assert_allclose(released.samples[0], mean)
    assert (variance >= 0).all()
    # far from the data: the public midpoint and the prior variance
    far, far_variance = fit.predict(np.array([[500.0]]))
    assert far == pytest.approx(data.midpoint)
    assert far_variance == pytest.approx(data.y_scale**2)
