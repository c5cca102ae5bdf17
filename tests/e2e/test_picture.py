"""Curves as they are drawn, and pictures to take along, from the button to the file."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from tests.e2e import browser as tool
from tests.e2e.actions import move, unfold

CHART = "document.querySelector('.st-key-curves .js-plotly-plot')"
CURVE = f"() => Array.from({CHART}._fullData.find(trace => trace.name === 'published curve').y)"
STOP = "() => [!!document.activeElement.closest('.modebar'), document.activeElement.dataset.title || '']"


@pytest.mark.full
def test_another_setting_is_drawn_on_the_same_axes(visit):
    page = visit.open("kung_curves")
    first, axes = page.evaluate(CURVE), page.evaluate(f"{CHART}._fullLayout.yaxis.range")
    move(page, "ε")
    moved = page.evaluate(CURVE)
    assert page.evaluate(f"{CHART}._fullLayout.yaxis.range") == axes
    unfold(page)
    page.get_by_role("button", name="New noise").click()
    tool.settle(page)
    assert page.url.endswith("kung_curves?epsilon=0.7&draw=2")
    assert first != moved != page.evaluate(CURVE)


def pictures(page):
    """Open what is offered to take along."""
    page.get_by_role("button", name="Picture").first.click()
    tool.settle(page)


def choose(page, name):
    page.get_by_role("radio", name=name).or_(page.get_by_role("button", name=name)).first.click()
    tool.settle(page)


def saved(page, kind):
    choose(page, kind)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download", exact=True).click()
    path = download.value.path()
    return download.value.suggested_filename, path.read_bytes()


@pytest.mark.full
def test_pictures_are_saved_as_svg_and_png(visit):
    page = visit.open("kung_curves?mechanism=refined")
    assert not page.locator("[data-title*='ownload plot']").count()
    pictures(page)
    for size, pixels in (("1,600 × 900 px", (1600, 900)), ("1,200 × 1,200 px", (1200, 1200))):
        choose(page, size)
        name, svg = saved(page, "SVG")
        assert name.startswith("curves-published")
        assert b"one woman's or girl's height" in svg
        assert b"true data" not in svg
        assert page.url.split("?")[0].encode() in svg
        name, png = saved(page, "PNG")
        assert name.endswith(".png")
        name, pdf = saved(page, "PDF")
        assert name.endswith(".pdf")
        assert pdf.startswith(b"%PDF-")
        picture = Image.open(io.BytesIO(png))
        assert picture.size == pixels
        assert len(picture.convert("RGB").getcolors(1 << 24)) > 20
    choose(page, "The screen, stamped")
    name, svg = saved(page, "SVG")
    assert "with-true-data" in name
    assert b"contains true data: not for publication" in svg
    assert not visit.errors


@pytest.mark.full
def test_arrow_keys_move_within_a_toolbar(visit):
    page = visit.open("kung_curves?mechanism=refined")
    page.locator(".stMain h1").first.click()
    for _ in range(40):
        page.keyboard.press("Tab")
        inside, first = page.evaluate(STOP)
        if inside:
            break
    assert inside
    page.keyboard.press("ArrowRight")
    inside, second = page.evaluate(STOP)
    assert inside
    assert second != first
    page.keyboard.press("Tab")
    inside, there = page.evaluate(STOP)
    assert not inside or there == first  # out of it, or at the next chart's
