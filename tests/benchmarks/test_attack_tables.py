"""Tables of attacks: the best linear score of a zip, and likelihood ratios."""

import io

import pytest

from benchmarks.attacks import lira, null_space
from benchmarks.attacks.null_space_work import Case, before, samples
from dpgp_core.attack.roc import Estimate
from dpgp_core.release import read_table

pytestmark = pytest.mark.usefixtures("same_bits")


def test_a_claim_that_is_proven_false_is_named():
    case = Case("cloaking", "usual", 1.0, 60, 12)
    true = [1.0, 0.6, 0.9, 5.0, 0.6, 0.5, 0.6, 0.9]
    assert "REFUTED" not in null_space.row([case], [true])["mechanism"]  # before is no claim
    for false in ([*true[:5], 1.1, *true[6:]], [*true[:7], 1.1]):
        assert "**REFUTED**" in null_space.row([case], [false])["mechanism"]


def pair_of(name):
    case = Case(name, "usual", 1.0, 2000, 0)
    tables = [read_table(io.BytesIO(table), case.pair.spec) for table in case.pair.tables]
    return case.mechanism, case.pair.spec.points(), tables


def test_only_the_earlier_release_is_distinguished():
    mechanism, X_test, pair = pair_of("cloaking")
    old, new = ([draw(mechanism, data, X_test, 800) for data in pair] for draw in (before, samples))
    accuracy, bound = null_space.attacked(*old, 0.01)
    assert accuracy > 0.9
    assert bound > 1.0  # 200 of each that are all told apart prove 2.6
    accuracy, bound = null_space.attacked(*new, 0.01)
    assert accuracy < 0.75  # 0.605 is allowed, and the standard error is 0.017
    assert bound <= 1.0


# ---- Likelihood ratios.


def test_z_counts_the_noise_of_both_runs():
    row = lira.Golden(r=1.0, sigma=1.0, L=1, shadows=3_000, auc=0.5)
    # own standard error 0.01; a run of a third of the size has variance three times as large
    estimate = Estimate(0.54, 0.54 - 0.0196, 0.54 + 0.0196)
    assert lira.z_score(estimate, row, 9_000) == pytest.approx(2.0)
