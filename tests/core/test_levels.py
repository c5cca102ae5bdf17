from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.levels import LevelSide, check_codes, groups_of, levels_by_column, number_sides, side_of
from tests.core.tables import table

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
