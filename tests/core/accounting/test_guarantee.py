import math
from dataclasses import FrozenInstanceError

import pytest

from dpgp_core.accounting.gaussian import epsilon_of, log_delta_of, noise_multiplier
from dpgp_core.accounting.guarantee import Budget
from tests.core.accounting.promises import promise


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


def test_delta_zero_is_a_pure_budget():
    assert Budget(epsilon=1, delta=0).delta == 0
