"""The address is the state: Back, reset, other pages, what is clicked, the tour."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

import pytest

from pages._ui import menu, tour
from tests.e2e import browser as tool
from tests.e2e.actions import QUESTIONS, go_to, move, shown

pytestmark = pytest.mark.full


def epsilon(page) -> float:
    return float(page.get_by_role("slider", name=re.compile("ε: more")).first.get_attribute("aria-valuetext"))


def test_back_undoes_and_forward_repeats_each_change(visit):
    page = visit.open("kung_curves?epsilon=2")
    states = [(page.url, shown(page))]
    for _ in range(2):
        move(page, "ε: more", "ArrowRight")
        states.append((page.url, shown(page)))
    assert len({url for url, _ in states}) == 3
    for state in reversed(states[:-1]):
        page.go_back()
        tool.settle(page)
        assert (page.url, shown(page)) == state
    page.go_forward()
    tool.settle(page)
    assert (page.url, shown(page)) == states[1]
    assert epsilon(page) == 3
    page.locator("[data-testid=stSidebar]").get_by_role("button", name="Reset").click()
    tool.settle(page)
    assert "epsilon" not in page.url
    assert epsilon(page) == 1
    assert visit.errors == []


def test_settings_are_kept_on_other_pages(visit):
    page = visit.open("kung_curves?epsilon=1.5&lengthscale_years=9")
    url, before = page.url, shown(page)
    go_to(page, "How cloaking works")
    assert page.locator("h1").first.inner_text() == QUESTIONS["how_cloaking_works"]
    assert "epsilon=1.5" in page.url
    page.go_back()
    tool.settle(page)
    assert (page.url, shown(page)) == (url, before)
    go_to(page, "How cloaking works")
    move(page, "ε")  # back to the default, which the address leaves out
    go_to(page, "!Kung curves")
    assert "epsilon" not in page.url
    assert "lengthscale_years=9" in page.url
    assert page.get_by_text("At epsilon = 1 ").first.is_visible()


def test_the_tour_ignores_moved_controls(visit):
    page = visit.open("?epsilon=5&prior=10")
    banner = page.locator(".st-key-tour_banner")
    page.get_by_role("button", name=re.compile("Take the tour")).click()
    tool.settle(page)
    for number, step in enumerate(tour.STEPS, start=1):
        page.get_by_text(f"step {number} of 7: {step.title}").wait_for()
        tool.settle(page)
        state = dict(parse_qsl(urlsplit(page.url).query))
        assert state["tour"] == str(number)
        for key, value in step.state.items():
            assert key in ("map", "attack_on") or state[key] == menu.TITLES.get(key, {}).get(value, value)  # defaults
        assert state.keys() - step.state.keys() <= {"tour", "prior"}
        assert epsilon(page) == float(step.state.get("epsilon", 1))
        assert page.locator("[data-testid=stException]").count() == 0
        move(page, "ε: more", "ArrowRight")
        banner.get_by_role("link", name=re.compile("Next question" if step != tour.STEPS[-1] else "Back")).click()
    page.get_by_text("step 6 of 7").wait_for()
    tool.settle(page)
    page.get_by_role("button", name="Leave the tour").click()
    banner.wait_for(state="hidden")
    tool.settle(page)
    assert "tour" not in page.url
    assert visit.external == []
    assert visit.errors == []
