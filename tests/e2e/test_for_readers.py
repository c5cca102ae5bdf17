"""What a screen reader is told of the three pages that most people open, and what a small window leaves of figures."""

from __future__ import annotations

import re

import pytest

from tests.e2e import browser as tool
from tests.e2e.actions import SIDEWAYS

pytestmark = pytest.mark.full

# What is read in this order, numbers aside: a heading, the whole lead as one status, controls, figures, their texts.
TOLD = {
    "": (
        'heading "What can anyone learn about one person?" [level=1]',
        "status",
        "Recommended: ε = #",
        "What Bayes cloaking publishes predicts one woman's or girl's height with a typical error of",
        'figure "Chart: chance afterwards [%] by epsilon (more private to the left). Upper line, the most that is',
        'figure "Chart: error [cm] by epsilon (more private to the left). Error of a published curve: # cm at',
        'heading "Teach" [level=2]',
        'heading "Decide" [level=2]',
        'heading "Publish" [level=2]',
    ),
    "kung_curves": (
        'heading "What does privacy do to a growth curve?" [level=1]',
        "status",
        "refined cloaking predicts one woman's or girl's height to within",
        'figure "Chart: height [cm] by age [years]. Orange line: the published curve, # cm at #, # cm at #, # cm at # '
        "years.",
        "It is ± # cm at # years and ± # cm at #",
        "Inner band: # % interval for the average.",
    ),
    "london_noise_map": (
        'heading "Where does privacy blur the map?" [level=1]',
        "status",
        "refined cloaking predicts one hexagon's median price to within",
        "Lowest:",
        "Highest:",
        "Lowest in",
    ),
}
WIDTHS = """() => [...document.querySelectorAll(".stMain .js-plotly-plot")].filter(each => each.offsetParent)
    .map(each => [each._fullLayout._size.w, each.querySelector(".main-svg").getBoundingClientRect().left])"""
BESIDE = """() => [...document.querySelectorAll(".stMain .js-plotly-plot .annotation")].filter(
    each => each.textContent.includes("━") && getComputedStyle(each).display !== "none").length"""


@pytest.mark.parametrize("path", TOLD)
def test_screen_readers_read_answer_and_figures_once(visit, path):
    page = visit.open(path)
    told = re.sub(r"\d[\d,.]*", "#", page.locator("[data-testid=stMain]").aria_snapshot())
    at = 0
    for part in TOLD[path]:
        wanted = re.sub(r"(?<!level=)\d[\d,.]*", "#", part).replace("level=1", "level=#").replace("level=2", "level=#")
        found = told.find(wanted, at)
        assert found >= 0, f"{wanted!r} is not told, or not in its order:\n{told[at : at + 3000]}"
        at = found
    texts = re.findall(r"(?:text|paragraph): (.{60,})", told)
    assert len(texts) == len(set(texts)), "a text is said twice"


@pytest.mark.parametrize("path", TOLD)
@pytest.mark.parametrize("width", [1024, 400])
def test_plots_stay_wide_in_small_windows(opened, path, width):
    page = opened(path, (width, 800))
    page.wait_for_timeout(500)  # plotly draws anew in its wider place
    for across, left in page.evaluate(WIDTHS):
        assert across >= 280
        assert left >= 0
    assert page.evaluate(BESIDE) == 0
    assert page.locator(".names").count() == 0 or page.locator(".names").first.is_visible()
    assert page.evaluate(SIDEWAYS) <= 0


def test_the_menu_gives_way_to_its_page_in_a_narrow_window(opened):
    page = opened("attack", (400, 800))
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_test_id("stSidebarNavLink").filter(has_text="How cloaking works").click()
    page.wait_for_selector("[data-testid=stSidebar][data-collapsed=true]", state="attached")
    tool.settle(page)
    assert page.url.endswith("how_cloaking_works")
