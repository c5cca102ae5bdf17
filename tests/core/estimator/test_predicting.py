"""Predicting is free, where inputs are protected too."""

import numpy as np
import pytest
from scipy.special import logsumexp

from dpgp_core import BayesCloaking
from dpgp_core.bayes.filter_records import record_filter
from dpgp_core.bayes.models import weights_of
from tests.core.tables import read_again

X_TEST = np.linspace(-2, 12, 5)[:, None]


def test_standard_deviations_are_the_roots_of_the_variances(fitted):
    mean, sd = fitted.predict(X_TEST, return_std=True)
    again, covariance = fitted.predict(X_TEST, return_cov=True)
    np.testing.assert_allclose(mean, again, rtol=1e-9)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), sd, rtol=1e-7)
    assert np.linalg.eigvalsh(covariance).min() > -1e-9


def test_standard_deviations_are_in_the_unit_of_the_output(make, records):
    model = make(y_scale=2.0).fit(*records)
    _, sd = model.predict(X_TEST, return_std=True)
    _, covariance = model.predict(X_TEST, return_cov=True)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), sd, rtol=1e-7)


def test_both_are_not_given_at_once(fitted):
    with pytest.raises(ValueError, match="cannot both be True"):
        fitted.predict(X_TEST, return_std=True, return_cov=True)


def test_intervals_hold_one_another(fitted):
    low, high = fitted.interval(X_TEST, 0.9)
    inner, outer = fitted.interval(X_TEST, 0.5), fitted.interval(X_TEST, 0.9, of="function")
    assert low.shape == high.shape == (5,)
    assert (low <= inner[0]).all()
    assert (inner[1] <= high).all()
    assert (outer[0] < outer[1]).all()
    assert (low < outer[0]).all()


def test_curves_are_of_the_posterior(fitted):
    """20,000 curves: within six standard errors of mean and standard deviation (mixtures: a quarter more)."""
    curves = fitted.sample_y(X_TEST, 20_000, random_state=1)
    assert curves.shape == (5, 20_000)
    _, sd = fitted.predict(X_TEST, return_std=True)
    reading = fitted.reading_
    centre = reading.outcome.midpoint + reading.outcome.scale * next(iter(reading.parts(X_TEST))).prediction.mean[0]
    assert (np.abs(curves.mean(axis=1) - centre) < 6 * sd / np.sqrt(20_000)).all()
    np.testing.assert_allclose(curves.std(axis=1), sd, rtol=0.08)
    again = fitted.sample_y(X_TEST, 20_000, random_state=np.random.default_rng(1))
    np.testing.assert_allclose(curves, again, atol=1e-9)


def test_the_evidence_is_that_of_the_mixture(fitted):
    reading = fitted.reading_.reading
    filtered = record_filter(reading.models, reading.X, X_TEST, public=reading.public)
    states = filtered.read(reading.measured.stages).states
    logs = np.log(weights_of(reading.models)) + [state.log_evidence[0] for state in states]
    assert fitted.log_evidence() == pytest.approx(logsumexp(logs), abs=1e-9)


def test_the_score_is_one_minus_the_share_left(fitted, records):
    X, y = records
    left = ((y - fitted.predict(X)) ** 2).mean() / y.var()
    assert fitted.score(X, y) == pytest.approx(1 - left, rel=1e-12)
    assert fitted.score(X_TEST, np.ones(5)) == 0.0
    assert fitted.score(X_TEST[:1], fitted.predict(X_TEST[:1])) == 1.0


def test_many_places_are_predicted_some_at_a_time(fitted):
    many = np.linspace(0, 10, 4100)[:, None]
    ends = many[[0, 4095, 4096, 4099]]
    np.testing.assert_allclose(fitted.predict(many)[[0, 4095, 4096, 4099]], fitted.predict(ends), atol=1e-9)
    np.testing.assert_allclose(fitted.interval(many)[1][[0, 4099]], fitted.interval(ends)[1][[0, 3]], atol=1e-9)


def test_other_columns_than_fitted_are_refused(fitted):
    with pytest.raises(ValueError, match="X has 2 features, but DPGaussianProcessRegressor is expecting 1 features"):
        fitted.predict(np.zeros((3, 2)))


def test_predicting_before_fitting_is_refused(make):
    with pytest.raises(ValueError, match=r"call fit\(X, y\) first"):
        make().predict(X_TEST)


def test_quantiles_are_ordered_and_those_of_intervals(fitted):
    found = fitted.predict_quantiles(X_TEST, [0.025, 0.5, 0.975])
    assert (np.diff(found, axis=1) > 0).all()
    low, high = fitted.interval(X_TEST, 0.95)
    np.testing.assert_allclose(found[:, [0, 2]], np.stack([low, high], axis=1))


def test_scatter_is_what_one_more_person_adds_to_the_curve(fitted):
    widths = [np.subtract(*fitted.interval(X_TEST, 0.6827, of)[::-1]) / 2 for of in ("outputs", "function")]
    together = np.sqrt(widths[1] ** 2 + fitted.scatter(X_TEST) ** 2)
    np.testing.assert_allclose(widths[0], together, rtol=0.1)


@pytest.mark.parametrize("p", [0.0, 1.0, -0.1])
def test_a_quantile_out_of_range_is_refused(fitted, p):
    with pytest.raises(ValueError, match="between 0 and 1"):
        fitted.predict_quantiles(X_TEST, [p])


# ---- The estimator where inputs are protected too.


PLACES = np.linspace(-2, 12, 7)[:, None]
INPUTS_TOO = "inputs and outputs"


@pytest.fixture(scope="module")
def private(make, records):
    return make(protects=INPUTS_TOO).fit(*records)


def test_it_promises_and_predicts_what_the_mechanism_does(private):
    mechanism = BayesCloaking(epsilon=1.0, delta=0.01, stages=2, gap=0.5, protects=INPUTS_TOO)
    assert private.guarantee_ == mechanism.guarantee
    np.testing.assert_allclose(private.predict(PLACES), read_again(mechanism, private.statistics_, PLACES), atol=1e-12)
    low, high = private.interval(PLACES, 0.9, of="function")
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
    _, sd = model.predict(PLACES, return_std=True)
    _, covariance = model.predict(PLACES, return_cov=True)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), sd, rtol=1e-6)
    curves = model.sample_y(PLACES, 4000)
    # the standard error of a standard deviation of 4,000 curves is 1.1 % or little more; 6 of them
    np.testing.assert_allclose(curves.std(axis=1), sd, rtol=0.08)


def test_one_estimator_keeps_one_kind_of_promise(make, records):
    model = make(stages=1).fit(*records)
    with pytest.raises(ValueError, match="would make one promise of two kinds"):
        model.set_params(protects=INPUTS_TOO).fit(*records)
