from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

from dpgp_core.accounting.gaussian import epsilon_of
from dpgp_core.accounting.losses import ApproximateLoss, GaussianLoss, PureLoss, compose


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
def test_total_of_mixed_losses_is_valid_against_the_exact_pair(mu, pure, delta):
    epsilon = compose([GaussianLoss(mu), PureLoss(pure)], delta)
    assert hockey_stick(epsilon, mu, pure) <= delta
    assert epsilon <= epsilon_of(1 / mu, delta) + pure + 1e-12


def test_gaussian_losses_compose_exactly():
    assert compose([GaussianLoss(0.3), GaussianLoss(0.4)], 0.01) == pytest.approx(epsilon_of(2.0, 0.01))
    assert GaussianLoss(0.3).repeated(4) == GaussianLoss(0.6)


def test_many_small_pure_losses_beat_the_plain_sum():
    many = [PureLoss(0.01)] * 500
    assert compose(many, 1e-5) < 2.0 < 500 * 0.01
    assert compose(many, 1e-5) == pytest.approx(PureLoss(0.01).repeated(500).epsilon(1e-5))


def test_nothing_spent_is_zero():
    assert compose([], 0.01) == 0


def test_approximate_losses_take_their_epsilons_and_deltas_off_the_top():
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
