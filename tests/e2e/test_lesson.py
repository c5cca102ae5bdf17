"""``?lesson=1`` before a room: epsilon in sight, large type, a picture above the fold, steps by key, closed answers."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.e2e import browser as tool

pytestmark = pytest.mark.full

TYPE = """() => Math.min(...Array.from(document.querySelectorAll(
    ".stMain .js-plotly-plot :is(.xtick, .ytick, .xtitle, .ytitle, .legendtext, .annotation-text, .cbtitle) text," +
    ".stMain .js-plotly-plot :is(text.legendtext, text.xtitle, text.ytitle)"
)).map(each => parseFloat(getComputedStyle(each).fontSize)))"""
PAPER = "each => getComputedStyle(each).backgroundColor"
PICTURE = ".stMain .js-plotly-plot"


@pytest.fixture(params=[(1280, 720), (400, 800)], ids=["projector", "phone"])
def page(request, opened):
    return opened("kung_curves?lesson=1&tour=3&epsilon=0.5&mechanism=cloaking", request.param)


def bar(page):
    return page.locator(".st-key-bar").get_by_role("slider", name=re.compile("ε: more"))


def test_epsilon_stays_in_sight_and_type_is_large(page):
    assert page.evaluate(TYPE) >= 16
    size = float(page.locator("h1").first.evaluate("each => parseFloat(getComputedStyle(each).fontSize)"))
    assert size <= 24
    picture, height = page.locator(PICTURE).first.bounding_box(), page.viewport_size["height"]
    if page.viewport_size["width"] > 1000:
        assert (height - picture["y"]) / picture["height"] >= 0.6
    before = bar(page).bounding_box()
    page.locator("[data-testid=stMain]").evaluate("each => each.scrollTo(0, 600)")
    moved = "([selector, y]) => document.querySelector(selector).getBoundingClientRect().y < y"
    page.wait_for_function(moved, arg=[PICTURE, picture["y"]])  # it did scroll
    box = bar(page).bounding_box()
    assert 0 <= box["y"] <= height - box["height"]
    assert abs(box["y"] - before["y"]) < 60
    paper, above = (page.locator(each).first.evaluate(PAPER) for each in (".stApp", ":has(> .st-key-bar)"))
    assert above == paper  # what moves below it does not show through
    menu, held = (page.locator(each).first.bounding_box() for each in ("[data-testid=stHeader]", ":has(> .st-key-bar)"))
    assert held["y"] >= menu["y"] + menu["height"]  # its label is not hidden either
    bar(page).press("ArrowRight")
    tool.settle(page)
    assert "epsilon=0.7" in page.url
    assert "lesson=1" in page.url


def test_presenting_begins_at_the_top(opened):
    page = opened("explore_release", (1280, 720))
    main = page.locator("[data-testid=stMain]")
    main.evaluate("each => each.scrollTo(0, 600)")
    assert main.evaluate("each => each.scrollTop") > 300
    page.get_by_role("button", name="Copy this state").click()
    page.get_by_role("button", name="Present it to a room").click()
    page.wait_for_url("**lesson=1**")
    tool.settle(page)
    assert main.evaluate("each => each.scrollTop") == 0


def test_the_code_opens_the_same_state(page):
    page.get_by_role("button", name="QR code").click()
    page.get_by_text("The arrow keys step through the tour").wait_for()
    tool.settle(page)
    box = page.locator("[data-testid=stPopoverBody] img").bounding_box()
    assert box["width"] >= min(300, 0.7 * page.viewport_size["width"])
    page.keyboard.press("Escape")
    page.get_by_text("What you should see").click()
    answer = page.locator(".st-key-tour_banner details")
    assert answer.get_attribute("open") is not None
    for key, step in (("ArrowRight", 4), ("ArrowLeft", 3)):
        page.locator("h1").first.click()  # the key is for no control
        page.keyboard.press(key)
        page.get_by_text(f"step {step} of 7").wait_for()
        tool.settle(page)
        state = {name: value for name, [value] in parse_qs(urlsplit(page.url).query).items()}
        assert state["lesson"] == "1"
        assert state["tour"] == str(step)
        assert answer.get_attribute("open") is None
    bar(page).focus()
    page.keyboard.press("ArrowRight")  # moves epsilon, not the tour
    tool.settle(page)
    assert "tour=3" in page.url
    assert "epsilon=0.7" in page.url
