"""What private choices refuse, and in which words."""

import numpy as np
import pytest

from dpgp_core.kernels import EQ
from dpgp_core.selection.exponential import (
    permute_and_flip_probabilities,
    selection_guarantee,
    selection_probabilities,
    selection_table,
)
from dpgp_core.selection.hyperparameters import (
    Candidate,
    choose_by_evidence,
    choose_liu_talwar,
    private_mean,
)
from dpgp_core.selection.scores import difference_sensitivity, published_sensitivity, sse_sensitivity
from tests.core.selection.test_exponential import MADE_UP
from tests.core.selection.test_hyperparameters import CANDIDATES, sparse, wave
from tests.core.selection.test_scores import plan_of
from tests.refusals import each, told

RNG = np.random.default_rng(1)
PLAN, OTHER = (plan_of([[1, -1], [-1, 1]], tuple(np.array([k]) for k in order)) for order in ((0, 1), (1, 0)))
KINDS = "mechanism must be 'exponential' or 'permute_and_flip', got 'best'"
REFUSALS = [
    # exponential
    *(
        row
        for probabilities in (selection_probabilities, permute_and_flip_probabilities)
        for row in told(
            probabilities,
            [
                (np.zeros(2), 0.0, 1.0, "sensitivity"),
                (np.zeros(2), 1.0, -1.0, "epsilon"),
                (np.array([0.0, np.nan]), 1.0, 1.0, "finite"),
                (np.zeros((2, 2)), 1.0, 1.0, "vector"),
                (np.zeros(0), 1.0, 1.0, "non-empty"),
            ],
        )
    ),
    (lambda: selection_guarantee(0.0), "epsilon must be"),
    (lambda: selection_guarantee(1.0, mechanism="best"), KINDS),
    (lambda: selection_table(MADE_UP, 1.0, [1.0], 0.01, mechanism="best"), KINDS),
    (lambda: selection_table(MADE_UP, 1.0, [2.0], 0.01, "hall"), "Hall's formula"),
    # scores
    (lambda: difference_sensitivity([PLAN], 1.0), "at least 2 candidates, got 1"),
    (lambda: sse_sensitivity([], 1.0), "at least 1 candidates, got 0"),
    (lambda: sse_sensitivity([PLAN, OTHER], 1.0), "on the same folds"),
    (lambda: published_sensitivity([PLAN], -1.0), "d must be"),
    # hyperparameters
    *each(
        lambda choose: choose(sparse(1.0), [], wave(10), RNG),
        "there are no candidates",
        [choose_by_evidence, choose_liu_talwar],
    ),
    (
        lambda: choose_liu_talwar(sparse(1.0), CANDIDATES, wave(10), RNG, gamma=0.0),
        "gamma must lie strictly between 0 and 1, got 0",
    ),
    (lambda: choose_by_evidence(sparse(1.0, variant="paper"), CANDIDATES, wave(10), RNG), "use variant='whitened'"),
    (lambda: choose_liu_talwar(sparse(1.0), CANDIDATES, wave(1), RNG), "needs at least 2 records, got 1"),
    (lambda: Candidate(kernel=EQ(), noise_variance=0), "noise_variance must be a finite number above 0, got 0"),
    # means
    *told(
        lambda values, radius, rho: private_mean(values, 0.0, radius, rho, RNG),
        [
            (np.zeros(3), 1.0, 0.0, "rho must be a finite number above 0"),
            (np.zeros(3), 0.0, 1.0, "radius must be a finite number above 0"),
            (np.zeros(0), 1.0, 1.0, "there are no values to take the mean of"),
        ],
    ),
]


@pytest.mark.parametrize(("call", "words"), REFUSALS)
def test_bad_input_is_refused_with_these_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()
