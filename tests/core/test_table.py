"""A table, its levels, and the checks of what is declared."""

import math
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from dpgp_core.checks import check_interval, check_positive
from dpgp_core.levels import LevelSide, check_codes, groups_of, levels_by_column, number_sides, side_of
from tests.core.tables import table


def test_public_constants_come_from_the_declared_bounds(make_dataset):
    data = make_dataset(y_bounds=(10.0, 30.0), y=np.full(12, 11.0))
    assert (data.n, data.dim, data.midpoint, data.output_range) == (12, 1, 20.0, 20.0)


def test_outputs_are_clipped_centred_then_scaled(make_dataset):
    data = make_dataset(y=np.array([-5.0, -1.0, 0.0, 1.0, 3.0, 9.0] * 2))  # bounds (-1, 3), scale 2
    np.testing.assert_array_equal(data.clipped_y[:6], [-1, -1, 0, 1, 3, 3])
    np.testing.assert_array_equal(data.standardised()[:6], [-1, -1, -0.5, 0, 1, 1])
    assert data.clipped_count == 4


def test_raw_outputs_are_kept(make_dataset):
    y = np.linspace(-9, 9, 12)
    np.testing.assert_array_equal(make_dataset(y=y).y, y)


def test_in_data_units_undoes_standardised(make_dataset):
    data = make_dataset()
    np.testing.assert_allclose(data.in_data_units(data.standardised()), data.clipped_y, rtol=1e-15)


def test_one_record_moves_only_itself(make_dataset):
    before = make_dataset()
    y = before.y.copy()
    y[3] = 100.0
    after = make_dataset(y=y)
    assert np.flatnonzero(after.standardised() != before.standardised()).tolist() in ([], [3])
    assert after.midpoint == before.midpoint


