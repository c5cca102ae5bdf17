"""The bound on epsilon that an attack proves: false alarms are as rare as stated, and both directions count."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpgp_core.accounting.gaussian import epsilon_of
from dpgp_core.attack.audit import epsilon_lower_bound


@pytest.mark.full
def test_false_alarms_are_rare_as_stated():
    # Gaussian with mu = 1 at delta 0.05; promise 20 %, conservative. Binomial(400, .2): 120 has probability 1e-6
    truth, rng = epsilon_of(1.0, 0.05), np.random.default_rng(6)
    found = [epsilon_lower_bound(rng.normal(1, 1, 2_000), rng.normal(0, 1, 2_000), 0.05, 0.8) for _ in range(400)]
    assert np.mean(np.array(found) > truth) <= 0.3
    assert np.median(found) > 0.6 * truth


@pytest.mark.full
@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("size", [40, 400])
def test_identical_data_sets_are_seldom_distinguished(confidence, size):
    """The truth is epsilon 0, and any bound above it a false alarm: fails by chance once in 10^6 runs, seeds fixed."""
    rng, runs = np.random.default_rng(14), 1000
    alarms = sum(
        epsilon_lower_bound(rng.normal(size=size), rng.normal(size=size), 0.0, confidence) > 0 for _ in range(runs)
    )
    assert alarms <= binom.isf(1e-6, runs, 1 - confidence)


def test_perfect_scores_reach_the_trials_limit():
    # 5,000 of 5,000 against 0: log((tail^(1/n)) / (1 - tail^(1/n)))
    edge = (0.025) ** (1 / 5_000)
    found = epsilon_lower_bound(np.ones(10_000), np.zeros(10_000), 0.0, 0.95)
    assert found == pytest.approx(math.log(edge / (1 - edge)), rel=1e-9)
    assert epsilon_lower_bound(np.zeros(100), np.zeros(100), 0.01, 0.95) == 0


def test_either_direction_counts():
    # "out" scores are sometimes certain: only P_out(A) <= e^epsilon P_in(A) + delta is violated, below a threshold
    rng = np.random.default_rng(8)
    inside, outside = rng.random(20_000), rng.random(20_000) - 0.2
    forward = epsilon_lower_bound(inside, outside, 0.05, 0.95)
    backward = epsilon_lower_bound(-outside, -inside, 0.05, 0.95)
    assert min(forward, backward) > 4
    assert forward == pytest.approx(backward, rel=0.2)
