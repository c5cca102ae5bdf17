import numpy as np
import pytest

from dpgp_core.mechanisms.base import Plan, Release


@pytest.fixture
def plan():
    rng = np.random.default_rng(1)
    return Plan(weights=rng.normal(size=(4, 12)), factor=rng.normal(size=(4, 3)))


def test_release_reports_the_covariance_of_its_factor(plan):
    L = plan.factor
    release = Release(
        X_test=np.zeros((4, 1)), mean=np.zeros(4), noise_factor=L, samples=np.zeros((1, 4)), guarantee=None
    )
    np.testing.assert_allclose(release.noise_covariance(), L @ L.T)
    np.testing.assert_allclose(release.noise_sd, np.sqrt(np.diag(L @ L.T)))