def test_dataset_is_frozen(make_dataset):
    with pytest.raises(FrozenInstanceError):
        make_dataset().y_scale = 3.0


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"y": np.zeros(11)}, r"y must have shape \(12,\) to match X, got \(11,\)"),
        ({"X": np.zeros(12)}, r"X must have shape \(n, D\) with n >= 1 and D >= 1, got \(12,\)"),
        ({"X": np.zeros((0, 1))}, r"X must have shape .* got \(0, 1\)"),
        ({"X": np.zeros((12, 0))}, r"X must have shape .* got \(12, 0\)"),
        ({"columns": ()}, "columns must have 1 entries, one per column of X, got 0"),
        ({"x_units": ()}, "x_units must have 1 entries, one per column of x, got 0"),
        ({"x_box": ()}, "x_box must have 1 entries, one per column of x, got 0"),
        ({"y": np.full(12, np.nan)}, "X and y must be finite; remove or fill missing values"),
        ({"X": np.full((12, 1), np.inf)}, "X and y must be finite; remove or fill missing values"),
        ({"y_bounds": (3.0, -1.0)}, r"y_bounds must be \(low, high\) .* swap or widen them"),
        ({"y_bounds": (1.0, 1.0)}, r"y_bounds must be \(low, high\) .* swap or widen them"),
        ({"y_bounds": (0.0, np.inf)}, r"y_bounds must be two finite numbers, got \(0.0, inf\)"),
        ({"x_box": ((5.0, 2.0),)}, r"x_box of x must be \(low, high\)"),
        ({"y_scale": 0.0}, "y_scale must be a positive number, got 0.0"),
        ({"y_scale": -1.0}, "y_scale must be a positive number, got -1.0"),
        ({"y_scale": np.nan}, "y_scale must be a positive number, got nan"),
    ],
)
def test_bad_values_are_named(make_dataset, changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        make_dataset(**changes)


SEX = ("women", "men")
REGIONS = ("north", "south", "other")


def dataset(**changes):
    """Six records of age and sex."""
    age, sex = np.linspace(5.0, 55.0, 6), np.array([0.0, 1.0] * 3)
    given = {
        "name": "groups",
        "X": np.stack([age, sex], axis=1),
        "y": np.linspace(100.0, 180.0, 6),
        "x_names": ("age", "sex"),
        "x_units": ("years", ""),
        "x_box": ((0.0, 60.0),),
        "x_levels": (None, SEX),
        "y_bounds": (40.0, 200.0),
    }
    return table(**{**given, **changes})


def test_the_side_of_a_category_is_derived():
    data = dataset()
    assert data.x_box == ((0.0, 60.0), (-0.5, 1.5))
    assert isinstance(data.x_box[1], LevelSide)
    assert data.x_box[1].levels == 2
    assert number_sides(data.x_box) == ((0.0, 60.0),)
    assert groups_of(data.x_box) == 2


def test_copies_keep_their_levels():
    data = dataset()
    for copy in (replace(data, y=data.y + 1), data.public_part(), data.subset(np.array([1, 2]))):
        assert copy.x_levels == (None, SEX)
        assert isinstance(copy.x_box[1], LevelSide)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"x_levels": (None, ("women",))}, "2 ... 20 levels"),
        ({"x_levels": (None, tuple(map(str, range(21))))}, "2 ... 20 levels"),
        ({"x_levels": (None, ("men", "men"))}, "more than once"),
        ({"x_levels": (None, ("men", ""))}, "empty"),
        ({"x_levels": (SEX, SEX), "x_box": ()}, "at least one must be a number"),
        ({"x_levels": (None,)}, "x_levels must have 2 entries"),
        ({"x_box": ((0.0, 60.0), (0.0, 1.0))}, "is derived"),
        ({"x_box": (None, None)}, "x_box has no entry for 'age', which is a number"),
        ({"x_box": ()}, "one per column of x that is a number"),
        ({"X": np.stack([np.linspace(5.0, 55.0, 6), np.full(6, 0.5)], axis=1)}, "whole numbers 0 ... 1"),
        ({"X": np.stack([np.linspace(5.0, 55.0, 6), np.full(6, 2.0)], axis=1)}, "whole numbers 0 ... 1"),
        ({"X": np.stack([np.linspace(5.0, 55.0, 6), np.full(6, -1.0)], axis=1)}, "whole numbers 0 ... 1"),
    ],
)
def test_what_is_no_category_is_refused(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        dataset(**changes)


def test_a_category_beside_a_derived_side_is_taken():
    assert dataset(x_box=((0.0, 60.0), (-0.5, 1.5))).x_box == dataset().x_box


def test_levels_are_declared_by_the_name_of_an_input():
    assert levels_by_column(("age", "region"), {"region": REGIONS}) == (None, REGIONS)
    assert levels_by_column(("age",), None) == (None,)
    with pytest.raises(ValueError, match="which is no input"):
        levels_by_column(("age",), {"sex": SEX})
    with pytest.raises(ValueError, match="must name inputs"):
        levels_by_column(("age",), [SEX])
    seven = tuple(map(str, range(7)))
    with pytest.raises(ValueError, match="49 combinations, more than 40"):
        levels_by_column(("age", "a", "b"), {"a": seven, "b": seven})


def test_codes_are_of_levels():
    box = ((0.0, 1.0), side_of(REGIONS))
    check_codes(np.array([[0.5, 2.0]]), box)
    with pytest.raises(ValueError, match="input 2 has 3 levels"):
        check_codes(np.array([[0.5, 2.5]]), box)
    with pytest.raises(ValueError, match="'region' has 3 levels"):
        check_codes(np.array([[0.5, np.nan]]), box, ("age", "region"))
    assert side_of(REGIONS) == (-0.5, 2.5)


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
def test_what_is_not_positive_is_named(value):
    with pytest.raises(ValueError, match=f"width must be a finite number above 0, got {value}"):
        check_positive("width", value)


@pytest.mark.parametrize("interval", [(1.0, 1.0), (2.0, 1.0)])
def test_an_interval_the_wrong_way_round_is_named_with_the_remedy(interval):
    with pytest.raises(ValueError, match=r"bounds must be \(low, high\) with low < high.*swap or widen"):
        check_interval("bounds", interval)


@pytest.mark.parametrize("interval", [(-math.inf, 1.0), (0.0, math.nan)])
def test_an_interval_without_end_is_named(interval):
    with pytest.raises(ValueError, match="bounds must be two finite numbers"):
        check_interval("bounds", interval)


def test_what_is_right_passes():
    check_positive("width", 1e-300)
    check_interval("bounds", (0.0, 1e-300))
