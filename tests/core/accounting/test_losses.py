from __future__ import annotations

import math

import numpy as np
import pytest

from dpgp_core.accounting.losses import ORDERS, GaussianLoss, PureLoss, compose


def test_one_pure_loss_is_its_epsilon_even_without_delta():
    assert PureLoss(0.7).epsilon(0.0) == 0.7
    assert compose([PureLoss(0.7)], 1e-9) == pytest.approx(0.7)


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


@pytest.mark.parametrize("make", [lambda: GaussianLoss(0), lambda: PureLoss(-1.0), lambda: PureLoss(1.0, rho=0.0)])
def test_bad_parameters(make):
    with pytest.raises(ValueError, match="must be a finite number above 0"):
        make()
