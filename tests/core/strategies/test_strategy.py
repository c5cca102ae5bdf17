from dataclasses import replace

import numpy as np

from dpgp_core.strategies.strategy import Strategy


def test_the_rank_is_the_number_of_rows():
    assert Strategy(B=np.zeros((3, 7)), risk=1.0, bound=0.9, gap=0.1, iterations=5).rank == 3


def test_what_is_avoidable_is_a_share_of_the_whole_risk():
    strategy = Strategy(B=np.zeros((1, 2)), risk=2.0, bound=1.9, gap=0.5, iterations=1)
    np.testing.assert_allclose(strategy.avoidable, 0.05)
    assert replace(strategy, bound=2.1).avoidable == 0.0
    assert replace(strategy, risk=0.0, bound=0.0).avoidable == 0.0
