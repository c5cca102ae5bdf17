from __future__ import annotations

import numpy as np
import pytest

from dpgp_core.accounting.gaussian import epsilon_of
from dpgp_core.accounting.losses import ORDERS, rdp_epsilon


@pytest.mark.parametrize("mu", [0.05, 0.5, 2.0, 8.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-5, 0.01])
def test_conversion_of_a_gaussian_curve_is_above_the_exact_value_and_near_it(mu, delta):
    converted, exact = rdp_epsilon(ORDERS * mu**2 / 2, delta), epsilon_of(1 / mu, delta)
    assert exact <= converted <= 1.25 * exact + 0.05


def test_conversion_is_the_minimum_over_a_finer_grid():
    # the grid costs less than 0.1 % against a grid of 20,000 orders
    fine = 1 + np.geomspace(1e-3, 1e5, 20_000)
    assert rdp_epsilon(ORDERS * 0.5, 1e-5) == pytest.approx(rdp_epsilon(fine * 0.5, 1e-5, fine), rel=1e-3)


def test_conversion_beats_the_classic_one():
    classic = (ORDERS * 0.5 + np.log(1e5) / (ORDERS - 1)).min()
    assert rdp_epsilon(ORDERS * 0.5, 1e-5) < classic


def test_infinite_orders_are_skipped_and_nothing_is_negative():
    assert rdp_epsilon(np.where(ORDERS < 3, ORDERS * 0.1, np.inf), 0.01) > 0
    assert rdp_epsilon(np.zeros_like(ORDERS), 0.5) == 0


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1])
def test_bad_delta(delta):
    with pytest.raises(ValueError, match="delta must lie strictly between 0 and 1"):
        rdp_epsilon(ORDERS, delta)
