"""Hyperparameters chosen privately: by evidence, repeatedly, and means by CoinPress."""

import math

import numpy as np
import pytest

from dpgp_core.accounting.ledger import Ledger
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import SparseVariational
from dpgp_core.selection import hyperparameters
from dpgp_core.selection.hyperparameters import (
    Candidate,
    choose_by_evidence,
    choose_liu_talwar,
    halves,
    log_densities,
    private_mean,
)
from tests.core.tables import table

CANDIDATES = [
    Candidate(kernel=EQ(lengthscale=length), noise_variance=s**2) for length in (0.3, 1.0, 3) for s in (0.1, 1)
]


def wave(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-4, 4, n)
    y = 10 + 2 * (np.sin(2 * x) + 0.1 * rng.standard_normal(n))
    return table(x[:, None], y, y_bounds=(7.0, 13.0), x_box=((-4.0, 4.0),), y_scale=2.0)


def sparse(epsilon, **changes):
    arguments = {"kernel": EQ(lengthscale=0.4), "noise_variance": 1.0, "n_inducing": 15, "delta": 1e-4}
    return SparseVariational(**{"epsilon": epsilon, **arguments, **changes})


CHOICES = [choose_by_evidence, choose_liu_talwar]


@pytest.fixture
def sixty_runs(monkeypatch):
    """As many runs of a choice whatever is drawn."""
    monkeypatch.setattr(hyperparameters, "_number_of_runs", lambda *_: 60)


@pytest.mark.usefixtures("sixty_runs")
@pytest.mark.parametrize("choose", CHOICES)
def test_with_much_budget_the_right_lengthscale_is_chosen(choose):
    data = wave(4000)
    if choose is choose_liu_talwar:
        found = choose(sparse(60.0), CANDIDATES, data, np.random.default_rng(2), gamma=0.02)
    else:
        found = choose(sparse(30.0), CANDIDATES, data, np.random.default_rng(1))
    assert CANDIDATES[found.index].kernel.lengthscale == 1.0
    prediction, _ = found.fit.predict(data.X)
    assert np.sqrt(np.mean((prediction - 10 - 2 * np.sin(2 * data.X[:, 0])) ** 2)) < 0.1


@pytest.mark.full_for("choose_liu_talwar")
@pytest.mark.parametrize("choose", CHOICES)
def test_the_ledger_counts_the_whole_budget_once(choose):
    found = choose(sparse(1.5), CANDIDATES, wave(200), np.random.default_rng(1))
    ledger = Ledger()
    ledger.spend([("choice and fit", found.guarantee)])
    assert ledger.epsilon(1e-4) == pytest.approx(1.5)
    assert (found.guarantee.protects, found.guarantee.unit) == ("inputs and outputs", "one person")
    assert found.fit is None or found.fit.guarantee == found.guarantee
    assert found.message
    ledger.spend([("another", sparse(1.0, delta=1e-5).guarantee)])
    assert 1.5 < ledger.epsilon(2e-4) <= 2.51


def test_the_reference_is_a_candidate_like_any_other():
    data, mechanism = wave(500), sparse(2.0)
    same = Candidate(kernel=mechanism.kernel, noise_variance=mechanism.noise_variance)
    found = choose_by_evidence(mechanism, [same], data, np.random.default_rng(1))
    mean, variance = mechanism.fit(data, np.random.default_rng(1)).predict(data.X)
    np.testing.assert_allclose(found.fit.predict(data.X)[0], mean)
    np.testing.assert_allclose(found.fit.predict(data.X)[1], variance)


def test_one_record_moves_one_half_within_range():
    data = wave(9)
    train, validate = halves(data)
    assert (train.n, validate.n) == (5, 4)
    np.testing.assert_array_equal(np.sort(np.concatenate([train.y, validate.y])), np.sort(data.y))
    fit = sparse(1.0).fit(train, np.random.default_rng(1))
    expected = fit.posterior.predict(validate.X)
    found = log_densities(fit, CANDIDATES[0], validate)
    total = expected[1] + 0.01
    residual = validate.standardised() - expected[0]
    np.testing.assert_allclose(found, -0.5 * np.log(2 * np.pi * total) - residual**2 / (2 * total))


@pytest.mark.usefixtures("sixty_runs")
def test_only_the_best_runs_score_is_published(monkeypatch):
    scores, tried, densities = iter([np.inf, -9.0, -1.0, np.inf, -5.0, *[-9.0] * 100]), [], log_densities

    def seen(fit, candidate, dataset):
        tried.append(candidate)
        return densities(fit, candidate, dataset)

    monkeypatch.setattr(hyperparameters, "log_densities", seen)
    monkeypatch.setattr(hyperparameters, "private_mean", lambda *arguments: next(scores))
    found = choose_liu_talwar(sparse(1.0), CANDIDATES, wave(20), np.random.default_rng(4))
    assert len(tried) == 60
    assert CANDIDATES[found.index] == tried[2]


@pytest.mark.full
def test_nothing_is_chosen_where_every_score_is_refused(monkeypatch):
    monkeypatch.setattr(hyperparameters, "private_mean", lambda *arguments: np.inf)
    found = choose_liu_talwar(sparse(1.0), CANDIDATES, wave(200), np.random.default_rng(1))
    assert found.index is None
    assert found.fit is None
    assert "nothing was chosen" in found.message
    assert found.guarantee.budget.epsilon == 1.0


def test_at_most_so_many_runs():
    most = hyperparameters.liu_talwar_constants(1.0, 0.5, 0.3).most_runs
    counted = [hyperparameters._number_of_runs(np.random.default_rng(seed), 0.3, most) for seed in range(200)]
    assert (min(counted), max(counted)) == (1, most)


@pytest.fixture
def one_step(monkeypatch):
    """Means in a single step."""

    def mean(*arguments):
        with monkeypatch.context() as patch:
            patch.setattr(hyperparameters, "_shares", lambda rho: (rho,))
            return private_mean(*arguments)

    return mean


@pytest.mark.full
def test_mean_of_wide_bounds_is_found(one_step):
    rng = np.random.default_rng(1)
    values = 700 + rng.standard_normal(2000)
    found = [private_mean(values, 0.0, 1000.0, 0.5, rng) for _ in range(200)]
    at_once = [one_step(values, 0.0, 1000.0, 0.5, rng) for _ in range(200)]
    assert np.std(found) < 0.02 < np.std(at_once)
    assert np.mean(found) == pytest.approx(values.mean(), abs=6 * 0.02 / math.sqrt(200))
