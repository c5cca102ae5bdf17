"""Hyperparameters chosen privately: by evidence, repeatedly, and means by CoinPress."""

import math
from dataclasses import replace

import numpy as np
import pytest

import dpgp_core.selection.repeated as repeated
from benchmarks.shared.repeated_runs import BestOfManyLoss, choose_repeatedly
from datasets import toy_1d
from dpgp_core.accounting.ledger import Ledger
from dpgp_core.accounting.losses import ApproximateLoss
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import SparseVariational
from dpgp_core.selection.hyperparameters import Candidate, choose_by_evidence, choose_jointly, halves, log_densities
from dpgp_core.selection.repeated import private_mean
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


@pytest.mark.parametrize("choose", [choose_by_evidence, choose_jointly])
def test_with_much_budget_the_right_lengthscale_is_chosen(choose):
    data = wave(4000)
    found = choose(sparse(30.0), CANDIDATES, data, np.random.default_rng(1))
    assert CANDIDATES[found.index].kernel.lengthscale == 1.0
    prediction, _ = found.fit.predict(data.X)
    assert np.sqrt(np.mean((prediction - 10 - 2 * np.sin(2 * data.X[:, 0])) ** 2)) < 0.1


@pytest.mark.parametrize(
    ("choose", "variant"),
    [(choose_by_evidence, "whitened"), (choose_jointly, "whitened"), (choose_jointly, "paper")],
)
def test_the_ledger_counts_the_budget_once(choose, variant):
    mechanism = sparse(1.5, variant=variant)
    found = choose(mechanism, CANDIDATES, wave(200), np.random.default_rng(1))
    ledger = Ledger()
    ledger.spend([("choice and fit", found.guarantee)])
    assert ledger.epsilon(1e-4) == pytest.approx(1.5)
    assert found.guarantee.protects == "inputs and outputs"
    assert found.guarantee.unit == "one person"
    assert found.fit.guarantee == found.guarantee
    assert found.message


def test_the_choice_counts_all_its_rho():
    """The loss of an exponential mechanism at small orders is epsilon^2 / 8 times the order; the fit's is larger."""
    loss = choose_jointly(sparse(1.5), CANDIDATES, wave(20), np.random.default_rng(1)).guarantee.loss
    fit, choice = loss.losses
    assert choice.rdp(np.array([2.0]))[0] == pytest.approx(2 * 1.5**2 / 8)
    assert fit.rdp(np.array([2.0]))[0] == pytest.approx(1 / sparse(1.5).noise_multiplier ** 2)


def test_a_choice_by_evidence_is_post_processing_of_one_release():
    data, mechanism = wave(500), sparse(2.0)
    found = choose_by_evidence(mechanism, CANDIDATES, data, np.random.default_rng(1))
    plain = mechanism.fit(data, np.random.default_rng(1))
    np.testing.assert_array_equal(found.fit.statistics.A, plain.statistics.A)
    np.testing.assert_array_equal(found.fit.statistics.B, plain.statistics.B)
    assert found.guarantee == plain.guarantee
    assert found.scores.shape == (6,)
    assert found.index == found.scores.argmax()


def test_the_reference_is_a_candidate_like_any_other():
    data, mechanism = wave(500), sparse(2.0)
    same = Candidate(kernel=mechanism.kernel, noise_variance=mechanism.noise_variance)
    found = choose_by_evidence(mechanism, [same], data, np.random.default_rng(1))
    mean, variance = mechanism.fit(data, np.random.default_rng(1)).predict(data.X)
    np.testing.assert_allclose(found.fit.predict(data.X)[0], mean)
    np.testing.assert_allclose(found.fit.predict(data.X)[1], variance)


def test_one_record_is_in_one_half_and_moves_scores_within_the_range():
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


def test_bad_input_is_refused():
    rng = np.random.default_rng(1)
    for choose in (choose_by_evidence, choose_jointly):
        with pytest.raises(ValueError, match="there are no candidates"):
            choose(sparse(1.0), [], wave(10), rng)
    with pytest.raises(ValueError, match="use variant='whitened'"):
        choose_by_evidence(sparse(1.0, variant="paper"), CANDIDATES, wave(10), rng)
    with pytest.raises(ValueError, match="needs at least 2 records, got 1"):
        choose_jointly(sparse(1.0), CANDIDATES, wave(1), rng)
    with pytest.raises(ValueError, match="noise_variance must be a finite number above 0, got 0"):
        Candidate(kernel=EQ(), noise_variance=0)


SETTINGS = [Candidate(kernel=EQ(lengthscale=length), noise_variance=s**2) for length in (0.2, 1.0, 5) for s in (0.2, 1)]
TOY = toy_1d.load(n=4000)
FEW = TOY.subset(np.arange(0, 4000, 20))
CHOICES = [repeated.choose_liu_talwar, choose_repeatedly]


def sparse_with(epsilon, **changes):
    arguments = {"kernel": EQ(), "noise_variance": 1.0, "n_inducing": 12, "delta": 1e-4}
    return SparseVariational(**{"epsilon": epsilon, **arguments, **changes})


@pytest.mark.parametrize("choose", CHOICES)
def test_with_much_budget_and_many_runs_the_right_setting_is_chosen(choose, monkeypatch):
    best = repeated.best_of_runs
    monkeypatch.setattr(repeated, "best_of_runs", lambda run, runs: best(run, 60))
    found = choose(sparse_with(60.0), SETTINGS, TOY, np.random.default_rng(2), gamma=0.02)
    assert SETTINGS[found.index] == SETTINGS[2]
    mean, _ = found.fit.predict(TOY.X)
    x = TOY.X[:, 0]
    assert np.sqrt(np.mean((mean - np.sin(x) - 0.3 * np.cos(2 * x)) ** 2)) < 0.1


