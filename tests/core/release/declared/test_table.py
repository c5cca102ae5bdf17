import math

import numpy as np
import pytest

from dpgp_core.release.declared.table import MAX_GRID, DeclaredTable

SALES = {
    "x": ("lat", "lon", "year"),
    "x_units": ("degrees", "degrees", ""),
    "x_box": ((51.2, 51.8), (-0.6, 0.4), (2000, 2020)),
    "y": "price",
    "y_unit": "GBP",
    "y_bounds": (1e4, 1e7),
    "unit": "one sale",
    "grid": (2, 3, 4),
}


def test_points_run_over_the_box_the_last_input_fastest():
    points = DeclaredTable(**SALES).points()
    assert points.shape == (24, 3)
    np.testing.assert_allclose(points[:4], [[51.2, -0.6, year] for year in np.linspace(2000, 2020, 4)])
    np.testing.assert_allclose(points[-1], [51.8, 0.4, 2020])


def test_the_range_is_that_of_what_is_measured():
    assert DeclaredTable(**SALES).output_range == 1e7 - 1e4
    assert DeclaredTable(**SALES, log=True).output_range == pytest.approx(math.log(1e3), rel=1e-12)


def test_lengths_in_km_become_degrees_where_declared_whatever_the_order_of_columns():
    assert DeclaredTable(**SALES).in_units((1.0, 2.0, 3.0)) == (1.0, 2.0, 3.0)
    found = DeclaredTable(**SALES, coordinates=("lon", "lat"))
    np.testing.assert_allclose(found.in_units((111.2, 69.2, 3.0)), (1.0, 1.0, 3.0), rtol=2e-3)
    assert found.degrees.longitude == "lon"
    assert DeclaredTable(**SALES).degrees is None


def test_equal_declarations_are_equal_keys():
    one, other = (DeclaredTable(**SALES | {"grid": grid}) for grid in ((2, 3, 4), [2, 3, 4]))
    assert one == other
    assert hash(one) == hash(other)


def test_too_many_points_are_refused_here():
    with pytest.raises(ValueError, match=f"grid has 6250 points in all, more than {MAX_GRID}, the limit"):
        DeclaredTable(**SALES | {"grid": (25, 25, 10)})
