from __future__ import annotations

import html
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

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


FOUND = "targets found if 5 % of the innocent are accused, at most [%]"


def gaussian(epsilon: float) -> float:
    """The likelihood-ratio test of N(0, 1) against N(mu, 1) that accuses 5 % of the innocent."""
    return 100 * ndtr(ndtri(0.05) + 1 / noise_multiplier(epsilon, 0.01))


@pytest.mark.parametrize(
    ("epsilon", "address", "found"),
    [
        (0.1, {}, gaussian(0.1)),
        (10.0, {}, gaussian(10.0)),
        (0.3, BY_BINS, 5 * np.exp(0.3)),  # accuses where the likelihood ratio is exp(epsilon)
        (5.0, BY_BINS, 100 * (1 - np.exp(-5) / 4 / 0.05)),
        (1.0, {"family": "any"}, 5 * np.e + 1),  # exp(epsilon) times as many, and delta
    ],
)
def test_the_best_attackers_success_is_exact(start, epsilon, address, found):
    app = start(**{"epsilon": f"{epsilon:g}", "delta": "0.01", "prior": "1"} | address)
    table = next(table.value for table in app.dataframe if FOUND in table.value).set_index("epsilon")
    assert found <= table[FOUND][epsilon] == pytest.approx(found, rel=1e-3)
    odds = np.exp(epsilon) / 99
    assert table["believed after, at most [%]"][epsilon] == pytest.approx(100 * odds / (1 + odds), rel=1e-3)
    noises = [name for table in app.dataframe for name in table.value if "privacy noise" in name]
    assert bool(noises) == ("any" not in address.values())  # of no known kind


def test_every_column_about_the_attacker_moves_with_epsilon(start):
    """How often an attacker is right did not: of a fact that is true of 1 %, saying no is right 99 times of 100."""
    app = start(epsilon="1", prior="1")
    table = next(table.value for table in app.dataframe if FOUND in table.value)
    for name in table.columns.drop(["epsilon", "delta", "believed before [%]"]):
        assert table[name].nunique() >= len(table) - 2, name  # at most 100 %, where much is given away


@pytest.mark.parametrize(
    ("epsilon", "delta", "family", "fails"),
    [
        (1.0, offers.DELTA, "gaussian", ", no more, except in 1 release of {often}."),
        (0.1, 0.05, "gaussian", ", no more, except in {of_100} of 100 releases."),
        (1.0, offers.DELTA, "laplace", ", no more, in any release."),
    ],
)
def test_beliefs_move_by_the_odds(epsilon, delta, family, fails):
    mu = 1 / noise_multiplier(epsilon, delta)
    beyond = ndtr(mu / 2 - epsilon / mu) + ndtr(-mu / 2 - epsilon / mu)  # far more than delta
    share = {"often": text.at_least(1 / beyond, 2), "of_100": text.at_most(100 * beyond, 2)}
    draw = Draw(epsilon=epsilon, delta=delta)
    found = decision.moved(draw, 0.01, family)
    said, brief_says = decision.sentence(draw, found), decision.limits(found)
    assert said.endswith(fails.format(**share))
    assert brief_says.endswith(fails.format(**share).removeprefix(", no more").removesuffix("."))
    if epsilon == 1:  # odds 1 : 99 times e
        assert "someone who thought a fact **1 %** likely can come to think it **2.7 %** likely" in said
        assert "a chance of 1 % cannot become more than 2.7 % or less than 0.37 %" in brief_says
    assert "Take 10,000 people, and a fact that is true of 100 of them." in decision.frequencies(found)


def test_every_method_keeps_its_guarantee():
    untouched = settings.untouched(Decision)
    assert untouched.mechanism == next(iter(MECHANISM.titles)) == "bayes"
    for name in MECHANISM.titles:
        assert contender(untouched.contest, name, 100.0).guarantee.established, name


ERRORS = np.array([9, 8, 6.3, 6.2, 6, *[5.5] * 10])
COST = decision.Cost(ERRORS, 5.0, Scale("cm"), np.stack([ERRORS - 0.5, ERRORS + 0.5], axis=1))


@pytest.mark.parametrize("prior", [0.01, 0.5])
@pytest.mark.parametrize("family", ["gaussian", "laplace", "any"])
def test_dots_of_beliefs_are_twentieths_of_all_releases(family, prior):
    draw = Draw(epsilon=1.0, delta=1e-5)
    dots = decision.after_each(draw, prior, family)
    assert len(dots) == decision.DOTS
    assert dots.mean() == pytest.approx(prior, rel=1e-9)  # beliefs are right on average
    assert (np.diff(dots) >= -1e-9).all()
    limit = decision.moved(draw, prior, family).limit
    if family != "gaussian":  # whose likelihood ratio has no limit
        assert limit.low - 1e-4 <= dots[0]
        assert dots[-1] <= limit.high + 1e-4
    stricter = decision.after_each(replace(draw, epsilon=0.1), prior, family)
    assert np.ptp(stricter) < np.ptp(dots)


