import math

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm

from dpgp_core.bayes.models import Model
from dpgp_core.bayes.reading import read, refit
from dpgp_core.gp.regression import output_covariance, posterior
from dpgp_core.kernels import EQ
from dpgp_core.measurement.measurement import LaplaceMeasurement, Measurement
from dpgp_core.measurement.statistics import Stage, Statistics
from tests.core.tables import columns

N = 60
BOUNDS, WIDE = (50.0, 200.0), (-175.0, 425.0)  # the latter clip nothing
SCALE = 20.0
X = np.linspace(0, 10, N)[:, None]
X_TEST = np.linspace(-1, 11, 7)[:, None]
KERNEL, NOISE = EQ(variance=1.0, lengthscale=2.0), 0.1


def measurement(kind=Measurement, r=8, seed=0, bounds=BOUNDS, **amount):
    B = np.random.default_rng(seed).standard_normal((r, N))
    B /= np.linalg.norm(B, ord=1 if kind is LaplaceMeasurement else 2, axis=0)
    low, high = (np.full(N, end) for end in bounds)
    return kind(B=B, low=low, high=high, bounds=bounds, **(amount or {"noise_multiplier": 0.05}))


def statistics(*stages):
    return Statistics(
        stages=stages,
        X=X,
        columns=columns(("x",), ("m",), ((0.0, 10.0),)),
        y_name="y",
        y_unit="kg",
        y_scale=SCALE,
        guarantee={},
    )


def world(rng, noise=NOISE):
    """f at X and X_TEST and y, drawn from the model, in the output's unit: well inside the bounds."""
    points = np.vstack([X, X_TEST])
    f = np.linalg.cholesky(KERNEL(points, points) + 1e-9 * np.eye(len(points))) @ rng.standard_normal(len(points))
    y = 125 + SCALE * (f[:N] + math.sqrt(noise) * rng.standard_normal(N))
    return 125 + SCALE * f[N:], y


def measured(m, y, rng):
    return Stage(measurement=m, z=m.teaching(y, rng)[0])


def test_as_many_exact_numbers_as_outputs_give_the_exact_posterior():
    """r = n, hardly any noise: what regression on the outputs themselves gives."""
    rng = np.random.default_rng(2)
    _, y = world(rng)
    low, high = (np.full(N, end) for end in WIDE)
    m = Measurement(B=np.eye(N), low=low, high=high, bounds=WIDE, noise_multiplier=1e-6)
    found = refit(statistics(measured(m, y, rng)), kernels=[KERNEL], noise_variances=[NOISE], X_test=X_TEST)
    mean, covariance = posterior(KERNEL, X, (y - 125) / SCALE, X_TEST, NOISE)
    np.testing.assert_allclose(found.mean, 125 + SCALE * mean, atol=1e-3)
    low, high = found.interval(0.95)
    np.testing.assert_allclose((high - low) / 2, SCALE * norm.ppf(0.975) * np.sqrt(np.diag(covariance)), rtol=1e-3)
    low, high = found.interval(0.5, of="outputs")
    np.testing.assert_allclose(
        (high - low) / 2, SCALE * norm.ppf(0.75) * np.sqrt(np.diag(covariance) + NOISE), rtol=1e-3
    )


@pytest.mark.parametrize("kind", [Measurement, LaplaceMeasurement])
def test_intervals_cover_what_they_say_on_data_from_the_model(kind):
    """200 worlds of 7 points, privacy noise as large as the curve: within 3 points and five binomial errors of 200."""
    rng = np.random.default_rng(3)
    amount = {"epsilon": 2.0} if kind is LaplaceMeasurement else {"noise_multiplier": 1.0}
    m = measurement(kind, r=12, seed=4, **amount)
    wanted = [("function", 0.5), ("function", 0.95), ("outputs", 0.95)]
    inside = np.zeros(3)
    for _ in range(200):
        f, y = world(rng)
        found = refit(statistics(measured(m, y, rng)), kernels=[KERNEL], noise_variances=[NOISE], X_test=X_TEST)
        truth = {"function": f, "outputs": f + SCALE * math.sqrt(NOISE) * rng.standard_normal(7)}
        for i, (of, level) in enumerate(wanted):
            low, high = found.interval(level, of=of)
            inside[i] += ((low <= truth[of]) & (truth[of] <= high)).mean() / 200
    for (_, level), share in zip(wanted, inside, strict=True):
        assert share == pytest.approx(level, abs=0.03 + 5 * math.sqrt(level * (1 - level) / 200))


