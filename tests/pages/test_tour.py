"""The tour, and the six questions of the field's study, each answered on its page."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import norm

import datasets
from dpgp_core.accounting.gaussian import epsilon_of, noise_multiplier
from dpgp_core.gp.regression import cloaking_matrix
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import Cloaking
from dpgp_core.mechanisms.gp_prior import exact_sensitivity
from pages._ui import attack, menu, tour
from pages._ui.attack import attacked
from pages._ui.cloaking import computed
from pages._ui.look import offers, text
from pages._ui.model import Design, Draw, usual
from pages._ui.start import promise
from tests.pages.reading import ROOT, page_text

NUMBERS = range(1, len(tour.STEPS) + 1)


def open_step(open_page, number, **more):
    step = tour.STEPS[number - 1]
    return open_page(step.page, **{"tour": str(number)} | step.state | more)


def banner(app):
    return "\n".join(element.value for kind in ("caption", "markdown") for element in app.get(kind))


def links(app):
    """Page links of the banner: label -> parameters. Following them takes a browser: see tests/e2e."""
    return {link.proto.label: dict(parse_qsl(link.proto.query_string)) for link in app.get("page_link")}


def test_the_tour_has_seven_steps_and_pages():
    first, *others, last = (step.page for step in tour.STEPS)
    assert (first, last) == ("start", "compare")
    assert len({first, *others, last}) == len(tour.STEPS) == 7


@pytest.mark.full_for("4", "5", "7")
@pytest.mark.parametrize("number", NUMBERS)
def test_each_link_opens_its_step(seen, number):
    app, step = open_step(seen, number), tour.STEPS[number - 1]
    assert not app.exception
    assert not app.warning
    assert f"Guided tour, step {number} of 7: {step.title}" in banner(app)
    assert f"**{step.question}** {step.attempt}" in banner(app)
    assert step.answer().split("**")[1] in page_text(app)
    for key, value in step.state.items():
        spelt = {value, menu.TITLES.get(key, {}).get(value), f"{float(value)}" if value[0].isdigit() else None}
        assert str(app.session_state[key]) in spelt
    assert app.query_params["tour"] == str(number)
    found = links(app)
    for label, other in (("Back", number - 1), ("Next question", number + 1)):
        there = {"tour": str(other)} | tour.STEPS[other - 1].state if other in NUMBERS else None
        assert found.get(label) == there


def test_pages_off_the_tour_lead_back(open_page):
    app = open_page("sparse_dp_gp", tour="3")
    assert "This page is off the tour. The question was: **What does twice the ε buy?**" in banner(app)
    assert links(app)["Back to the tour"] == {"tour": "3"} | tour.STEPS[2].state
    holding = [block for block in blocks(app.main) if any("Guided tour" in each.value for each in block.get("caption"))]
    assert holding[0].get("title")
    assert not holding[-1].get("title")  # the page stands below the box, not in it


def blocks(block):
    """A block and all within it, from the outermost to the innermost."""
    yield block
    for child in block.children.values():
        if hasattr(child, "children"):
            yield from blocks(child)


@pytest.mark.parametrize("garbage", ["0", "8", "-1", "1.5", "one", "<b>", "", "inf", "9" * 5000])
def test_a_bad_step_is_explained(garbage):
    said = tour.step_of(garbage)
    assert said.startswith("The link asks for tour = `")
    assert "the tour has steps 1 to 7" in said
    assert "<" not in said
    assert len(said) < 200
    assert [tour.step_of(str(number)) for number in NUMBERS] == [*NUMBERS]


def test_an_invalid_step_shows_its_page(open_page):
    app = open_page("start", tour="<b>")
    [warning] = app.warning
    assert warning.value == tour.step_of("<b>")
    assert "Guided tour" not in banner(app)
    assert "tour" not in app.query_params


def test_the_start_page_invites_and_the_button_begins(open_page):
    app = open_page("start", epsilon="5").button(key="tour_start").click().run()
    assert "step 1 of 7" in banner(app)
    assert app.session_state["epsilon"] == 0.5
    assert app.query_params["tour"] == "1"
    assert not [button for button in app.button if button.key == "tour_start"]


# The claims, each against the core.


def test_claim_1_attackers_success():
    for epsilon in (0.1, 0.5, 10):
        expected = ndtr(0.5 / noise_multiplier(epsilon, tour.DELTA))
        assert text.percent(expected) in tour.promise()
    assert ndtr(0.5 / noise_multiplier(0.1, tour.DELTA)) < 0.53
    assert ndtr(0.5 / noise_multiplier(10, tour.DELTA)) > 0.8


def test_claim_2_groups_in_one_place_share_noise():
    def exposure(x2):
        people = np.repeat([[4.5], [x2]], 10, axis=0)  # ten in each group
        return cloaking_matrix(EQ(lengthscale=1.5), people, np.array([[3.0], [7.0]]), 0.1)

    apart, together = exposure(5.5), exposure(4.5)
    assert np.linalg.matrix_rank(together, tol=1e-9) == 1  # the same direction
    assert np.abs(together).max() < 0.5 * np.abs(apart).max()  # and each less far
    # one direction c: the least noise that hides it is c itself, times d = 2
    assert tour.two_point_noise(4.5) == pytest.approx(2 * np.abs(together[:, 0]).max(), rel=1e-3)
    assert tour.two_point_noise(4.5) < 0.5 * tour.two_point_noise(5.5)
    assert exact_sensitivity(EQ(lengthscale=1.5), np.array([[4.5], [4.5]]), 0.1) > 0


def test_claim_3_twice_the_epsilon_nearly_halves_noise():
    data = datasets.load("kung")

    def noise(epsilon):
        cloaking = Cloaking(kernel=EQ(lengthscale=25.0), noise_variance=0.3, epsilon=epsilon, delta=tour.DELTA)
        return 1.96 * np.median(cloaking.release(data, data.X, np.random.default_rng(0)).noise_sd)

    ratio = noise_multiplier(1, tour.DELTA) / noise_multiplier(0.5, tour.DELTA)
    assert 0.5 < ratio < 0.65
    assert tour.kung_noise(1, False) / tour.kung_noise(0.5, False) == pytest.approx(ratio, rel=2e-3)
    # the page's design weighs the records and spans a grid too: within 10 % of one at the records alone
    assert tour.kung_noise(0.5, False) == pytest.approx(noise(0.5), rel=0.1)
    assert tour.kung_noise(0.5, True) > 1.8 * tour.kung_noise(0.5, False)


@pytest.mark.full
def test_claim_4_few_neighbours_need_more_noise():
    dense, empty = tour.london_noise(15.0)
    dense_8, empty_8 = tour.london_noise(8.0)
    assert empty > 4 * dense
    assert dense_8 > 1.5 * dense
    assert empty_8 > dense_8


@pytest.mark.full
def test_claim_5_more_privacy_wants_a_longer_lengthscale(seen):
    private, loose = tour.best_lengthscales()
    assert private > loose
    for epsilon, best in (("0.1", private), ("10", loose)):
        app = seen("lengthscale_choice", epsilon=epsilon)
        assert f"{best:g} years" in [metric.value for metric in app.metric if metric.label == "Best if known"]


@pytest.mark.full
def test_claim_6_attacks_prove_less_than_is_guaranteed():
    def proven(found):
        return found.epsilon_lower / found.guarantee.budget.epsilon

    def cloaked(delta):
        return attack.OutputAttack(tour.KUNG, "cloaking", attack.Draw(epsilon=1.0, delta=delta), 100_000)

    paths = attack.PathAttack(1.0, 0.5, 1, 0.01, "halves", 10000)  # the page's defaults
    # Of twelve seeds: .85 to .91 at delta = .01. At 1e-5 it is 0 to .61: the rarest scores decide, by chance.
    assert 0.7 < proven(attacked(cloaked(0.01))) <= 1
    assert proven(attacked(cloaked(tour.DELTA))) <= 1
    assert proven(attacked(paths)) < 0.2


@pytest.mark.full
def test_claim_7_accuracy_costs_privacy(seen):
    nine, eight = tour.needed(9.0), tour.needed(8.0)
    assert eight > 1.3 * nine
    app = seen("compare", target_cm="8")
    shown = app.dataframe[0].value.set_index("mechanism").loc["Refined cloaking", "ε needed for the target"]
    assert float(shown) == pytest.approx(eight, rel=0.01)
    [best] = [each.value for each in app.metric if each.label == "ε for the target"]
    assert best.startswith("ε")


# ---- The six questions of the field's study: each answer is read off its page, and is right.


DELTA = offers.DELTA


def read(pattern, app):
    return float(re.search(pattern, page_text(app))[1])


@pytest.mark.full
def test_published_values_near_the_noiseless_are_likely(seen):
    app = seen("kung_curves", mechanism="refined", epsilon="1", growth_x_kung="30", within_kung="5.0")
    assert not app.exception
    shown = read(r"with a probability of \*\*([\d.]+) %\*\*", app)
    result = computed.run(usual("kung"), Design("refined"), Draw(1.0, DELTA))
    many = computed.run(usual("kung"), Design("refined"), Draw(1.0, DELTA, draws=400, seed=1))
    grid = many.scene.grid
    at = int(np.abs(many.scene.x - 30).argmin())
    noise = many.samples[:, grid][:, at] - many.samples[:, grid][:, at].mean()
    assert shown == pytest.approx(100 * np.mean(np.abs(noise) <= 5.0), abs=8)  # 400 draws: within 8 but for 1 in 1,000
    half = result.intervals.noise[grid][at]
    assert shown == pytest.approx(100 * (2 * norm.cdf(5 * 1.96 / half) - 1), abs=1.5)


@pytest.mark.full
def test_ranges_are_wider_than_without_privacy(seen):
    wider = []
    for epsilon in ("0.3", "1", "10"):
        app = seen("kung_curves", mechanism="refined", epsilon=epsilon, growth_x_kung="30")
        equal = "97th centile is as wide as without privacy" in page_text(app)
        wider.append(1.0 if equal else read(r"\*\*([\d.]+) times\*\* as wide as without privacy", app))
    assert wider[0] > wider[1] >= wider[2] >= 0.9
    hidden = seen("kung_curves", mechanism="refined", overlay="false")
    assert "as wide as without privacy" not in page_text(hidden)


@pytest.mark.full
@pytest.mark.parametrize("share", [10, 50, 80])
def test_how_a_budget_is_split_over_two_releases(seen, share):
    app = seen("start", split=str(share), epsilon="1")
    first = read(r"the first may have \*\*ε = ([\d.]+)\*\*", app)
    second = read(r"the second \*\*ε = ([\d.]+)\*\*", app)
    mus = [1 / noise_multiplier(each, DELTA) for each in (first, second)]
    together = epsilon_of(1 / np.hypot(*mus), DELTA)
    assert together <= 1.0  # both were rounded down
    assert together == pytest.approx(1.0, rel=0.02)
    assert first + second > 1.0
    exact = promise.halves(Draw(1.0, DELTA), share / 100)
    assert (first, second) == pytest.approx(exact, rel=0.01)


def test_questions_name_existing_pages_and_controls(seen):
    said = (Path(ROOT) / "docs/questions.md").read_text(encoding="utf-8")
    sliders = [each.label for each in seen("kung_curves", mechanism="refined").slider]
    for label in ("A person's age", "Largest acceptable difference"):
        assert label in said
        assert any(each.startswith(label) for each in sliders)
    assert "Two releases: share of the first" in said
    start = seen("start", epsilon="1")
    assert any(each.label.startswith("Two releases: share of the first") for each in start.select_slider)
