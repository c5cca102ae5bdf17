"""What excursion sets and their search refuse, and in which words."""

import math

import numpy as np
import pytest

from dpgp_core.excursion.search import SearchSpace, minimise
from dpgp_core.excursion.sets import Targets, effective_dimension
from tests.core.excursion.test_search import FINE, bowl, price_of_each
from tests.refusals import told

PARTS = {"X": np.zeros((2, 3, 1)), "y": np.zeros((2, 3)), "grid": np.zeros((4, 1)), "truth": np.ones((2, 4), bool)}
REFUSALS = [
    *told(
        lambda changes: Targets(**PARTS | changes),
        [
            ({"X": np.zeros((2, 3))}, r"X must be \(T, n, D\) and grid \(P, D\)"),
            ({"grid": np.zeros((4, 2))}, r"X must be \(T, n, D\) and grid \(P, D\)"),
            ({"y": np.zeros((2, 4))}, r"y must have shape \(2, 3\)"),
            ({"truth": np.ones((1, 4), bool)}, r"truth must have shape \(2, 4\)"),
        ],
    ),
    (lambda: effective_dimension(np.eye(2), 0.0), "ridge must be a finite number above 0, got 0"),
    *told(
        lambda ranges: SearchSpace(**ranges),
        [
            ({"r": (0.0, 1.0, 3)}, "low end of r must be a finite number above 0"),
            ({"scale": (2.0, 1.0, 3)}, "scale must run from low to a finite high, got 2.0 to 1.0"),
            ({"lengthscale": (1.0, math.inf, 3)}, "lengthscale must run from low to a finite high"),
            ({"r": (1.0, 2.0, 0)}, "number of points of r must be a finite number above 0"),
        ],
    ),
    (
        lambda: minimise(bowl, price_of_each, (0.01,), FINE, 1),
        "no setting searched keeps epsilon <= 0.01; allow a larger r or scale",
    ),
    (
        lambda: minimise(bowl, lambda lengthscale, r, scale: np.asarray(np.nan), (math.inf,), FINE, 1),
        "no setting searched",
    ),
]


@pytest.mark.parametrize(("call", "words"), REFUSALS)
def test_bad_input_is_refused_with_these_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()
