import math
from dataclasses import FrozenInstanceError, replace

import pytest

from dpgp_core.calibration import epsilon_of, log_delta_of, noise_multiplier
from dpgp_core.losses import GaussianLoss
from dpgp_core.privacy import ONE_OUTPUT, Budget, BudgetExceeded, Guarantee, Ledger


def promise(mu, delta=0.01, **changes):
    guarantee = Guarantee(
        budget=Budget(epsilon=max(epsilon_of(1 / mu, delta), 1e-4), delta=delta),
        loss=GaussianLoss(mu),
        protects="outputs",
        neighbours=ONE_OUTPUT,
        unit="one record's output",
        theorem="analytic Gaussian mechanism",
        assumptions=(),
        not_covered=(),
    )
    return replace(guarantee, **changes)


@pytest.mark.parametrize(
    ("epsilon", "delta", "sentence"),
    [
        (0.0, 0.01, "epsilon must be a finite number above 0, got 0.0"),
        (math.nan, 0.01, "epsilon must be a finite number above 0, got nan"),
        (1.0, 1.0, "delta must lie strictly between 0 and 1, got 1.0"),
    ],
)
def test_bad_budgets_are_named(epsilon, delta, sentence):
    with pytest.raises(ValueError, match=sentence):
        Budget(epsilon=epsilon, delta=delta)


def test_budget_and_guarantee_are_frozen_values():
    assert Budget(epsilon=1, delta=0.1) == Budget(epsilon=1, delta=0.1)
    assert promise(0.5) == promise(0.5)
    with pytest.raises(FrozenInstanceError):
        Budget(epsilon=1, delta=0.1).epsilon = 2
    with pytest.raises(FrozenInstanceError):
        promise(0.5).releases = 2


def test_proven_epsilon_looks_at_the_noise_not_at_the_claim():
    # Hall's noise at (10, 0.01) falls short of its claim
    hall = promise(1 / noise_multiplier(10, 0.01, "hall", unproven=True), budget=Budget(epsilon=10, delta=0.01))
    assert hall.proven_epsilon > 10
    assert promise(0.5).proven_epsilon == pytest.approx(promise(0.5).budget.epsilon)


def test_for_unit_changes_only_the_name():
    assert promise(0.5).for_unit("one house") == promise(0.5, unit="one house")


@pytest.mark.parametrize("releases", [2, 7, 100])
def test_repeated_release_is_one_release_with_a_longer_shift(releases):
    # m draws of N(mu, 1) are one draw of N(mu sqrt m, 1): the sample mean is sufficient
    repeated = promise(0.3).repeated(releases)
    assert repeated.loss.mu == pytest.approx(0.3 * math.sqrt(releases))
    assert repeated.releases == releases
    delta = math.exp(log_delta_of(1 / (0.3 * math.sqrt(releases)), repeated.budget.epsilon))
    assert delta == pytest.approx(0.01, rel=1e-9)


def test_repeating_twice_multiplies_the_number_of_releases():
    assert promise(0.3).repeated(2).repeated(3).releases == 6
    assert promise(0.3).repeated(2).repeated(3).loss.mu == pytest.approx(promise(0.3).repeated(6).loss.mu)


def test_one_release_is_the_promise_itself():
    unestablished = promise(3.0, established=False, budget=Budget(epsilon=10, delta=0.01))
    assert unestablished.repeated(1) == unestablished


def test_repeating_replaces_an_unproven_claim_by_the_exact_one():
    twice = promise(3.0, established=False, budget=Budget(epsilon=1, delta=0.01)).repeated(2)
    assert twice.established
    assert twice.budget.epsilon == pytest.approx(epsilon_of(1 / (3 * math.sqrt(2)), 0.01))


