"""Losses of every kind: Renyi curves, how losses compose, and promises that are only ever rounded up."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
from scipy.special import ndtr

from dpgp_core.accounting.gaussian import epsilon_of, rounded_down, rounded_up
from dpgp_core.accounting.losses import (
    ORDERS,
    ApproximateLoss,
    GaussianLoss,
    PureLoss,
    compose,
    rdp_epsilon,
)


def test_randomised_response_curve_lies_below_the_bound():
    p = math.exp(0.8) / (1 + math.exp(0.8))
    orders = ORDERS[ORDERS < 200]
    exact = np.log(p**orders * (1 - p) ** (1 - orders) + (1 - p) ** orders * p ** (1 - orders)) / (orders - 1)
    assert (exact <= PureLoss(0.8).rdp(orders) + 1e-12).all()


def test_exponential_mechanism_curve_lies_below_its_zcdp_bound():
    # utilities moving by +-Delta over two candidates, worst starting point searched: D_alpha <= alpha eps^2 / 8
    epsilon, orders = 1.3, np.array([1.1, 2.0, 5.0, 20.0])
    for base in np.linspace(-6, 6, 241):
        p = 1 / (1 + np.exp(-base))
        q = 1 / (1 + np.exp(-(base + epsilon)))
        renyi = np.log(p**orders * q ** (1 - orders) + (1 - p) ** orders * (1 - q) ** (1 - orders)) / (orders - 1)
        assert (renyi <= PureLoss(epsilon, rho=epsilon**2 / 8).rdp(orders) + 1e-12).all()


def hockey_stick(epsilon: float, mu: float, pure: float) -> float:
    """Exact delta of N(0,1)/N(mu,1) released together with a coin of odds exp(+-pure): sum over the coin."""
    heads = math.exp(pure) / (1 + math.exp(pure))
    total = 0.0
    for p, q in ((heads, 1 - heads), (1 - heads, heads)):
        # (p N(mu,1) - e^eps q N(0,1))^+ is positive above t = mu/2 + (eps + log q/p) / mu
        t = mu / 2 + (epsilon + math.log(q / p)) / mu
        total += p * ndtr(mu - t) - math.exp(epsilon) * q * ndtr(-t)
    return total


@pytest.mark.parametrize("mu", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("pure", [0.05, 0.5, 2.0])
@pytest.mark.parametrize("delta", [1e-6, 0.01])
def test_mixed_totals_are_valid_for_exact_pairs(mu, pure, delta):
    epsilon = compose([GaussianLoss(mu), PureLoss(pure)], delta)
    assert hockey_stick(epsilon, mu, pure) <= delta
    assert epsilon <= epsilon_of(1 / mu, delta) + pure + 1e-12


def test_gaussian_losses_compose_exactly():
    assert compose([GaussianLoss(0.3), GaussianLoss(0.4)], 0.01) == pytest.approx(epsilon_of(2.0, 0.01))
    assert GaussianLoss(0.3).repeated(4) == GaussianLoss(0.6)


def test_many_small_pure_losses_beat_the_plain_sum():
    many = [PureLoss(0.01)] * 500
    assert compose(many[:1], 1e-9) == pytest.approx(PureLoss(0.01).epsilon(0.0)) == 0.01
    assert compose(many, 1e-5) < 2.0 < 500 * 0.01
    assert compose(many, 1e-5) == pytest.approx(PureLoss(0.01).repeated(500).epsilon(1e-5))


def test_approximate_losses_add_epsilons_and_deltas():
    loss, gaussian = ApproximateLoss(0.5, 1e-5), GaussianLoss(0.2)
    assert loss.epsilon(1e-5) == 0.5
    assert loss.epsilon(0.9e-5) == math.inf
    assert np.isinf(loss.rdp(np.array([2.0]))).all()
    assert compose([loss.repeated(3)], 3e-5) == pytest.approx(1.5)
    assert compose([loss, gaussian], 4e-5) == pytest.approx(0.5 + gaussian.epsilon(3e-5))
    assert compose([loss, loss], 2e-5) == pytest.approx(1.0)
    assert compose([loss, gaussian], 1e-5) == math.inf
    assert compose([loss, loss], 1e-5) == math.inf
    with pytest.raises(ValueError, match="delta must lie strictly between 0 and 1, got 0"):
        ApproximateLoss(0.5, 0.0)


@pytest.mark.parametrize("mu", [0.05, 0.5, 2.0, 8.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-5, 0.01])
def test_converted_gaussian_curves_are_slightly_conservative(mu, delta):
    converted, exact = rdp_epsilon(ORDERS * mu**2 / 2, delta), epsilon_of(1 / mu, delta)
    assert exact <= converted <= 1.25 * exact + 0.05


def test_conversion_is_the_minimum_over_a_finer_grid():
    # the grid costs less than 0.1 % against a grid of 20,000 orders
    fine = 1 + np.geomspace(1e-3, 1e5, 20_000)
    assert rdp_epsilon(ORDERS * 0.5, 1e-5) == pytest.approx(rdp_epsilon(fine * 0.5, 1e-5, fine), rel=1e-3)


def test_infinite_orders_are_skipped_and_nothing_is_negative():
    assert rdp_epsilon(np.where(ORDERS < 3, ORDERS * 0.1, np.inf), 0.01) > 0
    assert rdp_epsilon(np.zeros_like(ORDERS), 0.5) == 0


@pytest.mark.parametrize(
    ("value", "up", "down"),
    [
        (1.0, "1.00", "1.00"),
        (1.0001, "1.01", "1.00"),  # just above a step: to nearest it would be 1.00
        (1.4849, "1.49", "1.48"),
        (9.991, "10.00", "9.99"),
        (0.0123001, "0.0124", "0.0123"),
        (152.01, "153", "152"),
        (0.0, "0", "0"),
        # what a root-finder leaves over is no step
        (1 + 1e-12, "1.00", "1.00"),
        (1 - 1e-12, "1.00", "1.00"),
        (math.inf, "Infinity", "Infinity"),
    ],
)
def test_bounds_are_rounded_to_their_own_side(value, up, down):
    assert (rounded_up(value), rounded_down(value)) == (Decimal(up), Decimal(down))


@pytest.mark.parametrize("value", [0.1234567, 2.718281828, 1e-7, 99.95001, 442_413.4])
@pytest.mark.parametrize("digits", [1, 2, 3, 6])
def test_stated_bounds_are_valid(value, digits):
    assert float(rounded_up(value, digits)) >= value >= float(rounded_down(value, digits))
    assert float(rounded_up(value, digits)) <= value * (1 + 10 ** (1 - digits)) * (1 + 1e-12)
