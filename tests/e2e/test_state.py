"""The copied link in another browser shows the same; undo and reset."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest

from pages._ui import menu
from tests.e2e import browser as tool
from tests.e2e.test_browser import unfold

PAGES = [page.file for page in menu.PAGES if not page.of_one_session]


def copied(page) -> str:
    """The link that is offered for copying, without its host."""
    page.get_by_role("button", name="Copy this state").click()
    link = urlsplit(page.locator("[data-testid=stCode] code").inner_text().replace("\n", ""))
    page.keyboard.press("Escape")
    return f"{link.path.removeprefix('/')}?{link.query}"


def shown(page) -> tuple[str, list[str]]:
    """The answer and the figures on screen."""
    return page.locator(".st-key-answer").inner_text(), page.locator("[data-testid=stMetric]").all_inner_texts()


@pytest.mark.parametrize("path", PAGES)
def test_the_copied_link_shows_the_same_in_another_browser(visit, chromium, path):
    page = visit.open("" if path == "start" else path)
    unfold(page)
    page.locator("[data-testid=stSidebar]").get_by_role("slider").first.press("ArrowRight")
    tool.settle(page)
    context = tool.new_context(chromium)
    other = context.new_page()
    other.goto(f"{visit.address}/{copied(page)}")
    tool.settle(other)
    assert shown(other) == shown(page)
    assert other.get_by_text("The link asks").count() == 0
    context.close()


def test_undo_and_reset_move_the_controls_and_the_address(visit):
    page = visit.open("kung_curves?epsilon=2")
    before = shown(page)
    epsilon = page.get_by_role("slider", name=re.compile("ε: more")).first
    epsilon.press("ArrowRight")
    tool.settle(page)
    assert "epsilon=3" in page.url
    sidebar = page.locator("[data-testid=stSidebar]")
    sidebar.get_by_role("button", name="Undo").click()
    tool.settle(page)
    assert "epsilon=2" in page.url
    assert shown(page) == before
    sidebar.get_by_role("button", name="Reset").click()
    tool.settle(page)
    assert "epsilon" not in page.url
    assert epsilon.get_attribute("aria-valuetext") == "1"
