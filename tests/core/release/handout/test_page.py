"""The page for people in a zip: what it says is what the card says, and words of a visitor stay words."""

import json
import re
from decimal import Decimal
from html.parser import HTMLParser

import pytest

from dpgp_core.accounting.gaussian import noise_multiplier, rounded_up
from dpgp_core.accounting.tradeoff import gaussian_tradeoff
from dpgp_core.release import CHOICES
from dpgp_core.release.page import page

TAGS = {
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "h1",
    "h2",
    "p",
    "table",
    "tr",
    "th",
    "td",
    "svg",
    "path",
    "polygon",
    "line",
    "text",
    "g",
    "rect",
}
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
def test_every_number_is_the_cards(make_spec, make_zip, mechanism, log):
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


def test_the_odds_are_those_of_the_noise(zip_of):
    card = json.loads(zip_of()["release.json"])
    exact = 1 - float(gaussian_tradeoff(0.05, 1 / noise_multiplier(1.0, 1e-5)))
    assert exact * (1 - 1e-6) <= card["tradeoff"]["found_at_most"] <= exact * 1.01
    pure = json.loads(zip_of("integral_bins")["release.json"])
    assert pure["tradeoff"]["found_at_most"] == pytest.approx(0.05 * 2.718281828, rel=0.01)


NASTY = "<script>alert(1)</script>&\"'<img src=x onerror=y>"


def test_words_of_a_visitor_are_only_words(make_spec, make_zip, make_table):
    spec = make_spec(x=(NASTY,), y=f"y{NASTY}", y_unit=f"u{NASTY}", x_units=(f"v{NASTY}",), unit=f"w{NASTY}")
    names = ",".join('"{}"'.format(each.replace('"', '""')) for each in (NASTY, f"y{NASTY}"))
    files = make_zip(spec, names.encode() + make_table()[len(b"age,height") :])
    text = files["card.html"].decode()
    assert "<script" not in text
    assert "<img" not in text
    read = Read(text)
    assert read.tags <= TAGS
    assert not [name for name in read.attributes if name.startswith("on")]
    shown = " ".join(read.words)
    for words in (f"y{NASTY}", f"w{NASTY}", f"v{NASTY}"):
        assert words in shown


def test_it_stands_by_itself(zip_of):
    text = zip_of()["card.html"].decode()
    read = Read(text)
    assert not {"script", "link", "img", "iframe"} & read.tags
    assert not {"src", "href"} & read.attributes
    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]  # a name, never fetched
    assert "@import" not in text
    assert "url(" not in text


def test_what_makes_a_promise_smaller_is_said(zip_of):
    card = json.loads(zip_of()["release.json"])
    card["guarantee"]["established"] = False
    card["ledger"] |= {"inputs_public": True, "begun_again": "a rehearsal", "limit": None}
    shown = " ".join(Read(page(card, "")).words)
    assert "claimed, not proven at this budget" in shown
    assert "no release of this ledger protects them" in shown
    assert "because: a rehearsal" in shown


def test_the_page_says_what_a_share_and_what_centiles_are(make_spec, make_zip):
    rows = "".join(f"{age},{age % 3 // 2}\n" for age in range(90))
    rate = make_spec(mechanism="bayes_cells", y_kind="yes/no", y_bounds=(0, 1), y_unit="")
    said = " ".join(Read(make_zip(rate, f"age,height\n{rows}".encode())["card.html"].decode()).words)
    assert "of yes: a fraction in the file, in per cent in the figure" in said
    assert "its intervals assume a curve about as smooth as one of the models" in said
    assert "Centiles" not in said
    said = " ".join(Read(make_zip(make_spec(mechanism="bayes_cells", centiles=True))["card.html"].decode()).words)
    assert "the mean at each place of outcomes clipped to the bounds" in said
    assert "so many in a hundred further records stay below" in said
