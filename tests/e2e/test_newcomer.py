"""What a newcomer runs is what is tested: `make app` in a clean clone, every page opened, the terminal read."""

from __future__ import annotations

from pages._ui import menu
from tests.e2e import browser as tool
from tests.e2e import newcomer
from tests.e2e.actions import QUESTIONS, unfold
from tests.e2e.conftest import Visit

# Pages whose address is a link that somebody sent, besides those that are opened as they are.
LINKS = ("kung_curves?lengthscale_years=9&epsilon=2", "?tour=1", "attack?epsilon=nonsense")


def test_a_terminal_with_anything_else_is_noticed():
    address = "Dashboard URL: http://localhost:8501\n"
    assert newcomer.unknown(address + "  Stopping...\n") == []
    for line in ("Traceback (most recent call last):", "2026-01-01 missing ScriptRunContext!", "warmed 3 states"):
        assert newcomer.unknown(address + line) == [line]


def test_every_page_opens_and_the_terminal_shows_the_address_only(chromium, tmp_path):
    with newcomer.started(tmp_path) as dashboard:
        context = tool.new_context(chromium, viewport={"width": 1280, "height": 720})
        visit = Visit(context.new_page(), dashboard.address)
        for page in menu.PAGES:
            opened = visit.open("" if page is menu.PAGES[0] else page.file)
            assert opened.locator("h1").first.inner_text() == QUESTIONS[page.file]
            assert opened.locator("[data-testid=stException]").count() == 0, page.file
        for link in LINKS:
            assert visit.open(link).locator("[data-testid=stException]").count() == 0, link
        unfold(visit.page)
        visit.page.locator("[data-testid=stSidebar]").get_by_role("slider").first.press("ArrowRight")
        tool.settle(visit.page)
        assert visit.errors == []
        context.close()
        terminal = dashboard.stop()
    assert terminal.startswith(f"Dashboard URL: {dashboard.address}\n")
    assert newcomer.unknown(terminal) == []
