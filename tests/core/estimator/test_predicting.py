"""Predicting is free, where inputs are protected too."""

import numpy as np
import pytest
from scipy.special import logsumexp

from dpgp_core.bayes.model import weights_of
from tests.core.estimator.worlds import RECORDS, make

X_TEST = np.linspace(-2, 12, 5)[:, None]


def test_standard_deviations_are_roots_of_variances(either):
    mean, sd = either.predict(X_TEST, return_std=True)
    again, covariance = either.predict(X_TEST, return_cov=True)
    np.testing.assert_allclose(mean, again, rtol=1e-9)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), sd, rtol=1e-6)
    assert np.linalg.eigvalsh(covariance).min() > -1e-9


def test_wider_levels_contain_narrower_intervals(either):
    low, high = either.interval(X_TEST, 0.9)
    inner, curve = either.interval(X_TEST, 0.5), either.interval(X_TEST, 0.9, of="function")
    assert low.shape == high.shape == (5,)
    assert ((low <= inner[0]) & (inner[1] <= high)).all()
    assert ((low <= curve[0]) & (curve[0] < curve[1])).all()
    if either.protects == "inputs and outputs":
        assert ((curve[0] >= -1) & (curve[1] <= 3)).all()


def test_curves_are_of_the_posterior(either):
    """20,000 curves: within six standard errors of mean and standard deviation (mixtures: a quarter more)."""
    curves = either.sample_y(X_TEST, 20_000, random_state=1)
    assert curves.shape == (5, 20_000)
    _, sd = either.predict(X_TEST, return_std=True)
    reading = either.posterior_
    centre = reading.outcome.midpoint + reading.outcome.scale * next(iter(reading.parts(X_TEST))).prediction.mean[0]
    assert (np.abs(curves.mean(axis=1) - centre) < 6 * sd / np.sqrt(20_000)).all()
    np.testing.assert_allclose(curves.std(axis=1), sd, rtol=0.08)
    assert np.isfinite(either.log_evidence())
    again = either.sample_y(X_TEST, 20_000, random_state=np.random.default_rng(1))
    np.testing.assert_allclose(curves, again, atol=1e-9)


def test_the_evidence_is_that_of_the_mixture(fitted):
    reading = fitted.posterior_.posterior
    filtered = reading.filtered.with_counts(reading.measured.counts)
    logs = np.log(weights_of(reading.models)) + filtered.given(reading.measured.stages).state.log_evidence
    assert fitted.log_evidence() == pytest.approx(logsumexp(logs), abs=1e-9)


def test_the_score_is_one_minus_the_share_left(fitted):
    X, y = RECORDS
    left = ((y - fitted.predict(X)) ** 2).mean() / y.var()
    assert fitted.score(X, y) == pytest.approx(1 - left, rel=1e-12)
    assert fitted.score(X_TEST, np.ones(5)) == 0.0
    assert fitted.score(X_TEST[:1], fitted.predict(X_TEST[:1])) == 1.0


def test_many_test_inputs_are_predicted_in_parts(fitted, monkeypatch):
    mean, (low, high) = fitted.predict(X_TEST), fitted.interval(X_TEST)
    monkeypatch.setattr("dpgp_core.estimator.predicting._ROWS", 2)
    np.testing.assert_allclose(fitted.predict(X_TEST), mean, atol=1e-9)
    np.testing.assert_allclose(fitted.interval(X_TEST), (low, high), atol=1e-9)


@pytest.fixture(scope="module")
def precise():
    """A simulated fit of little noise, whose intervals within the box end before the bounds, where they are cut."""
    return make(epsilon=30.0, random_state=1).fit(*RECORDS)


INSIDE = np.linspace(1, 9, 5)[:, None]


def test_quantiles_are_ordered_and_those_of_intervals(precise):
    found = precise.predict_quantiles(INSIDE, [0.025, 0.5, 0.975])
    assert (np.diff(found, axis=1) > 0).all()
    low, high = precise.interval(INSIDE, 0.95)
    np.testing.assert_allclose(found[:, [0, 2]], np.stack([low, high], axis=1))


def test_residual_sd_widens_intervals_for_people(precise):
    widths = [np.subtract(*precise.interval(INSIDE, 0.6827, of)[::-1]) / 2 for of in ("outputs", "function")]
    together = np.sqrt(widths[1] ** 2 + precise.residual_sd(INSIDE) ** 2)
    np.testing.assert_allclose(widths[0], together, rtol=0.1)
