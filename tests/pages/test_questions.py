"""The six questions of the field's study: each answer is read off its page, and is right."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from dpgp_core.accounting.gaussian import epsilon_of, noise_multiplier
from pages._ui.cloaking import computed
from pages._ui.look import offers, text
from pages._ui.model import Design, Draw, usual
from pages._ui.start import promise
from tests.pages.reading import ROOT, page_text

DELTA = offers.DELTA


def read(pattern, app):
    return float(re.search(pattern, page_text(app))[1])


def test_how_probable_a_value_is_near_the_one_without_privacy(seen):
    app = seen("kung_curves", mechanism="refined", epsilon="1", growth_x_kung="30", within_kung="5.0")
    assert not app.exception
    shown = read(r"with a chance of \*\*([\d.]+) in 100\*\*", app)
    result = computed.run(usual("kung"), Design("refined"), Draw(1.0, DELTA))
    many = computed.run(usual("kung"), Design("refined"), Draw(1.0, DELTA, draws=400, seed=1)).outcome
    grid = slice(many.scene.records, None)
    at = int(np.abs(many.scene.X_test[grid, 0] - 30).argmin())
    noise = many.samples[:, grid][:, at] - many.samples[:, grid][:, at].mean()
    assert shown == pytest.approx(100 * np.mean(np.abs(noise) <= 5.0), abs=8)  # 400 draws: within 8 but for 1 in 1,000
    half = result.intervals.noise[grid][at]
    assert shown == pytest.approx(100 * (2 * norm.cdf(5 * 1.96 / half) - 1), abs=1.5)


def test_how_much_wider_the_range_is_than_without_privacy(seen):
    wider = []
    for epsilon in ("0.3", "1", "10"):
        app = seen("kung_curves", mechanism="refined", epsilon=epsilon, growth_x_kung="30")
        wider.append(read(r"\*\*([\d.]+) times\*\* as wide as without privacy", app))
    assert wider[0] > wider[1] >= wider[2] >= 0.9
    hidden = seen("kung_curves", mechanism="refined", overlay="false")
    assert "as wide as without privacy" not in page_text(hidden)


@pytest.mark.full
def test_which_epsilon_gives_a_wanted_accuracy(seen):
    app = seen("compare", compare_dataset="toy_1d")
    assert next(each.value for each in app.metric if each.label == "ε for the target").startswith("ε")


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


def test_how_likely_an_attacker_is_right(seen):
    app = seen("start", epsilon="1", prior="50")
    table = next(each.value for each in app.dataframe if "attacker right after [%]" in each.value)
    right = float(table.set_index("epsilon")["attacker right after [%]"][1.0])
    mu = 1 / noise_multiplier(1.0, DELTA)
    assert right == pytest.approx(100 * norm.cdf(mu / 2), abs=0.1)  # at even odds


def test_outcomes_are_moving_draws(seen):
    app = seen("kung_curves", mechanism="refined")
    assert "Show 20 draws, to play" in [each.label for each in app.button]
    playing = seen("kung_curves", mechanism="refined", draws="20")
    assert "Play, one after another" in page_text(playing)


def test_the_page_of_questions_names_pages_and_controls_that_exist(seen):
    said = (Path(ROOT) / "docs/questions.md").read_text(encoding="utf-8")
    sliders = [each.label for each in seen("kung_curves", mechanism="refined").slider]
    for label in ("A person's age", "How near must it be?"):
        assert label in said
        assert any(each.startswith(label) for each in sliders)
    assert "Two releases: share of the first" in said
    start = seen("start", epsilon="1")
    assert any(each.label.startswith("Two releases: share of the first") for each in start.select_slider)


def test_a_tolerance_is_a_round_number():
    assert text.round_step(25.0) == 20.0
    assert text.round_step(0.7) == 0.5
