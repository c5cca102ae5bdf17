from __future__ import annotations

import html
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

from dpgp_core.accounting.gaussian import noise_multiplier
from pages._ui.compare.contenders import Scale, contender
from pages._ui.look import offers, settings, text
from pages._ui.model import Draw, load_dataset
from pages._ui.start import brief, decision, overview
from pages._ui.start.decision import MECHANISM, Decision
from tests.pages.reading import numbers, page_text, traces

BY_BINS = {"decide_by": "laplace_bins", "family": "laplace"}


@pytest.fixture
def start(seen):
    """The page with errors of a mechanism that is simulated in less time, unless another is asked for."""
    return lambda **address: seen("start", **{"decide_by": "gp_prior"} | address)


def gaussian(epsilon: float) -> object:
    """At even prior odds the best test of N(0, 1) against N(mu, 1) is right with probability Phi(mu / 2)."""
    return pytest.approx(100 * ndtr(0.5 / noise_multiplier(epsilon, 0.01)), rel=0.05)


def laplace(epsilon: float) -> object:
    """At even odds the median test is right with probability 1 - e^(-epsilon / 2) / 2."""
    return pytest.approx(100 * (1 - np.exp(-epsilon / 2) / 2), rel=0.05)


@pytest.mark.parametrize(
    ("epsilon", "address", "right"),
    [
        (0.1, {}, gaussian(0.1)),
        (10.0, {}, gaussian(10.0)),
        (0.1, {"prior": "1", "delta": "1e-5"}, 99),  # saying no is right 99 times of 100, before and after
        (0.3, BY_BINS, laplace(0.3)),
        (5.0, BY_BINS, laplace(5.0)),
        (1.0, {"family": "any"}, pytest.approx(100 * (1 - 0.99 / (1 + np.e)), abs=0.01)),  # 1 - (1 - delta) / (1 + e)
    ],
)
def test_attackers_success_is_that_of_the_best_test_of_its_noise(start, epsilon, address, right):
    app = start(**{"epsilon": f"{epsilon:g}", "delta": "0.01", "prior": "50"} | address)
    table = next(table.value for table in app.dataframe if "attacker right after [%]" in table.value)
    assert table.set_index("epsilon")["attacker right after [%]"][epsilon] == right
    noises = [name for table in app.dataframe for name in table.value if "privacy noise" in name]
    assert bool(noises) == ("any" not in address.values())  # of no known kind


@pytest.mark.parametrize(
    ("epsilon", "delta", "family", "sentence", "limits"),
    [
        (1.0, offers.DELTA, "gaussian", "holds in all but 1 of {often} releases.", ", but in {of_100} of 100 cases"),
        (0.1, 0.05, "gaussian", "holds in all but {of_100} of 100 releases.", ", but in 66 of 100 cases"),
        (1.0, offers.DELTA, "laplace", "That holds in all releases.", ", ever"),
    ],
)
def test_a_belief_moves_by_the_odds_and_it_is_said_how_often_that_fails(epsilon, delta, family, sentence, limits):
    mu = 1 / noise_multiplier(epsilon, delta)
    beyond = ndtr(mu / 2 - epsilon / mu) + ndtr(-mu / 2 - epsilon / mu)  # far more than delta
    share = {"often": text.at_least(1 / beyond, 2), "of_100": text.at_most(100 * beyond, 2)}
    draw = Draw(epsilon=epsilon, delta=delta)
    found = decision.moved(draw, 0.01, family)
    said, brief_says = decision.sentence(draw, found), decision.limits(found)
    assert said.endswith(sentence.format(**share))
    assert brief_says.endswith(limits.format(**share))
    if epsilon == 1:  # odds 1 : 99 times e
        assert "whoever thought a fact **1 %** likely will think it at most **2.7 %** likely." in said
        assert "a chance of 1 % cannot become more than 2.7 % or less than 0.37 %" in brief_says
    assert "Take 10,000 people, and a fact that is true of 100 of them." in decision.frequencies(found)


def test_bayes_cloaking_comes_first_and_whatever_one_decides_by_keeps_its_promise_at_any_epsilon():
    untouched = settings.untouched(Decision)
    assert untouched.mechanism == next(iter(MECHANISM.titles)) == "bayes"
    for name in MECHANISM.titles:
        assert contender(untouched.contest, name, 100.0).guarantee.established, name


def test_what_is_recommended_is_the_least_epsilon_whose_error_is_near():
    errors = np.array([9, 8, 6.3, 6.2, 6, *[5.5] * 10])
    held = decision.Cost(errors, 5.0, Scale("cm"))
    assert decision.recommended(held) == "Recommended: epsilon = 0.5"
    assert decision.recommended(replace(held, nonprivate=4.0)) == "No epsilon up to 100 can be recommended"


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.5, 3.0, 20.0])
def test_page_and_brief_round_the_same_way(epsilon):
    draw = Draw(epsilon=epsilon, delta=offers.DELTA)
    found = decision.moved(draw, 0.01, "gaussian")
    page = re.search(r"at most \*\*([\d.]+) %", decision.sentence(draw, found))[1]
    brief_most = re.search(r"more than ([\d.]+) %", decision.limits(found))[1]
    assert page == brief_most
    assert float(page) >= 100 * found.limit.high


