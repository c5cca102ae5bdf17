"""Inputs that are places or dates, from a table to its zip."""

import io
import json
import math
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest

from dpgp_core.dates import Dates
from dpgp_core.release import CHOICES, read_table, spec_to_json
from dpgp_core.release.check import check_folder
from dpgp_core.release.degrees import RADIUS, Coordinates
from dpgp_core.release.specification import EXAMPLE
from dpgp_core.seasons import YEAR
from dpgp_core.table import Column
from tests.core.release.worlds import command, make_spec, make_zip, released, rows_of, unzipped, written
from tests.core.tables import changed

LONDON = {"longitudes": (-0.6, 0.4), "latitudes": (51.2, 51.8)}
BOXES = [
    LONDON,
    {"longitudes": (-10.0, 30.0), "latitudes": (35.0, 70.0)},
    {"longitudes": (140.0, 180.0), "latitudes": (-47.0, -34.0)},
    {"longitudes": (-20.0, 50.0), "latitudes": (-35.0, 37.0)},
]


def within(longitudes, latitudes):
    """Degrees of a box."""
    return Coordinates(longitude=Column(name="lon", box=longitudes), latitude=Column(name="lat", box=latitudes))


def on_the_sphere(longitude, latitude, other_longitude, other_latitude):
    """Haversine distance [km]."""
    a, b = math.radians(latitude), math.radians(other_latitude)
    across = math.sin(math.radians(other_longitude - longitude) / 2) ** 2
    return 2 * RADIUS * math.asin(math.sqrt(math.sin((b - a) / 2) ** 2 + math.cos(a) * math.cos(b) * across))


@pytest.mark.parametrize("box", BOXES)
def test_short_distances_are_within_the_stated_error(box):
    found = within(**box)
    east, north = found.kilometres
    middle, step = sum(box["longitudes"]) / 2, 1e-3
    errors = []
    for latitude in np.linspace(*box["latitudes"], 101):
        assert on_the_sphere(middle, latitude, middle, latitude + step) == pytest.approx(north * step, rel=1e-6)
        true = on_the_sphere(middle, latitude, middle + step, latitude)
        errors.append(abs(east * step / true - 1))
    assert max(errors) == pytest.approx(found.error, rel=1e-2)
    assert errors[50] < 1e-6  # in the middle there is none


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"longitudes": (-190.0, 0.0)}, "lon"),
        ({"latitudes": (51.0, 90.0)}, "lat"),
        ({"latitudes": (-89.0, 0.0)}, "lat"),
    ],
)
def test_a_box_beyond_the_earth_is_refused(changes, name):
    with pytest.raises(ValueError, match=f"coordinates need x_box of '{name}' in degrees within .*check which column"):
        within(**LONDON | changes)


def of_london(**changes):
    """Heights by place in London; lengthscales in km."""
    declared = {"x": ("lon", "lat"), "x_units": ("degrees", "degrees"), "x_box": tuple(LONDON.values())}
    return make_spec(**declared | {"lengthscale": (8.0, 8.0), "grid": (3, 3), "coordinates": ("lon", "lat")} | changes)


PLACES = b"lon,lat,height\n" + b"".join(
    b"%.3f,%.3f,%d\n" % (-0.5 + i % 9 / 10, 51.3 + i % 7 / 20, 90 + i) for i in range(60)
)


@pytest.mark.parametrize("mechanism", ["refined", "cloaking", "sparse"])
def test_a_release_equals_that_of_projected_inputs(mechanism, same_bits):
    spec = of_london(mechanism=mechanism)
    east, north = spec.degrees.kilometres
    box = tuple((low * worth, high * worth) for (low, high), worth in zip(spec.x_box, (east, north), strict=True))
    flat = replace(spec, coordinates=None, x_units=("km", "km"), x_box=box)
    data = read_table(io.BytesIO(PLACES), spec)
    projected = changed(data, X=data.X * (east, north), x_box=box)
    found = []
    for each, table in ((spec, data), (flat, projected)):
        same_bits()
        found.append(released(each, table))
    scale = np.abs(found[1].values).max()
    # strategies in whole numbers of 2^-20 may be rounded another way: as much as a number measured is rounded
    np.testing.assert_allclose(found[0].values, found[1].values, atol=1e-2 * scale)
    np.testing.assert_array_equal(found[0].X_test, spec.points())  # in degrees


