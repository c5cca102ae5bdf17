import numpy as np
import pytest

from dpgp_core.gp.uncertainty import NoInterval
from dpgp_core.mechanisms.base import Release, within_unit


def release(factor):
    return Release(
        X_test=np.zeros((4, 1)),
        samples=np.zeros((1, 4)),
        guarantee=None,
        statistics=(),
        uncertainty=NoInterval(reason="made for the tests"),
        noise_factor=factor,
    )


def test_release_reports_the_covariance_of_its_factor():
    L = np.random.default_rng(1).normal(size=(4, 3))
    found = release(L)
    np.testing.assert_allclose(found.noise_covariance(), L @ L.T)
    np.testing.assert_allclose(found.noise_sd, np.sqrt(np.diag(L @ L.T)))


def test_noise_that_is_not_added_once_has_no_covariance():
    for ask in (lambda found: found.noise_sd, lambda found: found.noise_covariance()):
        with pytest.raises(ValueError, match=r"not added once, so it has no covariance; use interval\(\)"):
            ask(release(None))


def test_too_long_columns_are_shortened_and_the_product_stays():
    rng = np.random.default_rng(2)
    B, L = 3 * rng.normal(size=(3, 12)), rng.normal(size=(4, 3))
    strategy, factor = within_unit(B, L)
    np.testing.assert_allclose(factor @ strategy, L @ B)
    assert np.linalg.norm(strategy, axis=0).max() == pytest.approx(1)
    short, same = within_unit(0.01 * B, L)
    np.testing.assert_array_equal(short, 0.01 * B)
    assert same is L
