import numpy as np

from dpgp_core.bayes.joint import Joint
from dpgp_core.bayes.models import Model
from dpgp_core.kernels import EQ

X_TEST = np.linspace(0.5, 9.5, 4)[:, None]
MODELS = [Model(kernel=EQ(lengthscale=scale), noise_variance=0.1) for scale in (1.0, 3.0)]


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
