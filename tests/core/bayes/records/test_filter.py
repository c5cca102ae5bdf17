import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.stats import multivariate_normal

from dpgp_core.bayes.models import Model
from dpgp_core.bayes.records.filter import mixture_weights, prior, update
from dpgp_core.bayes.records.places import places_of
from dpgp_core.bayes.records.stages import Observed, posterior
from dpgp_core.gp.clipping import clipped
from dpgp_core.kernels import EQ, Matern32

MODELS = (
    Model(kernel=EQ(variance=1.3, lengthscale=2.0), noise_variance=0.3),
    Model(kernel=Matern32(variance=0.7, lengthscale=1.5), noise_variance=0.1, weight=2.0),
)


@pytest.fixture(scope="module")
def world():
    """Two stages of two draws on nine records: inputs, test inputs, what was observed."""
    rng = np.random.default_rng(3)
    X, X_test = rng.uniform(0, 6, (9, 1)), rng.uniform(-1, 8, (4, 1))
    stages = []
    for rank, s in ((3, 0.8), (4, 0.2)):
        B = rng.standard_normal((rank, 9))
        B /= np.linalg.norm(B, axis=0)
        centre, half_width = 0.5 * rng.standard_normal((2, 9)), rng.uniform(0.2, 1.2, (2, 9))
        stages.append(Observed(B, centre - half_width, centre + half_width, s, rng.standard_normal((2, rank))))
    return X, X_test, tuple(stages)


def _dense(model, X, X_test, stages, draw):
    """Mean and covariance of (y, f_*) and log evidence, from the joint covariance of everything."""
    n, everywhere = len(X), np.vstack([X, X_test])
    joint = model.kernel(everywhere, everywhere) + model.noise_variance * np.diag([1.0] * n + [0.0] * len(X_test))
    A, Z, N = np.zeros((0, n)), np.zeros(0), np.zeros((0, 0))
    mean, covariance, log_evidence = np.zeros(len(joint)), joint, 0.0
    for stage in stages:
        low, high = stage.low[draw], stage.high[draw]
        k, gain, extra = clipped(mean[:n], np.diag(covariance)[:n], low, high)
        u, o = high - low, (low + high) / 2
        A = np.vstack([A, stage.B * (gain / u)])
        Z = np.concatenate([Z, stage.z[draw] - stage.B @ ((k - gain * mean[:n] - o) / u)])
        own = stage.B @ np.diag(extra / u**2) @ stage.B.T + stage.noise_multiplier**2 * np.eye(len(stage.B))
        N = block_diag(N, own) if len(N) else own
        S = A @ joint[:n, :n] @ A.T + N
        log_evidence = multivariate_normal(np.zeros(len(S)), S).logpdf(Z)
        gain_matrix = joint[:, :n] @ A.T @ np.linalg.inv(S)
        mean, covariance = gain_matrix @ Z, joint - gain_matrix @ A @ joint[:n]
    return mean, covariance, log_evidence


@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize("draw", [0, 1])
def test_stage_after_stage_is_dense_conditioning_on_all_stages(world, index, draw):
    X, X_test, stages = world
    outcome = posterior(stages, places_of(MODELS, X, X_test), np.array([1, 2]) / 3)
    mean, covariance, log_evidence = _dense(MODELS[index], X, X_test, stages, draw)
    state = outcome.states[index]
    np.testing.assert_allclose(state.mean[draw], mean, atol=1e-9)
    np.testing.assert_allclose(state.variance[draw], np.diag(covariance), atol=1e-9)
    assert state.log_evidence[draw] == pytest.approx(log_evidence, abs=1e-8)


def test_covariance_left_is_the_priors_less_what_is_shared(world):
    X, X_test, stages = world
    (place,) = places_of(MODELS[:1], X, X_test)
    state = posterior(stages, [place], np.ones(1)).states[0]
    covariance = _dense(MODELS[0], X, X_test, stages, 0)[1]
    Q = state.shared[0]
    np.testing.assert_allclose(place.phi[:9] @ place.phi[9:].T - Q[:, :9].T @ Q[:, 9:], covariance[:9, 9:], atol=1e-9)


def test_weights_are_prior_times_evidence(world):
    X, X_test, stages = world
    outcome = posterior(stages, places_of(MODELS, X, X_test), np.array([1, 2]) / 3)
    evidence = np.array([[_dense(model, X, X_test, stages, draw)[2] for model in MODELS] for draw in range(2)])
    expected = np.array([1, 2]) * np.exp(evidence)
    np.testing.assert_allclose(outcome.weights, expected / expected.sum(axis=1, keepdims=True), rtol=1e-6)


def test_weights_of_very_unlikely_data_are_finite(world):
    X, X_test, _ = world
    states = [prior(place, 1) for place in places_of(MODELS, X, X_test)]
    far = [state._replace(log_evidence=np.array([value])) for state, value in zip(states, (-1e5, -2e5), strict=True)]
    np.testing.assert_array_equal(mixture_weights(far, np.array([0.5, 0.5])), [[1.0, 0.0]])


def test_a_measurement_that_clips_everything_changes_nothing_at_the_test_inputs(world):
    X, X_test, stages = world
    (place,) = places_of(MODELS[:1], X, X_test)
    before = prior(place, 1)
    far = np.full((1, 9), 400.0)
    state = update(place, before, stages[0].B, far, far + 1, 0.5, np.zeros((1, 3)))
    np.testing.assert_allclose(state.mean[0, 9:], 0, atol=1e-12)
    np.testing.assert_allclose(state.variance, before.variance, atol=1e-12)
