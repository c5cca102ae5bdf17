from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from dpgp_core.release.figure import figure

SVG = "{http://www.w3.org/2000/svg}"
TWO = {"x": ("age", "weight"), "x_units": ("years", "kg"), "x_box": ((0, 100), (0, 90)), "lengthscale": (25, 20)}


def drawn(published, spec):
    return ElementTree.fromstring(figure(published, spec))


def words(root):
    return " ".join(each.text for each in root.iter(f"{SVG}text"))


def test_a_curve_lies_within_its_band_and_is_grey_where_it_is_of_no_use(make_spec, make_published):
    spec = make_spec(grid=(5,), tolerance=2.0, y_bounds=(0.0, 6.0))
    root = drawn(make_published(spec, (1, 1, 1, 9, 1)), spec)
    lines = [(line.get("stroke"), line.get("stroke-dasharray")) for line in root.iter(f"{SVG}line")]
    assert lines == [("#E69F00", None)] * 2 + [("#8a8a8a", "2 3")] * 2
    [band] = root.iter(f"{SVG}polygon")
    corners = np.array([pair.split(",") for pair in band.get("points").split()], dtype=float)
    assert corners.shape == (10, 2)
    middle = [float(line.get("y1")) for line in root.iter(f"{SVG}line")]
    low, high = corners[:4, 1], corners[:-5:-1, 1]
    assert (high < middle).all()  # the axis points down
    assert (middle < low).all()
    assert (np.diff(middle) < 0).all()  # the values rise
    assert "dotted grey: of no use" in words(root)
    assert "height [cm]" in words(root)
    assert "age [years]" in words(root)


def test_a_map_has_a_cell_a_point_and_grey_ones(make_spec, make_published):
    spec = make_spec(**TWO, grid=(2, 3), tolerance=2.0)
    root = drawn(make_published(spec, (1, 1, 9, 1, 1, 1)), spec)
    cells = [each for each in root.iter(f"{SVG}rect") if each.get("width") != "12"]
    assert [each.get("fill") for each in cells].count("#8a8a8a") == 1
    assert cells[2].get("fill") == "#8a8a8a"
    assert len(cells) == 6
    assert (cells[0].get("fill"), cells[5].get("fill")) == ("#440154", "#fde725")  # least and most
    assert float(cells[0].get("y")) > float(cells[1].get("y"))  # the second input points up
    assert "weight [kg]" in words(root)


def test_a_kilometre_is_as_long_up_as_across(make_spec, make_published):
    def size(**changed):
        spec = make_spec(grid=(2, 2), **changed)
        cells = [*drawn(make_published(spec, [1] * 4), spec).iter(f"{SVG}rect")][:4]
        x, y = ([float(each.get(side)) for each in cells] for side in "xy")
        right, bottom = (
            max(at + float(each.get(size)) for at, each in zip(start, cells, strict=True))
            for start, size in ((x, "width"), (y, "height"))
        )
        return (right - min(x)) / (bottom - min(y))

    two = {"x": ("east", "north"), "lengthscale": (5, 5)}
    assert size(**two, x_units=("km", "km"), x_box=((0, 60), (10, 40))) == pytest.approx(2, rel=1e-2)
    assert size(**two, x_units=("km", "km"), x_box=((0, 10), (0, 40))) == pytest.approx(0.25, rel=1e-2)
    assert size(**two, x_units=("km", "years"), x_box=((0, 10), (0, 40))) == pytest.approx(514 / 226, rel=1e-2)
    # a degree of longitude at 60 degrees north is half as long as one of latitude
    degrees = {"x_units": ("degrees", "degrees"), "coordinates": ("east", "north"), "x_box": ((0, 4), (59.5, 60.5))}
    assert size(**two, **degrees) == pytest.approx(2, rel=1e-2)


def test_of_three_inputs_the_third_stands_at_its_middle(make_spec, make_published):
    three = {"x": ("a", "b", "c"), "x_units": ("", "", ""), "x_box": ((0, 1),) * 3, "lengthscale": (1, 1, 1)}
    spec = make_spec(**three, grid=(2, 2, 3))
    cells = [
        each for each in drawn(make_published(spec, [1] * 12), spec).iter(f"{SVG}rect") if each.get("width") != "12"
    ]
    assert len(cells) == 4


def test_where_all_is_of_use_nothing_is_said_of_grey(make_spec, make_published):
    spec = make_spec(grid=(3,))
    assert "grey" not in words(drawn(make_published(spec, (1, 1, 1)), spec))


@pytest.mark.parametrize("bounds", [(1e9, 1e9 + 2), (-1e-9, 1e-9), (0.0, 1e15)])
def test_any_bounds_are_drawn_with_few_round_ticks(make_spec, make_published, bounds):
    spec = make_spec(grid=(3,), y_bounds=bounds)
    root = drawn(make_published(spec, (1, 1, 1)), spec)
    assert 4 <= len(list(root.iter(f"{SVG}text"))) <= 18
    for each in root.iter():
        assert "nan" not in " ".join(each.attrib.values())


def test_shares_of_yes_are_drawn_in_per_cent(make_spec, make_published):
    spec = make_spec(mechanism="bayes", y_kind="yes/no", y_bounds=(0.0, 1.0), y_unit="", grid=(3,))
    published = make_published(spec, (0.1, 0.1, 0.1))
    published = replace(published, values=published.values / 4, curve=tuple(end / 4 for end in published.curve))
    shown = words(drawn(published, spec))
    assert "height [% yes]" in shown
    assert {"40", "60"} <= set(shown.split())  # .25 to .75


def test_centiles_are_thin_lines_in_order_with_their_numbers(make_spec, make_published):
    spec = make_spec(mechanism="bayes", centiles=True, grid=(3,), y_bounds=(0.0, 20.0))
    found = replace(make_published(spec, (1, 1, 1)), centiles=tuple(np.full(3, 3.0 * each) for each in range(5)))
    root = drawn(found, spec)
    heights = [float(each.get("points").split()[-1].split(",")[1]) for each in root.iter(f"{SVG}polyline")]
    assert len(heights) == 5
    assert (np.diff(heights) < 0).all()  # the axis points down
    assert {"3", "15", "50", "85", "97"} <= set(words(root).split())