def test_repeating_very_conservative_noise_still_gives_a_budget():
    # Hall's noise at (0.05, 0.01): two draws have delta 2 Phi(mu / sqrt 2) - 1 = 0.0087 even at epsilon = 0
    mu = 1 / noise_multiplier(0.05, 0.01, "hall")
    twice = promise(mu, budget=Budget(epsilon=0.05, delta=0.01)).repeated(2)
    assert twice.budget.epsilon > 0
    assert log_delta_of(1 / twice.loss.mu, twice.budget.epsilon) <= math.log(0.01)


@pytest.mark.parametrize("releases", [0, -1])
def test_no_release_is_refused(releases):
    with pytest.raises(ValueError, match=f"releases must be at least 1, got {releases}"):
        promise(0.3).repeated(releases)


def test_empty_ledger_has_spent_nothing():
    assert Ledger().epsilon(0.01) == 0
    assert Ledger().epsilon(0.01) == 0


def test_ledger_composes_exactly():
    ledger = Ledger()
    ledger.spend([("a", promise(0.3)), ("b", promise(0.4))])
    ledger.spend([("c", promise(1.2))])
    assert ledger.epsilon(0.01) == pytest.approx(epsilon_of(1 / 1.3, 0.01))  # 0.3^2 + 0.4^2 + 1.2^2 = 1.3^2
    assert ledger.epsilon(1e-3) == pytest.approx(epsilon_of(1 / 1.3, 1e-3))
    assert [what for what, _ in ledger.entries] == ["a", "b", "c"]


def test_ledger_beats_adding_up_epsilons():
    ledger = Ledger()
    one = promise(1 / noise_multiplier(0.5, 0.01))
    ledger.spend([("draw", one)] * 4)
    assert ledger.epsilon(0.01) < 4 * 0.5


def test_limit_allows_exactly_what_was_declared():
    ledger = Ledger(limit=Budget(epsilon=1, delta=0.01))
    half = promise(1 / noise_multiplier(1, 0.01) / math.sqrt(2))
    ledger.spend([("first half", half), ("second half", half)])
    assert ledger.epsilon(0.01) == pytest.approx(1)


def test_limit_refuses_and_records_nothing():
    ledger = Ledger(limit=Budget(epsilon=1, delta=0.01))
    part = promise(1 / noise_multiplier(0.8, 0.01))
    ledger.spend([("first", part)])
    with pytest.raises(BudgetExceeded) as refusal:
        ledger.spend([("tiny", promise(1e-6)), ("second", part)])
    assert [what for what, _ in ledger.entries] == ["first"]
    sentence = str(refusal.value)
    assert "above the declared 1; 0.8 is spent" in sentence
    assert f"Use epsilon = {ledger.epsilon_left():.3g} or less" in sentence
    total = epsilon_of(noise_multiplier(0.8, 0.01) / math.sqrt(2), 0.01)
    assert f"would bring the total to epsilon = {total:.3g} at delta = 0.01" in sentence


def test_what_is_left_can_be_spent_and_no_more():
    ledger = Ledger(limit=Budget(epsilon=1, delta=0.01))
    ledger.spend([("first", promise(1 / noise_multiplier(0.8, 0.01)))])
    rest = promise(1 / noise_multiplier(ledger.epsilon_left(), 0.01))
    ledger.spend([("rest", rest)])
    assert ledger.epsilon(0.01) == pytest.approx(1)
    assert ledger.epsilon_left() < 1e-3
    assert Ledger().epsilon_left() == math.inf


def test_refusal_is_a_value_error():
    with pytest.raises(ValueError, match=r"nothing was released\. Use epsilon = 0\.1 or less"):
        Ledger(limit=Budget(epsilon=0.1, delta=0.01)).spend([("too much", promise(1.0))])


def test_generators_of_guarantees_are_counted_once():
    ledger = Ledger(limit=Budget(epsilon=5, delta=0.01))
    ledger.spend((str(i), promise(0.1)) for i in range(3))
    assert len(ledger.entries) == 3


def test_delta_zero_is_a_pure_budget():
    assert Budget(epsilon=1, delta=0).delta == 0
