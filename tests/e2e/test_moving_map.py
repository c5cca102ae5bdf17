"""The moving map: it stands still unasked, plays, and holds where it is paused."""

from __future__ import annotations

import pytest

from tests.e2e import browser as tool

pytestmark = pytest.mark.full

PLACE = "() => getComputedStyle(document.querySelector('.moving')).backgroundPosition"


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_play_moves_the_map_and_pause_holds_it(chromium, server, motion):
    context = tool.new_context(chromium, reduced_motion=motion)
    page = context.new_page()
    page.goto(f"{server}/london_noise_map?mechanism=cloaking&map=noise&directions=true")
    tool.settle(page)
    page.wait_for_selector(".moving")
    assert page.evaluate(PLACE) == "0px 0px"
    page.get_by_label("One draw").focus()
    page.keyboard.press("ArrowDown")
    places = set()
    for _ in range(60):
        places.add(page.evaluate(PLACE))
        page.wait_for_timeout(100)
    assert len(places) > 2
    page.keyboard.press("ArrowDown")
    held = page.evaluate(PLACE)
    page.wait_for_timeout(2500)
    assert page.evaluate(PLACE) == held
    page.get_by_label("One draw").check()
    assert page.evaluate(PLACE) == "0px 0px"
    context.close()
