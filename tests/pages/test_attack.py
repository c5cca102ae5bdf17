from __future__ import annotations

import json
import re

import numpy as np
import pytest
from scipy.special import ndtr

from dpgp_core.accounting.gaussian import noise_multiplier
from pages._ui import attack
from tests.pages.reading import page_text, traces


@pytest.mark.parametrize("mechanism", ["cloaking", "gp_prior"])
def test_best_attack_on_gaussian_noise_has_the_exact_area(seen, mechanism):
    app = seen("attack", attack_on=mechanism, delta="0.01")
    # N(0, 1) against N(mu, 1), mu = 1 / s'(1, 0.01) = 0.5325: AUC = Phi(mu / sqrt 2). 10,000 of each: sd .004
    expected = ndtr(1 / noise_multiplier(1.0, 0.01) / np.sqrt(2))
    assert float(app.metric[0].value) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("attack_on", ["paths", "cloaking", "gp_prior"])
def test_proven_epsilon_stays_below_the_promise(seen, attack_on):
    app = seen("attack", attack_on=attack_on, shadows="3000")
    promised = float(app.metric[2].value.replace(",", ""))
    proven = float(app.metric[3].value.replace("≥", "").replace(",", ""))
    assert 0 <= proven <= promised
    assert "stays below what is promised" in "\n".join(each.value for each in app.caption)
    assert "refutes" not in page_text(app)


def test_the_page_opens_where_attack_and_limit_can_be_read(seen):
    """In people of 100: guessing, what is found, and what is allowed lie apart, none at the axis' end."""
    app = seen("attack", shadows="3000")
    assert app.title[0].value == "What can an attacker tell about one person?"
    said = page_text(app)
    sentence = r"finds \*\*([\d.]+) in 100\*\* of those present. Guessing finds (\d+); .* allows ([\d.]+) at"
    [(found, guessed, allowed)] = [tuple(map(float, each)) for each in re.findall(sentence, said)]
    assert app.metric[2].value == "1"
    assert guessed == 5
    assert 1.2 * guessed < found < 0.85 * allowed < 20


def test_curves_are_shown_on_linear_and_logarithmic_axes(seen):
    app = seen("attack", shadows="1000")
    for chart in (0, 1):
        assert {"the promise allows", "this attack", "guessing", "95 % range"} <= set(traces(app, chart))
        layout = json.loads(app.get("plotly_chart")[chart].proto.spec)["layout"]
        assert {"the promise allows", "this attack", "guessing"} == {each["text"] for each in layout["annotations"]}
        assert layout["showlegend"] is False


def test_allowed_power_is_the_complement_of_the_least_miss_rate():
    setting = attack.PathAttack(2.0, 0.5, 1, 0.1, "halves", 1000)
    guarantee = setting.guarantee
    epsilon, delta = guarantee.budget.epsilon, guarantee.budget.delta
    assert attack.allowed(guarantee, np.array([0.01]))[0] == pytest.approx(delta + np.exp(epsilon) * 0.01)
