import numpy as np

from dpgp_core.strategies.strategy import Strategy


def test_the_rank_is_the_number_of_rows():
    assert Strategy(B=np.zeros((3, 7)), risk=1.0, bound=0.9, gap=0.1, iterations=5).rank == 3
