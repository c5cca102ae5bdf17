from __future__ import annotations

import json
import re

import numpy as np
import pytest
from scipy.special import ndtr

from dpgp_core.accounting.gaussian import noise_multiplier
from pages._ui import attack
from tests.pages.reading import page_text


@pytest.mark.full_for("cloaking")
@pytest.mark.parametrize("mechanism", ["cloaking", "gp_prior"])
def test_the_best_attack_has_the_exact_area(seen, mechanism):
    app = seen("attack", attack_on=mechanism, delta="0.01")
    # N(0, 1) against N(mu, 1), mu = 1 / s'(1, 0.01) = 0.5325: AUC = Phi(mu / sqrt 2). 10,000 of each: sd .004
    expected = ndtr(1 / noise_multiplier(1.0, 0.01) / np.sqrt(2))
    assert float(app.metric[0].value) == pytest.approx(expected, abs=0.02)


@pytest.mark.full_for("paths")
@pytest.mark.parametrize("attack_on", ["paths", "cloaking", "gp_prior"])
def test_proven_epsilon_stays_below_the_guarantee(seen, attack_on):
    app = seen("attack", attack_on=attack_on, shadows="3000")
    promised = float(app.metric[2].value.replace(",", ""))
    proven = float(app.metric[3].value.replace("≥", "").replace(",", ""))
    assert 0 <= proven <= promised
    assert "stays below what is promised" in app.get("plotly_chart")[0].proto.alt
    assert "refutes" not in page_text(app)


def said_shares(app):
    """Shares in the headline sentence [%]: accused of the innocent, found of the targets, allowed to be found."""
    sentence = r"Accusing ([\d.]+) % of the innocent, the attack finds \*\*([\d.]+) %\*\* .* allows ([\d.]+) %\."
    [shares] = re.findall(sentence, page_text(app))
    return tuple(map(float, shares))


def test_the_page_opens_with_a_visible_limit(seen):
    """Guessing, what is found, and what is allowed lie apart, none at the axis' end."""
    app = seen("attack", shadows="3000")
    assert app.title[0].value == "What can an attacker tell about one person?"
    guessed, found, allowed = said_shares(app)
    assert app.metric[2].value == "1"
    assert guessed == 5
    assert 1.2 * guessed < found < 0.85 * allowed < 20


@pytest.mark.parametrize("epsilon", ["0.1", "0.2", "1", "100"])
def test_excesses_over_the_guarantee_are_chance(seen, epsilon):
    app = seen("attack", shadows="1000", epsilon=epsilon)
    _, found, allowed = said_shares(app)
    exact = 100 * (np.exp(float(epsilon)) * 0.05 + 1e-5)
    assert min(exact, 99) <= allowed <= min(1.005 * exact, 100)
    assert (found <= allowed) == ("only by chance, in 1,000 simulated" not in page_text(app))


def test_sentence_axis_and_tile_say_targets(seen):
    """The axis said "people present", and the sentence that who is present is not hidden."""
    app = seen("attack", shadows="1000")
    layout = json.loads(app.get("plotly_chart")[0].proto.spec)["layout"]
    assert layout["yaxis"]["title"]["text"] == "targets found [%]"
    assert "of targets" in page_text(app)
    assert "present" not in page_text(app)


def test_allowed_power_is_one_minus_misses():
    setting = attack.PathAttack(2.0, 0.5, 1, 0.1, "halves", 1000)
    guarantee = setting.guarantee
    epsilon, delta = guarantee.budget.epsilon, guarantee.budget.delta
    assert attack.allowed(guarantee, np.array([0.01]))[0] == pytest.approx(delta + np.exp(epsilon) * 0.01)
