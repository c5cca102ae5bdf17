"""The address is the state: Back, reset, links of the tour."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

import pytest

from pages._ui import menu, tour
from tests.e2e import browser as tool
from tests.e2e.actions import go_to, shown, unfold

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


# ---- Back and reset.


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


def follow(page, label: str) -> None:
    banner = page.locator(".st-key-tour_banner")
    before = banner.inner_text()
    banner.get_by_role("link", name=re.compile(label)).click()
    page.wait_for_function("text => document.querySelector('.st-key-tour_banner')?.innerText !== text", arg=before)
    tool.settle(page)


def epsilon_of_the_address(page) -> float:
    return float(page.get_by_role("slider", name=re.compile("ε: more")).first.get_attribute("aria-valuetext"))


def test_the_tour_leads_through_its_states_whatever_was_moved_on_the_way(visit):
    page = visit.open("?epsilon=5&prior=10")
    page.get_by_role("button", name=re.compile("Take the tour")).click()
    tool.settle(page)
    for number, step in enumerate(tour.STEPS, start=1):
        page.get_by_text(f"step {number} of 7: {step.title}").wait_for()
        shown = dict(parse_qsl(urlsplit(page.url).query))
        assert shown["tour"] == str(number)
        left_out = ("map", "attack_on")  # defaults
        for key, value in step.state.items():
            assert key in left_out or shown[key] == menu.TITLES.get(key, {}).get(value, value)
        assert shown.keys() - step.state.keys() <= {"tour", "prior"}
        assert epsilon_of_the_address(page) == float(step.state.get("epsilon", 1))
        assert page.locator("[data-testid=stException]").count() == 0
        page.get_by_role("slider", name=re.compile("ε: more")).first.press("ArrowRight")
        tool.settle(page)
        if number < len(tour.STEPS):
            follow(page, "Next question")
    follow(page, "Back")
    page.get_by_text("step 6 of 7").wait_for()
    page.get_by_role("button", name="Leave the tour").click()
    page.locator(".st-key-tour_banner").wait_for(state="hidden")
    tool.settle(page)
    assert "tour" not in page.url
    assert page.get_by_text("Guided tour").count() == 0
    assert visit.external == []
    assert visit.errors == []


def test_off_the_tour_one_is_led_back_to_the_step(visit):
    page = visit.open("kung_curves?tour=3&epsilon=2")
    assert epsilon_of_the_address(page) == 2
    go_to(page, "Sparse DP-GP")
    page.get_by_text("off the tour").wait_for()
    follow(page, "Back to the tour")
    page.get_by_text("step 3 of 7").wait_for()
    assert epsilon_of_the_address(page) == 0.5
