import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import datasets
from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.bayes.models import Model
from dpgp_core.evaluation.limits import information_share, least_error, limits
from dpgp_core.kernels import EQ

ONE = np.zeros((1, 1))


@pytest.mark.parametrize("mu", [0.05, 1.0, 4.0])
def test_the_share_is_half_the_triangular_discrimination(mu):
    def density(x):
        p, q = norm.pdf(x, mu / 2), norm.pdf(x, -mu / 2)
        return (p - q) ** 2 / (2 * (p + q))

    assert information_share(mu) == pytest.approx(2 * quad(density, 0, 15)[0], rel=1e-8)


def test_the_share_at_its_ends():
    assert information_share(1e-3) == pytest.approx(1e-6 / 4, rel=1e-5)
    assert information_share(50.0) == pytest.approx(1.0, abs=1e-12)
    shares = [information_share(mu) for mu in (0.1, 0.3, 1.0, 3.0, 10.0)]
    assert shares == sorted(shares)


@pytest.mark.parametrize("mu", [0.3, 1.0, 3.0])
def test_randomised_signs_stay_below_the_share(mu):
    """The sign of y - f is published with noise of scale 1 / mu: what is let through of the sign is all of kappa.

    z = sign(y - f) / 2 + N(0, 1 / mu^2) is mu-GDP; its information about f, by the score E((y - f) / s^2 | z), is
    (2 / pi) kappa(mu) / s^2.
    """

    def integrand(z):
        p, q = norm.pdf(z, 0.5, 1 / mu), norm.pdf(z, -0.5, 1 / mu)
        score = np.sqrt(2 / np.pi) * (p - q) / (p + q)
        return score**2 * (p + q) / 2

    information = quad(integrand, -0.5 - 12 / mu, 0.5 + 12 / mu, limit=200)[0]
    assert information == pytest.approx(2 / np.pi * information_share(mu), rel=1e-6)


def test_one_record_in_closed_form():
    """risk = v - v^2 / (v + s^2 + t) for fixed maps, 1 / (1 / v + kappa / s^2) for any mechanism."""
    v, s2, mu, d = 2.0, 0.5, 0.8, 4.0
    found = limits(EQ(variance=v, lengthscale=1.0), s2, ONE, ONE, mu=mu, output_range=d)
    assert found.without_privacy**2 == pytest.approx(v - v**2 / (v + s2), rel=1e-6)
    assert found.fixed**2 == pytest.approx(v - v**2 / (v + s2 + (d / mu) ** 2), rel=1e-3)
    assert found.any**2 == pytest.approx(1 / (1 / v + information_share(mu) / s2), rel=1e-3)


def test_equal_records_in_closed_form():
    """n records of one f: everything is known of their mean, so information n^2 mu^2 / d^2 about the sum of y."""
    n, v, s2, mu, d = 6, 2.0, 0.5, 0.8, 4.0
    found = limits(EQ(variance=v, lengthscale=1.0), s2, np.zeros((n, 1)), ONE, mu=mu, output_range=d)
    assert found.fixed**2 == pytest.approx(v - n**2 * v**2 / (n**2 * v + n * s2 + (d / mu) ** 2), rel=1e-3)
    assert found.any**2 == pytest.approx(1 / (1 / v + n**2 * information_share(mu) / s2), rel=1e-3)


def test_kung_at_four_budgets():
    """The fixed limit agrees with a computation by an SDP solver, in cm; any mechanism is limited below that."""
    data, cm = datasets.load("kung"), []
    for epsilon in (0.1, 0.2, 0.5, 1.0):
        mu = 1 / noise_multiplier(epsilon, 0.01)
        found = limits(EQ(lengthscale=25.0), 0.3, data.X, data.X, mu=mu, output_range=data.output_range / data.y_scale)
        assert found.without_privacy <= found.any <= found.fixed
        cm.append(data.y_scale * found.fixed)
    np.testing.assert_allclose(cm, [9.54, 7.22, 4.83, 3.56], atol=0.02)


@pytest.mark.parametrize(("change", "message"), [({"mu": 0.0}, "mu"), ({"output_range": -1.0}, "output_range")])
def test_a_bad_value_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        limits(EQ(lengthscale=1.0), 0.1, ONE, ONE, **{"mu": 1.0, "output_range": 1.0, **change})


def test_least_error_is_the_posterior_variance_averaged_over_the_mixture():
    X, X_test = np.linspace(0, 4, 9)[:, None], np.array([[0.3], [2.2], [5.0]])
    models = [
        Model(kernel=EQ(variance=2.0, lengthscale=0.7), noise_variance=0.5, weight=3.0),
        Model(kernel=EQ(variance=1.0, lengthscale=2.0), noise_variance=0.1, weight=1.0),
    ]

    def variance(model):
        K, across = model.kernel(X, X) + model.noise_variance * np.eye(9), model.kernel(X_test, X)
        return np.mean(model.kernel.diagonal(X_test) - np.sum(across * np.linalg.solve(K, across.T).T, axis=1))

    expected = (3 * variance(models[0]) + variance(models[1])) / 4
    assert least_error(models, X, X_test) == pytest.approx(np.sqrt(expected), rel=1e-6)
    with pytest.raises(ValueError, match="column"):
        least_error(models, X, np.zeros((3, 2)))
