"""Releases are read again with other models, whatever their columns are."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from dpgp_core.bayes.cells import CellGrid
from dpgp_core.bayes.counts import known_counts
from dpgp_core.bayes.curator import measured_of
from dpgp_core.bayes.filter import filter_of
from dpgp_core.bayes.model import Model
from dpgp_core.bayes.prediction import noise_variance, predict
from dpgp_core.bayes.queries import StageMeasurement
from dpgp_core.bayes.refit import bins_of, posterior_given, refit
from dpgp_core.gp.regression import posterior
from dpgp_core.kernels import EQ, Matern52
from dpgp_core.measurement.measurement import Measurement
from dpgp_core.measurement.statistics import Stage, Statistics
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from dpgp_core.release.check import load
from dpgp_core.release.json_text import guarantee_to_object
from tests.core.tables import columns

X_TEST = np.linspace(0.5, 9.5, 4)[:, None]
MODELS = [Model(kernel=EQ(lengthscale=scale), noise_variance=0.1) for scale in (1.0, 3.0)]


@pytest.fixture(scope="module", params=["outputs", "inputs and outputs"])
def reading(request, make_dataset):
    mechanism = BayesCloaking(epsilon=2.0, delta=0.01, stages=2, gap=0.3, protects=request.param)
    return posterior_given(mechanism.release(make_dataset(), X_TEST).statistics[0], MODELS)


def test_curve_and_joint_posterior_are_one(reading):
    found = reading.at(X_TEST)
    mixture, joint = found.curve, found.joint()
    np.testing.assert_allclose(joint.means, mixture.means[0], atol=1e-9)
    spread = mixture.variances[0] + (mixture.means[0] - mixture.mean[0]) ** 2
    np.testing.assert_allclose(np.diag(joint.covariance()), mixture.weights[0] @ spread, atol=1e-9)


def test_the_prediction_contains_the_local_dispersion(reading):
    found = reading.at(X_TEST).curve
    assert found.outcomes.variance.shape == (1, len(X_TEST))
    assert (found.outcomes.variance > 0).all()
    without = replace(reading, measured=reading.measured._replace(distances=None)).at(X_TEST).curve
    assert without.outcomes is None
    np.testing.assert_array_equal(without.means, found.means)


def test_privacy_noise_is_part_of_the_variance(reading):
    """It does not hang on other places."""
    noise, total = reading.noise_variance(X_TEST), reading.at(X_TEST).curve.variance[0]
    assert (noise > 0).all()
    assert (noise < total).all()
    np.testing.assert_allclose(reading.noise_variance(X_TEST[2:3]), noise[2:3], rtol=1e-6)


def test_exact_answers_remove_the_privacy_noise():
    """Of one model and one stage, where both variances follow from the covariance of the sums alone."""
    filtered, stage = one_stage()
    posterior = filtered.given([stage])
    exact = filtered.given([stage._replace(s=1e-3 * stage.s)])
    expected = predict(filtered, posterior, X_TEST).variances[0, 0] - predict(filtered, exact, X_TEST).variances[0, 0]
    np.testing.assert_allclose(noise_variance(filtered, posterior, [stage], X_TEST), expected, rtol=1e-6)
    nearly = stage._replace(s=1e-4)
    none = noise_variance(filtered, filtered.given([nearly]), [nearly], X_TEST)
    assert (none < 1e-4 * expected).all()


def one_stage():
    """A filter of one model, without change points, and a stage that measures each of its eight cells."""
    cells = CellGrid(box=((0.0, 10.0),), per_side=8)
    filtered = filter_of(MODELS[1:], cells, 400, 2.0, change_points=False).with_counts(known_counts(np.full(8, 50.0)))
    zero, half = np.zeros(len(cells.nodes)), np.full(8, 2.0)
    z = 20 * np.sin(np.arange(8.0))
    return filtered, StageMeasurement(np.eye(8), -half, half, 3.0, zero, z)


def test_predictions_do_not_depend_on_other_inputs(reading):
    found = reading.at(X_TEST)
    np.testing.assert_allclose(found.log_evidence, reading.log_evidence(), atol=1e-9)
    np.testing.assert_allclose(reading.at(X_TEST[2:3]).curve.means, found.curve.means[..., 2:3], rtol=1e-6)


NOISES = [0.05, 0.3]


@pytest.fixture(scope="module")
def statistics(make_dataset):
    mechanism = BayesCloaking(epsilon=2.0, delta=0.01, stages=3, gap=0.3)
    return mechanism.release(make_dataset(), X_TEST).statistics[0]


@pytest.mark.parametrize("kernel", [EQ(lengthscale=2.0), Matern52(variance=0.5, lengthscale=4.0)], ids=["EQ", "Matern"])
def test_a_refit_equals_reading_with_that_kernel(statistics, kernel):
    models = [Model(kernel=kernel, noise_variance=noise) for noise in NOISES]
    measured = measured_of(statistics)
    filtered = filter_of(models, bins_of(statistics), 12, statistics.half_range, change_points=False)
    filtered = filtered.with_counts(measured.counts)
    outcome = filtered.given(measured.stages)
    fresh = predict(filtered, outcome, WIDER)
    again = refit(statistics, kernels=[kernel], noise_variances=NOISES, X_test=WIDER)
    np.testing.assert_allclose(again.weights, outcome.weights, rtol=1e-9, atol=1e-9)
    in_unit = [statistics.midpoint + statistics.y_scale * end[0] for end in fresh.interval(0.9, "function")]
    np.testing.assert_allclose(again.mean, statistics.midpoint + statistics.y_scale * fresh.mean[0], atol=1e-9)
    np.testing.assert_allclose(again.interval(0.9), in_unit, atol=1e-8)


N = 60
SCALE = 20.0
X = np.linspace(0, 10, N)[:, None]
WIDER = np.linspace(-1, 11, 7)[:, None]
KERNEL, NOISE = EQ(variance=1.0, lengthscale=2.0), 0.1


def world(rng):
    """f at X and WIDER and y, drawn from the model, in the output's unit: well inside the bounds."""
    points = np.vstack([X, WIDER])
    f = np.linalg.cholesky(KERNEL(points, points) + 1e-9 * np.eye(len(points))) @ rng.standard_normal(len(points))
    y = 125 + SCALE * (f[:N] + math.sqrt(NOISE) * rng.standard_normal(N))
    return 125 + SCALE * f[N:], y


