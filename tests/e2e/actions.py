"""What a visitor does on every page, and what it is called."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from pages._ui import menu
from tests.e2e import browser as tool

QUESTIONS = {
    "start": "What can anyone learn about one person?",
    "kung_curves": "What does privacy do to a growth curve?",
    "london_noise_map": "Where does privacy blur the map?",
    "excursion_sets": "Where is the curve above the threshold?",
    "sparse_dp_gp": "What if the inputs must be hidden too?",
    "attack": "What can an attacker tell about one person?",
    "lengthscale_choice": "What does it cost to choose the lengthscale?",
    "compare": "Which method has the smallest error?",
    "your_data": "Publish a curve from your own table",
    "explore_release": "What else can you ask of a release?",
    "how_cloaking_works": "Why does so little noise hide a person?",
}

# By how many pixels a page is wider than its window
SIDEWAYS = "document.querySelector('[data-testid=stMain]').scrollWidth - window.innerWidth"


def move(page, label: str, key: str = "ArrowLeft", wait: bool = True) -> None:
    """Move the slider with this label by one step; wait until the page is done with it."""
    unfold(page)
    page.get_by_role("slider", name=re.compile(label)).first.press(key)
    if wait:
        tool.settle(page)


def unfold(page) -> None:
    """Open what is folded away in the sidebar."""
    folded = page.locator("[data-testid=stSidebar] details:not([open]) > summary")
    for _ in range(folded.count()):
        folded.first.click()  # what was clicked is folded no more


def go_to(page, title: str) -> None:
    """Use the menu."""
    section = next(section for section, rows in menu.sections().items() for row in rows if row.title == title)
    page.get_by_test_id("stTopNavSection").filter(has_text=section).click()
    page.get_by_test_id("stTopNavDropdownLink").filter(has_text=title).click()
    tool.settle(page)


def copied(page) -> str:
    """The link that is offered for copying, without its host."""
    page.get_by_role("button", name="Copy this state").click()
    link = urlsplit(page.locator("[data-testid=stPopoverBody] code").inner_text().replace("\n", ""))
    page.keyboard.press("Escape")
    return f"{link.path.removeprefix('/')}?{link.query}"


def shown(page) -> tuple[str, list[str]]:
    """The answer and the figures on screen."""
    return page.locator(".st-key-answer").inner_text(), page.locator("[data-testid=stMetric]").all_inner_texts()