@pytest.mark.parametrize(("choose", "kind"), list(zip(CHOICES, [ApproximateLoss, BestOfManyLoss], strict=True)))
def test_the_ledger_counts_the_whole_budget(choose, kind):
    found = choose(sparse_with(1.5), SETTINGS, FEW, np.random.default_rng(1))
    assert isinstance(found.guarantee.loss, kind)
    assert found.guarantee.protects == "inputs and outputs"
    assert found.guarantee.unit == FEW.privacy_unit
    ledger = Ledger()
    ledger.spend([("choice and fit", found.guarantee)])
    assert ledger.epsilon(1e-4) == pytest.approx(1.5)
    ledger.spend([("another", sparse_with(1.0, delta=1e-5).guarantee)])
    assert 1.5 < ledger.epsilon(2e-4) <= 2.51


@pytest.mark.parametrize("choose", CHOICES)
def test_nothing_is_chosen_where_every_score_is_refused(choose, monkeypatch):
    monkeypatch.setattr(repeated, "private_mean", lambda *arguments: np.inf)
    found = choose(sparse_with(1.0), SETTINGS, FEW, np.random.default_rng(1))
    assert found.index is None
    assert found.fit is None
    assert "nothing was chosen" in found.message
    assert found.guarantee.budget.epsilon == 1.0


def test_at_most_so_many_runs(monkeypatch):
    counted = []
    monkeypatch.setattr(repeated, "best_of_runs", lambda run, runs: counted.append(runs))
    for seed in range(200):
        repeated.choose_liu_talwar(sparse_with(1.0, delta=0.5), SETTINGS, FEW, np.random.default_rng(seed), gamma=0.3)
    most = repeated.liu_talwar_constants(1.0, 0.5, 0.3).draws
    assert max(counted) == most
    assert min(counted) == 1


def test_noise_of_a_run_is_that_of_its_share(monkeypatch):
    """Each run of Liu & Talwar adds the noise of its own (epsilon, delta)."""
    scales = []
    noisy = repeated.noisy
    monkeypatch.setattr(repeated, "noisy", lambda sums, noise, rng: (scales.append(noise), noisy(sums, noise, rng))[1])
    mechanism = sparse_with(1.0, variant="paper")
    repeated.choose_liu_talwar(mechanism, SETTINGS[2:3], FEW, np.random.default_rng(1), gamma=0.3)
    constants = repeated.liu_talwar_constants(1.0, 1e-4, 0.3)
    one = replace(mechanism, epsilon=constants.epsilon, delta=constants.delta, kernel=SETTINGS[2].kernel)
    assert scales[0] == one.noise(FEW)


@pytest.mark.parametrize("choose", CHOICES)
def test_bad_input_of_a_repeated_choice_is_refused(choose):
    rng = np.random.default_rng(1)
    with pytest.raises(ValueError, match="there are no candidates"):
        choose(sparse_with(1.0), [], FEW, rng)
    with pytest.raises(ValueError, match="gamma must lie strictly between 0 and 1, got 0"):
        choose(sparse_with(1.0), SETTINGS, FEW, rng, gamma=0.0)


class Recorded:
    """A generator whose noise is always ``value``."""

    def __init__(self, value):
        self.value = value

    def standard_normal(self, shape):
        return np.full(shape, self.value)


@pytest.fixture
def one_step(monkeypatch):
    """Means in a single step."""

    def mean(*arguments):
        with monkeypatch.context() as patch:
            patch.setattr(repeated, "_shares", lambda rho: (rho,))
            return private_mean(*arguments)

    return mean


def test_mean_of_wide_bounds_is_found(one_step):
    rng = np.random.default_rng(1)
    values = 700 + rng.standard_normal(2000)
    found = [private_mean(values, 0.0, 1000.0, 0.5, rng) for _ in range(200)]
    at_once = [one_step(values, 0.0, 1000.0, 0.5, rng) for _ in range(200)]
    assert np.std(found) < 0.02 < np.std(at_once)
    assert np.mean(found) == pytest.approx(values.mean(), abs=6 * 0.02 / math.sqrt(200))


def test_one_number_moves_a_step_by_at_most_its_noise_allows(one_step):
    values = np.zeros(50)
    low, high = values.copy(), values.copy()
    low[0], high[0] = -1e9, 1e9
    moved = one_step(high, 0.0, 2.0, 0.3, Recorded(0.0)) - one_step(low, 0.0, 2.0, 0.3, Recorded(0.0))
    noise_sd = one_step(values, 0.0, 2.0, 0.3, Recorded(1.0))
    # Gaussian mechanism: shift^2 / (2 sd^2) = rho
    assert (moved / noise_sd) ** 2 / 2 == pytest.approx(0.3)


def test_shares_add_up_and_the_last_gets_three_quarters():
    shares = repeated._shares(2.0)
    assert len(shares) == 12
    assert sum(shares) == pytest.approx(2.0)
    assert shares[-1] == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("values", "radius", "rho", "sentence"),
    [
        (np.zeros(3), 1.0, 0.0, "rho must be a finite number above 0"),
        (np.zeros(3), 0.0, 1.0, "radius must be a finite number above 0"),
        (np.zeros(0), 1.0, 1.0, "there are no values to take the mean of"),
    ],
)
def test_what_has_no_mean_is_refused(values, radius, rho, sentence):
    with pytest.raises(ValueError, match=sentence):
        private_mean(values, 0.0, radius, rho, np.random.default_rng(1))
