from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from dpgp_core.gp.clipping import clipped, clipped_moments

CASES = [
    (0.3, 1.7, -1.0, 0.4),
    (5.0, 0.2, -1.0, 1.0),
    (-3.0, 4.0, 0.5, 2.0),
    (0.0, 1.0, -1e-3, 1e-3),
    (0.1, 1.0, -50, 50),
]


def _expected(mean, variance, low, high, function):
    law = norm(mean, np.sqrt(variance))
    inner = quad(lambda y: function(y) * law.pdf(y), low, high, epsabs=1e-13, points=[np.clip(mean, low, high)])[0]
    return function(low) * law.cdf(low) + function(high) * law.sf(high) + inner


@pytest.mark.parametrize("case", CASES)
def test_moments_are_those_of_quadrature(case):
    variance = case[1]
    found = clipped(*(np.array([value]) for value in case))
    k = _expected(*case, lambda y: y)
    second = _expected(*case, lambda y: (y - k) ** 2)
    with_y = _expected_product(*case)  # Cov(clip(y), y) = alpha v
    assert found.mean[0] == pytest.approx(k, abs=1e-9)
    assert found.gain[0] * variance == pytest.approx(with_y, abs=1e-9)
    assert found.extra[0] == pytest.approx(second - with_y**2 / variance, abs=1e-9)


def _expected_product(mean, variance, low, high):
    law, reach = norm(mean, np.sqrt(variance)), 12 * np.sqrt(variance)
    ends = sorted({mean - reach, *np.clip([low, high], mean - reach, mean + reach), mean + reach})
    pieces = [
        quad(lambda y: np.clip(y, low, high) * (y - mean) * law.pdf(y), a, b, epsabs=1e-13)[0]
        for a, b in pairwise(ends)
    ]
    return sum(pieces)


def test_far_from_the_interval_the_output_says_nothing():
    found = clipped(np.array([40.0, -40.0]), np.ones(2), np.full(2, -1.0), np.full(2, 1.0))
    np.testing.assert_allclose(found.mean, [1, -1], atol=1e-12)
    assert (found.gain < 1e-100).all()
    assert (found.extra < 1e-12).all()
    assert (found.extra >= 0).all()


def test_an_interval_that_clips_nothing_leaves_the_output_as_it_is():
    found = clipped(np.array([0.5]), np.array([1.0]), np.array([-30.0]), np.array([30.0]))
    np.testing.assert_allclose([found.mean[0], found.gain[0], found.extra[0]], [0.5, 1, 0], atol=1e-12)


@pytest.mark.parametrize("f", [-3.0, 0.2, 1.4])
def test_what_is_seen_of_a_latent_value_is_what_quadrature_gives(f):
    case = (f, 0.4, -1.0, 1.0)
    mean = _expected(*case, lambda y: y)
    found = clipped_moments(np.array([f]), 0.4, 1.0)
    np.testing.assert_allclose(np.concatenate(found), [mean, _expected(*case, lambda y: (y - mean) ** 2)], rtol=1e-9)


def test_without_noise_the_clipped_value_itself_is_seen():
    mean, variance = clipped_moments(np.array([-2.0, 0.5]), 0.0, 1.0)
    np.testing.assert_array_equal(mean, [-1.0, 0.5])
    np.testing.assert_array_equal(variance, 0.0)
