from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.bayes.reading import refit
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from dpgp_core.table import KINDS
from tests.core.mechanisms.shifts import allowed, numbers, shift
from tests.core.tables import changed, read_again

X_TEST = np.linspace(0.5, 9.5, 6)[:, None]


@pytest.fixture(scope="module")
def mechanism():
    return BayesCloaking(epsilon=2.0, delta=0.01, gap=0.05)


@pytest.fixture
def data(make_dataset):
    return make_dataset()


def test_the_plan_reads_no_output(mechanism, data):
    """Everything but the measurement is the same for any outputs."""
    other = replace(data, y=data.y[::-1] * 7)
    first, second = (each.statistics[0] for each in (mechanism.release(data, X_TEST), mechanism.release(other, X_TEST)))
    for a, b in zip(first.stages, second.stages, strict=True):
        np.testing.assert_array_equal(a.measurement.B, b.measurement.B)
        assert a.measurement.noise_multiplier == b.measurement.noise_multiplier
    np.testing.assert_array_equal(first.stages[0].measurement.low, np.full(12, -1.0))
    np.testing.assert_array_equal(first.stages[0].measurement.high, np.full(12, 3.0))


@pytest.mark.parametrize("protects", ["outputs", "inputs and outputs"])
def test_refit_reads_every_model_as_the_release_did(data, protects):
    """Its models weigh the same beforehand, and a release's do not: how they are read is compared, of two stages."""
    mechanism = BayesCloaking(epsilon=2.0, delta=0.01, gap=0.05, protects=protects, stages=2)
    release = mechanism.release(data, X_TEST)
    noises = list(dict.fromkeys(model.noise_variance for model in release.models))
    again = refit(
        release.statistics[0],
        kernels=[model.kernel for model in release.models[:: len(noises)]],
        noise_variances=noises,
        X_test=X_TEST,
    )
    prediction = release.uncertainty.prediction
    np.testing.assert_allclose(again.mixture.means, prediction.means, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(again.mixture.variances, prediction.variances, rtol=1e-5, atol=1e-8)
    assert again.fit.threshold == release.fit.threshold
    values = read_again(mechanism, release.statistics[0], X_TEST)
    np.testing.assert_allclose(values, release.samples[0], rtol=1e-9, atol=1e-9)


def test_samples_stay_within_the_bounds(data):
    release = BayesCloaking(epsilon=0.05, delta=0.01, gap=0.3).release(data, X_TEST, np.random.default_rng(0), 20)
    assert (release.samples >= -1).all()
    assert (release.samples <= 3).all()


def test_a_plan_serves_another_budget(mechanism, data):
    plan = mechanism.plan(data.X, X_TEST, x_box=data.x_box, half_range=2.0 / data.y_scale)
    other = replace(mechanism, epsilon=0.5)
    release = other.measure(plan, data, X_TEST)
    spent = sum(1 / each.noise_multiplier**2 for each in release.statistics[0].measurements)
    assert spent == pytest.approx(1 / other.noise_multiplier**2, rel=1e-12)
    assert release.guarantee.budget.epsilon == 0.5


def test_weights_must_fit_the_test_inputs(data):
    with pytest.raises(ValueError, match="weights must be 6 numbers"):
        BayesCloaking(epsilon=1.0, delta=0.01, weights=[1.0]).release(data, X_TEST)


each_kind = pytest.mark.parametrize(
    ("kind", "protects"), [(kind, protects) for kind in KINDS for protects in ("outputs", "inputs and outputs")]
)


def outcomes(make_dataset, kind):
    data = make_dataset(x_box=((-2.0, 12.0),))
    return changed(data, y=(np.arange(data.n) % 2).astype(float), y_bounds=(0.0, 1.0), y_kind=kind)


@each_kind
def test_all_that_is_measured_spends_what_is_promised(make_dataset, kind, protects):
    mechanism = BayesCloaking(epsilon=2.0, delta=0.01, stages=3, gap=0.3, protects=protects)
    found = mechanism.release(outcomes(make_dataset, kind), X_TEST).statistics[0]
    spent = [each.noise_multiplier for each in found.measurements]
    spent += [found.counts.noise_multiplier] if protects != "outputs" else []
    assert len(spent) == numbers(mechanism, kind) + (protects != "outputs")
    assert sum(1 / s**2 for s in spent) == pytest.approx(mechanism.guarantee.loss.mu**2, rel=1e-12)
    assert mechanism.guarantee.proven_epsilon == pytest.approx(2.0, rel=1e-9)


@each_kind
def test_no_neighbour_of_any_kind_is_further_away_than_was_calibrated(make_dataset, kind, protects):
    """One outcome or one record replaced: the shift of all integers that are measured, in the noise's metric."""
    data = outcomes(make_dataset, kind)
    mechanism = BayesCloaking(epsilon=2.0, delta=0.01, stages=2, gap=0.3, protects=protects)
    for j in (0, 5):
        other = replace(data, y=np.where(np.arange(data.n) == j, 1 - data.y, data.y))
        assert shift(mechanism, data, other, X_TEST) <= allowed(mechanism) * (1 + 1e-9)
