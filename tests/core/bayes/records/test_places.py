import numpy as np

from dpgp_core.bayes.models import Model, auto_models
from dpgp_core.bayes.records.places import places_of
from dpgp_core.kernels import EQ


def test_places_hold_the_models_covariance():
    rng = np.random.default_rng(0)
    X, X_test = rng.uniform(0, 5, (12, 2)), rng.uniform(0, 5, (3, 2))
    model = Model(kernel=EQ(variance=2.0, lengthscale=1.5), noise_variance=0.4)
    (place,) = places_of([model], X, X_test)
    everywhere = np.vstack([X, X_test])
    K = model.kernel(everywhere, everywhere)
    gram = place.phi @ place.phi.T
    np.testing.assert_allclose(gram[:12, :12] + np.diag(place.noise), K[:12, :12] + 0.4 * np.eye(12), atol=1e-9)
    np.testing.assert_allclose(gram[:12, 12:], K[:12, 12:], atol=1e-9)
    np.testing.assert_allclose(place.variance, np.diag(K) + np.repeat([0.4, 0.0], [12, 3]), atol=1e-12)


def test_models_of_one_kernel_share_their_features():
    X = np.linspace(0, 1, 30)[:, None]
    places = places_of(auto_models([(0.0, 1.0)], 1.0), X, X)
    assert len({id(place.phi) for place in places}) == 4
