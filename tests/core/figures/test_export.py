"""Pictures that stand by themselves: their words, their files, and what a reader's text may do in them."""

import io
import re
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from PIL import Image

from dpgp_core.accounting.guarantee import Budget
from dpgp_core.figures import export
from dpgp_core.figures.drawing import Curve, Side, draw_curves
from dpgp_core.figures.export import SHAPES, Drawing, ExportText, Panel, Shape, drawing, inline, short_link, written

SVG = "{http://www.w3.org/2000/svg}"
X = np.linspace(0, 9, 10)
NASTY = "<script>alert(1)</script>&\"'</text><img src=x onerror=y>]]><!-- $x^2$ \\frac{a}{b} \x00\x1b\n漢字"


def curve(ax, name="released"):
    side = Side(name, (0.0, 9.0), [(0.0, "0"), (9.0, "9")])
    draw_curves(ax, [Curve(number=0, name=name, x=X, values=X, low=X - 1, high=X + 1)], side, side)


def texts_of(svg):
    return [each.text for each in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_the_same_picture_is_the_same_file(kind):
    words = ExportText(title="Found", foot=("Source",), link="https://a.org/b?c=1", stamp=export.STAMP)
    first = written(words, drawing(curve), SHAPES[0], kind)
    with matplotlib.rc_context({"svg.hashsalt": "another", "font.size": 31, "text.parse_math": True}):
        assert written(words, drawing(curve), SHAPES[0], kind) == first
    assert b"Matplotlib" not in first
    assert not re.search(rb"20\d\d-\d\d-\d\d|CreationDate", first)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_svg_png_and_pdf_have_the_same_size(shape):
    svg, png, pdf = (written(ExportText(title="Found"), drawing(curve), shape, kind) for kind in ("svg", "png", "pdf"))
    root = ElementTree.fromstring(svg)
    assert (root.get("width"), root.get("height")) == (str(shape.width), str(shape.height))
    assert Image.open(io.BytesIO(png)).size == (shape.width, shape.height)
    assert f"/MediaBox [ 0 0 {shape.width} {shape.height} ]".encode() in pdf


def test_text_cannot_inject_into_a_picture():
    words = ExportText(title=NASTY, subtitle=NASTY, captions=(NASTY,), foot=(NASTY,), link=NASTY)
    plain = written(ExportText(title="a", subtitle="b", captions=("c",), foot=("d",), link="e"), drawing(curve))
    nasty = written(words, drawing(lambda ax: curve(ax, NASTY)))
    allowed, found = (
        ({each.tag for each in root.iter()}, {name for each in root.iter() for name in each.attrib})
        for root in map(ElementTree.fromstring, (plain, nasty))
    )
    assert found == allowed
    said = " ".join(texts_of(nasty))
    for part in ("<script>alert(1)</script>", "$x^2$", "\\frac{a}{b}", "漢字"):  # as text, no formula
        assert said.count(part) >= 4
    assert b"<script" not in nasty
    assert b"<!--" not in nasty


def test_a_picture_is_complete_and_has_a_description():
    words = ExportText(
        title="Found", subtitle="ε = 1", captions=("A line.",), foot=("Promise.",), link="https://a.org/b?c=1"
    )
    svg = written(words, drawing(curve))
    root = ElementTree.fromstring(svg)
    assert (root.get("role"), root.get("aria-label")) == ("img", "Found")
    assert root.find(f"{SVG}title").text == "Found"
    assert root.find(f"{SVG}desc").text == "ε = 1 A line. Promise."
    assert root.find(f"{SVG}metadata").text == "https://a.org/b?c=1"
    targets = [value for each in root.iter() for name, value in each.attrib.items() if name.endswith("href")]
    assert targets
    assert all(target.startswith("#") for target in targets)
    assert svg.count(b"url(") == svg.count(b"url(#")
    families = set(re.findall(r"font-family: ([^;\"]+)", svg.decode()))
    assert len(families) == 1  # one typeface
    assert "Promise. a.org/b" in texts_of(svg)


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("https://dp.example.org/kung_curves?epsilon=1", "dp.example.org/kung_curves"),
        ("http://10.1.2.3:8501/app/?a=b", "10.1.2.3:8501/app"),
        ("https://name:secret@dp.example.org/x", "dp.example.org/x"),
        ("http://localhost:8501/kung_curves?epsilon=1", ""),
        ("http://127.0.0.1:8501/kung_curves", ""),
        ("http://[::1]:8501/", ""),
        ("?epsilon=1", ""),
        ("", ""),
    ],
)
def test_short_links_never_name_this_machine(link, shown):
    assert short_link(link) == shown


def test_long_words_stay_inside_the_picture():
    long = "word " * 60 + "x" * 400
    words = ExportText(title=long, subtitle=long, captions=(long,), foot=(long,), link="https://a.org/" + "b" * 500)
    for shape in SHAPES:
        boxes = []

        def drawn(ax, boxes=boxes):
            curve(ax)
            boxes.append(ax)

        written(words, drawing(drawn), shape)
        figure = boxes[0].get_figure(root=True)
        for text in (*figure.texts, *boxes[0].texts):
            box = text.get_window_extent()
            assert -1 <= box.x0 <= box.x1 <= shape.width + 1


def test_the_stamp_runs_across_three_times():
    svg = written(ExportText(title="Found", stamp=export.STAMP), drawing(curve))
    assert texts_of(svg).count("contains true data: not for publication") == 3
    assert export.STAMP not in texts_of(written(ExportText(title="Found"), drawing(curve)))


def test_panel_labels_and_legend_do_not_overlap():
    axes = []

    def drawn(ax):
        curve(ax, "a rather long name of an axis [unit]")
        axes.append(ax)

    panels = tuple(Panel(draw=drawn, title=f"ε = {at}", caption="What differs, in a sentence.") for at in range(5))
    written(ExportText(title="Found"), Drawing(panels=panels, legend=axes.append), Shape("wide", 1600, 1000))
    boxes = [ax.get_tightbbox() for ax in axes]
    for at, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:at])


def test_inline_drawings_have_no_background():
    svg = inline(drawing(curve), 600, 300, title="A <curve>", ink="#e8e8e8")
    root = ElementTree.fromstring(svg)
    assert root.find(f"{SVG}title").text == "A <curve>"
    assert root.find(f"{SVG}metadata") is None
    assert "fill: #e8e8e8" in svg
    assert "fill: #ffffff" not in svg


def test_a_budget_is_rounded_up():
    class Promise:
        budget = Budget(epsilon=1.23456, delta=1e-5)

    assert export.budget_of(Promise()) == "ε = 1.24, δ = 1e-5"


def test_pictures_of_several_threads_are_those_of_one():
    from concurrent.futures import ThreadPoolExecutor

    def made(at):
        return written(ExportText(title=f"Found {at % 2}"), drawing(curve))

    alone = [made(0), made(1)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(made, range(8))) == alone * 4
