"""Residual variance and local dispersion of outcomes, and quantiles of the mixture that follow."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats
from scipy.special import erf
from scipy.stats import norm

from dpgp_core.bayes import mixture as mixtures
from dpgp_core.bayes import residuals
from dpgp_core.bayes.clipping import bias_of, bias_sd
from dpgp_core.bayes.clusters import clusters_of
from dpgp_core.bayes.counts import public_counts
from dpgp_core.bayes.dispersion import clipping_threshold, dispersion_given, plan_distances, usual_distance
from dpgp_core.bayes.filter import filter_of
from dpgp_core.bayes.mixture import JointPosterior, Mixture, OutcomeDistribution, skewness_of
from dpgp_core.bayes.model import Model, auto_models
from dpgp_core.bayes.queries import Distances
from dpgp_core.bayes.residuals import (
    OUTLIERS,
    ResidualVariance,
    core_is_known,
    expected,
    log_density,
    log_prior,
    model_weights,
    noise_shares,
    of_binary,
    threshold_of_excess,
)
from dpgp_core.kernels import EQ
from dpgp_core.measurement.fit import Fit
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking, BayesRelease, MixtureUncertainty
from dpgp_core.table import Outcome

HALF = 2.0


def seen(values, about=0.0, reach=1.5, s=1.0):
    """Squares of values (n,), all at one place, without noise."""
    z = (np.minimum(values**2, reach**2) / reach**2 - 0.5).sum()
    return np.array([about]), np.array([reach]), np.array([float(len(values))]), s, float(z)


NORMAL = np.random.default_rng(0).normal(size=20_000)
ANSWERS = np.where(np.random.default_rng(0).uniform(size=20_000) < 0.1, 0.9, -0.1)


@pytest.mark.parametrize(
    ("values", "half", "reach", "variance"),
    [*((sd * NORMAL, HALF, 3 * sd, sd**2) for sd in (0.1, 0.3, 0.5)), (ANSWERS, 0.5, 1.0, 0.09)],
    ids=["little", "some", "much", "yes/no"],
)
def test_squares_identify_the_residual_variance(values, half, reach, variance):
    known = log_prior() + log_density(half, *seen(values, reach=reach))
    assert expected(known, half).variance == pytest.approx(variance, rel=0.15)


@pytest.mark.parametrize("share", [0.15, 0.2, 0.25])
def test_two_groups_do_not_reduce_the_residual_variance(share):
    """A fifth of the answers are yes, and g is near no: squares cut at A see few of many, as if people were alike."""
    values = np.where(np.arange(300) < 300 * share, 0.9, -0.1)
    truth = float((values**2).mean())
    p = residuals.probabilities(log_prior() + log_density(0.5, *seen(values, reach=0.6, s=20.0)))
    assert p[residuals.variances_of(0.5) >= truth].sum() > 0.03


def looked_at(values, reaches, s=1.0):
    """What is known once squares were cut at each of these, one after another."""
    return log_prior() + sum(log_density(HALF, *seen(values, reach=reach, s=s)) for reach in reaches)


@pytest.mark.parametrize("share", [0.015, 0.03, 0.06, 0.1])
@pytest.mark.parametrize("distance", [0.6, 1.8])
def test_outliers_do_not_reduce_the_residual_variance(share, distance):
    """Each threshold is smaller, as if the last had seen all; the share beyond it is the same."""
    far_away = np.arange(20_000) < 20_000 * share
    values = np.where(far_away, distance, 0.03 * NORMAL)
    known = looked_at(values, (1.2, 0.8, 0.5, 0.3, 0.1), s=20.0)
    found = expected(known, HALF)
    assert residuals.has_outliers(known)
    assert found.outliers.sum() > 0.9
    assert found.variance > 0.5 * (values**2).mean()
    assert found.core < 4 * 0.03**2
    p, d = found.outliers @ OUTLIERS
    assert p == pytest.approx(share, rel=0.6)
    assert 0.4 < p * HALF * d / (share * distance) < 2.2  # shares and distances are a factor of two apart


@pytest.mark.parametrize("sd", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("s", [20.0, 500.0, 5000.0])
def test_normal_outcomes_have_no_outliers(sd, s):
    """However noisy squares are; cases with outliers that the squares do not show have no probability at all."""
    known = looked_at(sd * NORMAL, (6 * sd, 3 * sd, 9 * sd, 3 * sd), s)
    assert not residuals.has_outliers(known)
    found = expected(known, HALF)
    assert found.outliers.sum() == 0
    assert found.core == found.variance


@pytest.mark.parametrize("sd", [0.0, 0.3])
def test_noise_rarely_suggests_outliers(sd):
    """Noisy squares of 3,000 normal outcomes, without or with a standard deviation, at five thresholds; 2,000 times."""
    rng, n, s = np.random.default_rng(0), 3000, 27.0
    reaches = HALF * np.geomspace(1, 0.01, 5) if sd == 0 else np.array([0.9, 0.45, 0.45, 1.0, 0.45]) * HALF
    sums = n * (np.minimum((sd * NORMAL[:, None] / reaches) ** 2, 1) - 0.5).mean(axis=0)
    known = [
        sum(
            log_density(HALF, np.array([0.0]), np.array([reach]), np.array([float(n)]), s, mean + s * noise)
            for reach, mean, noise in zip(reaches, sums, rng.standard_normal(5), strict=True)
        )
        for _ in range(2000)
    ]
    assert np.mean([residuals.has_outliers(log_prior() + each) for each in known]) < 0.02


ONE = np.where((OUTLIERS == [0.04, 1.0]).all(axis=1), 1.0, 0.0)  # a share of 0.04 at a distance of half the range


@pytest.mark.parametrize(("centre", "side"), [(0.0, 0), (-HALF, -1), (HALF, 1)])
def test_outliers_add_their_clipped_excess_to_the_bias(centre, side):
    """At a bound they can only be on the other side, so that the clipped mean is too small or too large."""
    c = np.array([0.0, 0.5, 1.0, 3.0, np.inf])
    bias, excess = (
        bias_of(c, np.full(5, centre), ResidualVariance(1.0, 0.01, ONE), HALF),
        0.04 * np.maximum(HALF - c, 0),
    )
    np.testing.assert_allclose(bias.mean, side * excess, atol=1e-12)
    np.testing.assert_allclose(bias.sd, (0.5 if side else 1.0) * excess, atol=1e-12)
    np.testing.assert_allclose(bias.variance, [0, 0.04 * 0.25, 0.04, 0.04 * HALF**2, 0], atol=1e-12)


def test_the_bias_of_outliers_does_not_jump_between_bins():
    """Below the curve there is room for the distance h in some bins only: outliers are above it in all bins."""
    c, centre = np.ones(9), np.linspace(-0.6, 0.2, 9) * HALF
    bias = bias_of(c, centre, ResidualVariance(1.0, 0.01, ONE), HALF)
    np.testing.assert_allclose(bias.mean, -0.04 * (HALF - 1))
    np.testing.assert_allclose(bias.sd, 0.5 * 0.04 * (HALF - 1))


def test_without_outliers_the_bias_has_mean_zero():
    c = np.array([0.0, 0.5, np.inf])
    bias = bias_of(c, np.full(3, -HALF), ResidualVariance(1.0, 1.0, 0 * ONE), HALF)
    np.testing.assert_array_equal(bias.mean, 0)
    np.testing.assert_array_equal(bias.variance, 0)
    np.testing.assert_array_equal(bias.sd, bias_sd(c, 1.0, HALF))


def test_squares_determine_the_residual_variance_before_outliers_are_sought():
    assert not core_is_known(log_prior())
    assert not core_is_known(looked_at(0.0 * NORMAL[:300], (1.0,), s=50.0))
    assert core_is_known(looked_at(0.1 * NORMAL, (0.3,)))


@pytest.mark.parametrize("distance", [0.6, 1.8])
def test_the_threshold_of_the_excess_identifies_outliers(distance):
    """It lies beyond the core, where nothing but outliers adds to the squares."""
    values = np.where(np.arange(20_000) < 400, distance, 0.03 * NORMAL)
    before = looked_at(values, (2.0, 0.09), s=200.0)
    assert 0.3 < threshold_of_excess(before, np.zeros(1), np.array([20_000.0]), 200.0, HALF) <= 2 * HALF


def test_errors_of_the_curve_are_no_dispersion():
    values = np.random.default_rng(1).normal(0, 0.5, 20_000)
    known = log_prior() + log_density(HALF, *seen(values, about=0.16, reach=2.5))
    assert expected(known, HALF).variance < 0.15


def test_weights_interpolate_variances_and_sums_identify_the_kernel():
    """Whatever evidence of sums says about the noise."""
    noises, kernels = np.tile([0.04, 0.16, 0.64], 2), [0, 0, 0, 1, 1, 1]
    grid = np.where(residuals.CASES.outliers < 0, residuals.variances_of(HALF), np.inf)
    truth = grid[np.abs(grid - 0.1).argmin()]
    known = np.where(np.arange(len(grid)) == np.abs(grid - 0.1).argmin(), 0.0, -1e4)
    evidence = np.array([0.0, 5, 900, 2, 7, 902])
    weights = model_weights(noise_shares(noises, np.ones(6), kernels, HALF), known, evidence)
    assert weights.sum() == pytest.approx(1)
    assert weights @ noises == pytest.approx(truth)
    assert weights[3:].sum() == pytest.approx(1 / (1 + math.exp(-2)))
    heavier = model_weights(noise_shares(noises, np.repeat([1.0, 3.0], 3), kernels, HALF), known, evidence)
    assert heavier[3:].sum() == pytest.approx(1 / (1 + math.exp(-2) / 3))


def test_binary_variance_follows_from_the_mean():
    """Outcomes of -1 and 1 with a mean of .6: 1 - .36."""
    found = [expected(of_binary(1.0, square), 1.0).variance for square in (0.36, 0.0)]
    np.testing.assert_allclose(found, [0.64, 1.0], rtol=0.1)


def test_the_clipping_threshold_is_two_standard_deviations():
    assert [clipping_threshold(square, 3.0) for square in (0.25, 9.0)] == [1.0, 3.0]


BOX, GRID = ((0.0, 10.0),), np.linspace(0.5, 9.5, 19)[:, None]


SHAPES = {"even": lambda x: 0.3 + 0 * x, "growing": lambda x: 0.1 + 0.04 * x}


@cache
def records(n):
    """n records over the side and the filter over their clusters, whose models do not matter: distances have others."""
    X = 10 * (np.arange(n)[:, None] + 0.5) / n
    columns = clusters_of(BOX, X)
    filtered = filter_of(auto_models(BOX, 1.0)[:1], columns, n, 1.0).with_counts(public_counts(columns, X))
    return X, filtered


@cache
def released(shape, n, s=4.0, draws=40):
    """Variance of one more outcome (draws, 19), read from distances to a known curve."""
    rng, sd = np.random.default_rng(0), SHAPES[shape]
    X, filtered = records(n)
    threshold, cells, found = 2 * float(np.median(sd(X))), filtered.bins.index(X), []
    B = plan_distances(filtered, float(usual_distance(0.5)), s).B
    for _ in range(draws):
        a = np.minimum(np.abs(rng.normal(0, sd(X[:, 0]))), threshold)
        z = B[:, cells] @ (a / threshold - 0.5) + s * rng.standard_normal(len(B))
        distances = Distances(B, threshold, threshold / 2, s, z)
        found.append(dispersion_given(filtered, distances, GRID).noise_variance)
    return np.array(found)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [300, pytest.param(3000, marks=pytest.mark.full)])
def test_intervals_cover_one_more_outcome_everywhere(shape, n):
    sd = SHAPES[shape]
    half = 2.0 * np.sqrt(released(shape, n))
    inside = erf(half / (sd(GRID[:, 0]) * 2**0.5)).mean()
    assert inside > 0.93


# ---- How people scatter, held against distributions that are known by other means.


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


@pytest.mark.parametrize(("far", "most"), [(0.0, 8), (40.0, 64)])  # bisection takes 50; a gap is the worst case
@pytest.mark.parametrize("probability", [0.001, 0.301, 0.975])
def test_quantiles_take_few_evaluations(mixture, probability, far, most, monkeypatch):
    evaluated, cdf = [], mixtures.ndtr
    monkeypatch.setattr(mixtures, "ndtr", lambda scores: evaluated.append(1) or cdf(scores))
    apart = replace(mixture, means=mixture.means + far * np.array([0.0, 0.0, 1.0])[:, None])
    found = apart.quantile(probability, "function")
    assert len(evaluated) <= most
    np.testing.assert_allclose(apart.probability_below(found, "function"), probability, rtol=1e-9)


@pytest.mark.parametrize("of", ["outputs", "function"])
def test_misfit_widens_intervals_by_the_reported_factor(mixture, of):
    fits = tuple(Fit(ratio=4.0, threshold=1.5, widened=widened, likeliest=4.0) for widened in (1.0, 3.0))
    plain, wider = mixture.interval(0.95, of), replace(mixture, fit=fits).interval(0.95, of)
    for end, other in zip(plain, wider, strict=True):
        np.testing.assert_allclose(other - mixture.mean, [[1.0], [3.0]] * (end - mixture.mean), rtol=1e-9)


def test_paths_have_mean_and_covariance_of_the_mixture():
    """40,000 paths of two models far apart: within six standard errors of each moment."""
    joint = JointPosterior(
        models=tuple(Model(kernel=EQ(lengthscale=scale), noise_variance=0.1) for scale in (1.0, 3.0)),
        X_test=np.linspace(0.5, 9.5, 4)[:, None],
        means=np.array([[0.0, 1.0, 2.0, 3.0], [2.0, 2.0, 0.0, 0.0]]),
        cross_covariances=(np.zeros((0, 4)), 0.5 * np.eye(4)),
        weights=np.array([0.3, 0.7]),
    )
    paths = joint.sample(np.random.default_rng(0), 40_000)
    covariance = joint.covariance()
    apart = paths - joint.weights @ joint.means
    assert (np.abs(apart.mean(axis=0)) < 6 * np.sqrt(np.diag(covariance) / 40_000)).all()
    products = apart[:, :, None] * apart[:, None]
    assert (np.abs(products.mean(axis=0) - covariance) < 6 * products.std(axis=0) / 200).all()


NONE = np.zeros((1, 1))  # variance of a curve that is known


def certain(skew):
    """As if the skewness were known."""
    at = np.argmin(abs(np.linspace(-3, 3, 25) - skew))
    return OutcomeDistribution(np.ones((1, 1)), np.where(np.arange(25) == at, 0.0, -1e9)[None])


@pytest.mark.parametrize("skew", [-2.0, -1.0, 0.0, 0.5, 2.0])
@pytest.mark.parametrize("p", [0.01, 0.3, 0.9])
def test_quantiles_are_those_of_a_gamma_variable(skew, p):
    assert certain(skew).standard_quantile(p, NONE)[0, 0] == pytest.approx(stats.pearson3(skew).ppf(p), abs=1e-9)


@pytest.mark.parametrize("unknown", [0.01, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("skew", [-2.0, 1.5])
def test_uncertainty_of_the_curve_reduces_skewness(skew, unknown):
    """Against the exact law of a normal plus a gamma variable, which the interval of one more person is of."""
    mixture = Mixture(
        means=np.zeros((1, 1, 1)),
        variances=np.full((1, 1, 1), unknown),
        noise_variances=np.ones(1),
        weights=np.ones((1, 1)),
        outcomes=certain(skew),
    )
    people = stats.pearson3(skew).ppf((np.arange(20_000) + 0.5) / 20_000)
    for p in (0.025, 0.5, 0.975):
        quantile = mixture.quantile(p)[0, 0]
        assert stats.norm.cdf((quantile - people) / np.sqrt(unknown)).mean() == pytest.approx(p, abs=0.025)
        assert mixture.probability_below(np.array([quantile]))[0, 0] == pytest.approx(p, abs=2e-3)


@pytest.mark.parametrize(("law", "skew"), [(stats.norm, 0.0), (stats.gamma(4), 1.0), (stats.expon, 2.0)])
def test_many_records_identify_the_skewness(law, skew):
    n = 10**5
    share = law.sf(law.mean())
    found = skewness_of(np.array([n * (share - 0.5)]), 1.0, n, np.zeros(1))
    assert np.linspace(-3, 3, 25)[found[0].argmax()] == pytest.approx(skew, abs=0.13)


def test_a_wrong_curve_or_noise_leaves_skewness_unknown():
    z = np.array([-20.0])
    known, unsure, noisy = (skewness_of(z, s, 300, np.array([v])) for s, v in ((0.1, 0.0), (0.1, 0.5), (200.0, 0.0)))
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
    uncertainty = MixtureUncertainty(outcome=Outcome(name="y", bounds=(0.0, 10.0), scale=0.5), prediction=prediction)
    return BayesRelease(
        X_test=np.zeros((2, 1)),
        samples=uncertainty.values,
        guarantee=BayesCloaking(epsilon=1.0, delta=0.01).guarantee,
        statistics=(),
        uncertainty=uncertainty,
        measured=(),
    )


def test_intervals_are_within_the_bounds_and_in_units(release):
    np.testing.assert_allclose(release.samples, [[5.0, 7.0]])
    np.testing.assert_array_equal(release.model_weights, [[1.0]])
    low, high = release.interval(0.95, "function")
    np.testing.assert_allclose([low[0], high[0]], [[5 - 0.98, 7 - 0.98], [5 + 0.98, 7 + 0.98]], atol=1e-3)
    low, high = release.interval(0.999999, "outputs")
    np.testing.assert_allclose([low[0, 0], high[0, 1]], [5 - 4.8916, 10.0], atol=1e-3)
