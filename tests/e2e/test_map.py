"""The map of London as it is really drawn: colours, what a click does to them, width, keyboard, swiping."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from PIL import Image
from plotly.colors import sample_colorscale, unlabel_rgb

from pages._ui.look.plots import NOISE_SCALE
from tests.e2e import browser as tool
from tests.e2e.actions import move

pytestmark = pytest.mark.full

CANVAS, LEGEND = ".st-key-hexagons canvas", ".st-key-legend_hexagons"
ROW = "[data-testid=stTable] tbody"
COLOURS = np.array([unlabel_rgb(colour) for colour in sample_colorscale(NOISE_SCALE, 64)])


def pixels(page):
    """What the map shows once it moves no more: two pictures of it are alike."""
    page.mouse.move(1, 1)
    before, now = b"", page.locator(CANVAS).first.screenshot()
    while now != before:
        page.evaluate(tool.TOLD)
        before, now = now, page.locator(CANVAS).first.screenshot()
    return np.asarray(Image.open(io.BytesIO(now)).convert("RGB")).astype(int)


def drawn(page):
    """Pixels of the map once its hexagons are there."""
    for _ in range(20):
        found = pixels(page)
        if inside(found).mean() > 0.1:
            return found
    raise AssertionError("the map draws nothing")


def inside(found):
    return np.abs(found - found[2, 2]).sum(axis=2) > 12


def box_of(page, selector):
    return page.locator(selector).first.bounding_box()


def test_map_colours_equal_the_legend_after_a_click(visit):
    page = visit.open("london_noise_map?mechanism=refined&map=noise&epsilon=10")  # at which little is hatched
    page.set_viewport_size({"width": 1440, "height": 1100})
    tool.settle(page)
    before = drawn(page)
    shown = before[inside(before)]
    off = np.abs(shown[::7, None, :] - COLOURS[None]).max(axis=2).min(axis=1)
    assert (off <= 3).mean() > 0.7  # the rest are outlines and names
    assert page.locator(ROW).count() == 0
    box = box_of(page, CANVAS)
    for _ in range(20):  # a click before the map has drawn its hexagons hits none
        page.mouse.click(box["x"] + box["width"] / 2 + 60, box["y"] + box["height"] / 2 + 90)
        tool.settle(page)
        if "hexagon=" in page.url:
            break
    assert re.match(r"87[0-9a-f]{13}", page.locator(ROW).inner_text().strip())
    after = pixels(page)
    assert 0.0001 < (np.abs(after - before).max(axis=2) > 8).mean() < 0.02  # an outline, and nothing faded


@pytest.mark.parametrize("size", [(400, 800), (700, 1100), (1280, 720), (1600, 1100)])
def test_london_and_its_legend_fit_on_screen(opened, size):
    page = opened("london_noise_map", size)
    for part in (CANVAS, LEGEND):
        box = box_of(page, part)
        assert box["y"] + box["height"] <= size[1], part
    page.add_style_tag(content=f"{LEGEND} {{ visibility: hidden; }}")  # it may stand over the map's edge
    found = inside(drawn(page))
    for axis in (0, 1):
        filled = np.flatnonzero(found.any(axis=1 - axis))
        assert filled[0] > 0
        assert filled[-1] < found.shape[axis] - 1
    down, across = (np.ptp(np.flatnonzero(found.any(axis=1 - axis))) / found.shape[axis] for axis in (0, 1))
    assert max(down, across) > 0.85


@pytest.mark.parametrize("width", [1180, 1280, 1440])
def test_the_legend_never_lies_over_the_map(opened, width):
    page = opened("london_noise_map", (width, 900))
    legend, canvas = box_of(page, LEGEND), box_of(page, CANVAS)
    beside = legend["x"] >= canvas["x"] + canvas["width"]
    assert beside or legend["y"] >= canvas["y"] + canvas["height"]


def test_a_hexagon_is_picked_by_keyboard(visit):
    page = visit.open("london_noise_map")
    field = page.get_by_role("combobox", name="Hexagon")
    field.evaluate("field => field.scrollIntoView({ block: 'center' })")  # scrolling, here to the caret, closes menus
    tool.settle(page)
    field.press_sequentially("Camden 2")
    page.get_by_role("option", name="Camden 2", exact=True).wait_for()
    page.keyboard.press("Enter")
    tool.settle(page)
    assert "hexagon=Camden+2" in page.url
    assert "Camden" in page.locator(ROW).inner_text()


def test_an_answer_comes_first_and_its_errors_follow(visit):
    """The errors take some ten seconds of a processor at a delta whose errors do not ship; a page waits for one."""
    page = visit.open("london_noise_map?mechanism=bayes&epsilon=10&delta=0.0001")
    answer, first = page.locator(".st-key-answer"), re.compile("The errors are being computed")
    move(page, "^ε", "End", wait=False)
    answer.filter(has_text=re.compile("At epsilon = 100.*The errors are being computed", re.DOTALL)).wait_for()
    tool.settle(page)
    assert "At epsilon = 100" in answer.inner_text()
    assert not first.search(answer.inner_text())


@pytest.mark.parametrize(("path", "picture"), [("kung_curves", ".nsewdrag"), ("london_noise_map", "canvas")])
def test_a_swipe_over_a_picture_scrolls_the_page(opened, path, picture):
    page = opened(path, (400, 800), has_touch=True, is_mobile=True)
    top = box_of(page, f".stMain {picture}")["y"]
    browser = page.context.new_cdp_session(page)
    for kind, up in (("touchStart", 0), *(("touchMove", 15 * step) for step in range(1, 11)), ("touchEnd", None)):
        at = [] if up is None else [{"x": 200, "y": top + 60 - up}]
        browser.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})
        page.wait_for_timeout(30)
    page.wait_for_function("document.querySelector('[data-testid=stMain]').scrollTop > 100")
