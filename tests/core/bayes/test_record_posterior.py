"""Statistics with a column for each record, and columns with one record each, against dense conditioning."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

from dpgp_core.bayes.clusters import clusters_of
from dpgp_core.bayes.counts import public_counts
from dpgp_core.bayes.filter import filter_of
from dpgp_core.bayes.model import Model
from dpgp_core.bayes.prediction import joint_covariances, predict
from dpgp_core.bayes.queries import StageMeasurement
from dpgp_core.bayes.record_posterior import read_records, record_models
from dpgp_core.bayes.state import SHARED_CLIPPING_NOISE
from dpgp_core.kernels import EQ, Matern32
from dpgp_core.measurement.measurement import Measurement
from dpgp_core.measurement.statistics import Stage, Statistics
from tests.core.bayes.oracle import conditioned, stages_of
from tests.core.tables import columns

MODELS = (
    Model(kernel=EQ(variance=1.3, lengthscale=2.0), noise_variance=0.3),
    Model(kernel=Matern32(variance=0.7, lengthscale=1.5), noise_variance=0.1, weight=2.0),
)
BOUNDS, SCALE = (50.0, 200.0), 20.0
MIDPOINT = 125.0


def statistics_of(X, stages):
    """A statistic of stages (B, low, high, s, z), intervals in model units."""
    parts = []
    for B, low, high, s, z in stages:
        low, high = (np.clip(MIDPOINT + SCALE * end, *BOUNDS) for end in (low, high))
        measurement = Measurement(B=B, low=low, high=high, bounds=BOUNDS, noise_multiplier=s)
        parts.append(Stage(measurement=measurement, z=z))
    return Statistics(
        stages=tuple(parts),
        X=X,
        columns=columns(("x",), ("m",), ((-1.0, 8.0),)),
        y_name="y",
        y_unit="kg",
        y_scale=SCALE,
        guarantee={},
    )


@pytest.fixture(scope="module", params=[0, 1])
def world(request):
    """Two stages on nine records: the statistic and test inputs."""
    rng = np.random.default_rng([3, request.param])
    X, X_test, stages = rng.uniform(0, 6, (9, 1)), rng.uniform(-1, 8, (4, 1)), []
    for rank, s in ((3, 0.8), (4, 0.2)):
        B = rng.standard_normal((rank, 9))
        B = np.trunc(2**20 * B / (1.001 * np.linalg.norm(B, axis=0))) / 2**20
        centre, half_width = 0.5 * rng.standard_normal(9), rng.uniform(0.2, 1.2, 9)
        stages.append((B, centre - half_width, centre + half_width, s, rng.standard_normal(rank)))
    return statistics_of(X, stages), X_test


@pytest.mark.parametrize("index", [0, 1])
def test_stages_are_dense_conditioning_on_all_stages(world, index):
    statistics, X_test = world
    found, n = read_records(statistics, MODELS, X_test), len(statistics.X)
    mean, covariance, log_evidence = conditioned(MODELS[index], statistics.X, X_test, stages_of(statistics))
    np.testing.assert_allclose(found.curve.means[0, index], mean[n:], atol=1e-9)
    np.testing.assert_allclose(found.curve.variances[0, index], np.diag(covariance)[n:], atol=1e-9)
    assert found.log_evidence[index] == pytest.approx(log_evidence, abs=1e-8)
    Q = found.cross_covariances[index]
    joint = MODELS[index].kernel(X_test, X_test) - Q.T @ Q
    np.testing.assert_allclose(joint, covariance[n:, n:], atol=1e-9)


def test_features_reproduce_the_kernel(world):
    statistics, X_test = world
    n, everywhere = len(statistics.X), np.vstack([statistics.X, X_test])
    for model, found in zip(MODELS, record_models(MODELS, statistics.X, X_test), strict=True):
        K = model.kernel(everywhere, everywhere)
        np.testing.assert_allclose(found.phi[:n] @ found.phi[n:].T, K[:n, n:], atol=1e-9)
        of_records = found.phi[:n] @ found.phi[:n].T + np.diag(found.noise)
        np.testing.assert_allclose(of_records, K[:n, :n] + model.noise_variance * np.eye(n), atol=1e-9)


def test_weights_are_prior_times_evidence(world):
    statistics, X_test = world
    stages = stages_of(statistics)
    evidence = [conditioned(model, statistics.X, X_test, stages)[2] for model in MODELS]
    found = read_records(statistics, MODELS, X_test).curve.weights
    np.testing.assert_allclose(found, [softmax(np.log([1, 2]) + evidence)], rtol=1e-6)


def test_weights_of_very_unlikely_data_are_finite(world):
    statistics, X_test = world
    B, low, high = np.eye(9), np.full(9, -0.1), np.full(9, 0.1)
    far = statistics_of(statistics.X, [(B, low, high, 1e-3, np.full(9, 50.0))])
    found = read_records(far, MODELS, X_test)
    assert found.log_evidence.max() < -1e4
    np.testing.assert_array_equal(found.curve.weights, [[1.0, 0.0]])
    assert np.isfinite(found.curve.means).all()


def test_clipping_everything_changes_nothing(world):
    statistics, X_test = world
    [first, *_], model = statistics.stages, Model(kernel=EQ(variance=0.01, lengthscale=2.0), noise_variance=1e-4)
    B, far = first.measurement.B, np.full(9, 3.5)
    found = read_records(statistics_of(statistics.X, [(B, far, far + 0.2, 0.5, np.zeros(3))]), [model], X_test)
    np.testing.assert_allclose(found.curve.means, 0, atol=1e-12)
    np.testing.assert_allclose(found.curve.variances, 0.01, atol=1e-12)


# ---- A record with a public input is a column with one record in it.


NOISE_VARIANCE, S, HALF = 0.2, 0.3, 100.0
BOX, X = ((0.0, 1.0),), np.sort(np.random.default_rng(8).uniform(0, 1, 12))[:, None]
SEVEN = np.linspace(0, 1, 7)[:, None]
KERNELS = {"EQ": EQ(variance=0.5, lengthscale=0.4), "Matern": Matern32(variance=0.5, lengthscale=0.3)}


@pytest.fixture(scope="module")
def stages():
    """Strategy and numbers of two stages."""
    rng = np.random.default_rng(4)
    Bs = rng.standard_normal((2, 5, len(X)))
    return [(B / np.linalg.norm(B, axis=0), z) for B, z in zip(Bs, rng.standard_normal((2, 5)), strict=True)]


def by_records(kernel, stages, half_width):
    """Mean and covariance of the curve at seven places and evidence, by dense conditioning."""
    model, ends = Model(kernel=kernel, noise_variance=NOISE_VARIANCE), np.full(len(X), half_width)
    seen = [StageMeasurement(B, -ends, ends, S, np.zeros(0), z) for B, z in stages]
    mean, covariance, log_evidence = conditioned(model, X, SEVEN, seen)
    return mean[len(X) :], covariance[len(X) :, len(X) :], log_evidence


def by_columns(kernel, stages, half_width):
    """The same from the filter over columns that each hold one record.

    The filter counts what clipping usually adds to a record as noise of the record; dense conditioning adds it stage by
    stage. The noise variance is therefore smaller by that share here.
    """
    model = Model(kernel=kernel, noise_variance=NOISE_VARIANCE / (1 + SHARED_CLIPPING_NOISE))
    found = clusters_of(BOX, X)
    filtered = filter_of([model], found, len(X), HALF, change_points=False)
    unbiased = replace(filtered.models, bias=np.zeros((found.size, 0)))
    filtered = replace(filtered, models=unbiased).with_counts(public_counts(found, X))
    ends, g = np.full(len(X), half_width), np.zeros(len(found.nodes))
    posterior = filtered.given([StageMeasurement(B, -ends, ends, S, g, z) for B, z in stages])
    prediction, ([Q], _) = predict(filtered, posterior, SEVEN), joint_covariances(filtered, posterior, SEVEN)
    covariance = kernel(SEVEN, SEVEN) - Q.T @ Q
    np.testing.assert_allclose(prediction.variances[0, 0], covariance.diagonal(), atol=1e-9)
    return prediction.means[0, 0], covariance, posterior.state.log_evidence[0]


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_record_is_a_column_with_one_record(kernel, stages):
    """Exactly, where nothing is clipped."""
    both = (by_columns(KERNELS[kernel], stages, 50.0), by_records(KERNELS[kernel], stages, 50.0))
    for columns_say, records_say in zip(*both, strict=True):
        np.testing.assert_allclose(columns_say, records_say, rtol=1e-8, atol=1e-8)


def test_where_much_is_clipped_both_nearly_agree(stages):
    """Dense conditioning learns each record's noise; a column follows the sum of the noises of its records."""
    half_width = 1.5 * NOISE_VARIANCE**0.5
    (mean, covariance, _), (other, other_covariance, _) = (
        of(KERNELS["EQ"], stages, half_width) for of in (by_columns, by_records)
    )
    other_variance = other_covariance.diagonal()
    assert (np.abs(mean - other) < 0.4 * np.sqrt(other_variance)).all()  # largest: 0.29
    np.testing.assert_allclose(covariance.diagonal(), other_variance, rtol=0.2)  # largest: 0.12
