from __future__ import annotations

import pytest

from dpgp_core.accounting.posterior_paths import (
    posterior_sampling_epsilon,
    posterior_sampling_r,
    posterior_sampling_sigma,
)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 40.0])
def test_smallest_ridge_and_scale_spend_the_budget_exactly(epsilon):
    r = posterior_sampling_r(epsilon, 100, 0.2, 0.1, 1e-4, L=3)
    spent = posterior_sampling_epsilon(100, r, 0.2, 0.1, 1e-4, L=3)
    assert epsilon * (1 - 1e-6) <= spent <= epsilon
    sigma = posterior_sampling_sigma(epsilon, 100, 1.5 * r, 0.1, 1e-4, L=3)
    spent = posterior_sampling_epsilon(100, 1.5 * r, sigma, 0.1, 1e-4, L=3)
    assert epsilon * (1 - 1e-6) <= spent <= epsilon
    assert sigma < 0.2


def test_a_scale_that_cannot_exist_is_refused_with_the_remedy():
    with pytest.raises(
        ValueError, match=r"no scale s reaches epsilon = 1 at r = 0.5: the covariance alone leaks .* larger r"
    ):
        posterior_sampling_sigma(1.0, 10, 0.5, 0.3, 0.01)
