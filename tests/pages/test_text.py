from __future__ import annotations

import ast
import math
import re

import pytest
from scipy.stats import norm

from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import Cloaking, LaplaceBinning
from pages._ui.look import text
from tests.pages.reading import ROOT


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (8.4871, "8.5"),
        (0.02149, "0.021"),
        (150.2, "150"),
        (1234567, "1,200,000"),
        (0, "0"),
        (-3.14, "-3.1"),
        (0.9999, "1"),
    ],
)
def test_two_significant_digits(value, shown):
    assert text.number(value) == shown


def test_three_digits_and_unbounded():
    assert text.number(0.99999999, 3) == "1"
    assert text.number(float("inf")) == "unbounded"


@pytest.mark.parametrize(
    ("value", "bound"),
    [(1.0, "1"), (1.0001, "1.01"), (1.4901, "1.5"), (9.991, "10"), (1234.5, "1,240"), (0, "0")],
)
def test_an_upper_bound_is_rounded_up(value, bound):
    assert text.at_most(value) == bound


def test_what_is_left_is_rounded_down():
    assert (text.at_least(0.9999), text.at_least(0.0019999)) == ("0.999", "0.00199")
    assert text.at_least(math.inf) == "unbounded"


def test_the_factor_of_a_probability_is_an_upper_bound():
    assert text.growth(1) == "2.72"  # exp(1) = 2.71828
    assert text.growth(0.7) == "2.02"  # exp(0.7) = 2.01375
    assert text.growth(100) == "over 400,000"


def test_a_budget_says_what_delta_is_and_how_much_more_gaussian_noise_promises():
    mechanism = Cloaking(kernel=EQ(), noise_variance=1.0, epsilon=1.0, delta=0.01)
    said = text.budget(mechanism.guarantee)
    assert said.startswith("ε = 1, δ = 0.01: no event's probability can grow by more than a factor exp(ε), plus δ")
    # 1 - Phi(Phi^-1(0.95) - mu) of the likelihood-ratio test, mu the exact inverse of the noise multiplier
    power = 100 * norm.cdf(norm.ppf(0.05) + 1 / mechanism.noise_multiplier)
    assert f"accuses 5 % of the innocent finds at most {text.at_most(power)} %" in said
    pure = text.budget(LaplaceBinning(epsilon=1.0, bins=4).guarantee)
    assert pure.endswith("here a factor 2.72, plus nothing")


def test_no_page_speaks_of_odds_or_of_exceptions():
    # (epsilon, delta) is about probabilities; odds may change by more than exp(epsilon) with a chance above delta
    said = {
        path: node.value
        for path in (ROOT / "pages").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.search(r"(?i)\bodds\b|except with|mass exempted|change the odds", node.value)
    }
    assert list(said) == []


def test_log_change_as_share_of_price():
    assert text.factor_of(0.0953102) == "10 %"


def test_words_of_a_visitor_are_shown_as_they_are():
    assert text.plain("[x](http://y) `z` $1$ :material/home: <b>") == (
        "\\[x\\]\\(http\\://y\\) \\`z\\` \\$1\\$ \\:material/home\\: \\<b\\>"
    )
