import numpy as np
import pytest

from dpgp_core.bayes.joint import Joint
from dpgp_core.bayes.models import Model
from dpgp_core.bayes.records.filter import mixture_of
from dpgp_core.bayes.records.places import places_of
from dpgp_core.bayes.records.released import clipped_observation, observed_of
from dpgp_core.bayes.records.stages import joint_of, posterior
from dpgp_core.kernels import EQ
from dpgp_core.measurement.refit import refit
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking

X_TEST = np.linspace(0.5, 9.5, 4)[:, None]
MODELS = [Model(kernel=EQ(lengthscale=scale), noise_variance=0.1) for scale in (1.0, 3.0)]


@pytest.fixture(scope="module")
def read(make_dataset):
    data = make_dataset()
    mechanism = BayesCloaking(epsilon=2.0, delta=0.01, stages=2, gap=0.3)
    statistics = mechanism.release(data, X_TEST).statistics[0]
    places = places_of(MODELS, data.X, X_TEST)
    outcome = posterior(observed_of(statistics), places, np.full(2, 0.5))
    return statistics, mixture_of(places, outcome.states, outcome.weights), joint_of(MODELS, X_TEST, data.n, outcome)


def test_one_model_has_the_covariance_of_a_refit(read):
    statistics, _, joint = read
    alone = Joint(
        models=joint.models[:1],
        X_test=X_TEST,
        means=joint.means[:1],
        shared=joint.shared[:1],
        weights=np.ones(1),
    )
    kernel = MODELS[0].kernel
    found = refit(
        statistics, kernels=[kernel], noise_variances=[0.1], X_test=X_TEST, observe=clipped_observation
    ).posteriors[0]
    expected = kernel(X_TEST, X_TEST) - found.root.T @ found.root
    np.testing.assert_allclose(alone.covariance(), expected, atol=1e-9)


def test_the_diagonal_is_the_variance_of_the_mixture(read):
    _, mixture, joint = read
    spread = mixture.variances[0] + (mixture.means[0] - mixture.mean[0]) ** 2
    np.testing.assert_allclose(np.diag(joint.covariance()), mixture.weights[0] @ spread, atol=1e-9)


def test_paths_have_mean_and_covariance_of_the_mixture():
    """40,000 paths of two models far apart: within six standard errors of each moment."""
    joint = Joint(
        models=tuple(MODELS),
        X_test=X_TEST,
        means=np.array([[0.0, 1.0, 2.0, 3.0], [2.0, 2.0, 0.0, 0.0]]),
        shared=(np.zeros((0, 4)), 0.5 * np.eye(4)),
        weights=np.array([0.3, 0.7]),
    )
    paths = joint.sample(np.random.default_rng(0), 40_000)
    covariance = joint.covariance()
    apart = paths - joint.weights @ joint.means
    assert (np.abs(apart.mean(axis=0)) < 6 * np.sqrt(np.diag(covariance) / 40_000)).all()
    products = apart[:, :, None] * apart[:, None]
    assert (np.abs(products.mean(axis=0) - covariance) < 6 * products.std(axis=0) / 200).all()
