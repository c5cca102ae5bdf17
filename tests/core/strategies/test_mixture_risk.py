import numpy as np
import pytest

from dpgp_core.strategies.mixture_risk import MixtureRisk

from .conftest import dense, dense_residuals


@pytest.fixture
def B():
    B = np.random.default_rng(3).standard_normal((4, 9))
    return B / np.linalg.norm(B, axis=0)


def dense_risk(models, B, t):
    total = 0.0
    for model in models:
        BF, S = B @ model.targets, B @ dense(model) @ B.T + t * np.eye(len(B))
        total += model.weight * (model.prior_risk - np.trace(BF.T @ np.linalg.solve(S, BF)))
    return total


@pytest.mark.parametrize("t", [1e-3, 0.3, 30.0])
def test_the_risk_is_the_dense_one(mixture, B, t):
    assert MixtureRisk(mixture, t).at(B).risk == pytest.approx(dense_risk(mixture, B, t), rel=1e-10)


def test_the_least_risk_is_that_of_known_outputs(mixture):
    known = [m.weight * (m.prior_risk - np.trace(m.targets.T @ np.linalg.solve(dense(m), m.targets))) for m in mixture]
    assert MixtureRisk(mixture, 1.0).least == pytest.approx(sum(known), rel=1e-10)
    assert MixtureRisk(mixture, 1e-9).at(np.eye(9)).risk == pytest.approx(sum(known), rel=1e-6)


@pytest.mark.parametrize("t", [0.01, 3.0])
def test_the_gradient_is_that_of_finite_differences(mixture, B, t):
    risk, h = MixtureRisk(mixture, t), 1e-5
    gradient, found = risk.gradient(risk.at(B)), np.zeros(B.shape)
    for index in np.ndindex(B.shape):
        step = np.zeros(B.shape)
        step[index] = h
        found[index] = (risk.at(B + step).risk - risk.at(B - step).risk) / (2 * h)
    np.testing.assert_allclose(gradient, found, rtol=1e-5, atol=1e-6 * np.abs(gradient).max())


def test_the_residuals_have_the_gradient_in_X(mixture, B):
    """-t d risk / dX = sum_m pi_m R_m R_m^T."""
    t = 0.5
    risk = MixtureRisk(mixture, t)
    H = risk.residuals(risk.at(B))
    R = [dense_residuals(model, B, t) for model in mixture]
    expected = sum(model.weight * r @ r.T for model, r in zip(mixture, R, strict=True))
    assert H.shape[1] <= 9
    np.testing.assert_allclose(H @ H.T, expected, atol=1e-10 * np.abs(expected).max())


def test_targets_of_the_mixture_keep_their_second_moments(mixture):
    F = MixtureRisk(mixture, 1.0).targets
    expected = sum(model.weight * model.targets @ model.targets.T for model in mixture)
    np.testing.assert_allclose(F @ F.T, expected, atol=1e-10 * np.abs(expected).max())