def test_models_are_weighted_by_their_evidence():
    rng = np.random.default_rng(5)
    _, y = world(rng)
    released = statistics(measured(measurement(), y, rng))
    kernels, variances = [EQ(lengthscale=0.2), KERNEL, EQ(lengthscale=9.0)], [NOISE, 2.0]
    found = refit(released, kernels=kernels, noise_variances=variances, X_test=X_TEST)
    evidence = [
        float(read(released, [Model(kernel=k, noise_variance=v)]).log_evidence()[0]) for k in kernels for v in variances
    ]
    np.testing.assert_allclose(found.weights, np.exp(evidence - logsumexp(evidence)))
    np.testing.assert_allclose(found.mean, 125 + SCALE * (found.weights @ found.mixture.means[0]))
    assert found.weights.sum() == pytest.approx(1)


def test_evidence_and_posterior_by_joint_gaussian_algebra():
    """Of wide intervals, which clip nothing: the density of z, and f given z, by the joint normal of both."""
    rng = np.random.default_rng(8)
    _, y = world(rng)
    stages = [measured(measurement(seed=s, bounds=WIDE), y, rng) for s in (1, 2)]
    A = np.vstack([stage.measurement.B * SCALE / 600 for stage in stages])
    S = A @ output_covariance(KERNEL, X, NOISE) @ A.T + stages[0].measurement.noise_sd ** 2 * np.eye(16)
    z, cross = np.concatenate([stage.z for stage in stages]), KERNEL(X_TEST, X) @ A.T
    one, both = (read(statistics(*some), [Model(kernel=KERNEL, noise_variance=NOISE)]) for some in (stages[:1], stages))
    assert one.log_evidence()[0] == pytest.approx(multivariate_normal.logpdf(z[:8], cov=S[:8, :8]), rel=1e-9)
    assert both.log_evidence()[0] == pytest.approx(multivariate_normal.logpdf(z, cov=S), rel=1e-9)
    found = both.at(X_TEST).joint()
    np.testing.assert_allclose(found.means[0], cross @ np.linalg.solve(S, z), atol=1e-9)
    expected = KERNEL(X_TEST, X_TEST) - cross @ np.linalg.solve(S, cross.T)
    np.testing.assert_allclose(found.covariance(), expected, atol=1e-9)


def test_intervals_of_a_mixture_leave_equal_tails():
    rng = np.random.default_rng(6)
    _, y = world(rng)
    released = statistics(measured(measurement(r=3), y, rng))
    found = refit(released, kernels=[EQ(lengthscale=s) for s in (0.3, 2.0, 8.0)], noise_variances=[0.1], X_test=X_TEST)
    means = 125 + SCALE * found.mixture.means[0]
    sds = SCALE * np.sqrt(found.mixture.variances[0])
    low, high = found.interval(0.8)
    np.testing.assert_allclose(found.weights @ norm.cdf((low - means) / sds), 0.1, rtol=1e-6)
    np.testing.assert_allclose(found.weights @ norm.cdf((high - means) / sds), 0.9, rtol=1e-6)


def test_bad_arguments_are_refused():
    released = statistics(Stage(measurement=measurement(), z=np.zeros(8)))
    for kernels, variances in (([], [0.1]), ([KERNEL], [])):
        with pytest.raises(ValueError, match="at least one kernel"):
            refit(released, kernels=kernels, noise_variances=variances, X_test=X_TEST)
    with pytest.raises(ValueError, match="equally many columns"):
        refit(released, kernels=[KERNEL], noise_variances=[0.1], X_test=np.zeros((3, 2)))
    found = refit(released, kernels=[KERNEL], noise_variances=[0.1], X_test=X_TEST)
    with pytest.raises(ValueError, match="level must lie"):
        found.interval(1.0)
    with pytest.raises(ValueError, match="'outputs' or 'function'"):
        found.interval(0.5, of="noise")
