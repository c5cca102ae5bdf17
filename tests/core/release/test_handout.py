"""The page for people in a zip: its words and its figures."""

import json
import re
from dataclasses import replace
from decimal import Decimal
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

from dpgp_core.accounting.gaussian import noise_multiplier, rounded_up
from dpgp_core.accounting.tradeoff import gaussian_tradeoff
from dpgp_core.dates import Dates
from dpgp_core.release import CHOICES
from dpgp_core.release.figure import MOST, are_years, figure, marks
from dpgp_core.release.page import page
from tests.core.release.worlds import make_published, make_spec, make_table, make_zip, zip_of

PAGE = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "table", "tr", "th", "td"}
PICTURE = {"svg", "path", "polygon", "line", "text", "g", "rect"}
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?")


class Read(HTMLParser):
    """Tags, attributes, and the words outside of style and picture."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.words, self.inside = set(), set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in ("meta", "path", "polygon", "line", "rect"):
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
    # it stands by itself
    assert not {"src", "href"} & read.attributes
    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]  # a name, never fetched
    assert not any(each in text for each in ("@import", "url("))


def test_what_was_spent_is_rounded_up():
    card = json.loads(zip_of()["release.json"])
    card["ledger"]["spent"]["epsilon"] = 1.2301
    assert "together epsilon = 1.24 of 3 declared" in " ".join(Read(page(card, "")).words)


@pytest.mark.parametrize(
    ("protects", "rows", "said"),
    [
        ("outputs", 1, "the output of any one record. What is hidden"),
        ("inputs and outputs", 1, "any one record, its inputs and its output. What is hidden"),
        ("outputs", None, "the outputs of all rows of any one person. What is hidden"),
        ("inputs and outputs", 4, "up to 4 rows of any one person, inputs and outputs. What is hidden"),
    ],
)
def test_no_more_is_said_to_be_hidden_than_is(protects, rows, said):
    card = json.loads(zip_of()["release.json"])
    card["guarantee"] |= {"protects": protects, "rows": rows}
    assert f"The noise in these values hides {said}" in " ".join(Read(page(card, "")).words)


def test_what_makes_a_promise_smaller_is_said():
    card = json.loads(zip_of()["release.json"])
    card["guarantee"]["established"] = False
    card["ledger"] |= {"inputs_public": True, "begun_again": "a rehearsal", "limit": None}
    shown = " ".join(Read(page(card, "")).words)
    assert "claimed, not proven at this budget" in shown
    assert "no release of this ledger protects them" in shown
    assert "because: a rehearsal" in shown


def test_the_page_says_what_a_share_and_what_centiles_are():
    rows = "".join(f"{age},{age % 3 // 2}\n" for age in range(90))
    rate = make_spec(mechanism="bayes_cells", y_kind="yes/no", y_bounds=(0, 1), y_unit="")
    said = " ".join(Read(make_zip(rate, f"age,height\n{rows}".encode())["card.html"].decode()).words)
    assert "of yes: a fraction in the file, in per cent in the figure" in said
    assert "its intervals assume a curve about as smooth as one of the models" in said
    assert "Centiles" not in said
    said = " ".join(Read(make_zip(make_spec(mechanism="bayes_cells", centiles=True))["card.html"].decode()).words)
    assert "the mean at each place of outcomes clipped to the bounds" in said
    assert "so many in a hundred further records stay below" in said


SVG = "{http://www.w3.org/2000/svg}"
TWO = {"x": ("age", "weight"), "x_units": ("years", "kg"), "x_box": ((0, 100), (0, 90)), "lengthscale": (25, 20)}


def drawn(published):
    return ElementTree.fromstring(figure(published))


def words(root):
    return " ".join(each.text for each in root.iter(f"{SVG}text"))


def cells_of(root):
    return [each for each in root.iter(f"{SVG}rect") if each.get("width") != "12"]


def test_a_curve_lies_within_its_band_and_is_grey_where_it_is_of_no_use():
    spec = make_spec(grid=(5,), tolerance=2.0, y_bounds=(0.0, 6.0))
    root = drawn(make_published(spec, (1, 1, 1, 9, 1)))
    lines = [(line.get("stroke"), line.get("stroke-dasharray")) for line in root.iter(f"{SVG}line")]
    assert lines == [("#E69F00", None)] * 2 + [("#8a8a8a", "2 3")] * 2
    [band] = root.iter(f"{SVG}polygon")
    corners = np.array([pair.split(",") for pair in band.get("points").split()], dtype=float)
    assert corners.shape == (10, 2)
    middle = [float(line.get("y1")) for line in root.iter(f"{SVG}line")]
    low, high = corners[:4, 1], corners[:-5:-1, 1]
    assert (high < middle).all()  # the axis points down
    assert (middle < low).all()
    assert (np.diff(middle) < 0).all()  # the values rise
    assert "dotted grey: of no use" in words(root)
    assert "height [cm]" in words(root)
    assert "age [years]" in words(root)
    assert "grey" not in words(drawn(make_published(spec, (1,) * 5)))


def test_a_map_has_a_cell_a_point_and_grey_ones():
    spec = make_spec(**TWO, grid=(2, 3), tolerance=2.0)
    root = drawn(make_published(spec, (1, 1, 9, 1, 1, 1)))
    cells = cells_of(root)
    assert [each.get("fill") for each in cells].count("#8a8a8a") == 1
    assert cells[2].get("fill") == "#8a8a8a"
    assert len(cells) == 6
    assert (cells[0].get("fill"), cells[5].get("fill")) == ("#440154", "#fde725")  # least and most
    assert float(cells[0].get("y")) > float(cells[1].get("y"))  # the second input points up
    assert "weight [kg]" in words(root)
    three = {"x": ("a", "b", "c"), "x_units": ("", "", ""), "x_box": ((0, 1),) * 3, "lengthscale": (1, 1, 1)}
    spec = make_spec(**three, grid=(2, 2, 3))  # the third stands at its middle
    assert len(cells_of(drawn(make_published(spec, [1] * 12)))) == 4


def test_a_kilometre_is_as_long_up_as_across():
    def size(**changed):
        spec = make_spec(grid=(2, 2), **changed)
        cells = cells_of(drawn(make_published(spec, [1] * 4)))
        x, y = ([float(each.get(side)) for each in cells] for side in "xy")
        right, bottom = (
            max(at + float(each.get(size)) for at, each in zip(start, cells, strict=True))
            for start, size in ((x, "width"), (y, "height"))
        )
        return (right - min(x)) / (bottom - min(y))

    two = {"x": ("east", "north"), "lengthscale": (5, 5)}
    assert size(**two, x_units=("km", "km"), x_box=((0, 60), (10, 40))) == pytest.approx(2, rel=1e-2)
    assert size(**two, x_units=("km", "km"), x_box=((0, 10), (0, 40))) == pytest.approx(0.25, rel=1e-2)
    assert size(**two, x_units=("km", "years"), x_box=((0, 10), (0, 40))) == pytest.approx(514 / 226, rel=1e-2)
    # a degree of longitude at 60 degrees north is half as long as one of latitude
    degrees = {"x_units": ("degrees", "degrees"), "coordinates": ("east", "north"), "x_box": ((0, 4), (59.5, 60.5))}
    assert size(**two, **degrees) == pytest.approx(2, rel=1e-2)


@pytest.mark.parametrize("bounds", [(1e9, 1e9 + 2), (-1e-9, 1e-9), (0.0, 1e15)])
def test_any_bounds_are_drawn_with_few_round_ticks(bounds):
    root = drawn(make_published(make_spec(grid=(3,), y_bounds=bounds), (1, 1, 1)))
    assert 4 <= len(list(root.iter(f"{SVG}text"))) <= 18
    assert not any("nan" in " ".join(each.attrib.values()) for each in root.iter())


def test_shares_of_yes_are_drawn_in_per_cent():
    spec = make_spec(mechanism="bayes", y_kind="yes/no", y_bounds=(0.0, 1.0), y_unit="", grid=(3,))
    published = make_published(spec, (0.1, 0.1, 0.1))
    published = replace(published, values=published.values / 4, curve=tuple(end / 4 for end in published.curve))
    shown = words(drawn(published))
    assert "height [% yes]" in shown
    assert {"40", "60"} <= set(shown.split())  # .25 to .75


DAY = Dates(name="day", first="2019-03-15")


@pytest.mark.parametrize(
    ("days", "texts"),
    [
        (3, ["2019-03-15", "2019-03-16", "2019-03-17", "2019-03-18"]),
        (45, ["2019-03-15", "2019-03-25", "2019-04-04", "2019-04-14", "2019-04-24"]),
        (140, ["2019-04", "2019-05", "2019-06", "2019-07", "2019-08"]),
        (500, ["2019-07", "2020-01", "2020-07"]),
        (1825, ["2020", "2021", "2022", "2023", "2024"]),
        (5000, ["2020", "2025", "2030"]),
    ],
)
def test_dates_have_first_days_of_months_or_years(days, texts):
    found = marks(0.0, float(days), DAY)
    assert [text for _, text in found] == texts
    assert all(DAY.day(place).isoformat().startswith(text) and 0 <= place <= days for place, text in found)


def test_every_length_of_dates_has_a_few_marks():
    for days in (*range(1, 900, 7), 4000, 40_000, 400_000, 2_900_000):
        assert 1 <= len(marks(0.0, float(days), Dates(name="day", first="0001-03-15"))) <= MOST


def test_numbers_are_round_and_years_and_counts_whole():
    assert marks(0.0, 100.0) == [(each, f"{each:g}") for each in (0.0, 20.0, 40.0, 60.0, 80.0, 100.0)]
    assert marks(1984.0, 1986.0, whole=True) == [(1984.0, "1984"), (1985.0, "1985"), (1986.0, "1986")]
    assert (1984.5, "1984.5") in marks(1984.0, 1986.0)
    assert [text for _, text in marks(1900.0, 2000.0, whole=True)] == ["1900", "1920", "1940", "1960", "1980", "2000"]
    assert are_years("year", "", (1984.0, 1988.0))
    assert are_years("t", "years", (1984.0, 1988.0))
    assert not are_years("age", "years", (0.0, 100.0))
    assert not are_years("price", "", (1000.0, 2000.0))
    assert not are_years("year", "", (0.0, 2000.0))
