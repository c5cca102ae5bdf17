"""Densities that attacks fit to observables."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import approx_fprime
from scipy.special import expit, logit
from scipy.stats import norm

from dpgp_core.attack.densities import (
    LEAST_NOISE,
    Density,
    fit_latent_mixture,
    fit_mixture,
    latent_terms,
    mixture_terms,
)


def normals(weight, means, sds):
    return Density(mixture_terms, np.array([logit(weight), *means, *np.log(sds)]))


def latent(of, noise_sd):
    return Density(latent_terms, np.append(of.theta[:5], np.log(noise_sd)))


LOG_V = normals(0.3, (-2.0, 0.5), (0.4, 0.7))
LATENT = latent(normals(0.35, (-1.5, 1.2), (0.5, 0.8)), 0.1)
DENSITIES = {
    "mixture": LOG_V,
    "latent": LATENT,
    "nearly no noise": latent(LATENT, LEAST_NOISE),
    "much noise": latent(LATENT, 50.0),
    "mean at the wall": latent(normals(0.5, (-11, 8), (0.06, 5)), 0.05),
    "a spike and a plain": latent(normals(0.9, (0, 0), (0.06, 9)), 0.02),
}


def noise_of(density):
    return float(np.exp(density.theta[5])) if len(density.theta) > 5 else 1.0


def sample(density, rng, size):
    k = (rng.random(size) > expit(density.theta[0])).astype(int)
    return density.theta[1:3][k] + np.exp(density.theta[3:5])[k] * rng.standard_normal(size)


@pytest.mark.parametrize("density", DENSITIES.values(), ids=DENSITIES)
def test_density_integrates_to_one(density):
    reach = 10 * noise_of(density) + 1.5
    x = np.linspace(-reach - 4, reach + 4, 40_001)
    assert np.trapezoid(np.exp(density.log_density(x)), x) == pytest.approx(1, abs=1e-9)


def test_mixture_density_against_scipy():
    x = np.linspace(-4, 4, 31)
    expected = 0.3 * norm.pdf(x, -2, 0.4) + 0.7 * norm.pdf(x, 0.5, 0.7)
    np.testing.assert_allclose(np.exp(LOG_V.log_density(x)), expected, rtol=1e-12)


@pytest.mark.parametrize(("terms", "density"), [(mixture_terms, LOG_V), (latent_terms, LATENT)])
def test_gradients_against_finite_differences(terms, density):
    rng = np.random.default_rng(1)
    x, c = rng.normal(size=40), rng.random(40)
    for _ in range(5):
        theta = density.theta + 0.3 * rng.standard_normal(len(density.theta))
        numeric = approx_fprime(theta, lambda t: c @ terms(t, x)[0], 1e-6)
        np.testing.assert_allclose(terms(theta, x)[1](c), numeric, rtol=2e-4, atol=2e-4)


def test_known_parameters_are_recovered():
    x = sample(LOG_V, np.random.default_rng(2), 100_000)
    found = fit_mixture(x)
    # standard errors are below 0.012 (from the Fisher information): five of them
    np.testing.assert_allclose(found.theta, LOG_V.theta, atol=0.06)
    assert found.log_density(x).mean() >= LOG_V.log_density(x).mean()


def latent_sample(density, rng, size):
    return np.tanh(sample(density, rng, size) / 2) + noise_of(density) * rng.standard_normal(size)


@pytest.mark.full
@pytest.mark.parametrize("noise", [0.03, 0.1, 0.5])
def test_latent_density_against_adaptive_integration(noise):
    density = latent(LATENT, noise)
    points = np.linspace(-1.4, 1.4, 15)

    def integral(f):
        def part(phi):
            prior = 0.35 * norm.pdf(phi, -1.5, 0.5) + 0.65 * norm.pdf(phi, 1.2, 0.8)
            return prior * norm.pdf(f, np.tanh(phi / 2), noise)

        return quad(part, -9, 9, limit=400, epsabs=1e-13)[0]

    found = np.exp(density.log_density(points))
    # the latent mean is placed at the centres of cells 1/128 wide: a relative error of (width / noise)^2 / 24
    np.testing.assert_allclose(found, [integral(f) for f in points], rtol=0.02 * (0.03 / noise) ** 2, atol=1e-6)


def test_far_tails_stay_finite():
    assert np.isfinite(LATENT.log_density(np.array([-1e3, 1e3]))).all()


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4))
def test_the_fit_is_as_likely_as_the_truth(seed):
    rng = np.random.default_rng(seed)
    of = normals(rng.uniform(0.1, 0.9), rng.normal(0, 3, 2), rng.uniform(0.2, 2, 2))
    truth = latent(of, rng.uniform(0.02, 1))
    f = latent_sample(truth, rng, 10_000)
    # the fit sees groups of half a cell, which costs at most 1e-4 nats a sample
    assert fit_latent_mixture(f).log_density(f).mean() >= truth.log_density(f).mean() - 1e-4
