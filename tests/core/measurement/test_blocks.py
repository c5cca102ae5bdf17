from fractions import Fraction

import numpy as np
import pytest

from dpgp_core.linalg import FactoredMatrix
from dpgp_core.measurement import integers as blocks
from dpgp_core.measurement.integers import GRID, exact_product, place_integers, strategy_integers


@pytest.fixture
def case():
    rng = np.random.default_rng(4)
    B = rng.normal(size=(3, 50))
    B /= np.linalg.norm(B, axis=0)
    low = rng.uniform(-2, -1, 50)
    return B, rng.uniform(0, 1, 50), rng.normal(size=50), low, low + rng.uniform(0.1, 3, 50)


def test_the_sums_are_those_of_one_block_and_of_fractions(case, monkeypatch):
    B, widths, y, low, high = case
    integers, places = strategy_integers(B * widths), place_integers(y, low, high)
    expected = [sum(Fraction(int(b)) * int(q) for b, q in zip(row, places, strict=True)) for row in integers]
    assert blocks.exact_sums(B, widths, y, low, high) == expected
    assert expected == exact_product(integers.astype(np.int64), places)
    monkeypatch.setattr(blocks, "_NUMBERS", 21)  # seven columns at a time
    assert len(blocks.blocks_of(B)) == 8
    assert blocks.exact_sums(B, widths, y, low, high) == expected


def test_a_product_of_factors_is_measured_as_the_array_it_is(case):
    _B, widths, y, low, high = case
    rows = np.random.default_rng(5).normal(size=(50, 3))
    left = np.eye(3) / np.linalg.norm(rows, axis=1).max()
    factored = FactoredMatrix(left, rows)
    sums = [blocks.exact_sums(each, widths, y, low, high) for each in (factored, left @ rows.T)]
    # the two products may round another way: one step of the strategy for every record, times half a place, at most
    assert max(abs(a - b) for a, b in zip(*sums, strict=True)) <= 50 * GRID / 2


def test_a_column_that_is_too_long_is_refused(case):
    B, _widths, y, low, high = case
    with pytest.raises(ValueError, match="above 1: one record would move the measurement further"):
        blocks.exact_sums(2 * B, np.ones(50), y, low, high)
