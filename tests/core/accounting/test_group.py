"""Noise for k rows of one person: what is promised to all of them, from what is spent on one."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.accounting.guarantee import OTHER_ROWS, Budget, budget_of_one_row, for_rows, loss_of_rows
from dpgp_core.accounting.losses import ApproximateLoss, GaussianLoss, PureLoss
from dpgp_core.mechanisms import BayesCloaking, IntegralBinning


@pytest.mark.parametrize("rows", [2, 3, 10, 1000])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.01), (1.0, 1e-5), (5.0, 1e-9), (100.0, 1e-12)])
def test_noise_for_k_rows_is_k_times_that_for_one(epsilon, delta, rows):
    one = budget_of_one_row(epsilon, delta, rows)
    found = noise_multiplier(one.epsilon, one.delta)
    assert found == pytest.approx(rows * noise_multiplier(epsilon, delta), rel=1e-8)
    assert loss_of_rows(GaussianLoss(1 / found), rows).epsilon(delta) <= epsilon


def test_the_promise_to_k_rows_is_the_test_of_two_normals_k_steps_apart():
    """By the definition, not by the formula: the worst event of N(0, 1) against N(k mu, 1)."""
    epsilon, delta, rows = 1.0, 1e-3, 4
    one = budget_of_one_row(epsilon, delta, rows)
    shift = rows / noise_multiplier(one.epsilon, one.delta)
    cuts = np.linspace(-10, 10, 200_001)
    worst = (norm.sf(cuts - shift) - math.exp(epsilon) * norm.sf(cuts)).max()
    assert worst == pytest.approx(delta, rel=1e-6)


def test_a_pure_promise_is_shared_out_evenly():
    assert budget_of_one_row(1.0, 0.0, 8) == Budget(epsilon=0.125, delta=0.0)
    assert loss_of_rows(PureLoss(0.125), 8) == PureLoss(1.0)
    assert loss_of_rows(PureLoss(0.1, rho=0.01, times=3), 2) == PureLoss(0.2, rho=0.04, times=3)


def test_one_row_is_what_it_was():
    card = BayesCloaking(epsilon=1.0, delta=1e-5).guarantee
    assert budget_of_one_row(1.0, 1e-5, 1) == card.budget
    assert for_rows(card, 1, card.budget) is card
    assert card.hidden == "any one row"


@pytest.mark.parametrize("protects", ["outputs", "inputs and outputs"])
def test_the_card_says_how_many_rows_and_that_more_are_hidden_less(protects):
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


def test_what_has_no_formula_is_refused_and_so_is_next_to_no_budget():
    with pytest.raises(ValueError, match="no formula for several rows"):
        loss_of_rows(ApproximateLoss(1.0, 1e-6), 2)
    with pytest.raises(ValueError, match="keep fewer rows of everybody"):
        budget_of_one_row(0.05, 1e-5, 1000)
