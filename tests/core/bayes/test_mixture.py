"""How people scatter, held against distributions that are known by other means."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.stats import norm

from dpgp_core.bayes.mixture import Joint, Mixture, People, skewness_of
from dpgp_core.bayes.models import Model, weights_of
from dpgp_core.kernels import EQ
from dpgp_core.measurement.fit import Fit
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking, BayesRelease, MixtureUncertainty


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


@pytest.mark.parametrize("of", ["outputs", "function"])
def test_a_release_that_does_not_fit_has_intervals_as_much_wider_as_it_says(mixture, of):
    fits = tuple(Fit(ratio=4.0, threshold=1.5, widened=widened, likeliest=4.0) for widened in (1.0, 3.0))
    plain, wider = mixture.interval(0.95, of), replace(mixture, fit=fits).interval(0.95, of)
    for end, other in zip(plain, wider, strict=True):
        np.testing.assert_allclose(other - mixture.mean, [[1.0], [3.0]] * (end - mixture.mean), rtol=1e-9)


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


X_TEST = np.linspace(0.5, 9.5, 4)[:, None]


MODELS = [Model(kernel=EQ(lengthscale=scale), noise_variance=0.1) for scale in (1.0, 3.0)]


def test_paths_have_mean_and_covariance_of_the_mixture():
    """40,000 paths of two models far apart: within six standard errors of each moment."""
    joint = Joint(
        models=tuple(MODELS),
        X_test=X_TEST,
        means=np.array([[0.0, 1.0, 2.0, 3.0], [2.0, 2.0, 0.0, 0.0]]),
        shared=(np.zeros((0, 4)), 0.5 * np.eye(4)),
        weights=np.array([0.3, 0.7]),
    )
    paths = joint.sample(np.random.default_rng(0), 40_000)
    covariance = joint.covariance()
    apart = paths - joint.weights @ joint.means
    assert (np.abs(apart.mean(axis=0)) < 6 * np.sqrt(np.diag(covariance) / 40_000)).all()
    products = apart[:, :, None] * apart[:, None]
    assert (np.abs(products.mean(axis=0) - covariance) < 6 * products.std(axis=0) / 200).all()


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


@pytest.fixture
def release():
    """One model, two test inputs, in an output of bounds 0 to 10 and unit 5: N(0, 1) and N(4, 1) in model units."""
    prediction = Mixture(
        means=np.array([[[0.0, 4.0]]]),
        variances=np.ones((1, 1, 2)),
        noise_variances=np.array([3.0]),
        weights=np.ones((1, 1)),
    )
    uncertainty = MixtureUncertainty(prediction=prediction, bounds=(0.0, 10.0), midpoint=5.0, y_scale=0.5)
    return BayesRelease(
        X_test=np.zeros((2, 1)),
        samples=uncertainty.values,
        guarantee=BayesCloaking(epsilon=1.0, delta=0.01).guarantee,
        statistics=(),
        uncertainty=uncertainty,
        measured=(),
    )


def test_samples_are_means_in_the_outputs_unit(release):
    np.testing.assert_allclose(release.samples, [[5.0, 7.0]])
    np.testing.assert_array_equal(release.model_weights, [[1.0]])


def test_intervals_are_in_the_outputs_unit_and_may_pass_the_bounds_as_outputs_do(release):
    low, high = release.interval(0.95, "function")
    np.testing.assert_allclose([low[0], high[0]], [[5 - 0.98, 7 - 0.98], [5 + 0.98, 7 + 0.98]], atol=1e-3)
    low, high = release.interval(0.999999, "outputs")
    np.testing.assert_allclose([low[0, 0], high[0, 1]], [5 - 4.8916, 7 + 4.8916], atol=1e-3)


def test_a_plan_knows_its_worst_gap(make_dataset):
    data = make_dataset()
    plan = BayesCloaking(epsilon=1.0, delta=0.01, stages=2, gap=0.2).plan(
        data.X, data.X, x_box=data.x_box, half_range=2.0 / data.y_scale
    )
    assert plan.gap == max(stage.planned.gap for stage in plan.stages) <= 0.2
    np.testing.assert_allclose(weights_of(plan.models), 1 / 20)
