import math

import numpy as np
import pytest

from dpgp_core.release.specification import MAX_GRID, ReleaseSpec

SALES = {
    "x": ("lat", "lon", "year"),
    "x_units": ("degrees", "degrees", ""),
    "x_box": ((51.2, 51.8), (-0.6, 0.4), (2000, 2020)),
    "y": "price",
    "y_unit": "GBP",
    "y_bounds": (1e4, 1e7),
    "unit": "one sale",
    "grid": (2, 3, 4),
    "epsilon": 1.0,
    "delta": 1e-5,
}


def test_points_run_over_the_box_the_last_input_fastest():
    points = ReleaseSpec(**SALES).points()
    assert points.shape == (24, 3)
    np.testing.assert_allclose(points[:4], [[51.2, -0.6, year] for year in np.linspace(2000, 2020, 4)])
    np.testing.assert_allclose(points[-1], [51.8, 0.4, 2020])


def test_the_range_is_that_of_what_is_measured():
    assert ReleaseSpec(**SALES).output_range == 1e7 - 1e4
    assert ReleaseSpec(**SALES, log=True).output_range == pytest.approx(math.log(1e3), rel=1e-12)


def test_lengths_in_km_become_degrees_where_declared_whatever_the_order_of_columns():
    assert ReleaseSpec(**SALES).in_units((1.0, 2.0, 3.0)) == (1.0, 2.0, 3.0)
    found = ReleaseSpec(**SALES, coordinates=("lon", "lat"))
    np.testing.assert_allclose(found.in_units((111.2, 69.2, 3.0)), (1.0, 1.0, 3.0), rtol=2e-3)
    assert found.degrees.longitude == "lon"
    assert ReleaseSpec(**SALES).degrees is None


def test_too_many_points_are_refused_here():
    with pytest.raises(ValueError, match=f"grid has 6250 points in all, more than {MAX_GRID}, the limit"):
        ReleaseSpec(**SALES | {"grid": (25, 25, 10)})


GROWTH = {
    "x": ("age", "sex"),
    "x_units": ("years", ""),
    "x_box": ((0, 20), None),
    "x_levels": (None, ("girls", "boys", "other")),
    "y": "height",
    "y_unit": "cm",
    "y_bounds": (40, 200),
    "unit": "one child",
    "grid": (5, None),
    "epsilon": 1.0,
    "delta": 1e-5,
}


def test_there_is_a_curve_for_each_level():
    table = ReleaseSpec(**GROWTH)
    points = table.points()
    assert points.shape == (15, 2)
    np.testing.assert_array_equal(points[:4], [[0, 0], [0, 1], [0, 2], [5, 0]])
    assert ([each.name for each in table.numbers], table.levels) == (["age"], {"sex": ("girls", "boys", "other")})
    assert table.x_box == ((0, 20), (-0.5, 2.5))


def test_equal_levels_are_equal_keys():
    as_read = GROWTH | {"x_levels": [None, ["girls", "boys", "other"]], "x_box": [[0, 20], None], "grid": [5, 3]}
    one, other = ReleaseSpec(**GROWTH), ReleaseSpec(**as_read)
    assert one == other
    assert hash(one) == hash(other)
    assert ReleaseSpec(**GROWTH | {"x_box": ((0, 20),)}) == one
    without = {"x_box": ((0, 20), (0, 1)), "grid": (5, 2)}
    assert ReleaseSpec(**GROWTH | without | {"x_levels": (None, None)}).x_levels is None


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"x_levels": (None,)}, "x_levels must have 2 entries"),
        ({"x_levels": "girls"}, "x_levels must be a list"),
        ({"x_levels": (None, ("girls", 3))}, "must be text in quotes"),
        ({"x_levels": (("a", "b"), ("girls", "boys")), "x_box": (None, None)}, "at least one must be a number"),
        ({"x_box": ((0, 20), (0, 1))}, "x_box has an entry for 'sex', which is a category"),
        ({"x_box": (None, None)}, "x_box has no entry for 'age'"),
        ({"grid": (5, 7)}, "grid has 7 for 'sex', of 3 levels"),
        ({"grid": (None, None)}, "each entry of grid must be a whole number"),
        ({"coordinates": ("age", "sex")}, "coordinates must be numbers"),
    ],
)
def test_levels_that_do_not_fit_are_refused(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        ReleaseSpec(**GROWTH | changes)
