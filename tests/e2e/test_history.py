"""Back undoes the last change of a control, and a page opened from the menu is one entry of the browser's history."""

from __future__ import annotations

import re

import pytest

from tests.e2e import browser as tool
from tests.e2e.actions import go_to, shown

pytestmark = pytest.mark.full


def epsilon(page):
    return page.locator("[data-testid=stSidebar]").get_by_role("slider", name=re.compile("ε: more")).first


def test_back_undoes_each_change_and_forward_makes_it_again(visit):
    page = visit.open("kung_curves?epsilon=2")
    states = [(page.url, shown(page))]
    for _ in range(2):
        epsilon(page).press("ArrowRight")
        tool.settle(page)
        states.append((page.url, shown(page)))
    assert len({url for url, _ in states}) == 3
    for url, seen in reversed(states[:-1]):
        page.go_back()
        tool.settle(page)
        assert (page.url, shown(page)) == (url, seen)
    page.go_forward()
    tool.settle(page)
    assert (page.url, shown(page)) == states[1]
    assert epsilon(page).get_attribute("aria-valuetext") == "3"
    assert visit.errors == []


def test_back_from_another_page_finds_the_first_as_it_was(visit):
    page = visit.open("kung_curves?epsilon=5")
    before = shown(page)
    go_to(page, "How cloaking works")
    assert "epsilon=5" in page.url
    page.go_back()
    tool.settle(page)
    assert page.url.endswith("kung_curves?epsilon=5")
    assert shown(page) == before
