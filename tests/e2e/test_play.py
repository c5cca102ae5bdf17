"""Draws shown one after another: by the keyboard, without a word to the server, and never by itself."""

from __future__ import annotations

import pytest

from tests.e2e import browser as tool

pytestmark = pytest.mark.full

SEEN = """chart => Array.from(document.querySelectorAll(`.st-key-${chart} .scatterlayer > .trace`))
    .map((each, index) => [index, getComputedStyle(each).opacity])
    .filter(([index, opacity]) => opacity > 0).map(([index]) => index)"""
DRAWS = 5


def seen(page, chart="curves"):
    """Which draws are visible, by their lines; and by their bands."""
    visible = set(page.evaluate(SEEN, chart))
    # wide band, a band for each draw, fit, data, a line for each draw
    bands = {index for index in range(DRAWS) if 1 + index in visible}
    return {index for index in range(DRAWS) if 3 + DRAWS + index in visible}, bands


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_play_shows_each_draw_in_turn_and_pause_holds_it(chromium, server, motion):
    context = tool.new_context(chromium, reduced_motion=motion)
    page, told = context.new_page(), []
    page.on("websocket", lambda socket: socket.on("framesent", lambda sent: told.append(sent)))
    page.goto(f"{server}/kung_curves?draws={DRAWS}")
    tool.settle(page)
    assert seen(page) == (set(range(DRAWS)), {0})  # nothing moves unasked
    told.clear()
    page.get_by_label("All together").focus()
    page.keyboard.press("ArrowDown")
    turns = set()
    for _ in range(200):
        lines, bands = seen(page)
        if len(lines) != 1:  # just at the turn
            lines, bands = seen(page)
        assert len(lines) == 1
        assert lines == bands
        turns |= lines
        if len(turns) == DRAWS:
            break
        page.wait_for_timeout(100)
    assert turns == set(range(DRAWS))
    page.keyboard.press("ArrowDown")
    held = seen(page)
    page.wait_for_timeout(2500)  # longer than any draw is shown for
    assert seen(page) == held
    assert seen(page, "curves_paper") == held
    page.get_by_label("All together").check()
    assert seen(page) == (set(range(DRAWS)), {0})
    assert told == []
    context.close()
