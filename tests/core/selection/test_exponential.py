from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.accounting.guarantee import ONE_OUTPUT, Budget
from dpgp_core.accounting.losses import PureLoss
from dpgp_core.selection.exponential import (
    choose,
    permute_and_flip_probabilities,
    selection_guarantee,
    selection_probabilities,
    selection_table,
)
from dpgp_core.selection.scores import (
    GridScores,
)

BOTH = pytest.mark.parametrize("probabilities", [selection_probabilities, permute_and_flip_probabilities])


# ---- the mechanisms


def test_exponential_mechanism():
    probabilities = selection_probabilities(np.array([-3.0, -1.0, -2.0]), sensitivity=0.5, epsilon=2.0)
    odds = np.exp([-6.0, -2.0, -4.0])
    np.testing.assert_allclose(probabilities, odds / odds.sum())


@BOTH
def test_probabilities_are_stable(probabilities):
    scores = np.array([-1e9, -1e9 + 1, -3e9])
    found = probabilities(scores, 1.0, 1.0)
    assert found.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(found, probabilities(scores + 1e9, 1.0, 1.0))
    assert found[1] > found[0] > 0 == found[2]
    np.testing.assert_allclose(probabilities(np.full(300, 7.0), 1.0, 1.0), 1 / 300)
    many = probabilities(np.random.default_rng(1).normal(size=300), 0.1, 1.0)
    assert many.sum() == pytest.approx(1.0, abs=1e-12)


def test_permute_and_flip_probabilities_by_enumeration():
    scores = np.array([-0.3, 0.0, -1.4, -0.1, -0.3])
    p = np.exp(1.5 * scores / (2 * 0.4))
    brute = np.zeros(5)
    for order in itertools.permutations(range(5)):
        reached = 1.0
        for r in order:
            brute[r] += reached * p[r] / math.factorial(5)
            reached *= 1 - p[r]
    np.testing.assert_allclose(permute_and_flip_probabilities(scores, 0.4, 1.5), brute, rtol=1e-12)


@pytest.mark.parametrize("mechanism", ["exponential", "permute_and_flip"])
def test_real_choices_use_the_operating_system(mechanism, monkeypatch):
    asked = []

    def secret(bits):
        asked.append(bits)
        return 0

    monkeypatch.setattr("dpgp_core.measurement.discrete.system_bits", lambda: secret)
    monkeypatch.setattr(np.random, "default_rng", None)
    choose(np.array([0.0, 0.0, 0.0]), 1.0, 1.0, mechanism)
    assert asked


@BOTH
def test_log_probabilities_change_by_at_most_epsilon(probabilities):
    rng, found = np.random.default_rng(0), []
    for _ in range(300):
        scores = rng.normal(size=4) * 10 ** rng.uniform(-1, 1)
        moved = scores + rng.choice([-0.7, 0.0, 0.7], 4)
        before, after = (np.log(probabilities(each, 0.7, 0.9)) for each in (scores, moved))
        found.append(np.abs(after - before).max())
    assert 0.8 * 0.9 < max(found) <= 0.9 * (1 + 1e-9)


def test_guarantee():
    exponential, flip = (
        selection_guarantee(0.7, "one woman's height"),
        selection_guarantee(0.7, mechanism="permute_and_flip"),
    )
    assert exponential.budget == flip.budget == Budget(epsilon=0.7, delta=0.0)
    assert exponential.loss == PureLoss(0.7, rho=0.7**2 / 8)
    assert flip.loss == PureLoss(0.7)
    assert exponential.unit == "one woman's height"
    assert exponential.neighbours == ONE_OUTPUT
    assert exponential.proven_epsilon == 0.7
    assert any("folds" in text and "grid" in text and "public" in text for text in exponential.assumptions)
    assert "McSherry" in exponential.theorem
    assert "McKenna" in flip.theorem


# ---- the table


MADE_UP = GridScores(
    sse=np.array([1.0, 2.0, 9.0]),
    noise_trace=np.array([3.0, 0.5, 0.01]),
    sensitivity=2.0,
    tested=10,
    d=2.0,
    y_scale=5.0,
)


@pytest.mark.parametrize("mechanism", ["exponential", "permute_and_flip"])
def test_table(mechanism):
    table = selection_table(MADE_UP, 1.5, [math.inf, 1.0], 0.01, mechanism=mechanism)
    call = selection_probabilities if mechanism == "exponential" else permute_and_flip_probabilities
    noise = (2 * noise_multiplier(1.0, 0.01)) ** 2 * MADE_UP.noise_trace
    assert table.epsilons == (math.inf, 1.0)
    np.testing.assert_allclose(table.probabilities[:, 0], call(-MADE_UP.sse, 2.0, 1.5))
    np.testing.assert_allclose(table.probabilities[:, 1], call(-(MADE_UP.sse + noise), 2.0, 1.5))
    np.testing.assert_allclose(table.rmse, 5 * np.sqrt(np.array([1.0, 2.0, 9.0]) / 10))
    np.testing.assert_allclose(table.private_rmse[:, 0], table.rmse)
    np.testing.assert_allclose(table.private_rmse[:, 1], 5 * np.sqrt((MADE_UP.sse + noise) / 10))
    np.testing.assert_allclose(
        table.selected_rmse**2, (table.probabilities * table.private_rmse**2).sum(axis=0), rtol=1e-12
    )


def test_table_uses_the_calibration_asked_for():
    hall = selection_table(MADE_UP, 1.0, [0.5], 0.01, "hall").private_rmse
    assert (hall > selection_table(MADE_UP, 1.0, [0.5], 0.01).private_rmse).all()
    assert selection_table(MADE_UP, 1.0, [2.0], 0.01, "hall", unproven=True).private_rmse.shape == (3, 1)