def test_dots_of_beliefs_are_those_of_gaussian_releases():
    """Against two million simulated releases; a mean of a twentieth of them errs by less than 1e-3 then."""
    mu, prior = 1 / noise_multiplier(1.0, 1e-5), 0.3
    rng = np.random.default_rng(1)
    z = rng.standard_normal(2_000_000) + mu * (rng.random(2_000_000) < prior)
    odds = prior / (1 - prior) * np.exp(mu * z - mu**2 / 2)
    found = np.sort(odds / (1 + odds)).reshape(decision.DOTS, -1).mean(axis=1)
    np.testing.assert_allclose(decision.after_each(Draw(epsilon=1.0, delta=1e-5), prior, "gaussian"), found, atol=1e-3)


def test_dots_of_risk_and_error_move_with_epsilon(start):
    risk, error = (dots(start(epsilon="0.3"), each) for each in ("1 in 20 releases", "simulated release"))
    more_risk, less_error = (dots(start(epsilon="30"), each) for each in ("1 in 20 releases", "simulated release"))
    assert len(risk) == decision.DOTS
    assert np.ptp(more_risk) > np.ptp(risk)
    assert less_error.mean() < error.mean()


def dots(app, name):
    """Places along the axis of the dots with this name."""
    found = [traces(app, at) for at in range(len(app.get("plotly_chart")))]
    [each] = [chart[name] for chart in found if name in chart]
    return numbers(each["x"])


def test_error_dots_are_releases_or_quantiles():
    few = decision.error_dots(COST, 1.0)
    np.testing.assert_allclose(few.data[0].x, [5.0, 6.0])
    many = replace(COST, simulated=np.tile(np.linspace(4, 6, 200), (len(ERRORS), 1)))
    x = decision.error_dots(many, 1.0).data[0].x
    assert len(x) == decision.DOTS
    assert np.mean(x) == pytest.approx(5.0)
    assert "1 in 20 simulated releases" in brief.error_dots_caption(many, 1.0)
    assert "one simulated release" in brief.error_dots_caption(COST, 1.0)


def test_the_recommended_epsilon_is_the_smallest():
    assert decision.recommended(COST) == "Recommended: ε = 0.5 (error 6.2 cm)."
    assert decision.recommended(replace(COST, nonprivate=4.0)) == "No ε up to 100 can be recommended."


def test_every_epsilon_has_its_error_and_belief():
    """The error of what is set stood beside the epsilon that is recommended."""
    chosen = replace(settings.untouched(Decision), epsilon=1)
    said = decision.headline(chosen, COST, "a height")
    assert "Recommended: ε = 0.5 (error 6.2 cm)." in said
    assert "You have set ε = 1 (error 5.5 cm)." in said
    assert "At ε = 1, someone who thought a fact **1 %** likely can come to think it **2.7 %** likely" in said
    assert "At the recommended ε = 0.5 it is **1.7 %**." in said  # odds 1 : 99 times exp(0.5)
    assert "predicts a height with a typical error of **5.5 cm**" in said
    as_recommended = decision.headline(replace(chosen, epsilon=0.5), COST, "a height")
    assert "You have set it." in as_recommended
    assert "At the recommended" not in as_recommended


def test_the_recommendation_is_adopted_by_a_button(open_page):
    app = open_page("start", epsilon="0.1", compare_dataset="kung")
    [button] = [each for each in app.button if each.label.startswith("Set ε = ")]
    button.click().run()
    assert f"Set ε = {app.select_slider(key='epsilon').value}" == button.label
    assert "You have set it." in page_text(app)
    assert not [each for each in app.button if each.label.startswith("Set ε = ")]


def test_the_headline_recommends_the_smallest_epsilon(start):
    app = start(**BY_BINS, compare_dataset="toy_1d")
    [said] = [each.value for each in app.markdown if 'role="status"' in each.value]
    assert "%** likely, no more" in said
    assert "with a typical error of" in said
    plain = float(re.search(r"to the error without privacy, ([\d.]+\d) ", said)[1])
    table = next(table.value for table in app.dataframe if "at least: chance afterwards [%]" in table.value)
    [error] = [name for name in table if name.startswith("published: error [")]
    within = table.iloc[:, 0][table[error] <= 1.25 * plain * 1.01]
    recommended = "No ε up to 100 can be" if within.empty else f"Recommended: ε = {within.min():g} (error "
    assert f'<span class="recommended">{recommended}' in said


