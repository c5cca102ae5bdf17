"""Degrees as kilometres: against distances on the sphere, and against a table that was projected by hand."""

import io
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.release import publish, read_table, spec_from_json, spec_to_json
from dpgp_core.release.degrees import RADIUS, Coordinates
from tests.core.tables import changed

LONDON = {"longitudes": (-0.6, 0.4), "latitudes": (51.2, 51.8)}
BOXES = [
    LONDON,
    {"longitudes": (-10.0, 30.0), "latitudes": (35.0, 70.0)},
    {"longitudes": (140.0, 180.0), "latitudes": (-47.0, -34.0)},
    {"longitudes": (-20.0, 50.0), "latitudes": (-35.0, 37.0)},
]


def on_the_sphere(longitude, latitude, other_longitude, other_latitude):
    """Haversine distance [km]."""
    a, b = math.radians(latitude), math.radians(other_latitude)
    across = math.sin(math.radians(other_longitude - longitude) / 2) ** 2
    return 2 * RADIUS * math.asin(math.sqrt(math.sin((b - a) / 2) ** 2 + math.cos(a) * math.cos(b) * across))


@pytest.mark.parametrize("box", BOXES)
def test_short_distances_are_true_up_to_the_stated_error(box):
    found = Coordinates(longitude="lon", latitude="lat", **box)
    east, north = found.kilometres
    middle, step = sum(box["longitudes"]) / 2, 1e-3
    errors = []
    for latitude in np.linspace(*box["latitudes"], 101):
        assert on_the_sphere(middle, latitude, middle, latitude + step) == pytest.approx(north * step, rel=1e-6)
        true = on_the_sphere(middle, latitude, middle + step, latitude)
        errors.append(abs(east * step / true - 1))
    assert max(errors) == pytest.approx(found.error, rel=1e-2)
    assert errors[50] < 1e-6  # in the middle there is none


def test_london_is_nearly_flat():
    found = Coordinates(longitude="lon", latitude="lat", **LONDON)
    np.testing.assert_allclose(found.kilometres, (69.37, 111.195), atol=0.2)
    assert 0.006 < found.error < 0.007
    assert found.in_degrees("lat", 111.195) == pytest.approx(1.0, rel=1e-4)
    assert found.in_degrees("year", 3.0) == 3.0


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"longitudes": (-190.0, 0.0)}, "lon"),
        ({"latitudes": (51.0, 90.0)}, "lat"),
        ({"latitudes": (-89.0, 0.0)}, "lat"),
    ],
)
def test_a_box_that_is_not_on_the_earth_is_a_sentence(changes, name):
    with pytest.raises(ValueError, match=f"coordinates need x_box of '{name}' in degrees within .*check which column"):
        Coordinates(longitude="lon", latitude="lat", **LONDON | changes)


@pytest.fixture
def make_london(make_spec):
    """Heights by place in London; lengthscales in km."""

    def make(**changes):
        return make_spec(
            **{
                "x": ("lon", "lat"),
                "x_units": ("degrees", "degrees"),
                "x_box": tuple(LONDON.values()),
                "lengthscale": (8.0, 8.0),
                "grid": (3, 3),
                "coordinates": ("lon", "lat"),
            }
            | changes
        )

    return make


TABLE = b"lon,lat,height\n" + b"".join(
    b"%.3f,%.3f,%d\n" % (-0.5 + i % 9 / 10, 51.3 + i % 7 / 20, 90 + i) for i in range(60)
)


@pytest.mark.parametrize("mechanism", ["refined", "cloaking", "sparse"])
def test_it_is_the_release_of_a_table_projected_by_hand(make_london, mechanism, same_bits):
    spec = make_london(mechanism=mechanism)
    east, north = spec.degrees.kilometres
    box = tuple((low * worth, high * worth) for (low, high), worth in zip(spec.x_box, (east, north), strict=True))
    flat = replace(spec, coordinates=None, x_units=("km", "km"), x_box=box)
    data = read_table(io.BytesIO(TABLE), spec)
    projected = changed(data, X=data.X * (east, north), x_box=box)
    found = []
    for each, table in ((spec, data), (flat, projected)):
        same_bits()
        found.append(publish(each, table))
    scale = np.abs(found[1].values).max()
    # strategies in whole numbers of 2^-20 may be rounded another way: as much as a number measured is rounded
    np.testing.assert_allclose(found[0].values, found[1].values, atol=1e-2 * scale)
    np.testing.assert_array_equal(found[0].X_test, spec.points())  # in degrees


def test_it_is_declared_written_and_said(make_london, make_zip):
    spec = make_london()
    assert spec_from_json(spec_to_json(spec)) == spec
    files = make_zip(spec, TABLE)
    projection = json.loads(files["release.json"])["projection"]
    np.testing.assert_allclose(projection["km_in_a_degree"], spec.degrees.kilometres, atol=5e-4)
    assert spec.degrees.error <= projection["east_west_error"] <= spec.degrees.error * 1.1
    assert "east-west ones are off by up to 0.67 %" in files["card.html"].decode()
    assert "projection" not in json.loads(
        make_zip(make_london(coordinates=None, lengthscale=(0.1, 0.1)), TABLE)["release.json"]
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"coordinates": ("lon", "lon")}, "coordinates must be two different names of x"),
        ({"coordinates": ("lon",)}, "coordinates must be two different names of x"),
        ({"coordinates": ("lon", "height")}, "coordinates must be two different names of x"),
        ({"coordinates": "lon"}, "coordinates must be a list in square brackets"),
        ({"lengthscale": (8.0, 1e-3)}, "each entry of lengthscale must lie in 0.0667"),
    ],
)
def test_a_wrong_declaration_is_a_sentence(make_london, changes, said):
    with pytest.raises(ValueError, match=said):
        make_london(**changes)
