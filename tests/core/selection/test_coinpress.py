import math

import numpy as np
import pytest

from dpgp_core.selection.repeated import CoinPress


class Recorded:
    """A generator whose noise is always ``value``."""

    def __init__(self, value):
        self.value = value

    def standard_normal(self, shape):
        return np.full(shape, self.value)


def test_mean_of_wide_bounds_is_found():
    rng = np.random.default_rng(1)
    values = 700 + rng.standard_normal(2000)
    found = [CoinPress(rho=0.5).mean(values, 0.0, 1000.0, rng) for _ in range(200)]
    one_step = [CoinPress(rho=0.5, steps=1).mean(values, 0.0, 1000.0, rng) for _ in range(200)]
    assert np.std(found) < 0.02 < np.std(one_step)
    assert np.mean(found) == pytest.approx(values.mean(), abs=6 * 0.02 / math.sqrt(200))


def test_one_number_moves_a_step_by_at_most_its_noise_allows():
    values = np.zeros(50)
    low, high = values.copy(), values.copy()
    low[0], high[0] = -1e9, 1e9
    press = CoinPress(rho=0.3, steps=1)
    moved = press.mean(high, 0.0, 2.0, Recorded(0.0)) - press.mean(low, 0.0, 2.0, Recorded(0.0))
    noise_sd = press.mean(values, 0.0, 2.0, Recorded(1.0))
    # Gaussian mechanism: shift^2 / (2 sd^2) = rho
    assert (moved / noise_sd) ** 2 / 2 == pytest.approx(0.3)


def test_shares_add_up_and_the_last_gets_three_quarters():
    press = CoinPress(rho=2.0)
    assert len(press.shares) == 12
    assert sum(press.shares) == pytest.approx(2.0)
    assert press.shares[-1] == pytest.approx(1.5)
    assert press.loss.rdp(np.array([3.0]))[0] == pytest.approx(6.0)  # rho alpha


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"rho": 0.0}, "rho must be a finite number above 0"),
        ({"steps": 0}, "steps must be at least 1, got 0"),
        ({"last_share": 1.0}, "last_share must lie strictly between 0 and 1, got 1.0"),
        ({"beta": 0.0}, "beta must lie strictly between 0 and 1, got 0.0"),
    ],
)
def test_bad_parameters_are_refused(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        CoinPress(**{"rho": 1.0, **changes})


def test_no_values_are_refused():
    with pytest.raises(ValueError, match="there are no values to take the mean of"):
        CoinPress(rho=1.0).mean(np.zeros(0), 0.0, 1.0, np.random.default_rng(1))