def test_one_live_region_says_the_whole_lead_and_recommends_the_least_epsilon_within_a_quarter(start):
    app = start(**BY_BINS, compare_dataset="toy_1d")
    [said] = [each.value for each in app.markdown if 'role="status"' in each.value]
    assert "%** likely." in said
    assert "with an error of" in said
    plain = float(re.search(r"Without privacy it is ([\d.]+\d)", said)[1])
    table = next(table.value for table in app.dataframe if "at least: chance afterwards [%]" in table.value)
    [error] = [name for name in table if name.startswith("published: error [")]
    within = table.iloc[:, 0][table[error] <= 1.25 * plain * 1.01]
    recommended = "No epsilon up to 100 can be" if within.empty else f"Recommended: epsilon = {within.min():g}</span>"
    assert f'<span class="recommended">{recommended}' in said


def test_the_brief_is_one_file_that_asks_for_nothing_and_links_to_this_state(start):
    app = start(epsilon="2", **BY_BINS)
    [button] = [each for each in app.get("download_button") if each.proto.label == "One-page brief"]
    assert button.proto.url
    held = decision.Cost(np.linspace(40, 8, 15), 7.0, Scale("cm"))
    link = "http://127.0.0.1/?a=<b>&c=1"
    pictures = [("Error against ε", decision.errors_figure(held, 2.0))]
    kung = load_dataset("kung")
    named = replace(kung.outcome, name="<T>")
    data = replace(kung, outcome=named, source="<x>", privacy_unit="a height & <i>")
    found = brief.brief(settings.untouched(Decision), data, held, link, pictures)
    assert "<b>Recommended: epsilon = 100.</b>" in found
    assert "publishes a height &amp; &lt;i&gt; with an error of <b>" in found
    assert "costs: &lt;T&gt;</h1>" in found
    assert "<x>" not in found
    assert not re.search(r"(src|href)=|@import|url\((?!#)", found)
    ticks = re.findall(r'text-anchor="end"[^>]*>([^<]+)<', found)
    assert ticks[:2] == ["0", "10"]  # whole
    assert found.count("<svg") == 2  # the figure, and the link as a QR code
    assert "@page { size: A4" in found


def test_without_the_overlay_no_error_is_told(start):
    app = start(overlay="false")
    assert not app.exception
    assert "Recommended" not in page_text(app)
    assert not [name for table in app.dataframe for name in table.value if "not private" in name]


def test_three_doors_and_the_rest_behind_one(start):
    app = start(**BY_BINS)
    assert [each.value for each in app.header][:3] == ["Teach", "Decide", "Publish"]
    assert [each.label for each in app.expander if not each.label.startswith("More")] == [overview.REST]


def test_laplace_noise_has_its_own_curve_and_guarantee(start):
    app = start(epsilon="5", prior="50", **BY_BINS)
    curve = traces(app, 2)["best attack"]
    miss = dict(zip(np.round(numbers(curve["x"]), 12), numbers(curve["y"]), strict=True))
    assert miss[0.5] == pytest.approx(np.exp(-5) / 2, rel=1e-9)
    assert "Laplace mechanism" in page_text(app)


def test_published_budgets_stand_on_the_scale_with_their_sources(start):
    app = start(epsilon="3")
    names = {found.name for found in overview.DEPLOYMENTS}
    table = next(table.value for table in app.dataframe if "release" in table.value)
    assert set(table["release"]) == names
    assert table["source"].str.len().min() > 10
    assert list(traces(app, 3)["published"]["y"]) == [found.name for found in overview.DEPLOYMENTS]
    assert "cannot be compared one to one" in "".join(caption.value for caption in app.caption)
    assert list(table["ε"]) == sorted(table["ε"])


def test_words_are_explained_in_place_and_what_is_public_is_said(start):
    said = page_text(start())
    for term in ("epsilon", "delta", "Unit", "Neighbours", "Sensitivity", "Gaussian process", "Lengthscale"):
        assert term in said
    for term in ("Cloaking", "Release", "Ledger", "A row", "A person", "A group of k rows"):
        assert f"**{term}.**" in said
    assert "**Inputs** (an age, a place) are public on most pages" in said


@pytest.mark.parametrize("name", ["refined", "laplace_bins"])
def test_the_brief_has_the_card_of_its_mechanism_and_the_unit_of_its_data(name):
    data, chosen = load_dataset("kung"), replace(settings.untouched(Decision), mechanism=name)

    def rows_of(chosen):
        rows = re.findall("<tr><th>(.*?)</th><td>(.*?)</td></tr>", brief.brief(chosen, data, None, "link", ()))
        return {name: html.unescape(value) for name, value in rows}

    rows = rows_of(chosen)
    assert rows["Rests on"] == contender(chosen.contest, name, 1.0).guarantee.theorem
    assert rows["Unit"] == data.privacy_unit
    assert "lengthscale 25 years" in rows["Model"]
    assert rows_of(replace(chosen, mechanism="bayes"))["Model"].startswith("none to set")
