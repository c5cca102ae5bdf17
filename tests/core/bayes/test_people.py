"""How people scatter, held against distributions that are known by other means."""

import numpy as np
import pytest
from scipy import stats

from dpgp_core.bayes.people import People, skewness_of

NORMAL = People(np.ones((2, 3)))


def certain(skew):
    """As if the skewness were known."""
    at = np.argmin(abs(np.linspace(-3, 3, 25) - skew))
    return People(np.ones((1, 1)), np.where(np.arange(25) == at, 0.0, -1e9)[None])


@pytest.mark.parametrize("p", [0.03, 0.5, 0.97])
def test_without_a_count_people_are_normal(p):
    np.testing.assert_allclose(NORMAL.standard_quantile(p), np.full((2, 1), stats.norm.ppf(p)))


@pytest.mark.parametrize("skew", [-2.0, -1.0, 0.0, 0.5, 2.0])
@pytest.mark.parametrize("p", [0.01, 0.3, 0.9])
def test_quantiles_are_those_of_a_gamma_of_that_skewness(skew, p):
    assert certain(skew).standard_quantile(p)[0, 0] == pytest.approx(stats.pearson3(skew).ppf(p), abs=1e-9)


@pytest.mark.parametrize("skew", [-1.0, 0.0, 2.0])
def test_below_is_the_inverse_of_quantiles(skew):
    people, p = certain(skew), np.array([0.02, 0.2, 0.5, 0.75, 0.99])
    quantiles = np.array([[people.standard_quantile(each)[0, 0] for each in p]])
    np.testing.assert_allclose(people.standard_below(quantiles)[0], p, atol=2e-3)


@pytest.mark.parametrize(("law", "skew"), [(stats.norm, 0.0), (stats.gamma(4), 1.0), (stats.expon, 2.0)])
def test_counts_of_many_tell_the_skewness(law, skew):
    n = 10**5
    share = law.sf(law.mean())
    found = skewness_of(np.array([n * (share - 0.5)]), 1.0, n, np.zeros(1))
    assert np.linspace(-3, 3, 25)[found[0].argmax()] == pytest.approx(skew, abs=0.13)


def test_a_curve_that_is_off_and_much_noise_leave_the_skewness_open():
    z = np.array([-20.0])
    known, unsure, noisy = (
        skewness_of(z, s, 300, np.array([v])) - 0.0 for s, v in ((0.1, 0.0), (0.1, 0.5), (200.0, 0.0))
    )
    spread = [float(np.average(np.linspace(-3, 3, 25) ** 2, weights=np.exp(f[0] - f.max()))) for f in (unsure, noisy)]
    assert np.exp(known[0] - known.max()).sum() < np.exp(unsure[0] - unsure.max()).sum()
    assert min(spread) > 1.0
