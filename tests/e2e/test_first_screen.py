"""What one sees without scrolling: question, answer, epsilon and picture; and nothing scrolls sideways."""

from __future__ import annotations

import re

import pytest

from pages._ui import menu
from tests.e2e import browser as tool

PAGES = [page.file for page in menu.PAGES if not page.of_one_session]  # without a table there is no picture
PICTURE = ".stMain .js-plotly-plot, .stMain [data-testid=stDeckGlJsonChart]"
SCREENS = {  # width, height, largest title, least share of the picture in sight
    "desk": (1280, 720, 28, 0.6),
    "phone": (400, 800, 22, 0.4),
}


@pytest.fixture(params=SCREENS)
def screen(request, chromium, server):
    width, height, title, share = SCREENS[request.param]
    context = tool.new_context(chromium, viewport={"width": width, "height": height})
    yield context.new_page(), server, title, share
    context.close()


@pytest.mark.parametrize("path", PAGES)
def test_question_answer_epsilon_and_picture_are_on_the_first_screen(screen, path):
    page, server, largest, share = screen
    page.goto(f"{server}/{'' if path == 'start' else path}")
    tool.settle(page)
    width, height = page.viewport_size["width"], page.viewport_size["height"]
    title = page.locator("h1").first
    size = float(title.evaluate("each => parseFloat(getComputedStyle(each).fontSize)"))
    assert 16 <= size <= largest
    assert width < 1000 or title.bounding_box()["height"] < 2 * size, "the title fills more than a line"
    picture = page.locator(PICTURE).first.bounding_box()
    seen = (height - picture["y"]) / picture["height"]
    assert seen >= share, f"only {seen:.0%} of the picture is in sight"
    budget = page.get_by_role("slider", name=re.compile("(ε|s): more"))  # posterior paths: epsilon follows from s
    boxes = [each.bounding_box() for each in budget.all()]
    assert any(box and 0 <= box["x"] < width and box["y"] + box["height"] <= height for box in boxes)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= width
