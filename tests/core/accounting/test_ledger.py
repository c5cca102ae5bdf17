import math

import pytest

from dpgp_core.accounting.gaussian import epsilon_of, noise_multiplier, rounded_down, rounded_up
from dpgp_core.accounting.guarantee import Budget
from dpgp_core.accounting.ledger import BudgetExceeded, Ledger, MixedProtection
from tests.core.accounting.promises import promise


def test_empty_ledger_has_spent_nothing():
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


@pytest.mark.parametrize("more", [1e-4, 1e-8])
def test_no_more_than_the_limit_is_allowed_but_for_the_rounding_of_sums(more):
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


def test_releases_that_protect_inputs_and_those_that_do_not_never_mix_by_accident():
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
