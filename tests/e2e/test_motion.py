"""What moves: draws one after another, the map, a person; nothing for those who ask for stillness."""

from __future__ import annotations

import pytest

from tests.e2e import browser as tool
from tests.e2e.actions import move

pytestmark = pytest.mark.full


def test_answers_are_announced_and_motion_is_reduced(visit):
    visit.page.emulate_media(reduced_motion="reduce")
    page = visit.open("kung_curves")
    assert page.locator(".st-key-answer [role=status][aria-live=polite]").inner_text().startswith("At epsilon = 1")
    slow = page.evaluate("""Array.from(document.querySelectorAll("*"))
        .filter(each => parseFloat(getComputedStyle(each).transitionDuration) > 0.01).length""")
    assert slow == 0


# ---- Draws shown one after another, and the moving map: by the keyboard, without a word to the server, never unasked.


SEEN = """chart => Array.from(document.querySelectorAll(`.st-key-${chart} .scatterlayer > .trace`))
    .map((each, index) => [index, getComputedStyle(each).opacity])
    .filter(([index, opacity]) => opacity > 0).map(([index]) => index)"""
DRAWS = 5
PLACE = "() => getComputedStyle(document.querySelector('.moving')).backgroundPosition"
HELD = 2500  # milliseconds: longer than any draw is shown for


def seen(page, chart="curves"):
    """Which draws are visible, by their lines; and by their bands."""
    visible = set(page.evaluate(SEEN, chart))
    # wide band, a band for each draw, fit, data, a line for each draw
    bands = {index for index in range(DRAWS) if 1 + index in visible}
    return {index for index in range(DRAWS) if 3 + DRAWS + index in visible}, bands


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_play_shows_each_release_and_pause_stops_it(visit, motion):
    told = []
    visit.page.emulate_media(reduced_motion=motion)
    visit.page.on("websocket", lambda socket: socket.on("framesent", lambda sent: told.append(sent)))
    page = visit.open(f"kung_curves?draws={DRAWS}")
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
    page.wait_for_timeout(HELD)
    assert seen(page) == seen(page, "curves_beside") == held
    page.get_by_label("All together").check()
    assert seen(page) == (set(range(DRAWS)), {0})
    assert told == []


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_play_moves_the_map_and_pause_stops_it(visit, motion):
    visit.page.emulate_media(reduced_motion=motion)
    page = visit.open("london_noise_map?mechanism=cloaking&map=noise&directions=true")
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
    page.wait_for_timeout(HELD)
    assert page.evaluate(PLACE) == held
    page.get_by_label("One draw").check()
    assert page.evaluate(PLACE) == "0px 0px"


# ---- A click chooses a person, arrow keys move her; a slider moves one of two.


PIXEL = """([x, y]) => {
    const graph = document.querySelector(".st-key-one_person .js-plotly-plot"), layout = graph._fullLayout;
    const box = graph.querySelector(".nsewdrag").getBoundingClientRect();
    return [box.x + layout.xaxis.d2p(x), box.y + layout.yaxis.d2p(y)];
}"""


def test_click_and_keyboard_choose_and_move_a_record(visit):
    page = visit.open("how_cloaking_works?everybody=true")
    assert page.get_by_text("Person 287, age 85.6 years").is_visible()
    page.locator(".st-key-one_person").first.scroll_into_view_if_needed()
    tool.settle(page)
    page.mouse.click(*page.evaluate(PIXEL, [83.0, 158.27]))  # alone there: the last but one
    tool.settle(page)
    person = page.get_by_text("Person 286, age 83 years")
    said = person.inner_text()
    assert "person_kung=286" in page.url
    move(page, "Height moved to")
    assert person.inner_text() != said
    assert "moved_to_kung=157" in page.url
