from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser

from tests.e2e import browser as tool
from tests.e2e.actions import QUESTIONS, go_to, move, unfold

pytestmark = pytest.mark.full


def curve(page, chart: str = "curves") -> list[float]:
    """What is really drawn: y values of the private draw in a chart."""
    return page.evaluate(
        """chart => Array.from(document.querySelector(`.st-key-${chart} .js-plotly-plot`)
            ._fullData.find(trace => trace.name === 'published curve').y)""",
        chart,
    )


def test_less_epsilon_changes_sentence_picture_and_address(visit):
    page = visit.open("kung_curves")
    before = curve(page)
    move(page, "ε")
    assert "epsilon=0.7" in page.url
    assert curve(page) != before
    assert page.get_by_text("At epsilon = 0.7").is_visible()


def test_a_longer_lengthscale_needs_less_noise(visit):
    page = visit.open("kung_curves?mechanism=refined&lengthscale_years=15")
    short = page.locator("[data-testid=stMetricValue]").nth(2).inner_text()
    move(page, "Lengthscale", "ArrowRight")
    long = page.locator("[data-testid=stMetricValue]").nth(2).inner_text()
    as_number = lambda shown: float(re.search(r"[\d.]+", shown)[0])  # noqa: E731
    assert as_number(long) < as_number(short)


def test_draw_again_is_another_draw_and_adds_to_what_is_spent(visit):
    page = visit.open("kung_curves")
    before = curve(page)
    unfold(page)
    page.get_by_role("button", name="Draw again").click()
    tool.settle(page)
    assert curve(page) != before
    assert "draw=2" in page.url
    unfold(page)
    assert page.get_by_text("separate real releases of the settings seen in this session").is_visible()


def test_changing_epsilon_keeps_the_axes(visit):
    page = visit.open("kung_curves")
    axes = "document.querySelector('.st-key-curves .js-plotly-plot')._fullLayout.yaxis.range"
    before = page.evaluate(axes)
    move(page, "ε")
    assert page.evaluate(axes) == before


def test_deep_link_on_a_fresh_server(chromium: Browser):
    with tool.serve() as address:
        page = tool.new_context(chromium).new_page()
        page.goto(f"{address}/london_noise_map?epsilon=2&lengthscale_km=8&map=private")
        tool.settle(page)
        assert page.locator("h1").first.inner_text() == QUESTIONS["london_noise_map"]
        assert page.get_by_text("At epsilon = 2").is_visible()
        assert "lengthscale_km=8" in page.url
        page.context.close()


def test_clicking_a_hexagon_shows_its_row(visit):
    page = visit.open("london_noise_map")
    row = page.locator("[data-testid=stTable] tbody")
    assert row.count() == 0
    box = page.locator(".st-key-hexagons canvas").first.bounding_box()
    for _ in range(20):  # a click before the map has drawn its hexagons hits none
        page.mouse.click(box["x"] + box["width"] / 2 + 7, box["y"] + box["height"] / 2 + 5)
        tool.settle(page)
        if row.count():
            break
    assert re.match(r"87[0-9a-f]{13}", row.inner_text().strip())


def test_state_survives_a_change_of_page(visit):
    page = visit.open("london_noise_map?epsilon=1.5&lengthscale_km=8")
    go_to(page, "How cloaking works")
    assert page.locator("h1").first.inner_text() == QUESTIONS["how_cloaking_works"]
    assert "epsilon=1.5" in page.url
    move(page, "ε")  # back to the default, which the address leaves out
    go_to(page, "London noise map")
    assert "epsilon" not in page.url
    assert "lengthscale_km=8" in page.url
    assert page.get_by_text("At epsilon = 1 ").is_visible()


def test_finding_private_settings_sets_the_sliders(visit):
    page = visit.open("excursion_sets?r=1&sigma=1")
    unfold(page)
    page.get_by_role("button", name="Find").click()
    tool.settle(page)
    page.get_by_text("Found for epsilon at most 3").wait_for()
    tool.settle(page)
    promised = page.locator("[data-testid=stMetricValue]").nth(3).inner_text()
    assert float(promised) <= 3.0
    assert page.locator("[data-testid=stException]").count() == 0


def test_excursion_map_of_london_draws(visit):
    page = visit.open("excursion_sets?excursion=london")
    assert page.locator("#deckgl-overlay").count() == 1
    assert visit.external == []


def test_a_click_on_a_tile_is_taken_along(visit):
    page = visit.open("lengthscale_choice")
    box = page.locator(".st-key-tiles .nsewdrag").first.bounding_box()
    # third column (epsilon 5) of eight, bottom row but one (3 years) of ten
    page.mouse.click(box["x"] + box["width"] * 2.5 / 8, box["y"] + box["height"] * 8.5 / 10)
    tool.settle(page)
    assert page.get_by_text("Taken along: lengthscale 3 years at ε = 5").is_visible()
    assert "epsilon=5" in page.url
    go_to(page, "!Kung curves")
    assert page.get_by_text("At epsilon = 5 ").first.is_visible()
    assert "lengthscale_years=3" in page.url


def test_moving_a_record_moves_the_two_point_picture(visit):
    page = visit.open("how_cloaking_works")
    sentence = page.get_by_text("of the variance of noise in all").inner_text()
    page.get_by_text("Move the two people").click()
    move(page, "Person 1 at")
    assert page.get_by_text("of the variance of noise in all").inner_text() != sentence


def test_a_bad_link_is_explained_and_nothing_breaks(visit):
    page = visit.open("kung_curves?epsilon=0")
    assert page.get_by_text("it is not offered here; the choices are 0.1, 0.2").is_visible()
    assert page.get_by_text("At epsilon = 1 ").is_visible()
