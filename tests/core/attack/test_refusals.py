"""What attacks and audits refuse, and in which words."""

import math
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.attacks.audit import audit, fitted_attack
from benchmarks.attacks.null_space_work import null_space_attack
from dpgp_core.attack.audit import epsilon_lower_bound
from dpgp_core.attack.densities import fit_latent_mixture, fit_mixture
from dpgp_core.attack.linear import draw_releases, linear_attack, output_neighbours
from dpgp_core.attack.lira import Shadows, attack_posterior_sampling
from dpgp_core.attack.roc import Roc
from tests.core.attack.test_linear import made
from tests.core.evaluation.toys import CLOAKING, TOY
from tests.core.tables import changed
from tests.refusals import told

RNG = np.random.default_rng(1)
SCORES = np.arange(9.0)
LOW, HIGH = TOY.y_bounds
MOVED = np.where(np.arange(TOY.n)[:, None] == 2, TOY.X + 0.1, TOY.X)
NEIGHBOURS = [
    (replace(TOY, y=TOY.y + 0.1), "neighbours must differ in exactly 1 record after clipping, these differ in"),
    (replace(TOY, y=np.where(np.arange(TOY.n) < 2, LOW, TOY.y)), "these differ in 2"),
    (TOY, "these differ in 0"),
    (replace(TOY, X=MOVED), "this mechanism protects outputs only; give the neighbour the same inputs X"),
    (replace(TOY, X=TOY.X[1:], y=TOY.y[1:], labels={}), "neighbours must have the same shape of X"),
    (changed(TOY, y_bounds=(LOW, HIGH + 1)), "neighbours must share the public bounds"),
]


def audited(trials=100, **options):
    return audit(CLOAKING, *output_neighbours(TOY, 0), TOY.X, RNG, trials, **options)


REFUSALS = [
    # audits
    *told(lambda neighbour: audit(CLOAKING, TOY, neighbour, TOY.X, RNG, 100), NEIGHBOURS),
    (lambda: audited(99), "trials must be at least 100, got 99"),
    (lambda: audited(score="best"), "score must be 'known noise' or 'fitted', got 'best'"),
    (lambda: audited(confidence=1.0), r"confidence must lie strictly between 0 and 1, got 1\.0"),
    (lambda: epsilon_lower_bound(SCORES, SCORES, 1.0, 0.9), r"delta must lie in \[0, 1\), got 1\.0"),
    (lambda: epsilon_lower_bound(SCORES, SCORES[:3], 0.0, 0.9), "need at least 4 scores of each kind, got 9 and 3"),
    # linear attacks
    (lambda: output_neighbours(TOY, TOY.n), rf"record must lie in 0 \.\.\. {TOY.n - 1}, got {TOY.n}"),
    (lambda: draw_releases(CLOAKING, TOY, TOY.X, RNG, 0), "trials must be at least 1, got 0"),
    (
        lambda: linear_attack(made(np.zeros(3), np.eye(3)), made(np.zeros(2), np.eye(2))),
        r"both releases must have the same test points, got \(3,\), \(2,\)",
    ),
    *told(
        lambda attack, one, other: attack(np.zeros(one), np.zeros(other)),
        [
            (fitted_attack, (1, 3), (4, 3), "need at least 2 releases"),
            (null_space_attack, (1, 3), (5, 3), "need at least 2 releases"),
            (null_space_attack, (5, 3), (5, 4), "need at least 2 releases"),
        ],
    ),
    # shadows
    *told(
        lambda changes: Shadows(**{"r": 1.0, "sigma": 1.0} | changes),
        [
            ({"r": 0.0}, "r must be a finite number above 0, got 0.0"),
            ({"lengthscale": -1.0}, "lengthscale must be a finite number above 0, got -1.0"),
            ({"sigma": 0.0}, "sigma must be above 0, got 0.0; inf releases the covariance only"),
            ({"sigma": math.nan}, "sigma must be above 0, got nan"),
            ({"L": 0}, "L must be at least 1 released path, got 0"),
            ({"n": 1}, "n must be at least 2, so that one record is not the target, got 1"),
            ({"inputs": "grid"}, "inputs must be 'halves' or 'uniform', got 'grid'"),
        ],
    ),
    (lambda: attack_posterior_sampling(Shadows(r=1.0, sigma=1.0), RNG, 5), "samples must be at least 10"),
    (
        lambda: Shadows(r=1.0, sigma=1.0).data(RNG, 0, member=True),
        "shadows must be a finite number above 0, got 0",
    ),
    # ROC curves
    (lambda: Roc.of(SCORES[:1], SCORES), r"inside must hold at least 2 scores, got shape \(1,\); run more trials"),
    (lambda: Roc.of(SCORES, np.array([np.nan, 1.0])), "outside holds scores that are not numbers"),
    (lambda: Roc.of(SCORES, SCORES).power_at(1.0), r"false_positive must lie strictly between 0 and 1, got 1\.0"),
    (lambda: Roc.of(SCORES, SCORES).auc(95), "confidence must lie strictly between 0 and 1, got 95"),
    (lambda: Roc.of(SCORES, SCORES).power_at(0.1, 95), "confidence must lie strictly between 0 and 1, got 95"),
    # densities
    *told(
        lambda fit, samples: fit(samples),
        [
            (fit, samples, words)
            for fit in (fit_mixture, fit_latent_mixture)
            for samples, words in (
                (np.arange(3.0), r"samples must be at least 10 finite numbers, got shape \(3,\)"),
                (np.full(20, np.nan), "samples must be at least 10 finite numbers"),
                (np.full(20, 2.0), "all 20 samples equal 2, so they have no density"),
            )
        ],
    ),
]


@pytest.mark.parametrize(("call", "words"), REFUSALS)
def test_bad_input_is_refused_with_these_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()
