"""What evaluation refuses, and in which words."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from dpgp_core.bayes.model import Model
from dpgp_core.evaluation.by_hand import clip_error, local_sums, mean_of_clipped
from dpgp_core.evaluation.comparison import with_epsilon
from dpgp_core.evaluation.cross_validation import k_folds
from dpgp_core.evaluation.errors import coverage, interval_score
from dpgp_core.evaluation.limits import least_error, limits
from dpgp_core.evaluation.peers import BinnedMeans, held_out
from dpgp_core.gp.regression import posterior_of_sums
from dpgp_core.kernels import EQ
from tests.core.evaluation.test_limits import GRID, KERNEL, NOISE, ONE, T, X, simulated
from tests.core.evaluation.toys import CLOAKING, FOLDS, TOY
from tests.refusals import each, told

REFUSALS = [
    # cross validation
    *each(lambda folds: k_folds(10, folds), "between 2 and the number of records 10", [1, 11]),
    (lambda: with_epsilon(CLOAKING, -1), "epsilon must be a finite number above 0, got -1"),
    # errors
    *each(
        lambda level: coverage(np.zeros(1), np.ones(1), np.zeros(1), level),
        "level must lie strictly between 0 and 1, got {}",
        [0.0, 1.0, -0.1, 1.5, math.nan],
    ),
    (lambda: interval_score(ONE, ONE, ONE, 1), "level must lie strictly between 0 and 1, got 1"),
    (lambda: mean_of_clipped(norm.sf, 2.0, 1.0), "low must be below high, got low = 2 and high = 1"),
    (lambda: clip_error(norm.sf, 0.0, 0.0, 1.0, n=10, noise_multiplier=0.0), "noise_multiplier must be"),
    (lambda: clip_error(norm.sf, 0.0, 0.0, 1.0, n=0, noise_multiplier=1.0), "n must be"),
    # limits
    *told(
        lambda change: limits(EQ(lengthscale=1.0), 0.1, ONE, ONE, **{"mu": 1.0, "output_range": 1.0, **change}),
        [({"mu": 0.0}, "mu"), ({"output_range": -1.0}, "output_range")],
    ),
    (lambda: least_error([Model(kernel=KERNEL, noise_variance=NOISE)], X, np.zeros((3, 2))), "column"),
    (lambda: local_sums(X, GRID, 0.0), "width must be"),
    (lambda: local_sums(X, np.array([[1e6]]), 0.1), "no record is near any of the 1 places"),
    (lambda: posterior_of_sums(KERNEL, X, GRID, NOISE, np.eye(3), T), "B must have 40 columns"),
    (lambda: posterior_of_sums(KERNEL, X, GRID, NOISE, np.eye(40), 0.0), "t must be"),
    (lambda: simulated(1.0, worlds=1), "data_sets must be at least 2"),
    # peers
    (lambda: held_out(BinnedMeans(2), TOY, FOLDS, 1.0, 0, 1), "draws must be"),
]


@pytest.mark.parametrize(("call", "words"), REFUSALS)
def test_bad_input_is_refused_with_these_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()
