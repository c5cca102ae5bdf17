"""Integers of records, in blocks, and choices that are drawn exactly."""

import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2

from dpgp_core.linalg import FactoredMatrix
from dpgp_core.measurement import integers as blocks
from dpgp_core.measurement.discrete import exponential_mechanism, permute_and_flip
from dpgp_core.measurement.integers import (
    EXACT,
    GRID,
    exact_product,
    output_integers,
    strategy_integers,
)
from dpgp_core.selection.exponential import permute_and_flip_probabilities, selection_probabilities

BOUNDS = [(-1.0, 3.0), (1e9, 1e9 + 2), (-1e-9, 1e-9), (0.0, 1e15), (0.0, 5e-324), (-8e307, 8e307)]


def longest(integers, norm):
    """The largest column norm, squared if L2, in integers of Python."""
    columns = integers.T.tolist()
    return max(sum(map(abs, column)) if norm == "L1" else sum(b * b for b in column) for column in columns)


def columns_of(kind, r, n, norm):
    rng = np.random.default_rng(7)
    B = {
        "gaussian": lambda: rng.standard_normal((r, n)),
        "equal": lambda: np.ones((r, n)),
        "signs": lambda: rng.choice([-1.0, 1.0], (r, n)),
        "one": lambda: np.eye(r)[:, np.arange(n) % r],
        "decaying": lambda: np.exp(-np.arange(r))[:, None] * rng.standard_normal((r, n)),
        "nearly one": lambda: np.eye(r)[:, np.arange(n) % r] + 1e-7 * rng.standard_normal((r, n)),
    }[kind]()
    return B / np.linalg.norm(B, ord=1 if norm == "L1" else 2, axis=0)


@pytest.mark.parametrize("norm", ["L1", "L2"])
@pytest.mark.parametrize("kind", ["gaussian", "equal", "signs", "one", "decaying", "nearly one"])
@pytest.mark.parametrize(("r", "n"), [(1, 5), (3, 40), (200, 40)])
def test_unit_columns_stay_short_in_integers(norm, kind, r, n):
    B = columns_of(kind, r, n, norm)
    integers = strategy_integers(B, norm)
    limit = GRID if norm == "L1" else GRID**2
    assert longest(integers, norm) <= limit
    # shrunk by less than r (L1) or sqrt(r) (L2) steps, the last digit of the norm aside
    lost = r if norm == "L1" else r**0.5
    shortest = np.linalg.norm(integers.astype(float), ord=1 if norm == "L1" else 2, axis=0).min()
    assert shortest >= GRID - lost - 0.01
    assert np.abs(integers - B * GRID).max() <= 1.01


@pytest.mark.parametrize("norm", ["L1", "L2"])
@pytest.mark.parametrize("excess", [1e-9, 1e-7, 9e-7])
def test_a_hair_too_long_is_shrunk(norm, excess):
    B = columns_of("gaussian", 50, 20, norm) * (1 + excess)
    assert longest(strategy_integers(B, norm), norm) <= (GRID if norm == "L1" else GRID**2)


@pytest.mark.parametrize("norm", ["L1", "L2"])
@pytest.mark.parametrize("factor", [1 + 2e-6, 1.1, 1e200, 1e307])
def test_more_than_a_hair_is_refused_by_number(norm, factor):
    B = 0.5 * columns_of("equal", 3, 4, norm)
    B[:, 2] *= 2 * factor
    with pytest.raises(ValueError, match=f"column 2 of the strategy has {norm} norm"):
        strategy_integers(B, norm)


