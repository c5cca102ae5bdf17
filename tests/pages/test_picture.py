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
from matplotlib.figure import Figure

from dpgp_core.figures import export
from dpgp_core.figures.export import SHAPES
from pages._ui.cloaking import cells, computed, figures
from pages._ui.compare import compute as compare
from pages._ui.compare import view as compared
from pages._ui.compare.contenders import Contest
from pages._ui.excursion import compute as excursion
from pages._ui.excursion import figures as exceeded
from pages._ui.excursion.bayes import Findings
from pages._ui.excursion.compute import View
from pages._ui.hiding import clipping
from pages._ui.look import about as words
from pages._ui.look import maps as look_maps
from pages._ui.look import offers, pictures, redrawn, redrawn_maps
from pages._ui.look.plots import NON_PRIVATE, TRUTH
from pages._ui.model import Design, Draw, usual
from pages._ui.sparse import compute as sparse
from pages._ui.sparse import view as sparse_view
from pages._ui.sparse.compute import SparseSetting
from tests.pages.test_every_page import PAGES

DAY, LINK = date(2026, 1, 2), "http://localhost:8501/kung_curves?epsilon=1"
HEADLINE = "At epsilon = 1 the error is **9.3 cm**. Without privacy it is 6 cm."
DRAW = Draw(1.0, offers.DELTA)
SVG = "{http://www.w3.org/2000/svg}"


def published(public, shape=SHAPES[0], link=LINK):
    drawn = redrawn.of_figure(public.figure())
    return export.written(words.publishable(public.about, link, DAY), drawn, shape).decode()


def kung():
    return computed.run(usual("kung"), Design("refined"), DRAW)


def without_truth(result):
    """The same release of people whose outcomes, and whose curve without privacy, are others."""
    data = result.dataset
    others = replace(data, y=np.roll(data.y, 7)[::-1] * 0.5 + 30)
    scene = replace(result.scene, truth=others.y)
    return replace(result, dataset=others, nonprivate=0 * result.nonprivate + 60, scene=scene)


def places_in(svg):
    """Every point that is drawn (n, 2): corners of lines and areas, middles of markers."""
    corners = re.findall(r"[ML] ([\d.-]+) ([\d.-]+)", svg)
    markers = re.findall(r'<use [^>]*x="([\d.-]+)" y="([\d.-]+)"', svg)
    return np.array([*corners, *markers], dtype=float)


def said_in(svg):
    return " ".join(each.text or "" for each in ET.fromstring(svg).iter(f"{SVG}text"))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_publishable_pictures_are_complete(shape):
    result = kung()
    svg = published(figures.public_curves(result), shape)
    root = ET.fromstring(svg)
    assert (root.get("width"), root.get("height")) == (str(shape.width), str(shape.height))
    said = said_in(svg)
    for wanted in (
        "At ε = 1 the curve is known to within",
        "ε = 1, δ = 1e-5. !Kung heights",
        "height by age",
        "simulated release 1",
        "95 %",
        "ε = 1",
        "δ = 1e-5",
        "protects outputs",
        result.dataset.privacy_unit,
        "Howell",
        "Licence:",
        "2026-01-02",
        "its noise can be reproduced",
    ):
        assert wanted in said, wanted
    assert export.STAMP not in said
    for x, y in re.findall(r'<text [^>]*x="([\d.-]+)" y="([\d.-]+)"', svg):
        assert 0 <= float(x) <= shape.width
        assert 0 <= float(y) <= shape.height
    assert root.find(f"{SVG}title").text.startswith("At ε = 1 the curve is known to within")
    assert "protects outputs" in root.find(f"{SVG}desc").text
    assert root.find(f"{SVG}metadata").text == LINK
    assert "localhost" not in said


def test_export_links_never_name_this_machine():
    public = figures.public_curves(kung())
    address = "https://dp.example.org/kung_curves?" + "&".join(f"growth_w_{at}=10" for at in range(40))
    svg = published(public, link=address)
    assert "2026-01-02. dp.example.org/kung_curves" in said_in(svg)
    assert "growth_w" not in said_in(svg)
    assert ET.fromstring(svg).find(f"{SVG}metadata").text == address  # the whole state


def test_a_picture_marks_unproven_claims():
    public, draw = figures.public_curves(kung()), replace(DRAW, epsilon=50.0, calibration="hall")
    hall = computed.run(usual("kung"), Design("cloaking"), draw)
    assert "Promise (proven): ε = 1, " in said_in(published(public))
    claimed = replace(public, about=figures.about(hall, "said"))
    assert "Promise (claimed, not proven at this epsilon): ε = 50, " in said_in(published(claimed))


def test_published_curves_do_not_depend_on_people():
    result = kung()
    chart = computed.growth_of(result)
    for drawn in (figures.public_curves, lambda each: figures.public_growth(each, chart, (10, 110), "said")):
        before, after = (published(drawn(each)) for each in (result, without_truth(result)))
        assert before == after
        assert TRUTH not in before
        assert NON_PRIVATE not in before


