from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpgp_core.measurement.integers import (
    EXACT,
    GRID,
    check_intervals,
    exact_product,
    place_integers,
    strategy_integers,
)

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
def test_columns_of_norm_one_are_not_longer_in_integers(norm, kind, r, n):
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


def test_integers_of_a_strategy_on_the_grid_are_its_own():
    integers = strategy_integers(columns_of("gaussian", 30, 50, "L2"))
    assert (strategy_integers(integers / GRID) == integers).all()


@pytest.mark.parametrize("bad", [np.ones(3), np.ones((0, 3)), np.array([[np.nan]]), np.array([[np.inf]])])
def test_a_strategy_that_is_no_matrix_is_refused(bad):
    with pytest.raises(ValueError, match="finite matrix"):
        strategy_integers(bad)


@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_places_are_exact_to_half_a_step(low, high):
    """Against rational arithmetic, for values inside, at the ends and far outside."""
    rng = np.random.default_rng(3)
    y = np.concatenate([low + (high - low) * rng.uniform(size=50), [low, high, low - 1, high + 1, -np.inf, np.inf]])
    lows, highs = np.full(len(y), low), np.full(len(y), high)
    places = place_integers(y, lows, highs)
    for value, place in zip(y, places.tolist(), strict=True):
        inside = Fraction(min(max(value, low), high))
        q = (inside - Fraction(low)) / (Fraction(high) - Fraction(low)) - Fraction(1, 2)
        assert abs(place - q * GRID) <= Fraction(1, 2) + Fraction(1, 1000)
    assert places[-6:].tolist() == [-GRID // 2, GRID // 2] * 3


def test_places_have_their_own_intervals():
    places = place_integers(np.array([0.0, 0.0, 5.0]), np.array([-1.0, -3.0, 0.0]), np.array([1.0, 1.0, 4.0]))
    assert places.tolist() == [0, GRID // 4, GRID // 2]


def test_places_refuse_nan_and_other_shapes():
    with pytest.raises(ValueError, match="NaN"):
        place_integers(np.array([np.nan]), np.zeros(1), np.ones(1))
    with pytest.raises(ValueError, match="shape"):
        place_integers(np.zeros(2), np.zeros(1), np.ones(1))


@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_one_output_moves_the_product_by_two_to_the_forty_at_most(low, high):
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
            moved.append(exact_product(integers, place_integers(y, *ends)))
        squared = sum((a - b) ** 2 for a, b in zip(*moved, strict=True))
        assert squared <= GRID**4
        largest = max(largest, squared)
    assert largest == GRID**4  # by record 0, whose column has norm 1 exactly


def test_products_are_those_of_rational_numbers():
    rng = np.random.default_rng(2)
    B = rng.integers(-GRID, GRID, (4, 60), endpoint=True)
    q = rng.integers(-GRID // 2, GRID // 2, 60, endpoint=True)
    expected = [sum(b * p for b, p in zip(row, q.tolist(), strict=True)) for row in B.tolist()]
    assert exact_product(B, q) == expected


@pytest.mark.parametrize("n", [EXACT, EXACT + 3, 1 << 25])
def test_the_largest_products_are_exact_for_any_n(n):
    """2^25 2^39 does not fit 64 bits; arrays of one number repeated take no memory."""
    B = np.broadcast_to(np.array([[GRID], [-GRID]]), (2, n))
    q = np.broadcast_to(np.array(GRID // 2), n)
    assert exact_product(B, q) == [n << 39, -n << 39]


@pytest.mark.parametrize(
    ("low", "high", "bounds", "message"),
    [
        ([0.0, 1.0], [1.0, 1.0], (0.0, 2.0), r"interval 1 \[1.0, 1.0\] must have a width above zero"),
        ([0.0, 1.5], [1.0, 1.0], (0.0, 2.0), "width above zero"),
        ([0.0, -0.1], [1.0, 1.0], (0.0, 2.0), r"interval 1 \[-0.1, 1.0\] must lie inside the declared bounds"),
        ([0.0, 0.5], [1.0, 2.1], (0.0, 2.0), "must lie inside"),
        ([0.0, np.nan], [1.0, 1.0], (0.0, 2.0), "must lie inside"),
        ([0.0], [1.0], (0.0, 2.0), r"shape \(2,\)"),
        ([0.0, 0.0], [1.0, 1.0], (1.0, 1.0), "low < high"),
        ([0.0, 0.0], [1.0, 1.0], (-np.inf, np.inf), "finite"),
        ([0.0, 0.0], [1.0, 1.0], (-1.7e308, 1.7e308), "a finite number apart"),
    ],
)
def test_bad_intervals_are_refused(low, high, bounds, message):
    with pytest.raises(ValueError, match=message):
        check_intervals(np.array(low), np.array(high), bounds, 2)
