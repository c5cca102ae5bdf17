import numpy as np
import pytest

from dpgp_core import EQ, BayesCloaking, refit

X_TEST = np.linspace(0.5, 9.5, 6)[:, None]


@pytest.fixture(scope="module")
def statistics(make_dataset):
    mechanism = BayesCloaking(epsilon=2.0, delta=0.01, protects="inputs and outputs", stages=2)
    return mechanism.release(make_dataset(), X_TEST).statistics[0]


def test_the_same_numbers_are_read_by_other_models_at_other_points(statistics):
    one = refit(statistics, kernels=[EQ(lengthscale=2.0)], noise_variances=[0.3], X_test=X_TEST)
    again = refit(statistics, kernels=[EQ(lengthscale=2.0)], noise_variances=[0.3], X_test=X_TEST)
    other = refit(statistics, kernels=[EQ(lengthscale=6.0)], noise_variances=[0.3], X_test=X_TEST)
    part = refit(statistics, kernels=[EQ(lengthscale=2.0)], noise_variances=[0.3], X_test=X_TEST[2:3])
    np.testing.assert_array_equal(one.mean, again.mean)
    np.testing.assert_allclose(part.mean, one.mean[2:3], rtol=1e-6)
    assert (one.mean != other.mean).any()
