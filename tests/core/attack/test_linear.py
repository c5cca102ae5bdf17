"""The linear attack: on a person, on the null space of the noise, on all rows of a person."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from dpgp_core.accounting.tradeoff import gaussian_tradeoff
from dpgp_core.attack.audit import epsilon_lower_bound
from dpgp_core.attack.linear import draw_releases, linear_attack, output_neighbours
from dpgp_core.attack.roc import Roc
from dpgp_core.bayes.refit import bins_of
from dpgp_core.kernels import EQ
from dpgp_core.measurement.integers import person_weights
from dpgp_core.mechanisms import Cloaking
from dpgp_core.mechanisms.base import TeachingRelease
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from tests.core import tables

MODEL = {"epsilon": 2.0, "delta": 0.01, "kernel": EQ(lengthscale=2.0), "noise_variance": 0.3}
X_TEST = np.linspace(-2, 12, 9)[:, None]


def made(mean, factor):
    return TeachingRelease(
        X_test=np.zeros((3, 1)),
        mean=mean,
        noise_factor=factor,
        samples=mean[None, :],
        guarantee=None,
        statistics=(),
        uncertainty=None,
    )


@pytest.fixture
def pair():
    rng = np.random.default_rng(1)
    factor = rng.normal(size=(3, 3))
    return made(rng.normal(size=3), factor), made(rng.normal(size=3), factor)


def test_the_score_is_the_exact_likelihood_ratio(pair):
    attack, samples = linear_attack(*pair), np.random.default_rng(2).normal(size=(20, 3))
    shift = pair[0].mean - pair[1].mean
    squared = shift @ np.linalg.solve(pair[0].noise_covariance(), shift)
    assert attack.mu == pytest.approx(math.sqrt(squared), rel=1e-9)
    log_in, log_out = (multivariate_normal(r.mean, r.noise_covariance()).logpdf(samples) for r in pair)
    np.testing.assert_allclose(attack.score(samples), log_in - log_out, rtol=1e-9, atol=1e-9)


def test_noise_of_low_rank_uses_the_pseudoinverse(pair):
    factor = pair[0].noise_factor[:, :1]
    inside, outside = made(np.zeros(3) + 2 * factor[:, 0], factor), made(np.zeros(3), factor)
    assert linear_attack(inside, outside).mu == pytest.approx(2, rel=1e-9)


def test_a_shift_without_noise_is_certain(pair):
    factor = np.diag([1.0, 1.0, 0.0])
    attack = linear_attack(made(np.array([0.0, 0.0, 1e-3]), factor), made(np.zeros(3), factor))
    assert attack.mu > 1e5
    samples = np.random.default_rng(4).normal(size=(100, 3)) * [1, 1, 0]
    assert (attack.score(samples) < -1e5).all()
    assert (attack.score(samples + np.array([0, 0, 1e-3])) > 1e5).all()


def test_no_shift_is_no_attack(pair):
    attack = linear_attack(pair[0], pair[0])
    assert attack.mu == 0
    assert (attack.score(np.ones((2, 3))) == 0).all()


def test_different_noises_are_averaged(pair):
    inside, outside = pair[0], replace(pair[1], noise_factor=2 * pair[1].noise_factor[:, :2])
    N = (inside.noise_covariance() + outside.noise_covariance()) / 2
    expected = np.linalg.solve(N, inside.mean - outside.mean)
    np.testing.assert_allclose(linear_attack(inside, outside).weights, expected, rtol=1e-8)


def test_exact_roc_against_simulation(make_dataset):
    inside, outside = output_neighbours(make_dataset(), 3)
    mechanism, rng = Cloaking(**MODEL), np.random.default_rng(5)
    attack = linear_attack(*(mechanism.release(data, X_TEST, rng) for data in (inside, outside)))
    scores = [
        np.concatenate([attack.score(samples) for samples in draw_releases(mechanism, data, X_TEST, rng, 25_000)])
        for data in (inside, outside)
    ]
    roc = Roc.of(*scores)
    for rate in (0.01, 0.05, 0.1, 0.5):
        _, low, high = roc.power_at(rate, 1 - 1e-6)
        assert low <= 1 - gaussian_tradeoff(np.array(rate), attack.mu) <= high
    false, true = roc.curve()
    # Dvoretzky-Kiefer-Wolfowitz, both samples: 0.019 is exceeded with probability below 1e-7
    assert np.abs(true - (1 - gaussian_tradeoff(false, attack.mu))).max() < 0.019 * (1 + attack.mu)
    assert attack.mu <= mechanism.guarantee.loss.mu * (1 + 1e-6)
    # N(+-mu^2/2, mu^2)
    assert scores[0].mean() == pytest.approx(attack.mu**2 / 2, abs=6 * attack.mu / math.sqrt(25_000))
    assert scores[1].std() == pytest.approx(attack.mu, rel=0.05)


def test_batches_are_independent_single_releases(make_dataset, monkeypatch):
    monkeypatch.setattr("dpgp_core.attack.linear.BATCH", 40)
    batches = list(draw_releases(Cloaking(**MODEL), make_dataset(), X_TEST, np.random.default_rng(8), 100))
    assert [len(batch) for batch in batches] == [40, 40, 20]
    assert len(np.unique(np.concatenate(batches)[:, 0])) == 100


def test_output_neighbours_sit_at_the_bounds(make_dataset):
    data = make_dataset()
    inside, outside = output_neighbours(data, 4)
    assert (inside.y[4], outside.y[4]) == (3.0, -1.0)
    assert (np.delete(inside.y, 4) == np.delete(data.y, 4)).all()
    assert (inside.y != outside.y).sum() == 1


def releases(rng, count, shift, rounding):
    """Noise in 2 of 5 directions, and a shift of the size of rounding errors in a third."""
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))[0]
    return (rng.normal(size=(count, 2)) @ Q[:2]) + shift * Q[2] + rounding * rng.normal(size=(count, 5))


# ---- Attacks on a whole person with many rows: a promise to people holds, and one to rows was never one to people.
#
# The attacker knows everybody else and compares the numbers measured from two tables: all rows of the victim at the
# upper bound, or all at the lower one. The noise is Gaussian, so no test is better than the linear one along the shift.


PLACES = np.linspace(0.5, 9.5, 5)[:, None]
VICTIM, MANY, PLACE, DRAWS = 3, 40, 5.0, 4000


@pytest.fixture(scope="module")
def table():
    """30 people of 1 to 3 rows, and one of 40; yes or no."""
    rng = np.random.default_rng(5)
    rows = rng.integers(1, 4, 31)
    rows[VICTIM] = MANY
    person = rng.permutation(np.repeat(np.arange(31), rows))
    X = rng.uniform(0, 10, (len(person), 1))
    X[person == VICTIM] = PLACE  # all at one place, where they add up
    y = rng.integers(0, 2, len(person)).astype(float)
    return tables.table(X, y, y_bounds=(0.0, 1.0), x_box=((0.0, 10.0),), y_kind="yes/no", person=person)


def scores(mechanism, table):
    """Scores of the best attack on what is measured, of releases (in, out), and how far the two tables are apart."""
    stage = mechanism.release(table, PLACES).statistics[0]
    [measurement] = stage.measurements
    cells = bins_of(stage).index(table.X)
    weights = None if table.person is None else person_weights(table.person)
    victims = table.X[:, 0] == PLACE
    ends = [np.where(victims, end, table.y) - 0.5 for end in (1.0, 0.0)]
    rng = np.random.default_rng(6)
    pair = [measurement.teaching(each, rng, DRAWS, cells=cells, weights=weights) for each in ends]
    exact = [np.array([float(x) for x in measurement._exact(each, cells, weights)]) for each in ends]
    shift = (exact[0] - exact[1]) / measurement.noise.sd
    mu = float(np.linalg.norm(shift))
    return [draws @ shift / (mu * measurement.noise_sd) for draws in pair], mu


@pytest.mark.parametrize("epsilon", [1.0, pytest.param(3.0, marks=pytest.mark.full)])
def test_rows_of_a_person_are_protected_together(table, epsilon):
    mechanism, rows = BayesCloaking(epsilon=epsilon, delta=1e-3), replace(table, person=None)
    promise = mechanism.guarantee_for(table)
    (inside, outside), mu = scores(mechanism, table)
    assert mu <= promise.loss.mu * (1 + 1e-9)
    assert mu > 0.3 * promise.loss.mu  # the attack is a real one
    # a bound is missed with probability 1e-6
    assert epsilon_lower_bound(inside, outside, 1e-3, 1 - 1e-6) <= epsilon
    (found, missed), far = scores(mechanism, rows)
    assert mechanism.guarantee_for(rows).rows == 1
    assert far > 3 * promise.loss.mu
    assert epsilon_lower_bound(found, missed, 1e-3, 1 - 1e-6) > epsilon
    alarms = float((missed > np.quantile(missed, 0.95)).mean())
    hit = float((found > np.quantile(missed, 0.95)).mean())
    assert hit > 1 - gaussian_tradeoff(np.array([alarms]), promise.loss.mu)[0] + 0.2
