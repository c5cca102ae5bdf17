"""The page for people in a zip: its words and its figures."""

import json
import re
from dataclasses import replace
from decimal import Decimal
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure

from dpgp_core.accounting.gaussian import noise_multiplier, rounded_up
from dpgp_core.accounting.tradeoff import gaussian_tradeoff
from dpgp_core.release import CHOICES
from dpgp_core.release.bundle import pictures
from dpgp_core.release.page import page
from dpgp_core.release.publishing import finding
from tests.core.release.worlds import TWO, make_published, make_spec, make_table, make_zip, zip_of

PAGE = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "table", "tr", "th", "td"}
PICTURE = {"svg", "title", "defs", "style", "clippath", "path", "use", "text", "g", "rect"}
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?")


class Read(HTMLParser):
    """Tags, attributes, and the words outside of style and picture."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.targets, self.words, self.inside = set(), set(), set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.targets |= {value for name, value in attrs if name.endswith("href")}
        if tag not in ("meta", "path", "use", "rect"):
            self.inside.append(tag)

    def handle_endtag(self, tag):
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    def handle_data(self, data):
        if not {"style", "svg"} & set(self.inside):
            self.words.append(data)


def numbers_in(found):
    """Every number of a JSON value, and those in its texts."""
    if isinstance(found, dict):
        return {number for pair in found.items() for each in pair for number in numbers_in(each)}
    if isinstance(found, list):
        return {number for each in found for number in numbers_in(each)}
    if isinstance(found, str):
        return {float(each) for each in NUMBER.findall(found)}
    return {float(found)} if isinstance(found, int | float) and not isinstance(found, bool) else set()


@pytest.mark.parametrize(
    ("mechanism", "log"), [*((name, False) for name in CHOICES), ("bayes_cells", True), ("refined", True)]
)
def test_every_number_is_the_cards(mechanism, log):
    files = make_zip(make_spec(mechanism=mechanism, tolerance=33.3, epsilon=0.7, total_epsilon=2.9, log=log))
    card, read = json.loads(files["release.json"]), Read(files["card.html"].decode())
    known = numbers_in(card)
    known |= {float(rounded_up(each)) for each in known} | {len(card["ledger"]["entries"])}
    percents = {float(Decimal(repr(each)) * 100) for each in known if 0 <= each <= 1}
    shown = " ".join(read.words)
    rates = {float(each) for each in re.findall(r"([\d.]+) %", shown)}
    assert len(rates) >= 3
    assert rates <= percents
    rest = {float(each) for each in NUMBER.findall(re.sub(r"[\d.]+ %", "", shown))}
    assert len(rest) > 10
    assert rest <= known
    for name in ("protects", "neighbours", "unit", "theorem"):
        assert card["guarantee"][name] in shown
    for name in ("assumptions", "not_covered"):
        assert "; ".join(card["guarantee"][name]) in shown


def test_the_odds_are_those_of_the_noise():
    card = json.loads(zip_of()["release.json"])
    exact = 1 - float(gaussian_tradeoff(0.05, 1 / noise_multiplier(1.0, 1e-5)))
    assert exact * (1 - 1e-6) <= card["tradeoff"]["found_at_most"] <= exact * 1.01
    pure = json.loads(zip_of("integral_bins")["release.json"])
    assert pure["tradeoff"]["found_at_most"] == pytest.approx(0.05 * 2.718281828, rel=0.01)


NASTY = "<script>alert(1)</script>&\"'<img src=x onerror=y>"


def test_words_of_a_visitor_are_only_words():
    spec = make_spec(x=(NASTY,), y=f"y{NASTY}", y_unit=f"u{NASTY}", x_units=(f"v{NASTY}",), unit=f"w{NASTY}")
    names = ",".join('"{}"'.format(each.replace('"', '""')) for each in (NASTY, f"y{NASTY}"))
    text = make_zip(spec, names.encode() + make_table()[len(b"age,height") :])["card.html"].decode()
    read = Read(text)
    assert not any(tag in text for tag in ("<script", "<img"))
    assert read.tags <= PAGE | PICTURE
    assert not [name for name in read.attributes if name.startswith("on")]
    shown = " ".join(read.words)
    for words in (f"y{NASTY}", f"w{NASTY}", f"v{NASTY}"):
        assert words in shown
    # it stands by itself: what it refers to are parts of the figure
    assert not {"src", "href"} & read.attributes
    assert all(target.startswith("#") for target in read.targets)
    names = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}  # of languages, never fetched
    assert set(re.findall(r"https?://[^\"]*", text)) == names
    assert "@import" not in text
    assert text.count("url(") == text.count("url(#")


def test_what_was_spent_is_rounded_up():
    card = json.loads(zip_of()["release.json"])
    card["ledger"]["spent"]["epsilon"] = 1.2301
    assert "together epsilon = 1.24 of 3 declared" in " ".join(Read(page(card, "")).words)


@pytest.mark.parametrize(
    ("protects", "rows", "said"),
    [
        ("outputs", 1, "the output of any one record. The privacy unit is"),
        ("inputs and outputs", 1, "any one record, its inputs and its output. The privacy unit is"),
        ("outputs", None, "the outputs of all rows of any one person. The privacy unit is"),
        ("inputs and outputs", 4, "up to 4 rows of any one person, inputs and outputs. The privacy unit is"),
    ],
)
def test_the_page_claims_no_further_protection(protects, rows, said):
    card = json.loads(zip_of()["release.json"])
    card["guarantee"] |= {"protects": protects, "rows": rows}
    assert f"The noise in these values hides {said}" in " ".join(Read(page(card, "")).words)


def test_the_page_states_every_limitation():
    card = json.loads(zip_of()["release.json"])
    card["guarantee"] |= {"established": False, "delta": 0.1}
    card["ledger"] |= {"inputs_public": True, "begun_again": "a rehearsal", "limit": None}
    shown = " ".join(Read(page(card, "")).words)
    assert "claimed, not proven at this budget" in shown
    assert "no release of this ledger protects them" in shown
    assert "because: a rehearsal" in shown
    assert "delta = 0.1 is above 1/n = 0.025" in shown


SVG = "{http://www.w3.org/2000/svg}"


def drawn(published):
    """The axes of a release, on a figure of its own."""
    return published.plot(Figure(figsize=(10, 5), dpi=72).subplots())


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def cells_of(ax):
    """Edges along both sides, and the colours (up, across, 4), of a map."""
    [mesh] = [each for each in ax.collections if isinstance(each, QuadMesh)]
    corners = mesh.get_coordinates()
    return corners[0, :, 0], corners[:, 0, 1], np.asarray(mesh.get_array())


def test_useless_parts_of_a_curve_are_grey():
    spec = make_spec(grid=(5,), tolerance=2.0, y_bounds=(0.0, 6.0))
    ax = drawn(make_published(spec, (1, 1, 1, 9, 1)))
    uncertain, curve = ax.lines
    assert (curve.get_color(), uncertain.get_color()) == ("#E69F00", "#8a8a8a")
    np.testing.assert_array_equal(np.isfinite(curve.get_ydata()), [True, True, True, False, True])
    np.testing.assert_array_equal(np.isfinite(uncertain.get_ydata()), [False, False, True, True, True])
    [band] = ax.collections
    corners = band.get_paths()[0].vertices
    for x, low, high in ((0.0, 0.5, 1.5), (75.0, -0.5, 8.5)):
        assert {low, high} <= set(corners[corners[:, 0] == x, 1])
    assert legend_of(ax) == ["released curve", "95 % interval for the curve", "too uncertain to be useful"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age [years]", "height [cm]")
    assert len(legend_of(drawn(make_published(spec, (1,) * 5)))) == 2


def test_a_map_has_grey_useless_cells():
    spec = make_spec(**TWO, grid=(2, 3), tolerance=2.0)
    ax = drawn(make_published(spec, (1, 1, 9, 1, 1, 1)))
    across, up, colours = cells_of(ax)
    np.testing.assert_allclose(across, [0, 50, 100])
    np.testing.assert_allclose(up, [0, 22.5, 67.5, 90])  # the second input points up
    grey = np.array([0x8A, 0x8A, 0x8A, 0xFF]) / 255
    is_grey = np.abs(colours - grey).max(axis=2) < 1e-6
    assert np.argwhere(is_grey).tolist() == [[2, 0]]
    least, most = colours[0, 0, :3], colours[2, 1, :3]
    np.testing.assert_allclose(least, np.array([68, 1, 84]) / 255, atol=0.01)
    np.testing.assert_allclose(most, np.array([253, 231, 37]) / 255, atol=0.01)
    assert legend_of(ax) == ["too uncertain to be useful"]
    assert ax.get_ylabel() == "weight [kg]"
    assert drawn(make_published(spec, (1,) * 6)).get_legend() is None
    three = {"x": ("a", "b", "c"), "x_units": ("", "", ""), "x_box": ((0, 1),) * 3, "lengthscale": (1, 1, 1)}
    spec = make_spec(**three, grid=(2, 2, 3))  # the third is at its middle
    assert cells_of(drawn(make_published(spec, [1] * 12)))[2].shape == (2, 2, 4)


def test_a_kilometre_is_as_long_up_as_across():
    def ratio(**changed):
        return drawn(make_published(make_spec(grid=(2, 2), **changed), [1] * 4)).get_aspect()

    two = {"x": ("east", "north"), "lengthscale": (5, 5)}
    assert ratio(**two, x_units=("km", "km"), x_box=((0, 60), (10, 40))) == 1
    assert ratio(**two, x_units=("km", "km"), x_box=((0, 10), (0, 40))) == 1
    assert ratio(**two, x_units=("km", "years"), x_box=((0, 10), (0, 40))) == "auto"
    assert ratio(**two, x_units=("km", "km"), x_box=((0, 10), (0, 51))) == "auto"  # a thin strip shows nothing
    # a degree of longitude at 60 degrees north is half as long as one of latitude
    degrees = {"x_units": ("degrees", "degrees"), "coordinates": ("east", "north"), "x_box": ((0, 4), (59.5, 60.5))}
    assert ratio(**two, **degrees) == pytest.approx(2, rel=1e-2)


def test_shares_of_yes_are_drawn_in_per_cent():
    spec = make_spec(mechanism="bayes", y_kind="yes/no", y_bounds=(0.0, 1.0), y_unit="", grid=(3,))
    published = make_published(spec, (0.1, 0.1, 0.1))
    published = replace(published, values=published.values / 4, curve=tuple(end / 4 for end in published.curve))
    ax = drawn(published)
    assert ax.get_ylabel() == "height [% yes]"
    np.testing.assert_allclose(ax.lines[-1].get_ydata(), [25, 50, 75])


def test_the_figure_states_result_budget_and_protection():
    published = make_published(make_spec(grid=(5,), tolerance=2.0, y_bounds=(0.0, 6.0)), (1, 1, 1, 9, 1))
    on_the_card, picture = pictures(published)
    root = ElementTree.fromstring(picture)
    said = " ".join(each.text for each in root.iter(f"{SVG}text"))
    found = "Height by age is known to within 0.5 cm at 80 % of the points"
    for wanted in (found, "ε = 1, δ = 1e-5", "protects outputs"):
        assert wanted in said
    assert root.find(f"{SVG}title").text == found
    assert "Promise (proven)" in root.find(f"{SVG}desc").text
    card = ElementTree.fromstring(on_the_card)
    assert card.find(f"{SVG}title").text == "height, released with differential privacy"
    assert card.get("role") == "img"


@pytest.mark.parametrize(
    ("changed", "widths", "said"),
    [
        ({"tolerance": 0.1}, (1, 1, 1), "At this budget nothing useful is known about height by age"),
        ({"log": True, "y_bounds": (0.5, 20.0)}, (0.5, 0.5, 0.5), "Height by age is known to within a factor of 1.1"),
    ],
)
def test_the_title_says_what_was_found(changed, widths, said):
    assert finding(make_published(make_spec(grid=(3,), **changed), widths)) == said


def test_a_release_survives_a_failed_figure(monkeypatch):
    published = make_published(make_spec(grid=(3,)), (1, 1, 1))

    def broken(*_):
        raise OSError("no fonts")

    with monkeypatch.context() as patch:
        patch.setattr("dpgp_core.figures.export.written", broken)
        assert pictures(published) == ("", b"")
    monkeypatch.setattr("dpgp_core.figures.export.find_spec", lambda name: None)  # as where matplotlib is not installed
    files = make_zip(make_spec())
    assert "figure.svg" not in files
    assert "figure.svg" not in json.loads(files["release.json"])["sha256"]
    assert "<svg" not in files["card.html"].decode()
    with pytest.raises(ValueError, match=r"a picture needs matplotlib; install it with pip install 'dpgp\[figures\]'"):
        published.plot()
