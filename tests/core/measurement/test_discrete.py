"""Every test draws with a seeded generator of integers, so it has one outcome; thresholds are p-values of 1e-6."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2, norm

from dpgp_core.measurement.discrete import (
    bernoulli,
    bernoulli_exp,
    discrete_gaussian,
    discrete_laplace,
    system_bits,
    uniform_below,
)

FALSE_ALARM = 1e-6
WORD = 1 << 64


def source(seed=0):
    return random.Random(seed).getrandbits


def scripted(*words):
    """Bits that come from a list, 64 at a time."""
    left = list(words)
    return lambda k: left.pop(0) if k == 64 else pytest.fail("only whole words are expected")


def chi_square_p(observed, probabilities):
    expected = np.asarray(probabilities) * observed.sum()
    assert expected.min() >= 5
    return chi2.sf(((observed - expected) ** 2 / expected).sum(), len(expected) - 1)


def p_of_samples(samples, cdf, bins=40):
    """p-value of integers against P(z <= k) = cdf(k), over at most ``bins`` runs of neighbouring integers."""
    cuts = np.unique(np.quantile(samples, np.linspace(0, 1, bins + 1)[1:-1], method="lower"))
    below = cdf(cuts)
    mass = np.diff(np.concatenate([[0.0], below, [1.0]]))
    cells = np.searchsorted(cuts, samples)
    observed = np.bincount(cells, minlength=len(mass))
    rare = mass * len(samples) < 5
    return chi_square_p(
        np.append(observed[~rare], observed[rare].sum())[: len(mass)] if rare.any() else observed,
        np.append(mass[~rare], mass[rare].sum()) if rare.any() else mass,
    )


def gaussian_cdf(sigma):
    if sigma > 2000:  # sums over integers are integrals between half-integers, to 1 / (24 sigma^2)
        return lambda k: norm.cdf((k + 0.5) / sigma)
    z = np.arange(-math.ceil(40 * sigma), math.ceil(40 * sigma) + 1)
    mass = np.exp(-((z / sigma) ** 2) / 2)
    total = np.cumsum(mass / mass.sum())
    return lambda k: total[k + len(z) // 2]


def laplace_cdf(scale):
    p = math.exp(-1 / scale)
    return lambda k: np.where(k < 0, p ** (-1.0 * np.minimum(k, 0)), 1 + p - p ** (np.maximum(k, 0) + 1.0)) / (1 + p)


@pytest.mark.parametrize("sigma", [0.3, 0.7, 1.0, 3.0, 17.5, 1000.0, 1e6, float(1 << 43)])
def test_discrete_gaussian_has_its_distribution(sigma):
    samples = np.array(discrete_gaussian(Fraction(sigma) ** 2, 20_000, source()))
    assert p_of_samples(samples, gaussian_cdf(sigma)) > FALSE_ALARM


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3), Fraction(22, 7), Fraction(10**6), Fraction(1 << 43)])
def test_discrete_laplace_has_its_distribution(scale):
    samples = np.array(discrete_laplace(scale, 20_000, source(1)))
    assert p_of_samples(samples, laplace_cdf(float(scale))) > FALSE_ALARM


@pytest.mark.parametrize("wrong", [0.93, 1.07])
def test_the_check_sees_another_standard_deviation(wrong):
    samples = np.array(discrete_gaussian(Fraction(17.5) ** 2, 20_000, source()))
    assert p_of_samples(samples, gaussian_cdf(17.5 * wrong)) < FALSE_ALARM


def test_successive_samples_are_independent():
    samples = np.array(discrete_gaussian(9, 40_000, source(3)))
    cells = np.digitize(samples, [-3, -1, 1, 3])
    table = np.zeros((5, 5))
    np.add.at(table, (cells[::2], cells[1::2]), 1)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    assert chi2.sf(((table - expected) ** 2 / expected).sum(), 16) > FALSE_ALARM


@pytest.mark.parametrize(
    "gamma", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(10**40 + 1, 10**40)]
)
def test_bernoulli_exp(gamma):
    bits, tosses = source(4), 20_000
    heads = sum(bernoulli_exp(gamma, bits) for _ in range(tosses))
    p = math.exp(-gamma)
    assert abs(heads - tosses * p) <= 5 * math.sqrt(tosses * p * (1 - p))  # false alarm 6e-7; exact at gamma = 0


THIRD = WORD // 3  # the first digit of 1/3 in base 2^64, and every other


@pytest.mark.parametrize(
    ("numerator", "denominator", "words", "expected"),
    [
        (1, 3, [THIRD - 1], True),
        (1, 3, [THIRD + 1], False),
        (1, 3, [THIRD, THIRD, THIRD - 1], True),
        (1, 3, [THIRD, THIRD + 1], False),
        # a uniform number that begins with exactly the digits of 3/4 is not below it
        (3, 4, [3 * WORD // 4 - 1], True),
        (3, 4, [3 * WORD // 4], False),
        # 2^-70 is decided by the second word, and only there
        (1, 1 << 70, [1], False),
        (1, 1 << 70, [0, (1 << 58) - 1], True),
        (1, 1 << 70, [0, 1 << 58], False),
        *((numerator, 7, [], numerator >= 7) for numerator in (0, 7, -1, 8)),  # certainties need no bits
    ],
)
def test_bernoulli_compares_binary_digits_until_they_differ(numerator, denominator, words, expected):
    assert bernoulli(numerator, denominator, scripted(*words)) is expected


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 1000, (1 << 64) + 3])
def test_uniform_below(bound):
    samples = np.array([uniform_below(bound, bits) for bits in [source(5)] for _ in range(4000)], dtype=float)
    assert samples.min() >= 0
    assert samples.max() < bound
    counts = np.histogram(samples, bins=min(bound, 7), range=(-0.5, bound - 0.5))[0]
    shares = np.full(len(counts), 1 / len(counts))
    if bound in {1, 2, 3, 7} or bound > 1e6:
        assert len(counts) == 1 or chi_square_p(counts, shares) > FALSE_ALARM


def test_system_bits_are_uniform_and_fresh():
    bits = system_bits()
    words = [bits(64) for _ in range(2000)]
    assert len(set(words)) == 2000  # false alarm 2^-43
    # each of the 64 positions is a fair coin: 7 sd of 2000 tosses, false alarm 64 x 2.6e-12
    ones = np.array([[word >> place & 1 for place in range(64)] for word in words]).sum(axis=0)
    assert np.abs(ones - 1000).max() <= 7 * math.sqrt(500)
    assert bits(0) == 0
    assert {bits(1) for _ in range(200)} == {0, 1}
    assert max(bits(200).bit_length() for _ in range(100)) > 190
    assert all(bits(130) < 1 << 130 for _ in range(100))