def refitted(kind, B, bounds, y, rng, **amount):
    """What the model that y was drawn from reads of one measurement of y."""
    low, high = (np.full(N, end) for end in bounds)
    measurement = kind(B=B, low=low, high=high, bounds=bounds, **amount)
    statistics = Statistics(
        stages=(Stage(measurement=measurement, z=measurement.teaching(y, rng)[0]),),
        X=X,
        columns=columns(("x",), ("m",), ((0.0, 10.0),)),
        y_name="y",
        y_unit="kg",
        y_scale=SCALE,
        guarantee={},
    )
    return refit(statistics, kernels=[KERNEL], noise_variances=[NOISE], X_test=WIDER)


def test_exact_measurements_give_the_exact_posterior():
    """r = n, hardly any noise: what regression on the outputs themselves gives."""
    rng = np.random.default_rng(2)
    _, y = world(rng)
    found = refitted(Measurement, np.eye(N), (-175.0, 425.0), y, rng, noise_multiplier=1e-6)  # nothing is clipped
    mean, covariance = posterior(KERNEL, X, (y - 125) / SCALE, WIDER, NOISE)
    np.testing.assert_allclose(found.mean, 125 + SCALE * mean, atol=1e-3)
    low, high = found.interval(0.95)
    np.testing.assert_allclose((high - low) / 2, SCALE * norm.ppf(0.975) * np.sqrt(np.diag(covariance)), rtol=1e-3)
    low, high = found.interval(0.5, of="outputs")
    np.testing.assert_allclose(
        (high - low) / 2, SCALE * norm.ppf(0.75) * np.sqrt(np.diag(covariance) + NOISE), rtol=1e-3
    )


@pytest.mark.parametrize("name", ["cells", "records"])
def test_releases_before_version_0_3_are_refused(name, tmp_path):
    before = json.loads((Path(__file__).parent / "before" / f"{name}.json").read_text(encoding="utf-8"))
    guarantee = BayesCloaking(epsilon=2.0, delta=0.01, protects=before["card"]["guarantee"]["protects"]).guarantee
    card = {"statistics": before["card"], "guarantee": guarantee_to_object(guarantee), "config": None}
    (tmp_path / "release.json").write_text(json.dumps(card))
    (tmp_path / "statistics.npz").write_bytes(bytes.fromhex(before["npz"]))
    with pytest.raises(ValueError, match=r"made before version 0\.3 of dpgp; read it with version 0\.2"):
        load(tmp_path)
