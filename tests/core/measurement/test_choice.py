import math
import random
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from dpgp_core.measurement.discrete import exponential_mechanism, permute_and_flip
from dpgp_core.selection.exponential import permute_and_flip_probabilities, selection_probabilities

SCORES = [0, -3, 5, 4, -40, 5]
MECHANISMS = {exponential_mechanism: selection_probabilities, permute_and_flip: permute_and_flip_probabilities}


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_frequencies_are_the_exact_probabilities(mechanism, epsilon):
    """Seeded; p-value above 1e-6."""
    bits, draws, sensitivity = random.Random(0).getrandbits, 8000, 2
    chosen = [mechanism(SCORES, Fraction(epsilon) / (2 * sensitivity), bits) for _ in range(draws)]
    expected = MECHANISMS[mechanism](np.array(SCORES, dtype=float), sensitivity, epsilon) * draws
    observed = np.bincount(chosen, minlength=len(SCORES))
    often = expected >= 5
    assert observed[~often].sum() <= 5
    statistic = ((observed - expected)[often] ** 2 / expected[often]).sum()
    assert chi2.sf(statistic, often.sum() - 1) > 1e-6


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_twice_the_sensitivity_halves_the_log_odds(mechanism):
    """Two candidates one apart: odds of the exponential mechanism exp(rate); seeded, five standard deviations."""
    bits, draws = random.Random(1).getrandbits, 8000
    better = sum(mechanism([0, 1], Fraction(1, 2), bits) for _ in range(draws)) / draws
    p = math.exp(-0.5)
    expected = 1 / (1 + p) if mechanism is exponential_mechanism else 1 - p / 2
    assert better == pytest.approx(expected, abs=5 * math.sqrt(0.25 / draws))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_huge_scores_are_compared_as_integers(mechanism):
    """2^70 and 2^70 + 1 are the same float, and 10^30 apart is never chosen."""
    scores = [2**70, 2**70 + 1, 2**70 - 10**30]
    assert {mechanism(scores, Fraction(100)) for _ in range(50)} == {1}


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_numpy_integers_do_not_overflow(mechanism):
    assert mechanism(np.array([-(2**63), 2**63 - 1]), Fraction(1)) == 1


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_bad_arguments_are_refused(mechanism):
    with pytest.raises(ValueError, match="at least one candidate"):
        mechanism([], Fraction(1))
    with pytest.raises(ValueError, match="rate must be at least 0"):
        mechanism([1], Fraction(-1))
    with pytest.raises(TypeError, match="round them to a public grid"):
        mechanism([1, 2.5], Fraction(1))
