from __future__ import annotations

import html
import re

import pytest

from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import Cloaking
from pages._ui.look import layout, text
from tests.pages.own import practised
from tests.pages.test_every_page import PAGES


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


QUICK = ("kung_curves", "excursion_sets", "attack", "your_data")  # the others: in `make test-all`


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[] if page in QUICK else pytest.mark.full) for page in PAGES]
)
def test_every_card_shows_its_guarantee_and_limits(open_page, monkeypatch, page):
    shown, original = [], layout.guarantee_card

    def noting(guarantee, note=""):
        shown.append(guarantee)
        original(guarantee, note)

    monkeypatch.setattr(layout, "guarantee_card", noting)
    cards = read_cards(practised(open_page) if page == "your_data" else open_page(page))
    assert cards
    for card, guarantee in zip(cards, shown, strict=True):
        assert list(card) == list(text.ROWS)
        promise, sure = card.pop("Promise"), card.pop("How sure")
        assert card == {
            "Protects": guarantee.protects,
            "Neighbours": guarantee.neighbours,
            "Unit": guarantee.unit,
            "Rests on": guarantee.theorem,
            "Assumes": "; ".join(guarantee.assumptions),
            "Does not cover": "; ".join(guarantee.not_covered),
        }
        epsilon = float(re.match(r"ε = ([\d,.]+)", promise)[1].replace(",", ""))
        assert guarantee.budget.epsilon * (1 - 1e-8) <= epsilon <= guarantee.budget.epsilon * 1.01  # never rounded down
        assert f"δ = {text.small(guarantee.budget.delta)}" in promise
        assert (sure == "proven for this setting") == guarantee.established
        limits = card["Does not cover"]  # what a reader may wrongly believe covered
        assert re.search(r"further|repeat|other release|own budget", limits), limits
        assert re.search(r"settings|choos|chosen|hyperparameter", f"{limits}; {card['Assumes']}"), limits


def test_unproven_formulas_are_not_guarantees():
    hall = Cloaking(
        kernel=EQ(), noise_variance=1.0, epsilon=50.0, delta=0.01, calibration="hall", unproven=True
    ).guarantee
    rows = dict(layout.guarantee_rows(hall))
    assert rows["Promise"].startswith("claimed: ε = 50")
    assert rows["How sure"].startswith("not established: the formula is not proven at ε = 50")
    assert "ε = 153" in rows["How sure"]  # epsilon_of(0.065105, 0.01)
