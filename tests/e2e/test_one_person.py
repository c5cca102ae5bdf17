"""A click chooses a person, arrow keys move her."""

from __future__ import annotations

import re

import pytest

from tests.e2e import browser as tool

pytestmark = pytest.mark.full

PIXEL = """([x, y]) => {
    const graph = document.querySelector(".st-key-one_person .js-plotly-plot"), layout = graph._fullLayout;
    const box = graph.querySelector(".nsewdrag").getBoundingClientRect();
    return [box.x + layout.xaxis.d2p(x), box.y + layout.yaxis.d2p(y)];
}"""


def test_a_click_chooses_a_record_and_the_keyboard_moves_it(visit):
    page = visit.open("how_cloaking_works?everybody=true")
    assert page.get_by_text("Person 287, age 85.6 years").is_visible()
    chart = page.locator(".st-key-one_person").first
    chart.scroll_into_view_if_needed()
    tool.settle(page)
    page.mouse.click(*page.evaluate(PIXEL, [83.0, 158.27]))  # alone there: the last but one
    tool.settle(page)
    said = page.get_by_text(re.compile(r"Person \d+, age")).inner_text()
    assert said.startswith("Person 286, age 83 years")
    assert "person_kung=286" in page.url
    page.get_by_role("slider", name=re.compile("Height moved to")).press("ArrowLeft")
    tool.settle(page)
    assert page.get_by_text("Person 286, age 83 years").inner_text() != said
    assert "moved_to_kung=157" in page.url
