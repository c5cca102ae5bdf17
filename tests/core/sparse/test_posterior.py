import numpy as np
import pytest
from scipy.linalg import solve_triangular
from scipy.stats import multivariate_normal

from dpgp_core.gp import inducing
from dpgp_core.gp.inducing import sum_statistics, whitened_features
from dpgp_core.kernels import EQ, Matern32, RationalQuadratic
from dpgp_core.sparse.posterior import errors_in_variables, paper_posterior
from dpgp_core.sparse.statistics import NoiseScales, NoisyStatistics, add_noise
from tests.core.sparse.small import KERNEL, ROOT, S2, SILENT, X_TEST, Z, raw, simulated


def whitened(x):
    return whitened_features(KERNEL, Z, ROOT, x)


VARIANTS = {"whitened": (whitened, errors_in_variables), "paper": (raw, paper_posterior)}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("n", [3, 300])  # fewer records than inducing inputs leave B singular
def test_without_noise_it_is_the_sparse_posterior(variant, n):
    X, y = simulated(n)
    features, posterior = VARIANTS[variant]
    A, B = sum_statistics(features, [(X, y)])
    mean, variance = posterior(NoisyStatistics(A=A, B=B, noise=SILENT), KERNEL, Z, ROOT, S2).predict(X_TEST)
    expected, covariance = inducing.posterior(KERNEL, X, y, X_TEST, Z, S2)
    np.testing.assert_allclose(mean, expected, atol=1e-8)
    np.testing.assert_allclose(variance, np.diag(covariance), atol=1e-8)


@pytest.mark.parametrize("kernel", [KERNEL, EQ(lengthscale=2.5), Matern32(variance=3.0)], ids=str)
def test_errors_in_variables_by_the_formulas_of_the_specification(kernel):
    X, y = simulated(200)
    noise = NoiseScales(sa=4.0, sb=20.0)
    A, B = sum_statistics(whitened, [(X, y)])
    released = add_noise(A, B, noise, np.random.default_rng(5))
    fit = errors_in_variables(released, kernel, Z, ROOT, S2)
    # B projected to positive semi-definite; P = L^-1 K L^-T
    b, U = np.linalg.eigh(released.B)
    assert b.min() < 0
    B_plus = (U * np.maximum(b, 0)) @ U.T
    P = solve_triangular(ROOT, solve_triangular(ROOT, kernel(Z, Z), lower=True).T, lower=True)
    M = P
    for _ in range(5):
        R = S2 * B_plus + (noise.sa**2 + noise.sb**2 * np.trace(M) / 2) * np.eye(6) + noise.sb**2 * M / 2
        Cov = np.linalg.inv(np.linalg.inv(P) + B_plus @ np.linalg.solve(R, B_plus))
        alpha = Cov @ B_plus @ np.linalg.solve(R, released.A)
        M = np.outer(alpha, alpha) + Cov
    # f given u = L alpha has mean k K^-1 u and variance k_** - k K^-1 k^T
    C = np.linalg.solve(kernel(Z, Z), kernel(Z, X_TEST)).T @ ROOT
    mean, variance = fit.predict(X_TEST)
    np.testing.assert_allclose(mean, C @ alpha, atol=1e-7)
    expected = kernel.diagonal(X_TEST) - np.einsum("ij,jk,ik->i", C, P - Cov, C)
    np.testing.assert_allclose(variance, expected, atol=1e-7)
    density = multivariate_normal(np.zeros(6), B_plus @ P @ B_plus + R).logpdf(released.A)
    assert fit.log_evidence == pytest.approx(density, abs=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_much_noise_leaves_the_prior_and_never_a_negative_variance(seed):
    X, y = simulated(100)
    A, B = sum_statistics(whitened, [(X, y)])
    released = add_noise(A, B, NoiseScales(sa=1e4, sb=1e4), np.random.default_rng(seed))
    mean, variance = errors_in_variables(released, KERNEL, Z, ROOT, S2).predict(X_TEST)
    assert np.isfinite(mean).all()
    assert (variance >= 0).all()
    assert (variance <= 1.5 * (1 + 1e-9)).all()


@pytest.mark.parametrize("seed", range(5))
def test_what_was_charged_is_always_computed(seed):
    # a scale, 10,000 times what is declared, and hardly any budget: rounding makes the covariance indefinite
    kernel, places = RationalQuadratic(lengthscale=1e5), np.linspace(0, 100, 40)[:, None]
    root, rng = inducing.inducing_root(kernel, places), np.random.default_rng(seed)
    for size in 10.0 ** np.arange(-2, 9, 2):
        released = add_noise(np.ones(40), np.eye(40), NoiseScales(sa=1e-3 * size, sb=size), rng)
        fit = errors_in_variables(released, kernel, places, root, 1e-4)
        mean, variance = fit.predict(places)
        assert np.isfinite([mean, variance]).all()


def test_bad_noise_variance_is_refused():
    released = NoisyStatistics(A=np.zeros(6), B=np.eye(6), noise=SILENT)
    for posterior in (errors_in_variables, paper_posterior):
        with pytest.raises(ValueError, match="noise_variance must be a finite number above 0, got 0"):
            posterior(released, KERNEL, Z, ROOT, 0)
