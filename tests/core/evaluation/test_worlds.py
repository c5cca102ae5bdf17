from functools import cache

import numpy as np
import pytest

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.evaluation.limits import limits, reached
from dpgp_core.kernels import EQ

X = np.linspace(0, 1, 40)[:, None]
BOX = ((0.0, 1.0),)
KERNEL, NOISE, HALF = EQ(variance=1 / 3, lengthscale=0.2), 0.05, 1.0


@cache
def simulated(epsilon, worlds=30, seed=3, half_range=HALF):
    budget = {"epsilon": epsilon, "delta": 0.01}
    return reached(KERNEL, NOISE, X, X, **budget, x_box=BOX, half_range=half_range, worlds=worlds, seed=seed)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_no_limit_is_passed_that_holds_for_all(epsilon):
    found, mu = simulated(epsilon), 1 / noise_multiplier(epsilon, 0.01)
    least = limits(KERNEL, NOISE, X, X, mu=mu, output_range=2 * HALF)
    assert found.rmse - 5 * found.standard_error > least.any
    assert found.rmse < np.sqrt(KERNEL.variance)


def test_with_next_to_no_noise_and_wide_bounds_the_posterior_mean_is_reached():
    found = simulated(200.0, worlds=60, half_range=3.0)
    least = limits(KERNEL, NOISE, X, X, mu=1.0, output_range=2 * HALF).without_privacy
    assert found.rmse == pytest.approx(least, rel=0.25)


def test_the_error_falls_with_the_budget():
    errors = [simulated(epsilon).rmse for epsilon in (0.2, 0.5, 2.0)]
    assert errors == sorted(errors, reverse=True)


@pytest.mark.full
def test_two_standard_errors_hold_the_mean_of_many_worlds():
    """Of 100 simulations of 40 worlds each, nearly all are within two standard errors of what they all estimate.

    With the right standard error each is with probability .9 or more (squares of few worlds are skewed). The spread of
    100 is known to 7 %.
    """
    each = [simulated(1.0, worlds=40, seed=100 + seed) for seed in range(100)]
    mean = np.sqrt(np.mean([found.rmse**2 for found in each]))
    inside = [abs(found.rmse - mean) <= 2 * found.standard_error for found in each]
    assert np.mean(inside) >= 0.8
    spread = np.std([found.rmse for found in each], ddof=1)
    assert np.mean([found.standard_error for found in each]) == pytest.approx(spread, rel=0.3)


def test_one_world_has_no_standard_error():
    with pytest.raises(ValueError, match="worlds must be at least 2"):
        simulated(1.0, worlds=1)
