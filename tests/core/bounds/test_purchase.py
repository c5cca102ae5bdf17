"""What buying bounds costs: two parts that are exactly the whole, and a rule that depends on public numbers alone."""

import math

import pytest

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.accounting.guarantee import OTHER_ROWS
from dpgp_core.bounds.buying import Purchase, with_bounds_bought
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import CATALOGUE, BayesCloaking
from dpgp_core.mechanisms.catalogue import Parameters
from dpgp_core.table import Outcome

ASKED = {"epsilon": 1.0, "delta": 1e-5, "unit": 1.0, "outcome": Outcome(name="wage", bounds=(-1e300, 1e300))}


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 8.0, 90.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-5, 1e-3])
@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
def test_both_parts_are_exactly_the_whole(epsilon, delta, share):
    purchase = Purchase(**ASKED | {"epsilon": epsilon, "delta": delta, "share": share})
    whole = 1 / noise_multiplier(epsilon, delta)
    rest = 1 / noise_multiplier(purchase.rest.epsilon, delta)
    assert math.hypot(1 / purchase.multiplier, rest) == pytest.approx(whole, rel=1e-9)
    assert 1 / purchase.multiplier**2 == pytest.approx(share * whole**2, rel=1e-12)
    assert purchase.rest.delta == delta
    assert purchase.rest.epsilon < epsilon


def test_noise_is_for_the_root_of_two_in_integers():
    for people in (False, True):
        purchase = Purchase(**ASKED, people=people)
        counts = purchase.counts
        step = 2.0**20 if people else 1.0
        assert counts.noise.sensitivity >= math.sqrt(2) * 2**20 * step
        assert counts.noise.sensitivity <= (math.sqrt(2) * 2**20 + 1) * step
        assert counts.noise_sd == pytest.approx(math.sqrt(2) * purchase.multiplier, rel=1e-5)


@pytest.mark.parametrize("share", [0.0, -1.0, 0.009, 0.51, float("nan")])
def test_a_share_out_of_range_is_refused(share):
    with pytest.raises(ValueError, match="share of the budget for bounds must lie in"):
        Purchase(**ASKED, share=share)


def test_a_budget_too_small_to_split_is_refused():
    with pytest.raises(ValueError, match="too small at delta"):
        Purchase(**ASKED | {"epsilon": 0.001, "delta": 0.1})


def test_too_few_people_are_told_how_many_are_needed():
    purchase = Purchase(**ASKED)
    least = purchase.least
    purchase.check(least)
    with pytest.raises(
        ValueError, match=f"bounds of {least - 1} people are not to be had .* {least} people are needed"
    ):
        purchase.check(least - 1)


def test_the_counts_are_promised_to_rows_or_to_people():
    purchase = Purchase(**ASKED)
    card = purchase.guarantee("one person's weight")
    assert card.loss.mu == pytest.approx(1 / purchase.multiplier)
    assert card.unit == "one person's weight"
    assert OTHER_ROWS in card.not_covered
    people = Purchase(**ASKED, people=True).guarantee("one person's weight")
    assert "all rows of one person" in people.neighbours
    assert OTHER_ROWS not in people.not_covered


@pytest.mark.parametrize("protects", ["outputs", "inputs and outputs"])
def test_the_whole_says_where_its_bounds_are_from(protects):
    card = with_bounds_bought(BayesCloaking(epsilon=1.0, delta=1e-5, protects=protects).guarantee)
    assert card.theorem.startswith("noisy counts of outcomes")
    said = "; ".join(card.assumptions)
    assert "bounds that follow from noisy counts" in said
    assert "bounds declared without looking" not in said
    assert "outputs to bounds" not in said
    assert ("inputs are clipped to a box declared" in said) == (protects == "inputs and outputs")


def test_every_mechanism_that_may_follow_has_gaussian_noise():
    parameters = Parameters(
        kernel=EQ(lengthscale=1.0), noise_variance=0.3, epsilon=1.0, delta=1e-5, x_box=((0.0, 1.0),), cells=4
    )
    for entry in CATALOGUE.values():
        if entry.released and entry.kind.automatic:
            assert entry.build(parameters).guarantee.loss.mu == pytest.approx(1 / noise_multiplier(1.0, 1e-5))
