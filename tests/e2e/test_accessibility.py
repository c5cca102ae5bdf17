"""Every page, light and dark: no rule of WCAG 2.2 AA is broken that axe-core can check, and headings come in order."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from pages._ui import menu
from tests.e2e import browser as tool

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
RULES = {"runOnly": {"type": "tag", "values": TAGS}, "rules": {"heading-order": {"enabled": True}}}
PAGES = [page.file for page in menu.PAGES]


def violations(page) -> list[str]:
    """Every broken rule with the first elements that break it."""
    found = Axe().run(page, options=RULES).response["violations"]
    return [f"{each['id']}: {[node['html'][:200] for node in each['nodes'][:3]]}" for each in found]


@pytest.fixture(params=["light", "dark"])
def page(request, chromium, server):
    context = tool.new_context(chromium, viewport={"width": 1280, "height": 720}, color_scheme=request.param)
    page = context.new_page()
    yield page, server
    context.close()


@pytest.mark.parametrize("path", PAGES)
def test_no_rule_is_broken(page, path):
    page, server = page
    page.goto(f"{server}/{'' if path == 'start' else path}")
    tool.settle(page)
    assert violations(page) == []
    assert page.title().startswith(next(each.title for each in menu.PAGES if each.file == path))
    if path == "your_data":
        page.get_by_role("button", name="Practise with the !Kung census").click()
        page.get_by_text("What this guarantee says").first.wait_for()
        tool.settle(page)
        assert violations(page) == []


def test_the_answer_is_said_aloud_and_motion_can_be_reduced(page):
    page, server = page
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{server}/kung_curves")
    tool.settle(page)
    assert page.locator(".st-key-answer [role=status][aria-live=polite]").inner_text().startswith("At ε = 1")
    slow = page.evaluate("""Array.from(document.querySelectorAll("*"))
        .filter(each => parseFloat(getComputedStyle(each).transitionDuration) > 0.01).length""")
    assert slow == 0
