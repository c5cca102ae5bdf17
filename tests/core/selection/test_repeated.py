from dataclasses import replace

import numpy as np
import pytest

import dpgp_core.selection.repeated as repeated
from datasets import toy_1d
from dpgp_core.accounting.best_of_many import BestOfManyLoss
from dpgp_core.accounting.ledger import Ledger
from dpgp_core.accounting.losses import ApproximateLoss
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import SparseVariational
from dpgp_core.selection.hyperparameters import Candidate

CANDIDATES = [
    Candidate(kernel=EQ(lengthscale=length), noise_variance=s**2) for length in (0.2, 1.0, 5) for s in (0.2, 1)
]
TOY = toy_1d.load(n=4000)
FEW = TOY.subset(np.arange(0, 4000, 20))
CHOICES = [repeated.choose_liu_talwar, repeated.choose_repeatedly]


def sparse(epsilon, **changes):
    arguments = {"kernel": EQ(), "noise_variance": 1.0, "n_inducing": 12, "delta": 1e-4}
    return SparseVariational(**{"epsilon": epsilon, **arguments, **changes})


@pytest.mark.parametrize("choose", CHOICES)
def test_with_much_budget_and_many_runs_the_right_setting_is_chosen(choose, monkeypatch):
    best = repeated.best_of_runs
    monkeypatch.setattr(repeated, "best_of_runs", lambda run, runs: best(run, 60))
    found = choose(sparse(60.0), CANDIDATES, TOY, np.random.default_rng(2), gamma=0.02)
    assert CANDIDATES[found.index] == CANDIDATES[2]
    mean, _ = found.fit.predict(TOY.X)
    x = TOY.X[:, 0]
    assert np.sqrt(np.mean((mean - np.sin(x) - 0.3 * np.cos(2 * x)) ** 2)) < 0.1


@pytest.mark.parametrize(("choose", "kind"), list(zip(CHOICES, [ApproximateLoss, BestOfManyLoss], strict=True)))
def test_the_ledger_counts_the_whole_budget(choose, kind):
    found = choose(sparse(1.5), CANDIDATES, FEW, np.random.default_rng(1))
    assert isinstance(found.guarantee.loss, kind)
    assert found.guarantee.protects == "inputs and outputs"
    assert found.guarantee.unit == FEW.privacy_unit
    ledger = Ledger()
    ledger.spend([("choice and fit", found.guarantee)])
    assert ledger.epsilon(1e-4) == pytest.approx(1.5)
    ledger.spend([("another", sparse(1.0, delta=1e-5).guarantee)])
    assert 1.5 < ledger.epsilon(2e-4) <= 2.51


@pytest.mark.parametrize("choose", CHOICES)
def test_nothing_is_chosen_where_every_score_is_refused(choose, monkeypatch):
    monkeypatch.setattr(repeated.CoinPress, "mean", lambda *arguments: np.inf)
    found = choose(sparse(1.0), CANDIDATES, FEW, np.random.default_rng(1))
    assert found.index is None
    assert found.fit is None
    assert "nothing was chosen" in found.message
    assert found.guarantee.budget.epsilon == 1.0


def test_at_most_so_many_runs(monkeypatch):
    counted = []
    monkeypatch.setattr(repeated, "best_of_runs", lambda run, runs: counted.append(runs))
    for seed in range(200):
        repeated.choose_liu_talwar(sparse(1.0, delta=0.5), CANDIDATES, FEW, np.random.default_rng(seed), gamma=0.3)
    most = repeated.liu_talwar_constants(1.0, 0.5, 0.3).draws
    assert max(counted) == most
    assert min(counted) == 1


def test_noise_of_a_run_is_that_of_its_share(monkeypatch):
    """Each run of Liu & Talwar adds the noise of its own (epsilon, delta)."""
    scales = []
    noisy = repeated.noisy
    monkeypatch.setattr(repeated, "noisy", lambda sums, noise, rng: (scales.append(noise), noisy(sums, noise, rng))[1])
    mechanism = sparse(1.0, variant="paper")
    repeated.choose_liu_talwar(mechanism, CANDIDATES[2:3], FEW, np.random.default_rng(1), gamma=0.3)
    constants = repeated.liu_talwar_constants(1.0, 1e-4, 0.3)
    one = replace(mechanism, epsilon=constants.epsilon, delta=constants.delta, kernel=CANDIDATES[2].kernel)
    assert scales[0] == one.noise(FEW)


@pytest.mark.parametrize("choose", CHOICES)
def test_bad_input_is_refused(choose):
    rng = np.random.default_rng(1)
    with pytest.raises(ValueError, match="there are no candidates"):
        choose(sparse(1.0), [], FEW, rng)
    with pytest.raises(ValueError, match="gamma must lie strictly between 0 and 1, got 0"):
        choose(sparse(1.0), CANDIDATES, FEW, rng, gamma=0.0)
