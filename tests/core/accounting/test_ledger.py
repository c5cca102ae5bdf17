"""Guarantees, what k rows of one person are promised, and the ledger that adds all up."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from dpgp_core.accounting.gaussian import epsilon_of, log_delta_of, noise_multiplier, rounded_down, rounded_up
from dpgp_core.accounting.guarantee import OTHER_ROWS, Budget, budget_of_one_row, for_rows, loss_of_rows
from dpgp_core.accounting.ledger import BudgetExceeded, Ledger, MixedProtection
from dpgp_core.accounting.losses import GaussianLoss, PureLoss
from dpgp_core.mechanisms import BayesCloaking, IntegralBinning
from tests.core.accounting.promises import promise


def test_proven_epsilon_depends_on_the_noise_alone():
    # Hall's noise at (10, 0.01) falls short of its claim
    hall = promise(1 / noise_multiplier(10, 0.01, "hall", unproven=True), budget=Budget(epsilon=10, delta=0.01))
    assert hall.proven_epsilon > 10
    assert promise(0.5).proven_epsilon == pytest.approx(promise(0.5).budget.epsilon)


@pytest.mark.parametrize("releases", [2, 7, 100])
def test_repeated_releases_add_their_squared_mu(releases):
    # m draws of N(mu, 1) are one draw of N(mu sqrt m, 1): the sample mean is sufficient
    repeated = promise(0.3).repeated(releases)
    assert repeated.loss.mu == pytest.approx(0.3 * math.sqrt(releases))
    assert (repeated.releases, repeated.repeated(3).releases) == (releases, 3 * releases)
    delta = math.exp(log_delta_of(1 / (0.3 * math.sqrt(releases)), repeated.budget.epsilon))
    assert delta == pytest.approx(0.01, rel=1e-9)


def test_one_release_is_the_guarantee_itself():
    unestablished = promise(3.0, established=False, budget=Budget(epsilon=10, delta=0.01))
    assert unestablished.repeated(1) == unestablished


def test_repetition_replaces_unproven_claims():
    twice = promise(3.0, established=False, budget=Budget(epsilon=1, delta=0.01)).repeated(2)
    assert twice.established
    assert twice.budget.epsilon == pytest.approx(epsilon_of(1 / (3 * math.sqrt(2)), 0.01))


def test_repeating_very_conservative_noise_still_gives_a_budget():
    # Hall's noise at (0.05, 0.01): two draws have delta 2 Phi(mu / sqrt 2) - 1 = 0.0087 even at epsilon = 0
    mu = 1 / noise_multiplier(0.05, 0.01, "hall")
    twice = promise(mu, budget=Budget(epsilon=0.05, delta=0.01)).repeated(2)
    assert twice.budget.epsilon > 0
    assert log_delta_of(1 / twice.loss.mu, twice.budget.epsilon) <= math.log(0.01)


# ---- Noise for k rows of one person: what is promised to all of them, from what is spent on one.


@pytest.mark.parametrize("rows", [2, 3, 10, 1000])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.01), (1.0, 1e-5), (5.0, 1e-9), (100.0, 1e-12)])
def test_k_rows_need_k_times_the_noise(epsilon, delta, rows):
    one = budget_of_one_row(epsilon, delta, rows)
    found = noise_multiplier(one.epsilon, one.delta)
    assert found == pytest.approx(rows * noise_multiplier(epsilon, delta), rel=1e-8)
    assert loss_of_rows(GaussianLoss(1 / found), rows).epsilon(delta) <= epsilon


def test_k_rows_are_normals_k_steps_apart():
    """By the definition, not by the formula: the worst event of N(0, 1) against N(k mu, 1)."""
    epsilon, delta, rows = 1.0, 1e-3, 4
    one = budget_of_one_row(epsilon, delta, rows)
    shift = rows / noise_multiplier(one.epsilon, one.delta)
    cuts = np.linspace(-10, 10, 200_001)
    worst = (norm.sf(cuts - shift) - math.exp(epsilon) * norm.sf(cuts)).max()
    assert worst == pytest.approx(delta, rel=1e-6)


def test_a_pure_budget_is_divided_evenly():
    assert budget_of_one_row(1.0, 0.0, 8) == Budget(epsilon=0.125, delta=0.0)
    assert loss_of_rows(PureLoss(0.125), 8) == PureLoss(1.0)
    assert loss_of_rows(PureLoss(0.1, rho=0.01, times=3), 2) == PureLoss(0.2, rho=0.04, times=3)


def test_one_row_is_what_it_was():
    card = BayesCloaking(epsilon=1.0, delta=1e-5).guarantee
    assert budget_of_one_row(1.0, 1e-5, 1) == card.budget
    assert for_rows(card, 1, card.budget) is card
    assert card.hidden == "any one row"


@pytest.mark.parametrize("protects", ["outputs", "inputs and outputs"])
def test_the_card_states_the_number_of_rows(protects):
    one = budget_of_one_row(1.0, 1e-5, 5)
    card = BayesCloaking(epsilon=one.epsilon, delta=one.delta, protects=protects).guarantee
    budget = Budget(epsilon=1.0, delta=1e-5)
    found = for_rows(card, 5, budget)
    assert found.proven_epsilon <= 1.0
    assert (found.rows, found.budget, found.hidden) == (5, budget, "up to 5 rows of any one person")
    assert found.proven_epsilon == pytest.approx(1.0, rel=1e-7)
    assert "at most 5 rows of one person" in found.neighbours
    assert ("inputs and n fixed" in found.neighbours) == (protects == "outputs")
    assert "theorem 2.14" in found.theorem
    assert OTHER_ROWS not in found.not_covered
    assert any("more than 5 rows" in each for each in found.not_covered)
    assert found.assumptions[0] == "nobody has more than 5 rows"


def test_bins_rest_on_the_pure_formula():
    card = IntegralBinning(bins=4, kernel_variance=1.0, lengthscale=(1.0,), white_noise=0.1, epsilon=0.2).guarantee
    assert "Dwork & Roth 2014, theorem 2.2" in for_rows(card, 5, Budget(epsilon=1.0, delta=0.0)).theorem


def test_ledger_composes_exactly():
    ledger = Ledger()
    assert ledger.epsilon(0.01) == 0
    ledger.spend([("a", promise(0.3)), ("b", promise(0.4))])
    ledger.spend([("c", promise(1.2))])
    assert ledger.epsilon(0.01) == pytest.approx(epsilon_of(1 / 1.3, 0.01))  # 0.3^2 + 0.4^2 + 1.2^2 = 1.3^2
    assert ledger.epsilon(1e-3) == pytest.approx(epsilon_of(1 / 1.3, 1e-3))
    assert [what for what, _ in ledger.entries] == ["a", "b", "c"]


@pytest.mark.parametrize("more", [1e-4, 1e-8])
def test_the_limit_is_enforced_up_to_rounding(more):
    ledger = Ledger(limit=Budget(epsilon=1, delta=0.01))
    with pytest.raises(BudgetExceeded):
        ledger.spend([("a little more than all", promise(1 / noise_multiplier(1 + more, 0.01)))])
    ledger.spend([("all", promise(1 / noise_multiplier(1, 0.01)))])
    with pytest.raises(BudgetExceeded, match=r"Nothing is left: no further release from this table is possible$"):
        ledger.spend([("hardly anything", promise(0.02 / noise_multiplier(1, 0.01)))])


def test_limit_refuses_and_records_nothing():
    ledger = Ledger(limit=Budget(epsilon=1, delta=0.01))
    part = promise(1 / noise_multiplier(0.8, 0.01))
    ledger.spend([("first", part)])
    with pytest.raises(BudgetExceeded) as refusal:
        ledger.spend([("tiny", promise(1e-6)), ("second", part)])
    assert [what for what, _ in ledger.entries] == ["first"]
    sentence = str(refusal.value)
    assert "above the declared 1. 0.8 is spent" in sentence
    assert f"Use epsilon = {rounded_down(ledger.epsilon_left()).normalize():f} or less" in sentence
    total = epsilon_of(noise_multiplier(0.8, 0.01) / math.sqrt(2), 0.01)
    assert f"would bring the total to epsilon = {rounded_up(total).normalize():f} at delta = 0.01" in sentence


def test_the_rest_can_be_spent_exactly():
    ledger = Ledger(limit=Budget(epsilon=1, delta=0.01))
    ledger.spend([("first", promise(1 / noise_multiplier(0.8, 0.01)))])
    rest = promise(1 / noise_multiplier(ledger.epsilon_left(), 0.01))
    ledger.spend([("rest", rest)])
    assert ledger.epsilon(0.01) == pytest.approx(1)
    assert ledger.epsilon_left() < 1e-3
    assert Ledger().epsilon_left() == math.inf


def test_generators_of_guarantees_are_counted_once():
    ledger = Ledger(limit=Budget(epsilon=5, delta=0.01))
    ledger.spend((str(i), promise(0.1)) for i in range(3))
    assert len(ledger.entries) == 3


def test_protections_of_inputs_never_mix_by_accident():
    both = promise(0.3, protects="inputs and outputs")
    for first, second in ((both, promise(0.3)), (promise(0.3), both)):
        ledger = Ledger()
        ledger.spend([("first", first)])
        with pytest.raises(
            MixedProtection, match=r"ends the protection of inputs\. Nothing was released\. Use a mechanism"
        ):
            ledger.spend([("second", second)])
        assert [what for what, _ in ledger.entries] == ["first"]
        ledger.inputs_public = True
        ledger.spend([("second", second)])
        assert len(ledger.entries) == 2
