from __future__ import annotations

import html
import re

import pytest

from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import Cloaking
from pages._ui.look import frame, plots, text
from tests.pages.test_every_page import PAGES

ROWS = ("Protects", "Neighbours", "Unit", "Promise", "How sure", "Rests on", "Assumes", "Does not cover")


def read_cards(app):
    """Every card on the page, parsed from its HTML: row -> value, without the small print."""
    cards = [element.proto.body for element in app.get("html") if "What this guarantee says" in element.proto.body]
    return [
        {
            name: html.unescape(value)
            for name, value in re.findall(r"<p><b>([^<]+)\.</b> (.*?) <small>\(.*?\)</small></p>", card)
        }
        for card in cards
    ]


@pytest.fixture
def open_page(open_page):
    """Pages as they open; the one that asks for a table first gets the practice table."""

    def opener(page, **address):
        app = open_page(page, **address)
        if page == "your_data":
            app = next(button for button in app.button if button.label.startswith("Practise")).click().run()
        return app

    return opener


@pytest.fixture
def shown(monkeypatch):
    """The guarantees that the page hands to its cards."""
    values, original = [], frame.guarantee_card

    def noting(guarantee, note=""):
        values.append(guarantee)
        original(guarantee, note)

    monkeypatch.setattr(frame, "guarantee_card", noting)
    return values


QUICK = ("kung_curves", "excursion_sets", "attack", "your_data")  # the others: in `make test-all`
SOON = [pytest.param(page, marks=[] if page in QUICK else pytest.mark.full) for page in PAGES]


@pytest.mark.parametrize("page", SOON)
def test_every_page_has_a_card_whose_every_row_is_read_off_its_guarantee(open_page, shown, page):
    cards = read_cards(open_page(page))
    assert cards
    assert len(cards) == len(shown)
    for card, guarantee in zip(cards, shown, strict=True):
        assert tuple(card) == ROWS
        assert card["Protects"] == guarantee.protects
        assert card["Neighbours"] == guarantee.neighbours
        assert card["Unit"] == guarantee.unit
        assert card["Rests on"] == guarantee.theorem
        assert card["Assumes"] == "; ".join(guarantee.assumptions)
        assert card["Does not cover"] == "; ".join(guarantee.not_covered)
        epsilon = float(re.match(r"ε = ([\d,.]+)", card["Promise"])[1].replace(",", ""))
        assert guarantee.budget.epsilon * (1 - 1e-8) <= epsilon <= guarantee.budget.epsilon * 1.01  # never rounded down
        assert f"δ = {text.small(guarantee.budget.delta)}" in card["Promise"]
        assert (card["How sure"] == "proven for this setting") == guarantee.established


@pytest.mark.parametrize("page", SOON)
def test_every_card_names_what_a_reader_may_wrongly_believe_covered(open_page, shown, page):
    open_page(page)
    for guarantee in shown:
        limits = "; ".join(guarantee.not_covered)
        assert re.search(r"further|repeat|other release|own budget", limits), limits
        assert re.search(r"settings|choos|chosen|hyperparameter", "; ".join((limits, *guarantee.assumptions))), limits


def test_a_formula_without_proof_is_no_promise():
    hall = Cloaking(
        kernel=EQ(), noise_variance=1.0, epsilon=50.0, delta=0.01, calibration="hall", unproven=True
    ).guarantee
    rows = dict(frame.guarantee_rows(hall))
    assert rows["Promise"].startswith("claimed: ε = 50")
    assert rows["How sure"].startswith("not established: the formula is not proven at ε = 50")
    assert "ε = 153" in rows["How sure"]  # epsilon_of(0.065105, 0.01)


def test_each_row_has_its_plain_explanation_and_risk_its_colour(seen):
    assert set(ROWS) == set(text.ROWS)
    bodies = [
        element.proto.body
        for element in seen("kung_curves", epsilon="50", mechanism="cloaking", calibration="hall").get("html")
    ]
    [card] = [body for body in bodies if "What this guarantee says" in body]
    assert plots.RISK in card
    assert all(meaning.rstrip(".") in card for meaning in text.ROWS.values())
