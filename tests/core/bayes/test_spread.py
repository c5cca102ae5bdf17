import numpy as np
import pytest

from dpgp_core.bayes.spread import reach_of, split
from dpgp_core.data import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_shares_are_of_one_budget(kind):
    spent = [s for s in split(1.7, kind) if s is not None]
    assert sum(1 / s**2 for s in spent) == pytest.approx(1 / 1.7**2, rel=1e-14)
    assert len(spent) == {"number": 2, "amount": 3, "count": 3, "yes/no": 1}[kind]


def test_reach_is_two_standard_deviations_within_the_range():
    assert reach_of(np.array([0.25, 9.0]), 3.0).tolist() == [1.0, 3.0]
