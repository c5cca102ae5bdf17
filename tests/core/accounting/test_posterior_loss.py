from __future__ import annotations

import math

import numpy as np
import pytest

from dpgp_core.accounting import posterior_sensitivity as sensitivities
from dpgp_core.accounting.losses import GaussianLoss, compose
from dpgp_core.accounting.posterior_paths import PosteriorLoss

ONE = "exponential_1d"


def test_loss_recomputes_epsilon_and_composes_with_itself():
    loss = PosteriorLoss(n=10, r=1.0, sigma=2.0, kappa=math.exp(-1), sensitivity=ONE)
    assert f"{loss.epsilon(0.05):.2f}" == "5.15"
    assert f"{loss.repeated(10).epsilon(0.05):.1f}" == "18.5"
    assert loss.repeated(2).repeated(3) == loss.repeated(6)


def test_curve_is_infinite_from_the_last_order_on():
    loss = PosteriorLoss(n=10, r=2.0, sigma=2.0, kappa=0.3)
    last = 1 + 4.0 / sensitivities.core_variance(10, 2.0, 0.3)
    rdp = loss.rdp(np.array([1.001, last - 1e-6, last, last + 1, 1e5]))
    assert np.isfinite(rdp[:2]).all()
    assert (rdp[2:] == np.inf).all()
    np.testing.assert_allclose(loss.repeated(3).rdp(np.array([1.5, 2.0])), 3 * loss.rdp(np.array([1.5, 2.0])))


def test_ledger_adds_posterior_paths_to_gaussian_releases():
    loss = PosteriorLoss(n=50, r=3.0, sigma=1.0, kappa=0.2, eta=0.1)
    together = compose([loss, GaussianLoss(0.5)], 1e-4)
    assert max(loss.epsilon(1e-4), GaussianLoss(0.5).epsilon(1e-4)) < together
    assert together < loss.epsilon(5e-5) + GaussianLoss(0.5).epsilon(5e-5) + 0.05
    assert compose([loss], 1e-4) == loss.epsilon(1e-4)
    assert compose([loss, loss], 1e-4) == pytest.approx(loss.repeated(2).epsilon(1e-4), rel=1e-3)
