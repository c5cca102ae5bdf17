import numpy as np

from dpgp_core.gp.regression import InferenceChoice, cloaking_matrix, output_covariance, posterior
from dpgp_core.gp.uncertainty import predictive
from dpgp_core.kernels import EQ

X = np.linspace(0, 10, 15)[:, None]
X_TEST = np.array([[-1.0], [4.2], [30.0]])
KERNEL = EQ(lengthscale=2.0)


def test_it_is_the_posterior_of_the_exact_model():
    model = predictive(InferenceChoice(inference="exact"), KERNEL, X, X_TEST, 0.3)
    y = np.sin(X[:, 0])
    mean, covariance = posterior(KERNEL, X, y, X_TEST, 0.3)
    np.testing.assert_allclose(model.C, cloaking_matrix(KERNEL, X, X_TEST, 0.3), atol=1e-10)
    np.testing.assert_allclose(model.C @ y, mean, atol=1e-10)
    np.testing.assert_allclose(model.variance, np.diag(covariance), atol=1e-10)


def test_the_low_rank_form_agrees_with_the_exact_one():
    low = predictive(InferenceChoice(inference="lowrank"), KERNEL, X, X_TEST, 0.3)
    exact = predictive(InferenceChoice(inference="exact"), KERNEL, X, X_TEST, 0.3)
    np.testing.assert_allclose(low.variance, exact.variance, atol=1e-5)
    np.testing.assert_allclose(low.C @ np.ones(15), exact.C @ np.ones(15), atol=1e-5)


def test_outputs_made_up_by_the_model_have_its_covariance():
    K = output_covariance(KERNEL, X, 0.3)
    for inference in ("exact", "lowrank"):
        model = predictive(InferenceChoice(inference=inference), KERNEL, X, X_TEST, 0.3)
        y = model.outputs(np.random.default_rng(1), 40_000)
        # 7 standard errors of each of 120 covariances: a false alarm in fewer than one run of 10^9
        error = np.sqrt((np.outer(K.diagonal(), K.diagonal()) + K**2) / len(y))
        assert (np.abs(y.T @ y / len(y) - K) < 7 * error).all()
