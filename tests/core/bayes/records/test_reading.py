from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.bayes.models import Model
from dpgp_core.bayes.records.reading import read_records
from dpgp_core.bayes.records.released import clipped_observation
from dpgp_core.kernels import EQ
from dpgp_core.measurement.refit import refit
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking

X_TEST = np.linspace(0.5, 9.5, 4)[:, None]


@pytest.fixture(scope="module")
def statistics(make_dataset):
    return BayesCloaking(epsilon=2.0, delta=0.01, stages=2, gap=0.3).release(make_dataset(), X_TEST).statistics[0]


def test_one_model_has_the_covariance_of_a_refit(statistics):
    """Another computation: observations of outputs stacked, clipping taken to have no bias in both."""
    kernel = EQ(lengthscale=1.0)
    reading = replace(read_records(statistics, [Model(kernel=kernel, noise_variance=0.1)]), public=None)
    options = {"kernels": [kernel], "noise_variances": [0.1], "X_test": X_TEST, "observe": clipped_observation}
    found = refit(statistics, **options).posteriors[0]
    expected = kernel(X_TEST, X_TEST) - found.root.T @ found.root
    np.testing.assert_allclose(reading.at(X_TEST).joint().covariance(), expected, atol=1e-9)
