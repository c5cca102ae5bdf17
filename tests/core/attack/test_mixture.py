"""Attacks on mixtures of models."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import approx_fprime
from scipy.stats import norm

from dpgp_core.attack.mixture import (
    LEAST_NOISE,
    LatentMixture,
    Mixture,
    _latent_terms,
    fit_latent_mixture,
    fit_mixture,
    mixture_terms,
)

LOG_V = Mixture(weight=0.3, means=(-2.0, 0.5), sds=(0.4, 0.7))
LATENT = LatentMixture(latent=Mixture(weight=0.35, means=(-1.5, 1.2), sds=(0.5, 0.8)), noise_sd=0.1)
DENSITIES = {
    "mixture": LOG_V,
    "latent": LATENT,
    "nearly no noise": LatentMixture(latent=LATENT.latent, noise_sd=LEAST_NOISE),
    "much noise": LatentMixture(latent=LATENT.latent, noise_sd=50.0),
    "mean at the wall": LatentMixture(latent=Mixture(weight=0.5, means=(-11, 8), sds=(0.06, 5)), noise_sd=0.05),
    "a spike and a plain": LatentMixture(latent=Mixture(weight=0.9, means=(0, 0), sds=(0.06, 9)), noise_sd=0.02),
}


def sample(density, rng, size):
    k = (rng.random(size) > density.weight).astype(int)
    return np.take(density.means, k) + np.take(density.sds, k) * rng.standard_normal(size)


@pytest.mark.parametrize("density", DENSITIES.values(), ids=DENSITIES)
def test_density_integrates_to_one(density):
    reach = 10 * getattr(density, "noise_sd", 1.0) + 1.5
    x = np.linspace(-reach - 4, reach + 4, 40_001)
    assert np.trapezoid(np.exp(density.log_density(x)), x) == pytest.approx(1, abs=1e-9)


def test_mixture_density_against_scipy():
    x = np.linspace(-4, 4, 31)
    expected = 0.3 * norm.pdf(x, -2, 0.4) + 0.7 * norm.pdf(x, 0.5, 0.7)
    np.testing.assert_allclose(np.exp(LOG_V.log_density(x)), expected, rtol=1e-12)


@pytest.mark.parametrize(("terms", "density"), [(mixture_terms, LOG_V), (_latent_terms, LATENT)])
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


def test_bad_parameters_are_named():
    with pytest.raises(ValueError, match=r"weight must lie strictly between 0 and 1, got 1\.0"):
        Mixture(weight=1.0, means=(0, 1), sds=(1, 1))
    with pytest.raises(ValueError, match=r"sds must be a finite number above 0, got 0\.0"):
        Mixture(weight=0.5, means=(0, 1), sds=(1, 0.0))
    with pytest.raises(ValueError, match=r"noise_sd must be at least 0\.0078125, one cell, got 0\.001; use more noise"):
        LatentMixture(latent=LOG_V, noise_sd=0.001)


@pytest.mark.parametrize("fit", [fit_mixture, fit_latent_mixture])
def test_bad_samples_are_named(fit):
    with pytest.raises(ValueError, match=r"samples must be at least 10 finite numbers, got shape \(3,\)"):
        fit(np.arange(3.0))
    with pytest.raises(ValueError, match="samples must be at least 10 finite numbers"):
        fit(np.full(20, np.nan))
    with pytest.raises(ValueError, match=r"all 20 samples equal 2, so they have no density"):
        fit(np.full(20, 2.0))


def latent_sample(density, rng, size):
    mixture = density.latent
    k = (rng.random(size) > mixture.weight).astype(int)
    phi = np.take(mixture.means, k) + np.take(mixture.sds, k) * rng.standard_normal(size)
    return np.tanh(phi / 2) + density.noise_sd * rng.standard_normal(size)


@pytest.mark.parametrize("noise", [0.03, 0.1, 0.5])
def test_latent_density_against_adaptive_integration(noise):
    density = LatentMixture(latent=LATENT.latent, noise_sd=noise)
    points = np.linspace(-1.4, 1.4, 15)
    weights = (density.latent.weight, 1 - density.latent.weight)

    def integral(f):
        def part(phi):
            prior = sum(
                w * norm.pdf(phi, m, s)
                for w, m, s in zip(weights, density.latent.means, density.latent.sds, strict=True)
            )
            return prior * norm.pdf(f, np.tanh(phi / 2), noise)

        return quad(part, -9, 9, limit=400, epsabs=1e-13)[0]

    found = np.exp(density.log_density(points))
    # the latent mean is placed at the centres of cells 1/128 wide: a relative error of (width / noise)^2 / 24
    np.testing.assert_allclose(found, [integral(f) for f in points], rtol=0.02 * (0.03 / noise) ** 2, atol=1e-6)


def test_far_tails_stay_finite():
    assert np.isfinite(LATENT.log_density(np.array([-1e3, 1e3]))).all()


@pytest.mark.full
def test_known_latent_parameters_are_recovered():
    f = latent_sample(LATENT, np.random.default_rng(3), 100_000)
    found = fit_latent_mixture(f)
    np.testing.assert_allclose(found.theta, LATENT.theta, atol=0.1)
    assert found.log_density(f).mean() >= LATENT.log_density(f).mean() - 1e-6


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4))
def test_the_fit_is_as_likely_as_the_truth(seed):
    rng = np.random.default_rng(seed)
    latent = Mixture(weight=rng.uniform(0.1, 0.9), means=tuple(rng.normal(0, 3, 2)), sds=tuple(rng.uniform(0.2, 2, 2)))
    truth = LatentMixture(latent=latent, noise_sd=rng.uniform(0.02, 1))
    f = latent_sample(truth, rng, 10_000)
    # the fit sees groups of half a cell, which costs at most 1e-4 nats a sample
    assert fit_latent_mixture(f).log_density(f).mean() >= truth.log_density(f).mean() - 1e-4


def test_the_fit_forgets_order_and_mirrors():
    f = latent_sample(LATENT, np.random.default_rng(4), 5_000)
    one, other = fit_latent_mixture(f), fit_latent_mixture(-f[::-1])
    x = np.linspace(-1.3, 1.3, 41)
    np.testing.assert_allclose(one.log_density(x), other.log_density(-x), atol=0.01)
