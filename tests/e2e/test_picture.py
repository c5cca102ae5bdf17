"""Pictures to take along, from the button to the file."""

from __future__ import annotations

import io

from PIL import Image

from tests.e2e import browser as tool


def saved(page, name):
    with page.expect_download() as download:
        page.get_by_role("button", name=name, exact=True).click()
    path = download.value.path()
    return download.value.suggested_filename, path.read_bytes()


def test_a_picture_comes_as_svg_and_png_in_both_shapes_and_the_camera_is_gone(visit):
    page = visit.open("kung_curves?mechanism=refined")
    assert not page.locator("[data-title*='ownload plot']").count()
    page.get_by_role("button", name="Picture").first.click()
    tool.settle(page)
    for size, pixels in (("1,600 × 900 px", (1600, 900)), ("1,200 × 1,200 px", (1200, 1200))):
        page.get_by_role("radio", name=size).or_(page.get_by_role("button", name=size)).first.click()
        tool.settle(page)
        name, svg = saved(page, "SVG")
        assert name.startswith("curves-published")
        assert b"<circle" not in svg
        assert b"one woman&#x27;s or girl&#x27;s height" in svg
        assert page.url.split("?")[0].encode() in svg
        name, png = saved(page, "PNG")
        assert name.endswith(".png")
        picture = Image.open(io.BytesIO(png))
        assert picture.size == pixels
        assert len(picture.convert("RGB").getcolors(1 << 24)) > 20
    page.get_by_role("radio", name="The screen, stamped").or_(
        page.get_by_role("button", name="The screen, stamped")
    ).first.click()
    tool.settle(page)
    name, svg = saved(page, "SVG")
    assert "with-true-data" in name
    assert b"contains true data: not for publication" in svg
    assert not visit.errors


def test_the_map_has_one_too(visit):
    page = visit.open("london_noise_map?mechanism=refined&map=noise")
    page.get_by_role("button", name="Picture").first.click()
    tool.settle(page)
    name, svg = saved(page, "SVG")
    assert name.startswith("hexagons-published")
    assert svg.count(b"<polygon") > 400
    assert b"Open Government Licence" in svg
    _, png = saved(page, "PNG")
    assert Image.open(io.BytesIO(png)).size == (1600, 900)
    assert not visit.errors


STOP = "() => [!!document.activeElement.closest('.modebar'), document.activeElement.dataset.title || '']"


def test_a_toolbar_is_one_stop_and_arrow_keys_move_within_it(visit):
    page = visit.open("kung_curves?mechanism=refined")
    page.locator(".stMain h1").first.click()
    inside = []
    for _ in range(40):
        page.keyboard.press("Tab")
        inside.append(page.evaluate(STOP)[0])
        if inside[-1]:
            first = page.evaluate(STOP)[1]
            page.keyboard.press("ArrowRight")
            there, second = page.evaluate(STOP)
            assert there
            assert second != first
            break
    assert any(inside)
    page.keyboard.press("Tab")
    assert not page.evaluate(STOP)[0] or page.evaluate(STOP)[1] == first  # out of it, or at the next chart's


def test_no_plot_is_narrow_where_two_stood_side_by_side(visit):
    page = visit.open("kung_curves?mechanism=refined")
    page.set_viewport_size({"width": 1024, "height": 768})
    tool.settle(page)
    page.wait_for_timeout(600)
    widths = page.evaluate(
        "() => [...document.querySelectorAll('.stMain .js-plotly-plot .nsewdrag')]"
        ".map(each => each.getBoundingClientRect().width)"
    )
    drawn = [width for width in widths if width]  # one stands behind a tab
    assert len(drawn) >= 4
    assert min(drawn) >= 280
