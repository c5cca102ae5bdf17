"""Records and cells answer the same questions in the same way."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dpgp_core
from dpgp_core.bayes.filter_records import record_filter
from dpgp_core.bayes.models import Model
from dpgp_core.bayes.readers import measured_of, public_of
from dpgp_core.bayes.reading import read, refit
from dpgp_core.kernels import EQ, Matern52
from dpgp_core.measurement.statistics_file import statistics_from_files
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from tests.core.bayes.oracle import posterior_of

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


X_TEST_REFIT = np.linspace(-1, 11, 5)[:, None]


NOISES = [0.05, 0.3]


@pytest.fixture(scope="module")
def statistics(make_dataset):
    mechanism = BayesCloaking(epsilon=2.0, delta=0.01, stages=3, gap=0.3)
    return mechanism.release(make_dataset(), X_TEST_REFIT).statistics[0]


def test_the_public_name_is_this_one():
    assert dpgp_core.refit is refit


@pytest.mark.parametrize("kernel", [EQ(lengthscale=2.0), Matern52(variance=0.5, lengthscale=4.0)], ids=["EQ", "Matern"])
def test_a_refit_is_what_a_fresh_mechanism_of_that_kernel_reads_from_the_same_numbers(statistics, kernel):
    models = [Model(kernel=kernel, noise_variance=noise) for noise in NOISES]
    filtered = record_filter(models, statistics.X, X_TEST_REFIT, public=public_of(statistics))
    outcome = filtered.read(measured_of(statistics).stages)
    fresh = filtered.predict(outcome)
    again = refit(statistics, kernels=[kernel], noise_variances=NOISES, X_test=X_TEST_REFIT)
    np.testing.assert_allclose(again.weights, outcome.weights[0], rtol=1e-9, atol=1e-9)
    in_unit = [statistics.midpoint + statistics.y_scale * end[0] for end in fresh.interval(0.9, "function")]
    np.testing.assert_allclose(again.mean, statistics.midpoint + statistics.y_scale * fresh.mean[0], atol=1e-9)
    np.testing.assert_allclose(again.interval(0.9), in_unit, atol=1e-8)


def test_nothing_is_spent(statistics):
    """No record is at hand: what is read is the statistic, and it stays as it was."""
    before = [stage.z.copy() for stage in statistics.stages], dict(statistics.guarantee)
    refit(statistics, kernels=[EQ()], noise_variances=NOISES, X_test=X_TEST_REFIT)
    for z, stage in zip(before[0], statistics.stages, strict=True):
        np.testing.assert_array_equal(z, stage.z)
    assert dict(statistics.guarantee) == before[1]


def test_a_file_of_before_says_what_outputs_that_were_clipped_say():
    """Another computation. Later intervals of this file are .75 predicted standard deviations to a side."""
    kept = json.loads((Path(__file__).parent / "before" / "records.json").read_text(encoding="utf-8"))
    statistics = statistics_from_files(kept["card"], bytes.fromhex(kept["npz"]))
    kernel = EQ(lengthscale=2.0)
    again = refit(statistics, kernels=[kernel], noise_variances=[0.05], X_test=X_TEST)
    mean, covariance = posterior_of(statistics, kernel, 0.05, X_TEST)
    np.testing.assert_allclose(again.mixture.means[0, 0], mean, atol=1e-9)
    np.testing.assert_allclose(again.mixture.variances[0, 0], np.diag(covariance), atol=1e-9)


def test_bad_arguments_are_refused(statistics):
    with pytest.raises(ValueError, match="at least one kernel"):
        refit(statistics, kernels=[], noise_variances=NOISES, X_test=X_TEST_REFIT)
    with pytest.raises(ValueError, match="equally many columns"):
        refit(statistics, kernels=[EQ()], noise_variances=NOISES, X_test=np.zeros((2, 2)))


X_TEST_CELLS = np.linspace(0.5, 9.5, 6)[:, None]


@pytest.fixture(scope="module")
def statistics_cells(make_dataset):
    mechanism = BayesCloaking(epsilon=2.0, delta=0.01, protects="inputs and outputs", stages=2)
    return mechanism.release(make_dataset(), X_TEST_CELLS).statistics[0]


def test_the_same_numbers_are_read_by_other_models_at_other_points(statistics_cells):
    one = refit(statistics_cells, kernels=[EQ(lengthscale=2.0)], noise_variances=[0.3], X_test=X_TEST_CELLS)
    again = refit(statistics_cells, kernels=[EQ(lengthscale=2.0)], noise_variances=[0.3], X_test=X_TEST_CELLS)
    other = refit(statistics_cells, kernels=[EQ(lengthscale=6.0)], noise_variances=[0.3], X_test=X_TEST_CELLS)
    part = refit(statistics_cells, kernels=[EQ(lengthscale=2.0)], noise_variances=[0.3], X_test=X_TEST_CELLS[2:3])
    np.testing.assert_array_equal(one.mean, again.mean)
    np.testing.assert_allclose(part.mean, one.mean[2:3], rtol=1e-6)
    assert (one.mean != other.mean).any()


@pytest.fixture(scope="module")
def statistics_records(make_dataset):
    return BayesCloaking(epsilon=2.0, delta=0.01, stages=2, gap=0.3).release(make_dataset(), X_TEST).statistics[0]


def test_one_model_has_mean_and_covariance_of_stacked_observations(statistics_records):
    """Another computation: observations of outputs stacked, clipping taken to have no bias in both."""
    kernel = EQ(lengthscale=1.0)
    reading = replace(read(statistics_records, [Model(kernel=kernel, noise_variance=0.1)]), public=None)
    mean, covariance = posterior_of(statistics_records, kernel, 0.1, X_TEST)
    np.testing.assert_allclose(reading.at(X_TEST).joint().means[0], mean, atol=1e-9)
    np.testing.assert_allclose(reading.at(X_TEST).joint().covariance(), covariance, atol=1e-9)