@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_locations_are_exact_to_half_a_step(low, high):
    """Against rational arithmetic, for values inside, at the ends and far outside."""
    rng = np.random.default_rng(3)
    y = np.concatenate([low + (high - low) * rng.uniform(size=50), [low, high, low - 1, high + 1, -np.inf, np.inf]])
    lows, highs = np.full(len(y), low), np.full(len(y), high)
    places = output_integers(y, lows, highs)
    for value, place in zip(y, places.tolist(), strict=True):
        inside = Fraction(min(max(value, low), high))
        q = (inside - Fraction(low)) / (Fraction(high) - Fraction(low)) - Fraction(1, 2)
        assert abs(place - q * GRID) <= Fraction(1, 2) + Fraction(1, 1000)
    assert places[-6:].tolist() == [-GRID // 2, GRID // 2] * 3


def test_outputs_have_their_own_intervals():
    places = output_integers(np.array([0.0, 0.0, 5.0]), np.array([-1.0, -3.0, 0.0]), np.array([1.0, 1.0, 4.0]))
    assert places.tolist() == [0, GRID // 4, GRID // 2]


@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_one_output_moves_at_most_2_to_40(low, high):
    """Every record, every pair of extremes and of values between, in integers; the largest change is reached."""
    rng = np.random.default_rng(11)
    n = 5
    B = rng.standard_normal((3, n))
    B /= np.linalg.norm(B, axis=0)
    B[:, 0] = [0.0, -1.0, 0.0]
    integers = strategy_integers(B).astype(np.int64)
    ends = np.full(n, low), np.full(n, high)
    values = [-np.inf, np.nextafter(low, -np.inf), low, low / 2 + high / 2, high, high + 1, np.inf]
    rest = low + (high - low) * rng.uniform(size=n)
    largest = 0
    for j, one, other in product(range(n), values, values):
        moved = []
        for value in (one, other):
            y = rest.copy()
            y[j] = value
            moved.append(exact_product(integers, output_integers(y, *ends)))
        squared = sum((a - b) ** 2 for a, b in zip(*moved, strict=True))
        assert squared <= GRID**4
        largest = max(largest, squared)
    assert largest == GRID**4  # by record 0, whose column has norm 1 exactly


@pytest.mark.parametrize("n", [EXACT, EXACT + 3, 1 << 25])
def test_the_largest_products_are_exact_for_any_n(n):
    """2^25 2^39 does not fit 64 bits; arrays of one number repeated take no memory."""
    B = np.broadcast_to(np.array([[GRID], [-GRID]]), (2, n))
    q = np.broadcast_to(np.array(GRID // 2), n)
    assert exact_product(B, q) == [n << 39, -n << 39]


@pytest.fixture
def case():
    rng = np.random.default_rng(4)
    B = rng.normal(size=(3, 50))
    B /= np.linalg.norm(B, axis=0)
    low = rng.uniform(-2, -1, 50)
    return B, rng.uniform(0, 1, 50), rng.normal(size=50), low, low + rng.uniform(0.1, 3, 50)


def test_sums_equal_those_of_fractions(case, monkeypatch):
    B, widths, y, low, high = case
    integers, places = strategy_integers(B * widths), output_integers(y, low, high)
    expected = [sum(Fraction(int(b)) * int(q) for b, q in zip(row, places, strict=True)) for row in integers]
    assert blocks.exact_sums(B, widths, y, low, high) == expected
    assert expected == exact_product(integers.astype(np.int64), places)
    monkeypatch.setattr(blocks, "_NUMBERS", 21)  # seven columns at a time
    assert len(blocks.blocks_of(B)) == 8
    assert blocks.exact_sums(B, widths, y, low, high) == expected


def test_factored_products_are_measured_as_arrays(case):
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
def test_huge_scores_are_compared_as_integers(mechanism):
    """2^70 and 2^70 + 1 are the same float, and 10^30 apart is never chosen."""
    scores = [2**70, 2**70 + 1, 2**70 - 10**30]
    assert {mechanism(scores, Fraction(100)) for _ in range(50)} == {1}


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_numpy_integers_do_not_overflow(mechanism):
    assert mechanism(np.array([-(2**63), 2**63 - 1]), Fraction(1)) == 1


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_scores_must_be_integers(mechanism):
    with pytest.raises(TypeError, match="round them to a public grid"):
        mechanism([1, 2.5], Fraction(1))
