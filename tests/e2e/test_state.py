"""Back and reset."""

from __future__ import annotations

import re

import pytest

from tests.e2e import browser as tool
from tests.e2e.actions import shown, unfold

pytestmark = pytest.mark.full


def test_back_and_reset_move_the_controls_and_the_address(visit):
    page = visit.open("kung_curves?epsilon=2")
    before = shown(page)
    epsilon = page.get_by_role("slider", name=re.compile("ε: more")).first
    epsilon.press("ArrowRight")
    tool.settle(page)
    assert "epsilon=3" in page.url
    page.go_back()
    tool.settle(page)
    assert "epsilon=2" in page.url
    assert shown(page) == before
    unfold(page)
    page.locator("[data-testid=stSidebar]").get_by_role("button", name="Reset").click()
    tool.settle(page)
    assert "epsilon" not in page.url
    assert epsilon.get_attribute("aria-valuetext") == "1"
