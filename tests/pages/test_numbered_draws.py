"""A numbered draw is one draw whatever is beside it, also where three settings are side by side."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from datasets import london_hexes
from dpgp_core.figures.export import Drawing, Panel, inline
from pages._ui.cloaking import computed
from pages._ui.cloaking.cells import LAYERS
from pages._ui.excursion import compute as excursion
from pages._ui.excursion.compute import View
from pages._ui.explore import statistic as exploring
from pages._ui.explore.statistic import ExampleDraw, Refit
from pages._ui.look import offers, redrawn_maps
from pages._ui.look.maps import boroughs
from pages._ui.model import Design, Draw, usual

KUNG = [name for name in offers.MECHANISM.titles if name in offers.mechanisms("kung")]


def shown(name: str, mechanism: str, first: int, count: int):
    draw = Draw(1.0, offers.DELTA, draws=count, seed=first)
    return computed.run(usual(name), Design(mechanism), draw)


@pytest.mark.full_for("bayes")
@pytest.mark.parametrize("mechanism", KUNG)
def test_curves_do_not_depend_on_other_releases(mechanism):
    alone = {number: shown("kung", mechanism, number, 1) for number in (1, 2, 5)}
    for first, count in ((1, 2), (1, 3), (1, 5), (2, 5), (1, 20)):
        together = shown("kung", mechanism, first, count)
        for number, one in alone.items():
            if first <= number < first + count:
                at = number - first
                np.testing.assert_allclose(together.samples[at], one.samples[0], atol=1e-6)
                np.testing.assert_allclose(together.intervals.curve.of(at), one.intervals.curve.of(0), atol=1e-5)


@pytest.mark.parametrize("mechanism", ["refined", pytest.param("bayes", marks=pytest.mark.full)])
def test_maps_do_not_depend_on_other_releases(mechanism):
    one, several = shown("london_hexes", mechanism, 1, 1), shown("london_hexes", mechanism, 1, 5)
    np.testing.assert_allclose(several.samples[0], one.samples[0], atol=1e-6)


@pytest.mark.full
def test_growth_charts_show_the_first_release():
    one, several = (computed.growth_of(shown("kung", "bayes", 1, count)) for count in (1, 5))
    np.testing.assert_allclose(several.values, one.values, atol=1e-5)


def test_paths_do_not_depend_on_other_releases():
    view = View("curve", 0.3, 8.0, 0.05, 1, 0.0, 0.0, 0.3, 1e-4, 1)
    one, three, many = (excursion.explored(replace(view, L=count)).paths for count in (1, 3, 10))
    np.testing.assert_allclose(three[0], one[0], atol=1e-9)
    np.testing.assert_allclose(many[:3], three, atol=1e-9)


@pytest.mark.full
def test_explore_shows_the_same_release():
    explored = exploring.drawn(ExampleDraw("kung", 1.0, offers.DELTA, 3))
    shown_there = shown("kung", "bayes", 3, 1)
    data = shown_there.dataset
    stages = zip(explored.statistics.stages, shown_there.numbers[0].measured.stages, strict=True)
    for stage, seen_there in stages:
        np.testing.assert_allclose(stage.z, seen_there.z)
    _, curve = exploring.read_again(ExampleDraw("kung", 1.0, offers.DELTA, 3), Refit("EQ", 50))
    there = np.interp(curve.X_test[:, 0], shown_there.scene.x, shown_there.samples[0, shown_there.scene.grid])
    inside = (curve.X_test[:, 0] > 5) & (curve.X_test[:, 0] < 70)
    assert np.abs(curve.curve() - there)[inside].mean() < 3.0  # cm: the same numbers, read with other models
    assert data.y_unit == "cm"


def test_the_likeliest_lengthscale_agrees_across_pages(seen):
    chosen = seen("lengthscale_choice", epsilon="1")
    said = next(each.value for each in chosen.caption if "is likeliest after one release" in each.value)
    length, probability = re.search(r"([\d.]+ years) is likeliest after one release \(([\d.]+ %)\)", said).groups()
    tile = next(each for each in seen("explore_release", epsilon="1").metric if each.label == "Likeliest lengthscale")
    assert (tile.value, tile.delta) == (length, probability)


# ---- Three settings side by side: the same scale, one legend, a sentence each.


def drawn(app):
    """The one picture of a page, which must be XML, and the titles of its panels."""
    assert not app.exception
    [image] = app.get("image")
    svg = base64.b64decode(image.proto.imgs[0].url.partition("base64,")[2]).decode()
    texts = [*ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    bold = [each.text for each in texts if "font-weight: 700" in each.get("style")]
    return svg, [each.text for each in texts], bold


@pytest.mark.full
@pytest.mark.parametrize("three", ["epsilon", "kernel", "lengthscale"])
def test_three_maps_have_one_scale_and_one_legend(seen, three):
    app = seen("london_noise_map", mechanism="refined", map="noise", three=three)
    _, texts, titles = drawn(app)
    assert sum("[times too high or too low]" in text for text in texts) == 1  # one legend
    assert len(titles) == 3
    assert sum(text.startswith("Privacy noise makes a typical price") for text in texts) == 3
    if three == "epsilon":
        assert titles == ["ε = 0.33", "ε = 1", "ε = 3"]
    assert {each.key for each in app.get("deck_gl_json_chart")} == {"hexagons"}  # and the map itself


@pytest.mark.full
def test_three_curves_share_their_axes(seen):
    for overlay, people in (("false", 0), ("true", 287)):
        svg, texts, _ = drawn(seen("kung_curves", mechanism="refined", three="epsilon", overlay=overlay))
        assert texts.count("150") == 3
        circles = len(re.findall(r'<use [^>]*style="[^"]*stroke: #7f7f7f', svg))
        assert circles == (3 * people + 1 if people else 0)  # and one in the legend


def test_three_epsilons_surround_the_visitors(seen):
    _, _, titles = drawn(seen("kung_curves", three="epsilon", epsilon="2"))
    assert titles == ["ε = 0.67", "ε = 2", "ε = 6"]


@pytest.mark.full_for("kung_curves-titles0")
@pytest.mark.parametrize(
    ("page", "titles"),
    [
        ("kung_curves", ["lengthscale 3 years", "lengthscale 15 years", "lengthscale 40 years"]),
        ("london_noise_map", ["lengthscale 4 km", "lengthscale 12 km", "lengthscale 30 km"]),
    ],
)
def test_lengthscales_side_by_side_span_the_domain(seen, page, titles):
    assert drawn(seen(page, three="lengthscale"))[2] == titles


def test_panels_are_as_large_as_possible():
    """Six maps in a picture of 1,600 x 900 are in one row; in a square, in rows; three on a page beside each other."""

    def lefts(count, width, height):
        axes = []
        panels = tuple(Panel(draw=axes.append) for _ in range(count))
        inline(Drawing(panels=panels, is_tall=True), width, height, title="")
        return len({round(ax.bbox.x0) for ax in axes}), min(ax.bbox.height for ax in axes)

    assert lefts(6, 1600, 500)[0] == 6
    assert lefts(6, 1200, 950)[0] == 3
    assert lefts(3, 1600, 640)[0] == 3
    assert lefts(6, 1600, 500)[1] > 200

    layer, around = LAYERS["noise"], boroughs()
    table = london_hexes.map_cells()[::8].assign(**{layer.column: 1.3})
    widths = []
    for across in (900, 200):
        ax = Figure(figsize=(across / 72, across / 72), dpi=72).subplots()
        redrawn_maps.draw_map(table, layer, around, ax)
        widths.append(max(each.get_linewidths()[0] for each in ax.collections))
    assert widths[0] > 2 * widths[1]
