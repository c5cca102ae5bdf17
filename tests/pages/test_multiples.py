"""Three settings side by side: the same scale, one legend, a sentence each."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET

import pytest

from datasets import london_hexes
from pages._ui.cloaking import variants
from pages._ui.cloaking.cells import LAYERS
from pages._ui.look import offers, sheet_map
from pages._ui.look.maps import boroughs
from pages._ui.look.sheet import Box, Panel, side_by_side


def drawing(app):
    [image] = app.get("image")
    return base64.b64decode(image.proto.imgs[0].url.partition("base64,")[2]).decode()


@pytest.mark.parametrize("three", ["epsilon", "kernel", "lengthscale"])
def test_three_maps_have_one_scale_and_one_legend(seen, three):
    app = seen("london_noise_map", mechanism="refined", map="noise", three=three)
    assert not app.exception
    svg = drawing(app)
    ET.fromstring(svg)
    assert svg.count("× 1.1<") == 1  # one legend
    titles = re.findall(r'font-weight="600">([^<]+)<', svg)
    assert len(titles) == 3
    assert svg.count("Privacy noise moves a typical price") == 3
    if three == "epsilon":
        assert titles == ["ε = 0.3", "ε = 1", "ε = 3"]
    assert {each.key for each in app.get("deck_gl_json_chart")} == {"hexagons"}  # and the map itself


def test_three_curves_have_the_same_axes(seen):
    app = seen("kung_curves", mechanism="refined", three="epsilon", overlay="false")
    assert not app.exception
    svg = drawing(app)
    ET.fromstring(svg)
    assert svg.count(">150</text>") == 3
    assert svg.count("<circle") == 0
    overlay = drawing(seen("kung_curves", mechanism="refined", three="epsilon"))
    assert overlay.count("<circle") == 3 * 287


def test_nothing_is_computed_before_it_is_asked_for(seen):
    app = seen("london_noise_map")
    assert not app.get("image")


@pytest.mark.parametrize(("value", "found"), [(0.1, (0.1, 0.5, 1.5)), (1, (0.3, 1, 3)), (100, (3, 10, 100))])
def test_the_present_setting_is_in_the_middle_where_it_can_be(value, found):
    assert variants._three(offers.EPSILONS, value, 3) == found


def test_kernels_are_offered_where_they_are_quick(seen):
    assert "Three kernels" in seen("london_noise_map").segmented_control(key="three").options


def test_panels_stand_where_they_are_largest_and_outlines_thin_out_with_them():
    """Six maps in a picture of 1,600 x 900 are in one row; in a square, in rows; three on a page beside each other."""

    def lefts(count, width, height):
        places = []
        row = [Panel("", "", lambda box: places.append(box) or "") for _ in range(count)]
        side_by_side(row, None, Box(0, 0, width, height))
        return len({box.left for box in places}), min(box.height for box in places)

    assert lefts(6, 1504, 430)[0] == 6
    assert lefts(6, 1104, 850)[0] == 3
    assert lefts(3, 1600, 640)[0] == 3
    assert lefts(6, 1504, 430)[1] > 250

    layer, around = LAYERS["noise"], boroughs()
    table = london_hexes.map_cells().assign(**{layer.column: 1.3})
    large, small = (sheet_map.hexagons(table, layer, around, Box(0, 0, across, across)) for across in (900, 200))
    assert 'stroke-width="3.2"' in large
    assert 'stroke-width="3.2"' not in small
