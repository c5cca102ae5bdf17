import numpy as np
import pytest

from dpgp_core.gp import exact, lowrank
from dpgp_core.gp.pivoted import factorise
from dpgp_core.kernels import EQ, KERNELS

each = pytest.mark.parametrize("kernel", KERNELS, ids=[kernel.__name__ for kernel in KERNELS])


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    return rng.normal(size=(40, 2)), rng.normal(size=40), rng.normal(size=(6, 2))


@each
def test_agrees_with_exact_inference(kernel, problem):
    X, y, X_test = problem
    k = kernel(variance=1.5, lengthscale=(0.7, 2.0))
    C = lowrank.cloaking_matrix(k, X, X_test, 0.2)
    np.testing.assert_allclose(C, exact.cloaking_matrix(k, X, X_test, 0.2), atol=1e-7)
    for found, expected in zip(
        lowrank.posterior(k, X, y, X_test, 0.2), exact.posterior(k, X, y, X_test, 0.2), strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize("tolerance", [0.2, 1e-2, 1e-4])
def test_error_falls_with_the_tolerance(problem, tolerance):
    # with E = K_ff - V V^T: each factor of C is off by at most |E| / noise <= tolerance tr(K_ff) / noise
    X, _, X_test = problem
    C = lowrank.cloaking_matrix(EQ(), X, X_test, 0.3, tolerance)
    error = np.abs(C - exact.cloaking_matrix(EQ(), X, X_test, 0.3)).max()
    assert 0 < error <= min(1.0, 2 * np.sqrt(tolerance * 40 / 0.3))


def test_coarse_posterior_covariance_by_its_definition(problem):
    X, y, X_test = problem
    _, coarse = lowrank.posterior(EQ(), X, y, X_test, 0.3, tolerance=0.1)
    features = factorise(EQ(), X, 0.1).features
    assert len(features.Z) < 30
    V, V_test = features.values(), features.at(X_test).values()
    Q = V_test @ V.T
    expected = EQ()(X_test, X_test) - Q @ np.linalg.solve(V @ V.T + 0.3 * np.eye(40), Q.T)
    np.testing.assert_allclose(coarse, expected, atol=1e-10)


def test_mean_is_c_y(problem):
    X, y, X_test = problem
    mean, _ = lowrank.posterior(EQ(), X, y, X_test, 0.3, tolerance=0.01)
    np.testing.assert_allclose(mean, lowrank.cloaking_matrix(EQ(), X, X_test, 0.3, 0.01) @ y, atol=1e-12)


@pytest.mark.parametrize("call", ["cloaking_matrix", "posterior"])
def test_bad_values_are_named(problem, call):
    X, y, X_test = problem

    def run(**changes):
        given = {"X": X, "X_test": X_test, "noise_variance": 0.3, **changes}
        return getattr(lowrank, call)(EQ(), **given, **({"y": y} if call == "posterior" else {}))

    with pytest.raises(ValueError, match="noise_variance must be a finite number above 0, got -1"):
        run(noise_variance=-1.0)
    with pytest.raises(ValueError, match="equally many columns"):
        run(X_test=X_test[:, :1])
    with pytest.raises(ValueError, match="tolerance must be in"):
        run(tolerance=2.0)
