"""What accounting refuses, and in which words."""

import math

import numpy as np
import pytest

from dpgp_core.accounting.gaussian import epsilon_of, noise_multiplier
from dpgp_core.accounting.guarantee import Budget, budget_of_one_row, loss_of_rows
from dpgp_core.accounting.ledger import Ledger
from dpgp_core.accounting.losses import ORDERS, ApproximateLoss, GaussianLoss, PureLoss, rdp_epsilon
from dpgp_core.accounting.posterior_paths import PosteriorLoss, posterior_sampling_epsilon
from dpgp_core.accounting.tradeoff import (
    attacker_success,
    budget_tradeoff,
    chance_beyond,
    gaussian_tradeoff,
    laplace_tradeoff,
    mean_beliefs,
    pure_beliefs,
)
from tests.core.accounting.promises import promise
from tests.core.accounting.test_tradeoff import RATES
from tests.refusals import each, told

PATHS = {"n": 10, "r": 1.0, "sigma": 1.0, "kappa": 0.5}
SETTINGS = [
    ({"n": 0}, "n must be a number of records, at least 1; got 0"),
    ({"r": 0.0}, "r must be a finite number above 0; larger is more private; got 0"),
    ({"sigma": -1.0}, "sigma must be above 0; inf leaves only what the covariance leaks; got -1"),
    ({"kappa": 1.5}, r"kappa must be in \[0, 1\]: the least kernel value; got 1.5"),
    ({"L": 0}, "L must be a number of paths, at least 1; got 0"),
    ({"eta": math.nan}, "eta must be a finite number, at least 0; got nan"),
    ({"sensitivity": "2-D"}, "sensitivity must be one of generic, exponential_1d, exponential_1d_min, got '2-D'"),
]
DELTA, DELTAS = "delta must lie strictly between 0 and 1, got {}", [0, 1, -0.1, 2, math.nan]
MU, MUS = "mu must be a finite number above 0, got {}", [0.0, -1.0, math.inf, math.nan]
REFUSALS = [
    # gaussian
    *each(
        lambda epsilon: noise_multiplier(epsilon, 0.01, "hall"),
        r"epsilon must be <= 1 for Hall's formula, got .*method='analytic'",
        [1.0001, 2, 50],
    ),
    *each(
        lambda epsilon: noise_multiplier(epsilon, 0.01),
        "epsilon must be a finite number above 0, got {}",
        [0, -1, math.inf, math.nan],
    ),
    (lambda: noise_multiplier(1.0, 0.01, "renyi"), "method must be 'analytic' or 'hall', got 'renyi'"),
    *each(
        lambda multiplier: epsilon_of(multiplier, 0.01),
        "noise_multiplier must be a finite number above 0, got {}",
        [0, -1, math.inf, math.nan],
    ),
    *each(lambda delta: noise_multiplier(1.0, delta), DELTA, DELTAS),
    *each(lambda delta: epsilon_of(1.0, delta), DELTA, DELTAS),
    # ledger
    *told(
        lambda epsilon, delta: Budget(epsilon=epsilon, delta=delta),
        [
            (0.0, 0.01, "epsilon must be a finite number above 0, got 0.0"),
            (math.nan, 0.01, "epsilon must be a finite number above 0, got nan"),
            (1.0, 1.0, "delta must lie strictly between 0 and 1, got 1.0"),
        ],
    ),
    *each(lambda releases: promise(0.3).repeated(releases), "releases must be at least 1, got {}", [0, -1]),
    (lambda: loss_of_rows(ApproximateLoss(1.0, 1e-6), 2), "no formula for several rows"),
    (lambda: budget_of_one_row(0.05, 1e-5, 1000), "keep fewer rows of everybody"),
    (
        lambda: Ledger(limit=Budget(epsilon=0.1, delta=0.01)).spend([("too much", promise(1.0))]),
        r"nothing was released\. Use epsilon = 0\.1 or less",
    ),
    # losses
    *each(
        lambda make: make(),
        "must be a finite number above 0",
        [lambda: GaussianLoss(0), lambda: PureLoss(-1.0), lambda: PureLoss(1.0, rho=0.0)],
    ),
    *each(lambda delta: rdp_epsilon(ORDERS, delta), "delta must lie strictly between 0 and 1", [0.0, 1.0, -0.1]),
    # posterior loss
    *told(lambda changes: PosteriorLoss(**PATHS | changes), SETTINGS),
    *told(lambda changes: posterior_sampling_epsilon(**PATHS | changes, delta=0.01), SETTINGS),
    (
        lambda: posterior_sampling_epsilon(**PATHS, delta=0.01, M=0.0),
        "M must be a finite number above 0: the bound on outputs; got 0",
    ),
    (
        lambda: posterior_sampling_epsilon(10, 1.0, 1.0, 0.5, np.array([0.1, 1.0])),
        r"delta must be in \[1e-30, 1\): 1 would guarantee nothing; got 1",
    ),
    (
        lambda: posterior_sampling_epsilon(10, 1.0, 1.0, 0.5, 0.1, bound="code"),
        "bound must be 'proven' or 'published', got 'code'",
    ),
    # tradeoff
    *each(lambda mu: attacker_success(0.5, mu), MU, MUS),
    *each(lambda mu: gaussian_tradeoff(np.array(0.5), mu), MU, MUS),
    *each(
        lambda prior: attacker_success(prior, 1.0),
        "prior must lie strictly between 0 and 1, got {}",
        [0.0, 1.0, -0.5, math.nan],
    ),
    (lambda: budget_tradeoff(RATES, -1.0, 0.1), r"epsilon must be a finite number above 0, got -1.0"),
    (lambda: budget_tradeoff(RATES, 1.0, 1.5), r"delta must lie strictly between 0 and 1, got 1.5"),
    (lambda: laplace_tradeoff(RATES, -1), "epsilon must be a finite number above 0, got -1"),
    (lambda: pure_beliefs(0.0, 1.0), "prior must lie strictly between 0 and 1, got 0.0"),
    (lambda: pure_beliefs(0.5, -1.0), "epsilon must be a finite number above 0"),
    (lambda: mean_beliefs(0.5, 1.0, lambda a: 1 - a), "share must lie strictly between 0 and 1, got 1.0"),
    (lambda: chance_beyond(-1.0, 1.0), "epsilon must be finite and not negative, got -1.0"),
    (lambda: chance_beyond(1.0, 0.0), "mu must be a finite number above 0"),
]


@pytest.mark.parametrize(("call", "words"), REFUSALS)
def test_bad_input_is_refused_with_these_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()
