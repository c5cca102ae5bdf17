"""Maps have east across, in whatever order a table names its columns."""

import re
from dataclasses import replace

import numpy as np

from dpgp_core.release.figure import figure, groups_of

MAP = {
    "x": ("lat", "when", "lon"),
    "x_units": ("°", "h", "°"),
    "x_box": ((51, 52), (0, 24), (-1, 0)),
    "grid": (3, 2, 4),
    "lengthscale": (9.0, 5.0, 9.0),
    "coordinates": ("lon", "lat"),
}


def test_east_comes_first_and_values_go_with_their_points(make_spec):
    spec = make_spec(**MAP)
    [group], east = groups_of(spec)
    assert east.x == ("lon", "lat", "when")
    assert (east.x_units, east.grid, east.x_box[0]) == (("°", "°", "h"), (4, 3, 2), (-1, 0))
    points = spec.points()
    values = points @ [100.0, 1.0, 10.0]
    np.testing.assert_allclose(values[group.rows], east.points() @ [1.0, 100.0, 10.0][::-1])
    np.testing.assert_array_equal(group.X, east.points())


def test_what_is_in_order_or_no_map_stays_as_it_is(make_spec):
    spec = make_spec()
    [group], drawn = groups_of(spec)
    assert drawn is spec
    np.testing.assert_array_equal(group.rows, np.arange(9))


def test_both_orders_give_one_picture(make_spec, make_published):
    sides = {"lon": (-1.0, 0.0), "lat": (51.0, 52.0)}

    def drawn(*x):
        spec = make_spec(
            x=x,
            x_units=("°", "°"),
            x_box=tuple(sides[name] for name in x),
            grid=(3, 3),
            lengthscale=(9.0, 9.0),
            coordinates=("lon", "lat"),
        )
        values = spec.points() @ [1.0 if name == "lon" else 7.0 for name in x]
        return figure(replace(make_published(spec, np.ones(9)), values=values, curve=(values - 1, values + 1)), spec)

    picture = drawn("lat", "lon")
    assert picture == drawn("lon", "lat")
    assert re.search(r'text-anchor="middle">lon', picture)
