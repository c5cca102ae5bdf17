"""What private choices refuse, and in which words."""

import numpy as np
import pytest

from dpgp_core.selection.exponential import (
    permute_and_flip_probabilities,
    selection_guarantee,
    selection_probabilities,
    selection_table,
)
from dpgp_core.selection.scores import difference_sensitivity, published_sensitivity, sse_sensitivity
from tests.core.selection.test_exponential import MADE_UP
from tests.core.selection.test_scores import plan_of
from tests.refusals import told

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
]


@pytest.mark.parametrize(("call", "words"), REFUSALS)
def test_bad_input_is_refused_with_these_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()
