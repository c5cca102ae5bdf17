"""A table, its levels, and the checks of what is declared."""

from dataclasses import replace

import numpy as np

from dpgp_core.levels import LevelSide, check_codes, groups_of, levels_by_column, number_sides, side_of
from tests.core.tables import of_groups


def test_public_constants_come_from_the_declared_bounds(make_dataset):
    data = make_dataset(y_bounds=(10.0, 30.0), y=np.full(12, 11.0))
    assert (data.n, data.dim, data.midpoint, data.output_range) == (12, 1, 20.0, 20.0)


def test_outputs_are_clipped_centred_then_scaled(make_dataset):
    data = make_dataset(y=np.array([-5.0, -1.0, 0.0, 1.0, 3.0, 9.0] * 2))  # bounds (-1, 3), scale 2
    np.testing.assert_array_equal(data.clipped_y[:6], [-1, -1, 0, 1, 3, 3])
    np.testing.assert_array_equal(data.standardised()[:6], [-1, -1, -0.5, 0, 1, 1])
    assert data.clipped_count == 4
    np.testing.assert_allclose(data.in_data_units(data.standardised()), data.clipped_y, rtol=1e-15)


SEX = ("women", "men")
REGIONS = ("north", "south", "other")


def test_the_side_of_a_category_is_derived():
    data = of_groups()
    assert data.x_box == ((0.0, 60.0), (-0.5, 1.5))
    assert isinstance(data.x_box[1], LevelSide)
    assert data.x_box[1].levels == 2
    assert number_sides(data.x_box) == ((0.0, 60.0),)
    assert groups_of(data.x_box) == 2


def test_copies_keep_their_categories():
    data = of_groups()
    for copy in (replace(data, y=data.y + 1), data.public_part(), data.subset(np.array([1, 2]))):
        assert copy.x_levels == (None, SEX)
        assert isinstance(copy.x_box[1], LevelSide)


def test_categories_are_declared_by_input_name():
    assert levels_by_column(("age", "region"), {"region": REGIONS}) == (None, REGIONS)
    assert levels_by_column(("age",), None) == (None,)
    assert side_of(REGIONS) == (-0.5, 2.5)
    check_codes(np.array([[0.5, 2.0]]), ((0.0, 1.0), side_of(REGIONS)))
