"""Beside every figure of every page stands its table: reached by Tab, opened by Enter."""

from __future__ import annotations

import pytest

from pages._ui import menu
from tests.e2e import browser as tool

FIGURES = ".stMain :is([data-testid=stPlotlyChart], [data-testid=stDeckGlJsonChart])"
NEXT_BUTTON = """figure => {
    const after = each => figure.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING;
    const inside = each => figure.contains(each);
    const outer = figure.closest("[data-testid=stFullScreenFrame]") ?? figure;
    const stops = [...document.querySelectorAll("button, a[href], input, [tabindex='0']")].filter(
        each => each.tabIndex >= 0 && after(each) && !inside(each) && !outer.contains(each) && each.offsetParent);
    return stops[0].innerText;
}"""


@pytest.mark.parametrize("path", [page.file for page in menu.PAGES if not page.of_one_session])
def test_the_next_stop_after_a_figure_is_its_table(visit, path):
    page = visit.open("" if path == "start" else path)
    figures = page.locator(FIGURES).all()
    assert figures
    tables = page.locator("[class*=st-key-numbers_] button")
    assert tables.count() == len(figures)
    if path != "how_cloaking_works":
        assert "Table" in figures[0].evaluate(NEXT_BUTTON)
    first = tables.first
    first.focus()
    assert float(first.evaluate("each => parseFloat(getComputedStyle(each).outlineWidth)")) >= 2  # focus is seen
    page.keyboard.press("Enter")
    page.locator("[data-testid=stPopoverBody] [data-testid=stDataFrame]").wait_for()
    tool.settle(page)
    assert page.locator("[data-testid=stException]").count() == 0
    page.keyboard.press("Escape")
    assert visit.errors == []
