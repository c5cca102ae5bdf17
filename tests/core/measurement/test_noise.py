import math
import random
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from dpgp_core.measurement.discrete import discrete_gaussian, discrete_laplace
from dpgp_core.measurement.noise import GaussianNoise, LaplaceNoise

STEPS = 1 << 40
ETA_3 = mp.mpf("1.5e-77")
H = mp.mpf("5e-71")


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(120):
        yield


def eta(sigma):
    return 2 * mp.nsum(lambda m: mp.exp(-2 * mp.pi**2 * sigma**2 * m**2), [1, mp.inf])


def theta(c, sigma):
    """Sum over the integers of the normal density about c."""
    span = math.ceil(26 * sigma)
    return mp.fsum(mp.npdf(k - c, 0, sigma) for k in range(-span, span + 1))


def test_the_lattice_sum_is_constant_to_eta():
    for sigma in map(mp.mpf, ("0.5", "0.8", "1.2")):
        sums = [theta(mp.mpf(c) / 8, sigma) for c in range(-4, 5)]
        assert max(abs(s - 1) for s in sums) <= eta(sigma) * (1 + mp.mpf("1e-30"))
        assert max(abs(s - 1) for s in sums) >= eta(sigma) * (1 - mp.mpf("1e-30"))  # reached at the integers
    assert eta(3) < ETA_3
    assert abs(theta(mp.mpf("0.3"), 3) - 1) < ETA_3


@pytest.mark.full
@pytest.mark.parametrize(("sigma_1", "sigma_2"), [("0.2", "0.5"), ("0.7", "0.6"), ("2.5", "1")])
def test_convolution_lemma_by_summation(sigma_1, sigma_2):
    """Continuous noise rounded at random by sigma_2 against the discrete Gaussian, within exp(+-3 eta)."""
    one, two = mp.mpf(sigma_1), mp.mpf(sigma_2)
    sigma = mp.sqrt(one**2 + two**2)
    step = mp.mpf(1) / 64  # the trapezoidal rule on the whole line converges faster than any power of it
    grid = [step * i for i in range(-64 * 30, 64 * 30 + 1)]
    with mp.workdps(40):
        lattice = [theta(step * i, two) for i in range(64)]  # of period one; the grid begins with an integer
        total = theta(0, sigma)
        differences = []
        for k in (0, 1, 2, 5):
            rounded = step * mp.fsum(
                mp.npdf(c, 0, one) * mp.npdf(k - c, 0, two) / lattice[i % 64] for i, c in enumerate(grid)
            )
            differences.append(abs(mp.log(rounded * total / mp.npdf(k, 0, sigma))))
        assert max(differences) <= 3 * eta(two)


def delta(epsilon, mu):
    near, far = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    return mp.ncdf(near) - mp.exp(epsilon) * mp.ncdf(far)


@pytest.mark.parametrize("mu", ["1e-20", "1e-4", "0.01", "0.3", "1", "5", "29.9"])
def test_the_margin_covers_what_the_lemma_neglects(mu):
    """e^h delta(epsilon - 2h, mu / (1 + 5e-10)) <= delta(epsilon, mu) wherever that is at least 1e-40."""
    mu = mp.mpf(mu)
    used = mu / (1 + mp.mpf("5e-10"))
    checked = 0
    for a in map(mp.mpf, range(-15, 14)):
        epsilon = mu * (a + mu / 2)
        if epsilon < 0 or delta(epsilon, mu) < mp.mpf("1e-40"):
            continue
        checked += 1
        assert mp.exp(H) * delta(epsilon - 2 * H, used) < delta(epsilon, mu)
    assert checked >= 10


@pytest.mark.parametrize("s", [0.1, 1.0, 1 / 3, 3.7, 1e5])
def test_gaussian_variance_is_rounded_up(s):
    variance = GaussianNoise(sensitivity=STEPS, noise_multiplier=s).variance
    least = (Fraction(s) * STEPS * (1 + Fraction(1, 10**9))) ** 2 + 9
    assert isinstance(variance, int)
    assert least <= variance <= least * (1 + Fraction(1, 10**10))
    assert math.isqrt(variance - 9) ** 2 == variance - 9


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 10.0])
def test_laplace_scale_is_rounded_up(epsilon):
    noise = LaplaceNoise(sensitivity=STEPS, epsilon=epsilon)
    assert noise.scale - 1 < STEPS / Fraction(epsilon) <= noise.scale
    assert Fraction(STEPS, noise.scale) <= Fraction(epsilon)  # the largest log ratio


def test_standard_deviations():
    assert GaussianNoise(sensitivity=STEPS, noise_multiplier=2.0).sd == pytest.approx(2 * STEPS, rel=1.1e-9)
    assert LaplaceNoise(sensitivity=STEPS, epsilon=0.5).sd == pytest.approx(2 * math.sqrt(2) * STEPS, rel=1e-9)
    # scale 1: sum of z^2 exp(-|z|) over sum of exp(-|z|)
    z = np.arange(-200, 201)
    p = np.exp(-np.abs(z))
    assert LaplaceNoise(sensitivity=1, epsilon=1.0).sd == pytest.approx(math.sqrt((z**2 * p).sum() / p.sum()), rel=1e-9)


def test_noise_comes_from_the_exact_samplers():
    gaussian, laplace = GaussianNoise(sensitivity=7, noise_multiplier=1.5), LaplaceNoise(sensitivity=7, epsilon=1.5)
    assert gaussian.variance == 11**2 + 9
    assert laplace.scale == 5
    for noise, expected in (
        (gaussian, discrete_gaussian(130, 20, random.Random(1).getrandbits)),
        (laplace, discrete_laplace(5, 20, random.Random(1).getrandbits)),
    ):
        assert noise.draw(20, random.Random(1).getrandbits) == expected
        assert noise.draw(20) != noise.draw(20)  # the same twice with probability below 1e-20
