import numpy as np
import pytest

from dpgp_core.strategies.bayes_solver import Curvature, minimise_risk
from dpgp_core.strategies.mixture_risk import MixtureRisk

from .conftest import dense, dense_residuals, random_model


def dense_terms(model, B, t):
    """nu, and both terms as one matrix over the entries of dB."""
    K = dense(model)
    S = B @ K @ B.T + t * np.eye(len(B))
    R = dense_residuals(model, B, t)
    G = R @ R.T / t
    nu = np.linalg.norm(B @ G, axis=0)
    posterior = K - K @ B.T @ np.linalg.solve(S, B @ K)
    return nu, np.kron(np.eye(len(B)), np.diag(nu)) + np.kron(B @ G @ B.T, posterior / t)


def applied_to_everything(curvature, B):
    return np.column_stack([curvature.solve(e.reshape(B.shape)).ravel() for e in np.eye(B.size)])


@pytest.mark.parametrize("t", [0.05, 5.0])
def test_the_two_terms_are_inverted_exactly_where_roots_rise_above_the_noise_everywhere(t):
    model = random_model(np.random.default_rng(7), 9, 40)
    risk = MixtureRisk([model], t)
    B = minimise_risk(risk, 9, 1e-2, None, 500).B
    nu, terms = dense_terms(model, B, t)
    found = applied_to_everything(Curvature(risk, risk.at(B), nu), B)
    np.testing.assert_allclose(found @ terms, np.eye(B.size), atol=1e-6)


def test_elsewhere_it_is_a_positive_definite_approximation():
    model = random_model(np.random.default_rng(7), 9, 4)
    risk = MixtureRisk([model], 0.05)
    B = minimise_risk(risk, 9, 1e-2, None, 500).B
    nu, terms = dense_terms(model, B, 0.05)
    found = applied_to_everything(Curvature(risk, risk.at(B), nu), B)
    np.testing.assert_allclose(found, found.T, atol=1e-9 * np.abs(found).max())
    ratios = np.linalg.eigvals(found @ terms).real
    plain = np.linalg.eigvals(terms / np.tile(nu, len(B))[:, None]).real  # the multipliers alone
    assert ratios.min() > 0
    assert ratios.max() / ratios.min() < 0.1 * plain.max() / plain.min()
