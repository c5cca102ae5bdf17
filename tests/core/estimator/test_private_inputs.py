"""The estimator where inputs are protected too."""

import numpy as np
import pytest

from dpgp_core import BayesCloaking
from tests.core.tables import read_again

X_TEST = np.linspace(-2, 12, 7)[:, None]
INPUTS_TOO = "inputs and outputs"


@pytest.fixture(scope="module")
def private(make, records):
    return make(protects=INPUTS_TOO).fit(*records)


def test_it_promises_and_predicts_what_the_mechanism_does(private):
    mechanism = BayesCloaking(epsilon=1.0, delta=0.01, stages=2, gap=0.5, protects=INPUTS_TOO)
    assert private.guarantee_ == mechanism.guarantee
    np.testing.assert_allclose(private.predict(X_TEST), read_again(mechanism, private.statistics_, X_TEST), atol=1e-12)
    low, high = private.interval(X_TEST, 0.9, of="function")
    assert (low >= -1).all()
    assert (high <= 3).all()
    assert (low < high).all()


def test_rows_outside_the_box_are_not_spoken_of(make, records):
    X, y = records
    make(protects=INPUTS_TOO, stages=1).fit(np.where(np.arange(30)[:, None] == 4, 777.0, X), y)
    with pytest.raises(ValueError, match="1 of 30 rows of X lie outside"):
        make().fit(np.where(np.arange(30)[:, None] == 4, 777.0, X), y)


def test_curves_have_the_covariance_and_mean_stated(make, records):
    model = make(protects=INPUTS_TOO, random_state=2).fit(*records)
    assert model.statistics_ is None
    assert np.isfinite(model.log_evidence())
    _, sd = model.predict(X_TEST, return_std=True)
    _, covariance = model.predict(X_TEST, return_cov=True)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), sd, rtol=1e-6)
    curves = model.sample_y(X_TEST, 4000)
    # the standard error of a standard deviation of 4,000 curves is 1.1 % or little more; 6 of them
    np.testing.assert_allclose(curves.std(axis=1), sd, rtol=0.08)


def test_one_estimator_keeps_one_kind_of_promise(make, records):
    model = make(stages=1).fit(*records)
    with pytest.raises(ValueError, match="would make one promise of two kinds"):
        model.set_params(protects=INPUTS_TOO).fit(*records)