def test_it_is_declared_written_and_said():
    spec = of_london()
    files = make_zip(spec, PLACES)
    projection = json.loads(files["release.json"])["projection"]
    np.testing.assert_allclose(projection["km_in_a_degree"], spec.degrees.kilometres, atol=5e-4)
    assert spec.degrees.error <= projection["east_west_error"] <= spec.degrees.error * 1.1
    assert "east-west ones are off by up to 0.67 %" in files["card.html"].decode()
    plain = of_london(coordinates=None, lengthscale=(0.1, 0.1))
    assert "projection" not in json.loads(make_zip(plain, PLACES)["release.json"])


# ---- Inputs that are dates, from a table to its zip.


FIRST = date(2019, 1, 1)
YEARS = ("2019-01-01", "2023-12-31")
GERMAN = {"day": {"format": "day.month.year", "period": "year"}}
TABLE = {
    "x": ("day",),
    "x_units": ("",),
    "x_box": (YEARS,),
    "y": "visits",
    "y_unit": "",
    "y_bounds": (0.0, 60.0),
    "unit": "one day's visits",
    "grid": (61,),
    "y_kind": "count",
}
OTHERS = [name for name, choice in CHOICES.items() if not choice.kind.automatic]


def of_visits(**changes):
    return replace(EXAMPLE, **TABLE | {"lengthscale": (400.0,), "mechanism": "bayes_cells", "epsilon": 3.0} | changes)


def table(format="iso", n=400):
    """Visits on n days, evenly over five years."""
    rng = np.random.default_rng(0)
    days = np.linspace(0, 1825, n).astype(int)
    counts = rng.poisson(20 + 8 * np.sin(2 * np.pi * days / YEAR))
    rows = ("%Y-%m-%d" if format == "iso" else "%d.%m.%Y", zip(days.tolist(), counts, strict=True))
    lines = (f"{FIRST + timedelta(days=day):{rows[0]}},{count}\n" for day, count in rows[1])
    return ("day,visits\n" + "".join(lines)).encode()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A zip made by the command line."""
    folder = tmp_path_factory.mktemp("dates")
    assert command(folder, table("day.month.year"), spec_to_json(of_visits(dates=GERMAN))) == 0
    return unzipped((folder / "out.zip").read_bytes())


def test_date_boxes_are_days_written_as_dates():
    spec = of_visits(dates=GERMAN)
    assert spec.x_box == ((0.0, 1825.0),)
    assert spec.dates == (Dates(name="day", first="2019-01-01", format="day.month.year", period="year"),)
    assert spec.periods == (YEAR,)
    written = json.loads(spec_to_json(spec))
    assert (written["x_box"], written["dates"]) == ([list(YEARS)], GERMAN)
    assert replace(spec, epsilon=2.0).dates == spec.dates
    assert spec != of_visits()


def test_grid_points_are_whole_days():
    points = of_visits(grid=(37,)).points()[:, 0]
    np.testing.assert_array_equal(points, np.rint(np.linspace(0, 1825, 37)))


def test_only_the_declared_date_order_is_read():
    spec = of_visits(dates=GERMAN)
    data = read_table(io.BytesIO(table("day.month.year")), spec)
    assert data.X.min() == 0
    assert data.X.max() == 1825
    assert data.x_units == ("days since 2019-01-01",)
    with pytest.raises(
        ValueError, match=r'a date in another order in 400 of 400 rows, .*; declare date_order "year-month-day"'
    ):
        read_table(io.BytesIO(table()), spec)
    with pytest.raises(ValueError, match="differ in x_units"):
        released(spec, read_table(io.BytesIO(table()), of_visits(x_box=(("2019-01-02", "2024-01-01"),))))


@pytest.mark.full
def test_all_that_is_released_has_dates(files, tmp_path):
    rows = rows_of(files)
    assert [rows[0]["day"], rows[-1]["day"]] == ["01.01.2019", "31.12.2023"]
    card = json.loads(files["release.json"])
    assert card["values"]["columns"]["day"].startswith("input, a date written like 31.03.2024; what was measured has")
    assert card["statistics"]["inputs"]["units"] == ["days since 2019-01-01"]
    assert card["statistics"]["inputs"]["periods"] == [YEAR]
    page, picture = files["card.html"].decode(), files["figure.svg"].decode()
    assert "day 2019-01-01 to 2023-12-31" in page
    assert "the curve may repeat every year of day; the released numbers say whether it does" in page
    assert ">2021<" in picture
    assert ">1000<" not in picture
    assert "all 61 values follow from the measured numbers" in check_folder(written(files, tmp_path))
