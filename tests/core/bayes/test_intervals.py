import numpy as np
import pytest
from scipy.stats import norm

from dpgp_core.bayes.intervals import Mixture


@pytest.fixture
def mixture():
    rng = np.random.default_rng(0)
    weights = rng.uniform(0, 1, (2, 3))
    return Mixture(
        means=rng.standard_normal((2, 3, 4)),
        variances=rng.uniform(0.1, 2, (2, 3, 4)),
        noise_variances=np.array([0.1, 0.5, 2.0]),
        weights=weights / weights.sum(axis=1, keepdims=True),
    )


@pytest.mark.parametrize("of", ["outputs", "function"])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_intervals_are_quantiles_of_the_mixture(mixture, of, level):
    more = mixture.noise_variances if of == "outputs" else np.zeros(3)
    for end, probability in zip(mixture.interval(level, of), ((1 - level) / 2, (1 + level) / 2), strict=True):
        for draw in range(2):
            for p in range(4):
                law = norm(mixture.means[draw, :, p], np.sqrt(mixture.variances[draw, :, p] + more))
                assert mixture.weights[draw] @ law.cdf(end[draw, p]) == pytest.approx(probability, abs=1e-9)
        np.testing.assert_allclose(mixture.probability_below(end, of), probability, atol=1e-9)


def test_one_model_gives_the_normal_interval():
    one = Mixture(
        means=np.array([[[2.0]]]),
        variances=np.array([[[9.0]]]),
        noise_variances=np.array([7.0]),
        weights=np.ones((1, 1)),
    )
    np.testing.assert_allclose(one.interval(0.95, "outputs"), [[[2 - 4 * 1.959964]], [[2 + 4 * 1.959964]]], atol=1e-5)
    np.testing.assert_allclose(one.interval(0.95, "function"), [[[2 - 3 * 1.959964]], [[2 + 3 * 1.959964]]], atol=1e-5)
    assert one.mean[0, 0] == 2


@pytest.mark.parametrize("level", [0.0, 1.0, np.nan])
def test_level_must_lie_between_zero_and_one(mixture, level):
    with pytest.raises(ValueError, match="level"):
        mixture.interval(level)


def test_of_must_be_known(mixture):
    with pytest.raises(ValueError, match="of must be"):
        mixture.interval(0.9, "both")
