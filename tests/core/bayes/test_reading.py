"""Records and cells answer the same questions in the same way."""

import numpy as np
import pytest

from dpgp_core.bayes.models import Model
from dpgp_core.bayes.refit import read
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking

X_TEST = np.linspace(0.5, 9.5, 4)[:, None]
MODELS = [Model(kernel=EQ(lengthscale=scale), noise_variance=0.1) for scale in (1.0, 3.0)]


@pytest.fixture(scope="module", params=["outputs", "inputs and outputs"])
def reading(request, make_dataset):
    mechanism = BayesCloaking(epsilon=2.0, delta=0.01, stages=2, gap=0.3, protects=request.param)
    return read(mechanism.release(make_dataset(), X_TEST).statistics[0], MODELS)


def test_curve_and_joint_posterior_are_one(reading):
    found = reading.at(X_TEST)
    mixture, joint = found.curve, found.joint()
    np.testing.assert_allclose(joint.means, mixture.means[0], atol=1e-9)
    spread = mixture.variances[0] + (mixture.means[0] - mixture.mean[0]) ** 2
    np.testing.assert_allclose(np.diag(joint.covariance()), mixture.weights[0] @ spread, atol=1e-9)


def test_people_are_added_to_the_same_curve(reading):
    found = reading.at(X_TEST)
    both = found.with_people()
    assert found.curve.people is None
    assert (both.people.variance > 0).all()
    np.testing.assert_array_equal(both.means, found.curve.means)


def test_the_evidence_does_not_hang_on_the_place(reading):
    np.testing.assert_allclose(reading.at(X_TEST).log_evidence, reading.log_evidence(), atol=1e-9)


def test_other_columns_are_refused(reading):
    with pytest.raises(ValueError, match="equally many columns"):
        reading.at(np.zeros((2, 2)))