def test_published_curves_contain_no_true_point():
    result = kung()

    def reached(overlay):
        figure, true = figures.curves(result, overlay), []

        def drawn(ax):
            redrawn.draw(figure, ax, named=False)
            true.append(ax)

        svg = export.written(export.ExportText(title="Points"), export.drawing(drawn)).decode()
        [ax] = true
        places = places_in(svg) * [1, -1] + [0, 900]  # from the lower edge
        points = np.column_stack([result.dataset.X[:, 0], result.dataset.y])
        (low, left), (west, east) = (ax.bbox.y0, ax.bbox.x0), ax.get_xlim()
        bottom, top = ax.get_ylim()
        wanted = (points - [west, bottom]) / [east - west, top - bottom] * [ax.bbox.width, ax.bbox.height] + [left, low]
        apart = np.abs(places[:, None] - wanted[None]).max(axis=2)
        return int((apart.min(axis=0) <= 0.01).sum())

    assert reached(True) == result.dataset.n  # the test would see them
    assert reached(False) == 0


def london():
    return computed.run(usual("london_hexes"), Design("refined"), DRAW)


def map_of(result, kind, overlay):
    table = cells.cell_table(result, overlay)
    layer = cells.layer_of(kind, table)
    drawn = redrawn_maps.of_map(table[layer.columns], layer, look_maps.boroughs())
    return export.written(export.ExportText(title="Map"), drawn)


@pytest.mark.full_for("noise")
@pytest.mark.parametrize("kind", ["private", "noise", "interval"])
def test_published_maps_do_not_depend_on_prices(kind):
    result = london()
    scene = replace(result.scene, truth=result.scene.truth[::-1])
    changed = replace(result, nonprivate=0 * result.nonprivate + 13, scene=scene)
    assert map_of(result, kind, True) == map_of(changed, kind, True)


@pytest.mark.full
def test_maps_of_true_prices_cannot_be_published(open_page, monkeypatch):
    made = {}
    monkeypatch.setattr(pictures, "button", lambda key, drawn: made.setdefault(key, drawn()))
    app = open_page("london_noise_map", map="truth", mechanism="refined")
    assert not app.exception
    assert made["hexagons"].about is None
    result = london()
    layer = cells.layer_of("truth", cells.cell_table(result, True))
    assert not layer.private
    with pytest.raises(ValueError, match="nothing of this figure may be published"):
        pictures.written(pictures.Drawn(export.drawing(lambda ax: None), "said"), HEADLINE, True, SHAPES[0], LINK)


def test_the_published_paths_know_no_truth():
    view = View("curve", 0.3, 8.0, 0.05, 1, 0.0, 0.0, 0.3, 1e-4, 1)
    explored = excursion.explored(view)
    other = replace(explored, truth=explored.truth[::-1] + 1)
    for make in (exceeded.curve, exceeded.sets):
        one, two = (
            export.written(export.ExportText(title="Paths"), redrawn.of_figure(make(Findings(each, None))))
            for each in (explored, other)
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
    drawn = redrawn.of_figure(figures.curves(result, True))
    svg = export.written(words.on_screen(HEADLINE, "said", LINK, DAY), drawn).decode()
    assert said_in(svg).count(export.STAMP) == 3
    assert ET.fromstring(svg).find(f"{SVG}title").text == "At epsilon = 1 the error is 9.3 cm"
    markers = re.findall(r'<use [^>]*style="[^"]*stroke: #7f7f7f', svg)
    assert len(markers) == result.dataset.n


@pytest.mark.full_for(
    "compare",
    "excursion_sets",
    "explore_release",
    "kung_curves",
    "lengthscale_choice",
    "london_noise_map",
    "sparse_dp_gp",
    "start",
)
@pytest.mark.parametrize("page", [page for page in PAGES if page != "your_data"])
def test_every_figure_has_one_picture_button(monkeypatch, open_page, page):
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
                svg = pictures.written(drawn, key, True, shape, LINK).decode()
                title = ET.fromstring(svg).find(f"{SVG}title").text
                assert not title.endswith("?"), "a title says what is found"
                assert "nan" not in re.sub(r"<(text|title|desc)\b.*?</\1>", "", svg), key


def test_fading_is_kept_in_the_picture():
    figure = go.Figure().add_heatmap(z=[[0.0, 1.0]], x=[0, 1], y=[0], colorscale="Viridis", showscale=False)
    fade = [[0, "rgba(128,128,128,0)"], [1, "rgba(128,128,128,0.85)"]]
    figure.add_heatmap(z=[[0.0, 1.0]], x=[0, 1], y=[0], colorscale=fade, showscale=False)
    ax = Figure().subplots()
    redrawn.draw(figure, ax)
    tiles = np.concatenate([mesh.get_array()[0] for mesh in ax.collections]) * [255, 255, 255, 1]
    wanted = [(68, 1, 84, 1), (253, 231, 37, 1), (128, 128, 128, 0), (128, 128, 128, 0.85)]
    np.testing.assert_allclose(tiles, wanted, atol=1e-6)


def test_texts_above_bars_stay_with_their_bars():
    figure = clipping.figure(clipping.errors(clipping.Clip(0, 100, 60), DRAW))
    ax = Figure().subplots()
    redrawn.draw(figure, ax)
    tops = {(bar.get_x() + bar.get_width() / 2, bar.get_height()) for bar in ax.patches}
    assert len(tops) == 6
    assert {label.xy for label in ax.texts} == tops
    assert {label.get_va() for label in ax.texts} == {"bottom"}
