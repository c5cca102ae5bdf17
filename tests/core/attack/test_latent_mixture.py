import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from dpgp_core.attack.mixture import LatentMixture, Mixture, fit_latent_mixture

LATENT = LatentMixture(latent=Mixture(weight=0.35, means=(-1.5, 1.2), sds=(0.5, 0.8)), noise_sd=0.1)


def sample(density, rng, size):
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
    f = sample(LATENT, np.random.default_rng(3), 100_000)
    found = fit_latent_mixture(f)
    np.testing.assert_allclose(found.theta, LATENT.theta, atol=0.1)
    assert found.log_density(f).mean() >= LATENT.log_density(f).mean() - 1e-6


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4))
def test_the_fit_is_as_likely_as_the_truth(seed):
    rng = np.random.default_rng(seed)
    latent = Mixture(weight=rng.uniform(0.1, 0.9), means=tuple(rng.normal(0, 3, 2)), sds=tuple(rng.uniform(0.2, 2, 2)))
    truth = LatentMixture(latent=latent, noise_sd=rng.uniform(0.02, 1))
    f = sample(truth, rng, 10_000)
    # the fit sees groups of half a cell, which costs at most 1e-4 nats a sample
    assert fit_latent_mixture(f).log_density(f).mean() >= truth.log_density(f).mean() - 1e-4


def test_the_fit_forgets_order_and_mirrors():
    f = sample(LATENT, np.random.default_rng(4), 5_000)
    one, other = fit_latent_mixture(f), fit_latent_mixture(-f[::-1])
    x = np.linspace(-1.3, 1.3, 41)
    np.testing.assert_allclose(one.log_density(x), other.log_density(-x), atol=0.01)
