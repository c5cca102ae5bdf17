"""The directions of M on the map: what they are, what one hexagon moves along each, and a picture that moves."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from dpgp_core.accounting.gaussian import noise_multiplier
from pages._ui.cloaking import computed, directions
from pages._ui.look import offers
from pages._ui.model import Design, Draw, usual
from tests.pages.reading import page_text

PAGE = "london_noise_map"


@pytest.fixture(scope="module")
def london():
    return computed.run(usual("london_hexes"), Design("cloaking"), Draw(1.0, offers.DELTA))


@pytest.fixture(scope="module")
def found(london):
    return directions.directions_of(london)


def test_directions_of_the_map_cover_its_hexagons_and_what_anybody_moves_them(found):
    assert found.shapes.shape == (directions.SHOWN, 412)  # the hexagons that are shown
    assert (np.diff(found.shares) <= 0).all()
    assert (found.moves <= found.sds / noise_multiplier(1.0, offers.DELTA) * (1 + 1e-6)).all()
    assert (found.furthest <= found.moves).all()  # one hexagon is a part of all
    assert (found.furthest > 0).all()


def test_frames_have_the_law_of_the_noise_along_the_directions(found):
    frames = np.stack([directions.turning(found, seed, 4) for seed in range(400)])
    sds = frames.std(axis=0)  # of every hexagon, at every turn
    expected = np.sqrt((found.shapes**2).sum(axis=0))
    np.testing.assert_allclose(sds, np.broadcast_to(expected, sds.shape), rtol=0.25)


def test_each_direction_is_a_map_with_its_share_and_what_one_hexagon_moves(seen, found):
    app = seen(PAGE, mechanism="cloaking", directions="true")
    assert not app.exception
    [image] = app.get("image")
    svg = base64.b64decode(image.proto.imgs[0].url.partition("base64,")[2]).decode()
    ET.fromstring(svg)
    titles = re.findall(r'font-weight="600">([^<]+)<', svg)
    assert len(titles) == directions.SHOWN
    assert titles[0] == f"1: {100 * found.shares[0]:.2g} %"
    assert svg.count("moves no hexagon") == directions.SHOWN
    assert svg.count("the price is multiplied by") == 1  # one legend


def test_the_moving_map_holds_every_frame_and_a_player(seen, found):
    app = seen(PAGE, mechanism="cloaking", directions="true")
    words = page_text(app)
    assert words.count('class="player-') == 3
    strip = base64.b64decode(re.search(r"base64,([^)]+)\)", words)[1]).decode()
    ET.fromstring(strip)
    frames = re.findall(r'<g transform="translate\(0 (\d+)\)">(.*?)<use href="#around"/></g>', strip)
    assert [int(at) for at, _ in frames] == [500 * at for at in range(directions.MAP_FRAMES)]
    assert all(painted.count("<use") == 412 for _, painted in frames)
    assert len({painted for _, painted in frames}) == directions.MAP_FRAMES  # no two are the same


def test_a_release_in_stages_shows_cloakings_directions_and_says_so(seen):
    app = seen(PAGE, directions="true")
    assert not app.exception
    assert any("measures in stages" in each.value for each in app.caption)


def test_nothing_is_computed_before_it_is_asked_for(seen):
    assert "player-play" not in page_text(seen(PAGE))
