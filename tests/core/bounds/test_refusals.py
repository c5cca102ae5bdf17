"""What buying bounds refuses, and in which words."""

import numpy as np
import pytest

from dpgp_core import buy_bounds
from dpgp_core.bounds.buying import Purchase
from dpgp_core.bounds.cells import RoundCells
from tests.core.bounds.test_buying import ASKED, BUDGET, table
from tests.refusals import each

REFUSALS = [
    # buying
    (lambda: buy_bounds(table(y=np.ones(400), y_kind="yes/no", y_bounds=(0.0, 1.0)), 1.0, **BUDGET), "nothing to buy"),
    (lambda: buy_bounds(table(y_bounds=(-9.0, 0.0)), 0.01, **BUDGET, log=True), "y_bounds must lie above 0"),
    *each(
        lambda share: Purchase(**ASKED, share=share),
        "share of the budget for bounds must lie in",
        [0.0, -1.0, 0.009, 0.51, float("nan")],
    ),
    (lambda: Purchase(**ASKED | {"epsilon": 0.001, "delta": 0.1}), "too small at delta"),
    # cells
    *each(
        lambda unit: RoundCells(unit=unit),
        "unit of bounds must be a number from",
        [0.0, -1.0, float("nan"), float("inf"), 1e-19, 1e4],
    ),
    (lambda: RoundCells(unit=1.0).of(np.array([1.0, np.nan])), "NaN"),
]


@pytest.mark.parametrize(("call", "words"), REFUSALS)
def test_bad_input_is_refused_with_these_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()
