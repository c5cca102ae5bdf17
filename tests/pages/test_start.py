from __future__ import annotations

import pytest
from scipy.special import ndtr

from dpgp_core.calibration import noise_multiplier
from tests.pages.reading import page_text


@pytest.mark.parametrize("epsilon", ["0.1", "1", "10"])
def test_attackers_success_is_that_of_the_gaussian_test(open_page, epsilon):
    app = open_page("start", epsilon=epsilon)
    # at even prior odds the best test of N(0,1) against N(mu,1) is right with probability Phi(mu/2)
    expected = 100 * ndtr(0.5 / noise_multiplier(float(epsilon), 0.01))
    assert float(app.metric[0].value.split()[0]) == pytest.approx(expected, rel=0.05)


def test_a_rare_fact_stays_rare_under_strong_privacy(open_page):
    app = open_page("start", epsilon="0.1", prior="1")
    assert app.metric[0].value == "99 %"  # saying no is right 99 times of 100, before and after


def test_words_say_what_is_public(open_page):
    text = page_text(open_page("start"))
    assert "**Inputs** (an age, a place) are public on most pages" in text


def test_extreme_epsilon_is_worded(open_page):
    app = open_page("start", epsilon="100")
    assert app.metric[1].value == "× over 400,000"
