from __future__ import annotations

import base64

import numpy as np
import pytest
from scipy.special import ndtr

from dpgp_core.accounting.gaussian import noise_multiplier
from pages._ui.start import deployments
from tests.pages.reading import page_text, traces


@pytest.mark.parametrize("epsilon", ["0.1", "1", "10"])
def test_attackers_success_is_that_of_the_gaussian_test(open_page, epsilon):
    app = open_page("start", epsilon=epsilon, delta="0.01")
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


@pytest.mark.parametrize("epsilon", ["0.3", "1", "5"])
def test_laplace_noise_has_its_own_curve_success_and_guarantee(open_page, epsilon):
    app = open_page("start", epsilon=epsilon, family="laplace")
    assert not app.exception
    # at even odds the median test is right with probability 1 - e^(-epsilon/2) / 2
    expected = 100 * (1 - np.exp(-float(epsilon) / 2) / 2)
    assert float(app.metric[0].value.split()[0]) == pytest.approx(expected, rel=0.05)
    assert app.metric[2].value == "nothing"
    curve = traces(app)["best attack"]
    miss = dict(zip(np.round(decoded(curve["x"]), 12), decoded(curve["y"]), strict=True))
    assert miss[0.5] == pytest.approx(np.exp(-float(epsilon)) / 2, rel=1e-9)
    assert "Laplace mechanism" in page_text(app)


def test_without_a_known_kind_of_noise_the_limit_itself_is_assumed(open_page):
    app = open_page("start", epsilon="1", delta="0.01", family="any")
    # 1 - (1 - delta) / (1 + e) at even odds
    assert app.metric[0].value == f"{100 * (1 - 0.99 / (1 + np.e)):.0f} %"
    assert app.metric[3].value == "any"


def test_published_budgets_stand_on_the_scale_with_their_sources(open_page):
    app = open_page("start", epsilon="3")
    names = {found.name for found in deployments.DEPLOYMENTS}
    table = next(table.value for table in app.dataframe if "release" in table.value)
    assert set(table["release"]) == names
    assert table["source"].str.len().min() > 10
    assert list(traces(app, 1)["published"]["y"]) == [found.name for found in deployments.DEPLOYMENTS]
    assert "cannot be compared one to one" in "".join(caption.value for caption in app.caption)
    assert list(table["ε"]) == sorted(table["ε"])


def test_words_are_explained_in_place(open_page):
    text = page_text(open_page("start"))
    for term in ("epsilon", "delta", "Unit", "Neighbours", "Sensitivity", "Gaussian process", "Lengthscale"):
        assert term in text
    for term in ("Cloaking", "Release", "Ledger"):
        assert f"**{term}.**" in text


def decoded(values):
    """Numbers of a trace, which plotly may have packed."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
    return np.asarray(values, dtype=float)
