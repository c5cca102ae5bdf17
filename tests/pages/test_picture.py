"""Pictures to take along: what may be published holds no true data, and the screen is stamped."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from datetime import date
from functools import partial

import numpy as np
import plotly.graph_objects as go
import pytest

from pages._ui.cloaking import cells, computed, figures
from pages._ui.compare import compute as compare
from pages._ui.compare import view as compared
from pages._ui.compare.contenders import Contest
from pages._ui.excursion import compute as excursion
from pages._ui.excursion import figures as exceeded
from pages._ui.excursion.compute import Findings, View
from pages._ui.hiding import clipping
from pages._ui.look import maps as look_maps
from pages._ui.look import offers, pictures, sheet, sheet_figure, sheet_map
from pages._ui.look.plots import NON_PRIVATE, TRUTH
from pages._ui.look.sheet import SHAPES
from pages._ui.model import Design, Draw, usual
from pages._ui.sparse import compute as sparse
from pages._ui.sparse import view as sparse_view
from pages._ui.sparse.compute import SparseSetting
from tests.pages.test_every_page import PAGES

DAY, LINK = date(2026, 1, 2), "http://localhost:8501/kung_curves?epsilon=1"
QUESTION = "What does privacy do to a growth curve?"
DRAW = Draw(1.0, offers.DELTA)


def published(public, shape=SHAPES[0]):
    return sheet.publishable(QUESTION, public.about, partial(sheet_figure.drawn, public.figure()), shape, LINK, DAY)


def kung():
    return computed.run(usual("kung"), Design("refined"), DRAW)


def without_truth(result):
    """The same release of people whose outcomes, and whose curve without privacy, are others."""
    data = result.dataset
    others = replace(data, y=np.roll(data.y, 7)[::-1] * 0.5 + 30)
    scene = replace(result.scene, truth=others.y)
    return replace(result, dataset=others, nonprivate=0 * result.nonprivate + 60, scene=scene)


def places_in(svg):
    """Every point that is drawn (n, 2): corners of lines and areas, middles of circles."""
    pairs = [pair for points in re.findall(r'points="([^"]*)"', svg) for pair in points.split()]
    circles = re.findall(r'cx="([\d.-]+)" cy="([\d.-]+)"', svg)
    return np.array([*(pair.split(",") for pair in pairs), *circles], dtype=float)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_what_may_be_published_says_all_that_it_needs(shape):
    result = kung()
    svg = published(figures.public_curves(result), shape)
    root = ET.fromstring(svg)
    assert (root.get("width"), root.get("height")) == (str(shape.width), str(shape.height))
    said = " ".join(each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text"))
    for wanted in (
        "What does privacy do",
        "height by age",
        "example draw 1",
        "95 %",
        "ε = 1",
        "δ = 1e-5",
        "protects outputs",
        result.dataset.privacy_unit,
        "Howell",
        "Licence:",
        "2026-01-02",
        LINK,
        "noise can be drawn again",
    ):
        assert wanted in said, wanted
    assert sheet.STAMP not in said
    for at in re.findall(r'<text x="([\d.-]+)" y="([\d.-]+)"', svg):
        assert 0 <= float(at[1]) <= shape.height


def test_a_picture_says_that_a_claim_is_not_proven():
    public, draw = figures.public_curves(kung()), replace(DRAW, epsilon=50.0, calibration="hall")
    hall = computed.run(usual("kung"), Design("cloaking"), draw)
    assert "Promise (proven): ε = 1, " in published(public)
    claimed = replace(public, about=figures.about(hall, "said"))
    assert "Promise (claimed, not proven at this epsilon): ε = 50, " in published(claimed)


def test_a_published_curve_and_growth_chart_are_the_same_whoever_the_people_were():
    result = kung()
    chart = computed.growth_of(result)
    for drawn in (figures.public_curves, lambda each: figures.public_growth(each, chart, (10, 110), "said")):
        before, after = (published(drawn(each)) for each in (result, without_truth(result)))
        assert before == after
        assert TRUTH not in before
        assert NON_PRIVATE not in before


def test_no_true_point_is_among_the_points_of_the_published_curve():
    result, box = kung(), sheet.Box(0, 0, 1500, 700)
    drawn = places_in(sheet_figure.drawn(figures.curves(result, False), box))
    shown = places_in(sheet_figure.drawn(figures.curves(result, True), box))

    def reached(places, figure):
        plot, *_ = sheet_figure._laid(figure, box, list(figure.data), bar=None, named=True)
        true = plot.points(result.dataset.X[:, 0], result.dataset.y)
        apart = np.abs(places[:, None] - true[None]).max(axis=2)
        return int((apart.min(axis=0) <= 0.051).sum())

    assert reached(shown, figures.curves(result, True)) == result.dataset.n  # the test would see them
    assert reached(drawn, figures.curves(result, False)) == 0


def london():
    return computed.run(usual("london_hexes"), Design("refined"), DRAW)


def map_of(result, kind, overlay):
    table = cells.cell_table(result, overlay)
    layer = cells.layer_of(kind, table)
    return sheet_map.drawn(table[layer.columns], layer, look_maps.boroughs(), sheet.Box(0, 0, 1500, 700))


@pytest.mark.parametrize("kind", ["private", "noise", "interval"])
def test_published_maps_are_the_same_whatever_the_prices_were(kind):
    result = london()
    scene = replace(result.scene, truth=result.scene.truth[::-1])
    changed = replace(result, nonprivate=0 * result.nonprivate + 13, scene=scene)
    assert map_of(result, kind, True) == map_of(changed, kind, True)


def test_a_map_of_true_prices_has_nothing_to_publish(open_page, monkeypatch):
    made = {}
    monkeypatch.setattr(pictures, "button", lambda key, drawn: made.setdefault(key, drawn()))
    app = open_page("london_noise_map", map="truth", mechanism="refined")
    assert not app.exception
    assert made["hexagons"].about is None
    result = london()
    layer = cells.layer_of("truth", cells.cell_table(result, True))
    assert not layer.private
    with pytest.raises(ValueError, match="nothing of this figure may be published"):
        pictures.written(pictures.Drawn(lambda box: "", "said"), QUESTION, True, SHAPES[0], LINK)


def test_the_published_paths_know_no_truth():
    view = View("curve", 0.3, 8.0, 0.05, 1, 0.0, 0.0, 0.3, 1e-4, 1)
    explored = excursion.explored(view)
    other = replace(explored, truth=explored.truth[::-1] + 1)
    for make in (exceeded.curve, exceeded.sets):
        one, two = (
            sheet_figure.drawn(make(Findings(each, None)), sheet.Box(0, 0, 900, 500)) for each in (explored, other)
        )
        assert one == two


@pytest.mark.full
def test_the_published_sparse_fits_know_no_truth(monkeypatch):
    setting = SparseSetting("toy_1d", 1.0, 0.03, 13, 1.0, offers.DELTA, 1)
    fits = sparse.fits(setting)
    about = sparse_view.about(fits, setting.released("one person")[0][1])
    drawn = published(pictures.Public(partial(sparse_view.fit, fits), about))
    data, other = fits.dataset, replace(fits, plain=fits.plain + 9, plain_rmse=fits.plain_rmse + 1)
    monkeypatch.setattr(sparse.Fits, "dataset", replace(data, y=data.y[::-1]))
    assert published(pictures.Public(partial(sparse_view.fit, other), about)) == drawn


def test_a_published_release_of_compare_knows_no_truth():
    contest = Contest(usual("kung"), offers.DELTA, 10, 6)
    data, scene = computed.cached.dataset("kung"), computed.scene("kung")
    drawn = compare.release(contest, "refined", 1.0)
    figure = compared.release(drawn, scene, data, None, "refined")
    other = compared.release(drawn, scene, replace(data, y=data.y[::-1]), None, "refined")
    assert figure.to_json() == other.to_json()
    assert "true data" not in figure.to_json()


def test_the_screen_is_stamped_across():
    result = kung()
    draw = partial(sheet_figure.drawn, figures.curves(result, True))
    svg = sheet.on_screen(QUESTION, "said", draw, SHAPES[0], LINK, DAY)
    assert svg.count(sheet.STAMP) == 3
    assert svg.count("<circle") == result.dataset.n
    ET.fromstring(svg)


@pytest.mark.parametrize("page", [page for page in PAGES if page != "your_data"])
def test_every_figure_and_map_has_one_picture_button_and_no_camera_and_can_be_drawn(monkeypatch, open_page, page):
    made, button = {}, pictures.button

    def noted(key, drawn):
        made[key] = drawn()
        button(key, drawn)

    monkeypatch.setattr(pictures, "button", noted)
    app = open_page(page)
    assert not app.exception
    charts, maps = app.get("plotly_chart"), app.get("deck_gl_json_chart")
    for chart in charts:
        assert "toImage" in json.loads(chart.proto.config)["modeBarButtonsToRemove"]
    keys = sorted(each.key for each in (*charts, *maps))
    assert {*keys} <= made.keys()  # what was shown while it was computed is made too
    buttons = [block.proto.id for block in app.get("popover") if "picture_" in block.proto.id]
    assert sorted(each.rpartition("picture_")[2] for each in buttons) == keys
    for key, drawn in made.items():
        assert not re.search(r"\b[Cc]lick", drawn.caption), "a picture cannot be clicked"
        ET.fromstring(pictures.written(drawn, key, False, SHAPES[0], LINK))
        if drawn.about is not None:
            for shape in SHAPES:
                svg = pictures.written(drawn, key, True, shape, LINK)
                ET.fromstring(svg)
                assert "nan" not in re.sub(r"<text.*?</text>", "", svg), key


def test_what_fades_on_the_screen_fades_in_the_picture():
    figure = go.Figure().add_heatmap(z=[[0.0, 1.0]], x=[0, 1], y=[0], colorscale="Viridis", showscale=False)
    fade = [[0, "rgba(128,128,128,0)"], [1, "rgba(128,128,128,0.85)"]]
    figure.add_heatmap(z=[[0.0, 1.0]], x=[0, 1], y=[0], colorscale=fade, showscale=False)
    svg = sheet_figure.drawn(figure, sheet.Box(0, 0, 900, 500))
    tiles = re.findall(r'<rect [^>]*fill="(rgb[^"]*)"(?: fill-opacity="([^"]*)")?/>', svg)
    assert tiles == [
        ("rgb(68,1,84)", ""),
        ("rgb(253,231,37)", ""),
        ("rgb(128,128,128)", "0"),
        ("rgb(128,128,128)", "0.85"),
    ]


def test_what_is_written_above_bars_side_by_side_stands_above_its_own():
    figure = clipping.figure(clipping.errors(clipping.Clip(0, 100, 60), DRAW))
    svg = sheet_figure.drawn(figure, sheet.Box(0, 0, 1200, 600))
    bars = {
        float(x) + float(width) / 2: float(y)
        for x, y, width in re.findall(r'<rect x="([\d.-]+)" y="([\d.-]+)" width="([\d.]+)" height="[\d.]+" fill', svg)
    }
    labels = re.findall(r'<text x="([\d.-]+)" y="([\d.-]+)" [^>]*text-anchor="middle"[^>]*font-weight="600">', svg)
    assert len(labels) == 6
    for x, y in labels:
        near = min(bars, key=lambda middle: abs(middle - float(x)))
        assert abs(near - float(x)) < 0.2
        assert 0 < bars[near] - float(y) < 20


def test_an_address_ends_where_the_other_lines_of_a_picture_do():
    address = "http://localhost:8501/kung_curves?" + "&".join(f"growth_w_{at}=10" for at in range(40))
    assert max(map(len, sheet.wrapped(address, 20, 1500))) <= 1500 / (0.58 * 20)  # as measured in a browser
    assert max(map(len, sheet.wrapped("a few words " * 40, 20, 1500))) > 1500 / (0.58 * 20)