def test_the_brief_is_made_once_it_is_opened(monkeypatch, open_page):
    made = []
    monkeypatch.setattr(brief, "brief", lambda *parts: made.append(parts) or "brief")
    app = open_page("start", epsilon="2", **BY_BINS)
    assert not made
    app.session_state["brief"] = True
    app.run()
    assert len(made) == 1
    [button] = [each for each in app.get("download_button") if each.proto.label == "Download"]
    assert button.proto.url


def test_the_brief_is_one_complete_file():
    held = decision.Cost(np.linspace(40, 8, 15), 7.0, Scale("cm"), np.linspace(40, 8, 15)[:, None])
    link = "http://127.0.0.1/?a=<b>&c=1"
    pictures = [("Error against ε", decision.errors_figure(held, 2.0))]
    kung = load_dataset("kung")
    named = replace(kung.outcome, name="<T>")
    data = replace(kung, outcome=named, source="<x>", privacy_unit="a height & <i>")
    found = brief.brief(settings.untouched(Decision), data, held, link, pictures)
    assert "<b>Recommended: ε = 100 (error 8 cm).</b> This is the smallest" in found
    assert "<b>You have set ε = 1 (error 29 cm).</b>" in found
    assert "predicts a height &amp; &lt;i&gt; with a typical error of <b>" in found
    assert "costs: &lt;T&gt;</h1>" in found
    assert "<x>" not in found
    assert not re.search(r'(src|href)="(?!#)|@import|url\((?!#)', found)
    ticks = re.findall(r"text-anchor: end[^>]*>([^<]+)<", found)
    assert ticks[:2] == ["0", "10"]  # whole
    assert found.count("<svg") == 2  # the figure, and the link as a QR code
    assert "@page { size: A4" in found
    assert "interpolated" not in found
    guessed = brief.brief(settings.untouched(Decision), data, replace(held, interpolated=(0.1,)), link, pictures)
    assert f"</svg></div><p>{brief.errors_caption(replace(held, interpolated=(0.1,)))}</p>" in guessed.replace("\n", "")


def test_three_doors_and_the_rest_behind_one(start):
    app = start(**BY_BINS)
    assert [each.value for each in app.header][:3] == ["Teach", "Decide", "Publish"]
    assert [each.label for each in app.expander if not each.label.startswith("More")] == [overview.REST]


def test_laplace_noise_has_its_own_curve_and_guarantee(start):
    app = start(epsilon="5", prior="50", **BY_BINS)
    curve = traces(app, 4)["best attack"]
    miss = dict(zip(np.round(numbers(curve["x"]), 12), numbers(curve["y"]), strict=True))
    assert miss[0.5] == pytest.approx(np.exp(-5) / 2, rel=1e-9)
    assert "Laplace mechanism" in page_text(app)


def test_published_budgets_have_sources(start):
    app = start(epsilon="3")
    names = {found.name for found in overview.DEPLOYMENTS}
    table = next(table.value for table in app.dataframe if "release" in table.value)
    assert set(table["release"]) == names
    assert table["source"].str.len().min() > 10
    assert list(traces(app, 5)["published"]["y"]) == [found.name for found in overview.DEPLOYMENTS]
    assert "cannot be compared one to one" in "".join(caption.value for caption in app.caption)
    assert list(table["ε"]) == sorted(table["ε"])


def test_terms_are_explained_in_place(start):
    said = page_text(start())
    for term in ("epsilon", "delta", "Unit", "Neighbours", "Sensitivity", "Gaussian process", "Lengthscale"):
        assert term in said
    for term in ("Cloaking", "Release", "Ledger", "A row", "A person", "A group of k rows"):
        assert f"**{term}.**" in said
    assert "**Inputs** (an age, a place) are public on most pages" in said


@pytest.mark.parametrize("name", ["refined", "laplace_bins"])
def test_the_brief_contains_its_guarantee_card(name):
    data, chosen = load_dataset("kung"), replace(settings.untouched(Decision), mechanism=name)

    def rows_of(chosen):
        rows = re.findall("<tr><th>(.*?)</th><td>(.*?)</td></tr>", brief.brief(chosen, data, None, "link", ()))
        return {name: html.unescape(value) for name, value in rows}

    rows = rows_of(chosen)
    assert rows["Rests on"] == contender(chosen.contest, name, 1.0).guarantee.theorem
    assert rows["Unit"] == data.privacy_unit
    assert "lengthscale 25 years" in rows["Model"]
    assert rows_of(replace(chosen, mechanism="bayes"))["Model"].startswith("none to set")
