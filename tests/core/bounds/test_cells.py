"""Cells of round numbers: every outcome of any size has one, and ends are exact."""

import numpy as np
import pytest

from dpgp_core.bounds.cells import RoundCells, sides_of

SIDES = ("both signs", "0 or more", "above 0")


@pytest.mark.parametrize(("sides", "count"), [*zip(SIDES, (97, 49, 48), strict=True)])
@pytest.mark.parametrize("unit", [1e-18, 1e-9, 0.01, 1.0, 1000.0])
def test_ends_grow_and_are_round(sides, count, unit):
    cells = RoundCells(unit=unit, sides=sides)
    assert cells.count == count
    assert (np.diff(cells.ends) > 0).all()
    assert cells.ends[-1] == pytest.approx(unit * 1e12, rel=1e-15)
    assert cells.interval(0, count - 1) == (cells.ends[0], cells.ends[-1])


def test_ends_are_the_nearest_numbers_to_what_is_written():
    ends = RoundCells(unit=0.01, sides="0 or more").ends
    assert ends[:8].tolist() == [0, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3]


@pytest.mark.parametrize("sides", SIDES)
def test_an_outcome_lies_in_its_cell(sides):
    rng = np.random.default_rng(0)
    cells = RoundCells(unit=0.01, sides=sides)
    sizes = np.concatenate([10 ** rng.uniform(-2, 10, 500), cells.ends[cells.ends > 0], [0.0]])
    y = sizes if sides != "both signs" else np.concatenate([sizes, -sizes])
    found = cells.of(y)
    low, high = cells.ends[found], cells.ends[found + 1]
    inside = (low <= y) & (y <= high)
    assert (inside | (y <= 0.01)).all()
    assert ((y != high) | (np.abs(y) <= 0.01) | (y > 0)).all()  # the larger size of a cell belongs to it
    assert cells.of(np.array([100.0])) == cells.of(np.array([70.0]))


def test_both_signs_are_mirrored():
    cells = RoundCells(unit=1.0)
    y = np.array([0.0, 0.4, 1.0, 1.5, 2.0, 7.0, 1e11, 1e30])
    np.testing.assert_array_equal(cells.of(-y), cells.count - 1 - cells.of(y))


def test_what_is_beyond_goes_to_the_last_cell_and_what_is_small_to_the_first():
    both, positive, logs = (RoundCells(unit=1.0, sides=sides) for sides in SIDES)
    far = np.array([1e13, 1e300, -1e13, -1e300])
    assert both.of(far).tolist() == [96, 96, 0, 0]
    assert positive.of(far).tolist() == [48, 48, 0, 0]
    assert logs.of(far).tolist() == [47, 47, 0, 0]
    small = np.array([0.0, 1e-300, 0.5, 1.0])
    assert set(both.of(small).tolist()) == {48}
    assert set(positive.of(small).tolist()) == {0} == set(logs.of(small).tolist())
    assert logs.interval(0, 0) == (1.0, 2.0)
    assert positive.interval(20, 30)[0] == 0


@pytest.mark.parametrize("unit", [0.0, -1.0, float("nan"), float("inf"), 1e-19, 1e4])
def test_a_unit_that_is_none_is_refused_with_its_value(unit):
    with pytest.raises(ValueError, match="unit of bounds must be a number from"):
        RoundCells(unit=unit)


def test_nan_is_no_outcome():
    with pytest.raises(ValueError, match="NaN"):
        RoundCells(unit=1.0).of(np.array([1.0, np.nan]))


def test_the_kind_says_which_outcomes_there_may_be():
    assert [sides_of(kind) for kind in ("number", "amount", "count")] == ["both signs", "0 or more", "0 or more"]
    assert sides_of("amount", log=True) == "above 0"


@pytest.mark.parametrize(
    ("sides", "first", "last", "ends"),
    [
        ("both signs", 1, 95, False),
        ("both signs", 0, 95, True),
        ("both signs", 1, 96, True),
        ("0 or more", 0, 47, False),
        ("0 or more", 0, 48, True),
        ("above 0", 0, 46, False),  # small ones do not matter, as declared
        ("above 0", 0, 47, True),
    ],
)
def test_only_the_cells_of_the_largest_outcomes_are_ends_of_the_scale(sides, first, last, ends):
    assert RoundCells(unit=1.0, sides=sides).reaches_end(first, last) is ends
